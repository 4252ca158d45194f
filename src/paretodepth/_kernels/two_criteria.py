"""Two criteria: a front is a staircase, falling in one criterion as the other grows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

PART = 32
"""Heights in a part of a row of heights, and dyads whose searches go side by side."""


@compiled
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
        for search in range(n_searches):
            found[search] = 0
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


@compiled
def group_by_front(
    dyads: NDArray[np.float64], numbers: NDArray[np.intp], places: NDArray[np.intp], grouped: NDArray[np.float64]
) -> None:
    """Write the dyads front by front, otherwise in their order.

    `places` says where each front starts, and is used up.
    """
    for dyad in range(dyads.shape[0]):
        place = places[numbers[dyad] - 1]
        places[numbers[dyad] - 1] += 1
        for criterion in range(dyads.shape[1]):
            grouped[place, criterion] = dyads[dyad, criterion]


class Slabs(NamedTuple):
    """Points with two criteria in lexicographic order, with their levels, a row a slab, the last filled up with NaN.

    The heights of a slab are, level by level, the largest second criterion of the points
    from this slab on and up to this level, NaN if there is none; of the row beyond the
    last slab all are. `parts` holds them in rows of `PART`, `tops` the last of each part.
    """

    firsts: NDArray[np.float64]
    seconds: NDArray[np.float64]
    levels: NDArray[np.intp]
    parts: NDArray[np.float64]
    tops: NDArray[np.float64]


@compiled
def cut_slabs(points: NDArray[np.float64], levels: NDArray[np.intp], n_levels: int, size: int) -> Slabs:
    """Return points in lexicographic order, each level a staircase, as slabs of `size` points."""
    n_points = points.shape[0]
    n_slabs, n_parts = -(-n_points // size), -(-n_levels // PART)
    firsts, seconds = np.empty((2, n_slabs, size))
    firsts[-1] = seconds[-1] = np.nan
    slab_levels = np.empty((n_slabs, size), np.intp)
    heights = np.empty((n_slabs + 1, n_parts * PART))
    heights[n_slabs] = np.nan
    # Upwards from the far end a staircase rises, so what a level has reached is its last point.
    reached = np.full(n_parts * PART, np.nan)
    for slab in range(n_slabs - 1, -1, -1):
        for place in range(min(size, n_points - slab * size) - 1, -1, -1):
            point = slab * size + place
            firsts[slab, place], seconds[slab, place] = points[point, 0], points[point, 1]
            slab_levels[slab, place] = levels[point]
            reached[levels[point]] = points[point, 1]
        height = np.nan
        for level in range(n_parts * PART):
            if reached[level] > height or np.isnan(height):
                height = reached[level]
            heights[slab, level] = height
    tops = heights[:, PART - 1 :: PART].copy()
    return Slabs(firsts, seconds, slab_levels, heights.reshape((-1, PART)), tops)


@compiled
def precedes(first: float, second: float, other_first: float, other_second: float) -> bool:
    """Tell whether a dyad comes before a point in lexicographic order, as it does before NaN."""
    return bool(not first >= other_first or (first == other_first and second < other_second))


@compiled
def count_lower(
    heights: NDArray[np.float64], rows: NDArray[np.intp], n_heights: int, values: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return how many of the first heights of ``rows[i]``, which do not fall, are below ``values[i]`` or NaN."""
    counts = np.zeros(values.shape[0], np.intp)
    while n_heights > 0:
        half = (n_heights + 1) >> 1
        # Side by side and without branches, so that no search waits for another.
        for search in range(values.shape[0]):
            counts[search] += half * (not heights[rows[search], counts[search] + half - 1] >= values[search])
        n_heights -= half
    return counts


@compiled
def lowest_level(levels: NDArray[np.intp], seconds: NDArray[np.float64], second: float, bound: int) -> int:
    """Return the lowest level of points not below `second`, or the bound if that is lower."""
    for point in range(levels.shape[0]):
        bound = min(bound, levels[point] if seconds[point] >= second else bound)
    return bound


@compiled
def find_levels(dyads: NDArray[np.float64], slabs: Slabs, n_levels: int) -> NDArray[np.intp]:
    """Return, 0-based, the first level with a point that each dyad dominates, or the number of levels.

    The dyads come in lexicographic order. A dyad dominates the points that come after it
    and are not below it in the second criterion: in later slabs, which are known by their
    heights, and in its own, which is gone through.
    """
    firsts, seconds, levels, parts, tops = slabs
    n_slabs, size = firsts.shape
    n_parts = tops.shape[1]
    found = np.empty(dyads.shape[0], np.intp)
    own, places, rows = np.empty(PART, np.intp), np.empty(PART, np.intp), np.empty(PART, np.intp)
    slab = place = 0
    for start in range(0, dyads.shape[0], PART):
        block = dyads[start : start + PART]
        for dyad in range(block.shape[0]):
            first, second = block[dyad, 0], block[dyad, 1]
            while slab + 1 < n_slabs and not precedes(first, second, firsts[slab + 1, 0], seconds[slab + 1, 0]):
                slab += 1
                place = 0
            while place < size and not precedes(first, second, firsts[slab, place], seconds[slab, place]):
                place += 1
            own[dyad], places[dyad], rows[dyad] = slab, place, slab + 1
        part = count_lower(tops, rows, n_parts - 1, block[:, 1])
        # One by one: to compile an assignment of arrays, with its message about shapes, takes seconds.
        for dyad in range(block.shape[0]):
            rows[dyad] = rows[dyad] * n_parts + part[dyad]
        within = count_lower(parts, rows, parts.shape[1], block[:, 1])
        for dyad in range(block.shape[0]):
            slab, place = own[dyad], places[dyad]
            beyond = part[dyad] * PART + within[dyad]
            found[start + dyad] = lowest_level(
                levels[slab, place:], seconds[slab, place:], block[dyad, 1], min(beyond, n_levels)
            )
    return found
