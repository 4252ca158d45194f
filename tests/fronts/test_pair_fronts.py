from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import Fronts
from paretodepth.fronts.pair_fronts import PairFronts, chosen_pairs
from tests import naive
from tests.draws import DRAWS, N_EXAMPLES, assert_same_fronts, draw_dyads, dyad_arrays


def all_pairs(n_criteria):
    return list(combinations(range(n_criteria), 2)) or [(0,)]


@pytest.mark.parametrize("n_criteria", range(1, 5))
@pytest.mark.parametrize("draw", DRAWS)
def test_the_mean_depth_equals_the_naive_one(draw, n_criteria):
    dyads = draw_dyads(draw, n_criteria)
    others = [draw_dyads(draw, n_criteria, seed=1, n_dyads=20), draw_dyads("distinct", n_criteria, n_dyads=10)]
    new = np.concatenate([dyads[::5], *others, np.full((1, n_criteria), np.inf)])
    expected = naive.pair_depths(new, dyads, all_pairs(n_criteria))
    assert_array_equal(PairFronts.from_dyads(dyads).mean_depth(new), expected)


@pytest.mark.parametrize("n_criteria", range(1, 5))
def test_the_mean_depth_equals_the_naive_one_on_any_dyads(n_criteria):
    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(n_criteria), dyad_arrays(n_criteria, max_dyads=5))
    def check(dyads, new):
        new = np.concatenate([dyads[:3], new])
        expected = naive.pair_depths(new, dyads, all_pairs(n_criteria))
        assert_array_equal(PairFronts.from_dyads(dyads).mean_depth(new), expected)

    check()


@pytest.mark.parametrize("draw", DRAWS)
def test_the_fronts_are_those_of_each_pair_with_equal_dyads_once(draw):
    dyads = draw_dyads(draw, 3)
    fronts = PairFronts.from_dyads(dyads, n_jobs=2)
    assert fronts.criteria.tolist() == [[0, 1], [0, 2], [1, 2]]
    for pair, found in zip(fronts.criteria, fronts.fronts, strict=True):
        expected = Fronts.from_dyads(dyads[:, pair], max_depth=10**9)
        assert_array_equal(found.dyads, expected.dyads)
        assert_array_equal(found.starts, expected.starts)


@pytest.mark.parametrize("n_criteria", [1, 2, 4])
def test_fronts_that_were_stored_answer_alike(n_criteria):
    # As a model file has it: the fronts alone, without what was sorted on the way to them.
    made = PairFronts.from_dyads(draw_dyads("partly tied", n_criteria, n_dyads=2000))
    stored = PairFronts(made.criteria, made.fronts)
    new = draw_dyads("partly tied", n_criteria, seed=1, n_dyads=300)
    assert_array_equal(stored.mean_depth(new), made.mean_depth(new))
    # Few dyads are looked up, many swept.
    one_by_one = np.concatenate([stored.mean_depth(new[row : row + 1]) for row in range(len(new))])
    assert_array_equal(one_by_one, made.mean_depth(new))


def test_threads_change_nothing():
    dyads, new = draw_dyads("partly tied", 5, n_dyads=500), draw_dyads("partly tied", 5, seed=1)
    one, two = (PairFronts.from_dyads(dyads, n_jobs=n_jobs) for n_jobs in (1, 2))
    for fronts, expected in zip(one.fronts, two.fronts, strict=True):
        assert_same_fronts(fronts, expected)
    assert_array_equal(one.mean_depth(new), two.mean_depth(new))


def test_increasing_transforms_of_the_criteria_change_nothing():
    dyads, new = draw_dyads("distinct", 4, n_dyads=500), draw_dyads("distinct", 4, seed=1)
    assert_array_equal(PairFronts.from_dyads(dyads).mean_depth(new), PairFronts.from_dyads(dyads**3).mean_depth(new**3))


def test_the_order_of_the_criteria_changes_nothing_but_the_last_bit():
    dyads, new = draw_dyads("partly tied", 12, n_dyads=500), draw_dyads("partly tied", 12, seed=1)
    order = np.random.default_rng(0).permutation(12)
    turned = PairFronts.from_dyads(dyads[:, order])
    assert_allclose(turned.mean_depth(new[:, order]), PairFronts.from_dyads(dyads).mean_depth(new), rtol=1e-12)


@pytest.mark.parametrize("n_criteria", [2, 3, 10])
def test_up_to_ten_criteria_all_pairs_are_chosen(n_criteria):
    assert chosen_pairs(draw_dyads("distinct", n_criteria)).tolist() == [list(p) for p in all_pairs(n_criteria)]


@pytest.mark.parametrize("draw", ["distinct", "tied", "equal", "infinite", "correlated", "empty", "one"])
@pytest.mark.parametrize("n_criteria", [11, 30, 45, 60, 120])
def test_of_more_criteria_each_occurs_in_few_pairs(draw, n_criteria):
    pairs = chosen_pairs(draw_dyads(draw, n_criteria))
    assert set(pairs.ravel()) == set(range(n_criteria))
    assert len(pairs) <= max(45, n_criteria)
    assert len(set(map(tuple, pairs.tolist()))) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_the_most_and_the_least_dependent_partners_are_chosen():
    rng = np.random.default_rng(0)
    dyads = rng.random((1000, 12))
    # 0 and 7 nearly agree, 3 and 9 oppose each other, and 5 depends on all but 11.
    dyads[:, 7] = dyads[:, 0] + 0.01 * dyads[:, 7]
    dyads[:, 9] = -dyads[:, 3]
    dyads[:, 5] = dyads[:, :11].sum(axis=1)
    pairs = set(map(tuple, chosen_pairs(dyads, max_pairs=20).tolist()))
    assert len(pairs) == 20
    assert {(0, 7), (3, 9), (5, 11)} <= pairs
