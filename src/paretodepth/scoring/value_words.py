"""Values in words: numbers with the digits that matter, times as a clock or a calendar shows them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from paretodepth.criteria.reference_range import PERIODS, ComparedValue, shown_number

EPOCH = datetime(1970, 1, 1)
DAY = PERIODS["time_of_day"]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
CATEGORY_LETTERS = 24
NAME_LETTERS = 30

NEVER_SEEN = {"nominal": "was never seen", "other": "is seen nowhere else", "fitted": "is in no fitted sample"}
"""What is said of a category that no sample has which a sample is compared with, by what these are."""


def value_text(value: ComparedValue, others: str = "nominal") -> str:
    """Return a value and what is usual, in words; `others` are "nominal", "other" or "fitted" samples.

    Examples
    --------
    >>> value_text(ComparedValue("TSH", "number", 0.031, 0.0002, 0.005, "high"))
    'TSH 0.031 is high (usual 0.0002–0.005)'
    >>> value_text(ComparedValue("shop", "category", "Q", n_same=0, n_samples=900))
    "shop 'Q' was never seen"
    >>> value_text(ComparedValue("shop", "category", "R", n_same=2, n_samples=900))
    "shop 'R' was seen in 2 of 900"
    >>> value_text(ComparedValue("time", "time_of_day", 3.2 * 3600e6, 8 * 3600e6, 18 * 3600e6, "off"))
    'time 03:12 (usual 08:00–18:00)'
    >>> value_text(ComparedValue("size", "number", 0.5, -1.0, 2.0))
    'size 0.5 is within the usual -1 to 2'
    """
    name = _short_name(value)
    if value.kind == "category":
        never = NEVER_SEEN[others]
        encoded = f"was seen in {value.n_same:,} of {value.n_samples:,}" if value.n_same else never
        return f"{name} {_category_text(value.value)} {encoded}"
    own = own_text(value)
    if not value.has_range:
        return f"{name} {own}"
    usual = range_text(value)
    if not value.direction:
        return f"{name} {own} is as usual" if value.low == value.high else f"{name} {own} is within the usual {usual}"
    verdict = f" is {value.direction}" if value.direction in ("high", "low") else ""
    return f"{name} {own}{verdict} (usual {usual})"


def beside_text(value: ComparedValue) -> str:
    """Return what the nearest have instead of a value, in words.

    Examples
    --------
    >>> beside_text(ComparedValue("hour", "number", 3.0, 9.0, 17.0, "low", n_samples=5))
    'have hour 9–17, this one 3'
    >>> beside_text(ComparedValue("shop", "category", "Q", n_samples=5))
    "have another shop than 'Q'"
    """
    name = _short_name(value)
    if value.kind == "category":
        return f"have another {name} than {_category_text(value.value)}"
    return f"have {name} {range_text(value)}, this one {own_text(value)}"


def range_text(value: ComparedValue) -> str:
    """Return what is usual as a range; a dash beside a minus would be hard to read."""
    low, high = (_text(end, value.kind) for end in (value.low, value.high))
    if low == high:
        return low
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def own_text(value: ComparedValue) -> str:
    """Return a number or a time as text that is on the same side of the usual range as the value itself."""
    if value.kind in ("number", "phase"):
        return number_text(shown_number(value.value, (value.low, value.high)))
    text = _time_text(value.value, value.kind)
    is_close = value.direction and text == _time_text(value.high, value.kind)
    return _time_text(value.value, value.kind, with_seconds=True) if is_close else text


def _text(number: float, kind: str) -> str:
    return number_text(number) if kind in ("number", "phase") else _time_text(number, kind)


def _short_name(value: ComparedValue) -> str:
    return value.name if len(value.name) <= NAME_LETTERS else f"{value.name[: NAME_LETTERS - 1]}…"


def _category_text(category: Any) -> str:
    """Return a category, cut if it is long; text in quotes."""
    if not isinstance(category, str):
        return str(category)
    return repr(category if len(category) <= CATEGORY_LETTERS else f"{category[: CATEGORY_LETTERS - 1]}…")


def number_text(number: float) -> str:
    """Return a number as a browser writes it, the same in sentences, in a terminal and on a page.

    Examples
    --------
    >>> [number_text(number) for number in (1012.5, 1234567.0, 0.00004, 1e-9, -0.0, 1.5e21)]
    ['1012.5', '1234567', '0.00004', '1e-9', '0', '1.5e+21']
    """
    # Nothing is added but the sign of minus zero.
    exact = (Decimal(repr(float(number))) + 0).normalize()
    return f"{exact:f}" if not exact or 1e-6 <= abs(exact) < 1e21 else f"{exact:e}"


def plain(value: Any, kind: str) -> Any:
    """Return a value as tables and JSON carry it: numbers and categories as they are, times as text; None: missing."""
    if value is None or value != value:
        return None
    return value if kind in ("number", "phase", "category") else _time_text(value, kind)


def _time_text(number: Any, kind: str, *, with_seconds: bool = False) -> str:
    """Return a time as a clock or a calendar shows it."""
    if kind == "weekday":
        return WEEKDAYS[int(number) % 7]
    if kind == "day_of_year":
        # Of a year with a 29th of February, as the days are counted up to 366.
        return f"{datetime(2000, 1, 1) + timedelta(days=int(number) % 366):%d %b}"
    moment = EPOCH + timedelta(microseconds=int(number % DAY if kind == "time_of_day" else number))
    clock = f"{moment:%H:%M:%S}" if with_seconds else f"{moment:%H:%M}"
    if kind == "time_of_day":
        return clock
    return f"{moment:%Y-%m-%d}" if clock == "00:00" else f"{moment:%Y-%m-%d} {clock}"
