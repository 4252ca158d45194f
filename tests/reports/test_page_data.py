"""What the report shows, as JSON."""

import json

import numpy as np
import pyarrow as pa

from paretodepth import ParetoDepthDetector
from paretodepth.reports import detect
from paretodepth.reports.cells import cell, shown_columns
from paretodepth.reports.page_data import page_details, page_figures
from paretodepth.reports.results import summary


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
