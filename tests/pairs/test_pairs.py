import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth import Criterion
from paretodepth.pairs.pairs import HeldPairs, n_sampled_rows
from tests import naive
from tests.draws import draw_samples, pairs_of, small_blocks

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
def blocks():
    with small_blocks(600):
        yield


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
        assert_array_equal(HeldPairs.of(same.subset(some)).dyads, expected)
        assert_array_equal(same.chosen(2, some[1:]), expected[:4])
        assert same.random_subset(7, 0).n_samples == 7
        assert same.random_subset(100, 0).n_samples == N_SAMPLES


def test_what_is_usual_is_told_from_all_pairs_of_few_samples_and_from_some_of_many(samples):
    own = computed("table", samples)
    held = HeldPairs.of(own)
    dyads = all_dyads("table", samples)
    first, second = np.triu_indices(N_SAMPLES, 1)
    is_sampled = np.isin(first, [0, 10, 20, 30]) | np.isin(second, [0, 10, 20, 30])
    assert_array_equal(own.sample(), dyads)
    assert_array_equal(held.sample(), dyads)
    sampled = own.sample(n_rows=4)
    assert sorted(map(tuple, sampled)) == sorted(map(tuple, dyads[is_sampled]))
    assert_array_equal(held.sample(n_rows=4), sampled)


def test_some_millions_of_pairs_are_asked_for_and_those_of_fifty_samples_at_least():
    assert n_sampled_rows(2000, 4) >= 2000
    assert n_sampled_rows(20_000, 2) * 20_000 == pytest.approx(2**22, rel=0.01)
    assert n_sampled_rows(2000, 30) * 2000 * 30 == pytest.approx(2**24, rel=0.01)
    assert n_sampled_rows(10**6, 2) == 50


def test_a_function_is_asked_for_each_pair_once():
    asked = np.zeros((30, 30), int)

    def counting(A, B):
        asked[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))] += 1
        return cdist(A, B)

    HeldPairs.of(pairs_of([Criterion("counted", [0], counting)], np.arange(30.0)[:, None]))
    assert_array_equal(asked[np.triu_indices(30, 1)], 1)
