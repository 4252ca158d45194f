"""Lower-left hulls of Pareto fronts, and first fronts that grow dyad by dyad."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

N_PARTS = 12
"""Six products, of two parts each."""
TURN_ERROR = 3.3306690738754716e-16  # (3 + 16 u) u for u = 2^-53
"""Relative error up to which the rounded products do not decide which way three dyads turn (Shewchuk)."""
SPLITTER = 134217729.0  # 2^27 + 1
"""Halves the digits of a number, so that products of halves are exact."""


@compiled
def add_part(parts: NDArray[np.float64], n_parts: int, value: float) -> int:
    """Add a number to a sum kept without error as parts that do not overlap; return their number."""
    end = 0
    for part in range(n_parts):
        total = value + parts[part]
        virtual = total - value
        error = (value - (total - virtual)) + (parts[part] - virtual)
        if error != 0.0:
            parts[end] = error
            end += 1
        value = total
    parts[end] = value
    return end + 1


@compiled
def add_product(parts: NDArray[np.float64], n_parts: int, a: float, b: float) -> int:
    """Add a product to a sum kept without error (Dekker's split)."""
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    rounded = a * b
    error = a_low * b_low - (((rounded - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return add_part(parts, add_part(parts, n_parts, error), rounded)


@compiled
def turns_right(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> bool:
    """Return whether the path a, b, c turns right, that is, b lies above the line from a to c; exactly."""
    left, right = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    if abs(left - right) > TURN_ERROR * (abs(left) + abs(right)):
        return left < right
    # Seldom reached: three dyads on one line, or nearly.
    parts = np.empty(N_PARTS)
    n_parts = add_product(parts, 0, ax, by)
    n_parts = add_product(parts, n_parts, -ax, cy)
    n_parts = add_product(parts, n_parts, -cx, by)
    n_parts = add_product(parts, n_parts, -ay, bx)
    n_parts = add_product(parts, n_parts, ay, cx)
    n_parts = add_product(parts, n_parts, cy, bx)
    # The last part outweighs all before it.
    return bool(parts[n_parts - 1] < 0.0)


@compiled
def lower_left_hull(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which dyads of a front lie on its lower-left hull, those inside its edges too.

    `x` rises and `y` falls: equal dyads are given once.
    """
    hull = np.empty(len(x), np.intp)
    size = 0
    for dyad in range(len(x)):
        while size >= 2 and turns_right(
            x[hull[size - 2]], y[hull[size - 2]], x[hull[size - 1]], y[hull[size - 1]], x[dyad], y[dyad]
        ):
            size -= 1
        hull[size] = dyad
        size += 1
    return hull[:size]


class GrowingFront(NamedTuple):
    """A first front of two criteria, equal dyads kept once, that takes in dyads as they come.

    Attributes
    ----------
    x, y : ndarray of shape (capacity,)
        The front: x rises, y falls.
    size : ndarray of shape (1,)
        How many of them there are.
    lowest : ndarray of shape (n_cells,)
        The range of x is cut into cells; this is the smallest y of the front's dyads in
        earlier cells, which settles nearly all dyads with one look.
    cells_per_x : float
        Cells in a unit of x.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    size: NDArray[np.intp]
    lowest: NDArray[np.float64]
    cells_per_x: float


@compiled
def cell_of(front: GrowingFront, x: float) -> int:
    """Return the cell of `x`; the first and the last cell also hold what lies beyond them, the first NaN as well."""
    place = x * front.cells_per_x
    return int(min(place, len(front.lowest) - 1.0)) if place > 0.0 else 0


@compiled
def insert_dyad(front: GrowingFront, x: float, y: float) -> None:
    """Put a dyad on the front, unless it is dominated or there already, and take off those it dominates."""
    size = front.size[0]
    n_up_to_x = np.searchsorted(front.x[:size], x, side="right")
    if n_up_to_x > 0 and front.y[n_up_to_x - 1] <= y:
        return
    place = np.searchsorted(front.x[:size], x)
    end = place
    while end < size and front.y[end] >= y:
        end += 1
    if end == place:
        for moved in range(size, place, -1):
            front.x[moved], front.y[moved] = front.x[moved - 1], front.y[moved - 1]
    else:
        for moved in range(end, size):
            front.x[moved - end + place + 1], front.y[moved - end + place + 1] = front.x[moved], front.y[moved]
    front.x[place], front.y[place] = x, y
    front.size[0] = size + 1 - (end - place)
    cell = cell_of(front, x) + 1
    while cell < len(front.lowest) and front.lowest[cell] > y:
        front.lowest[cell] = y
        cell += 1


@compiled
def insert_points(front: GrowingFront, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Insert dyads; the front must have space for all of them."""
    for dyad in range(len(x)):
        if y[dyad] < front.lowest[cell_of(front, x[dyad])]:
            insert_dyad(front, x[dyad], y[dyad])


@compiled
def insert_pairs(front: GrowingFront, samples: NDArray[np.float64], sample: int, rotated: bool) -> None:
    """Insert the dyads of a sample with all earlier ones: the differences of the coordinates.

    `samples` has the shape (2, n_samples). Rotated, the dyads are the sum of the two
    absolute differences and the first less the second.
    """
    for other in range(sample):
        x = abs(samples[0, sample] - samples[0, other])
        y = abs(samples[1, sample] - samples[1, other])
        if rotated:
            x, y = x + y, x - y
        if y < front.lowest[cell_of(front, x)]:
            insert_dyad(front, x, y)
