import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from paretodepth import Fronts
from paretodepth.fronts.depth_index import FirstLevels
from paretodepth.fronts.fronts import lexicographic_order
from tests import naive
from tests.draws import DRAWS, N_EXAMPLES, draw_dyads, dyad_arrays, numbered_dyads

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
