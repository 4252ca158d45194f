"""How long a fit will take."""

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth._blocks import watched
from paretodepth.reports.budget import (
    MAX_FIT_SECONDS,
    MAX_SCORE_SECONDS,
    MAX_UNCAPPED,
    MIN_ROWS,
    PILOT_ROWS,
    Estimate,
    drawn_rows,
    estimated,
    max_depth_of,
    planned,
    spoken,
)

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
SLOW = Estimate(n_rows=800, fit_seconds=1.0, fit_power=2.0, score_seconds=1e-4, score_power=1.0)


def table(n_rows, names="ab"):
    rng = np.random.default_rng(0)
    return pa.table({name: rng.random(n_rows) for name in names})


class Clock:
    """A clock that goes on by itself, a step every time it is looked at."""

    def __init__(self, steps):
        self.steps, self.now = iter(steps), 0.0

    def __call__(self):
        self.now += next(self.steps)
        return self.now


def steps(fits, scores):
    """The clock is looked at before and after each fit, and before and after the scores; the first fit warms up."""
    return [step for fit, score in zip([9.0, *fits], [9.0, *scores], strict=True) for step in (0.0, fit, 0.0, score)]


def test_times_grow_with_the_square_of_the_rows_and_of_capped_fits_less():
    assert SLOW.of_fit(1600) == 4
    assert SLOW.of_fit(400) == 0.25
    assert SLOW.of_fit(4 * MAX_UNCAPPED) == pytest.approx(SLOW.of_fit(MAX_UNCAPPED) * 8)
    assert SLOW.of_scores(1600, 1000) == pytest.approx(0.2)


def test_powers_are_those_of_the_last_two_fits_within_bounds():
    found = estimated(
        ParetoDepthDetector(), table(2000), clock=Clock(steps([0.01, 0.05, 0.05 * 2**2.2], [0.1, 0.1, 0.15]))
    )
    assert found.n_rows == PILOT_ROWS[-1]
    assert found.fit_seconds == pytest.approx(0.05 * 2**2.2)
    assert found.fit_power == pytest.approx(2.2)
    assert found.score_seconds == pytest.approx(0.15 / 1000)
    assert found.score_power == pytest.approx(np.log2(1.5))
    bounded = estimated(ParetoDepthDetector(), table(2000), clock=Clock(steps([0.1, 0.1, 0.1], [0.1, 0.1, 9.9])))
    assert (bounded.fit_power, bounded.score_power) == (2.0, 1.2)


def test_no_larger_fit_is_made_when_the_small_ones_take_long():
    found = estimated(ParetoDepthDetector(), table(2000), clock=Clock(steps([1.5], [0.1])))
    assert (found.n_rows, found.fit_power) == (PILOT_ROWS[0], 2.0)


def test_of_small_tables_nothing_is_estimated_and_phases_of_small_fits_are_not_told():
    told = []
    with watched(lambda title, n_done, n_all: told.append(title)):
        assert estimated(ParetoDepthDetector(), table(1000)) is None
        assert told == []
        assert estimated(ParetoDepthDetector(), table(1001)) is not None
    assert set(told) == {"small fits, to tell how long it will take"}


def test_a_table_of_many_criteria_is_estimated_though_it_has_few_rows():
    assert estimated(ParetoDepthDetector(), table(300, "abcde")).n_rows == PILOT_ROWS[0]


def test_a_table_that_cannot_be_fitted_is_left_to_the_fit():
    bad = table(1500).set_column(0, "a", [np.full(1500, np.inf)])
    assert estimated(ParetoDepthDetector(), bad) is None


def test_the_detector_is_not_fitted_by_the_estimate():
    detector = ParetoDepthDetector([Criterion("a", ["a"])])
    estimated(detector, table(1200))
    assert not hasattr(detector, "model_")


@pytest.mark.parametrize("n_scores", [0, 10_000, 3_000_000])
def test_as_many_rows_are_fitted_as_take_the_time_and_no_more(n_scores):
    n_rows = SLOW.rows_within(10**6, n_scores, MAX_FIT_SECONDS, MAX_SCORE_SECONDS)
    assert n_rows == float(f"{n_rows:.1g}")
    # The next round number is at most two and a half times as large.
    is_within = [
        SLOW.of_fit(n) <= MAX_FIT_SECONDS and SLOW.of_scores(n, n_scores) <= MAX_SCORE_SECONDS
        for n in (n_rows, 2.5 * n_rows)
    ]
    assert is_within == [True, False] or (n_rows == MIN_ROWS and is_within == [False, False])
    assert SLOW.rows_within(900, 0, MAX_FIT_SECONDS, MAX_SCORE_SECONDS) == 900


def plan_of(n_rows, n_scores=0, **options):
    return planned(ParetoDepthDetector(), table(n_rows), n_scores, estimate=lambda *given: SLOW, **options)


def test_a_fit_that_takes_too_long_is_made_of_some_rows_and_that_is_said():
    plan = plan_of(20_000)
    assert MIN_ROWS < len(plan.rows) < 5000
    assert np.all(np.diff(plan.rows) > 0)
    assert plan.notice.startswith(
        f"Fitted on {len(plan.rows):,} random rows of 20,000, and all are scored: some 11 s, "
    )
    assert "--exact fits all of them" in plan.notice
    np.testing.assert_array_equal(plan.rows, plan_of(20_000).rows)


def test_a_quick_fit_is_made_of_all_rows_without_a_word():
    assert plan_of(2000) == (None, "")


@pytest.mark.parametrize("option", [{"is_exact": True}, {"may_sample": False}])
def test_a_long_fit_of_all_rows_is_told_beforehand_with_what_would_be_faster(option):
    plan = plan_of(20_000, **option)
    assert plan.rows is None
    assert plan.notice == (
        "This will take some 5 min; for less, fit on fewer rows (--train-rows N), or join columns into fewer criteria."
    )


def test_many_scores_are_told_beforehand_too():
    assert plan_of(2000, 10**6).rows is None
    assert "This will take some 4 min" in plan_of(2000, 10**6).notice


def test_as_many_rows_as_asked_for_are_fitted_and_nothing_is_estimated():
    def fail(*given):
        raise AssertionError

    plan = planned(ParetoDepthDetector(), table(2000), 0, train_rows=300, estimate=fail)
    assert len(plan.rows) == 300
    assert plan.notice == "Fitted on 300 random rows of 2,000, as asked for."
    assert planned(ParetoDepthDetector(), table(200), 0, train_rows=300, estimate=fail) == (None, "")
    assert planned(ParetoDepthDetector(), table(2000), 0, may_estimate=False, estimate=fail) == (None, "")


def test_rows_are_drawn_without_repetition_and_all_of_them_are_none():
    assert len(set(drawn_rows(1000, 400).tolist())) == 400
    assert drawn_rows(400, 400) is None
    assert (max_depth_of(MAX_UNCAPPED), max_depth_of(MAX_UNCAPPED + 1)) == (None, "auto")


def test_times_are_spoken_roughly():
    assert [spoken(s) for s in (0.2, 7, 33, 119, 150, 7300, 10**6)] == [
        "1 s", "7 s", "30 s", "120 s", "2 min", "2 h", "2.8e+02 h",
    ]  # fmt: skip


def test_rows_and_exact_at_once_are_refused():
    with pytest.raises(ValueError, match="Give either --train-rows or --exact"):
        plan_of(2000, train_rows=300, is_exact=True)
