from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth import Fronts, front_numbers
from tests.draws import DRAWS, N_EXAMPLES, assert_same_fronts, draw_dyads, dyad_arrays, numbered_dyads

CRITERIA = range(1, 7)


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
