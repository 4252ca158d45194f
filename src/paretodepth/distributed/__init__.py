"""The same fit and the same scores on a Dask cluster.

Needs the extra ``distributed``. The training samples go to every worker once; blocks of
pairs are tasks, which workers take in turn; what they keep is joined in a tree. If a worker
dies, others take over its tasks, and the result is that of one machine, bit by bit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from paretodepth._blocks import BufferPool, Part, Result, row_blocks, with_progress
from paretodepth._checks import listed
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.detector import NAME, ParetoDepthDetector, fit_by_pairs
from paretodepth.distributed.cluster import TrackedClient, check_worker_memory, checked_client, clear_errors
from paretodepth.fronts.fronts import Fronts
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Encodings, Pairs, SomeCriteria, add_later
from paretodepth.scoring.model import Model

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["fit", "score_samples"]

FEW_TO_SEND = 5000
"""Training samples whose pairs are computed faster here than sent."""
TASKS_PER_THREAD = 4
"""Summaries a thread of the cluster makes: more balance the load, and each is sent."""
JOINED_AT_ONCE = 8
"""Summaries that one task joins: more would wait for the slowest and lie in one worker's memory."""


def fit(detector: ParetoDepthDetector, X: Any, client: Client) -> ParetoDepthDetector:
    """Fit a detector on a Dask cluster.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Its `n_jobs` counts for what is done here, not on the workers.
    X : array-like, data frame, Dask array or Dask data frame
        The training samples. Those of Dask are gathered here, checked and sent to every worker.
    client : distributed.Client

    Returns
    -------
    detector : ParetoDepthDetector
        The same, fitted as ``detector.fit(X)`` fits it.

    Notes
    -----
    A worker holds the training samples and, for each of its threads, a block of dissimilarities
    and the dyads of fronts 1…L that it has come across; ``docs/scaling.md`` has figures.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from paretodepth import ParetoDepthDetector, distributed
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> detector = ParetoDepthDetector(max_depth="auto")
    >>> distributed.fit(detector, X, client)  # doctest: +SKIP
    """
    check_detector(detector, "distributed.fit")
    with checked_client(client, "distributed.fit") as own:
        return fit_by_pairs(detector, _gathered(X, own), partial(ClusterPairs, client=own))


def score_samples(detector: ParetoDepthDetector, X: Any, client: Client) -> NDArray[np.float64]:
    """Score new samples on a Dask cluster.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Fitted.
    X : array-like, data frame, dict of columns, Dask array or Dask data frame
        New samples, as in `ParetoDepthDetector.mean_depth`; those of Dask are scored partition by
        partition where they are, and messages number samples within a partition.
    client : distributed.Client

    Returns
    -------
    scores : ndarray of shape (n_samples,)
        What ``detector.score_samples(X)`` returns.
    """
    check_detector(detector, "distributed.score_samples")
    check_is_fitted(detector)
    with checked_client(client, "distributed.score_samples") as own:
        function, parts, numbers, to_all_samples = _parts(X, detector.model_, own)
        remote = own.send(detector.model_)
        n_parts = len(parts)
        futures = own.map(function, [remote] * n_parts, parts, numbers, [detector.n_jobs] * n_parts, pure=False)
        scores = list(with_progress(own.results(futures), n_parts))
    return -to_all_samples(np.concatenate(scores) if scores else np.empty(0))


class ClusterPairs(ComputedPairs):
    """Pairs of training samples whose blocks are computed by the workers of a cluster.

    A subset of at most `few_to_send` samples stays here. Each thread of the cluster makes `tasks_per_thread` summaries.
    """

    def __init__(
        self,
        criteria: Criteria,
        encodings: Encodings,
        n_jobs: int | None,
        *,
        client: TrackedClient,
        few_to_send: int = FEW_TO_SEND,
        tasks_per_thread: int = TASKS_PER_THREAD,
    ) -> None:
        super().__init__(criteria, encodings, n_jobs)
        self._client = client
        self._few_to_send = few_to_send
        self._tasks_per_thread = tasks_per_thread
        check_worker_memory(sum(encoding.nbytes for encoding in encodings), client, "distributed.fit")
        with clear_errors("distributed.fit"):
            self._remote = client.send(ComputedPairs(criteria, encodings, 1))

    def map(self, function: Callable[[Pairs, Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
        """Yield the function's results for these pairs and each part, in the order of the parts, as they come."""
        with clear_errors("distributed.fit"):
            # Sent once, as it may hold an index of all fronts.
            remote = self._client.send(function)
            futures = self._client.share_out(_apply, (remote, self._remote), parts)
            yield from with_progress(self._client.results(futures), len(parts))

    def summarized(self, summaries: Sequence[SomeCriteria], blocks: Sequence[slice]) -> list[Fronts]:
        """Return the fronts of summaries after the dyads of blocks of samples with later ones were added to each."""
        n_threads = sum(self._client.nthreads().values())
        n_tasks = max(1, min(len(blocks), self._tasks_per_thread * n_threads))
        groups = [blocks[task::n_tasks] for task in range(n_tasks)]
        with clear_errors("distributed.fit"):
            remote = self._client.send(summaries)
            futures = self._client.share_out(_summarize, (remote, self._remote), groups)
            # The last few are joined here, where the fronts are needed and nobody else has anything to do.
            while len(futures) > JOINED_AT_ONCE:
                parts = [futures[start : start + JOINED_AT_ONCE] for start in range(0, len(futures), JOINED_AT_ONCE)]
                futures = self._client.map(_joined, parts, pure=False)
            for part in with_progress(self._client.results(futures), len(futures)):
                _join(summaries, part)
        return [summary.fronts() for _, summary in summaries]

    def subset(self, samples: NDArray[np.intp]) -> ComputedPairs:
        """Return the pairs of some samples, which stay here if they are few."""
        few = super().subset(samples)
        if len(samples) <= self._few_to_send:
            return few
        return ClusterPairs(
            few.criteria,
            few.encodings,
            few.n_jobs,
            client=self._client,
            few_to_send=self._few_to_send,
            tasks_per_thread=self._tasks_per_thread,
        )


def _apply(function: Callable[[Pairs, Part], Result], pairs: Pairs, part: Part) -> Result:
    return function(pairs, part)


def _summarize(summaries: Sequence[SomeCriteria], pairs: Pairs, blocks: Sequence[slice]) -> Sequence[SomeCriteria]:
    """Return summaries of the dyads of some blocks; other tasks use the same empty ones."""
    own, buffers = copy.deepcopy(summaries), BufferPool()
    for rows in blocks:
        add_later(own, buffers, pairs, rows)
    return own


def _joined(parts: Sequence[Sequence[SomeCriteria]]) -> Sequence[SomeCriteria]:
    """Return summaries of several sets of dyads together, for each of some choices of criteria."""
    # A result of a task may be asked for again, if what is made of it is lost.
    first = copy.deepcopy(parts[0])
    for part in parts[1:]:
        _join(first, part)
    return first


def _join(summaries: Sequence[SomeCriteria], part: Sequence[SomeCriteria]) -> None:
    """Add to summaries what those of other dyads hold."""
    for (_, summary), (_, other) in zip(summaries, part, strict=True):
        summary.add_summary(other)


def _block_scores(model: Model, encodings: list[Encoding], first_row: int, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the scores of a block of samples, given as the criteria encode them; larger is more unusual."""
    return model.new_scores(encodings, n_jobs=n_jobs, first_row=first_row)


def _partition_scores(model: Model, part: Any, number: int, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the scores of a partition, which may be empty; larger is more unusual."""
    if not len(part):
        return np.empty(0)
    try:
        return model.encoded_scores(model.encode(part, caller=NAME), n_jobs=n_jobs)
    except (TypeError, ValueError) as error:
        refuse_partition(error, number)


def _gathered(X: Any, client: TrackedClient) -> Any:
    """Return samples that may be spread over a cluster as they are in one place."""
    if not hasattr(X, "dask"):
        return X
    check_partitions(X, client)
    return client.gather(client.compute(X))


class _Parts(NamedTuple):
    """Samples in parts.

    Attributes
    ----------
    function : callable
        Scores a part.
    parts : list of Future
    numbers : list of int
        Of each part, for messages.
    to_all_samples : callable
        Turns the scores of all parts into those of all samples, NaN where one was dropped.
    """

    function: Callable[..., NDArray[np.float64]]
    parts: list[Any]
    numbers: list[int]
    to_all_samples: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _parts(X: Any, model: Model, client: TrackedClient) -> _Parts:
    """Return the parts of samples, and what scores one.

    Of a Dask collection these are its partitions, numbered one by one. Other samples are read
    here as a whole, so that messages count and number all of them, and sent as blocks of rows,
    each with the number of its first.
    """
    if hasattr(X, "dask"):
        check_partitions(X, client)
        partitions = X.to_delayed().ravel() if hasattr(X, "chunks") else X.to_delayed()
        futures = list(client.compute(list(partitions)))
        return _Parts(_partition_scores, futures, list(range(len(futures))), lambda scores: scores)
    encoded = model.encode(X, caller=NAME)
    n_values = len(model.criteria.fitted) * len(model.rows)
    blocks = row_blocks(len(encoded.rows), n_values) if len(encoded.rows) else []
    parts = [client.send([encoding[rows] for encoding in encoded.encodings]) for rows in blocks]
    return _Parts(_block_scores, parts, [rows.start for rows in blocks], encoded.with_nan_for_dropped)


def check_detector(detector: object, caller: str) -> None:
    """Refuse anything but a detector."""
    if not isinstance(detector, ParetoDepthDetector):
        raise TypeError(
            f"The 'detector' parameter of {caller} must be a ParetoDepthDetector. Got {detector!r} instead."
        )


def check_partitions(X: Any, client: TrackedClient) -> None:
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


def refuse_partition(error: Exception, number: int) -> NoReturn:
    """Raise an error about the samples of a partition again, with its number."""
    # Not of the error's own type, which may not take a message alone.
    kind = TypeError if isinstance(error, TypeError) else ValueError
    raise kind(f"In partition {number} of the samples, counted from 0: {error}") from error
