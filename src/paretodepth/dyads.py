"""Dyads: the dissimilarities of a pair under all criteria, of training pairs and of new samples' nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from paretodepth._kernels.neighbors import (
    join_neighbors,
    pack_rows,
    rank_components,
    select_nearest,
    unpack_rows,
)
from paretodepth.blocks import Result, map_blocks, row_blocks
from paretodepth.fitted_criteria import FittedCriterion
from paretodepth.metrics.metric import View
from paretodepth.validation import check_choice, check_n_neighbors

Views = Sequence[View]

FIRST_LARGEST_K = 32
"""The k-NN graphs of k = 1…32 are grown together; a larger connected k needs a second pass."""


def pairwise_dyads(criteria: Sequence[FittedCriterion], views: Views, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the dyads of all pairs of samples, shape (n_samples * (n_samples - 1) / 2, n_criteria).

    The pairs come in the order (0, 1), (0, 2), …, (1, 2), …
    """
    n_samples = len(views[0])
    dyads = np.empty((n_samples * (n_samples - 1) // 2, len(criteria)))

    def fill(rows: slice) -> None:
        block = np.empty((len(criteria), rows.stop - rows.start, n_samples - rows.start))
        for part, criterion, view in zip(block, criteria, views, strict=True):
            part[:] = criterion.training_dissimilarities(view, rows, n_jobs)
        start, stop = (row * n_samples - row * (row + 1) // 2 for row in (rows.start, rows.stop))
        pack_rows(block, dyads[start:stop])

    map_blocks(fill, row_blocks(n_samples, len(criteria) * n_samples), n_jobs)
    return dyads


def dissimilarity_block(
    criteria: Sequence[FittedCriterion], rows: Views, training: Views, start: int, n_jobs: int | None
) -> NDArray[np.float64]:
    """Return dissimilarities of shape (n_criteria, n_rows, n_training); `start` numbers the first row in messages."""
    return np.stack(
        [
            criterion.dissimilarities(view, training_view, (start, 0), n_jobs)
            for criterion, view, training_view in zip(criteria, rows, training, strict=True)
        ]
    )


def map_new_blocks(
    function: Callable[[NDArray[np.float64]], Result],
    criteria: Sequence[FittedCriterion],
    views: Views,
    training: Views,
    n_jobs: int | None,
) -> list[Result]:
    """Return the function's results for blocks of dissimilarities of new samples to the training samples."""

    def of_rows(rows: slice) -> Result:
        new = [view[rows] for view in views]
        return function(dissimilarity_block(criteria, new, training, rows.start, n_jobs))

    return map_blocks(of_rows, row_blocks(len(views[0]), len(views) * len(training[0])), n_jobs)


def training_block(dyads: NDArray[np.float64], n_samples: int, rows: slice) -> NDArray[np.float64]:
    """Return the block of some training samples against all, each infinitely far from itself."""
    return unpack_rows(dyads, n_samples, rows.start, rows.stop)


def nearest_dyads(
    block: NDArray[np.float64], n_neighbors: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return each row's neighbors, shape (n_rows, s), and their dyads, shape (n_rows, s, n_criteria).

    A row's neighbors are the k_1 nearest in criterion 1, then the k_2 nearest in criterion
    2, and so on, s = k_1 + … + k_K in all; one found in several criteria counts in each.
    Training samples at equal dissimilarity are told apart by the other criteria in their
    order. Those that remain tied give equal dyads, so no score depends on the order of the
    training samples; the neighbor with the smaller index is named.
    """
    neighbors = select_nearest(block, n_neighbors)
    dyads = block[:, np.arange(block.shape[1])[:, None], neighbors]
    return neighbors, np.ascontiguousarray(np.moveaxis(dyads, 0, -1))


def fitted_n_neighbors(
    n_neighbors: object, dyads: NDArray[np.float64], names: Sequence[str], n_samples: int, caller: str
) -> NDArray[np.intp]:
    """Return the number of neighbors in each criterion, as given or as the training dyads need it."""
    if isinstance(n_neighbors, str):
        check_choice(n_neighbors, "n_neighbors", ("connected",), caller)
        return connected_n_neighbors(lambda rows: training_block(dyads, n_samples, rows), n_samples, len(names))
    return check_n_neighbors(n_neighbors, names, n_samples, caller)


def connected_n_neighbors(
    block_of: Callable[[slice], NDArray[np.float64]], n_samples: int, n_criteria: int
) -> NDArray[np.intp]:
    """Return for each criterion the smallest k with a connected symmetric k-NN graph.

    Samples i and j are joined if either is among the k nearest of the other, that is, if
    fewer than k samples are nearer; so ties need no rule and the order of the samples does
    not matter.

    Parameters
    ----------
    block_of : callable
        Gives the block (n_criteria, n_rows, n_samples) of a slice of the training samples.
    n_samples, n_criteria : int
        The block's size when the slice takes all samples.

    References
    ----------
    Appendix, "Selection of parameters", of the paper.
    """
    largest_k = min(FIRST_LARGEST_K, n_samples - 1)
    parents = np.tile(np.arange(n_samples), (n_criteria, largest_k, 1))
    n_components = np.full((n_criteria, largest_k), n_samples)
    blocks = row_blocks(n_samples, n_criteria * n_samples)
    for rows in blocks:
        for criterion, block in enumerate(block_of(rows)):
            nearest = np.sort(np.partition(block, largest_k - 1, axis=1)[:, :largest_k], axis=1)
            join_neighbors(block, rows.start, nearest, parents[criterion], n_components[criterion])
    is_connected = n_components == 1
    n_neighbors: NDArray[np.intp] = is_connected.argmax(axis=1) + 1
    for unconnected in np.flatnonzero(~is_connected.any(axis=1)):
        roots = parents[unconnected, -1]
        while (roots[roots] != roots).any():
            roots = roots[roots]
        components = np.unique(roots, return_inverse=True)[1]
        n_neighbors[unconnected] = _joining_rank(block_of, int(unconnected), components, blocks)
    return n_neighbors


def _joining_rank(
    block_of: Callable[[slice], NDArray[np.float64]],
    criterion: int,
    components: NDArray[np.intp],
    blocks: list[slice],
) -> int:
    """Return the smallest k whose k-NN graph joins the components of a graph of smaller k.

    That is the heaviest edge of a spanning tree of the components, where an edge weighs
    the smallest rank of a sample of one among the neighbors of a sample of the other.
    """
    n_components = components.max() + 1
    ranks = np.full((n_components, n_components), len(components))
    for rows in blocks:
        row_ranks = rank_components(block_of(rows)[criterion], components, n_components)
        np.minimum.at(ranks, components[rows], row_ranks)
    ranks = np.minimum(ranks, ranks.T)
    np.fill_diagonal(ranks, 0)
    return int(minimum_spanning_tree(ranks).max())


class Ties(NamedTuple):
    """How often dyads have one dissimilarity in common, for each criterion.

    Attributes
    ----------
    shares : ndarray of shape (n_criteria,)
        Share of dyads whose dissimilarity another dyad has too.
    zero_shares : ndarray of shape (n_criteria,)
        Share of dyads whose dissimilarity is zero.
    is_constant : ndarray of shape (n_criteria,)
        Whether all dyads have the same.
    """

    shares: NDArray[np.float64]
    zero_shares: NDArray[np.float64]
    is_constant: NDArray[np.bool_]


def count_ties(dyads: NDArray[np.float64]) -> Ties:
    """Return how often the dissimilarities of dyads, shape (n_dyads, n_criteria), are tied."""
    shares, zero_shares, is_constant = [], [], []
    for column in dyads.T:
        values = np.sort(column)
        is_equal = np.concatenate(([False], values[1:] == values[:-1], [False]))
        shares.append(np.mean(is_equal[1:] | is_equal[:-1]))
        zero_shares.append(np.searchsorted(values, 0.0, side="right") / len(values))
        is_constant.append(values[0] == values[-1])
    return Ties(np.array(shares), np.array(zero_shares), np.array(is_constant))
