import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth import Criterion
from paretodepth.pairs import connected as neighbors
from paretodepth.pairs import pairs
from paretodepth.pairs.pairs import HeldPairs
from tests import naive
from tests.draws import draw_samples, pairs_of

N_SAMPLES = 40


def earlier_first(A, B):
    """A function that is not symmetric: of a pair, only one direction may count."""
    return np.abs(A[:, None, 0] - B[:, 0]) + 0.01 * (A[:, None, 0] < B[:, 0])


def precomputed(samples):
    criteria = [Criterion(name, metric="precomputed") for name in "ab"]
    return criteria, [cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)]


FORMS = {
    "table": lambda samples: (None, samples),
    "precomputed": precomputed,
    "function": lambda samples: ([Criterion("a", [0], earlier_first), Criterion("b", [1])], samples),
    "element function": lambda samples: (
        [Criterion("a", [0], lambda a, b: abs(a[0] - b[0]), pairwise=True), Criterion("b", [1])],
        samples,
    ),
}


def all_dyads(form, samples):
    matrices = [cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)]
    if form == "function":
        matrices[0] = earlier_first(samples, samples)
    return naive.pairwise_dyads(matrices)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("paretodepth._blocks.BLOCK_VALUES", 600)


@pytest.fixture(params=["distinct", "tied", "equal", "duplicate", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, N_SAMPLES, 2)


def computed(form, samples, n_jobs=1):
    criteria, X = FORMS[form](samples)
    return pairs_of(criteria, X, n_jobs)


@pytest.mark.parametrize("form", FORMS)
def test_held_dyads_are_those_of_all_pairs(form, samples):
    expected = all_dyads(form, samples)
    for n_jobs in (1, 2):
        held = HeldPairs.of(computed(form, samples, n_jobs))
        assert_array_equal(held.dyads, expected, err_msg=f"n_jobs={n_jobs}")


@pytest.mark.parametrize("form", FORMS)
def test_blocks_hold_the_dissimilarities_and_no_sample_meets_itself(form, samples):
    dyads = all_dyads(form, samples)
    expected = np.full((2, N_SAMPLES, N_SAMPLES), np.inf)
    first, second = np.triu_indices(N_SAMPLES, 1)
    expected[:, first, second] = expected[:, second, first] = dyads.T
    own = computed(form, samples)
    for rows in (slice(0, 5), slice(7, 20), slice(0, N_SAMPLES), slice(N_SAMPLES - 1, N_SAMPLES)):
        is_meant = np.arange(N_SAMPLES - rows.start) > np.arange(rows.stop - rows.start)[:, None]
        later = expected[:, rows, rows.start :][:, is_meant]
        for same in (own, HeldPairs.of(own)):
            case = f"{type(same).__name__}, {rows}"
            assert_array_equal(same.block(rows), expected[:, rows], err_msg=case)
            assert_array_equal(same.later(rows)[:, is_meant], later, err_msg=case)


@pytest.mark.parametrize("form", FORMS)
def test_some_samples_and_some_pairs_are_those_of_all(form, samples):
    some = np.array([2, 3, 11, 25, 39])
    own = computed(form, samples)
    held = HeldPairs.of(own)
    expected = all_dyads(form, samples[some])
    for same in (own, held):
        assert_array_equal(HeldPairs.of(same.among(some)).dyads, expected)
        assert_array_equal(same.chosen(2, some[1:]), expected[:4])
        assert same.drawn(7, 0).n_samples == 7
        assert same.drawn(100, 0).n_samples == N_SAMPLES


def test_what_is_usual_is_told_from_all_pairs_of_few_samples_and_from_some_of_many(samples, monkeypatch):
    own = computed("table", samples)
    dyads = all_dyads("table", samples)
    assert_array_equal(own.sample(), dyads)
    assert_array_equal(HeldPairs.of(own).sample(), dyads)
    monkeypatch.setattr(pairs, "FEW_SAMPLES", 10)
    monkeypatch.setattr(pairs, "N_SAMPLED_VALUES", 0)
    monkeypatch.setattr(pairs, "MIN_SAMPLED_ROWS", 4)
    sampled = own.sample()
    first, second = np.triu_indices(N_SAMPLES, 1)
    is_sampled = np.isin(first, [0, 10, 20, 30]) | np.isin(second, [0, 10, 20, 30])
    assert sorted(map(tuple, sampled)) == sorted(map(tuple, dyads[is_sampled]))
    assert_array_equal(HeldPairs.of(own).sample(), sampled)


def test_a_function_is_asked_for_each_pair_once():
    asked = np.zeros((30, 30), int)

    def counting(A, B):
        asked[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))] += 1
        return cdist(A, B)

    HeldPairs.of(pairs_of([Criterion("counted", [0], counting)], np.arange(30.0)[:, None]))
    assert_array_equal(asked[np.triu_indices(30, 1)], 1)


def connected_k(samples):
    own = HeldPairs.of(computed("table", samples))
    return neighbors.connected_n_neighbors(own, neighbors.NeighborLists.gathered(own, np.ones(2)))


def test_connected_n_neighbors_equal_the_naive_ones(samples, monkeypatch):
    matrices = [cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)]
    expected = [naive.connected_n_neighbors(matrix) for matrix in matrices]
    for n_listed in (2, 5, 32):
        monkeypatch.setattr(neighbors, "N_LISTED", n_listed)
        assert_array_equal(connected_k(samples), expected, err_msg=f"N_LISTED={n_listed}")


def test_connected_n_neighbors_do_not_depend_on_the_order_of_samples(samples):
    permuted = samples[np.random.default_rng(1).permutation(N_SAMPLES)]
    assert_array_equal(connected_k(permuted), connected_k(samples))


def test_lists_hold_the_nearest_of_each_sample(samples):
    weights = np.array([2.0, 0.5])
    matrices = np.array([cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)])
    lists = neighbors.NeighborLists.gathered(computed("table", samples, 2), weights)
    for sample in range(N_SAMPLES):
        expected = naive.nearest(matrices[:, sample], (32, 32), sample)
        assert_array_equal(lists.neighbors[sample].ravel(), expected)
        assert_array_equal(lists.dyads[sample].reshape(-1, 2), matrices[:, sample, expected].T)
        sums = np.delete(2.0 * matrices[0, sample] + 0.5 * matrices[1, sample], sample)
        assert_array_equal(lists.sums[sample], np.sort(sums)[:32])
    first = lists.first_dyads(np.array([3, 5]))
    assert_array_equal(first[:, :3], lists.dyads[:, 0, :3])
    assert_array_equal(first[:, 3:], lists.dyads[:, 1, :5])


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
        k, components = neighbors.connecting_rank(np.take_along_axis(matrix, order, axis=1), order)
        assert k == naive.connected_n_neighbors(matrix), f"seed {seed}"
        assert not components.any(), f"seed {seed}"


def test_lists_too_short_to_connect_name_the_components_so_far():
    # Two groups of three: within a group two samples are nearer than the other group.
    distances = np.abs(np.subtract.outer(*2 * [np.array([0.0, 1, 3, 100, 101, 103])]))
    order = distances.argsort(axis=1)[:, 1:3]
    k, components = neighbors.connecting_rank(np.take_along_axis(distances, order, axis=1), order)
    assert k == 2
    assert_array_equal(components, [0, 0, 0, 1, 1, 1])
