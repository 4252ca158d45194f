import re

import numpy as np
import pytest

from studies.accuracy.comparison import BEST, MAX_NAMED, Comparison
from tests.studies.small import cells


def compared(*rows):
    """Places with the areas of the blend, of LOF, of IsolationForest, and of what only labels choose."""
    methods = ["blend", "LOF", "IsolationForest", BEST]
    return Comparison("table", [f"t{row}" for row in range(len(rows))], methods, np.array([rows], float))


def test_the_largest_losses_are_named_first_with_who_wins():
    said = compared([0.8, 0.83, 0.7, 0.99], [0.9, 0.91, 0.8, 0.9], [0.7, 0.6, 0.9, 0.9], [0.6, 0.5, 0.5, 0.7]).losing()
    assert "the best label-free method in 1 of 4 tables and within 0.015 of the best in 2." in said
    assert said.endswith("It loses more in t2 (0.200 behind IsolationForest), t0 (0.030 behind LOF).")


def test_many_losses_are_counted():
    said = compared(*[[0.5, 0.9, 0.5, 0.9]] * (MAX_NAMED + 3)).losing()
    assert said.count("behind LOF") == MAX_NAMED
    assert said.endswith(" and 3 more.")


def test_a_blend_that_is_nowhere_far_behind_is_said_to_be_so():
    assert compared([0.9, 0.905, 0.5, 1.0]).losing().endswith("Nowhere does it lose more.")


def test_the_summary_tells_gains_ranks_and_losses():
    comparison = compared([0.9, 0.8, 0.7, 1.0], [0.9, 0.904, 0.7, 1.0])
    rows = {row["method"]: row for row in cells(comparison.tables(), "summary")}
    assert rows["LOF"]["gain of the blend"] == "+0.048 ± 0.052, 1 and 0"
    assert rows["blend"]["gain of the blend"] == "–"
    assert rows["LOF"]["among label-free"] == "1.50"
    assert rows["LOF"]["mean rank"] == "2.50"
    assert rows[BEST]["among label-free"] == "needs labels"
    assert rows["IsolationForest"]["largest loss"] == "0.204 (t1)"
    assert rows["LOF"]["within 0.015"] == "1 of 2"
    assert re.search(r"Over 2 tables, each the mean of 1 runs", comparison.tables()[0].caption)


def test_runs_are_read_by_place_and_method():
    runs = [{"a": {"blend": 0.5, "LOF": 0.6}}, {"a": {"blend": 0.7, "LOF": 0.6}}]
    comparison = Comparison.of(runs, "regime", ["a"])
    assert comparison.means[0] == pytest.approx([0.6, 0.6])
    (row,) = cells(comparison.tables(), "areas")
    assert row == {"regime": "a", "blend": "0.600 ± 0.100", "LOF": "0.600 ± 0.000"}
