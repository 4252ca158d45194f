"""Samples that can be drawn as lines."""

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.page_details import Drawing, drawings
from paretodepth.reports.page_figures import rounded

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


def test_trajectories_and_series_are_found_by_their_types_and_other_lists_are_not():
    columns = {"track": [[[0.0, 1.0], [1.0, 2.0]]], "pulse": [[1.0, 2.0]], "words": [["a", "b"]], "size": [1.0]}
    table = pa.table({name: values * 4 for name, values in columns.items()})
    detector = ParetoDepthDetector([Criterion("size", ["size"])]).fit(
        pa.table({"size": np.random.default_rng(0).random(9)})
    )
    found = drawings(detector.model_.criteria, table)
    assert found == [Drawing("track", "trajectory", ["track"]), Drawing("pulse", "series", ["pulse"])]


def test_a_series_over_several_columns_is_drawn_as_one_line():
    X = np.random.default_rng(0).random((9, 3))
    table = pa.table({name: X[:, column] for column, name in enumerate("abc")})
    detector = ParetoDepthDetector([Criterion("wave", ["a", "b", "c"], "shape_based")]).fit(table)
    (drawing,) = drawings(detector.model_.criteria, table)
    assert drawing == Drawing("wave", "series", ["a", "b", "c"])
    line = drawing.line(table, 4)
    assert line["x"] == [0, 1, 2]
    np.testing.assert_allclose(line["y"], X[4], rtol=1e-3)


def test_a_long_line_keeps_its_ends_and_few_points():
    table = pa.table({"pulse": [np.arange(1000.0).tolist()]})
    line = Drawing("pulse", "series", ["pulse"]).line(table, 0)
    assert len(line["x"]) == 80
    assert (line["y"][0], line["y"][-1]) == (0, 999)


def test_points_that_a_sample_does_not_have_are_not_drawn():
    table = pa.table({"track": pa.array([None, [], [None, [1.0, 2.0]]], pa.list_(pa.list_(pa.float64())))})
    lines = [Drawing("track", "trajectory", ["track"]).line(table, row) for row in range(3)]
    assert lines == [{"x": [], "y": []}, {"x": [], "y": []}, {"x": [1.0], "y": [2.0]}]
    pulse = pa.table({"pulse": pa.array([None, [None, 2.0]], pa.list_(pa.float64()))})
    lines = [Drawing("pulse", "series", ["pulse"]).line(pulse, row) for row in range(2)]
    assert lines == [{"x": [], "y": []}, {"x": [0.0, 1.0], "y": [None, 2.0]}]


def test_what_is_not_finite_is_none_in_json():
    assert rounded([1 / 3, np.inf, np.nan, 123456.0]) == [0.3333, None, None, 123500.0]
