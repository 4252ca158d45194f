import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth.pairs.nearest import map_new_blocks, nearest_by_sum, nearest_dyads
from tests import naive
from tests.draws import draw_samples, fitted, small_blocks


@pytest.fixture(params=["distinct", "tied", "equal", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, 90, 2)


def absolute_differences(A, B):
    return np.abs(A[:, None, 0] - B[:, 0]), np.abs(A[:, None, 1] - B[:, 1])


def test_nearest_dyads_equal_the_naive_ones(samples):
    block = np.array(absolute_differences(samples[:15] + 0.25, samples))
    for n_neighbors in ((1, 1), (3, 5), (89, 60)):
        neighbors, near = nearest_dyads(block, np.array(n_neighbors))
        for row in range(15):
            expected = naive.nearest(block[:, row], n_neighbors)
            assert_array_equal(neighbors[row], expected, err_msg=f"{n_neighbors}, row {row}")
            assert_array_equal(near[row], block[:, row, expected].T, err_msg=f"{n_neighbors}, row {row}")


def test_nearest_dyads_do_not_depend_on_the_order_of_training_samples():
    rng = np.random.default_rng(0)
    block = rng.integers(3, size=(3, 10, 40)).astype(float)
    _, near = nearest_dyads(block, np.array([4, 5, 6]))
    _, permuted = nearest_dyads(block[:, :, rng.permutation(40)], np.array([4, 5, 6]))
    assert_array_equal(permuted, near)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)])
def test_the_nearest_by_sum_are_those_of_the_smallest_sums(samples, weights):
    block = np.array(absolute_differences(samples[:15] + 0.25, samples))
    sums = weights[0] * block[0] + weights[1] * block[1]
    found, neighbors = nearest_by_sum(block, np.array(weights), 7)
    expected = np.argsort(sums, axis=1, kind="stable")[:, :7]
    assert_array_equal(neighbors, expected)
    assert_array_equal(found, np.take_along_axis(sums, expected, axis=1))


def test_a_criterion_of_no_weight_is_left_out_of_the_sum_where_it_is_infinite_too():
    block = np.array([[[np.inf, np.inf, 1.0]], [[3.0, 2.0, 5.0]]])
    sums, neighbors = nearest_by_sum(block, np.array([0.0, 1.0]), 2)
    assert_array_equal(sums, [[2.0, 3.0]])
    assert_array_equal(neighbors, [[1, 0]])


def test_blocks_of_new_samples_hold_their_dissimilarities_to_the_training_samples(samples):
    own, new = fitted(None, samples), samples[:31] + 0.25
    with small_blocks(1000):
        blocks = map_new_blocks(lambda block: block, own.criteria, own.views_of(new), own.views, 2 * len(samples), 2)
    assert [block.shape for block in blocks] == [(2, 5, 90)] * 6 + [(2, 1, 90)]
    assert_array_equal(np.concatenate(blocks, axis=1), absolute_differences(new, samples))
