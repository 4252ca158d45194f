"""Two criteria: a front is a staircase, falling in one criterion as the other grows."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def number_pairs(pairs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the front numbers of two-criteria dyads in lexicographic order.

    ``lowest[f]`` is the smallest second criterion met so far on front f + 1; it never falls
    with f, so a search finds the fronts that dominate the next dyad (patience sorting).
    """
    n_dyads = pairs.shape[0]
    numbers = np.empty(n_dyads, np.intp)
    # Fronts that are not there yet: not a number compares false with everything.
    lowest = np.full(n_dyads + 1, np.nan)
    n_fronts = 0
    widest_step = 1
    found = np.empty(32, np.intp)
    first = second = np.nan
    number = 0
    for start in range(0, n_dyads, found.shape[0]):
        n_searches = min(found.shape[0], n_dyads - start)
        # The searches of a block go side by side and without branches, so that none waits for another.
        # They miss what the block itself adds, which can only raise a number: it is made up for below.
        found[:] = 0
        step = widest_step
        while step > 0:
            for search in range(n_searches):
                last = found[search] + step
                is_above = last <= n_fronts and lowest[last - 1] <= pairs[start + search, 1]
                found[search] += step * is_above
            step >>= 1
        for search in range(n_searches):
            dyad = start + search
            # An equal dyad follows at once and shares the front of the one before it.
            if pairs[dyad, 0] != first or pairs[dyad, 1] != second:
                first, second = pairs[dyad, 0], pairs[dyad, 1]
                number = found[search]
                while lowest[number] <= second:
                    number += 1
                lowest[number] = second
                number += 1
                n_fronts = max(n_fronts, number)
            numbers[dyad] = number
        while 2 * widest_step <= n_fronts:
            widest_step *= 2
    return numbers


@njit(cache=True, nogil=True)
def group_by_front(
    dyads: NDArray[np.float64], numbers: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the dyads front by front, otherwise in their order, and where each front starts."""
    starts = np.zeros(numbers.max() + 1 if numbers.shape[0] else 1, np.intp)
    for number in numbers:
        starts[number] += 1
    starts = np.cumsum(starts)
    places = starts.copy()
    grouped = np.empty_like(dyads)
    for dyad in range(dyads.shape[0]):
        place = places[numbers[dyad] - 1]
        places[numbers[dyad] - 1] += 1
        for criterion in range(dyads.shape[1]):
            grouped[place, criterion] = dyads[dyad, criterion]
    return grouped, starts


@njit(cache=True, nogil=True)
def merge_envelopes(
    points: NDArray[np.float64], starts: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the upper envelopes of the unions of neighbouring pairs of staircases.

    Staircase s is ``points[starts[s]:starts[s + 1]]``, rising in the first criterion. The
    envelope keeps the points that dominate no other point of the union.
    """
    n_staircases = starts.shape[0] - 1
    n_envelopes = (n_staircases + 1) // 2
    envelopes = np.empty_like(points)
    new_starts = np.empty(n_envelopes + 1, np.intp)
    # Filled from the far end, because a point stays if it rises above all to its right.
    filled = points.shape[0]
    new_starts[n_envelopes] = filled
    for envelope in range(n_envelopes - 1, -1, -1):
        first, middle = starts[2 * envelope], starts[2 * envelope + 1]
        left = middle - 1
        right = starts[min(2 * envelope + 2, n_staircases)] - 1
        highest = -np.inf
        empty = True
        while left >= first or right >= middle:
            take_left = right < middle or (
                left >= first
                and (
                    points[left, 0] > points[right, 0]
                    or (points[left, 0] == points[right, 0] and points[left, 1] > points[right, 1])
                )
            )
            point = left if take_left else right
            left -= take_left
            right -= not take_left
            if empty or points[point, 1] > highest:
                empty = False
                highest = points[point, 1]
                filled -= 1
                envelopes[filled] = points[point]
        new_starts[envelope] = filled
    return envelopes[filled:].copy(), new_starts - filled


@njit(cache=True, nogil=True)
def take_snapshots(
    points: NDArray[np.float64], starts: NDArray[np.intp], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each edge and staircase, the largest second criterion beyond the edge, up to that staircase.

    Entry (e, s) is the largest among the points of staircases 0…s with a first criterion of
    at least ``edges[e]``, minus infinity if there is none. It does not fall with s.
    """
    n_staircases = starts.shape[0] - 1
    highest = np.empty((edges.shape[0], n_staircases))
    for staircase in range(n_staircases):
        point = starts[staircase]
        for edge in range(edges.shape[0]):
            while point < starts[staircase + 1] and points[point, 0] < edges[edge]:
                point += 1
            here = points[point, 1] if point < starts[staircase + 1] else -np.inf
            highest[edge, staircase] = max(here, highest[edge, staircase - 1]) if staircase > 0 else here
    return highest


@njit(cache=True, nogil=True)
def count_below(values: NDArray[np.float64], value: float, start: int) -> int:
    """Return how many of the sorted values are below `value`, those before `start` being known to be."""
    length = values.shape[0] - start
    while length > 0:
        half = (length + 1) >> 1
        # A product in place of a branch that the processor could not foresee.
        start += half * (values[start + half - 1] < value)
        length -= half
    return start


@njit(cache=True, nogil=True)
def dominates_some(first: float, second: float, points: NDArray[np.float64], start: int, stop: int) -> bool:
    """Tell whether the dyad (first, second) dominates a point of the envelope ``points[start:stop]``."""
    point = start + count_below(points[start:stop, 0], first, 0)
    # Points further right are lower; an equal one is maximal, so nothing lies beyond it.
    return point < stop and (points[point, 1] > second or (points[point, 1] == second and points[point, 0] > first))


@njit(cache=True, nogil=True)
def first_in_range(
    first: float,
    second: float,
    bounds: tuple[int, int],
    points: NDArray[np.float64],
    starts: NDArray[np.intp],
    heights: NDArray[np.intp],
) -> int:
    """Return the first staircase in a range with a point that a dyad dominates, or the end of the range."""
    level, stop = bounds
    while level < stop:
        # The tallest envelope that begins here and does not reach beyond the range.
        height = 0
        while level & ((2 << height) - 1) == 0 and level + (2 << height) <= stop:
            height += 1
        node = heights[height] + (level >> height)
        if dominates_some(first, second, points, starts[node], starts[node + 1]):
            while height > 0:
                height -= 1
                node = heights[height] + (level >> height)
                if not dominates_some(first, second, points, starts[node], starts[node + 1]):
                    level += 1 << height
            return level
        level += 1 << height
    return stop


@njit(cache=True, nogil=True)
def find_levels(
    dyads: NDArray[np.float64],
    points: NDArray[np.float64],
    starts: NDArray[np.intp],
    heights: NDArray[np.intp],
    edges: NDArray[np.float64],
    highest: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Return, 0-based, the first staircase with a point that each dyad dominates, or their number.

    Envelope e of height h covers staircases e * 2**h to (e + 1) * 2**h - 1 and is
    ``points[starts[heights[h] + e]:starts[heights[h] + e + 1]]``. The snapshots `highest` at
    the edges around a dyad bound the answer, often to one or two staircases.
    """
    n_edges, n_levels = highest.shape
    levels = np.empty(dyads.shape[0], np.intp)
    for dyad in range(dyads.shape[0]):
        first, second = dyads[dyad, 0], dyads[dyad, 1]
        edge = np.searchsorted(edges, first, side="right")
        low = count_below(highest[edge - 1], second, 0)
        high = n_levels
        # Minus infinity is no less than the mark of "none", so it is not looked up.
        if edge < n_edges and second > -np.inf:
            high = low
            step = 1
            while high < n_levels and highest[edge, high] < second:
                high = min(n_levels, high + step)
                step *= 2
            high = low + count_below(highest[edge, low:high], second, 0)
        levels[dyad] = first_in_range(first, second, (low, high), points, starts, heights)
    return levels
