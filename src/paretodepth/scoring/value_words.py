"""Values in words: numbers with the digits that matter, times as a clock or a calendar shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from paretodepth.criteria.usual import Value

EPOCH = datetime(1970, 1, 1)
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
N_DIGITS = range(3, 18)
CATEGORY_LETTERS = 24
NAME_LETTERS = 30

NEVER_SEEN = {"nominal": "was never seen", "other": "is seen nowhere else", "fitted": "is in no fitted sample"}
"""What is said of a category that no sample has which a sample is compared with, by what these are."""


def value_text(value: Value, others: str = "nominal") -> str:
    """Return a value and what is usual, in words; `others` are "nominal", "other" or "fitted" samples.

    Examples
    --------
    >>> value_text(Value("TSH", "number", 0.031, 0.0002, 0.005, "high"))
    'TSH 0.031 is high (usual 0.0002–0.005)'
    >>> value_text(Value("shop", "category", "Q", n_same=0, n_samples=900))
    "shop 'Q' was never seen"
    >>> value_text(Value("shop", "category", "R", n_same=2, n_samples=900))
    "shop 'R' was seen in 2 of 900"
    >>> value_text(Value("time", "time_of_day", 3.2 * 3600e6, 8 * 3600e6, 18 * 3600e6, "off"))
    'time 03:12 (usual 08:00–18:00)'
    >>> value_text(Value("size", "number", 0.5, -1.0, 2.0))
    'size 0.5 is within the usual -1 to 2'
    """
    name = _short_name(value)
    if value.kind == "category":
        never = NEVER_SEEN[others]
        seen = f"was seen in {value.n_same:,} of {value.n_samples:,}" if value.n_same else never
        return f"{name} {_category_text(value.value)} {seen}"
    own, low, high = shown_values(value)
    usual = _range_text(low, high)
    if not value.direction:
        return f"{name} {own} is as usual" if low == high else f"{name} {own} is within the usual {usual}"
    verdict = f" is {value.direction}" if value.direction in ("high", "low") else ""
    return f"{name} {own}{verdict} (usual {usual})"


def beside_text(value: Value) -> str:
    """Return what the nearest have instead of a value, in words.

    Examples
    --------
    >>> beside_text(Value("hour", "number", 3.0, 9.0, 17.0, "low", n_samples=5))
    'have hour 9–17, this one 3'
    >>> beside_text(Value("shop", "category", "Q", n_samples=5))
    "have another shop than 'Q'"
    """
    name = _short_name(value)
    if value.kind == "category":
        return f"have another {name} than {_category_text(value.value)}"
    own, low, high = shown_values(value)
    return f"have {name} {_range_text(low, high)}, this one {own}"


def _range_text(low: str, high: str) -> str:
    """Return a range; a dash beside a minus would be hard to read."""
    if low == high:
        return low
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def _short_name(value: Value) -> str:
    return value.name if len(value.name) <= NAME_LETTERS else f"{value.name[: NAME_LETTERS - 1]}…"


def _category_text(category: Any) -> str:
    """Return a category, cut if it is long; text in quotes."""
    if not isinstance(category, str):
        return str(category)
    return repr(category if len(category) <= CATEGORY_LETTERS else f"{category[: CATEGORY_LETTERS - 1]}…")


def shown_values(value: Value) -> Sequence[str]:
    """Return a value and the ends of what is usual as text, in so many digits that different ones look different."""
    numbers = (value.value, value.low, value.high)
    if value.kind not in ("number", "phase"):
        return [_time_text(number, value.kind) for number in numbers]
    for n_digits in N_DIGITS:
        texts = [number_text(number, n_digits) for number in numbers]
        read = [float(text.replace(",", "")) for text in texts]
        if all((read[0] > end) == (value.value > exact) for end, exact in zip(read[1:], numbers[1:], strict=True)) and (
            read[0] < read[1]
        ) == (value.value < value.low):
            break
    return texts


def number_text(number: float, n_digits: int) -> str:
    """Return a number with some digits, without an exponent where few zeros do.

    Examples
    --------
    >>> number_text(1234567.0, 3), number_text(0.00004, 3), number_text(1e-9, 3), number_text(12.5, 3)
    ('1,234,567', '0.00004', '1e-09', '12.5')
    """
    if 1000 <= abs(number) < 1e12:
        return f"{number:,.0f}" if n_digits <= 4 or number == round(number) else f"{number:,.{n_digits - 4}f}"
    text = f"{number:.{n_digits}g}"
    # As many decimals as show the same digits.
    return f"{Decimal(text):f}" if 1e-6 <= abs(number) < 1e-4 else text


def plain(value: Any, kind: str) -> Any:
    """Return a value as tables and JSON carry it: numbers and categories as they are, times as text; None: missing."""
    if value is None or value != value:
        return None
    return value if kind in ("number", "phase", "category") else _time_text(value, kind)


def _time_text(number: Any, kind: str) -> str:
    """Return a time as a clock or a calendar shows it."""
    if kind == "weekday":
        return WEEKDAYS[int(number) % 7]
    if kind == "day_of_year":
        # Of a year with a 29th of February, as the days are counted up to 366.
        return f"{datetime(2000, 1, 1) + timedelta(days=int(number) % 366):%d %b}"
    if kind == "time_of_day":
        minutes = int(number // 60e6)
        return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"
    moment = EPOCH + timedelta(microseconds=int(number))
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"
