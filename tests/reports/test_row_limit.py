"""Which rows of a table are fitted."""

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.row_limit import MAX_UNCAPPED, choose_rows, max_depth_of, random_rows


def numbers(n_rows, n_columns):
    return pa.table({f"x{column}": np.arange(n_rows) for column in range(n_columns)})


def n_chosen(detector, table, n_scores=None):
    rows = choose_rows(detector, table, len(table) if n_scores is None else n_scores)
    return len(table) if rows is None else len(rows)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_fitted"),
    [
        (5000, 1, 5000), (5000, 4, 5000), (20_000, 4, 5000), (4472, 5, 4472), (4473, 5, 4400), (20_000, 8, 3500),
        (100_000, 10, 2500), (10_000, 16, 2500), (10_000, 30, 1800), (1_000_000, 5, 500), (500, 64, 500),
        (2000, 64, 1200), (100_000, 64, 500),
    ],
)  # fmt: skip
def test_rows_follow_from_rows_and_criteria(n_rows, n_columns, n_fitted):
    assert n_chosen(ParetoDepthDetector(method="blend"), numbers(n_rows, n_columns)) == n_fitted


def test_new_samples_count_only_if_not_all_rows_are_fitted():
    assert n_chosen(ParetoDepthDetector(method="blend"), numbers(5000, 4), 10**7) == 5000
    assert n_chosen(ParetoDepthDetector(method="blend"), numbers(5001, 4), 10**7) == 500
    assert n_chosen(ParetoDepthDetector(method="blend"), numbers(5001, 4), 0) == 5000


def test_the_method_depth_counts_twice():
    assert n_chosen(ParetoDepthDetector(method="depth"), numbers(20_000, 2)) == 5000
    assert n_chosen(ParetoDepthDetector(method="depth"), numbers(20_000, 4)) == 3500


@pytest.mark.parametrize(
    ("metric", "value", "n_fitted"),
    [
        ("levenshtein", "x" * 20, 5000),
        ("levenshtein", "x" * 150, 3100),
        ("token_set", "x" * 2500, 500),
        ("dtw", [1.0] * 50, 1900),
        ("dtw", [1.0] * 300, 500),
        ("frechet", [[0.0, 0.0]] * 20, 4400),
        ("shape", [[0.0, 0.0]] * 300, 5000),
        ("levenshtein", None, 5000),
    ],
)
def test_long_texts_and_series_count_more(metric, value, n_fitted):
    table = pa.table({"a": pa.array([value] * 6000, pa.string() if value is None else None)})
    assert n_chosen(ParetoDepthDetector([Criterion("a", "a", metric)], method="blend"), table) == n_fitted


def test_a_series_in_columns_is_as_long_as_they_are_many():
    detector = ParetoDepthDetector([Criterion("a", [f"x{column}" for column in range(50)], "dtw")], method="blend")
    assert n_chosen(detector, numbers(6000, 50)) == 1900


def test_rows_are_random_without_repetition_and_always_the_same():
    rows = choose_rows(ParetoDepthDetector(), numbers(6000, 1), 6000)
    assert len(set(rows.tolist())) == 5000
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(rows, random_rows(6000, 5000))
    assert random_rows(400, 400) is None


def test_all_fronts_of_up_to_some_rows_are_kept():
    assert (max_depth_of(MAX_UNCAPPED), max_depth_of(MAX_UNCAPPED + 1)) == (None, "auto")
