"""What is told of a detection."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports import detect
from paretodepth.reports.results import (
    VALUE_COLUMNS,
    advice_of,
    criterion_figures,
    headline,
    left_out_remarks,
    nth_sample,
    results_table,
    summary,
    value_figures,
)
from tests.newcomer import PLANTED


def test_results_keep_a_row_per_sample_when_nothing_is_called():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    found = detect(ParetoDepthDetector(), nominal, pa.table({"a": [0.4, 0.5]}))
    assert results_table(found).column("because").to_pylist() == [None, None]


def test_results_name_the_criterion_to_blame_for_each_anomaly_and_no_other(found):
    table = results_table(found, id_column="invoice")
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
    found = detect(ParetoDepthDetector([criterion.criterion for criterion in criteria]), nominal, new)
    names = results_table(found).column_names
    assert names == ["a", "score", "score_", "score__", "p_value", "decision", "because", *VALUE_COLUMNS, "why"]


def test_the_method_is_told_as_method_and_scores_are_numbers(found):
    told = summary(found)
    assert told["method"] == "blend"
    assert "score" not in told
    assert [sample["score"] for sample in told["anomalies"]] == sorted(found.scores)[: -1 - found.n_anomalies : -1]
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_the_headline_tells_the_rate_and_who_was_compared():
    nominal = pa.table({"a": np.random.default_rng(0).random(99)})
    assert headline(detect(ParetoDepthDetector(), nominal, pa.table({"a": [9.0]}))) == (
        "1 of 1 samples called anomaly, at a false-alarm rate of 5%"
    )
    assert headline(detect(ParetoDepthDetector(), nominal, pa.table({"a": [9.0, 0.5]}), fdr=0.1)) == (
        "1 of 2 samples called anomalies, at a false discovery rate of 0.1"
    )


def test_the_headline_of_one_file_speaks_of_no_nominal_samples():
    table = pa.table({"a": np.append(np.random.default_rng(0).random(98), 50.0)})
    begin = "The strangest of 99 samples, each compared with all the others: "
    rest = "out beyond what the rest suggests (estimated false discovery rate of"
    told = {
        f"5 called, 5%; one stands {rest} 10%)": {},
        f"one stands {rest} 10%)": {"fdr": 0.1},
        f"none stands {rest} 0.01%)": {"fdr": 1e-4},
        f"10 called, 10%; one stands {rest} 10%)": {"contamination": 0.1},
    }
    for end, rates in told.items():
        assert headline(detect(ParetoDepthDetector(method="blend"), table, **rates)) == begin + end
    assert headline(detect(ParetoDepthDetector(threshold=1e9), table)) == (
        begin + "0 called, beyond the threshold that was given"
    )
    assert begin + "4 called, those with a p-value of at most 0.05" == headline(
        detect(ParetoDepthDetector(method="blend", alpha=0.05), table)
    )
    some = detect(ParetoDepthDetector(), table, rows=np.arange(0, 99, 2))
    assert headline(some).startswith("The strangest of 99 samples, each compared with 50 random ones: ")


def test_the_summary_tells_the_mode_and_the_strangest_whether_they_are_called_or_not(found):
    told = summary(found, n_shown=7)
    assert (told["mode"], told["contamination"], told["label"]) == ("new samples", None, None)
    assert [sample["row"] for sample in told["strangest"]] == found.strangest[:7].tolist()
    one = summary(detect(ParetoDepthDetector(), found.samples.select(["amount"]), contamination=0.02), n_shown=4)
    assert (one["mode"], one["contamination"], one["fdr"], one["alpha"]) == ("one file", 0.02, None, None)
    assert len(one["strangest"]) == 4
    assert one["anomalies"] == one["strangest"][: one["n_anomalies"]]


def test_figures_of_criteria_are_those_of_the_explanation(found):
    explanation = found.explanation(found.strangest[:1])
    for criterion, figures in enumerate(criterion_figures(found.reasons(1)[0], explanation.criteria)):
        assert figures == {
            "criterion": explanation.criteria[criterion],
            "p_value": explanation.criterion_p_values[0, criterion],
            "relief": explanation.relief[0, criterion],
            "distance": explanation.distances[0, criterion],
            "nearest": explanation.neighbors[criterion][0].tolist(),
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


def test_neighbors_are_called_by_their_ids(found):
    named = replace(found, id_column="invoice")
    ids = found.training.column("invoice").to_pylist()
    by_row, by_id = (
        next(phrase for phrase in one.explanation(one.strangest[:1]).phrases(0) if phrase.kind == "nearest")
        for one in (found, named)
    )
    assert by_row == by_id
    (sentence,) = named.explanation(named.strangest[:1]).sentences
    assert f": {', '.join(ids[row] for row in by_id.numbers)}." in sentence


@pytest.mark.parametrize("rows", [None, np.arange(1, 300, 2)])
def test_advice_and_remarks_name_training_samples_as_the_table_numbers_them(rows):
    values = np.random.default_rng(0).random((300, 2))
    values[[7, 143], [0, 1]] = 30.0, 40.0
    values[15, 0] = np.nan
    nominal = pa.table({"id": [f"n{row}" for row in range(300)], "a": values[:, 0], "b": values[:, 1]})
    criteria = [Criterion(name, name, missing="drop") for name in "ab"]
    found = detect(ParetoDepthDetector(criteria), nominal, nominal.slice(0, 5), rows=rows)
    for changes, names in (({}, "7 143"), ({"count_from": 2}, "9 145"), ({"id_column": "id"}, "n7 n143")):
        one = replace(found, **changes)
        (named,) = re.findall("like (?:an anomaly|anomalies): (.*). Fit again", advice_of(one)[-1])
        assert set(named.split(", ")) <= set(names.split())
        assert summary(one)["advice"] == advice_of(one)
        assert left_out_remarks(one)[-1].endswith(f"1 sample, row {15 + one.count_from}.")
    # Of one file its own table shows who is unusual; a model's file does not hold the rows of its fit.
    assert "like an" not in " ".join(advice_of(detect(ParetoDepthDetector(criteria), nominal, rows=rows)))
    assert "like an" not in " ".join(advice_of(replace(found, training=None)))


def test_a_row_is_counted_through_the_chunks():
    chunks = [pa.table({"a": [0, 1, 2]}), pa.table({"a": [3]}), pa.table({"a": [4, 5]})]
    assert [nth_sample(chunks, row, "new.csv").column("a").to_pylist() for row in range(6)] == [[n] for n in range(6)]
    with pytest.raises(ValueError, match=r"new.csv: the row must be from 0 to 5. Got 6 instead."):
        nth_sample(chunks, 6, "new.csv")
