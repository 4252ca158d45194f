"""What is usual of columns: ranges that hold nine tenths, on a line and on a circle, and counts."""

import numpy as np
import pytest

from paretodepth import Criterion, ParetoDepthDetector

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


def usual_of(values, metric, **params):
    detector = ParetoDepthDetector([Criterion("a", "a", metric, **params)]).fit({"a": values})
    return detector.criteria_[0].usual


@pytest.mark.parametrize("n_samples", [3, 20, 999, 2500])
def test_the_usual_range_of_numbers_holds_nine_tenths(n_samples):
    values = np.random.default_rng(0).lognormal(size=n_samples)
    (usual,) = usual_of(values, "log_ratio")
    assert np.mean((values >= usual.low) & (values <= usual.high)) >= 0.9
    for value in (values.min() / 2, *np.quantile(values, [0.01, 0.5, 0.99]), values.max() * 2):
        told = usual.compared(value)
        assert told.percentile == pytest.approx(100 * np.mean(values < value), abs=0.1)
        assert told.direction == ("high" if value > usual.high else "low" if value < usual.low else "")


def test_the_usual_hours_may_pass_midnight():
    hours = np.concatenate([np.linspace(22, 25.9, 95) % 24, np.linspace(10, 14, 5)])
    (usual,) = usual_of(hours, "cyclic", period=24)
    assert 21.9 < usual.low < 22.3
    assert 1.5 < usual.high < 2
    assert [usual.compared(hour).direction for hour in (23, 0, 1, 25, 12, 4)] == ["", "", "", "", "off", "off"]


def test_on_a_circle_no_shorter_way_holds_as_many():
    phases = np.sort(np.random.default_rng(1).uniform(0, 7, 30))
    (usual,) = usual_of(phases, "cyclic", period=7)
    length = (usual.high - usual.low) % 7
    counts = [np.count_nonzero((phases - start) % 7 < length - 1e-9) for start in phases]
    assert max(counts) < 27 <= np.count_nonzero((phases - usual.low) % 7 <= length)


def test_categories_are_counted_and_missing_ones_are_not():
    detector = ParetoDepthDetector([Criterion("a", ["c", "x", "y"], "gower", missing="ignore")])
    detector.fit({"c": ["p", "p", None, "q"], "x": [1.0, 2.0, 3.0, np.nan], "y": [1.0, 2.0, 3.0, 4.0]})
    category, number, _ = detector.criteria_[0].usual
    assert (category.counts, category.n_samples) == ({"p": 2, "q": 1}, 3)
    assert (number.n_samples, number.low, number.high) == (3, 1.0, 3.0)
    assert [category.compared(value).n_same for value in ("p", "z", None)] == [2, 0, 0]
    assert category.compared("q", is_own=True)[-2:] == (0, 2)


def test_of_functions_and_matrices_nothing_is_noted():
    rows = np.random.default_rng(0).random(20)
    assert usual_of(rows, lambda A, B: np.abs(A - B.T)) == ()
    precomputed = ParetoDepthDetector([Criterion("a", metric="precomputed")]).fit([np.abs(rows[:, None] - rows)])
    assert precomputed.criteria_[0].usual == ()
    (sentence,) = precomputed.explain([np.abs(5 - rows)[None]]).sentences
    assert sentence.startswith("No nominal sample is as far from its ")
