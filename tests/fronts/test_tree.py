import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Fronts
from paretodepth._kernels.wide_tree import LARGEST, WIDTH
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.tree import build_level_tree, build_wide_tree, encoded
from tests.draws import draw_dyads


def level_tree(draw, n_criteria, n_points):
    """Return fronts, and the tree that has these for levels."""
    fronts = Fronts.from_dyads(draw_dyads(draw, n_criteria, n_dyads=n_points))
    return fronts, build_level_tree(fronts.dyads, fronts.starts)


@pytest.mark.parametrize("draw", ["distinct", "tied", "equal", "infinite", "chain", "correlated", "one"])
@pytest.mark.parametrize("n_points", [32, 33, 1100])
def test_a_level_tree_holds_every_point_with_its_level_once(draw, n_points):
    fronts, tree = level_tree(draw, 3, n_points)
    held = np.column_stack((tree.points, tree.levels + 1))
    given = np.column_stack((fronts.dyads, fronts.numbers))
    assert_array_equal(held[np.lexsort(held.T)], given[np.lexsort(given.T)])
    assert tree.starts[0] == 0
    assert tree.starts[-1] == len(fronts.dyads)
    assert np.all(np.diff(tree.starts) <= WIDTH)


@pytest.mark.parametrize("draw", ["distinct", "tied", "infinite", "chain"])
@pytest.mark.parametrize("n_criteria", [3, 4, 5, 7])
def test_what_a_point_asks_for_passes_in_its_leaf_and_in_every_node_above(draw, n_criteria):
    _, tree = level_tree(draw, n_criteria, 3000)
    codes = encoded(tree.points, tree.edges)
    leaves = np.repeat(np.arange(len(tree.starts) - 1), np.diff(tree.starts))
    nodes, places = tree.first_leaf + leaves, np.arange(len(leaves)) - tree.starts[leaves]
    while True:
        short = tree.records[nodes, :, places]
        assert np.all(short[:, 0] <= tree.levels >> tree.shift)
        assert np.all(short[:, 1 : n_criteria + 1] <= -codes)
        assert np.all(short[:, n_criteria + 1 :] == -LARGEST), "rows that are no criterion rule out nothing"
        if not nodes.any():
            break
        nodes, places = (nodes - 1) // WIDTH, (nodes - 1) % WIDTH


@pytest.mark.parametrize("draw", ["distinct", "tied", "chain"])
def test_children_and_points_come_by_level(draw):
    _, tree = level_tree(draw, 3, 3000)
    assert np.all(np.diff(tree.records[:, 0].astype(int), axis=1) >= 0)
    for start, stop in zip(tree.starts[:-1], tree.starts[1:], strict=True):
        assert np.all(np.diff(tree.levels[start:stop]) >= 0)


def test_more_levels_than_a_short_integer_can_tell_are_shortened():
    fronts = Fronts.from_dyads(np.tile(np.arange(70_000.0)[:, None], 3))
    tree = build_level_tree(fronts.dyads, fronts.starts)
    assert tree.shift == 2
    asked = np.repeat(np.arange(0, 70_000, 997.0)[:, None], 3, axis=1)
    assert_array_equal(Depths(fronts, "paper").of(asked), asked[:, 0] + 2)
    assert_array_equal(Depths(fronts, "insertion").of(asked + 0.5), asked[:, 0] + 2)


@pytest.mark.parametrize("n_criteria", [2, 4, 5, 7])
@pytest.mark.parametrize("n_points", [1, 32, 33, 1100])
def test_a_wide_tree_holds_every_point_once_and_its_ranks_in_short(n_points, n_criteria):
    ranks = np.argsort(np.random.default_rng(0).random((n_points, n_criteria)), axis=0).astype(np.int32)
    tree, positions = build_wide_tree(ranks.copy())
    assert_array_equal(tree.points[positions], ranks)
    assert len(set(positions)) == n_points
    leaves, places = tree.first_leaf + positions // WIDTH, positions % WIDTH
    short = tree.records[leaves, 1 : n_criteria + 1, places]
    for of_ranks, of_short in zip(ranks.T, short.T, strict=True):
        assert_array_equal(np.argsort(of_short, kind="stable"), np.argsort(of_ranks))
    assert np.all(tree.records[:, 0] == 0), "no point is numbered yet"
    assert np.all(tree.records[:, n_criteria + 1 :] < 0), "rows that are no criterion rule out nothing"
