import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth import Criterion, ParetoDepthDetector, dyads
from paretodepth.fitted_criteria import fit_criteria
from tests import naive

SAMPLES = {
    "distinct": lambda rng, n: rng.random((n, 2)),
    "tied": lambda rng, n: rng.integers(4, size=(n, 2)).astype(float),
    "equal": lambda rng, n: np.ones((n, 2)),
    "clusters": lambda rng, n: rng.random((n, 2)) + 50.0 * rng.integers(3, size=(n, 1)),
    "unequal clusters": lambda rng, n: rng.random((n, 2)) + 50.0 * (rng.random((n, 1)) < 0.15),
}


@pytest.fixture(params=SAMPLES)
def samples(request):
    return SAMPLES[request.param](np.random.default_rng(0), 90)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("paretodepth.blocks.BLOCK_VALUES", 1000)


def absolute_differences(A, B):
    return np.abs(A[:, None, 0] - B[:, 0]), np.abs(A[:, None, 1] - B[:, 1])


def fitted_dyads(samples, n_jobs=1):
    return dyads.pairwise_dyads(*fit_criteria(ParetoDepthDetector(), samples), n_jobs)


def connected_k(samples):
    n_samples, pairs = len(samples), fitted_dyads(samples)
    return dyads.connected_n_neighbors(lambda rows: dyads.training_block(pairs, n_samples, rows), n_samples, 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairwise_dyads_are_those_of_all_pairs(samples, n_jobs):
    assert_array_equal(fitted_dyads(samples, n_jobs), naive.pairwise_dyads(absolute_differences(samples, samples)))


def test_a_training_block_holds_the_dissimilarities_and_no_sample_meets_itself(samples):
    block = dyads.training_block(fitted_dyads(samples), len(samples), slice(7, 20))
    expected = np.array(absolute_differences(samples[7:20], samples))
    expected[:, np.arange(13), np.arange(7, 20)] = np.inf
    assert_array_equal(block, expected)


@pytest.mark.parametrize("n_neighbors", [(1, 1), (3, 5), (89, 60)])
def test_nearest_dyads_equal_the_naive_ones(samples, n_neighbors):
    block = np.array(absolute_differences(samples[:15] + 0.25, samples))
    neighbors, near = dyads.nearest_dyads(block, np.array(n_neighbors))
    for row in range(15):
        expected = naive.nearest(block[:, row], n_neighbors)
        assert_array_equal(neighbors[row], expected)
        assert_array_equal(near[row], block[:, row, expected].T)


def test_nearest_dyads_do_not_depend_on_the_order_of_training_samples():
    rng = np.random.default_rng(0)
    block = rng.integers(3, size=(3, 10, 40)).astype(float)
    _, near = dyads.nearest_dyads(block, np.array([4, 5, 6]))
    _, permuted = dyads.nearest_dyads(block[:, :, rng.permutation(40)], np.array([4, 5, 6]))
    assert_array_equal(permuted, near)


@pytest.mark.parametrize("first_largest_k", [2, 32])
def test_connected_n_neighbors_equal_the_naive_ones(samples, first_largest_k, monkeypatch):
    monkeypatch.setattr(dyads, "FIRST_LARGEST_K", first_largest_k)
    samples = samples[:40]
    expected = [naive.connected_n_neighbors(matrix) for matrix in absolute_differences(samples, samples)]
    assert_array_equal(connected_k(samples), expected)


def test_connected_n_neighbors_do_not_depend_on_the_order_of_samples(samples):
    permuted = samples[np.random.default_rng(1).permutation(90)]
    assert_array_equal(connected_k(permuted), connected_k(samples))


def test_ties_are_dyads_that_are_not_alone():
    ties = dyads.count_ties(np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [1.0, 4.0, 0.0]]))
    assert_allclose(ties.shares, [0.75, 0.0, 1.0])
    assert_allclose(ties.zero_shares, [0.0, 0.25, 1.0])
    assert_array_equal(ties.is_constant, [False, False, True])


def test_a_block_is_asked_for_once_per_pair_of_samples():
    asked = np.zeros((30, 30), int)

    def counting(A, B):
        asked[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))] += 1
        return cdist(A, B)

    detector = ParetoDepthDetector([Criterion("counted", [0], counting)])
    dyads.pairwise_dyads(*fit_criteria(detector, np.arange(30.0)[:, None]), 1)
    assert_array_equal(asked[np.triu_indices(30, 1)], 1)
