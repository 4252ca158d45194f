"""The pairs of training samples: their dissimilarities held in memory, or computed whenever they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import BufferPool, Part, Result, iterate_blocks, row_blocks, stride
from paretodepth._kernels.neighbors import mirror_square, unpack_rows
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.summary import FrontSummary

Criteria = Sequence[FittedCriterion]
Encodings = Sequence[Encoding]
N_SAMPLED_PAIRS = 2**22
"""Pairs that show typical dissimilarities, and those of at least `MIN_SAMPLED_ROWS` samples."""
N_SAMPLED_VALUES = 2**24
"""Their dissimilarities under all criteria, of which there may be many."""
MIN_SAMPLED_ROWS = 50

SomeCriteria = tuple[Sequence[int], FrontSummary]
"""A summary of the dyads of some criteria, which are given in rising order."""


class Pairs(ABC):
    """The pairs of training samples; `n_jobs` threads work on them in `map`.

    A pair's dissimilarity is that of the earlier sample to the later one, so a function that
    is not quite symmetric does no harm.
    """

    n_samples: int
    n_criteria: int
    n_jobs: int | None

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return self.n_samples * (self.n_samples - 1) // 2

    def later_shape(self, rows: slice) -> tuple[int, int, int]:
        """Return the shape of some samples against these and all later ones, (n_criteria, n_rows, n_columns)."""
        return self.n_criteria, rows.stop - rows.start, self.n_samples - rows.start

    def later(self, rows: slice) -> NDArray[np.float64]:
        """Return what `write_later` writes."""
        block = np.empty(self.later_shape(rows))
        self.write_later(block, rows)
        return block

    @abstractmethod
    def block(self, rows: slice) -> NDArray[np.float64]:
        """Return some samples against all, (n_criteria, n_rows, n_samples), each infinitely far from itself."""

    @abstractmethod
    def write_later(self, block: NDArray[np.float64], rows: slice) -> None:
        """Write some samples against these and all later ones, of which column > row counts, into a `later_shape`."""

    @abstractmethod
    def chosen(self, sample: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of one sample with some later ones, shape (n_others, n_criteria)."""

    @abstractmethod
    def subset(self, samples: NDArray[np.intp]) -> Pairs:
        """Return the pairs of some samples, which are given in rising order."""

    def map(self, function: Callable[[Pairs, Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
        """Yield the function's results for these pairs and each part, in the order of the parts, as they come."""
        return iterate_blocks(lambda part: function(self, part), parts, self.n_jobs)

    def summarized(self, summaries: Sequence[SomeCriteria], blocks: Sequence[slice]) -> list[Fronts]:
        """Return the fronts of summaries after the dyads of blocks of samples with later ones were added to each."""
        for _ in self.map(partial(add_later, summaries, BufferPool()), blocks):
            pass
        return [summary.fronts() for _, summary in summaries]

    def row_blocks(self) -> list[slice]:
        """Return slices that cover the samples, for `block`."""
        return row_blocks(self.n_samples, self.n_criteria * self.n_samples)

    def random_subset(self, n_samples: int, seed: int) -> Pairs:
        """Return the pairs of `n_samples` random samples, or of all if there are no more."""
        if n_samples >= self.n_samples:
            return self
        # Sorted, so that the earlier sample of a pair stays the earlier one.
        return self.subset(np.sort(np.random.default_rng(seed).choice(self.n_samples, n_samples, replace=False)))

    def held(self) -> Pairs:
        """Return the same pairs with all their dyads in memory."""
        return HeldPairs.of(self)

    def sample(self, *, n_rows: int | None = None) -> NDArray[np.float64]:
        """Return dyads that show typical dissimilarities, shape (n_dyads, n_criteria).

        Those of `n_rows` evenly spaced samples with all others; by default all pairs of few samples, and some millions
        of the pairs of many.
        """
        n_rows = n_rows or n_sampled_rows(self.n_samples, self.n_criteria)
        rows = range(self.n_samples)[stride(self.n_samples, n_rows)]
        is_asked = np.zeros(self.n_samples, bool)
        # Filled row by row: to join the rows in the end would take the memory twice.
        dyads = np.empty((pairs_before(len(rows), self.n_samples), self.n_criteria))
        n_filled = 0
        for row in rows:
            # A pair of two samples that are both asked counts once.
            is_asked[row] = True
            of_row = self.block(slice(row, row + 1))[:, 0, ~is_asked].T
            dyads[n_filled : n_filled + len(of_row)] = of_row
            n_filled += len(of_row)
        return dyads


class ComputedPairs(Pairs):
    """Pairs whose dissimilarities are computed from the encoded training samples whenever they are needed."""

    def __init__(self, criteria: Criteria, encodings: Encodings, n_jobs: int | None) -> None:
        self.criteria = criteria
        self.encodings = encodings
        self.n_jobs = n_jobs
        self.n_samples = len(encodings[0])
        self.n_criteria = len(criteria)

    def block(self, rows: slice) -> NDArray[np.float64]:
        """Return some samples against all, each infinitely far from itself."""
        start = rows.start
        block = np.empty((self.n_criteria, rows.stop - start, self.n_samples))
        for part, criterion, encoding in zip(block, self.criteria, self.encodings, strict=True):
            if criterion.is_symmetric:
                part[:] = criterion.dissimilarities(encoding[rows], encoding, (start, 0), self.n_jobs)
                continue
            # What is not symmetric is computed in one direction only, as the dyads of all pairs were: a sample's
            # neighbors must not depend on which block it came in.
            if criterion.is_precomputed:
                part[:, :start] = encoding[:start, rows].T
            elif start:
                part[:, :start] = criterion.dissimilarities(encoding[:start], encoding[rows], (0, start), self.n_jobs).T
            later = np.empty((rows.stop - start, self.n_samples - start))
            criterion.write_training_dissimilarities(later, encoding, rows, self.n_jobs)
            part[:, start:] = later
        # Of these samples among themselves a function has computed what is right of the diagonal alone.
        mirror_square(block, start)
        return block

    def write_later(self, block: NDArray[np.float64], rows: slice) -> None:
        """Write some samples against these and all later ones."""
        for part, criterion, encoding in zip(block, self.criteria, self.encodings, strict=True):
            criterion.write_training_dissimilarities(part, encoding, rows, self.n_jobs)

    def chosen(self, sample: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of one sample with some later ones."""
        columns = []
        for criterion, encoding in zip(self.criteria, self.encodings, strict=True):
            # By one thread: those of `map` work on other samples meanwhile.
            if criterion.is_precomputed:
                columns.append(encoding[sample, others])
            else:
                columns.append(criterion.dissimilarities(encoding[[sample]], encoding[others], (sample, others), 1)[0])
        return np.column_stack(columns)

    def subset(self, samples: NDArray[np.intp]) -> ComputedPairs:
        """Return the pairs of some samples."""
        encodings = [
            encoding[np.ix_(samples, samples)] if criterion.is_precomputed else encoding[samples]
            for criterion, encoding in zip(self.criteria, self.encodings, strict=True)
        ]
        return ComputedPairs(self.criteria, encodings, self.n_jobs)


class HeldPairs(Pairs):
    """Pairs whose dyads are held in memory: those of the pairs (0, 1), (0, 2), …, (1, 2), …, one row each."""

    def __init__(self, dyads: NDArray[np.float64], n_samples: int, n_jobs: int | None) -> None:
        self.dyads = dyads
        self.n_samples = n_samples
        self.n_criteria = dyads.shape[1]
        self.n_jobs = n_jobs

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """Return pairs with all their dyads; the pairs themselves if they have them."""
        if isinstance(pairs, cls):
            return pairs
        # Filled as the blocks come: to join them in the end would take the memory twice.
        dyads = np.empty((pairs.n_pairs, pairs.n_criteria))
        n_filled = 0
        for packed in pairs.map(_packed, pairs.row_blocks()):
            dyads[n_filled : n_filled + len(packed)] = packed
            n_filled += len(packed)
        return cls(dyads, pairs.n_samples, pairs.n_jobs)

    def block(self, rows: slice) -> NDArray[np.float64]:
        """Return some samples against all, each infinitely far from itself."""
        block = np.empty((self.n_criteria, rows.stop - rows.start, self.n_samples))
        unpack_rows(self.dyads, rows.start, block)
        return block

    def write_later(self, block: NDArray[np.float64], rows: slice) -> None:
        """Write some samples against these and all later ones."""
        for in_block, in_dyads in _same_pairs(block, self.dyads[pairs_before(rows.start, self.n_samples) :]):
            in_block[:] = in_dyads

    def chosen(self, sample: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of one sample with some later ones."""
        dyads: NDArray[np.float64] = self.dyads[pairs_before(sample, self.n_samples) + others - sample - 1]
        return dyads

    def subset(self, samples: NDArray[np.intp]) -> HeldPairs:
        """Return the pairs of some samples."""
        firsts = pairs_before(samples, self.n_samples) - samples - 1
        rows = np.concatenate([first + samples[place:] for place, first in enumerate(firsts, 1)])
        return HeldPairs(self.dyads[rows], len(samples), self.n_jobs)

    def sample(self, *, n_rows: int | None = None) -> NDArray[np.float64]:
        """Return dyads that show typical dissimilarities."""
        is_all = (n_rows or n_sampled_rows(self.n_samples, self.n_criteria)) >= self.n_samples
        return self.dyads if is_all else super().sample(n_rows=n_rows)


def add_later(summaries: Sequence[SomeCriteria], buffers: BufferPool, pairs: Pairs, rows: slice) -> None:
    """Add the dyads of some samples with all later ones to summaries."""
    with buffers.taken(pairs.later_shape(rows)) as block:
        pairs.write_later(block, rows)
        for criteria, summary in summaries:
            # All criteria need not be taken apart.
            part = block if len(criteria) == len(block) else [block[criterion] for criterion in criteria]
            summary.add_block(part, is_triangle=True)


def _packed(pairs: Pairs, rows: slice) -> NDArray[np.float64]:
    """Return the dyads of some samples with all later ones, one row a pair."""
    start, stop = (pairs_before(row, pairs.n_samples) for row in (rows.start, rows.stop))
    dyads = np.empty((stop - start, pairs.n_criteria))
    for in_block, in_dyads in _same_pairs(pairs.later(rows), dyads):
        in_dyads[:] = in_block
    return dyads


def _same_pairs(
    block: NDArray[np.float64], dyads: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield, sample by sample, its pairs with later ones as views into a block and into the dyads, criteria first."""
    end = 0
    for row in range(block.shape[1]):
        start, end = end, end + block.shape[2] - row - 1
        yield block[:, row, row + 1 :], dyads[start:end].T


def pairs_before(sample: Any, n_samples: int) -> Any:
    """Return how many of the pairs (0, 1), (0, 2), …, (1, 2), … come before those of a sample, or each of several."""
    return sample * n_samples - sample * (sample + 1) // 2


def n_sampled_rows(n_samples: int, n_criteria: int) -> int:
    """Return how many samples, by their pairs with all others, show typical dissimilarities."""
    return max(MIN_SAMPLED_ROWS, min(N_SAMPLED_PAIRS, N_SAMPLED_VALUES // n_criteria) // n_samples)
