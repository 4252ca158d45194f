"""Two criteria: a front is a staircase, falling in one criterion as the other grows."""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled


@compiled
def count_lowest(
    lowest: NDArray[np.float64], n_fronts: int, step: int, dyads: NDArray[np.float64], found: NDArray[np.intp]
) -> None:
    """Write how many of the first `n_fronts` values, which do not fall, are at most each dyad's second criterion.

    The searches go side by side and without branches, so that none waits for another. `step` is the largest power of
    two up to `n_fronts`.
    """
    for search in range(dyads.shape[0]):
        found[search] = 0
    while step > 0:
        for search in range(dyads.shape[0]):
            last = found[search] + step
            is_above = last <= n_fronts and lowest[last - 1] <= dyads[search, 1]
            found[search] += step * is_above
        step >>= 1


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
        # They miss what the block itself adds, which can only raise a number: it is made up for below.
        count_lowest(lowest, n_fronts, widest_step, pairs[start : start + n_searches], found)
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


@compiled
def sweep_up(
    points: NDArray[np.float64],
    numbers: NDArray[np.int32],
    dyads: NDArray[np.float64],
    lowest: NDArray[np.float64],
    found: NDArray[np.intp],
    depths: NDArray[np.float64],
) -> None:
    """Write, for each dyad, one more than the last front with a point that dominates it.

    The dyads and the points, which have these front numbers, come in lexicographic order.
    ``lowest[f]`` is the smallest second criterion met so far on front f + 1, NaN if none was
    met, as is the case of the last one, which is no front. `found` is memory for searches.
    """
    swept = n_fronts = 0
    widest_step = 1
    for start in range(0, dyads.shape[0], found.shape[0]):
        n_searches = min(found.shape[0], dyads.shape[0] - start)
        # What is swept meanwhile can only raise a depth, and is made up for below.
        count_lowest(lowest, n_fronts, widest_step, dyads[start : start + n_searches], found)
        for search in range(n_searches):
            first, second = dyads[start + search, 0], dyads[start + search, 1]
            while swept < points.shape[0]:
                if points[swept, 0] > first or (points[swept, 0] == first and points[swept, 1] >= second):
                    break
                lowest[numbers[swept] - 1] = points[swept, 1]
                n_fronts = max(n_fronts, numbers[swept])
                swept += 1
            n_above = found[search]
            while lowest[n_above] <= second:
                n_above += 1
            depths[start + search] = n_above + 1
        while 2 * widest_step <= n_fronts:
            widest_step *= 2


@compiled
def first_at_least(values: NDArray[np.float64], start: int, value: float) -> int:
    """Return the place, from `start` on, of the first value that is at least `value`, or the number of values.

    NaN compares false with everything, so the array alone bounds the search.
    """
    # Of a slice no index is negative, which is one comparison less a step.
    rest = values[start:]
    for place in range(len(rest)):
        if rest[place] >= value:
            return start + place
    return len(values)


@compiled
def sweep_down(
    points: NDArray[np.float64],
    numbers: NDArray[np.int32],
    dyads: NDArray[np.float64],
    fronts: NDArray[np.float64],
    groups: NDArray[np.float64],
    depths: NDArray[np.float64],
) -> None:
    """Write, for each dyad, the first front with a point that it dominates; `depths` tells one it is not before, or 0.

    The dyads and the points come as in `sweep_up` and are gone through from the end.
    `fronts` holds the largest second criterion met so far on each front, NaN if none was
    met, and `groups` that of as many fronts as there are fronts to a group, a power of two.
    What is infinite from the start, in the last group at least, stands for no front.
    """
    shift = 0
    while groups.shape[0] << shift < fronts.shape[0]:
        shift += 1
    left = points.shape[0]
    for dyad in range(dyads.shape[0] - 1, -1, -1):
        first, second = dyads[dyad, 0], dyads[dyad, 1]
        while left > 0:
            height = points[left - 1, 1]
            if points[left - 1, 0] < first or (points[left - 1, 0] == first and height <= second):
                break
            left -= 1
            front = int(numbers[left]) - 1
            group = front >> shift
            # A front is a staircase, which rises from the far end. Without branches, as nobody can tell which way
            # the others go.
            fronts[front] = height
            groups[group] = groups[group] if groups[group] >= height else height
        group = 0
        if depths[dyad] > 0:
            # Most often it is this front, or one of the next.
            front = int(depths[dyad]) - 1
            group = (front >> shift) + 1
            while front < group << shift and not fronts[front] >= second:
                front += 1
            depths[dyad] = front + 1
            if front < group << shift:
                continue
        group = first_at_least(groups, group, second)
        depths[dyad] = first_at_least(fronts, group << shift, second) + 1


@compiled
def ask_up(
    points: NDArray[np.float64], starts: NDArray[np.intp], dyads: NDArray[np.float64], depths: NDArray[np.float64]
) -> None:
    """Write, for each dyad, one more than the last front with a point that dominates it.

    If a front has one, so have all before it, and the fronts can be bisected.
    """
    for dyad in range(dyads.shape[0]):
        first, second = dyads[dyad, 0], dyads[dyad, 1]
        low, high = 0, starts.shape[0] - 1
        while low < high:
            front = (low + high) >> 1
            place, n_left = starts[front], starts[front + 1] - starts[front]
            while n_left > 0:
                half = (n_left + 1) >> 1
                place += half * (points[place + half - 1, 0] <= first)
                n_left -= half
            # The last point that is not to the right is the lowest of them. One that equals the dyad shares its
            # front with none that dominates it.
            place -= 1
            if place >= starts[front] and (
                points[place, 1] < second or (points[place, 1] == second and points[place, 0] < first)
            ):
                low = front + 1
            else:
                high = front
        depths[dyad] = low + 1


@compiled
def join_envelopes(
    points: NDArray[np.float64], starts: NDArray[np.intp], joined: NDArray[np.float64], ends: NDArray[np.intp]
) -> None:
    """Join runs 2i and 2i + 1 of points to run i, which ends at ``ends[i]``, of those that no other one is above.

    In each run the first criterion does not fall and the second does not rise.
    """
    n_joined = 0
    for run in range(ends.shape[0]):
        start = n_joined
        left, right = starts[2 * run + 1] - 1, starts[2 * run + 2] - 1
        # From the far end, where the highest so far is the last one taken.
        while left >= starts[2 * run] or right >= starts[2 * run + 1]:
            is_left = right < starts[2 * run + 1] or (
                left >= starts[2 * run]
                and (
                    points[left, 0] > points[right, 0]
                    or (points[left, 0] == points[right, 0] and points[left, 1] > points[right, 1])
                )
            )
            point = left if is_left else right
            left -= is_left
            right -= not is_left
            if n_joined == start or points[point, 1] > joined[n_joined - 1, 1]:
                joined[n_joined, 0] = points[point, 0]
                joined[n_joined, 1] = points[point, 1]
                n_joined += 1
        for place in range((n_joined - start) >> 1):
            other = n_joined - 1 - place
            for criterion in range(2):
                joined[start + place, criterion], joined[other, criterion] = (
                    joined[other, criterion],
                    joined[start + place, criterion],
                )
        ends[run] = n_joined


@compiled
def is_below(envelopes: NDArray[np.float64], place: int, stop: int, first: float, second: float) -> bool:
    """Tell whether (first, second) dominates a point of an envelope, which starts at `place`."""
    n_left = stop - place
    while n_left > 0:
        half = (n_left + 1) >> 1
        place += half * (envelopes[place + half - 1, 0] < first)
        n_left -= half
    # The first point that is not to the left is the highest of them. If it equals the dyad, none is above that.
    return bool(
        place < stop
        and (envelopes[place, 1] > second or (envelopes[place, 1] == second and envelopes[place, 0] > first))
    )


@compiled
def ask_down(
    envelopes: NDArray[np.float64],
    starts: NDArray[np.intp],
    n_fronts: int,
    dyads: NDArray[np.float64],
    depths: NDArray[np.float64],
) -> None:
    """Write, for each dyad, the first front with a point that it dominates, M + 1 if there is none of M.

    To dominate a point of a front is not monotone in the front, so the fronts cannot be
    bisected; but in a tree of them a node's envelope tells whether it holds such a point.
    Node i has the halves 2i and 2i + 1, of which only the first is asked and need be
    there, from ``starts[2i]`` to ``starts[2i + 1]``.
    """
    n_leaves = starts.shape[0] >> 1
    for dyad in range(dyads.shape[0]):
        first, second = dyads[dyad, 0], dyads[dyad, 1]
        node = 1
        if not is_below(envelopes, starts[1], starts[2], first, second):
            depths[dyad] = n_fronts + 1
            continue
        while node < n_leaves:
            node *= 2
            node += not is_below(envelopes, starts[node], starts[node + 1], first, second)
        depths[dyad] = node - n_leaves + 1
