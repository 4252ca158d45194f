"""What the report shows, as JSON."""

import json
import re
from dataclasses import replace
from datetime import date, datetime
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.detect import find
from paretodepth.reports.page_details import page_details
from paretodepth.reports.page_figures import (
    cell,
    exactness_sentence,
    explained_samples,
    page_figures,
    score_sentence,
    short_name,
    short_sentence,
    shown_columns,
    usual_figures,
)
from paretodepth.reports.results import summary
from paretodepth.reports.score import find_in
from paretodepth.scoring.measures import joined
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.sample_values import number_text

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


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
    explanation = found.explanation(found.most_unusual[:3])
    for sample, nearest in enumerate(details["neighbors"]):
        assert nearest == [neighbors[sample, :3].tolist() for neighbors in explanation.neighbors]
    named = {row for nearest in details["neighbors"] for rows in nearest for row in rows}
    assert set(details["training"]) == named
    assert details["training_columns"] == [0, 1, 2, 3]
    row = min(named)
    assert details["training"][row][0] == f"inv-{row}"


def test_of_one_criterion_there_are_no_dyads_to_draw():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    assert page_details(find(ParetoDepthDetector(), nominal), 2, 40)["dyads"] == {"pairs": []}


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
    many = find(ParetoDepthDetector(method="blend"), nominal, new)
    assert explained_samples(many) == 888
    called = replace(many, samples=new, scores=np.full(15_000, many.threshold + 1))
    assert explained_samples(called) == 15_000


def blend_parts(model, scores):
    """What the page says the blend's score is, computed from p-values of training samples, each left out in turn."""
    measures = model.map_left_out(
        partial(model.measurer.of, needed=METHODS["blend"].fitted), np.arange(len(scores)), n_jobs=1
    )
    surprise = partial(model.calibration.surprise, joined(measures))
    n_criteria = len(model.criteria.fitted)
    means, ratios = surprise("neighbor_means"), surprise("local_ratios")
    alone = (means.reshape(len(scores), -1, n_criteria).sum(axis=1) + ratios) / 4
    together = (surprise("balanced_mean") + surprise("balanced_ratio")) / 2
    most = [] if n_criteria == 1 else [n_criteria * np.exp(-alone.max(axis=1))]
    return [*most, np.exp(-together), np.exp(-surprise("pair_depth"))]


@pytest.mark.parametrize(("n_criteria", "number"), [(1, "two"), (3, "three")])
def test_the_page_says_what_the_score_is(n_criteria, number):
    X = np.random.default_rng(0).random((60, n_criteria))
    blend, depth = (ParetoDepthDetector(method=name).fit(X).model_ for name in ("blend", "depth"))
    assert f"minus the natural logarithm of the harmonic mean of {number} p-values" in score_sentence(blend)
    p_values = blend_parts(blend, blend.scores)
    assert len(p_values) == {"two": 2, "three": 3}[number]
    np.testing.assert_allclose(blend.scores, -np.log(1 / np.mean(1 / np.array(p_values), axis=0)))
    assert "the mean Pareto depth of a sample's dyads" in score_sentence(depth)


def test_scores_are_exact_only_if_nothing_is_left_to_chance():
    table = pa.table({"a": np.random.default_rng(0).random(90), "b": np.random.default_rng(1).random(90)})

    def said(rows=None, samples=None, **parameters):
        return exactness_sentence(find(ParetoDepthDetector(**parameters), table, samples, rows=rows))

    rows = np.arange(0, 90, 2)
    assert said() == said(max_depth=1000, method="blend") == "All scores are exact for the 90 samples fitted."
    for samples in (None, table):
        assert said(rows, samples) == "Scores are estimates: only 45 random rows of 90 were fitted."
    assert said(max_depth=2) == "Scores are estimates: dyads beyond front 2, the last one kept, share one depth."
    assert said(max_depth=2, method="blend").endswith("front kept of a pair are estimated from random dyads.")


def test_names_are_cut_in_their_middle_and_sentences_at_their_end():
    name = "a" * 100_000 + "b"
    assert short_name(name) == "a" * 79 + "…" + "a" * 78 + "b"
    assert short_sentence(f"Far in {name}; near.", [name]) == f"Far in {short_name(name)}; near."
    assert len(short_sentence("x" * 5000, [])) == 1501


def test_columns_that_criteria_read_are_shown_before_others():
    table = pa.table({f"c{i}": [1] for i in range(40)})
    shown = shown_columns(table, ["c39", "c20"], "c30")
    assert shown == ["c30", *(f"c{i}" for i in range(13)), "c20", "c39"]


def usual(values, metric="difference", letters=40, new=None):
    """What a page shows as usual of one column, for samples that are new or those of the fit."""
    detector = ParetoDepthDetector([Criterion("a", "a", metric)]).fit(pa.table({"a": values}))
    one = find_in(detector, pa.table({"a": values if new is None else new}))
    found = usual_figures(one, ["id", "a"], np.arange(len(one.samples)), letters)
    assert all(entry["column"] == 1 for entry in found)
    return found[0] if found else None


def test_usual_numbers_are_drawn_from_what_the_model_keeps():
    values = np.append(np.arange(1.0, 1001.0), 1e9)
    drawn = usual(values)
    assert sum(drawn["counts"]) == len(values)
    assert (drawn["low"], drawn["high"], drawn["range"]) == (50, 951, "50–951")
    # One large value stands at the edge: it would flatten all others.
    assert drawn["end"] < 1001
    assert not drawn["log"]
    assert usual(np.exp(np.random.default_rng(0).normal(0, 2, 1001)))["log"]
    assert sum(usual([7.0, 7.0, 7.0])["counts"]) == 3


def test_usual_categories_are_counted_and_many_are_not_drawn():
    drawn = usual(["a", "b", "b"], "mismatch", new=["b", "c", "a"])
    assert (drawn["values"], drawn["counts"], drawn["own"], drawn["n_samples"]) == (["b", "a"], [2, 1], [0, -1, 1], 3)
    assert usual([True, True, False], "mismatch")["values"] == [True, False]
    assert usual([str(i) for i in range(41)], "mismatch") is None
    assert usual(["x" * 9, "x" * 8, "x" * 8], "mismatch", letters=4) is None


def test_usual_times_are_drawn_as_their_criterion_reads_them():
    at = [datetime(2024, 5, day, hour, 59) for day, hour in ((1, 3), (2, 3), (3, 23))]
    drawn = usual(at, "time_of_day")
    assert drawn["counts"] == [0, 0, 0, 2, *[0] * 19, 1]
    assert (drawn["range"], drawn["texts"]) == ("23:59–03:59", ["03:59", "03:59", "23:59"])
    assert usual(at, "weekday")["texts"] == ["Wed", "Thu", "Fri"]
    assert usual(at, "elapsed")["texts"][0] == "2024-05-01 03:59"


def test_a_page_shows_the_usual_range_of_the_sentence_also_of_a_model_alone(found):
    for one in (found, find_in(found.detector, found.samples)):
        figures = page_figures(one, "title", 1000, 1000, 40)
        for entry in figures["usual"]:
            usual = next(u for c in one.model.criteria.fitted for u in c.typical if u.name == entry["name"])
            assert (entry["low"], entry["high"]) == usual.ends
            sentences = " ".join(figures["samples"]["sentence"])
            told = re.findall(rf"\b{entry['name']} [^ ]+ is [^;]*?the typical ([^;,]+?)(?=[;,]|\.(?: |$))", sentences)
            assert set(told) <= {entry["range"]}
            assert told or entry["name"] == "weight"
        assert [entry["name"] for entry in figures["usual"]] == ["amount", "hour", "weight"]


def test_cells_have_the_digits_of_sentences_and_compare_as_the_values_do():
    rng = np.random.default_rng(0)
    nominal, values = pa.table({"a": rng.normal(1000, 10, 300)}), rng.normal(1000, 60, 300)
    detector = ParetoDepthDetector(method="blend")
    low, high = detector.fit(nominal).criteria_[0].typical[0].ends
    values[:9] = [1012.5, 1e-7, high, high + 1e-6, high - 1e-9, low - 1e-7, low, 2e6 + 0.5, -1e30 / 7]
    found = find(detector, nominal, pa.table({"a": values}))
    figures = page_figures(found, "title", 1000, 1000, 40)
    (usual,), (cells,) = figures["usual"], figures["samples"]["cells"]
    sentences = figures["samples"]["sentence"]
    is_told = [f"a {number_text(shown)} " in sentence for shown, sentence in zip(cells, sentences, strict=True)]
    assert sum(is_told) > 100
    for sample, (value, shown) in enumerate(zip(values[found.most_unusual].tolist(), cells, strict=True)):
        assert (shown > usual["high"], shown < usual["low"]) == (value > usual["high"], value < usual["low"])
        assert is_told[sample] or not sentences[sample].startswith("a ")


def test_points_in_time_are_milliseconds_since_1970():
    sizes = np.random.default_rng(0).random(9)
    days = [date(1970, 1, day) for day in range(1, 10)]
    moments = pa.array([datetime(1970, 1, 1, 0, 0, second) for second in range(9)], pa.timestamp("ns", tz="UTC"))
    for columns, values in (({"day": days, "at": moments}, 86_400_000), ({"at": moments}, 1000)):
        found = find(ParetoDepthDetector([Criterion("size", "size")]), pa.table({"size": sizes} | columns))
        time = page_figures(found, "title", 9, 9, 40)["time"]
        assert time == {"column": next(iter(columns)), "values": (values * found.most_unusual).tolist()}
    found = find(ParetoDepthDetector(), pa.table({"size": sizes}))
    assert page_figures(found, "title", 9, 9, 40)["time"] is None
