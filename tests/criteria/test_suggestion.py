"""Criteria that a table suggests: what each column is, which go together, which stay if there are too many."""

import sys
from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.criteria.encoding import read_columns
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.suggestion import column_criteria, suggest_criteria
from tests.criteria.metric_draws import is_installed

HAS_TEXT = is_installed(METRICS["levenshtein"])
N = 200
RNG = np.random.default_rng(0)
WORDS = ("red", "green", "apple", "pear", "box", "crate", "late", "early", "ripe", "old")
START = datetime(2024, 3, 1)


def kind_of(name, values):
    (column,) = suggest_criteria({name: values}).columns
    return column.kind


def texts(n=N, n_words=5):
    rng = np.random.default_rng(n_words)
    return [" ".join(rng.choice(WORDS, n_words)) for _ in range(n)]


def moments(n=N, *, hours=24, is_sorted=False):
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 200, n) * 86_400 + rng.integers(0, max(1, hours * 3600), n)
    return [START + timedelta(seconds=int(second)) for second in (np.sort(seconds) if is_sorted else seconds)]


KINDS = {
    "numbers": ("size", RNG.normal(size=N), "number"),
    "whole numbers": ("rooms", RNG.integers(1, 9, N), "number"),
    "numbers around zero, skewed": ("change", RNG.lognormal(0, 1, N) - 1, "number"),
    "few far numbers": ("size", np.concatenate([RNG.normal(10, 1, N - 3), [100, 200, 300]]), "number"),
    "amounts": ("price", RNG.lognormal(3, 1, N), "amount"),
    "whole amounts": ("people", RNG.lognormal(8, 2, N).astype(int), "amount"),
    "amounts of one size": ("acid", RNG.lognormal(1, 0.4, N), "number"),
    "evenly spread": ("length", RNG.uniform(1, 9, N), "number"),
    "huge integers": ("size", [10**300 + int(value) for value in RNG.integers(9, size=N)], "constant"),
    "too huge for floats": ("size", [10**400] * N, "empty"),
    "numbers and infinity": ("size", np.where(RNG.random(N) < 0.1, np.inf, RNG.normal(size=N)), "number"),
    "strings that recur": ("shop", RNG.choice(["North", "South", "East"], N), "category"),
    "long strings that recur": ("shop", RNG.choice(["Miller and Sons", "The Old Corner Shop", "x"], N), "category"),
    "numbers that name, by name": ("ZipCode", RNG.choice([22081, 22085, 10115], N), "category"),
    "numbers of customers": ("customer_id", RNG.integers(1000, 1030, N), "category"),
    "booleans": ("paid", RNG.random(N) < 0.5, "flag"),
    "booleans with a gap": ("paid", [None, *[True, False] * 10], "flag"),
    "yes and no": ("paid", RNG.choice(["yes", "no"], N), "flag"),
    "zero and one": ("paid", RNG.integers(2, size=N), "flag"),
    "text": ("note", texts(), "text"),
    "timestamps": ("when", moments(), "time"),
    "dates": ("day", [moment.date() for moment in moments()], "time"),
    "times of day": ("at", [moment.time() for moment in moments()], "time"),
    "row numbers": ("nr", np.arange(N) + 17, "id"),
    "shuffled row numbers": ("x", RNG.permutation(N), "id"),
    "numbers that count on with gaps": ("x", np.cumsum(RNG.integers(1, 9, N)), "id"),
    "falling numbers": ("x", -np.cumsum(RNG.integers(1, 9, N)), "id"),
    "random account numbers": ("account", RNG.integers(10**9, 10**10, N), "id"),
    "random numbers named so": ("AccountID", RNG.integers(10**4, 10**5, N), "id"),
    "unique words": ("code", [f"inv-{value}" for value in RNG.permutation(N)], "id"),
    "one number": ("size", np.full(N, 3.0), "constant"),
    "one number and gaps": ("size", np.where(RNG.random(N) < 0.5, np.nan, 3.0), "constant"),
    "one word": ("shop", ["North"] * N, "constant"),
    "one moment": ("when", [START] * N, "constant"),
    "label": ("label", RNG.integers(2, size=N), "label"),
    "class": ("Class", RNG.choice(["nominal", "anomaly"], N), "label"),
    "y": ("y", RNG.random(N) < 0.1, "label"),
    "is_fraud": ("is_fraud", RNG.integers(2, size=N), "label"),
    "isFraud": ("isFraud", RNG.integers(2, size=N), "label"),
    "outlier": ("outlier?", RNG.integers(2, size=N), "label"),
    "a class of many": ("class", RNG.integers(5, size=N), "number"),
    "first class": ("first_class", RNG.integers(2, size=N), "flag"),
    "nothing but None": ("size", [None] * N, "empty"),
    "nothing but NaN": ("size", np.full(N, np.nan), "empty"),
    "no time at all": ("when", np.full(N, "NaT", dtype="datetime64[s]"), "empty"),
    "series": ("curve", [RNG.normal(size=8) for _ in range(N)], "series"),
    "series of unequal lengths": ("curve", [RNG.normal(size=RNG.integers(3, 8)) for _ in range(N)], "series"),
    "series with a gap": ("curve", [[1.0, 2.0], [np.nan, 2.0], [3.0, 4.0, 5.0]], "other"),
    "trajectories": ("way", [RNG.normal(size=(RNG.integers(3, 6), 2)) for _ in range(N)], "trajectory"),
    "points that go back in time": ("way", [[[0, 0, 1], [1, 1, 0]], [[0, 0, 1], [1, 1, 0], [2, 2, 2]]], "other"),
    "sets of names": ("tags", [list(RNG.choice(WORDS, RNG.integers(1, 4), False)) for _ in range(N)], "set"),
    "durations": ("took", np.arange(N).astype("timedelta64[s]"), "other"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_column_is_taken_for_what_it_is(name):
    column, values, kind = KINDS[name]
    assert kind_of(column, values) == kind


def test_a_zip_code_is_a_category_by_its_name_only():
    rng = np.random.default_rng(0)
    codes = rng.choice([22081, 22085, 10115, 30331], N)
    assert kind_of("plz", codes) == "category"
    # Nobody can know, from the digits alone.
    assert kind_of("x", codes) == "number"
    # To compare codes of which nearly every row has another one says nothing.
    assert kind_of("postcode", rng.integers(10_000, 99_999, N)) == "id"


def test_what_is_known_to_be_an_id_or_a_label_is_left_out():
    rng = np.random.default_rng(0)
    table = {"who": rng.normal(size=N), "state": rng.integers(5, size=N), "size": rng.normal(size=N)}
    suggestion = suggest_criteria(table, id_column="who", label="state")
    assert [column.kind for column in suggestion.columns] == ["id", "label", "number"]
    assert [criterion.columns for criterion in suggestion.criteria] == [["size"]]


def table_of_everything(n=N):
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    return {
        "nr": np.arange(n),
        "size": size,
        "width": size + 0.01 * rng.normal(size=n),
        "weight": rng.normal(size=n),
        "price": rng.lognormal(3, 1, n),
        "shop": rng.choice(["North", "South", "East"], n).tolist(),
        "paid": rng.choice(["yes", "no"], n).tolist(),
        "note": texts(n),
        "when": np.array(moments(n), dtype="datetime64[ms]"),
    }


def by_name(suggestion):
    return {criterion.name: (criterion.metric, criterion.params) for criterion in suggestion.criteria}


def test_what_costs_least_goes_first_if_there_are_too_many():
    rng = np.random.default_rng(0)
    table = table_of_everything()
    del table["note"]
    table["curve"] = rng.normal(size=(N, 6))
    table["when"] = table["when"][np.isin(table["when"].astype("datetime64[D]").astype(int) % 7, range(5))]
    table = {name: column[: len(table["when"])] for name, column in table.items()}
    everything = [
        "size + width", "weight", "price", "shop + paid",
        "when (time of day)", "when (weekday)", "when (date)", "curve",
    ]  # fmt: skip
    assert list(by_name(suggest_criteria(table, 8))) == everything
    assert list(by_name(suggest_criteria(table, 20))) == everything
    seven = list(by_name(suggest_criteria(table, 7)))
    assert len(seven) == 7
    assert seven[-5:] == everything[-5:]
    one_group = ["size … price", *everything[3:]]
    assert list(by_name(suggest_criteria(table, 6))) == one_group
    without = [*one_group]
    for n, gone in ((5, "when (weekday)"), (4, "when (date)")):
        without.remove(gone)
        assert list(by_name(suggest_criteria(table, n))) == without
    assert list(by_name(suggest_criteria(table, 3))) == ["size … paid", "when (time of day)", "curve"]
    assert list(by_name(suggest_criteria(table, 2))) == ["size … paid", "curve"]
    last = suggest_criteria(table, 1)
    assert by_name(last) == {"size … paid": ("scaled", {"ratio": ["price"]})}
    assert "no room for it among 1 criteria" in dict((c.name, c.reason) for c in last.columns)["curve"]


def test_of_texts_the_shortest_go_first():
    suggestion = suggest_criteria({"short": texts(n_words=3), "long": texts(n_words=9)}, 1)
    if HAS_TEXT:
        assert by_name(suggestion) == {"long": ("levenshtein", {"normalized": True})}
        assert suggestion.columns[0].reason == "free text of 3 words or so; no room for it among 1 criteria"
    else:
        assert not suggestion.criteria
        assert all("needs pip install" in column.reason for column in suggestion.columns)


@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
def test_every_column_is_used_or_told_why_not_and_the_criteria_work():
    table = table_of_everything()
    suggestion = suggest_criteria(table)
    assert [column.name for column in suggestion.columns] == list(table)
    assert all(column.reason for column in suggestion.columns)
    read = {name for criterion in suggestion.criteria for name in np.atleast_1d(criterion.columns)}
    assert read == {column.name for column in suggestion.columns if column.criteria}
    assert len(suggestion.criteria) <= 6
    detector = ParetoDepthDetector(suggestion.criteria, method="blend").fit(table)
    odd = {name: column[:3] for name, column in table.items()} | {"price": np.array([0.0, -5.0, 1e7])}
    assert detector.p_values(odd)[2] < 0.02


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": lambda table: pa.table(table),
    "dict": lambda table: table,
}


def test_all_frames_suggest_the_same():
    table = table_of_everything()
    expected = suggest_criteria(table)
    for frame in FRAMES.values():
        assert suggest_criteria(frame(table)) == expected


def test_columns_of_an_array_are_named_by_their_numbers():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    suggestion = suggest_criteria(np.column_stack([rng.lognormal(3, 1, N), np.ones(N), size, -size]))
    assert suggestion.criteria == [Criterion("x0", [0], "scaled", ratio=[0]), Criterion("x2 + x3", [2, 3], "scaled")]
    assert [column.kind for column in suggestion.columns] == ["amount", "constant", "number", "number"]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_rows_are_no_reason_to_stop(n):
    table = {name: column[:n] for name, column in table_of_everything().items()}
    suggestion = suggest_criteria(table)
    assert len(suggestion.columns) == len(table)
    assert suggest_criteria(np.empty((n, 2))).columns[0].name == "x0"


def test_a_column_of_nearly_equal_values_makes_no_criterion_of_its_own():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    table = {"size": size, "weight": rng.normal(size=N), "rare": (size > np.sort(size)[-9]).astype(int)}
    assert list(by_name(suggest_criteria(table))) == ["size + rare", "weight"]
    with_shop = table | {"shop": rng.choice(["North", "South"], N).tolist()}
    assert list(by_name(suggest_criteria(with_shop))) == ["size", "weight", "rare + shop"]
    assert list(by_name(suggest_criteria({"rare": table["rare"]}))) == ["rare"]


def test_times_that_go_on_with_the_rows_are_not_compared_by_date():
    def criteria(values):
        return [criterion.metric for criterion in suggest_criteria({"when": values}).criteria]

    assert criteria(moments(is_sorted=True)) == ["time_of_day"]
    assert criteria(moments(is_sorted=False)) == ["time_of_day", "elapsed"]
    assert criteria([moment.date() for moment in moments(is_sorted=False)]) == ["elapsed"]
    assert criteria([moment.time() for moment in moments()]) == ["time_of_day"]
    (column,) = suggest_criteria({"when": [date(2024, 1, 1) + timedelta(day) for day in range(N)]}).columns
    assert column.reason == (
        "dates or times from 2024-01-01 to 2024-07-18; goes on with the rows, so that all new samples would be later"
    )
    workdays = [moment for moment in moments(400, is_sorted=True) if moment.weekday() < 5]
    assert criteria(workdays) == ["time_of_day", "weekday"]
    assert criteria([datetime.combine(moment, time()) for moment in workdays]) == ["weekday"]


def test_sequences_are_compared_by_what_fits_them():
    def metrics(name):
        column, values, _ = KINDS[name]
        return [criterion.metric for criterion in suggest_criteria({column: values}).criteria]

    assert metrics("series") == ["euclidean"]
    assert metrics("series of unequal lengths") == ["shape_based"]
    assert metrics("trajectories") == ["shape", "speed"]
    assert metrics("sets of names") == ["jaccard"]


def test_text_is_left_out_with_a_word_if_its_library_is_not_there(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    suggestion = suggest_criteria({"note": texts(), "size": rng.normal(size=N)})
    assert list(by_name(suggestion)) == ["size"]
    assert suggestion.columns[0].reason.endswith('to compare text needs pip install "paretodepth[text]"')


def test_a_file_of_the_suggestion_gives_the_same_criteria_and_explains_every_column(tmp_path):
    rng = np.random.default_rng(0)
    table = table_of_everything()
    table["odd\n[[name]] \x1b[31m"] = rng.normal(size=N)
    suggestion = suggest_criteria(table)
    text = suggestion.to_toml()
    (tmp_path / "criteria.toml").write_text(text)
    assert Criterion.from_toml(tmp_path / "criteria.toml") == suggestion.criteria
    comments = [line for line in text.splitlines() if line.startswith("#")]
    for column in suggestion.columns:
        shown = "".join(letter if letter.isprintable() else "�" for letter in column.name)
        assert f"# {shown} ({column.kind}): {column.reason}" in comments
    assert "\x1b" not in text


def test_a_column_is_judged_by_rows_spread_over_the_table_and_counted_in_all():
    n = 60_000
    rare = np.zeros(n, dtype=int)
    rare[123] = 1
    table = {
        "rare": rare,
        "nr": np.random.default_rng(0).permutation(n),
        "size": np.random.default_rng(1).normal(size=n),
    }
    assert [column.kind for column in suggest_criteria(table).columns] == ["flag", "id", "number"]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: suggest_criteria([1, 2, 3]), TypeError, "must be a data frame, a dict of columns or an array of two"),
        (lambda: suggest_criteria({}), TypeError, "Got 'an empty dict' instead"),
        (lambda: suggest_criteria(pd.DataFrame()), ValueError, "must have at least one column"),
        (lambda: suggest_criteria({"a": [1, 2], "b": [1]}), ValueError, "must all have one length"),
        (lambda: suggest_criteria({"a": [1, 2]}, 0), ValueError, "The 'max_criteria' parameter of suggest_criteria"),
        (lambda: suggest_criteria(pl.LazyFrame({"a": [1]})), TypeError, "call its collect()"),
    ],
)
def test_what_is_no_table_is_refused(call, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(").replace(")", r"\)")):
        call()


def test_a_label_is_skipped_because_it_holds_the_answer():
    size = [1.0, 2.5, 3.0, 9.0] * 5
    suggestion = suggest_criteria(pa.table({"nr": range(20), "size": size, "label": [0, 1] * 10}))
    assert [criterion.columns for criterion in suggestion.criteria] == [["size"]]
    label = "has two values and the name of a label; it would give the answer away"
    assert [suggestion.columns[column].reason for column in (0, 2)] == ["numbers the rows", label]


def test_named_columns_are_a_criterion_each():
    table = pa.table({"n": [7, 8, 9, 10], "name": list("abcd"), "size": [1.0, 2.5, 3.0, 9.0]})
    assert [criterion.columns for criterion in column_criteria(table, ["n", "size"])] == [["n"], ["size"]]


@pytest.mark.parametrize(
    ("columns", "read"),
    [
        ([["b"], "a"], ["a", "b"]),
        (["a*", ["b"]], ["a", "a2", "b"]),
        ([["a"], [1]], ["a", "a2", "b", "c"]),
        ([["a"], None], ["a", "a2", "b", "c"]),
        (None, ["a", "a2", "b", "c"]),
    ],
)
def test_columns_are_read_by_name_or_glob_and_all_of_them_if_one_is_counted(columns, read):
    criteria = columns and [Criterion(f"criterion {number}", column) for number, column in enumerate(columns)]
    assert read_columns(criteria, ["a", "a2", "b", "c"]) == read
