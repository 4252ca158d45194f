"""Balanced k-d trees of points whose nodes have many children. Compiled loops search them."""

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import stride
from paretodepth._kernels.splits import split_nodes
from paretodepth._kernels.wide_tree import FIRST_ROWS, LARGEST, N_SEARCHES, WIDTH, LevelTree, WideTree, encode

MAX_HEIGHT = 64
"""More splits than any tree has."""
MAX_STACK = WIDTH * MAX_HEIGHT
"""More nodes than ever wait for a visit at once."""
N_EDGES = 4095
"""Values of each criterion that distinguish most points; one less than a power of two."""
N_SAMPLED = 4
"""Points that are sampled for each of these."""
N_LEVEL_SPLITS = 4
"""How often levels are halved before criteria."""


def build_wide_tree(points: NDArray[np.int32]) -> tuple[WideTree, NDArray[np.intp]]:
    """Return a wide tree of dense ranks, at least one row, none of them numbered yet, and the position of each row.

    The points are put in tree order.
    """
    n_points, n_criteria = points.shape
    places = np.arange(n_points)
    height = _height(n_points, WIDTH)
    split_nodes(points, places, np.arange(height) % n_criteria, 1)
    n_leaves = 1 << height
    starts = np.arange(n_leaves + 1) * n_points // n_leaves
    leaves = np.repeat(np.arange(n_leaves), np.diff(starts))
    in_order = WIDTH * leaves + np.arange(n_points) - starts[leaves]
    records = _empty_records(height, n_criteria)
    first_leaf = len(records) - n_leaves
    # No number yet.
    records[:, 0] = 0
    for criterion, ranks in enumerate(points.T):
        short = ranks.astype(np.int64) * LARGEST // (ranks.max() + 1)
        records[first_leaf + leaves, criterion + 1, in_order % WIDTH] = short
    exact = np.zeros((WIDTH * n_leaves, n_criteria), np.int32)
    exact[in_order] = points
    positions = np.empty(n_points, np.intp)
    positions[places] = in_order
    return WideTree(records, exact, np.zeros(len(exact), np.int32), np.zeros(1, np.intp), first_leaf), positions


def build_level_tree(points: NDArray[np.float64], starts: NDArray[np.intp]) -> LevelTree:
    """Return the tree of points, at least one, of which ``points[starts[l]:starts[l + 1]]`` are on level l."""
    n_points, n_criteria = points.shape
    levels = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    shift = 0
    while len(starts) >> shift > LARGEST:
        shift += 1
    edges = _edges(points)
    codes = encoded(points, edges)
    height = _height(n_points, WIDTH)
    leaves, rows = _leaves_by_level(codes.copy(), levels, height)
    first_points = np.searchsorted(leaves, np.arange((1 << height) + 1))
    records = _empty_records(height, n_criteria)
    first_leaf = len(records) - (1 << height)
    places = WIDTH * leaves + np.arange(n_points) - first_points[leaves]
    points, levels, codes = points[rows], levels[rows], codes[rows]
    in_leaves = np.full(WIDTH << height, LARGEST, np.int16)
    for row, short in enumerate((levels >> shift, *(-codes.T))):
        in_leaves[places] = short
        records[first_leaf:, row] = in_leaves.reshape(-1, WIDTH)
    # From the leaves up, a layer of nodes after the other.
    first, n_nodes = first_leaf, 1 << height
    while n_nodes > 1:
        children = np.arange(n_nodes)
        n_nodes = -(-n_nodes // WIDTH)
        parents = (first - 1) // WIDTH + children // WIDTH
        records[parents, :, children % WIDTH] = records[first + children].min(axis=2)
        first = (first - 1) // WIDTH
    return LevelTree(records, points, levels, first_points, edges, shift, first_leaf)


def encoded(dyads: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return, for each value of dyads, how many of its criterion's edges are smaller."""
    codes = np.empty(dyads.shape, np.int16)
    encode(dyads, edges, np.empty(N_SEARCHES, np.intp), codes)
    return codes


def _edges(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of each criterion in ascending order, with about as many points between any two."""
    edges = np.full((points.shape[1], N_EDGES), np.inf)
    some = points[stride(len(points), N_EDGES * N_SAMPLED)]
    for of_criterion, values in zip(edges, some.T, strict=True):
        sampled = np.sort(values)[stride(len(values), N_EDGES)]
        of_criterion[: len(sampled)] = sampled
    return edges


def _leaves_by_level(
    codes: NDArray[np.int16], levels: NDArray[np.int32], height: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the points in the order of a level tree, as rows, and the leaf of each.

    The points come in the order of their levels; their codes are put in some other order.
    """
    n_points, n_criteria = codes.shape
    n_leaves = 1 << height
    rows = np.arange(n_points)
    # Levels are halved first, which is done: the lowest level of a node prunes the search.
    n_splits = max(height - N_LEVEL_SPLITS, 0)
    split_nodes(codes, rows, np.arange(n_splits) % n_criteria, n_leaves >> n_splits)
    starts = np.arange(n_leaves + 1) * n_points // n_leaves
    lowest = np.minimum.reduceat(levels[rows], starts[:-1])
    # On each height children change places with their siblings, which moves all that is below them as one.
    order = np.zeros(n_leaves, np.int64)
    n_below = 1
    while n_below < n_leaves:
        of_children = lowest.reshape(-1, n_below).min(axis=1)
        n_siblings = min(WIDTH, len(of_children))
        by_level = np.argsort(of_children.reshape(-1, n_siblings), axis=1, kind="stable")
        places = np.argsort(by_level, axis=1)
        order += n_below * np.repeat(places.ravel(), n_below)
        n_below *= n_siblings
    # Rows of the same leaf in rising order are in that of their levels.
    n_bits = n_points.bit_length()
    keys = np.repeat(order << n_bits, np.diff(starts)) | rows
    keys.sort()
    return keys >> n_bits, keys & ((1 << n_bits) - 1)


def _empty_records(height: int, n_criteria: int) -> NDArray[np.int16]:
    """Return the records of a tree of 2**height leaves, in which nothing passes."""
    # A node has as many children as five halvings make; the root may have fewer.
    n_layers = -(-height // 5)
    first_leaf = (WIDTH**n_layers - 1) // (WIDTH - 1)
    n_rows = FIRST_ROWS + (max(n_criteria + 1 - FIRST_ROWS, 0) + 1) // 2 * 2
    records = np.full((first_leaf + (1 << height), n_rows, WIDTH), LARGEST, np.int16)
    # Rows that are no criterion rule out nothing.
    records[:, n_criteria + 1 :] = -LARGEST
    return records


def _height(n_points: int, leaf_size: int) -> int:
    """Return how often points are halved until no leaf holds more than `leaf_size`."""
    height = 0
    while leaf_size << height < n_points:
        height += 1
    return height
