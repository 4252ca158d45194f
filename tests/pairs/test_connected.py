import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth.pairs.connected import connected_n_neighbors, connecting_rank
from paretodepth.pairs.neighbor_lists import NeighborLists
from paretodepth.pairs.pairs import HeldPairs
from tests import naive
from tests.draws import draw_samples, pairs_of, small_blocks

N_SAMPLES = 40


@pytest.fixture(params=["distinct", "tied", "equal", "duplicate", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, N_SAMPLES, 2)


def connected_k(samples, n_listed=32):
    own = HeldPairs.of(pairs_of(None, samples))
    return connected_n_neighbors(own, NeighborLists.gathered(own, np.ones(2), n_listed=n_listed))


def test_connected_n_neighbors_equal_the_naive_ones(samples):
    matrices = [cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)]
    expected = [naive.connected_n_neighbors(matrix) for matrix in matrices]
    with small_blocks(600):
        for n_listed in (2, 5, 32):
            assert_array_equal(connected_k(samples, n_listed), expected, err_msg=f"lists of {n_listed}")


def test_connected_n_neighbors_do_not_depend_on_the_order_of_samples(samples):
    permuted = samples[np.random.default_rng(1).permutation(N_SAMPLES)]
    assert_array_equal(connected_k(permuted), connected_k(samples))


@pytest.mark.parametrize("kind", ["distinct", "tied", "equal", "infinite"])
def test_the_rank_that_connects_whole_lists_is_the_naive_one(kind):
    for seed in range(5):
        matrix = np.random.default_rng(seed).random((14, 14))
        matrix = {
            "distinct": matrix,
            "tied": np.round(matrix, 1),
            "equal": np.ones_like(matrix),
            "infinite": np.where(matrix > 0.2, np.inf, matrix),
        }[kind]
        np.fill_diagonal(matrix, -1)
        order = matrix.argsort(axis=1, kind="stable")[:, 1:]
        k, components = connecting_rank(np.take_along_axis(matrix, order, axis=1), order)
        assert k == naive.connected_n_neighbors(matrix), f"seed {seed}"
        assert not components.any(), f"seed {seed}"


def test_lists_too_short_to_connect_name_the_components_so_far():
    # Two groups of three: within a group two samples are nearer than the other group.
    distances = np.abs(np.subtract.outer(*2 * [np.array([0.0, 1, 3, 100, 101, 103])]))
    order = distances.argsort(axis=1)[:, 1:3]
    k, components = connecting_rank(np.take_along_axis(distances, order, axis=1), order)
    assert k == 2
    assert_array_equal(components, [0, 0, 0, 1, 1, 1])
