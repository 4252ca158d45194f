"""What is measured of a sample; for the depth method its mean depth, and sums of dissimilarities to its nearest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import map_blocks, row_blocks, stride
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.nearest import NeighborLists, nearest_by_sum, nearest_dyads
from paretodepth.pairs.pairs import Pairs
from paretodepth.scoring.methods import OF_DEPTH, Measure

Measures = dict[Measure, NDArray[np.float64]]
"""Larger is more unusual, one row a sample.

``"mean_depth"``
    the paper's v, of shape (n_samples,);
``"neighbor_sums"``
    in each criterion, the sum of the dissimilarities to the k nearest training samples, (n_samples, n_criteria);
``"balanced_sum"``
    the same of the sum of all criteria, each divided by its median nominal dyad, (n_samples,);
``"neighbor_means"``, ``"local_ratios"``, ``"balanced_mean"``, ``"balanced_ratio"``, ``"pair_depth"``, ``"pair_depths"``
    as :mod:`paretodepth.scoring.blend_measures` takes them.
"""

LARGEST = 1e300
"""Beyond this, where sums overflow, all values count as this one."""
N_PROFILED = 200
"""Training samples, spread evenly over all, whose dissimilarities give the typical one of each rank."""
N_PROFILED_VALUES = 2**22
"""Dissimilarities that these have in each criterion, unless there are fewer than `MIN_PROFILED` of them."""
MIN_PROFILED = 25
MIN_SUMMED = 5
"""Neighbors whose dissimilarities are summed at least: with fewer, ties and single pairs decide."""


def joined(parts: Sequence[Measures]) -> Measures:
    """Return the measures of consecutive blocks of samples as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Measurer(Protocol):
    """Takes the measures of a method from blocks of dissimilarities to the training samples."""

    @property
    def fronts(self) -> Fronts | PairFronts:
        """The fronts of the training dyads, of all criteria or of pairs of them."""

    @property
    def n_fronts(self) -> int:
        """The number of fronts, of all pairs of criteria together."""

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The pairs of criteria that have fronts of their own, shape (n_pairs, 2)."""

    @property
    def n_neighbors(self) -> NDArray[np.intp]:
        """The neighbors in each criterion that a sample is joined to, shape (n_criteria,)."""

    @property
    def n_summed(self) -> NDArray[np.intp]:
        """The neighbors in each criterion that must be known, at least as many."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of the criteria in the balanced sum."""

    @property
    def per_sample(self) -> list[NDArray[np.float64]]:
        """What must be known of the training samples beside their dissimilarities, arrays with a row a sample."""

    @property
    def n_named(self) -> NDArray[np.intp]:
        """How many of the nearest an explanation names, in each criterion."""

    @property
    def n_near(self) -> NDArray[np.intp]:
        """Over how many of the nearest each column of ``METHODS[method].near`` goes, shape (n_counts, n_criteria)."""

    @property
    def n_near_in_all(self) -> int:
        """Over how many of the nearest ``METHODS[method].near_in_all`` goes."""

    def values_per_row(self, n_training: int) -> int:
        """Return the values that a row of a block takes."""

    def of(
        self, block: NDArray[np.float64], needed: Collection[Measure], numbers: NDArray[np.intp] | None = None
    ) -> Measures:
        """Return what is needed of the rows of a block of shape (n_criteria, n_rows, n_columns).

        The columns are the training samples or, in each row, those that `numbers` name, shape (n_rows, n_columns).
        """

    def with_per_sample(
        self, block: NDArray[np.float64], needed: Collection[Measure]
    ) -> tuple[Measures, list[NDArray[np.float64]]]:
        """Return what `of` does, and the rows' own `per_sample`, as if they were training samples."""

    def for_training(self, per_sample: list[NDArray[np.float64]]) -> Measurer:
        """Return this measurer for other training samples below the same fronts, given their `per_sample`."""

    def if_changed(
        self,
        block: NDArray[np.float64],
        dyads: NDArray[np.float64],
        measures: Measures,
        criterion: int,
        nominal: Measures,
    ) -> Measures:
        """Return what the score needs of rows whose dissimilarities in one criterion have been changed.

        Their neighbors stay those of before; `dyads` are the changed dyads with these, `measures` what was measured
        before, and `nominal` the measures of nominal samples.
        """


@dataclass(frozen=True)
class DepthMeasurer:
    """Takes the mean depth, and sums of dissimilarities, from blocks of dissimilarities to the training samples.

    Attributes
    ----------
    depths : Depths
        Below the fronts of the training dyads.
    n_neighbors : ndarray of shape (n_criteria,)
        The neighbors in each criterion that a sample is joined to.
    n_summed : ndarray of shape (n_criteria,)
        Those that are summed, at least as many.
    weights : ndarray of shape (n_criteria,)
        Of the criteria in the balanced sum.
    """

    depths: Depths
    n_neighbors: NDArray[np.intp]
    n_summed: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def fit(
        cls, depths: Depths, n_neighbors: NDArray[np.intp], weights: NDArray[np.float64], n_training: int
    ) -> DepthMeasurer:
        """Return the measurer for this many training samples, each of which has one neighbor less."""
        return cls(depths, n_neighbors, np.minimum(np.maximum(n_neighbors, MIN_SUMMED), n_training - 1), weights)

    @property
    def fronts(self) -> Fronts:
        """The fronts of the training dyads."""
        return self.depths.fronts

    @property
    def n_fronts(self) -> int:
        """The number of fronts."""
        return len(self.fronts)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """No pairs of criteria have fronts of their own."""
        return np.empty((0, 2), np.intp)

    @property
    def per_sample(self) -> list[NDArray[np.float64]]:
        """Nothing but dissimilarities is needed."""
        return []

    @property
    def n_named(self) -> NDArray[np.intp]:
        """An explanation names all neighbors that are summed."""
        return self.n_summed

    @property
    def n_near(self) -> NDArray[np.intp]:
        """The neighbors that are summed, shape (1, n_criteria)."""
        return self.n_summed[None]

    @property
    def n_near_in_all(self) -> int:
        """The neighbors in the balanced sum."""
        return int(self.n_summed.max())

    @cached_property
    def is_joined(self) -> NDArray[np.bool_]:
        """Which of the summed neighbors, criterion after criterion, a sample is joined to."""
        parts = zip(self.n_neighbors, self.n_summed, strict=True)
        return np.concatenate([np.arange(n_summed) < n_joined for n_joined, n_summed in parts])

    def values_per_row(self, n_training: int) -> int:
        """Return the values that a row of a block takes: its nearest dyads may be more than its dissimilarities."""
        return len(self.weights) * max(n_training, int(self.n_summed.sum()))

    def of(
        self, block: NDArray[np.float64], needed: Collection[Measure], numbers: NDArray[np.intp] | None = None
    ) -> Measures:
        """Return what is needed of the rows of a block; which training samples the columns are does not matter."""
        dyads = nearest_dyads(block, self.n_summed)[1]
        taken: dict[Measure, Callable[[], NDArray[np.float64]]] = {
            "mean_depth": lambda: self.mean_depth(dyads),
            "neighbor_sums": lambda: self.neighbor_sums(dyads),
            "balanced_sum": lambda: self.balanced_sum(block),
        }
        return {name: take() for name, take in taken.items() if name in needed}

    def with_per_sample(
        self, block: NDArray[np.float64], needed: Collection[Measure]
    ) -> tuple[Measures, list[NDArray[np.float64]]]:
        """Return what `of` does."""
        return self.of(block, needed), []

    def for_training(self, per_sample: list[NDArray[np.float64]]) -> DepthMeasurer:
        """Return the measurer itself, which knows no training samples."""
        return self

    def if_changed(
        self,
        block: NDArray[np.float64],
        dyads: NDArray[np.float64],
        measures: Measures,
        criterion: int,
        nominal: Measures,
    ) -> Measures:
        """Return the mean depth of the changed dyads."""
        return {"mean_depth": self.mean_depth(dyads)}

    def of_training(self, pairs: Pairs, lists: NeighborLists | None) -> Measures:
        """Return all measures of the training samples, each left out in turn.

        They are taken from the lists if these are long enough, or else from the pairs.
        """
        n_needed = int(self.n_summed.max())
        if lists is None or n_needed > lists.sums.shape[1]:
            blocks = row_blocks(pairs.n_samples, self.values_per_row(pairs.n_samples))
            return joined(list(pairs.map(lambda pairs, rows: self.of(pairs.block(rows), OF_DEPTH), blocks)))
        dyads = lists.first_dyads(self.n_summed)
        blocks = row_blocks(len(dyads), dyads.shape[1] * dyads.shape[2])
        mean_depths = map_blocks(lambda rows: self.mean_depth(dyads[rows]), blocks, pairs.n_jobs)
        return {
            "mean_depth": np.concatenate(mean_depths),
            "neighbor_sums": self.neighbor_sums(dyads),
            "balanced_sum": row_totals(lists.sums[:, :n_needed]),
        }

    def mean_depth(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the paper's v from the dyads with the summed neighbors, shape (n_rows, s, n_criteria)."""
        joined_dyads = dyads if self.is_joined.all() else dyads[:, self.is_joined]
        n_rows, n_dyads, n_criteria = joined_dyads.shape
        depths = self.depths.of(joined_dyads.reshape(-1, n_criteria))
        mean: NDArray[np.float64] = depths.reshape(n_rows, n_dyads).mean(axis=1)
        return mean

    def neighbor_sums(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, in each criterion, the sum over the dyads with the summed neighbors in that criterion."""
        ends = np.cumsum(self.n_summed)
        parts = zip(ends - self.n_summed, ends, strict=True)
        return np.column_stack([row_totals(dyads[:, start:end, c]) for c, (start, end) in enumerate(parts)])

    def balanced_sum(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the nearest of each row under the weighted sum of the criteria."""
        distances, _ = nearest_by_sum(block, self.weights, int(self.n_summed.max()))
        return row_totals(distances)


def row_totals(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each row, added one after the other so that no bit depends on how many rows there are."""
    with np.errstate(over="ignore"):
        total: NDArray[np.float64] = distances.cumsum(axis=1)[:, -1]
    return total


def typical_sizes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a positive size of what each column holds: the median or, of columns that are mostly zero, the mean."""
    # Column by column: a copy of all would double what is held.
    sizes = np.array([medians(column.copy()) for column in values.T])
    if not (sizes > 0).all():
        with np.errstate(over="ignore"):
            means = values.mean(axis=0)
        sizes = np.where(sizes > 0, sizes, np.where(means > 0, means, 1.0))
    # One can divide by the smallest normal number, not by all that are smaller.
    positive: NDArray[np.float64] = np.maximum(sizes, np.finfo(np.float64).tiny)
    return positive


def medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the medians along the last axis, to the bit as NumPy's, of values that are put in some other order."""
    half = values.shape[-1] // 2
    # To look for one place takes a fraction of the time of several, and NumPy looks for three.
    values.partition(half, axis=-1)
    upper: NDArray[np.float64] = values[..., half]
    if values.shape[-1] % 2:
        return upper
    with np.errstate(over="ignore"):
        middle: NDArray[np.float64] = (values[..., :half].max(axis=-1) + upper) / 2
    return middle


def rank_profiles(pairs: Pairs) -> NDArray[np.float64]:
    """Return the median dissimilarity of each rank, shape (n_criteria, n_samples)."""
    n_rows = max(MIN_PROFILED, min(N_PROFILED, N_PROFILED_VALUES // pairs.n_samples))
    rows = range(pairs.n_samples)[stride(pairs.n_samples, n_rows)]
    ranked = np.empty((pairs.n_criteria, len(rows), pairs.n_samples))
    for place, row in enumerate(rows):
        ranked[:, place] = pairs.block(slice(row, row + 1))[:, 0]
    ranked.sort(axis=2)
    # The last of each row is its infinite distance from itself.
    profiles = np.stack([medians(of_criterion[:, :-1].T.copy()) for of_criterion in ranked])
    # A new sample has one more training sample to be compared with.
    return np.concatenate([profiles, profiles[:, -1:]], axis=1)
