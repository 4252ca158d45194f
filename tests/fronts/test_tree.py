import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth._kernels.wide_tree import WIDTH
from paretodepth.fronts.tree import MAX_HEIGHT, build_tree, build_wide_tree
from tests.draws import draw_dyads


@pytest.mark.parametrize("draw", ["distinct", "tied", "equal", "infinite", "one"])
@pytest.mark.parametrize("n_points", [16, 17, 100, 333])
def test_every_node_has_the_corners_of_its_points(draw, n_points):
    original = draw_dyads(draw, 3, n_dyads=n_points)
    points = original.copy()
    places, lower, upper = build_tree(points, np.arange(MAX_HEIGHT) % 3)
    assert_array_equal(np.sort(places), np.arange(len(points)))
    assert_array_equal(points, original[places])
    for node in range(1, len(lower)):
        # A node of height h is one of 2**h nearly equal parts of the points in tree order.
        n_nodes = 1 << (node.bit_length() - 1)
        start, stop = ((node - n_nodes + end) * len(points) // n_nodes for end in (0, 1))
        assert_array_equal(lower[node], points[start:stop].min(axis=0))
        assert_array_equal(upper[node], points[start:stop].max(axis=0))


def test_nodes_are_halved_by_the_criteria_in_turn():
    points = draw_dyads("distinct", 2, n_dyads=64).copy()
    _, lower, upper = build_tree(points, np.array([0, 1]))
    assert len(lower) == 8
    assert upper[2, 0] <= lower[3, 0]
    assert upper[4, 1] <= lower[5, 1]
    assert upper[6, 1] <= lower[7, 1]


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
