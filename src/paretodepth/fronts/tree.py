"""A balanced k-d tree of points: their order, and the corners of its nodes. Compiled loops search it."""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels.tree import Points, split_nodes

LEAF_SIZE = 16
"""Points that are faster looked at one by one than split further."""
MAX_HEIGHT = 64
"""Splits that are never used up."""


def build_tree(points: Points, splits: NDArray[np.intp]) -> tuple[NDArray[np.intp], Points, Points]:
    """Put points, at least one, in tree order; return the row each came from and the corners of every node.

    Nodes of height h are halved by criterion ``splits[h]``. It does not depend on how wide
    they are: a width compares values, and only their order counts.
    """
    n_points = len(points)
    places = np.arange(n_points)
    height = 0
    while LEAF_SIZE << height < n_points:
        height += 1
    split_nodes(points, places, splits[:height])
    n_leaves = 1 << height
    # All leaves differ by one point at most, so a node's points follow from its number and are stored nowhere.
    starts = np.arange(n_leaves) * n_points // n_leaves
    lower, upper = (_corners(extreme, extreme.reduceat(points, starts, axis=0)) for extreme in (np.minimum, np.maximum))
    return places, lower, upper


def _corners(extreme: np.ufunc, of_leaves: Points) -> Points:
    """Return one corner of every node."""
    levels = [of_leaves]
    while len(levels[-1]) > 1:
        levels.append(extreme(levels[-1][::2], levels[-1][1::2]))
    # There is no node 0; its row holds something rather than what was in memory.
    levels.append(levels[-1])
    return np.concatenate(levels[::-1])
