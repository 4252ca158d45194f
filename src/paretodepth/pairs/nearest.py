"""Dyads: the dissimilarities of a pair under all criteria, of new samples with the nearest training samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import Result, map_blocks, row_blocks
from paretodepth._kernels.nearest import select_nearest
from paretodepth.criteria.fitted import FittedCriterion
from paretodepth.pairs.pairs import Views


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
    values_per_row: int,
    n_jobs: int | None,
    first_row: int = 0,
) -> list[Result]:
    """Return the function's results for blocks of dissimilarities of new samples to the training samples.

    `values_per_row` tells how much a row takes in the end; `first_row` numbers the first in messages.
    """

    def of_rows(rows: slice) -> Result:
        new = [view[rows] for view in views]
        return function(dissimilarity_block(criteria, new, training, first_row + rows.start, n_jobs))

    return map_blocks(of_rows, row_blocks(len(views[0]), values_per_row), n_jobs)


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
    neighbors = np.empty((block.shape[1], n_neighbors.sum()), np.intp)
    select_nearest(block, n_neighbors, neighbors)
    # The values of a dyad side by side, as the compiled loops of depths read them.
    dyads = block[:, np.arange(block.shape[1])[:, None], neighbors]
    return neighbors, np.ascontiguousarray(np.moveaxis(dyads, 0, -1))


def nearest_by_sum(
    block: NDArray[np.float64], weights: NDArray[np.float64], n_nearest: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the sums and the numbers of each row's nearest samples under the weighted sum of a block's criteria.

    The nearest comes first, and of equally near ones that with the smaller index.
    """
    sums = np.zeros(block.shape[1:])
    with np.errstate(over="ignore"):
        # One after the other: the last bits of a matrix product depend on its shape and on the library.
        for part, weight in zip(block, weights, strict=True):
            # A weight of zero leaves a criterion out, infinite dissimilarities too.
            if weight > 0:
                sums += weight * part
    indices = np.empty((len(sums), n_nearest), np.intp)
    select_nearest(sums[None], np.array([n_nearest]), indices)
    return np.take_along_axis(sums, indices, axis=1), indices
