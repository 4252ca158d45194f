"""Metrics of dates and times.

An encoding holds whole numbers, of microseconds or of days, so that pairs equally far apart are tied to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.metrics.metric import Encoding, Metric, State
from paretodepth.criteria.metrics.numeric import CYCLE, scipy_block, summed
from paretodepth.criteria.values import Columns, check_no_missing, check_single, is_missing, refuse_value

Moments = NDArray[np.datetime64]
HOUR = 3_600_000_000
"""Microseconds."""
DAY = 24 * HOUR
YEAR_DAYS = 365.25
FIRST_YEAR, LAST_YEAR = 1, 9999
"""Those of Python's datetime; far beyond them microseconds overflow."""


def _column(count: NDArray[Any]) -> Encoding:
    return count.astype(np.float64).reshape(-1, 1)


def _dates(moments: Moments) -> NDArray[np.int64]:
    """Return the number of each day, 0 for the first of 1970, a Thursday."""
    return moments.astype("datetime64[D]").astype(np.int64)


def _microseconds(columns: Columns, state: State) -> Encoding:
    return _column(check_moments(columns).astype(np.int64))


def _elapsed(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return scipy_block(A, B, "cityblock") / DAY


def _times_of_day(columns: Columns, state: State) -> Encoding:
    return _column(check_moments(columns, needs_dates=False).astype(np.int64) % DAY)


def _time_of_day(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return summed(A, B, CYCLE, periods=DAY) / HOUR


def _weekdays(columns: Columns, state: State) -> Encoding:
    """Return 0 for Monday to 6 for Sunday."""
    return _column((_dates(check_moments(columns)) + 3) % 7)


def _days_of_year(columns: Columns, state: State) -> Encoding:
    """Return 0 for the first of January."""
    moments = check_moments(columns)
    return _column(_dates(moments) - _dates(moments.astype("datetime64[Y]")))


def _cyclic(period: float) -> Callable[[Encoding, Encoding, State], NDArray[np.float64]]:
    return lambda A, B, state: summed(A, B, CYCLE, periods=period)


def check_moments(columns: Columns, *, needs_dates: bool = True) -> Moments:
    """Return a column of timestamps, dates or times of day in microseconds, in the time of its own zone.

    Times of day lie on the first of January 1970, and are refused if dates are needed.
    """
    array = check_single(columns)
    if array.dtype.kind == "M":
        check_years(array, columns)
        moments = array.astype("datetime64[us]")
    else:
        values = zip(columns.numbers, array.tolist(), strict=True)
        of_values = [_moment(value, sample, columns, needs_dates) for sample, value in values]
        moments = np.array(of_values, dtype="datetime64[us]")
    check_no_missing(replace(columns, arrays=[moments]))
    return moments


def _moment(value: Any, sample: int, columns: Columns, needs_dates: bool) -> Any:
    """Return one entry of a column as a moment without zone."""
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if isinstance(value, datetime):
        return np.datetime64(value.replace(tzinfo=None), "us")
    if isinstance(value, date):
        return np.datetime64(value, "us")
    if isinstance(value, time) and not needs_dates:
        return np.datetime64(datetime.combine(date(1970, 1, 1), value.replace(tzinfo=None)), "us")
    if isinstance(value, np.datetime64):
        check_years(np.array([value]), replace(columns, first_row=sample, rows=None))
        return value
    remedy = "convert the column, or choose a metric for what it holds (`paretodepth criteria` lists them)"
    if isinstance(value, time):
        remedy = "'time_of_day' compares times without dates"
    elif isinstance(value, str):
        remedy = "convert the text, with pandas.to_datetime say; in files dates are written 2024-07-01 23:30:00"
    elif isinstance(value, Real):
        remedy = "take a metric for numbers, 'difference' or 'cyclic', or convert it, with pandas.to_datetime say"
    expected = "dates, or timestamps" if needs_dates else "timestamps, or times of day"
    refuse_value(value, sample, columns, expected, remedy)


def check_years(array: NDArray[Any], columns: Columns) -> None:
    """Refuse dates that microseconds cannot represent."""
    years = array.astype("datetime64[Y]").astype(np.int64) + 1970
    wrong = np.flatnonzero(((years < FIRST_YEAR) | (years > LAST_YEAR)) & ~np.isnat(array))
    if len(wrong):
        raise ValueError(
            f"The column '{columns.names[0]}' of {columns.reader} must hold dates of the years {FIRST_YEAR} to "
            f"{LAST_YEAR}. Got the year {years[wrong[0]]} in sample {columns.numbers[wrong[0]]} instead; drop that "
            "sample or mend it."
        )


_times = partial(Metric, kind="times", is_symmetric=True)

METRICS = (
    _times(
        "elapsed",
        "days between two dates or timestamps, with fractions",
        _microseconds,
        _elapsed,
        values="moment",
        source="SciPy",
    ),
    _times(
        "time_of_day",
        "hours between two times of day, the shorter way round the clock, whatever the dates",
        _times_of_day,
        _time_of_day,
        values="time_of_day",
    ),
    _times(
        "weekday",
        "days between two weekdays, the shorter way round the week: 0 to 3",
        _weekdays,
        _cyclic(7),
        values="weekday",
    ),
    _times(
        "day_of_year",
        "days between two days of the year, the shorter way round a year of 365.25 days",
        _days_of_year,
        _cyclic(YEAR_DAYS),
        values="day_of_year",
    ),
)
