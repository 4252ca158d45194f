"""The nearest of every training sample among the others, and the number of neighbors that connects them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.utils import gen_batches

from paretodepth._kernels.neighbors import rank_components
from paretodepth.blocks import map_blocks
from paretodepth.dyads import nearest_by_sum, nearest_dyads
from paretodepth.nearby import Nearby
from paretodepth.pairs import ComputedPairs, Pairs
from paretodepth.validation import check_choice, check_n_neighbors

N_LISTED = 32
"""Nearest samples that are listed in one pass over the pairs; a larger connected k needs further passes."""
FOUND_ROWS = 256
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
    def gathered(cls, pairs: Pairs, weights: NDArray[np.float64]) -> NeighborLists:
        """Return the lists of all training samples, from one pass over the pairs."""
        n_listed = min(N_LISTED, pairs.n_samples - 1)
        if isinstance(pairs, ComputedPairs):
            # A sample is its own nearest.
            n_nearest = np.full(pairs.n_criteria, n_listed + 1)
            nearby = Nearby(pairs.criteria, pairs.views, n_nearest, weights)
            if nearby.is_worthwhile(with_sum=True):
                return cls._found(nearby, pairs, n_listed)
        parts = pairs.map(lambda pairs, rows: cls._of_block(pairs.block(rows), weights, n_listed), pairs.row_blocks())
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def _of_block(cls, block: NDArray[np.float64], weights: NDArray[np.float64], n_listed: int) -> NeighborLists:
        """Return the lists of the rows of a block."""
        n_criteria, n_rows, _ = block.shape
        neighbors, dyads = nearest_dyads(block, np.full(n_criteria, n_listed))
        sums, _ = nearest_by_sum(block, weights, n_listed)
        shape = (n_rows, n_criteria, n_listed)
        return cls(neighbors.reshape(shape), dyads.reshape(*shape, n_criteria), sums)

    @classmethod
    def _found(cls, nearby: Nearby, pairs: Pairs, n_listed: int) -> NeighborLists:
        """Return the lists of all training samples, found by trees; where these are unsure, from blocks."""

        def of_rows(rows: slice) -> NeighborLists:
            candidates, block, is_sure = nearby.block([view[rows] for view in nearby.training], with_sum=True)
            block[:, candidates == np.arange(rows.start, rows.stop)[:, None]] = np.inf
            lists = cls._of_block(block, nearby.weights, n_listed)
            numbers = np.take_along_axis(candidates[:, None], lists.neighbors, axis=2)
            lists = lists._replace(neighbors=numbers)
            for row in np.flatnonzero(~is_sure):
                sample = rows.start + int(row)
                alone = cls._of_block(pairs.block(slice(sample, sample + 1)), nearby.weights, n_listed)
                for part, exact in zip(lists, alone, strict=True):
                    part[row] = exact[0]
            return lists

        parts = map_blocks(of_rows, list(gen_batches(pairs.n_samples, FOUND_ROWS)), pairs.n_jobs)
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def first_dyads(self, n_neighbors: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads with the first of each list, criterion after criterion, shape (n_samples, s, n_criteria)."""
        return np.concatenate([self.dyads[:, criterion, :k] for criterion, k in enumerate(n_neighbors)], axis=1)


def given_n_neighbors(
    n_neighbors: object, names: Sequence[str], n_samples: int, caller: str
) -> NDArray[np.intp] | None:
    """Return the number of neighbors in each criterion as given, or None for connecting ones."""
    if isinstance(n_neighbors, str):
        check_choice(n_neighbors, "n_neighbors", ("connected",), caller)
        return None
    return check_n_neighbors(n_neighbors, names, n_samples, caller)


def fitted_n_neighbors(
    n_neighbors: object, pairs: Pairs, weights: NDArray[np.float64], names: Sequence[str], caller: str
) -> tuple[NDArray[np.intp], NeighborLists | None]:
    """Return the number of neighbors in each criterion, as given or connecting, and lists that may hold them."""
    counts = given_n_neighbors(n_neighbors, names, pairs.n_samples, caller)
    if counts is not None:
        return counts, NeighborLists.gathered(pairs, weights) if counts.max() <= N_LISTED else None
    lists = NeighborLists.gathered(pairs, weights)
    return connected_n_neighbors(pairs, lists), lists


def connected_n_neighbors(pairs: Pairs, lists: NeighborLists) -> NDArray[np.intp]:
    """Return for each criterion the smallest k with a connected symmetric k-NN graph.

    Samples i and j are joined if either is among the k nearest of the other, that is, if
    fewer than k samples are nearer; so ties need no rule and the order of the samples does
    not matter.

    References
    ----------
    Appendix, "Selection of parameters", of the paper.
    """
    n_neighbors = []
    for criterion in range(pairs.n_criteria):
        distances = lists.dyads[:, criterion, :, criterion]
        k, components = connecting_rank(distances, lists.neighbors[:, criterion])
        n_neighbors.append(max(k, _joining_rank(pairs, criterion, components)) if components.any() else k)
    return np.array(n_neighbors, np.intp)


def connecting_rank(distances: NDArray[np.float64], neighbors: NDArray[np.intp]) -> tuple[int, NDArray[np.intp]]:
    """Return the smallest k whose symmetric k-NN graph is connected, and the component of each sample, all the same.

    Row i lists the nearest of sample i, the nearest first, itself left out. If the lists are
    too short to tell, k is no larger than the smallest, and the components are joined in
    that k's graph.
    """
    n_samples, n_listed = distances.shape
    ranks = np.tile(np.arange(1, n_listed + 1), (n_samples, 1))
    ranks[:, 1:][distances[:, 1:] == distances[:, :-1]] = 1
    ranks = np.maximum.accumulate(ranks, axis=1)
    # Samples as near as the last of a list may be missing from it.
    largest = n_listed if n_listed == n_samples - 1 else int(ranks[:, -1].min())

    def components(k: int) -> tuple[int, NDArray[np.intp]]:
        is_joined = ranks <= k
        starts = np.concatenate(([0], np.cumsum(is_joined.sum(axis=1))))
        # Of 32 bits, because SciPy 1.11 refuses others.
        parts = (is_joined[is_joined], neighbors[is_joined].astype(np.int32), starts.astype(np.int32))
        graph = csr_array(parts, shape=(n_samples, n_samples))
        n_components, of_samples = connected_components(graph, directed=False)
        return n_components, of_samples

    k = 1 + bisect_left(range(1, largest), True, key=lambda k: components(k)[0] == 1)
    return k, components(k)[1]


def _joining_rank(pairs: Pairs, criterion: int, components: NDArray[np.intp]) -> int:
    """Return the smallest k whose k-NN graph joins the components of a graph of smaller k.

    That is the heaviest edge of a spanning tree of the components, where an edge weighs
    the smallest rank of a sample of one among the neighbors of a sample of the other.
    """
    n_components = components.max() + 1

    def of_rows(pairs: Pairs, rows: slice) -> tuple[slice, NDArray[np.intp]]:
        return rows, rank_components(pairs.block(rows)[criterion], components, n_components)

    ranks = np.full((n_components, n_components), pairs.n_samples)
    for rows, row_ranks in pairs.map(of_rows, pairs.row_blocks()):
        np.minimum.at(ranks, components[rows], row_ranks)
    ranks = np.minimum(ranks, ranks.T)
    np.fill_diagonal(ranks, 0)
    return int(minimum_spanning_tree(ranks).max())
