import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth import Fronts, front_numbers
from paretodepth.fronts.depth_index import N_FIRST_SWEPT, Depths, FirstLevels, Staircases
from paretodepth.fronts.fronts import lexicographic_order
from tests import naive
from tests.draws import DRAWS, N_EXAMPLES, draw_dyads, dyad_arrays, numbered_dyads

KINDS = ["paper", "insertion", "mid"]


def assert_naive_depths(new, dyads, numbers):
    fronts = Fronts.from_dyads(dyads)
    for kind, expected in naive.depths_of_every_kind(new, dyads, numbers).items():
        assert_array_equal(Depths(fronts, kind).of(new), expected, err_msg=kind)


@pytest.mark.parametrize("n_criteria", range(1, 7))
@pytest.mark.parametrize("draw", DRAWS)
def test_depths_equal_the_naive_ones(draw, n_criteria):
    dyads, numbers = numbered_dyads(draw, n_criteria)
    others = [draw_dyads(draw, n_criteria, seed=1, n_dyads=20), draw_dyads("distinct", n_criteria, n_dyads=10)]
    assert_naive_depths(np.concatenate([dyads[::5], *others, np.full((1, n_criteria), np.inf)]), dyads, numbers)


@pytest.mark.parametrize("n_criteria", range(1, 7))
def test_depths_equal_the_naive_ones_on_any_dyads(n_criteria):
    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(n_criteria), dyad_arrays(n_criteria, max_dyads=5), st.sampled_from(KINDS))
    def check(dyads, new, kind):
        new = np.concatenate([dyads[:3], new])
        assert_array_equal(
            Depths(Fronts.from_dyads(dyads), kind).of(new), naive.depths(new, dyads, naive.front_numbers(dyads), kind)
        )

    check()


@pytest.mark.parametrize("n_criteria", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("draw", ["distinct", "tied", "partly tied", "infinite", "correlated", "chain"])
def test_depths_equal_the_naive_ones_with_many_points_and_fronts(draw, n_criteria):
    dyads, new = draw_dyads(draw, n_criteria, n_dyads=2000), draw_dyads(draw, n_criteria, seed=1, n_dyads=50)
    assert_naive_depths(np.concatenate([dyads[:50], new]), dyads, front_numbers(dyads))


@pytest.mark.parametrize("draw", DRAWS)
def test_sweeps_and_lookups_of_two_criteria_agree(draw):
    dyads = draw_dyads(draw, 2, n_dyads=3000)
    new = np.concatenate([dyads[::30], draw_dyads(draw, 2, seed=1, n_dyads=100), [[np.inf, np.inf], [-1.0, -1.0]]])
    new = new[lexicographic_order(new)]
    fronts = Fronts.from_dyads(dyads)
    if len(fronts):
        swept, looked_up = Staircases(fronts, swept_points=np.inf), Staircases(fronts, swept_points=0)
        assert_array_equal(swept.first_dominated(new), looked_up.first_dominated(new))
        assert_array_equal(swept.first_undominated(new), looked_up.first_undominated(new))
        assert_array_equal(swept.both(new), looked_up.both(new))
        in_order = lexicographic_order(fronts.dyads)
        staircases = Staircases(fronts, swept=(fronts.dyads[in_order], fronts.numbers[in_order].astype(np.int32)))
        for _ in range(N_FIRST_SWEPT + 1):
            assert "_envelopes" not in vars(staircases)
            assert_array_equal(staircases.first_dominated(new[:10]), looked_up.first_dominated(new[:10]))
        assert ("_envelopes" in vars(staircases)) == (len(fronts.dyads) > 2000)


def test_sweeps_and_lookups_equal_the_naive_depths_on_any_dyads():
    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(2), dyad_arrays(2, max_dyads=5))
    def check(dyads, new):
        new = np.concatenate([dyads[:3], new])
        new = new[lexicographic_order(new)]
        fronts = Fronts.from_dyads(dyads)
        if len(fronts):
            expected = naive.depths_of_every_kind(new, dyads, naive.front_numbers(dyads))
            for swept_points in (0, np.inf):
                staircases = Staircases(fronts, swept_points=swept_points)
                assert_array_equal(staircases.first_dominated(new), expected["paper"])
                assert_array_equal(staircases.first_undominated(new), expected["insertion"])
                assert_array_equal(staircases.both(new), [expected["paper"], expected["insertion"]])

    check()


def test_depths_that_follow_from_the_definition():
    # Front 1 reaches far to the right, front 2 does not: the dyad lies below front 1 but not below front 2.
    fronts = Fronts.from_dyads([[0, 9], [9, 0], [1, 9]])
    assert len(fronts) == 2
    assert Depths(fronts, "paper").of(np.array([[8.0, 0.0]])) == 1
    # Dyads that dominate nothing lie below all fronts.
    assert Depths(fronts, "paper").of(np.array([[9.0, 9.0], [1.0, 9.0]])).tolist() == [3, 3]


@pytest.mark.parametrize("n_criteria", [2, 4])
def test_insertion_depth_is_never_larger_than_the_papers(n_criteria):
    fronts = Fronts.from_dyads(draw_dyads("partly tied", n_criteria, n_dyads=500))
    new = draw_dyads("partly tied", n_criteria, seed=1, n_dyads=500)
    assert np.all(Depths(fronts, "insertion").of(new) <= Depths(fronts, "paper").of(new))


WAYS = [(1.0, 0), (0.25, 10**6), (0.25, 0), (0.0, 10**6), (0.0, 0)]
"""First shares and efforts: one tree, a tree and comparisons, two trees, of a single level at first."""


def assert_naive_levels(new, dyads, numbers):
    fronts = Fronts.from_dyads(dyads)
    if not len(fronts):
        return
    new = new[lexicographic_order(new)]
    expected = naive.depths(new, dyads, numbers, "paper") - 1
    for first_share, max_effort in WAYS:
        levels = FirstLevels(fronts.dyads, fronts.starts, first_share=first_share, max_effort=max_effort)
        for _ in range(2):
            assert_array_equal(levels.of(new), expected, err_msg=f"{first_share}, {max_effort}")


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("draw", DRAWS)
def test_first_levels_equal_the_naive_ones_whichever_way_they_are_found(draw, n_criteria):
    dyads, numbers = numbered_dyads(draw, n_criteria)
    others = [draw_dyads(draw, n_criteria, seed=1, n_dyads=20), np.full((1, n_criteria), np.inf)]
    assert_naive_levels(np.concatenate([dyads[::5], *others]), dyads, numbers)


@pytest.mark.parametrize("n_criteria", [3, 4])
def test_first_levels_equal_the_naive_ones_on_any_dyads(n_criteria):
    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(n_criteria), dyad_arrays(n_criteria, max_dyads=5))
    def check(dyads, new):
        assert_naive_levels(np.concatenate([dyads[:3], new]), dyads, naive.front_numbers(dyads))

    check()


@pytest.mark.parametrize("max_effort", [10**6, 0])
def test_dyads_that_dominate_only_points_of_the_last_levels_find_them(max_effort):
    fronts = Fronts.from_dyads(np.tile(np.arange(1000.0)[:, None], 3))
    levels = FirstLevels(fronts.dyads, fronts.starts, first_share=0.25, max_effort=max_effort)
    asked = np.tile(np.array([-1, 0, 248.5, 249, 250, 998, 998.5, 999, 2000])[:, None], 3)
    assert_array_equal(levels.of(asked), [0, 1, 249, 250, 251, 999, 999, 1000, 1000])
