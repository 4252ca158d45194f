"""Dyads in blocks (n_criteria, n_rows, n_columns) that no dyad of a given front dominates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled


class Staircase(NamedTuple):
    """A front of two criteria, with a table that settles nearly all dyads with one look.

    Attributes
    ----------
    firsts, seconds : ndarray of shape (n_points,)
        The front in lexicographic order: the first criterion does not fall, the second does not rise.
    lowest : ndarray of shape (n_cells + 1,)
        The first criterion is cut into cells; this is the smallest second criterion of the
        points in earlier cells, NaN if there are none.
    first_cell, shift : int
        A number's cell is its bits, see `cell_of`, without the last `shift`, counted from `first_cell`.
    """

    firsts: NDArray[np.float64]
    seconds: NDArray[np.float64]
    lowest: NDArray[np.float64]
    first_cell: int
    shift: int


@compiled
def cell_of(value: float, shift: int) -> int:
    """Return a cell that never falls as the value grows: its bits, those of negative ones turned round."""
    # The sum makes one zero of the two.
    bits = np.float64(value + 0.0).view(np.int64)
    return int((bits ^ ((bits >> 63) & np.int64(2**63 - 1))) >> shift)


@compiled
def new_staircase(front: NDArray[np.float64], n_cells: int) -> Staircase:
    """Return a front of two criteria, in lexicographic order, with its table."""
    n_points = front.shape[0]
    # The few points of the smallest first criterion may be far from the others in bits, as zero is;
    # they share a cell, or the others would have to.
    low, high = front[n_points // 64, 0], front[n_points - 1, 0]
    shift = 2
    while cell_of(high, shift) - cell_of(low, shift) >= n_cells:
        shift += 1
    first_cell = cell_of(low, shift)
    lowest = np.full(n_cells + 1, np.nan)
    point = 0
    for cell in range(1, n_cells + 1):
        lowest[cell] = lowest[cell - 1]
        while point < n_points and cell_of(front[point, 0], shift) - first_cell < cell:
            lowest[cell] = front[point, 1]
            point += 1
    return Staircase(front[:, 0].copy(), front[:, 1].copy(), lowest, first_cell, shift)


@compiled
def pass_staircase(
    first_block: NDArray[np.float64], second_block: NDArray[np.float64], is_triangle: bool, staircase: Staircase
) -> NDArray[np.float64]:
    """Return the dyads of a block, given its two criteria, that no point of the staircase dominates, (n_dyads, 2).

    Of a triangle only the entries above the diagonal, column > row, are dyads.
    """
    firsts, seconds, lowest, first_cell, shift = staircase
    n_rows, n_columns = first_block.shape
    passed = np.empty((n_rows * n_columns, 2))
    n_passed = 0
    last_cell = lowest.shape[0] - 1
    for row in range(n_rows):
        for column in range(row + 1 if is_triangle else 0, n_columns):
            first, second = first_block[row, column], second_block[row, column]
            cell = min(max(cell_of(first, shift) - first_cell, 0), last_cell)
            if second >= lowest[cell]:
                continue
            # The last point not to the right is the lowest of these; one as low is the dyad itself or to its left.
            point = np.searchsorted(firsts, first, side="right") - 1
            if point >= 0 and seconds[point] <= second and (seconds[point] < second or firsts[point] < first):
                continue
            passed[n_passed, 0], passed[n_passed, 1] = first, second
            n_passed += 1
    return passed[:n_passed].copy()


class Cells(NamedTuple):
    """Which cells of a grid over all criteria lie wholly beyond a front.

    Attributes
    ----------
    bounds : ndarray of shape (n_criteria, width)
        Where the cells of a criterion but the first start, in rising order, then NaN, at least one.
    bins : ndarray of shape (n_criteria, n_bins)
        How many bounds of a criterion lie in earlier bins. A number's bin is its bits, see
        `cell_of`, without the last `shifts`, counted from `first_bins`; those beyond share the
        first bin or the last.
    first_bins, shifts : ndarray of shape (n_criteria,)
    is_beyond : ndarray of shape (width ** n_criteria / 8,)
        One bit a cell, the first criterion's place in the highest digit: whether a point dominates all in it.
    """

    bounds: NDArray[np.float64]
    bins: NDArray[np.uint8]
    first_bins: NDArray[np.int64]
    shifts: NDArray[np.int64]
    is_beyond: NDArray[np.uint8]


@compiled
def pass_cells(
    block: NDArray[np.float64],
    is_triangle: bool,
    cells: Cells,
    codes: NDArray[np.int64],
    places: NDArray[np.intp],
) -> int:
    """Write the places, in a flat block, of the dyads whose cell does not lie beyond; return how many these are.

    Of a triangle only the entries above the diagonal, column > row, are dyads. There must
    be room for one place more than there are dyads. As many dyads as `codes` has room for go side by side.
    """
    n_criteria, n_rows, n_columns = block.shape
    last_bin = cells.bins.shape[1] - 1
    n_passed = 0
    for row in range(n_rows):
        for start in range(row + 1 if is_triangle else 0, n_columns, codes.shape[0]):
            n_codes = min(codes.shape[0], n_columns - start)
            for dyad in range(n_codes):
                codes[dyad] = 0
            for criterion in range(n_criteria):
                first_bin, shift = cells.first_bins[criterion], cells.shifts[criterion]
                for dyad in range(n_codes):
                    value = block[criterion, row, start + dyad]
                    place = int(cells.bins[criterion, min(max(cell_of(value, shift) - first_bin, 0), last_bin)])
                    # If a bin holds more bounds than one, the place is too low, and the dyad may pass for nothing.
                    place += cells.bounds[criterion, place] <= value
                    codes[dyad] = codes[dyad] * cells.bounds.shape[1] + place
            for dyad in range(n_codes):
                # Written over by the next one unless it passes: no branch.
                places[n_passed] = row * n_columns + start + dyad
                n_passed += 1 - ((cells.is_beyond[codes[dyad] >> 3] >> (codes[dyad] & 7)) & 1)
    return n_passed


@compiled
def pass_points(block: NDArray[np.float64], is_triangle: bool, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the dyads of a block that none of a few points dominates, shape (n_dyads, n_criteria).

    The points are tried in their order. Of a triangle only the entries above the diagonal,
    column > row, are dyads.
    """
    n_criteria, n_rows, n_columns = block.shape
    passed = np.empty((n_rows * n_columns, n_criteria))
    n_passed = 0
    for row in range(n_rows):
        for column in range(row + 1 if is_triangle else 0, n_columns):
            # Written where it would stand, and written over by the next one unless it passes: no branch.
            for criterion in range(n_criteria):
                passed[n_passed, criterion] = block[criterion, row, column]
            n_passed += not is_below_one(points, passed[n_passed])
    return passed[:n_passed].copy()


@compiled
def is_below_one(points: NDArray[np.float64], dyad: NDArray[np.float64]) -> bool:
    """Tell whether one of the points dominates a dyad."""
    for point in range(points.shape[0]):
        is_larger = is_smaller = False
        for criterion in range(points.shape[1]):
            is_larger |= points[point, criterion] > dyad[criterion]
            is_smaller |= points[point, criterion] < dyad[criterion]
        if is_smaller and not is_larger:
            return True
    return False


@compiled
def choose_points(candidates: NDArray[np.float64], dyads: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """Return at most `n_points` candidates that together dominate many of the dyads, the most useful first.

    Greedy: the next is the one that dominates the most dyads that those before it do not.
    """
    n_candidates, n_criteria = candidates.shape
    is_left = np.ones(dyads.shape[0], np.bool_)
    # What a candidate would bring only falls, so an old number is a bound and few are counted anew.
    gains = np.full(n_candidates, dyads.shape[0] + 1)
    chosen = np.empty((min(n_points, n_candidates), n_criteria))
    n_chosen = 0
    while n_chosen < chosen.shape[0]:
        best = np.argmax(gains)
        gain = 0
        for dyad in range(dyads.shape[0]):
            gain += is_left[dyad] and is_below_one(candidates[best : best + 1], dyads[dyad])
        gains[best] = gain
        if gain == 0 and gains.max() == 0:
            break
        # Counted anew it is still the best, so it beats what the others could bring at most.
        if best == np.argmax(gains):
            for dyad in range(dyads.shape[0]):
                is_left[dyad] &= not is_below_one(candidates[best : best + 1], dyads[dyad])
            chosen[n_chosen] = candidates[best]
            n_chosen += 1
            gains[best] = 0
    return chosen[:n_chosen]


@compiled
def are_reached(points: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which points are nowhere smaller than some dyad of a front."""
    reached = np.zeros(points.shape[0], np.bool_)
    for point in range(points.shape[0]):
        for dyad in range(front.shape[0]):
            is_larger = False
            for criterion in range(points.shape[1]):
                is_larger |= front[dyad, criterion] > points[point, criterion]
            if not is_larger:
                reached[point] = True
                break
    return reached
