"""What is usual of columns: ranges that hold nine tenths, on a line and on a circle, and counts."""

import re
from dataclasses import replace

import numpy as np
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.scoring.sample_values import own_text, range_text, value_text

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


def usual_of(values, metric, **params):
    detector = ParetoDepthDetector([Criterion("a", "a", metric, **params)]).fit({"a": values})
    return detector.criteria_[0].typical


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


@pytest.mark.parametrize("metric", ["time_of_day", "weekday", "day_of_year"])
def test_times_all_around_the_clock_have_no_usual_range(metric):
    moments = np.datetime64("2023-01-01", "m") + np.random.default_rng(0).integers(0, 365 * 1440, 400)
    detector = ParetoDepthDetector([Criterion("a", "a", metric)]).fit({"a": moments})
    detector.model_ = replace(detector.model_, threshold=-np.inf)
    explanation = detector.explain({"a": moments[:50]})
    assert not [value for sample in range(50) for value in explanation.values.of(sample)[0] if value.direction]
    assert "the typical " not in " ".join(explanation.sentences)
    (usual,) = detector.criteria_[0].typical
    assert np.isnan(usual.ends).all()


def test_a_usual_range_of_times_holds_nine_tenths_to_the_minute():
    rng = np.random.default_rng(0)
    moments = np.datetime64("2024-01-01T20:00:00", "s") + rng.integers(0, 8 * 3600, 500)
    detector = ParetoDepthDetector([Criterion("a", "a", "time_of_day")]).fit({"a": moments})
    (usual,) = detector.criteria_[0].typical
    low, high = usual.ends
    assert (low % 60e6, high % 60e6) == (0, 0)
    of_day = (moments - moments.astype("datetime64[D]")) / np.timedelta64(1, "us")
    is_within = (of_day - low) % 86400e6 <= (high - low) % 86400e6
    assert 0.9 <= is_within.mean() < 0.92
    for second in (of_day[~is_within].max(), high, high + 20e6):
        told = usual.compared(second)
        text = value_text(told)
        assert bool(told.direction) == (second != high)
        # What is off reads as off, if need be by its seconds.
        assert (text.split()[1] == range_text(told).split("–")[1]) == (second == high)


@pytest.mark.parametrize("seed", range(40))
def test_a_number_reads_as_it_compares_with_the_usual_range(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(rng.choice([0, 1e-7, 3, 1e6]), 10.0 ** rng.integers(-9, 9), 60)
    values = np.exp(values / np.abs(values).max() * 9) if seed % 3 == 0 else values
    values = values.round(3) if seed % 4 == 0 else values
    (usual,) = usual_of(values, "difference")
    low, high = usual.ends
    assert low <= usual.low <= usual.high <= high
    assert (usual.low - low) + (high - usual.high) <= 0.02 * (usual.high - usual.low) + 1e-300
    near = [end * (1 + slack) for end in (low, high) for slack in (-1e-5, -1e-9, 0, 1e-9, 1e-5)]
    for value in [*values, *near]:
        told = usual.compared(value)
        shown, *ends = (float(text) for text in (own_text(told), *re.split("–| to ", range_text(told))))
        assert {*ends} == {low, high}
        assert told.direction == ("high" if shown > high else "low" if shown < low else "")
        assert shown == pytest.approx(value, rel=5.1e-6)


def test_on_a_circle_no_shorter_way_holds_as_many():
    phases = np.sort(np.random.default_rng(1).uniform(0, 7, 30))
    (usual,) = usual_of(phases, "cyclic", period=7)
    length = (usual.high - usual.low) % 7
    counts = [np.count_nonzero((phases - start) % 7 < length - 1e-9) for start in phases]
    assert max(counts) < 27 <= np.count_nonzero((phases - usual.low) % 7 <= length)


def test_categories_are_counted_and_missing_ones_are_not():
    detector = ParetoDepthDetector([Criterion("a", ["c", "x", "y"], "gower", missing="ignore")])
    detector.fit({"c": ["p", "p", None, "q"], "x": [1.0, 2.0, 3.0, np.nan], "y": [1.0, 2.0, 3.0, 4.0]})
    category, number, _ = detector.criteria_[0].typical
    assert (category.counts, category.n_samples) == ({"p": 2, "q": 1}, 3)
    assert (number.n_samples, number.low, number.high) == (3, 1.0, 3.0)
    assert [category.compared(value).n_same for value in ("p", "z", None)] == [2, 0, 0]
    assert category.compared("q", is_training_sample=True)[-2:] == (0, 2)


def test_of_functions_and_matrices_nothing_is_noted():
    rows = np.random.default_rng(0).random(20)
    assert usual_of(rows, lambda A, B: np.abs(A - B.T)) == ()
    precomputed = ParetoDepthDetector([Criterion("a", metric="precomputed")]).fit([np.abs(rows[:, None] - rows)])
    assert precomputed.criteria_[0].typical == ()
    (sentence,) = precomputed.explain([np.abs(5 - rows)[None]]).sentences
    assert sentence.startswith("a: no reference record is this far from its ")
