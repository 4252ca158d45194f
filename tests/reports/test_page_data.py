"""What the report shows, as JSON."""

import json
from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pyarrow as pa

from paretodepth import ParetoDepthDetector
from paretodepth.reports import detect
from paretodepth.reports.cells import cell, short_name, short_sentence, shown_columns
from paretodepth.reports.page_data import explained_samples, page_details, page_figures
from paretodepth.reports.results import summary
from paretodepth.reports.usual import milliseconds, time_column, usual_column


def test_fronts_of_a_page_are_the_detectors(found):
    details = page_details(found, 3, 40)
    assert [(pair["first"], pair["second"]) for pair in details["dyads"]["pairs"]] == [(0, 1), (0, 2), (1, 2)]
    assert found.detector.fronts_.criteria.tolist() == [[0, 1], [0, 2], [1, 2]]
    nominal = found.detector.fronts_.fronts[1].dyads
    front = details["dyads"]["pairs"][1]["fronts"][0]
    for x, y in zip(front["x"], front["y"], strict=True):
        # A dyad of front 1, up to the three digits of the page.
        assert not ((nominal[:, 0] < x * 0.99) & (nominal[:, 1] < y * 0.99)).any()


def test_figures_of_a_page_are_those_of_the_summary(found):
    figures, told = page_figures(found, "title", 1000, 1000, 40), summary(found)
    for name in ("n_training", "n_samples", "method", "alpha", "fdr", "threshold", "criteria", "advice"):
        assert figures[name] == told[name]
    for position, sample in enumerate(told["anomalies"]):
        assert figures["samples"]["row"][position] == sample["row"]
        assert figures["samples"]["score"][position] == sample["score"]
        assert figures["samples"]["sentence"][position] == sample["why"]
        blamed = figures["samples"]["because"][position]
        assert [*figures["criteria"], figures["together"]][blamed] == sample["because"]


def test_the_table_has_as_many_samples_as_asked_for_and_counts_the_others(found):
    figures = page_figures(found, "title", 50, 50, 40)
    assert {len(column) for name, column in figures["samples"].items() if name != "cells"} == {50}
    assert figures["n_more"] == 70
    assert sum(figures["bins"]["samples"]) == 120


def test_details_name_the_nearest_nominal_samples_of_each_criterion(found):
    details = page_details(found, 3, 40)
    explanation = found.explanation(found.strangest[:3])
    for sample, nearest in enumerate(details["neighbors"]):
        assert nearest == [neighbors[sample, :3].tolist() for neighbors in explanation.neighbors]
    named = {row for nearest in details["neighbors"] for rows in nearest for row in rows}
    assert set(details["training"]) == named
    assert details["training_columns"] == [0, 1, 2, 3]
    row = min(named)
    assert details["training"][row][0] == f"inv-{row}"


def test_of_one_criterion_there_are_no_dyads_to_draw():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    assert page_details(detect(ParetoDepthDetector(), nominal), 2, 40)["dyads"] == {"pairs": []}


def test_cells_are_what_json_can_carry_and_long_text_is_cut():
    values = [None, True, 7, 2**60, 1 / 3, float("nan"), "x" * 50]
    cells = [cell(value, 10) for value in values]
    assert cells == [None, True, 7, str(2**60)[:10] + "…", 0.333333, "nan", "x" * 10 + "…"]
    json.dumps(cells, allow_nan=False)


def test_lists_are_no_cells():
    assert shown_columns(pa.table({"a": [1], "track": [[[0.0, 1.0]]], "b": ["x"]})) == ["a", "b"]


def test_of_more_criteria_fewer_samples_are_explained_but_all_that_are_called(found):
    assert explained_samples(found) == 13_333
    rng = np.random.default_rng(0)
    nominal, new = (pa.table({f"c{i}": rng.random(n) for i in range(10)}) for n in (40, 50))
    many = detect(ParetoDepthDetector(method="criteria"), nominal, new)
    assert explained_samples(many) == 888
    called = replace(many, samples=new, scores=np.full(1500, many.threshold + 1))
    assert explained_samples(called) == 1500


def test_names_are_cut_in_their_middle_and_sentences_at_their_end():
    name = "a" * 100_000 + "b"
    assert short_name(name) == "a" * 79 + "…" + "a" * 78 + "b"
    assert short_sentence(f"Far in {name}; near.", [name]) == f"Far in {short_name(name)}; near."
    assert len(short_sentence("x" * 5000, [])) == 1501


def test_columns_that_criteria_read_are_shown_before_others():
    table = pa.table({f"c{i}": [1] for i in range(40)})
    shown = shown_columns(table, ["c39", "c20"], "c30")
    assert shown == ["c30", *(f"c{i}" for i in range(13)), "c20", "c39"]


def usual(values, letters=40):
    return usual_column(pa.chunked_array([values]), letters)


def test_usual_numbers_have_a_histogram_of_all_and_quantiles():
    values = np.append(np.arange(1.0, 1001.0), 1e9)
    drawn = usual(values)
    assert sum(drawn["counts"]) == len(values)
    assert (drawn["quantiles"][0], drawn["quantiles"][100], drawn["quantiles"][-1]) == (1, 501, 1e9)
    # One large value stands at the edge: it would flatten all others.
    assert drawn["high"] < 1001
    assert not drawn["log"]
    assert usual(np.exp(np.random.default_rng(0).normal(0, 2, 5000)))["log"]
    assert sum(usual([7, 7, None])["counts"]) == 2
    assert usual([float("nan"), float("inf")]) is None


def test_usual_texts_are_counted_and_many_are_not_drawn():
    assert usual(["a", "b", "b", None]) == {"kind": "categories", "values": ["b", "a"], "counts": [2, 1]}
    assert usual([True, True, False])["values"] == [True, False]
    assert usual([str(i) for i in range(41)]) is None
    assert usual(["x" * 9, "x" * 8], letters=4) is None


def test_usual_times_are_hours_of_the_day():
    at = [datetime(2024, 5, day, hour, 59) for day, hour in ((1, 3), (2, 3), (3, 23))]
    assert usual(at)["counts"] == [0, 0, 0, 2, *[0] * 19, 1]
    assert usual([datetime(2024, 5, 1), datetime(2024, 5, 2)]) is None


def test_points_in_time_are_milliseconds_since_1970():
    table = pa.table({"a": [1], "day": [date(1970, 1, 2)], "at": [datetime(1970, 1, 1, 0, 0, 1)]})
    assert time_column(table) == "day"
    assert milliseconds(table.column("day")) == [86_400_000]
    assert milliseconds(table.column("at").cast(pa.timestamp("ns", tz="UTC"))) == [1000]
    assert time_column(pa.table({"a": [1]})) is None
