"""Any number of criteria: a balanced k-d tree whose nodes know their corners and levels.

Node 1 is the root, nodes 2i and 2i + 1 are the halves of node i, and with n_leaves = 2**h
leaves, leaf l is node n_leaves + l and holds points l * n // n_leaves to (l + 1) * n // n_leaves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

Points = NDArray[Any]


@compiled
def exceeds(a: Points, row: int, b: Points, other_row: int) -> bool:
    """Tell whether a row of `a` is larger than one of `b` in some criterion."""
    # All criteria are compared: without branches that is faster than to stop at the first larger one.
    is_larger = False
    for criterion in range(a.shape[1]):
        is_larger |= a[row, criterion] > b[other_row, criterion]
    return is_larger


@compiled
def select_middle(points: Points, places: NDArray[np.intp], bounds: tuple[int, int, int], criterion: int) -> None:
    """Reorder rows first…last so that row `middle` splits them by one criterion (Hoare's selection)."""
    first, middle, last = bounds
    while first < last:
        a, b = points[first, criterion], points[last, criterion]
        c = points[(first + last) >> 1, criterion]
        # The median of three: points that come sorted, as dyads do, would take the square with the first or last.
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


@compiled
def split_nodes(points: Points, places: NDArray[np.intp], splits: NDArray[np.intp]) -> None:
    """Put the points, and the places that go with them, in tree order; nodes of height h are halved by `splits[h]`."""
    n_points = points.shape[0]
    n_nodes = 1
    for criterion in splits:
        for node in range(n_nodes):
            start, stop = node * n_points // n_nodes, (node + 1) * n_points // n_nodes
            middle = (2 * node + 1) * n_points // (2 * n_nodes)
            select_middle(points, places, (start, middle, stop - 1), criterion)
        n_nodes *= 2


@compiled
def find_levels(
    dyads: Points,
    points: Points,
    levels: NDArray[np.intp],
    corners: tuple[Points, Points],
    lowest: NDArray[np.intp],
    stack: NDArray[np.intp],
    found: NDArray[np.intp],
) -> None:
    """Find the smallest level among the points that each dyad dominates; `found` holds what it is if there is none.

    The nodes still to be looked at find room in `stack`.
    """
    n_points = points.shape[0]
    lower, upper = corners
    n_leaves = lower.shape[0] // 2
    for dyad in range(dyads.shape[0]):
        best = found[dyad]
        stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            if lowest[node] >= best or exceeds(dyads, dyad, upper, node):
                continue
            if not exceeds(dyads, dyad, lower, node) and exceeds(lower, node, dyads, dyad):
                best = lowest[node]
            elif node < n_leaves:
                lower_child = 2 * node + (lowest[2 * node + 1] < lowest[2 * node])
                stack[height] = lower_child ^ 1
                stack[height + 1] = lower_child
                height += 2
            else:
                leaf = node - n_leaves
                for point in range(leaf * n_points // n_leaves, (leaf + 1) * n_points // n_leaves):
                    if (
                        levels[point] < best
                        and not exceeds(dyads, dyad, points, point)
                        and exceeds(points, point, dyads, dyad)
                    ):
                        best = levels[point]
        found[dyad] = best
