import tracemalloc
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth import Fronts, front_numbers
from paretodepth.fronts.order import lexicographic_order
from tests import naive
from tests.draws import DRAWS, N_EXAMPLES, SEEDS, assert_same_fronts, draw_dyads, dyad_arrays, numbered_dyads

CRITERIA = range(1, 7)


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_front_numbers_equal_the_naive_ones(draw, n_criteria):
    for seed in SEEDS:
        dyads, numbers = numbered_dyads(draw, n_criteria, seed)
        assert_array_equal(front_numbers(dyads), numbers, err_msg=f"seed {seed}")


LAST_BITS = {
    "last bits": lambda rng, n, k: 1 + rng.integers(3, size=(n, k)) * 2.0**-52,
    "some last bits": lambda rng, n, k: rng.integers(2, size=(n, k)) + rng.integers(2, size=(n, k)) * 2.0**-51,
    "extremes": lambda rng, n, k: rng.choice([-np.inf, -1.0, -0.0, 0.0, 5e-324, 1e-310, 1.0, np.inf], size=(n, k)),
}


@pytest.mark.parametrize("draw", [*DRAWS, *LAST_BITS])
def test_dyads_are_put_in_lexicographic_order_to_the_last_bit(draw):
    for n_criteria, seed in product((1, 2, 4), range(20)):
        dyads = (DRAWS | LAST_BITS)[draw](np.random.default_rng(seed), 40, n_criteria)
        order = lexicographic_order(dyads)
        case = f"{n_criteria} criteria, seed {seed}"
        assert_array_equal(dyads[order], sorted(dyads.tolist()) or dyads, err_msg=case)
        assert_array_equal(np.sort(order), np.arange(len(dyads)), err_msg=case)


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("draw", [*DRAWS, *LAST_BITS])
def test_equal_dyads_stay_in_the_order_they_came(draw, n_criteria):
    for seed in range(20):
        dyads = (DRAWS | LAST_BITS)[draw](np.random.default_rng(seed), 40, n_criteria)
        assert_array_equal(lexicographic_order(dyads), np.lexsort((dyads + 0.0).T[::-1]))


def test_ties_in_hundreds_of_criteria_are_ordered():
    dyads = np.zeros((15, 1500))
    dyads[:, -1] = np.arange(15)[::-1]
    assert_array_equal(lexicographic_order(dyads), np.arange(15)[::-1])


def test_ordering_takes_memory_of_the_dyads_however_many_criteria_are_tied():
    dyads = np.zeros((20_000, 60))
    tracemalloc.start()
    try:
        lexicographic_order(dyads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 8 * len(dyads)


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


@pytest.mark.parametrize("n_criteria", [1, 2, 3])
def test_any_array_gives_the_answer_of_its_plain_copy(n_criteria, tmp_path):
    whole = np.random.default_rng(0).integers(9, size=(50, 2 * n_criteria))
    dyads = whole[:, ::2]
    expected = front_numbers(dyads.astype(float, order="C"))
    mapped = np.memmap(tmp_path / "dyads", dtype=float, mode="w+", shape=dyads.shape)
    mapped[:] = dyads
    read_only = dyads.astype(float)
    read_only.flags.writeable = False
    for variant in (dyads, dyads.tolist(), dyads.astype(np.float32), np.asfortranarray(dyads), read_only, mapped):
        assert_array_equal(front_numbers(variant), expected)
    assert_array_equal(read_only, dyads)


@pytest.mark.parametrize("draw", DRAWS)
def test_fronts_hold_every_dyad_on_its_front_in_order(draw):
    for n_criteria in CRITERIA:
        dyads, numbers = numbered_dyads(draw, n_criteria)
        fronts = Fronts.from_dyads(dyads)
        case = f"{n_criteria} criteria"
        assert len(fronts) == max(numbers, default=0), case
        assert_array_equal(fronts.numbers, np.sort(numbers), err_msg=case)
        for number in range(1, len(fronts) + 1):
            expected = sorted(map(tuple, dyads[numbers == number]))
            assert_array_equal(fronts.front(number), np.array(expected), err_msg=f"{case}, front {number}")


@pytest.mark.parametrize("draw", DRAWS)
def test_merged_fronts_are_the_fronts_of_the_union(draw):
    # Any order and grouping of two criteria is drawn by the machine of test_properties.
    for n_criteria, max_depth in product(CRITERIA, (None, 1, 3)):
        dyads = draw_dyads(draw, n_criteria)
        a, b, c = (Fronts.from_dyads(part, max_depth=max_depth) for part in np.array_split(dyads, 3))
        whole = Fronts.from_dyads(dyads, max_depth=max_depth)
        assert whole.max_depth == max_depth
        for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
            assert_same_fronts(merged, whole, f"{n_criteria} criteria, cap {max_depth}")


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(dyad_arrays(3), st.integers(1, 4))
def test_a_cap_keeps_the_first_fronts_and_equal_dyads_once(dyads, max_depth):
    capped, whole = Fronts.from_dyads(dyads, max_depth=max_depth), Fronts.from_dyads(np.unique(dyads, axis=0))
    assert_array_equal(capped.dyads, whole.dyads[whole.numbers <= max_depth])
    assert_array_equal(capped.numbers, whole.numbers[whole.numbers <= max_depth])


def test_merging_keeps_the_smaller_cap():
    dyads = draw_dyads("distinct", 2)
    merged = Fronts.from_dyads(dyads[:30], max_depth=2).merge(Fronts.from_dyads(dyads[30:]))
    assert merged.max_depth == len(merged) == 2


@pytest.mark.parametrize("n_criteria", [2, 3, 4, 5, 6])
def test_threads_change_no_number_and_no_setting_of_the_caller(n_criteria):
    dyads = draw_dyads("partly tied", n_criteria, n_dyads=1500)
    n_threads = numba.get_num_threads()
    assert_array_equal(front_numbers(dyads, n_jobs=2), front_numbers(dyads))
    assert_array_equal(Fronts.from_dyads(dyads, n_jobs=2).dyads, Fronts.from_dyads(dyads).dyads)
    assert numba.get_num_threads() == n_threads


@pytest.mark.parametrize("n_criteria", [3, 4])
def test_sets_with_long_staircases_are_sorted_by_the_tree(n_criteria, monkeypatch):
    rng = np.random.default_rng(0)
    falling = rng.permutation(700).astype(float)
    dyads = np.column_stack([np.arange(700.0), falling, -falling, falling][:n_criteria])
    expected = front_numbers(dyads)
    monkeypatch.setattr("paretodepth.fronts.numbering.MAX_MOVES", 1)
    assert_array_equal(front_numbers(dyads), expected)
    random = rng.random((700, n_criteria))
    numbers = front_numbers(random)
    monkeypatch.undo()
    assert_array_equal(front_numbers(random), numbers)
