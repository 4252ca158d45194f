"""Two criteria: a front is a staircase, falling in one criterion as the other grows."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def number_pairs(dyads: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the front number of each two-criteria dyad; `order` sorts the dyads lexicographically."""
    n_dyads = order.shape[0]
    numbers = np.empty(n_dyads, np.intp)
    # lowest[f] is the smallest second criterion met so far on front f + 1; it never falls with f.
    lowest = np.empty(n_dyads, np.float64)
    n_fronts = 0
    first = second = np.nan
    number = 0
    for dyad in order:
        # An equal dyad follows at once and shares the front of the one before it.
        if dyads[dyad, 0] != first or dyads[dyad, 1] != second:
            first, second = dyads[dyad, 0], dyads[dyad, 1]
            number = 0
            length = n_fronts
            while length > 0:
                half = (length + 1) >> 1
                number = number + half if lowest[number + half - 1] <= second else number
                length -= half
            lowest[number] = second
            number += 1
            n_fronts = max(n_fronts, number)
        numbers[dyad] = number
    return numbers


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
def dominates_some(first: float, second: float, points: NDArray[np.float64], start: int, stop: int) -> bool:
    """Tell whether the dyad (first, second) dominates a point of the envelope ``points[start:stop]``."""
    end = stop
    while start < stop:
        middle = (start + stop) >> 1
        if points[middle, 0] < first:
            start = middle + 1
        else:
            stop = middle
    # Points further right are lower; an equal one is maximal, so nothing lies beyond it.
    return start < end and (points[start, 1] > second or (points[start, 1] == second and points[start, 0] > first))


@njit(cache=True, nogil=True)
def find_levels(
    dyads: NDArray[np.float64],
    points: NDArray[np.float64],
    starts: NDArray[np.intp],
    heights: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return, 0-based, the first staircase with a point that each dyad dominates, or their number.

    Envelope e of height h covers staircases e * 2**h to (e + 1) * 2**h - 1 and is
    ``points[starts[heights[h] + e]:starts[heights[h] + e + 1]]``.
    """
    n_levels = heights[1] - 1 if heights.shape[0] > 1 else starts.shape[0] - 1
    levels = np.empty(dyads.shape[0], np.intp)
    for dyad in range(dyads.shape[0]):
        first, second = dyads[dyad, 0], dyads[dyad, 1]
        height = heights.shape[0] - 1
        root = heights[height]
        if not dominates_some(first, second, points, starts[root], starts[root + 1]):
            levels[dyad] = n_levels
            continue
        envelope = 0
        while height > 0:
            height -= 1
            envelope *= 2
            node = heights[height] + envelope
            envelope += not dominates_some(first, second, points, starts[node], starts[node + 1])
        levels[dyad] = envelope
    return levels
