"""Dates and times from wherever they come."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector
from tests.draws import fitted

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

MOMENTS = [datetime(2024, 2, 27, 22) + timedelta(minutes=hours * hours * 7) for hours in range(40)]
BERLIN = ZoneInfo("Europe/Berlin")
LOCAL = [moment.replace(tzinfo=BERLIN) for moment in MOMENTS]
SERIES = pd.Series(MOMENTS)
SOURCES = {
    "pandas": SERIES,
    "pandas, nanoseconds": SERIES.astype("datetime64[ns]"),
    "pandas with a zone": SERIES.dt.tz_localize("Europe/Berlin"),
    "pandas of objects": pd.Series([pd.Timestamp(moment) for moment in MOMENTS], dtype=object),
    "pandas of Arrow": SERIES.astype(pd.ArrowDtype(pa.timestamp("us"))),
    "polars": pl.Series("when", MOMENTS),
    "polars with a zone": pl.Series("when", MOMENTS).dt.replace_time_zone("Europe/Berlin"),
    "pyarrow": pa.chunked_array([MOMENTS]),
    "pyarrow with a zone": pa.chunked_array([pa.array(LOCAL, pa.timestamp("us", "Europe/Berlin"))]),
    "datetimes with a zone": LOCAL,
    "Timestamps": [pd.Timestamp(moment) for moment in MOMENTS],
    "numpy": np.array(MOMENTS, dtype="datetime64[s]"),
    "numpy one by one": list(np.array(MOMENTS, dtype="datetime64[m]")),
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def block(metric, X):
    own = fitted([Criterion("when", metric=metric)], X)
    return own.criteria[0].dissimilarities(own.encodings[0], own.encodings[0], (0, 0))


@pytest.mark.parametrize("metric", ["elapsed", "time_of_day", "weekday", "day_of_year"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_time_is_the_same_from_every_source(source, metric):
    expected = block(metric, MOMENTS)
    assert np.unique(expected).size > 3
    for X in (SOURCES[source], {"when": SOURCES[source]}):
        assert_array_equal(block(metric, X), expected)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_times_are_fitted_and_scored(kind):
    criteria = [Criterion("hour", "when", "time_of_day"), Criterion("size", "size", "difference")]
    hours = np.random.default_rng(0).normal(12, 1, 80)
    frame = FRAMES[kind](
        {"when": [datetime(2024, 3, 1 + i % 28) + timedelta(hours=h) for i, h in enumerate(hours)], "size": hours % 1}
    )
    detector = ParetoDepthDetector(criteria).fit(frame)
    assert detector.model_.criteria.layout.kinds == ["times", "numbers"]
    at_noon_and_midnight = FRAMES[kind]({"when": [datetime(2025, 1, 1, 12), datetime(2025, 1, 1)], "size": [0.5, 0.5]})
    assert_array_equal(detector.predict(at_noon_and_midnight), [1, -1])


def test_what_comes_round_again_is_near():
    first, last = datetime(2023, 1, 1, 0, 10), datetime(2023, 12, 31, 23, 50)
    moments = [first, last, datetime(2024, 7, 1, 12)]
    assert block("elapsed", moments)[0, 1] == 364 + 23 / 24 + 40 / 1440
    assert_allclose(block("time_of_day", moments)[0], [0, 1 / 3, 11 + 5 / 6])
    # The first and the last day of 2023 are Sundays, the third a Monday.
    assert_array_equal(block("weekday", moments)[0], [0, 0, 1])
    assert_array_equal(block("day_of_year", moments)[0], [0, 1.25, 182])


def test_dates_and_times_of_day_are_read_alone():
    dates = [date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 8)]
    for X in (dates, pl.Series(dates), pa.chunked_array([dates]), pd.Series(dates)):
        assert_array_equal(block("elapsed", X)[0], [0, 2, 7])
        assert_array_equal(block("weekday", X)[0], [0, 2, 0])
    times = [time(23), time(1), time(12, 30)]
    for X in (times, {"t": pl.Series(times)}, {"t": pa.chunked_array([times])}):
        assert_array_equal(block("time_of_day", X)[0], [0, 2, 10.5])


def test_zones_count_as_the_clock_shows():
    east = timezone(timedelta(hours=9))
    moments = [datetime(2024, 1, 1, 8, tzinfo=UTC), datetime(2024, 1, 1, 8, tzinfo=east), datetime(2024, 1, 1, 9)]
    assert_array_equal(block("time_of_day", moments)[0], [0, 0, 1])


def test_pairs_equally_far_apart_are_tied():
    moments = np.datetime64("2024-01-01T00:00:01") + np.arange(0, 1000, 7).astype("timedelta64[s]")
    steps = np.diagonal(block("elapsed", moments), 1)
    assert np.unique(steps).size == 1


def test_missing_times_are_dropped_like_others():
    moments = [*MOMENTS[:20], None, *MOMENTS[20:]]
    for X in (moments, pd.Series(moments), pl.Series(moments), np.array(moments, "datetime64[us]")):
        detector = ParetoDepthDetector([Criterion("t", metric="elapsed", missing="drop")], n_neighbors=3).fit(X)
        assert_array_equal(detector.dropped_, [20])
