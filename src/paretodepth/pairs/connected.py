"""The number of neighbors that connects the training samples."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from paretodepth._checks import check_choice, is_integer, listed
from paretodepth._kernels.nearest import rank_components
from paretodepth.pairs.neighbor_lists import N_LISTED, NeighborLists
from paretodepth.pairs.pairs import Pairs


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
    # A neighbor's rank is one more than the number of samples that are nearer, so ties share the smallest.
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

    # The graph of a larger k has all edges of a smaller one's, so k can be bisected.
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
    # It is enough for an edge that one of the two has the other among its nearest. SciPy takes a zero for no edge.
    ranks = np.minimum(ranks, ranks.T)
    np.fill_diagonal(ranks, 0)
    return int(minimum_spanning_tree(ranks).max())


def check_n_neighbors(n_neighbors: object, names: Sequence[str], n_samples: int, caller: str) -> NDArray[np.intp]:
    """Return one number of neighbors a criterion."""
    if is_integer(n_neighbors):
        counts: list[Any] = [n_neighbors] * len(names)
    elif isinstance(n_neighbors, Sequence | np.ndarray) and not isinstance(n_neighbors, str):
        counts = list(n_neighbors)
    else:
        raise ValueError(
            f"The 'n_neighbors' parameter of {caller} must be 'connected', an integer or one integer per criterion. "
            f"Got {n_neighbors!r} instead."
        )
    if len(counts) != len(names):
        raise ValueError(
            f"The 'n_neighbors' parameter of {caller} must hold one integer per criterion, {len(names)} in all. "
            f"Got {len(counts)} instead; the criteria are {listed(names)}."
        )
    for name, count in zip(names, counts, strict=True):
        if not is_integer(count) or not 1 <= count < n_samples:
            raise ValueError(
                f"The 'n_neighbors' parameter of {caller} must be an integer of at least 1 and below the number of "
                f"training samples, {n_samples}. Got {count!r} for the criterion '{name}' instead."
            )
    return np.array(counts, dtype=np.intp)
