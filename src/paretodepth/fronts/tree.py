"""Balanced k-d trees of points: with the corners of their nodes, or wide. Compiled loops search them."""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels.tree import Points, split_nodes
from paretodepth._kernels.wide_tree import FIRST_ROWS, LARGEST, WIDTH, WideTree

LEAF_SIZE = 16
"""Points that are faster looked at one by one than split further."""
MAX_HEIGHT = 64
"""Splits that are never used up."""
MAX_STACK = WIDTH * MAX_HEIGHT
"""Nodes that never wait for a visit at once."""


def build_tree(points: Points, splits: NDArray[np.intp]) -> tuple[NDArray[np.intp], Points, Points]:
    """Put points, at least one, in tree order; return the row each came from and the corners of every node.

    Nodes of height h are halved by criterion ``splits[h]``. It does not depend on how wide
    they are: a width compares values, and only their order counts.
    """
    n_points = len(points)
    places = np.arange(n_points)
    height = _height(n_points, LEAF_SIZE)
    split_nodes(points, places, splits[:height])
    n_leaves = 1 << height
    # All leaves differ by one point at most, so a node's points follow from its number and are stored nowhere.
    starts = np.arange(n_leaves) * n_points // n_leaves
    lower, upper = (_corners(extreme, extreme.reduceat(points, starts, axis=0)) for extreme in (np.minimum, np.maximum))
    return places, lower, upper


def build_wide_tree(points: NDArray[np.int32]) -> tuple[WideTree, NDArray[np.intp]]:
    """Return a wide tree of dense ranks, at least one row, none of them numbered yet, and the position of each row.

    The points are put in tree order.
    """
    n_points, n_criteria = points.shape
    places = np.arange(n_points)
    height = _height(n_points, WIDTH)
    split_nodes(points, places, np.arange(height) % n_criteria)
    n_leaves = 1 << height
    starts = np.arange(n_leaves + 1) * n_points // n_leaves
    leaves = np.repeat(np.arange(n_leaves), np.diff(starts))
    in_order = WIDTH * leaves + np.arange(n_points) - starts[leaves]
    # A node has as many children as five halvings make; the root may have fewer.
    n_levels = -(-height // 5)
    first_leaf = (WIDTH**n_levels - 1) // (WIDTH - 1)
    n_rows = FIRST_ROWS + (max(n_criteria + 1 - FIRST_ROWS, 0) + 1) // 2 * 2
    records = np.full((first_leaf + n_leaves, n_rows, WIDTH), LARGEST, np.int16)
    # No number yet, and rows that are no criterion and rule out nothing.
    records[:, 0] = 0
    records[:, n_criteria + 1 :] = -LARGEST
    for criterion, ranks in enumerate(points.T):
        short = ranks.astype(np.int64) * LARGEST // (ranks.max() + 1)
        records[first_leaf + leaves, criterion + 1, in_order % WIDTH] = short
    exact = np.zeros((WIDTH * n_leaves, n_criteria), np.int32)
    exact[in_order] = points
    positions = np.empty(n_points, np.intp)
    positions[places] = in_order
    return WideTree(records, exact, np.zeros(len(exact), np.int32), np.zeros(1, np.intp), first_leaf), positions


def _height(n_points: int, leaf_size: int) -> int:
    """Return how often points are halved until no leaf holds more than so many."""
    height = 0
    while leaf_size << height < n_points:
        height += 1
    return height


def _corners(extreme: np.ufunc, of_leaves: Points) -> Points:
    """Return one corner of every node."""
    levels = [of_leaves]
    while len(levels[-1]) > 1:
        levels.append(extreme(levels[-1][::2], levels[-1][1::2]))
    # There is no node 0; its row holds something rather than what was in memory.
    levels.append(levels[-1])
    return np.concatenate(levels[::-1])
