"""Three and four criteria: a sweep along one criterion that keeps a staircase of two others per front."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

ROW = 2**32 - 1
"""The bits of a key that hold the row."""
START, LENGTH, CAPACITY = 0, 1, 2
"""What the columns of `Staircases.fronts` hold."""
END, MOVES_LEFT = 0, 1
"""What `Staircases.totals` holds."""


class Staircases(NamedTuple):
    """For each front the points, in two criteria, that no other point met on it dominates.

    The staircase of front f is the `LENGTH` points from `START` on, rising in the first
    criterion and falling in the second. One that outgrows its `CAPACITY` moves to the `END`
    of the points in use. `MOVES_LEFT` more points may be pushed aside before the sweep is
    given up. Few arrays, because each makes the loops take longer to compile.
    """

    points: NDArray[np.float64]
    fronts: NDArray[np.intp]
    totals: NDArray[np.intp]


@compiled
def is_dominated(stairs: Staircases, front: int, first: float, second: float) -> bool:
    """Tell whether a point of a front's staircase is nowhere larger than (first, second)."""
    points = stairs.points
    start, length = stairs.fronts[front, START], stairs.fronts[front, LENGTH]
    place = start
    while length > 0:
        half = (length + 1) >> 1
        place = place + half if points[place + half - 1, 0] <= first else place
        length -= half
    # The last point that is not to the right is the lowest of them.
    return bool(place > start and points[place - 1, 1] <= second)


@compiled
def insert(stairs: Staircases, front: int, first: float, second: float) -> None:
    """Put a point that is not dominated on a front's staircase, in place of those it dominates."""
    points, fronts, totals = stairs
    start, length, capacity = fronts[front, START], fronts[front, LENGTH], fronts[front, CAPACITY]
    if length == capacity:
        moved_to = totals[END]
        for place in range(length):
            # One by one: to compile an assignment of rows, with its message about shapes, takes seconds.
            points[moved_to + place, 0] = points[start + place, 0]
            points[moved_to + place, 1] = points[start + place, 1]
        start = fronts[front, START] = moved_to
        fronts[front, CAPACITY] = max(2, 2 * capacity)
        totals[END] += fronts[front, CAPACITY]
    place, stop = start, start + length
    end = stop
    while place < stop:
        middle = (place + stop) >> 1
        if points[middle, 0] < first:
            place = middle + 1
        else:
            stop = middle
    kept = place
    while kept < end and points[kept, 1] >= second:
        kept += 1
    if kept == place:
        for other in range(end, place, -1):
            points[other, 0] = points[other - 1, 0]
            points[other, 1] = points[other - 1, 1]
    elif kept > place + 1:
        for other in range(kept, end):
            points[place + 1 + other - kept, 0] = points[other, 0]
            points[place + 1 + other - kept, 1] = points[other, 1]
    totals[MOVES_LEFT] -= end - kept
    points[place, 0] = first
    points[place, 1] = second
    fronts[front, LENGTH] += 1 + place - kept


@compiled
def last_dominating(stairs: Staircases, low: int, high: int, first: float, second: float) -> int:
    """Return the last front from `low` to `high` that dominates (first, second), or `low` - 1.

    It must hold that if one of these fronts dominates, those from `low` up to it do too.
    """
    high += 1
    while low < high:
        middle = (low + high) >> 1
        if is_dominated(stairs, middle, first, second):
            low = middle + 1
        else:
            high = middle
    return low - 1


@compiled
def number_triples(dyads: NDArray[np.float64], stairs: Staircases, numbers: NDArray[np.intp], max_depth: int) -> None:
    """Write the front numbers of distinct three-criteria dyads in lexicographic order, `max_depth` + 1 for larger ones.

    Long staircases, in which every new point pushes many aside, are given up on when
    `MOVES_LEFT` runs out; the numbers then mean nothing.
    """
    # Literals would be compiled for themselves.
    lowest, n_fronts = int(np.intp(1)), int(np.intp(0))
    for dyad in range(dyads.shape[0]):
        first, second = dyads[dyad, 1], dyads[dyad, 2]
        number = last_dominating(stairs, lowest, n_fronts, first, second) + 1
        numbers[dyad] = number
        if number > max_depth:
            continue
        insert(stairs, number, first, second)
        n_fronts = max(n_fronts, number)
        if stairs.totals[MOVES_LEFT] < 0:
            break


@compiled
def settle_few(dyads: NDArray[np.float64], numbers: NDArray[np.intp], start: int, stop: int, max_depth: int) -> None:
    """Raise the front numbers of dyads start…stop - 1 above those, up to `max_depth`, of others that dominate."""
    for dyad in range(start, stop):
        for earlier in range(start, dyad):
            # An earlier dyad is nowhere larger in the first criterion, and on a lower front it changes nothing.
            if numbers[dyad] <= numbers[earlier] <= max_depth:
                larger = False
                for criterion in range(1, dyads.shape[1]):
                    larger |= dyads[earlier, criterion] > dyads[dyad, criterion]
                if not larger:
                    numbers[dyad] = numbers[earlier] + 1


class Near(NamedTuple):
    """Room for what is known of the next dyads of a run of keys, fetched together so that none waits for another.

    Attributes
    ----------
    points : ndarray of shape (n_near, 2)
        Their last two criteria.
    numbers : ndarray of shape (n_near,)
    """

    points: NDArray[np.float64]
    numbers: NDArray[np.intp]


@compiled
def fetch(
    dyads: NDArray[np.float64], numbers: NDArray[np.intp], keys: NDArray[np.int64], start: int, near: Near
) -> None:
    """Fetch what is known of the dyads of the keys from `start` on, as many as there is room for."""
    for place in range(min(near.numbers.shape[0], keys.shape[0] - start)):
        dyad = keys[start + place] & ROW
        near.points[place, 0] = dyads[dyad, 2]
        near.points[place, 1] = dyads[dyad, 3]
        near.numbers[place] = numbers[dyad]


@compiled
def raise_above(
    dyads: NDArray[np.float64],
    numbers: NDArray[np.intp],
    halves: tuple[NDArray[np.int64], NDArray[np.int64]],
    near: tuple[Near, Near],
    stairs: Staircases,
) -> None:
    """Raise the front numbers of four-criteria dyads, the second half, above those of the first half that dominate.

    Both are sorted keys: the dyad's rank in the second criterion, then, in the last 32 bits,
    its row. The lower dyads come before the upper ones and are settled. A dyad that dominates
    a lower one is lower itself or was dealt with before, so the fronts from a dyad's own
    number on dominate it up to the last one that does. Of each half what is `near` is fetched together.
    """
    lower, upper = halves
    near_lower, near_upper = near
    n_near = near_lower.numbers.shape[0]
    stairs.totals[END] = 0
    shallowest = deepest = numbers[lower[0] & ROW]
    for key in lower:
        shallowest, deepest = min(shallowest, numbers[key & ROW]), max(deepest, numbers[key & ROW])
    # Only these fronts are used, so that a sweep of few dyads does not pay for clearing all.
    stairs.fronts[shallowest : deepest + 1] = 0
    swept = 0
    for place in range(upper.shape[0]):
        if place % n_near == 0:
            fetch(dyads, numbers, upper, place, near_upper)
        while swept < lower.shape[0] and lower[swept] < upper[place]:
            if swept % n_near == 0:
                fetch(dyads, numbers, lower, swept, near_lower)
            number = near_lower.numbers[swept % n_near]
            first, second = near_lower.points[swept % n_near, 0], near_lower.points[swept % n_near, 1]
            if not is_dominated(stairs, number, first, second):
                insert(stairs, number, first, second)
            swept += 1
        number = near_upper.numbers[place % n_near]
        first, second = near_upper.points[place % n_near, 0], near_upper.points[place % n_near, 1]
        if shallowest <= number <= deepest and is_dominated(stairs, number, first, second):
            # Most are not dominated at all, and the others hardly ever by many fronts more, except in a chain, in which
            # all of the lower half dominates.
            number = deepest + 1 if is_dominated(stairs, deepest, first, second) else number + 1
            step = 1
            while number + step <= deepest and is_dominated(stairs, number + step - 1, first, second):
                number += step
                step *= 2
            last = min(number + step - 1, deepest)
            numbers[upper[place] & ROW] = last_dominating(stairs, number, last, first, second) + 1
