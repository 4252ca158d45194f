"""Checks of Dask clusters and collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sklearn.utils.validation import check_is_fitted

from paretodepth.criterion_validation import check_extra
from paretodepth.words import listed

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_WAIT = 10


def check_detector(detector: object, caller: str) -> None:
    """Refuse what is no detector, and for scores one that is not fitted."""
    if not hasattr(detector, "_fit") or not hasattr(detector, "mean_depth"):
        raise TypeError(
            f"The 'detector' parameter of {caller} must be a ParetoDepthDetector. Got {detector!r} instead."
        )
    if caller.endswith("score_samples"):
        check_is_fitted(detector)


def check_client(client: object, caller: str) -> None:
    """Refuse what is no client of a running cluster with a worker."""
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
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT)
    except TimeoutError as error:
        raise ConnectionError(
            f"The 'client' parameter of {caller} must be connected to a cluster with at least one worker. There was "
            f"none for {SECONDS_TO_WAIT} seconds; start one with 'dask worker ADDRESS'."
        ) from error


def check_partitions(X: Any, client: Client) -> None:
    """Refuse a Dask data frame whose partitions have other columns than it says, and arrays cut between columns."""
    if hasattr(X, "chunks"):
        if X.ndim != 2 or len(X.chunks[1]) != 1:
            raise ValueError(
                "A Dask array of samples must have the shape (n_samples, n_features) and chunks of whole rows. Got "
                f"the chunks {X.chunks} instead; use X.rechunk({{1: -1}})."
            )
        return
    expected = [str(column) for column in X.columns]
    futures = client.map(_column_names, client.compute(list(X.to_delayed())), pure=False)
    for number, columns in enumerate(client.gather(futures)):
        if columns != expected:
            raise ValueError(
                f"All partitions of a Dask data frame of samples must have its columns, {listed(expected)}. Got "
                f"{listed(columns)} in partition {number} instead; select the columns partition by partition."
            )


def _column_names(part: Any) -> list[str]:
    return [str(column) for column in part.columns]


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
