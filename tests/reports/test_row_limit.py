"""The number of rows that are fitted follows from the table alone."""

import time

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.row_limit import MAX_UNCAPPED, choose_rows, max_depth_of, random_rows


def table(n_rows, names="ab"):
    rng = np.random.default_rng(0)
    return pa.table({name: rng.random(n_rows) for name in names})


def chosen(n_rows, names="ab", n_scores=0, **options):
    rows = choose_rows(ParetoDepthDetector(method="blend"), table(n_rows, names), n_scores, **options)
    return n_rows if rows is None else len(rows)


@pytest.mark.parametrize(
    ("n_rows", "n_criteria", "n_scores", "n_fitted"),
    [
        (5000, 4, 0, 5000),
        (5001, 4, 0, 5000),
        (20_000, 16, 0, 2500),
        (20_000, 26, 0, 1900),
        (20_000, 5, 100_000, 4400),
        (20_000, 5, 10**6, 500),
        (400, 26, 10**7, 400),
    ],
)
def test_rows_follow_from_the_numbers_of_rows_criteria_and_scores(n_rows, n_criteria, n_scores, n_fitted):
    assert chosen(n_rows, "abcdefghijklmnopqrstuvwxyz"[:n_criteria], n_scores) == n_fitted


def test_a_slow_clock_changes_no_row(monkeypatch):
    ticks = iter(range(0, 10**9, 1000))
    fast = choose_rows(ParetoDepthDetector(), table(20_000), 20_000)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    np.testing.assert_array_equal(choose_rows(ParetoDepthDetector(), table(20_000), 20_000), fast)


def test_the_paper_s_method_is_fitted_on_fewer_rows():
    assert len(choose_rows(ParetoDepthDetector(), table(20_000, "abcd"), 0)) == 3500


@pytest.mark.parametrize(("length", "n_fitted"), [(10, 5000), (200, 2400), (1000, 500)])
def test_long_texts_are_fitted_on_fewer_rows(length, n_fitted):
    texts = pa.table({"text": ["x" * length] * 6000})
    detector = ParetoDepthDetector([Criterion("text", "text", "levenshtein")], method="blend")
    assert len(choose_rows(detector, texts, 0)) == n_fitted


def test_as_many_rows_as_asked_for_are_fitted():
    assert chosen(20_000, train_rows=300) == 300
    assert chosen(200, train_rows=300) == 200
    assert chosen(20_000, is_exact=True) == 20_000
    with pytest.raises(ValueError, match="Give either --train-rows or --exact"):
        chosen(2000, train_rows=300, is_exact=True)


def test_random_rows_rise_and_are_always_the_same():
    rows = random_rows(1000, 400)
    assert len(rows) == 400
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(rows, random_rows(1000, 400))
    assert (max_depth_of(MAX_UNCAPPED), max_depth_of(MAX_UNCAPPED + 1)) == (None, "auto")
