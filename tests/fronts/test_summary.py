import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth import Fronts
from paretodepth.fronts import FrontSummary
from paretodepth.fronts.dominance_filter import SummarySizes
from paretodepth.fronts.summary import last_front
from tests.draws import DRAWS, IS_SLOW, N_EXAMPLES, assert_same_fronts, draw_dyads, dyad_arrays, numbered_dyads

CRITERIA = range(1, 6)
FEW = SummarySizes(n_stairs=8, n_cells=4**4, n_points=4, n_candidates=8)
BATCHES = {n_dyads: FEW._replace(batch_values=3 * n_dyads) for n_dyads in (1, 7, 2**23)}
"""Batches of a few dyads and of all, with few points and cells."""


def summarized(dyads, max_depth, block_size, **parameters):
    summary = FrontSummary(max_depth, dyads.shape[1], **parameters)
    for start in range(0, len(dyads), block_size):
        summary.add(dyads[start : start + block_size])
    return summary.fronts()


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_a_summary_keeps_the_naive_fronts_up_to_the_cap(draw, n_criteria):
    dyads, numbers = numbered_dyads(draw, n_criteria)
    n_fronts = max(numbers, default=0)
    expected = [sorted(set(map(tuple, dyads[numbers == number]))) for number in range(1, n_fronts + 1)]
    for batch, sizes in BATCHES.items():
        for max_depth in (1, 2, 5, 100):
            case = f"batch {batch}, cap {max_depth}"
            fronts = summarized(dyads, max_depth, 5, sizes=sizes)
            assert len(fronts) == min(max_depth, n_fronts), case
            for number in range(1, len(fronts) + 1):
                assert_array_equal(fronts.front(number), expected[number - 1], err_msg=f"{case}, front {number}")


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_blocks_of_every_size_in_any_order_give_the_fronts_of_the_whole(draw, n_criteria):
    dyads = draw_dyads(draw, n_criteria)
    expected = Fronts.from_dyads(dyads, max_depth=3)
    rng = np.random.default_rng(0)
    for batch, sizes in BATCHES.items():
        for block_size in range(1, len(dyads) + 1, 13 if IS_SLOW else 1):
            case = f"batch {batch}, blocks of {block_size}"
            for any_order in (dyads, dyads[rng.permutation(len(dyads))]):
                assert_same_fronts(summarized(any_order, 3, block_size, sizes=sizes), expected, case)


@pytest.mark.parametrize("n_criteria", CRITERIA)
def test_any_dyads_give_the_fronts_of_the_whole(n_criteria):
    # A table of the usual size takes longer to make than all else.
    sizes = SummarySizes(batch_values=9, n_cells=4**4)

    @settings(max_examples=N_EXAMPLES, deadline=None)
    @given(dyad_arrays(n_criteria), st.integers(1, 4), st.integers(1, 5))
    def check(dyads, max_depth, block_size):
        expected = Fronts.from_dyads(dyads, max_depth=max_depth)
        assert_same_fronts(summarized(dyads, max_depth, block_size, sizes=sizes), expected)

    check()


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", ["distinct", "tied", "signed zero", "partly tied"])
def test_points_of_front_l_given_beforehand_change_nothing(draw, n_criteria):
    dyads = draw_dyads(draw, n_criteria, n_dyads=300)
    expected = Fronts.from_dyads(dyads, max_depth=2)
    for batch, sizes in BATCHES.items():
        fronts = summarized(dyads, 2, 20, beyond=last_front(expected), alike=dyads, sizes=sizes)
        assert_same_fronts(fronts, expected, f"batch {batch}")


@pytest.mark.parametrize("n_criteria", CRITERIA)
def test_dyads_beyond_front_l_do_not_pile_up(n_criteria):
    dyads = np.random.default_rng(0).random((4000, n_criteria)) + 1.0
    summary = FrontSummary(1, n_criteria, sizes=SummarySizes(batch_values=600))
    summary.add(np.vstack((np.full((1, n_criteria), 0.5), dyads[:200])))
    for block in np.array_split(dyads, 40):
        summary.add(block)
        assert summary.n_waiting == 0
    assert_array_equal(summary.fronts().dyads, np.full((1, n_criteria), 0.5))


@pytest.mark.parametrize("n_criteria", [1, 2, 3])
def test_of_a_triangle_only_the_dyads_above_the_diagonal_count(n_criteria):
    block = np.random.default_rng(0).random((n_criteria, 4, 9))
    rows, columns = np.nonzero(np.arange(9) > np.arange(4)[:, None])
    summary = FrontSummary(3, n_criteria)
    summary.add_block(block, is_triangle=True)
    assert_same_fronts(summary.fronts(), Fronts.from_dyads(block[:, rows, columns].T, max_depth=3))


@pytest.mark.parametrize("n_criteria", CRITERIA)
@pytest.mark.parametrize("draw", DRAWS)
def test_joined_summaries_have_the_fronts_of_all_dyads(draw, n_criteria):
    dyads = draw_dyads(draw, n_criteria)
    for batch, sizes in BATCHES.items():
        first, second, third = (FrontSummary(3, n_criteria, sizes=sizes) for _ in range(3))
        for summary, part in zip((first, second, second, third), np.array_split(dyads, 4), strict=True):
            summary.add(part)
        first.add_summary(pickle.loads(pickle.dumps(second)))
        first.add_summary(third)
        expected = Fronts.from_dyads(dyads, max_depth=3)
        assert_same_fronts(first.fronts(), expected, f"batch {batch}")
        assert_same_fronts(
            second.fronts(),
            Fronts.from_dyads(np.array_split(dyads, 4)[1], max_depth=3).merge(
                Fronts.from_dyads(np.array_split(dyads, 4)[2], max_depth=3)
            ),
            f"batch {batch}, unchanged",
        )


def test_a_summary_can_be_asked_in_between():
    dyads = draw_dyads("partly tied", 2)
    summary = FrontSummary(4, 2)
    for stop in range(1, len(dyads) + 1):
        summary.add(dyads[stop - 1 : stop])
        assert_same_fronts(summary.fronts(), Fronts.from_dyads(dyads[:stop], max_depth=4))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"'max_depth' parameter of FrontSummary must be an integer of at least 1"):
        FrontSummary(0, 2)
    with pytest.raises(ValueError, match=r"'dyads' parameter of FrontSummary\.add must hold no NaN"):
        FrontSummary(1, 2).add([[np.nan, 1.0]])
