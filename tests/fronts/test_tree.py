import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth.fronts.tree import MAX_HEIGHT, build_tree
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
