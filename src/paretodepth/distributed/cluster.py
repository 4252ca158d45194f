"""The cluster itself: a client that cancels what it asked for, checks of the workers, connections."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, cast

from paretodepth._checks import check_extra

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

SECONDS_TO_WAIT = 10
"""For a scheduler to answer, and for a first worker."""
SAME_VERSIONS = ("python", "paretodepth", "numpy")
"""What must be the same on the workers as here: what is sent would not be understood, or other bits come back."""
WORKER_BYTES = 2**27
"""That a worker needs for blocks, besides the training samples."""


class TrackedClient:
    """A client that notes all it asks the cluster for, so that it can be cancelled.

    If a task fails, Dask's client keeps the exception, and with it the frames and futures that waited for the task:
    the training samples would stay on the workers until the client is closed.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._keys: set[Any] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def submit(self, *task: Any, **options: Any) -> Future:
        """Ask for one result."""
        future = self.client.submit(*task, **options)
        self._keys.add(future.key)
        return future

    def map(self, *tasks: Any, **options: Any) -> list[Future]:
        """Ask for several results."""
        futures: list[Future] = self.client.map(*tasks, **options)
        self._keys.update(future.key for future in futures)
        return futures

    def compute(self, collections: Any) -> Any:
        """Ask for what collections hold: a future, or a list of them."""
        futures = self.client.compute(collections)
        self._keys.update(future.key for future in (futures if isinstance(futures, list) else [futures]))
        return futures

    def send(self, value: Any) -> Future:
        """Return a future of a value that every worker fetches once."""
        # As the result of a task, not scattered: that would be lost with the workers that hold it.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.submit(_same, value, pure=False)

    def share_out(self, function: Callable[..., Any], given: Sequence[Any], parts: Sequence[Any]) -> list[Future]:
        """Return futures of a function's results for what all tasks are given and each part; workers take turns.

        Dask gives tasks to the worker that holds what they are given, and idle workers take over some of them only
        if it expects them to last. The tasks of a worker that dies or falls behind go to others as ever.
        """
        workers = [worker for worker, n_threads in self.nthreads().items() for _ in range(n_threads)] or [None]
        futures: list[Any] = [None] * len(parts)
        for turn, worker in enumerate(workers[: len(parts)]):
            own = parts[turn :: len(workers)]
            arguments = [[value] * len(own) for value in given]
            futures[turn :: len(workers)] = self.map(
                function, *arguments, own, pure=False, workers=worker, allow_other_workers=worker is not None
            )
        return futures

    def results(self, futures: Sequence[Future]) -> Iterator[Any]:
        """Yield results in their order, and release each future once it is used."""
        waiting = list(futures)
        del futures
        waiting.reverse()
        while waiting:
            yield self.gather(waiting.pop())

    def cancel_all(self) -> None:
        """Cancel all that was asked for."""
        from distributed import Future

        keys = [key for key in self._keys if key in self.client.futures]
        if keys and self.client.status == "running":
            self.client.cancel([Future(key, self.client) for key in keys], force=True)


def _same(value: Any) -> Any:
    return value


@contextmanager
def checked_client(client: object, caller: str) -> Iterator[TrackedClient]:
    """Yield a client of a cluster that can be used, which leaves nothing there if what is done with it fails."""
    check_client(client, caller)
    own = TrackedClient(cast("Client", client))
    check_versions(own, caller)
    try:
        with clear_errors(caller):
            yield own
    except BaseException:
        own.cancel_all()
        raise


@contextmanager
def clear_errors(caller: str) -> Iterator[None]:
    """Turn what Dask raises when a cluster or its workers are gone into a clear error."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except (KilledWorker, FutureCancelledError, CommClosedError, TimeoutError) as error:
        refuse_cluster(error, caller)


def check_client(client: object, caller: str, *, seconds: float = SECONDS_TO_WAIT) -> None:
    """Refuse anything but a client of a running cluster with a worker, which may take some seconds to come."""
    distributed = check_extra("distributed", "distributed")
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"The 'client' parameter of {caller} must be a distributed.Client. Got {client!r} instead; write "
            "Client(address), or Client() for a cluster on this machine."
        )
    if client.status != "running":
        raise ConnectionError(
            f"The 'client' parameter of {caller} must be connected to a running cluster. Its status is "
            f"'{client.status}' instead; start the cluster and make a new client."
        )
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError as error:
        raise ConnectionError(
            f"The 'client' parameter of {caller} must be connected to a cluster with at least one worker. There was "
            f"none for {seconds} seconds; start one with 'dask worker ADDRESS'."
        ) from error


def check_versions(client: TrackedClient, caller: str) -> None:
    """Refuse workers with other versions of what must be the same."""
    found = client.get_versions(packages=["paretodepth"])
    own = found["client"]["packages"]
    for address, worker in found["workers"].items():
        for name in SAME_VERSIONS:
            there, here = (_version(packages.get(name), name) for packages in (worker["packages"], own))
            if there != here:
                raise ValueError(
                    f"The workers of the cluster given to {caller} must have the versions that are here, {name} "
                    f"{here}. Got {name} {there or 'not at all'} on {address} instead; install the same there."
                )


def _version(version: Any, name: str) -> str:
    """Return a version as far as it matters: of Python the first two numbers."""
    return ".".join(str(version or "").split(".")[:2]) if name == "python" else str(version or "")


def check_worker_memory(n_bytes: int, client: TrackedClient, caller: str) -> None:
    """Refuse workers that may not take as much memory as the training samples and a block need."""
    limits: Sequence[int] = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    needed = 2 * n_bytes + WORKER_BYTES
    smallest = min((limit for limit in limits if limit), default=needed)
    if smallest < needed:
        raise ValueError(
            f"The workers of the cluster given to {caller} must each have {needed / 2**20:,.0f} MB of memory, for the "
            f"training samples and a block of dissimilarities. One has {smallest / 2**20:,.0f} MB instead; start "
            "workers with more (dask worker --memory-limit), or fit on fewer samples."
        )


def refuse_address(address: str, error: BaseException) -> NoReturn:
    """Raise an error about an address where no cluster answers."""
    raise ConnectionError(
        f"A Dask cluster must be 'local' or the address of a running scheduler, tcp://host:port. Got '{address}' "
        f"instead, where none answers; start it with 'dask scheduler'. ({type(error).__name__})"
    ) from error


def refuse_cluster(error: BaseException, caller: str) -> NoReturn:
    """Raise an error about a cluster that went away, or whose workers keep dying."""
    raise ConnectionError(
        f"{caller} must have a cluster to the end. Dask says instead: {str(error).strip() or type(error).__name__} If "
        "workers keep dying, give them more memory or lower max_depth."
    ) from error


def local_cluster(n_workers: int | None = None) -> LocalCluster:
    """Return a new cluster on this machine, which nobody else can reach: its pages have no login.

    They are at any free port, because another cluster may use the default one.
    """
    dask = check_extra("distributed", "distributed")
    return dask.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR
    )


@contextmanager
def connected(address: str | None) -> Iterator[Client | None]:
    """Yield a client of the Dask cluster at an address, of a new one on this machine for "local", or None."""
    if address is None:
        yield None
        return
    dask = check_extra("distributed", "distributed")
    if address == "local":
        with local_cluster() as cluster, dask.Client(cluster) as client:
            yield client
        return
    try:
        client = dask.Client(address, timeout=SECONDS_TO_WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        refuse_address(address, error)
    with client:
        yield client
