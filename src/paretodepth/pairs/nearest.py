"""Nearest neighbors: in a block, of every training sample, and the number of neighbors that connects these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.utils import gen_batches

from paretodepth._blocks import Result, map_blocks, row_blocks
from paretodepth._checks import check_choice, is_integer, listed
from paretodepth._kernels.neighbors import join_nearest, rank_components, select_nearest
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.pairs.limits import N_LISTED
from paretodepth.pairs.pairs import ComputedPairs, Encodings, HeldPairs, Pairs
from paretodepth.pairs.shortlist import Shortlist

FEW_LISTED = 16
"""Nearest samples listed at first of pairs held in memory: mostly enough, and to list more later costs little."""
ROWS_BY_TREES = 256
"""Training samples whose nearest are found by trees together."""
MIN_SORTED_ROWS = 16
"""Fewest short rows for which one sort of all is faster than one sort a row."""
MAX_SORTED_COLUMNS = 512
"""Most columns of a short row."""


def dissimilarity_block(
    criteria: Sequence[FittedCriterion], rows: Encodings, training: Encodings, start: int, n_jobs: int | None
) -> NDArray[np.float64]:
    """Return dissimilarities of shape (n_criteria, n_rows, n_training); `start` numbers the first row in messages."""
    return np.stack(
        [
            criterion.dissimilarities(encoding, training_view, (start, 0), n_jobs)
            for criterion, encoding, training_view in zip(criteria, rows, training, strict=True)
        ]
    )


def map_new_blocks(
    function: Callable[[NDArray[np.float64]], Result],
    criteria: Sequence[FittedCriterion],
    encodings: Encodings,
    training: Encodings,
    values_per_row: int,
    n_jobs: int | None,
    first_row: int = 0,
) -> list[Result]:
    """Return the function's results for blocks of dissimilarities of new samples to the training samples.

    `values_per_row` is how much a row takes in the end; `first_row` numbers the first in messages.
    """

    def of_rows(rows: slice) -> Result:
        new = [encoding[rows] for encoding in encodings]
        return function(dissimilarity_block(criteria, new, training, first_row + rows.start, n_jobs))

    return map_blocks(of_rows, row_blocks(len(encodings[0]), values_per_row), n_jobs)


def nearest_dyads(
    block: NDArray[np.float64], n_neighbors: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return each row's neighbors, shape (n_rows, s), and their dyads, shape (n_rows, s, n_criteria).

    A row's neighbors are the k_1 nearest in criterion 1, then the k_2 nearest in criterion
    2, and so on, s = k_1 + … + k_K in all; one found in several criteria counts in each.
    Ties between training samples are broken by the other criteria in their order. Those
    that remain tied give equal dyads, so no score depends on the order of the training
    samples; the neighbor with the smaller index is named.
    """
    neighbors = nearest_in_block(block, n_neighbors)
    return neighbors, dyads_with(block, neighbors)


def nearest_in_block(block: NDArray[np.float64], n_neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return each row's neighbors alone, as `nearest_dyads` chooses them."""
    _, n_rows, n_columns = block.shape
    if n_rows >= MIN_SORTED_ROWS and n_columns <= MAX_SORTED_COLUMNS:
        neighbors, is_tied = _sorted_neighbors(block, n_neighbors)
        if is_tied.any():
            neighbors[is_tied] = _selected_neighbors(block[:, is_tied], n_neighbors)
        return neighbors
    return _selected_neighbors(block, n_neighbors)


def _selected_neighbors(block: NDArray[np.float64], n_neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return each row's neighbors, found row by row."""
    neighbors = np.empty((block.shape[1], n_neighbors.sum()), np.intp)
    select_nearest(block, n_neighbors, neighbors)
    return neighbors


def _sorted_neighbors(
    block: NDArray[np.float64], n_neighbors: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return each row's neighbors, found in all rows at once, and which rows have ties that matter."""
    _, n_rows, n_columns = block.shape
    is_tied = np.zeros(n_rows, bool)
    neighbors = []
    for part, k in zip(block, n_neighbors.tolist(), strict=True):
        is_near = part <= np.partition(part, k - 1, axis=1)[:, k - 1 : k]
        has_more = np.count_nonzero(is_near, axis=1) > k
        is_near[has_more] = np.arange(n_columns) < k
        places = np.flatnonzero(is_near).reshape(n_rows, k)
        values = part.take(places)
        neighbors.append(np.take_along_axis(places, np.argsort(values, axis=1), axis=1) % n_columns)
        values.sort(axis=1)
        is_tied |= has_more | (values[:, 1:] == values[:, :-1]).any(axis=1)
    return np.concatenate(neighbors, axis=1), is_tied


def dyads_with(block: NDArray[np.float64], neighbors: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return each row's dyads with some columns of a block, shape (n_rows, n_neighbors, n_criteria)."""
    # The values of a dyad side by side, as the compiled loops of depths read them.
    dyads = block[:, np.arange(block.shape[1])[:, None], neighbors]
    return np.ascontiguousarray(np.moveaxis(dyads, 0, -1))


def nearest_by_sum(
    block: NDArray[np.float64], weights: NDArray[np.float64], n_nearest: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the sums and the numbers of each row's nearest samples under the weighted sum of a block's criteria.

    The nearest comes first, and of equally near ones that with the smaller index.
    """
    sums = weighted_sum(block, weights)
    indices = nearest_in_block(sums[None], np.array([n_nearest]))
    return np.take_along_axis(sums, indices, axis=1), indices


def weighted_sum(block: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted sum of a block's criteria, shape (n_rows, n_training)."""
    sums = np.zeros(block.shape[1:])
    with np.errstate(over="ignore"):
        # One after the other: the last bits of a matrix product depend on its shape and on the library.
        for part, weight in zip(block, weights, strict=True):
            # A weight of zero leaves a criterion out, infinite dissimilarities too.
            if weight > 0:
                sums += weight * part
    return sums


class NeighborLists(NamedTuple):
    """The nearest of each training sample, which is not its own neighbor; the nearest first."""

    neighbors: NDArray[np.intp]
    """By index, shape (n_samples, n_criteria, n_listed)."""
    dyads: NDArray[np.float64]
    """With these neighbors, shape (n_samples, n_criteria, n_listed, n_criteria)."""
    sums: NDArray[np.float64]
    """The smallest weighted sums of the criteria, shape (n_samples, n_listed)."""

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
            candidates, block, is_sure = shortlist.block(
                [encoding[rows] for encoding in shortlist.training], with_sum=True
            )
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

    def connecting_ranks(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Return the `connecting_rank` of each criterion."""
        return [
            connecting_rank(self.dyads[:, criterion, :, criterion], of_criterion)
            for criterion, of_criterion in enumerate(np.moveaxis(self.neighbors, 1, 0))
        ]


def listing_shortlist(pairs: ComputedPairs, weights: NDArray[np.float64], n_listed: int) -> Shortlist:
    """Return a shortlist of training samples that holds the nearest of each of them."""
    # One more than are listed: a sample is its own nearest.
    n_nearest = np.full(pairs.n_criteria, min(n_listed, pairs.n_samples - 1) + 1)
    return Shortlist(pairs.criteria, pairs.encodings, n_nearest, weights)


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
    lists = NeighborLists.gathered(pairs, weights, n_listed=FEW_LISTED if isinstance(pairs, HeldPairs) else N_LISTED)
    if isinstance(pairs, HeldPairs) and any(components.any() for _, components in lists.connecting_ranks()):
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
    n_neighbors = [
        max(k, _joining_rank(pairs, criterion, components)) if components.any() else k
        for criterion, (k, components) in enumerate(lists.connecting_ranks())
    ]
    return np.array(n_neighbors, np.intp)


def connecting_rank(distances: NDArray[np.float64], neighbors: NDArray[np.intp]) -> tuple[int, NDArray[np.intp]]:
    """Return the smallest k whose symmetric k-NN graph is connected, and the component of each sample, all the same.

    Row i lists the nearest of sample i, the nearest first, itself left out. If the lists are
    too short to tell, k is no larger than the smallest, and the components are joined in
    that k's graph.
    """
    n_samples, n_listed = distances.shape
    # A neighbor's rank is one more than the number of samples that are nearer, so ties share the smallest; samples as
    # near as the last of a list may be missing from it.
    largest = n_listed
    if n_listed < n_samples - 1:
        largest = 1 + int((distances < distances[:, -1:]).sum(axis=1).min())
    parents = np.empty(n_samples, np.intp)
    k = join_nearest(np.ascontiguousarray(distances), np.ascontiguousarray(neighbors), largest, parents)
    while (parents[parents] != parents).any():
        parents = parents[parents]
    return k, np.unique(parents, return_inverse=True)[1]


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
