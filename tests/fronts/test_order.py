import tracemalloc
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth.fronts.fronts import lexicographic_order
from paretodepth.fronts.numbering import dense_ranks
from tests.draws import DRAWS, IS_SLOW

LAST_BITS = {
    "last bits": lambda rng, n, k: 1 + rng.integers(3, size=(n, k)) * 2.0**-52,
    "some last bits": lambda rng, n, k: rng.integers(2, size=(n, k)) + rng.integers(2, size=(n, k)) * 2.0**-51,
    "extremes": lambda rng, n, k: rng.choice([-np.inf, -1.0, -0.0, 0.0, 5e-324, 1e-310, 1.0, np.inf], size=(n, k)),
}


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("draw", [*DRAWS, *LAST_BITS])
def test_the_order_is_lexicographic_to_the_last_bit_and_stable(draw, n_criteria):
    # A few dyads are sorted in another way than many.
    for seed, n_dyads in product(range(5), (40, 300)):
        dyads = (DRAWS | LAST_BITS)[draw](np.random.default_rng(seed), n_dyads, n_criteria)
        order, case = lexicographic_order(dyads), f"seed {seed}, {n_dyads} dyads"
        assert_array_equal(order, np.lexsort((dyads + 0.0).T[::-1]), err_msg=case)
        assert_array_equal(dyads[order], sorted(dyads.tolist()) or dyads, err_msg=case)


def test_ties_in_hundreds_of_criteria_are_ordered():
    dyads = np.zeros((15, 1500))
    dyads[:, -1] = np.arange(15)[::-1]
    assert_array_equal(lexicographic_order(dyads), np.arange(15)[::-1])


def test_ordering_takes_memory_of_the_dyads_however_many_criteria_are_tied():
    dyads = np.zeros((2_000 if IS_SLOW else 20_000, 60))
    tracemalloc.start()
    try:
        lexicographic_order(dyads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 8 * len(dyads)


@pytest.mark.parametrize("draw", [*DRAWS, *LAST_BITS])
def test_dense_ranks_count_the_smaller_distinct_values(draw):
    values = (DRAWS | LAST_BITS)[draw](np.random.default_rng(0), 40, 2)[:, 0]
    assert_array_equal(dense_ranks(values), [len({other for other in values if other < value}) for value in values])


@pytest.mark.parametrize("n_values", [2, 40, 1500])
def test_tied_dyads_are_ordered_by_one_sort_however_long_their_keys(n_values):
    # Keys of many criteria and values are shortened on the way; those of the last criterion are all distinct.
    rng = np.random.default_rng(0)
    for n_criteria in (2, 5, 12):
        tied = rng.integers(n_values, size=(4000, n_criteria)).astype(float)
        tied[:, 0] = rng.integers(3, size=4000)
        for dyads in (tied, np.column_stack([tied, rng.random(4000)]), np.tile(tied[:500], (8, 1))):
            assert_array_equal(lexicographic_order(dyads), np.lexsort(dyads.T[::-1]))
