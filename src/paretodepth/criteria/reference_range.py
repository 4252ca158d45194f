"""What is usual of the columns that criteria read, and how a sample's values compare with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.metrics.metric import State
from paretodepth.criteria.values import Column, Columns, check_categories, is_missing

ValueKind = Literal["number", "phase", "moment", "time_of_day", "weekday", "day_of_year", "category"]
USUAL_SHARE = 0.9
"""Of the training samples are within what is usual."""
N_KEPT = 1001
"""Values of a column that are kept at most, spread evenly over all."""
MAX_ARC = 0.75
"""Share of a circle from which on a range is none: it would hold nearly everything."""
N_DIGITS = 6
"""Significant digits that a number is shown with; whole numbers are shown whole."""
MINUTE = 60e6
"""Microseconds; the ends of a range of times are whole minutes."""
LAST_MINUTE = 253_402_300_740e6
"""The last one of the year 9999."""
PERIODS: dict[str, float] = {"time_of_day": 24 * 3600e6, "weekday": 7.0, "day_of_year": 366.0}
TIMES: dict[str, ValueKind] = {
    "elapsed": "moment",
    "time_of_day": "time_of_day",
    "weekday": "weekday",
    "day_of_year": "day_of_year",
}
"""What metrics of times make of them, as their views hold it: microseconds since 1970, or of the day, or days."""


@dataclass(frozen=True)
class ReferenceRange:
    """What the training samples have in one column that a criterion reads.

    Attributes
    ----------
    column : int
    name : str
        Of the column or, if a criterion reads no other, of the criterion.
    kind : str
        What the values are; "phase" for numbers on a circle.
    n_samples : int
        Training samples that have a value.
    values : ndarray of shape (n_kept,)
        Numbers in rising order, the first and the last among them; none of categories.
    low, high : float
        Nine tenths of the training samples are from the one to the other; on a circle, the shortest way that holds
        this many starts at `low`. People read `ends`.
    period : float
        Of a circle, otherwise 0.
    counts : dict of int
        How many training samples have each category.
    """

    column: int
    name: str
    kind: ValueKind
    n_samples: int
    values: NDArray[np.float64]
    low: float = math.nan
    high: float = math.nan
    period: float = 0.0
    counts: dict[Any, int] = field(default_factory=dict)

    @classmethod
    def of_numbers(
        cls, column: int, name: str, kind: ValueKind, values: NDArray[np.float64], period: float
    ) -> ReferenceRange:
        """Return what is usual of numbers, at least one of which is there."""
        ranked = np.sort(values[~np.isnan(values)])
        n_samples = len(ranked)
        low, high = _shortest_arc(ranked, period, USUAL_SHARE) if period else _middle(ranked, USUAL_SHARE)
        kept = ranked[np.linspace(0, n_samples - 1, min(n_samples, N_KEPT)).round().astype(np.intp)]
        return cls(column, name, kind, n_samples, kept, low, high, period)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The usual range as sentences and pages show it, both NaN if there is none: see `shown_ends`."""
        return shown_ends(self.low, self.high, self.kind, self.period)

    def compared(self, value: Any, *, is_training_sample: bool = False) -> ComparedValue:
        """Return how a value, None if missing, compares with what is usual; a training sample is no other."""
        if self.kind == "category":
            n_same = max(self.counts.get(value, 0) - is_training_sample, 0)
            return ComparedValue(
                self.name, self.kind, value, n_same=n_same, n_samples=self.n_samples - is_training_sample
            )
        number = math.nan if value is None else float(value)
        direction = _direction(number, *self.ends, self.period)
        percentile = math.nan
        if not self.period and not math.isnan(number):
            percentile = 100 * float(np.searchsorted(self.values, number)) / len(self.values)
        return ComparedValue(self.name, self.kind, number, *self.ends, direction, percentile, 0, self.n_samples)

    def beside(self, value: Any, others: Sequence[Any]) -> ComparedValue:
        """Return how a value compares with those of some samples: what is usual is what they have."""
        if self.kind == "category":
            n_same = sum(other == value for other in others)
            return ComparedValue(self.name, self.kind, value, n_same=n_same, n_samples=len(others))
        ranked = np.sort(np.asarray(others, dtype=np.float64))
        # Values that a view holds as logarithms come back with other last bits.
        ranked = np.array([float(f"{other:.12g}") for other in ranked.tolist()])
        low, high = _shortest_arc(ranked, self.period, 1.0) if self.period else (float(ranked[0]), float(ranked[-1]))
        low, high = shown_ends(low, high, self.kind, self.period)
        slack = 1e-9 * max(abs(low), abs(high))
        direction = _direction(float(value), low - slack, high + slack, self.period)
        return ComparedValue(self.name, self.kind, float(value), low, high, direction, n_samples=len(others))


class ComparedValue(NamedTuple):
    """A value of a sample beside what is usual.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        As of `ReferenceRange`.
    value : float, category or None
    low, high : float
        What is usual; NaN of categories, and where there is no usual range.
    direction : str
        "high" or "low" if it is beyond that, "off" on a circle, otherwise nothing.
    percentile : float
        Percentage of the training samples that have less, to a tenth; NaN of categories and on a circle.
    n_same, n_samples : int
        Of a category, how many training samples have it, of how many.
    """

    name: str
    kind: ValueKind
    value: Any
    low: float = math.nan
    high: float = math.nan
    direction: str = ""
    percentile: float = math.nan
    n_same: int = 0
    n_samples: int = 0

    @property
    def is_known(self) -> bool:
        """Whether it is there."""
        return not is_missing(self.value)

    @property
    def has_range(self) -> bool:
        """Whether it is known what is usual: not of categories, nor of times all around the clock."""
        return not math.isnan(self.low)

    @property
    def unusualness(self) -> float:
        """How far beyond the usual it is, in widths of the usual range; of rare categories, how rare."""
        if self.kind == "category":
            is_rare = self.n_same <= (1 - USUAL_SHARE) / 2 * self.n_samples
            return 1 / (1 + self.n_same) if is_rare and self.value is not None else 0.0
        return self.beyond(self.low, self.high)

    def beyond(self, low: float, high: float) -> float:
        """Return how far beyond the usual it is in widths of a range; on a circle, whether it is."""
        if self.direction in ("", "off"):
            return float(bool(self.direction))
        return float(max(self.value - self.high, self.low - self.value)) / max(high - low, math.ulp(0.0))


def _direction(number: float, low: float, high: float, period: float) -> str:
    """Return on which side of a range a number is, nothing if it is within or missing, or there is no range."""
    if math.isnan(number) or math.isnan(low):
        return ""
    if period:
        return "" if (number - low) % period <= (high - low) % period else "off"
    return "high" if number > high else "low" if number < low else ""


def _middle(ranked: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Return between what the middle share of numbers in rising order is."""
    last, rest = len(ranked) - 1, (1 - share) / 2
    return float(ranked[math.floor(rest * last)]), float(ranked[math.ceil((1 - rest) * last)])


def _shortest_arc(ranked: NDArray[np.float64], period: float, share: float) -> tuple[float, float]:
    """Return the shortest way on a circle that holds a share of the numbers, from where to where."""
    n_within = math.ceil(share * len(ranked))
    ends = np.concatenate([ranked, ranked + period])[n_within - 1 :][: len(ranked)]
    first = int((ends - ranked).argmin())
    return float(ranked[first]), float(ends[first] % period)


def shown_ends(low: float, high: float, kind: ValueKind, period: float) -> tuple[float, float]:
    """Return the ends of a range as they are shown, so that what is within and what is not reads so.

    They are moved outward: times to whole minutes; numbers by at most a hundredth of the range, and of themselves.
    A range of more than three quarters of a circle is none.

    Examples
    --------
    >>> shown_ends(5.7132, 38.5629, "number", 0.0), shown_ends(1000.12349, 1000.98761, "number", 0.0)
    ((5.71, 38.6), (1000.123, 1000.988))
    >>> shown_ends(23.2, 20.1, "phase", 24.0)
    (nan, nan)
    """
    width = (high - low) % period if period else high - low
    if width > MAX_ARC * period > 0:
        return math.nan, math.nan
    if kind in ("weekday", "day_of_year"):
        return low, high
    if kind == "time_of_day":
        return low // MINUTE * MINUTE, -(-high // MINUTE) * MINUTE % period
    if kind == "moment":
        return low // MINUTE * MINUTE, min(-(-high // MINUTE) * MINUTE, LAST_MINUTE)
    return _moved(low, width, ROUND_FLOOR), _moved(high, width, ROUND_CEILING)


def _moved(end: float, width: float, rounding: str) -> float:
    """Return an end of a range with the digits that matter: those of a hundredth of the range, and its first three."""
    if not width or not math.isfinite(end + width):
        return end
    sizes = [_magnitude(size) for size in (end, width) if size]
    # Of the number as it is written: 38.56 is a little more in binary.
    moved = Decimal(repr(end)).quantize(Decimal(1).scaleb(min(sizes) - 2), rounding)
    return float(moved)


def _magnitude(number: float) -> int:
    """Return the power of ten of a number's first digit."""
    return Decimal(repr(float(number))).adjusted()


def shown_number(number: float, ends: Sequence[float] = ()) -> float:
    """Return a number as it is shown, with six digits: more where it would else be on the wrong side of an end.

    Examples
    --------
    >>> [shown_number(number) for number in (1012.5, 0.12345678, 1234567.89, 20240131.0)]
    [1012.5, 0.123457, 1234568.0, 20240131.0]
    >>> shown_number(38.600004, [5.71, 38.6])
    38.600004
    """
    if not math.isfinite(number) or number == number // 1:
        return number
    for n_digits in range(max(N_DIGITS, _magnitude(number) + 1), 18):
        shown = float(f"{number:.{n_digits}g}")
        if all((shown > end, shown < end) == (number > end, number < end) for end in ends):
            return shown
    return number


def reference_ranges(
    criterion: Criterion, indices: Sequence[int], columns: Columns, state: State
) -> tuple[ReferenceRange, ...]:
    """Return what is usual of the columns that a criterion reads: of numbers, times and categories."""
    found = []
    for place, (index, name) in enumerate(zip(indices, columns.names, strict=True)):
        kind = usual_kind(criterion, state, place)
        if kind is None or (kind in ("number", "phase") and not _are_numbers(columns.arrays[place])):
            continue
        values = _values(criterion, kind, replace(columns, arrays=[columns.arrays[place]], names=[name]), state)
        # A criterion of one column is known by its own name, save that a time needs no word for what is read of it;
        # without names columns are x0, x1 and so on.
        is_time = kind in TIMES.values()
        name = f"x{name}" if name.isdigit() else name
        if len(indices) == 1 and not (is_time and criterion.name.startswith(f"{name} (")):
            name = criterion.name
        if kind == "category":
            counts = Counter(value for value in values if value is not None)
            found.append(ReferenceRange(index, name, kind, counts.total(), np.empty(0), counts=dict(counts)))
        elif not np.isnan(values).all():
            found.append(ReferenceRange.of_numbers(index, name, kind, np.asarray(values), usual_period(kind, state)))
    return tuple(found)


def column_values(criterion: Criterion, usual: ReferenceRange, table: Columns, state: State) -> Any:
    """Return what samples have in a column, NaN or None where nothing, given all their columns."""
    columns = replace(table, arrays=[table.arrays[usual.column]], names=[usual.name], ignores_missing=True)
    return _values(criterion, usual.kind, columns, state)


def usual_kind(criterion: Criterion, state: State, place: int) -> ValueKind | None:
    """Return what the values of a criterion's column are, if they can be told; None if not."""
    metric = criterion.registered
    if metric is None or criterion.transform is not None:
        return None
    if metric.kind == "times":
        return TIMES.get(metric.name)
    if "vocabularies" in state and state["vocabularies"][place] is not None:
        return "category"
    if metric.kind not in ("numeric", "mixed"):
        return None
    return "phase" if metric.name == "cyclic" else "number"


def usual_period(kind: ValueKind, state: State) -> float:
    """Return the length of the circle that values are on, 0 if they are on none."""
    return float(state["period"]) if kind == "phase" else PERIODS.get(kind, 0.0)


def _are_numbers(array: Column) -> bool:
    if array.dtype.kind == "O":
        return all(is_missing(value) or np.ndim(value) == 0 for value in array)
    return array.ndim == 1


def _values(criterion: Criterion, kind: ValueKind, columns: Columns, state: Mapping[str, Any]) -> Any:
    """Return the values of one column: categories, or numbers as an array."""
    if kind == "category":
        return check_categories(columns)[0]
    if kind in TIMES.values():
        encoding: NDArray[np.float64] = criterion.registered.encode(columns, dict(state))[:, 0]  # type: ignore[union-attr]
        return encoding
    (array,) = columns.arrays
    if array.dtype.kind == "O":
        array = np.array([math.nan if is_missing(value) else float(value) for value in array])
    numbers = array.astype(np.float64)
    return np.mod(numbers, state["period"]) if kind == "phase" else numbers


def viewed_values(
    criterion: Criterion, usual: ReferenceRange, encoding: NDArray[Any], state: State, place: int
) -> list[Any]:
    """Return what samples have in a criterion's column, by its place, from what the metric sees of them."""
    numbers, metric = encoding[:, place], criterion.registered
    if usual.kind == "category":
        known = state["vocabularies"][place]
        return [known[int(code)] if 0 <= code < len(known) else None for code in numbers.tolist()]
    if metric is not None and metric.name == "log_ratio":
        numbers = np.exp(numbers)
    elif metric is not None and metric.name == "haversine":
        numbers = np.degrees(numbers)
    elif metric is not None and metric.name == "scaled":
        numbers = numbers * state["scales"][place]
        if state["floors"][place] > 0:
            numbers = 2 * state["floors"][place] * np.sinh(numbers)
    values: list[Any] = numbers.tolist()
    return values
