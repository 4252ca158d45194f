"""The nearest of every training sample among the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from paretodepth._blocks import map_blocks
from paretodepth.pairs.nearest import nearest_by_sum, nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, Pairs
from paretodepth.pairs.shortlist import Shortlist

N_LISTED = 32
"""Nearest samples that are listed in one pass over the pairs; a larger connected k needs further passes."""
ROWS_BY_TREES = 256
"""Training samples whose nearest are sought by trees in one go."""


class NeighborLists(NamedTuple):
    """The nearest of each training sample, which is not its own neighbor; the nearest first.

    Attributes
    ----------
    neighbors : ndarray of shape (n_samples, n_criteria, n_listed)
        The nearest in each criterion, by index.
    dyads : ndarray of shape (n_samples, n_criteria, n_listed, n_criteria)
        The dyads with them.
    sums : ndarray of shape (n_samples, n_listed)
        The smallest weighted sums of the criteria.
    """

    neighbors: NDArray[np.intp]
    dyads: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def gathered(cls, pairs: Pairs, weights: NDArray[np.float64], *, n_listed: int = N_LISTED) -> NeighborLists:
        """Return the lists of all training samples, found by trees where that is faster."""
        # Held pairs know dyads alone, no columns to build trees of.
        if isinstance(pairs, ComputedPairs):
            shortlist = listing_shortlist(pairs, weights, n_listed)
            if shortlist.is_worthwhile(with_sum=True):
                return cls.by_trees(shortlist, pairs, n_listed)
        return cls.by_blocks(pairs, weights, n_listed)

    @classmethod
    def by_blocks(cls, pairs: Pairs, weights: NDArray[np.float64], n_listed: int) -> NeighborLists:
        """Return the lists of all training samples, from one pass over the pairs."""
        n_listed = min(n_listed, pairs.n_samples - 1)
        parts = pairs.map(lambda pairs, rows: cls._of_block(pairs.block(rows), weights, n_listed), pairs.row_blocks())
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def by_trees(
        cls, shortlist: Shortlist, pairs: Pairs, n_listed: int, *, n_rows: int = ROWS_BY_TREES
    ) -> NeighborLists:
        """Return the lists of all training samples, found by trees `n_rows` at a time; where unsure, from blocks."""
        n_listed = min(n_listed, pairs.n_samples - 1)

        def of_rows(rows: slice) -> NeighborLists:
            candidates, block, is_sure = shortlist.block([view[rows] for view in shortlist.training], with_sum=True)
            # No sample is its own neighbor.
            block[:, candidates == np.arange(rows.start, rows.stop)[:, None]] = np.inf
            lists = cls._of_block(block, shortlist.weights, n_listed)
            # Candidates stand in rising order, so of tied ones the smaller index is named, as from a block of all.
            numbers = np.take_along_axis(candidates[:, None], lists.neighbors, axis=2)
            lists = lists._replace(neighbors=numbers)
            for row in np.flatnonzero(~is_sure):
                sample = rows.start + int(row)
                alone = cls._of_block(pairs.block(slice(sample, sample + 1)), shortlist.weights, n_listed)
                for part, exact in zip(lists, alone, strict=True):
                    part[row] = exact[0]
            return lists

        parts = map_blocks(of_rows, list(gen_batches(pairs.n_samples, n_rows)), pairs.n_jobs)
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def _of_block(cls, block: NDArray[np.float64], weights: NDArray[np.float64], n_listed: int) -> NeighborLists:
        """Return the lists of the rows of a block."""
        n_criteria, n_rows, _ = block.shape
        neighbors, dyads = nearest_dyads(block, np.full(n_criteria, n_listed))
        sums, _ = nearest_by_sum(block, weights, n_listed)
        shape = (n_rows, n_criteria, n_listed)
        return cls(neighbors.reshape(shape), dyads.reshape(*shape, n_criteria), sums)

    def first_dyads(self, n_neighbors: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads with the first of each list, criterion after criterion, shape (n_samples, s, n_criteria)."""
        return np.concatenate([self.dyads[:, criterion, :k] for criterion, k in enumerate(n_neighbors)], axis=1)


def listing_shortlist(pairs: ComputedPairs, weights: NDArray[np.float64], n_listed: int) -> Shortlist:
    """Return a shortlist of training samples that holds the nearest of each of them."""
    # One more than are listed: a sample is its own nearest.
    n_nearest = np.full(pairs.n_criteria, min(n_listed, pairs.n_samples - 1) + 1)
    return Shortlist(pairs.criteria, pairs.views, n_nearest, weights)
