"""What is told of a detection."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.detect import find
from paretodepth.reports.results import (
    VALUE_COLUMNS,
    advice_of,
    criterion_figures,
    headline,
    left_out_remarks,
    results_table,
    summary,
    value_figures,
)
from paretodepth.reports.score import sample_at
from tests.newcomer import PLANTED


def test_results_keep_a_row_per_sample_when_nothing_is_called():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    found = find(ParetoDepthDetector(), nominal, pa.table({"a": [0.4, 0.5]}))
    assert results_table(found).column("because").to_pylist() == [None, None]


def test_results_name_the_criterion_to_blame_for_each_anomaly_and_no_other(found):
    table = results_table(replace(found, id_column="invoice"))
    assert table.column_names == ["invoice", "score", "p_value", "decision", "because", *VALUE_COLUMNS, "why"]
    called = [decision == "anomaly" for decision in table.column("decision").to_pylist()]
    because = table.column("because").to_pylist()
    assert called == found.is_anomaly.tolist()
    assert [name is not None for name in because] == called
    assert {row: because[row] for row in PLANTED} == PLANTED


def test_a_column_of_the_samples_keeps_its_name_and_ours_gives_way():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    new = pa.table({"a": [0.5], "score": [1], "score_": [2]})
    criteria = ParetoDepthDetector().fit(nominal).criteria_
    found = find(ParetoDepthDetector([criterion.criterion for criterion in criteria]), nominal, new)
    names = results_table(found).column_names
    assert names == ["a", "score", "score_", "score__", "p_value", "decision", "because", *VALUE_COLUMNS, "why"]


def test_the_method_is_told_as_method_and_scores_are_numbers(found):
    told = summary(found)
    assert told["method"] == "blend"
    assert "score" not in told
    assert [sample["score"] for sample in told["anomalies"]] == sorted(found.scores)[: -1 - found.n_anomalies : -1]
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_the_headline_names_the_rate_and_the_clear_outliers():
    rng = np.random.default_rng(0)
    nominal = pa.table({"a": rng.random(99)})
    table = pa.table({"a": np.append(rng.random(98), 50.0)})
    clear, new = "1 clear outlier (estimated false discovery rate 10 %)", pa.table({"a": [9.0, 0.5]})
    for expected, rates, detector, tables in (
        ("1 of 2 records flagged at a false-alarm rate of 5 %", {}, {}, (nominal, new)),
        ("1 of 1 record flagged at a false-alarm rate of 5 %", {}, {}, (nominal, new.slice(0, 1))),
        ("1 of 2 records flagged at a false discovery rate of 10 %", {"fdr": 0.1}, {}, (nominal, new)),
        (f"{clear}. The 5 most unusual of 99 records (5 %) are listed for review", {}, {}, (table,)),
        (f"{clear}. The 10 most unusual of 99 records (10 %) are", {"contamination": 0.1}, {}, (table,)),
        ("1 of 99 records flagged at an estimated false discovery rate of 10 %", {"fdr": 0.1}, {}, (table,)),
        ("0 of 99 records flagged above the given threshold", {}, {"threshold": 1e9}, (table,)),
        ("of 99 records flagged, those with a p-value of at most 0.05", {}, {"alpha": 0.05}, (table,)),
        ("review; each compared with 50 random ones", {"rows": np.arange(0, 99, 2)}, {}, (table,)),
    ):
        assert expected in headline(find(ParetoDepthDetector(method="blend", **detector), *tables, **rates))


def test_the_summary_tells_the_mode_and_the_strangest_whether_they_are_called_or_not(found):
    told = summary(found, n_shown=7)
    assert (told["mode"], told["contamination"], told["label"]) == ("new samples", None, None)
    assert [sample["row"] - 2 for sample in told["most_unusual"]] == found.most_unusual[:7].tolist()
    one = summary(find(ParetoDepthDetector(), found.samples.select(["amount"]), contamination=0.02), n_shown=4)
    assert (one["mode"], one["contamination"], one["fdr"], one["alpha"]) == ("one file", 0.02, None, None)
    assert len(one["most_unusual"]) == 4
    assert one["anomalies"] == one["most_unusual"][: one["n_anomalies"]]


def test_figures_of_criteria_are_those_of_the_explanation(found):
    explanation = found.explanation(found.most_unusual[:1])
    for criterion, figures in enumerate(criterion_figures(found)):
        assert figures == {
            "criterion": explanation.criteria[criterion],
            "p_value": explanation.criterion_p_values[0, criterion],
            "relief": explanation.relief[0, criterion],
            "distance": explanation.distances[0, criterion],
            "nearest": (explanation.neighbors[criterion][0] + 2).tolist(),
            "values": [value_figures(value) for value in explanation.values.of(0)[criterion]],
        }


def test_the_blamed_value_stands_beside_what_is_usual(found):
    rows = results_table(found).to_pylist()
    training = {name: np.sort(found.training.column(name).to_numpy()) for name in ("amount", "hour", "weight")}
    told = [row for row in rows if row["value"] is not None]
    assert told
    for row in told:
        name, values = row["because"], training[row["because"]]
        low, high = (float(row[end]) for end in ("usual_low", "usual_high"))
        assert float(row["value"]) == row[name]
        assert 0.9 <= np.mean((values >= low) & (values <= high)) <= 0.92
        assert row["direction"] == ("high" if row[name] > high else "low" if row[name] < low else None)
        assert float(row["percentile"]) == pytest.approx(100 * np.mean(values < row[name]))
        assert row["why"].startswith(f"{name} ")


@pytest.mark.parametrize("rows", [None, np.arange(1, 300, 2)])
def test_advice_and_remarks_name_training_samples_as_the_table_numbers_them(rows):
    values = np.random.default_rng(0).random((300, 2))
    values[[7, 143], [0, 1]] = 30.0, 40.0
    values[15, 0] = np.nan
    nominal = pa.table({"id": [f"n{row}" for row in range(300)], "a": values[:, 0], "b": values[:, 1]})
    criteria = [Criterion(name, name, missing="drop") for name in "ab"]
    found = find(ParetoDepthDetector(criteria), nominal, nominal.slice(0, 5), rows=rows)
    for changes, names in (({}, "9 145"), ({"id_column": "id"}, "n7 n143")):
        one = replace(found, **changes)
        (named,) = re.findall("like (?:an anomaly|anomalies): (.*). Fit again", advice_of(one)[-1])
        assert set(named.split(", ")) <= set(names.split())
        assert summary(one)["advice"] == advice_of(one)
        assert left_out_remarks(one)[-1].endswith("1 sample, row 17.")
    # Of one file its own table shows who is unusual; a model's file does not hold the rows of its fit.
    assert "like an" not in " ".join(advice_of(find(ParetoDepthDetector(criteria), nominal, rows=rows)))
    assert "like an" not in " ".join(advice_of(replace(found, training=None)))


def test_a_row_is_counted_through_the_chunks():
    chunks = [pa.table({"a": [0, 1, 2]}), pa.table({"a": [3]}), pa.table({"a": [4, 5]})]
    for row in range(6):
        number, sample = sample_at(chunks, row, None, "new.csv")
        assert (number, sample.column("a").to_pylist()) == (row, [row])
    with pytest.raises(ValueError, match=r"new.csv: the row must be from 2 to 7, as .* Got 8 instead."):
        sample_at(chunks, 6, None, "new.csv")
