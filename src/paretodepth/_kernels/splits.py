"""Any number of criteria: the order of points in a balanced k-d tree.

Of n_leaves = 2**h leaves, leaf l holds points l * n // n_leaves to (l + 1) * n // n_leaves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

Points = NDArray[Any]


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
def split_nodes(points: Points, places: NDArray[np.intp], splits: NDArray[np.intp], n_nodes: int) -> None:
    """Put the points, and the places that go with them, in tree order: each split in turn halves all nodes."""
    n_points = points.shape[0]
    for criterion in splits:
        for node in range(n_nodes):
            start, stop = node * n_points // n_nodes, (node + 1) * n_points // n_nodes
            middle = (2 * node + 1) * n_points // (2 * n_nodes)
            select_middle(points, places, (start, middle, stop - 1), criterion)
        n_nodes *= 2
