"""Front numbers of distinct dyads of three and more criteria, by a sweep, halves or a tree; of few values by a grid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from paretodepth._blocks import threads
from paretodepth._kernels.grids import N_SEARCHES, Layer, append_digits, number_cells, number_layers
from paretodepth._kernels.sweeps import MOVES_LEFT, Near, Staircases, number_triples, raise_above, settle_few
from paretodepth._kernels.wide_tree import ask_wide, settle_wide
from paretodepth.fronts.tree import MAX_STACK, build_wide_tree

BLOCK_DYADS = 512
"""Dyads that query the tree before they are compared with each other, which costs the square."""
FEW_DYADS = 128
"""Number of dyads up to which comparing all is faster than a sweep."""
MANY_DYADS = 2**20
"""Dyads of four criteria beyond which halves, which a cap also makes faster, beat a tree that no cache holds."""
N_NEAR = 64
"""Dyads that are fetched from memory together."""
MAX_MOVES = 1024
"""Points pushed aside per dyad, on average, from which on the staircases count as too long."""
MAX_CELLS = (8, 32, 64)
"""Cells of a grid per dyad, of two, three and more criteria: more take longer to number than the dyads to sort."""

MAX_ROWS = (25, 100, 200)
"""Rows of a layered grid per dyad, of three, four and more criteria: more take longer than other ways."""
ROW_CELLS = 64
"""Cells of a row that take as long as to begin a row."""
LAYER_CELLS = 32
"""Cells of a layer per dyad: more would take more memory than other ways."""
MAX_NUMBER = 2**15 - 1
"""The largest front number that a layer can hold."""


def number_few_values(dyads: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the front numbers of dyads, at least one, by a grid of their values; None if it had too many cells."""
    n_dyads, n_criteria = dyads.shape
    values = []
    n_cells = 1
    max_cells = MAX_CELLS[min(n_criteria, 4) - 2] * n_dyads
    for column in dyads.T:
        values.append(distinct_values(column))
        n_cells *= len(values[-1]) + 1
        if n_cells > max_cells:
            return None
    codes = np.zeros(n_dyads, np.int64)
    for criterion in range(n_criteria):
        append_digits(dyads, criterion, values[criterion], codes, np.empty(N_SEARCHES, np.intp))
    cells = np.zeros([len(of) + 1 for of in values], np.int32)
    for criterion in range(n_criteria):
        np.moveaxis(cells, criterion, 0)[0] = -1
    steps = np.array(cells.strides) // cells.itemsize
    cells = cells.ravel()
    cells[codes] = 1
    number_cells(cells, steps)
    return cells[codes].astype(np.intp)


def distinct_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distinct values in order."""
    in_order = np.sort(values)
    is_new = np.ones(len(values), bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    return in_order[is_new]


def number_distinct(
    ordered: NDArray[np.float64],
    n_jobs: int | None,
    max_moves: int,
    max_depth: int | None,
    *,
    many_dyads: int = MANY_DYADS,
) -> NDArray[np.intp]:
    """Return the front numbers of distinct dyads in lexicographic order; what exceeds `max_depth` only does so."""
    n_dyads, n_criteria = ordered.shape
    max_depth = n_dyads if max_depth is None else min(max_depth, n_dyads)
    if n_criteria == 1 or n_dyads == 0:
        return np.arange(1, n_dyads + 1)
    numbers = number_by_layers(ordered)
    if numbers is not None:
        return numbers
    if n_criteria == 3:
        numbers = _number_by_sweep(ordered, max_moves, max_depth)
    elif n_criteria == 4 and (n_dyads > many_dyads or max_depth < n_dyads):
        numbers = _number_by_halves(ordered, max_moves, max_depth)
    return _number_by_tree(ordered, n_jobs, max_depth) if numbers is None else numbers


def number_by_layers(ordered: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the front numbers of distinct dyads in lexicographic order by a grid of their values, layer by layer.

    Three criteria at least. None if that would take longer, or more memory, than to sort them otherwise.
    """
    values = _values_of_layers(ordered)
    if values is None:
        return None
    n_dyads, n_criteria = ordered.shape
    firsts, places = np.zeros((2, n_dyads), np.int64)
    found = np.empty(N_SEARCHES, np.intp)
    append_digits(ordered, 0, values[0], firsts, found)
    for criterion in range(1, n_criteria):
        append_digits(ordered, criterion, values[criterion], places, found)
    cells = np.zeros([len(of) + 1 for of in values[1:]], np.int16)
    is_inside = np.zeros(cells.shape[:-1], bool)
    is_inside[(slice(1, None),) * is_inside.ndim] = True
    width = cells.shape[-1]
    steps = np.array(cells.strides[:-1]) // cells.itemsize
    numbers = np.zeros(n_dyads, np.intp)
    number_layers(firsts, places, Layer(cells.ravel(), np.flatnonzero(is_inside) * width, steps, width), numbers)
    return numbers


def _values_of_layers(ordered: NDArray[np.float64]) -> list[NDArray[np.float64]] | None:
    """Return the distinct values of each criterion, or None if a layered grid of them would be too large."""
    n_dyads, n_criteria = ordered.shape
    max_rows = MAX_ROWS[min(n_criteria, 5) - 3] * n_dyads
    values = []
    # A row is compared with one before it in each criterion but the first and the last.
    n_rows = n_criteria - 2.0
    for criterion, column in enumerate(ordered.T):
        values.append(distinct_values(column))
        is_last = criterion == n_criteria - 1
        n_rows *= 1 + len(values[-1]) / ROW_CELLS if is_last else len(values[-1])
        # Most often the first criterion has no ties, and this is all there is to do.
        if n_rows > max_rows or 2 * len(values[0]) > n_dyads:
            return None
    is_small = math.prod(len(of) + 1 for of in values[1:]) <= LAYER_CELLS * n_dyads
    # From a front to the next at least one value rises, so that there are fewer fronts than values.
    return values if is_small and sum(map(len, values)) <= MAX_NUMBER else None


def _number_by_sweep(ordered: NDArray[np.float64], max_moves: int, max_depth: int) -> NDArray[np.intp] | None:
    """Return the front numbers of distinct three-criteria dyads in lexicographic order; None if staircases get long."""
    stairs = _new_staircases(len(ordered), max_moves * len(ordered))
    numbers = np.zeros(len(ordered), np.intp)
    number_triples(ordered, stairs, numbers, max_depth)
    return None if stairs.totals[MOVES_LEFT] < 0 else numbers


def _number_by_halves(ordered: NDArray[np.float64], max_moves: int, max_depth: int) -> NDArray[np.intp] | None:
    """Return the front numbers of distinct four-criteria dyads in lexicographic order; None if staircases get long.

    A half of the dyads is settled, raises the numbers of the other half by a sweep along
    the second criterion, and then that half is settled, each by halves of its own. Unrolled:
    before a block is settled, the longest run of blocks that forms a first half and ends
    there raises the second.
    """
    n_dyads = len(ordered)
    numbers = np.ones(n_dyads, np.intp)
    stairs = _new_staircases(n_dyads, max_moves * n_dyads)
    near = [Near(np.empty((N_NEAR, 2)), np.empty(N_NEAR, np.intp)) for _ in range(2)]
    # A key holds the rank, then the row: keys of any run of dyads are put in the order of the second criterion by a
    # plain sort. Stable, so that of equal ones the earlier dyad, the only one that can dominate, comes first.
    keys = np.empty(n_dyads, np.int64)
    by_second = np.argsort(ordered[:, 1], kind="stable")
    keys[by_second] = (np.arange(n_dyads) << 32) | by_second
    for block, rows in enumerate(gen_batches(n_dyads, FEW_DYADS)):
        if block > 0:
            # The largest power of two that divides the block's number. A loop and no recursion, because it is left
            # at once when the moves are used up.
            half = (block & -block) * FEW_DYADS
            halves = slice(rows.start - half, rows.start), slice(rows.start, rows.start + half)
            # What lies beyond the last front to keep raises nothing up to it, and is raised no further.
            lower, upper = (np.sort(keys[of_half][numbers[of_half] <= max_depth]) for of_half in halves)
            if len(lower):
                raise_above(ordered, numbers, (lower, upper), (near[0], near[1]), stairs)
        if stairs.totals[MOVES_LEFT] < 0:
            return None
        settle_few(ordered, numbers, rows.start, rows.stop, max_depth)
    return numbers


def _number_by_tree(ordered: NDArray[np.float64], n_jobs: int | None, max_depth: int) -> NDArray[np.intp]:
    """Return the front numbers of distinct dyads in lexicographic order, by asking a tree.

    Of the dyads before a dyad, those nowhere larger in the second to last criterion dominate
    it. Blocks of dyads ask for the largest front number among these, then settle between themselves.
    """
    n_dyads = len(ordered)
    tree, positions = build_wide_tree(np.column_stack([dense_ranks(column) for column in ordered.T[1:]]))
    n_rows = tree.records.shape[1]
    found = np.zeros_like(tree.numbers)
    columns = np.zeros((n_rows - 1, BLOCK_DYADS), np.int32)
    settled, dominating = np.zeros((2, BLOCK_DYADS), np.int32)

    def ask(near: NDArray[np.intp]) -> None:
        ask_wide(tree, near, np.zeros(n_rows, np.int16), np.empty(MAX_STACK, np.intp), found)

    with threads(n_jobs) as (n_threads, over):
        for block in gen_batches(n_dyads, BLOCK_DYADS):
            # In tree order, so that one search finds in the cache what the one before it read.
            near = np.sort(positions[block])
            list(over(ask, np.array_split(near, min(n_threads, len(near)))))
            settle_wide(tree, positions[block], found, columns, settled, dominating, max_depth)
    numbers = tree.numbers[positions].astype(np.intp)
    # What lies beyond the last front to keep was left out of the tree, where it would slow down the search.
    numbers[numbers == 0] = max_depth + 1
    return numbers


def _new_staircases(n_points: int, max_moves: int) -> Staircases:
    """Return empty staircases for at most `n_points` points."""
    return Staircases(
        # Capacities double from two on, so that all a staircase ever used is below four times its length.
        np.empty((4 * n_points, 2)),
        np.zeros((n_points + 2, 3), np.intp),
        np.array([0, max_moves]),
    )


def dense_ranks(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the rank of each value among the distinct values."""
    # Need not be stable: equal values get one rank.
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.zeros(len(values), np.int32)
    ranks[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return ranks
