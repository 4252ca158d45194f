import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth.pairs import nearest as dyads
from tests import naive
from tests.draws import draw_samples


@pytest.fixture(params=["distinct", "tied", "equal", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, 90, 2)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("paretodepth._blocks.BLOCK_VALUES", 1000)


def absolute_differences(A, B):
    return np.abs(A[:, None, 0] - B[:, 0]), np.abs(A[:, None, 1] - B[:, 1])


def test_nearest_dyads_equal_the_naive_ones(samples):
    block = np.array(absolute_differences(samples[:15] + 0.25, samples))
    for n_neighbors in ((1, 1), (3, 5), (89, 60)):
        neighbors, near = dyads.nearest_dyads(block, np.array(n_neighbors))
        for row in range(15):
            expected = naive.nearest(block[:, row], n_neighbors)
            assert_array_equal(neighbors[row], expected, err_msg=f"{n_neighbors}, row {row}")
            assert_array_equal(near[row], block[:, row, expected].T, err_msg=f"{n_neighbors}, row {row}")


def test_nearest_dyads_do_not_depend_on_the_order_of_training_samples():
    rng = np.random.default_rng(0)
    block = rng.integers(3, size=(3, 10, 40)).astype(float)
    _, near = dyads.nearest_dyads(block, np.array([4, 5, 6]))
    _, permuted = dyads.nearest_dyads(block[:, :, rng.permutation(40)], np.array([4, 5, 6]))
    assert_array_equal(permuted, near)


def test_ties_are_dyads_that_are_not_alone():
    ties = dyads.count_ties(np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [1.0, 4.0, 0.0]]))
    assert_allclose(ties.shares, [0.5, 0.0, 1.0])
    assert_allclose(ties.zero_shares, [0.0, 0.25, 1.0])
    assert_array_equal(ties.is_constant, [False, False, True])
