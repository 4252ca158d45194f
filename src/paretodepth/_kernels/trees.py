"""Three and more criteria: a balanced k-d tree whose nodes know corners and front numbers.

Node 1 is the root, nodes 2i and 2i + 1 are the halves of node i, and with n_leaves = 2**h
leaves, leaf l is node n_leaves + l and holds points l * n // n_leaves to (l + 1) * n // n_leaves.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def select_middle(
    points: NDArray[np.float64],
    places: NDArray[np.intp],
    first: int,
    last: int,
    middle: int,
    criterion: int,
) -> None:
    """Reorder rows first…last so that row `middle` splits them by one criterion (Hoare's selection)."""
    while first < last:
        a, b = points[first, criterion], points[last, criterion]
        c = points[(first + last) >> 1, criterion]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = first, last
        while left <= right:
            while points[left, criterion] < pivot:
                left += 1
            while points[right, criterion] > pivot:
                right -= 1
            if left <= right:
                for column in range(points.shape[1]):
                    points[left, column], points[right, column] = points[right, column], points[left, column]
                places[left], places[right] = places[right], places[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            return


@njit(cache=True, nogil=True)
def build_tree(
    points: NDArray[np.float64], leaf_size: int
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Return the points in tree order, the row each came from, and the corners of every node."""
    n_points, n_criteria = points.shape
    points = points.copy()
    places = np.arange(n_points)
    n_leaves = 1
    while n_leaves * leaf_size < n_points:
        n_leaves *= 2
    lower = np.full((2 * n_leaves, n_criteria), np.inf)
    upper = np.full((2 * n_leaves, n_criteria), -np.inf)
    n_nodes = 1
    while n_nodes <= n_leaves:
        for node in range(n_nodes, 2 * n_nodes):
            start = (node - n_nodes) * n_points // n_nodes
            stop = (node - n_nodes + 1) * n_points // n_nodes
            for point in range(start, stop):
                for criterion in range(n_criteria):
                    value = points[point, criterion]
                    lower[node, criterion] = min(lower[node, criterion], value)
                    upper[node, criterion] = max(upper[node, criterion], value)
            if n_nodes < n_leaves and stop - start > 1:
                widest = 0
                width = 0.0
                for criterion in range(n_criteria):
                    low, high = lower[node, criterion], upper[node, criterion]
                    # Compared first, for infinity less infinity is no number.
                    if high > low and high - low > width:
                        widest, width = criterion, high - low
                middle = (2 * (node - n_nodes) + 1) * n_points // (2 * n_nodes)
                select_middle(points, places, start, stop - 1, middle, widest)
        n_nodes *= 2
    return points, places, lower, upper


@njit(cache=True, nogil=True)
def number_sorted(dyads: NDArray[np.float64], leaf_size: int) -> NDArray[np.intp]:
    """Return the front numbers of distinct dyads in lexicographic order.

    Of the dyads that come before, those nowhere larger in the second to last criterion
    dominate. A tree over these criteria is asked for the largest front number among them.
    """
    n_dyads = dyads.shape[0]
    points, places, lower, upper = build_tree(dyads[:, 1:], leaf_size)
    n_criteria = points.shape[1]
    n_leaves = lower.shape[0] // 2
    positions = np.empty(n_dyads, np.intp)
    for place in range(n_dyads):
        positions[places[place]] = place
    # Zero marks a dyad, or a node, that the walk has not come to.
    numbers = np.zeros(n_dyads, np.intp)
    deepest = np.zeros(2 * n_leaves, np.intp)
    stack = np.empty(128, np.intp)
    for dyad in range(n_dyads):
        position = positions[dyad]
        best = np.intp(0)
        stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            if deepest[node] <= best:
                continue
            reachable = covered = True
            for criterion in range(n_criteria):
                value = points[position, criterion]
                reachable = reachable and lower[node, criterion] <= value
                covered = covered and upper[node, criterion] <= value
            if not reachable:
                continue
            if covered:
                best = deepest[node]
            elif node < n_leaves:
                deeper = 2 * node + (deepest[2 * node + 1] > deepest[2 * node])
                stack[height] = deeper ^ 1
                stack[height + 1] = deeper
                height += 2
            else:
                leaf = node - n_leaves
                for point in range(leaf * n_dyads // n_leaves, (leaf + 1) * n_dyads // n_leaves):
                    if numbers[point] > best:
                        smaller = True
                        for criterion in range(n_criteria):
                            smaller = smaller and points[point, criterion] <= points[position, criterion]
                        if smaller:
                            best = numbers[point]
        numbers[position] = best + 1
        node = n_leaves + ((position + 1) * n_leaves - 1) // n_dyads
        while node > 0 and deepest[node] < best + 1:
            deepest[node] = best + 1
            node >>= 1
    return numbers[positions]


@njit(cache=True, nogil=True)
def lowest_levels(levels: NDArray[np.intp], n_leaves: int) -> NDArray[np.intp]:
    """Return the smallest level in each node of a tree; `levels` are in tree order."""
    n_points = levels.shape[0]
    lowest = np.empty(2 * n_leaves, np.intp)
    for leaf in range(n_leaves):
        start, stop = leaf * n_points // n_leaves, (leaf + 1) * n_points // n_leaves
        lowest[n_leaves + leaf] = np.iinfo(np.intp).max
        for point in range(start, stop):
            lowest[n_leaves + leaf] = min(lowest[n_leaves + leaf], levels[point])
    for node in range(n_leaves - 1, 0, -1):
        lowest[node] = min(lowest[2 * node], lowest[2 * node + 1])
    return lowest


@njit(cache=True, nogil=True)
def find_levels(
    dyads: NDArray[np.float64],
    points: NDArray[np.float64],
    levels: NDArray[np.intp],
    corners: tuple[NDArray[np.float64], NDArray[np.float64]],
    lowest: NDArray[np.intp],
    n_levels: int,
) -> NDArray[np.intp]:
    """Return the smallest level among the points that each dyad dominates, or `n_levels`."""
    n_points, n_criteria = points.shape
    lower, upper = corners
    n_leaves = lower.shape[0] // 2
    found = np.empty(dyads.shape[0], np.intp)
    stack = np.empty(128, np.intp)
    for dyad in range(dyads.shape[0]):
        best = n_levels
        stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            if lowest[node] >= best:
                continue
            reachable = covered = True
            beyond = False
            for criterion in range(n_criteria):
                value = dyads[dyad, criterion]
                reachable = reachable and upper[node, criterion] >= value
                covered = covered and lower[node, criterion] >= value
                beyond = beyond or lower[node, criterion] > value
            if not reachable:
                continue
            if covered and beyond:
                best = lowest[node]
            elif node < n_leaves:
                lower_child = 2 * node + (lowest[2 * node + 1] < lowest[2 * node])
                stack[height] = lower_child ^ 1
                stack[height + 1] = lower_child
                height += 2
            else:
                leaf = node - n_leaves
                for point in range(leaf * n_points // n_leaves, (leaf + 1) * n_points // n_leaves):
                    if levels[point] < best:
                        larger = True
                        equal = True
                        for criterion in range(n_criteria):
                            larger = larger and points[point, criterion] >= dyads[dyad, criterion]
                            equal = equal and points[point, criterion] == dyads[dyad, criterion]
                        if larger and not equal:
                            best = levels[point]
        found[dyad] = best
    return found
