"""The typical range of each column that criteria read, and how a sample's values compare with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import evenly_spaced
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.metrics.metric import State, ValueKind
from paretodepth.criteria.values import Column, Columns, check_categories, check_numbers, is_missing

TYPICAL_SHARE = 0.9
"""Share of the training samples within the typical range."""
N_KEPT = 1001
"""Maximum number of values kept of a column, evenly spaced among the sorted values."""
MAX_ARC = 0.75
"""A range longer than this share of a circle is none: it would hold nearly everything."""
N_BINS = 32
BINS = {"time_of_day": 24, "weekday": 7}
"""Bars of a histogram; around a clock and a week."""
EDGE_SHARE = 0.005
"""Share of the smallest and of the largest values that a histogram counts in its outer bars."""
LOG_RATIO = 50.0
"""Positive values with such a ratio of the largest to the median get bars of equal width on a logarithmic axis."""
N_DIGITS = 6
"""Significant digits that a number is shown with; whole numbers are shown whole."""
MINUTE = 60e6
"""Microseconds; the ends of a range of times are whole minutes."""
LAST_MINUTE = 253_402_300_740e6
"""The last one of the year 9999."""
PERIODS: dict[str, float] = {"time_of_day": 24 * 3600e6, "weekday": 7.0, "day_of_year": 366.0}
"""Length of the circle that times lie on, in the unit of their encoding."""


class Histogram(NamedTuple):
    """Counts of values in bars of equal width, from `low` to `high`.

    Attributes
    ----------
    low, high : float
    is_logarithmic : bool
        Whether the bars are equally wide on a logarithmic axis.
    counts : list of int
        Values of each bar; the outer bars count the values beyond them too.
    """

    low: float
    high: float
    is_logarithmic: bool
    counts: list[int]


@dataclass(frozen=True)
class ReferenceRange:
    """The values of the training samples in one column that a criterion reads, and their typical range.

    Attributes
    ----------
    column : int
    name : str
        Name of the column or, if the criterion reads no other, of the criterion.
    kind : str
        What the values are; "phase" for numbers on a circle.
    n_samples : int
        Number of training samples that have a value.
    values : ndarray of shape (n_kept,)
        Sorted numbers, including the smallest and the largest; empty for categories.
    low, high : float
        The typical range: nine tenths of the training samples are within it. On a circle, it is the shortest arc
        that holds as many, from `low` onwards. People read `ends`.
    period : float
        Length of the circle, 0 if there is none.
    counts : dict of int
        Number of training samples of each category.
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
        """Return the range of numbers, at least one of which is not NaN."""
        ranked = np.sort(values[~np.isnan(values)])
        n_samples = len(ranked)
        low, high = _shortest_arc(ranked, period, TYPICAL_SHARE) if period else _middle(ranked, TYPICAL_SHARE)
        kept = ranked[evenly_spaced(n_samples, N_KEPT)]
        return cls(column, name, kind, n_samples, kept, low, high, period)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The typical range as sentences and pages show it, both NaN if there is none: see `shown_ends`."""
        return shown_ends(self.low, self.high, self.kind, self.period)

    @property
    def ranked_categories(self) -> list[Any]:
        """The categories, the most frequent first."""
        return sorted(self.counts, key=lambda category: -self.counts[category])

    def histogram(self) -> Histogram:
        """Return the counts of the kept numbers in bars."""
        low, middle, high = np.quantile(self.values, [EDGE_SHARE, 0.5, 1 - EDGE_SHARE], method="nearest").tolist()
        is_logarithmic = low > 0 and high > LOG_RATIO * middle and self.kind == "number"
        if self.period:
            low, high = 0.0, self.period
        elif low == high:
            low, high = low - 0.5, high + 0.5
        space = np.geomspace if is_logarithmic else np.linspace
        edges: NDArray[np.float64] = space(low, high, 1 + BINS.get(self.kind, N_BINS))
        counts = np.histogram(np.clip(self.values, low, high), np.maximum.accumulate(edges))[0]
        return Histogram(low, high, is_logarithmic, counts.tolist())

    def compared(self, value: Any, *, is_training_sample: bool = False) -> ComparedValue:
        """Return how a value, None if missing, compares with the typical range of other samples."""
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
        """Return how a value compares with those of some samples, as if all of theirs were typical."""
        if self.kind == "category":
            n_same = sum(other == value for other in others)
            return ComparedValue(self.name, self.kind, value, n_same=n_same, n_samples=len(others))
        ranked = np.sort(np.asarray(others, dtype=np.float64))
        # Values that were encoded as logarithms come back with other last bits.
        ranked = np.array([float(f"{other:.12g}") for other in ranked.tolist()])
        low, high = _shortest_arc(ranked, self.period, 1.0) if self.period else (float(ranked[0]), float(ranked[-1]))
        low, high = shown_ends(low, high, self.kind, self.period)
        slack = 1e-9 * max(abs(low), abs(high))
        direction = _direction(float(value), low - slack, high + slack, self.period)
        return ComparedValue(self.name, self.kind, float(value), low, high, direction, n_samples=len(others))


class ComparedValue(NamedTuple):
    """A value of a sample and the typical range.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        As of `ReferenceRange`.
    value : float, category or None
    low, high : float
        The typical range; NaN for categories and where there is none.
    direction : str
        "high" or "low" if the value is beyond the range, "off" on a circle, otherwise empty.
    percentile : float
        Percentage of the training samples with a smaller value, to a tenth; NaN for categories and on a circle.
    n_same, n_samples : int
        Of a category, the number of training samples that have it, and of those compared.
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
        """Whether the value is not missing."""
        return not is_missing(self.value)

    @property
    def has_range(self) -> bool:
        """Whether there is a typical range: not for categories, nor for times all around the clock."""
        return not math.isnan(self.low)

    @property
    def unusualness(self) -> float:
        """Distance from the typical range in widths of that range; of rare categories, how rare they are."""
        if self.kind == "category":
            is_rare = self.n_same <= (1 - TYPICAL_SHARE) / 2 * self.n_samples
            return 1 / (1 + self.n_same) if is_rare and self.value is not None else 0.0
        return self.beyond(self.low, self.high)

    def beyond(self, low: float, high: float) -> float:
        """Return the distance from the typical range in widths of a given one; on a circle 1 beyond it, else 0."""
        if self.direction in ("", "off"):
            return float(bool(self.direction))
        return float(max(self.value - self.high, self.low - self.value)) / max(high - low, math.ulp(0.0))


def _direction(number: float, low: float, high: float, period: float) -> str:
    """Return on which side of a range a number is; empty if it is within or missing, or there is no range."""
    if math.isnan(number) or math.isnan(low):
        return ""
    if period:
        return "" if (number - low) % period <= (high - low) % period else "off"
    return "high" if number > high else "low" if number < low else ""


def _middle(ranked: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Return the range of the middle share of sorted numbers."""
    last, rest = len(ranked) - 1, (1 - share) / 2
    return float(ranked[math.floor(rest * last)]), float(ranked[math.ceil((1 - rest) * last)])


def _shortest_arc(ranked: NDArray[np.float64], period: float, share: float) -> tuple[float, float]:
    """Return start and end of the shortest arc of a circle that holds a share of the numbers."""
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
    """Return the typical range of each column that a criterion reads: of numbers, times and categories."""
    found = []
    for place, (index, name) in enumerate(zip(indices, columns.names, strict=True)):
        kind = value_kind(criterion, state, place)
        array = columns.arrays[place]
        if kind is None or (kind in ("number", "phase") and not _holds_single_values(array)):
            continue
        values = column_values(criterion, kind, columns.alone(place), state)
        # A criterion of one column goes by its own name, except "when (weekday)": a time needs no such word.
        # Columns without names are x0, x1 and so on.
        name = f"x{name}" if name.isdigit() else name
        is_named_for_time = kind not in ("number", "phase", "category") and criterion.name.startswith(f"{name} (")
        if len(indices) == 1 and not is_named_for_time:
            name = criterion.name
        if kind == "category":
            counts = Counter(value for value in values if value is not None)
            found.append(ReferenceRange(index, name, kind, counts.total(), np.empty(0), counts=dict(counts)))
        elif not np.isnan(values).all():
            found.append(ReferenceRange.of_numbers(index, name, kind, values, circle_length(kind, state)))
    return tuple(found)


def value_kind(criterion: Criterion, state: State, place: int) -> ValueKind | None:
    """Return what the values of a criterion's column are; None if they have no typical range."""
    metric = criterion.registered
    if metric is None or criterion.transform is not None:
        return None
    vocabularies = state.get("vocabularies")
    return metric.values if vocabularies is None or vocabularies[place] is None else "category"


def circle_length(kind: ValueKind, state: State) -> float:
    """Return the length of the circle that values are on, 0 if they are on none."""
    return float(state["period"]) if kind == "phase" else PERIODS.get(kind, 0.0)


def _holds_single_values(array: Column) -> bool:
    if array.dtype.kind == "O":
        return all(is_missing(value) or np.ndim(value) == 0 for value in array)
    return array.ndim == 1


def column_values(criterion: Criterion, kind: ValueKind, columns: Columns, state: State) -> Any:
    """Return the values of one column: categories, or numbers as an array."""
    if kind == "category":
        return check_categories(columns)[0]
    if kind == "number":
        return check_numbers(columns)[:, 0]
    encoding: NDArray[np.float64] = criterion.registered.encode(columns, state)  # type: ignore[union-attr]
    return encoding[:, 0]
