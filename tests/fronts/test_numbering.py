import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from paretodepth import Fronts, front_numbers
from paretodepth.fronts.fronts import number_fronts
from tests import naive
from tests.draws import DRAWS, N_EXAMPLES, SEEDS, draw_dyads, dyad_arrays, numbered_dyads

CRITERIA = range(1, 7)


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_front_numbers_equal_the_naive_ones(draw, n_criteria):
    for seed in SEEDS:
        dyads, numbers = numbered_dyads(draw, n_criteria, seed)
        assert_array_equal(front_numbers(dyads), numbers, err_msg=f"seed {seed}")


@pytest.mark.parametrize("n_criteria", CRITERIA)
def test_front_numbers_equal_the_naive_ones_on_any_dyads(n_criteria):
    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(n_criteria))
    def check(dyads):
        assert_array_equal(front_numbers(dyads), naive.front_numbers(dyads))

    check()


@pytest.mark.parametrize("draw", DRAWS)
def test_debs_sort_gives_the_same_fronts(draw):
    for n_criteria in CRITERIA:
        dyads = draw_dyads(draw, n_criteria)
        case = f"{n_criteria} criteria"
        assert_array_equal(front_numbers(dyads), naive.deb_front_numbers(dyads), err_msg=case)


def test_algorithm_2_of_the_paper_is_right_on_distinct_values():
    dyads = draw_dyads("distinct", 2)
    assert_array_equal(naive.algorithm_2_front_numbers(dyads), front_numbers(dyads))


@pytest.mark.parametrize("dyads", [[(1, 2), (1, 1)], [(1, 1), (2, 1)]])
def test_algorithm_2_of_the_paper_is_wrong_under_ties(dyads):
    assert_array_equal(naive.algorithm_2_front_numbers(dyads), [1, 1])
    assert sorted(front_numbers(dyads)) == [1, 2]


@pytest.mark.parametrize("n_criteria", [2, 3, 4])
def test_many_dyads_satisfy_the_definition(n_criteria):
    # Too many to peel: each front but the first is dominated by the one before it and no front dominates itself.
    dyads = np.random.default_rng(0).integers(20, size=(1500, n_criteria)).astype(float)
    numbers = front_numbers(dyads)
    smaller = np.all(dyads[:, None] <= dyads, axis=2) & np.any(dyads[:, None] < dyads, axis=2)
    deepest_dominator = np.max(np.where(smaller, numbers[:, None], 0), axis=0)
    assert_array_equal(numbers, deepest_dominator + 1)


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
def test_front_numbers_do_not_depend_on_the_order_of_rows_or_criteria(n_criteria):
    rng = np.random.default_rng(0)
    dyads = draw_dyads("partly tied", n_criteria)
    rows, columns = rng.permutation(len(dyads)), rng.permutation(n_criteria)
    assert_array_equal(front_numbers(dyads[rows][:, columns]), front_numbers(dyads)[rows])


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
def test_front_numbers_survive_an_increasing_transform(n_criteria):
    dyads = draw_dyads("partly tied", n_criteria)
    assert_array_equal(front_numbers(np.exp(3 * dyads)), front_numbers(dyads))


@pytest.mark.parametrize("n_criteria", [2, 3, 4, 5, 6])
def test_threads_change_no_number_and_no_setting_of_the_caller(n_criteria):
    dyads = draw_dyads("partly tied", n_criteria, n_dyads=1500)
    n_threads = numba.get_num_threads()
    assert_array_equal(front_numbers(dyads, n_jobs=2), front_numbers(dyads))
    assert_array_equal(Fronts.from_dyads(dyads, n_jobs=2).dyads, Fronts.from_dyads(dyads).dyads)
    assert numba.get_num_threads() == n_threads


@pytest.mark.parametrize("n_criteria", [3, 4])
def test_sets_with_long_staircases_are_sorted_by_the_tree(n_criteria):
    rng = np.random.default_rng(0)
    falling = rng.permutation(700).astype(float)
    long = np.column_stack([np.arange(700.0), falling, -falling, falling][:n_criteria])
    for dyads in (long, rng.random((700, n_criteria))):
        _, _, numbers = number_fronts(dyads, None)
        _, _, by_tree = number_fronts(dyads, None, max_moves=0)
        assert_array_equal(by_tree, numbers)
