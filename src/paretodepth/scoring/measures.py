"""What is measured of a sample: its mean depth, and sums of dissimilarities to its nearest training samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from paretodepth._blocks import map_blocks, row_blocks
from paretodepth.fronts.depth import Depths
from paretodepth.pairs.nearest import map_new_blocks, nearest_by_sum, nearest_dyads
from paretodepth.pairs.neighbor_lists import NeighborLists
from paretodepth.pairs.pairs import Pairs, Views
from paretodepth.pairs.shortlist import Nearby

Method = Literal["depth", "criteria", "union"]
NEARBY_ROWS = 512
"""Samples whose nearest are sought by trees in one go."""
MIN_SUMMED = 5
"""Neighbors whose dissimilarities are summed at least: with fewer, ties and single pairs decide."""


class Statistics(NamedTuple):
    """What is measured of samples, larger is stranger.

    Attributes
    ----------
    mean_depth : ndarray of shape (n_samples,)
    neighbor_sums : ndarray of shape (n_samples, n_criteria)
        In each criterion, the sum of the dissimilarities to the k nearest training samples.
    balanced_sum : ndarray of shape (n_samples,)
        The same of the sum of all criteria, each divided by its median nominal dyad.
    """

    mean_depth: NDArray[np.float64]
    neighbor_sums: NDArray[np.float64]
    balanced_sum: NDArray[np.float64]


def joined(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of consecutive blocks of samples as one."""
    return Statistics(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Measurement:
    """How statistics are taken from blocks of dissimilarities to the training samples.

    Attributes
    ----------
    depths : Depths
    n_summed : ndarray of shape (n_criteria,)
        The neighbors in each criterion that are summed, at least as many as are joined to.
    is_joined : ndarray of shape (n_summed.sum(),)
        Which of them, criterion after criterion, a sample is joined to: whose dyads' depth counts.
    weights : ndarray of shape (n_criteria,)
        Of the criteria in the balanced sum.
    """

    depths: Depths
    n_summed: NDArray[np.intp]
    is_joined: NDArray[np.bool_]
    weights: NDArray[np.float64]

    @classmethod
    def fit(
        cls, depths: Depths, n_neighbors: NDArray[np.intp], weights: NDArray[np.float64], n_samples: int
    ) -> Measurement:
        """Return the measurement of samples that are joined to so many of the training samples."""
        n_summed = np.minimum(np.maximum(n_neighbors, MIN_SUMMED), n_samples - 1)
        is_joined = [np.arange(summed) < joined for summed, joined in zip(n_summed, n_neighbors, strict=True)]
        return cls(depths, n_summed, np.concatenate(is_joined), weights)

    def statistics(self, block: NDArray[np.float64], method: Method) -> Statistics:
        """Return the statistics of the rows of a block; those that the method does not need are 0."""
        neighbors, dyads = nearest_dyads(block, self.n_summed)
        mean_depth = balanced_sum = np.zeros(len(neighbors))
        if method != "criteria":
            mean_depth = self.mean_depth(dyads)
        if method == "union":
            balanced_sum = self.balanced_sum(block)
        return Statistics(mean_depth, self.neighbor_sums(dyads), balanced_sum)

    def training_statistics(self, pairs: Pairs, lists: NeighborLists | None) -> Statistics:
        """Return the statistics of the training samples, each left out in turn.

        They are taken from the lists if these are long enough, or else from the pairs.
        """
        n_needed = int(self.n_summed.max())
        if lists is None or n_needed > lists.sums.shape[1]:
            # A row's nearest dyads may be far more values than its dissimilarities.
            n_values = pairs.n_criteria * max(pairs.n_samples, int(self.n_summed.sum()))
            blocks = row_blocks(pairs.n_samples, n_values)
            parts = pairs.map(lambda pairs, rows: self.statistics(pairs.block(rows), "union"), blocks)
            return joined(list(parts))
        dyads = lists.first_dyads(self.n_summed)
        blocks = row_blocks(len(dyads), dyads.shape[1] * dyads.shape[2])
        mean_depth = np.concatenate(map_blocks(lambda rows: self.mean_depth(dyads[rows]), blocks, pairs.n_jobs))
        return Statistics(mean_depth, self.neighbor_sums(dyads), _total(lists.sums[:, :n_needed]))

    def nearby_statistics(self, nearby: Nearby, views: Views, method: Method, n_jobs: int | None) -> list[Statistics]:
        """Return the statistics of new samples, block by block, as trees find their nearest."""

        def of_rows(rows: slice) -> Statistics:
            new = [view[rows] for view in views]
            _, block, is_sure = nearby.block(new, with_sum=method == "union")
            found = Statistics(*map(np.copy, self.statistics(block, method)))
            if not is_sure.all():
                measure = partial(self.statistics, method=method)
                asked = [view[~is_sure] for view in new]
                exact = joined(map_new_blocks(measure, nearby.criteria, asked, nearby.training, n_jobs))
                for part, exact_part in zip(found, exact, strict=True):
                    part[~is_sure] = exact_part
            return found

        return map_blocks(of_rows, list(gen_batches(len(views[0]), NEARBY_ROWS)), n_jobs)

    def mean_depth(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the paper's v from the dyads with the summed neighbors, shape (n_rows, s, n_criteria)."""
        joined_dyads = dyads if self.is_joined.all() else dyads[:, self.is_joined]
        n_rows, n_dyads, n_criteria = joined_dyads.shape
        depths = self.depths.of(joined_dyads.reshape(-1, n_criteria)).reshape(n_rows, n_dyads)
        mean: NDArray[np.float64] = depths.mean(axis=1)
        return mean

    def neighbor_sums(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, in each criterion, the sum over the dyads with the summed neighbors in that criterion."""
        ends = np.cumsum(self.n_summed)
        parts = zip(ends - self.n_summed, ends, strict=True)
        return np.column_stack([_total(dyads[:, start:end, c]) for c, (start, end) in enumerate(parts)])

    def balanced_sum(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the nearest of each row under the weighted sum of the criteria."""
        distances, _ = nearest_by_sum(block, self.weights, int(self.n_summed.max()))
        return _total(distances)


def _total(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each row, added one after the other so that no bit depends on how many rows there are."""
    with np.errstate(over="ignore"):
        total: NDArray[np.float64] = distances.cumsum(axis=1)[:, -1]
    return total


def usual_sizes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a positive size of what each column holds: the median or, of columns that are mostly zero, the mean."""
    with np.errstate(over="ignore"):
        medians, means = np.median(values, axis=0), values.mean(axis=0)
    sizes = np.where(medians > 0, medians, np.where(means > 0, means, 1.0))
    # One can divide by the smallest normal number, not by all that are smaller.
    return np.maximum(sizes, np.finfo(np.float64).tiny)
