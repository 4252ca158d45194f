from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from paretodepth import Fronts, front_numbers
from paretodepth._kernels.wide_tree import not_larger
from paretodepth.fronts.fronts import number_fronts
from paretodepth.fronts.numbering import MAX_MOVES, number_by_layers, number_distinct, number_few_values
from tests import naive
from tests.draws import DRAWS, IS_SLOW, N_EXAMPLES, SEEDS, draw_dyads, dyad_arrays, numbered_dyads

CRITERIA = (1, 2, 3, 4, 5, 6, 8)


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_front_numbers_equal_the_naive_ones(draw, n_criteria):
    for seed in SEEDS:
        dyads, numbers = numbered_dyads(draw, n_criteria, seed)
        assert_array_equal(front_numbers(dyads), numbers, err_msg=f"seed {seed}")


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 5, 8])
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


N_MANY = 300 if IS_SLOW else 1500
MANY = {
    "tied": lambda rng, k: rng.integers(20, size=(N_MANY, k)).astype(float),
    "distinct": lambda rng, k: rng.random((N_MANY, k)),
    "infinite": lambda rng, k: np.where(rng.random((N_MANY, k)) < 0.2, np.inf, rng.random((N_MANY, k))),
    "one front": lambda rng, k: rng.dirichlet(np.ones(k), N_MANY),
    "alike": lambda rng, k: rng.random((N_MANY, 1)) + 0.1 * rng.random((N_MANY, k)),
    "chain": lambda rng, k: DRAWS["chain"](rng, N_MANY, k),
}


@pytest.mark.parametrize("n_criteria", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("draw", MANY)
def test_many_dyads_satisfy_the_definition(draw, n_criteria):
    # Too many to peel: each front but the first is dominated by the one before it and no front dominates itself.
    dyads = MANY[draw](np.random.default_rng(0), n_criteria)
    numbers = front_numbers(dyads)
    deepest_dominator = np.max(np.where(naive.dominates(dyads[:, None], dyads), numbers[:, None], 0), axis=0)
    assert_array_equal(numbers, deepest_dominator + 1)


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_up_to_a_cap_numbers_are_the_naive_ones_and_beyond_it_larger(draw, n_criteria):
    for seed in SEEDS:
        dyads, numbers = numbered_dyads(draw, n_criteria, seed)
        for max_depth in (1, 2, 7, 100):
            order, _, capped = number_fronts(dyads, None, max_depth=max_depth)
            expected = np.minimum(numbers[order], max_depth + 1)
            assert_array_equal(np.minimum(capped, max_depth + 1), expected, err_msg=f"seed {seed}, cap {max_depth}")


@pytest.mark.parametrize("draw", DRAWS)
def test_four_criteria_have_the_naive_numbers_by_halves_too(draw):
    for seed in SEEDS:
        ordered = np.unique(draw_dyads(draw, 4, seed) + 0.0, axis=0)
        numbers = number_distinct(ordered, None, MAX_MOVES, None, many_dyads=0)
        assert_array_equal(numbers, naive.front_numbers(ordered), err_msg=f"seed {seed}")


@pytest.mark.parametrize("draw", MANY)
def test_halves_and_a_tree_number_many_dyads_alike(draw):
    ordered = np.unique(MANY[draw](np.random.default_rng(0), 4), axis=0)
    by_halves, by_tree = (number_distinct(ordered, None, MAX_MOVES, None, many_dyads=many) for many in (0, N_MANY))
    assert_array_equal(by_halves, by_tree)


@pytest.mark.parametrize("n_criteria", [3, 4, 5])
@pytest.mark.parametrize("draw", MANY)
def test_a_cap_changes_no_number_of_many_dyads_up_to_it(draw, n_criteria):
    dyads = MANY[draw](np.random.default_rng(0), n_criteria)
    _, _, numbers = number_fronts(dyads, None)
    for max_depth in (1, 3, 20):
        for max_moves in (0, MAX_MOVES):
            _, _, capped = number_fronts(dyads, None, max_depth=max_depth, max_moves=max_moves)
            case = f"cap {max_depth}, moves {max_moves}"
            assert_array_equal(np.minimum(capped, max_depth + 1), np.minimum(numbers, max_depth + 1), err_msg=case)


@pytest.mark.parametrize("n_criteria", [5, 8])
def test_front_numbers_of_a_chain_outgrow_short_integers(n_criteria):
    n_dyads = 2000 if IS_SLOW else 70_000
    ranks = np.random.default_rng(0).permutation(n_dyads)
    assert_array_equal(front_numbers(np.tile(ranks[:, None], n_criteria)), ranks + 1)


def test_shortened_front_numbers_change_no_number():
    # Above a chain so long that its numbers are shortened by two bits lie dyads of few fronts.
    rng = np.random.default_rng(0)
    n_below = 500 if IS_SLOW else 66_000
    few = rng.random((300, 5))
    dyads = np.concatenate([np.tile(-1.0 - np.arange(n_below)[:, None], 5), few])
    assert_array_equal(front_numbers(dyads)[n_below:], n_below + naive.front_numbers(few))


@pytest.mark.parametrize("n_criteria", [2, 3])
@pytest.mark.parametrize("draw", ["tied", "equal", "infinite", "signed zero"])
def test_a_grid_of_few_values_gives_the_naive_numbers(draw, n_criteria):
    dyads, numbers = numbered_dyads(draw, n_criteria)
    assert_array_equal(number_few_values(dyads), numbers)


@pytest.mark.parametrize("n_criteria", [2, 3, 4, 6])
def test_a_grid_and_a_sort_number_tied_dyads_alike(n_criteria):
    dyads = np.random.default_rng(0).choice([-np.inf, -0.0, 0.0, 0.3, 0.1 + 0.2, np.inf], (3000, n_criteria))
    by_grid = number_few_values(dyads)
    assert by_grid is not None
    distinct, inverse = np.unique(dyads, axis=0, return_inverse=True)
    assert_array_equal(by_grid, naive.front_numbers(distinct)[inverse.ravel()])


def test_no_grid_is_made_of_distinct_values_or_too_many_cells():
    assert number_few_values(draw_dyads("distinct", 2, n_dyads=2000)) is None
    assert number_few_values(np.random.default_rng(0).integers(10, size=(2000, 6)).astype(float)) is None


LAYERED = {
    "tied": lambda rng, k: rng.integers(4, size=(900, k)),
    "infinite": lambda rng, k: rng.choice([-np.inf, -0.0, 0.0, 0.3, 0.1 + 0.2, np.inf], (900, k)),
    "rounded": lambda rng, k: np.round(rng.exponential(size=(900, k))),
    "one front": lambda rng, k: rng.multinomial(6, np.full(k, 1 / k), 900),
    "a chain and more": lambda rng, k: np.maximum(rng.integers(6, size=(900, 1)), rng.integers(3, size=(900, k))),
    "one value in a criterion": lambda rng, k: np.column_stack((np.ones(900), rng.integers(5, size=(900, k - 1)))),
}


@pytest.mark.parametrize(("draw", "n_criteria"), [*product(LAYERED, [3, 4, 5]), ("tied", 7)])
def test_layers_of_few_values_give_the_naive_numbers(draw, n_criteria):
    # Zeros of both signs are equal, but not to np.unique.
    ordered = np.unique(LAYERED[draw](np.random.default_rng(0), n_criteria) + 0.0, axis=0)
    numbers = number_by_layers(ordered)
    assert numbers is not None
    assert_array_equal(numbers, naive.front_numbers(ordered))


def test_no_layers_are_made_of_distinct_values_too_many_rows_cells_or_fronts():
    rng = np.random.default_rng(0)
    assert number_by_layers(draw_dyads("distinct", 3)) is None
    assert number_by_layers(draw_dyads("empty", 3)) is None
    many_rows = np.unique(rng.integers(8, size=(60, 6)).astype(float), axis=0)
    assert number_by_layers(many_rows) is None
    many_cells = np.unique(np.column_stack((rng.integers(2, size=400), rng.permutation(400), np.arange(400.0))), axis=0)
    assert number_by_layers(many_cells) is None
    for n_values in (20_000, 40_000):
        many_fronts = np.column_stack([grid.ravel() for grid in np.meshgrid([0.0, 1.0], [0.0], np.arange(n_values))])
        numbers = number_by_layers(many_fronts[np.lexsort(many_fronts.T[::-1])])
        if n_values < 2**15:
            assert_array_equal(numbers, np.r_[1 : n_values + 1, 2 : n_values + 2])
        else:
            assert numbers is None


@pytest.mark.parametrize("asked", [-32767, -1, 0, 3, 32767])
def test_what_is_compared_at_once_is_compared_right(asked):
    records = np.random.default_rng(0).integers(-4, 5, (3, 5, 32)).astype(np.int16)
    at_once = numba.njit(lambda records, node, row, asked: not_larger(records, node, row, asked))
    for node, row in product(range(3), range(5)):
        expected = sum(1 << child for child in range(32) if records[node, row, child] <= asked)
        assert not_larger(records, node, row, np.int16(asked)) == expected
        assert at_once(records, node, row, np.int16(asked)) == expected


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
def test_front_numbers_do_not_depend_on_the_order_of_rows_or_criteria_or_an_increasing_transform(n_criteria):
    rng = np.random.default_rng(0)
    dyads = draw_dyads("partly tied", n_criteria)
    rows, columns = rng.permutation(len(dyads)), rng.permutation(n_criteria)
    assert_array_equal(front_numbers(dyads[rows][:, columns]), front_numbers(dyads)[rows])
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
