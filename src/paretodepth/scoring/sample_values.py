"""The values of samples in the columns that criteria read, compared with the typical ones, and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.reference_range import PERIODS, ComparedValue, ReferenceRange, shown_number
from paretodepth.criteria.values import Columns, is_missing
from paretodepth.scoring.model import Model

N_NEAR = 5
"""Nearest training samples in one criterion whose values in another are compared."""
EPOCH = datetime(1970, 1, 1)
DAY = PERIODS["time_of_day"]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
CATEGORY_LETTERS = 24
NAME_LETTERS = 30


class SampleValues(NamedTuple):
    """What samples have in the columns that criteria read.

    Attributes
    ----------
    columns : tuple
        For each criterion and column whose values can be compared: the criterion by index, what is usual, the values.
    texts : dict
        For each criterion of text, by index: the samples' texts, and those of their nearest training samples.
    training : dict
        For each criterion whose metric sees its columns one by one, by index: the criterion, and what it sees of
        the training samples.
    near : tuple of ndarray of shape (n_samples, n_near)
        For each criterion the nearest training samples.
    is_own : ndarray of shape (n_samples,)
        Whether each is a training sample itself.
    """

    columns: tuple[tuple[int, ReferenceRange, Any], ...] = ()
    texts: Mapping[int, tuple[Any, Any]] = {}
    training: Mapping[int, tuple[FittedCriterion, Encoding]] = {}
    near: tuple[NDArray[np.intp], ...] = ()
    is_training_sample: NDArray[np.bool_] | None = None

    def of(self, sample: int) -> dict[int, list[ComparedValue]]:
        """Return the values of a sample by criterion, the oddest first."""
        found: dict[int, list[ComparedValue]] = {}
        is_training_sample = self.is_training_sample is not None and bool(self.is_training_sample[sample])
        for criterion, usual, values in self.columns:
            found.setdefault(criterion, []).append(
                usual.compared(values[sample], is_training_sample=is_training_sample)
            )
        return {criterion: sorted(values, key=lambda value: -value.unusualness) for criterion, values in found.items()}

    def to_columns(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the values and what is usual as columns of a data frame, given the criteria's names."""
        columns: dict[str, list[Any]] = {}
        n_columns = Counter(criterion for criterion, _, _ in self.columns)
        for criterion, usual, values in self.columns:
            is_training_sample = (
                np.zeros(len(values), bool) if self.is_training_sample is None else self.is_training_sample
            )
            compared = [
                usual.compared(value, is_training_sample=own)
                for value, own in zip(values, is_training_sample.tolist(), strict=True)
            ]
            title = names[criterion] if n_columns[criterion] == 1 else f"{names[criterion]}, {usual.name}"
            columns[f"{title}: value"] = [json_value(value.value, value.kind) for value in compared]
            if usual.kind == "category":
                columns[f"{title}: n_same"] = [value.n_same for value in compared]
                continue
            columns[f"{title}: usual_low"] = [json_value(value.low, value.kind) for value in compared]
            columns[f"{title}: usual_high"] = [json_value(value.high, value.kind) for value in compared]
            columns[f"{title}: direction"] = [value.direction for value in compared]
            columns[f"{title}: value_percentile"] = [value.percentile for value in compared]
        return columns

    def texts_of(self, sample: int) -> dict[int, tuple[str, str]]:
        """Return the text of a sample and that of its nearest training sample, by criterion."""
        return {criterion: (own[sample], nearest[sample]) for criterion, (own, nearest) in self.texts.items()}

    def beside(self, sample: int, kept: int, other: int) -> ComparedValue | None:
        """Return what a sample has in one criterion and none of its nearest in another has, where that is most odd."""
        if other not in self.training:
            return None
        fitted, encoding = self.training[other]
        near = encoding[self.near[kept][sample]]
        odd: list[tuple[float, ComparedValue]] = []
        for _, usual, values in (part for part in self.columns if part[0] == other):
            others = fitted.decoded(usual, near)
            if not is_missing(values[sample]) and not any(map(is_missing, others)):
                value = usual.beside(values[sample], others)
                if value.direction:
                    odd.append((value.beyond(usual.low, usual.high), value))
                elif value.kind == "category" and not value.n_same:
                    odd.append((1.0, value))
        return max(odd, key=lambda part: part[0])[1] if odd else None


NO_VALUES = SampleValues()


def sample_values(
    model: Model, columns: Columns, neighbors: list[NDArray[np.intp]], is_training_sample: NDArray[np.bool_]
) -> SampleValues:
    """Return what samples have, given their columns, the rows of their nearest, and which are training samples."""
    near = tuple(np.searchsorted(model.rows, rows[:, :N_NEAR]) for rows in neighbors)
    training: dict[int, tuple[FittedCriterion, Encoding]] = {}
    found: list[tuple[int, ReferenceRange, Any]] = []
    texts: dict[int, tuple[Any, Any]] = {}
    for place, fitted in enumerate(model.criteria.fitted):
        metric = fitted.criterion.registered
        for usual in fitted.typical:
            found.append((place, usual, fitted.values(usual, columns)))
        encoding = model.training[place]
        if fitted.typical and encoding.ndim == 2 and encoding.shape[1] == len(fitted.columns):
            training[place] = (fitted, encoding)
        if metric is not None and metric.kind == "text" and fitted.transform is None:
            texts[place] = (columns.arrays[fitted.columns[0]], model.training[place][near[place][:, 0]])
    return SampleValues(tuple(found), texts, training, near, is_training_sample)


def value_text(value: ComparedValue, record: str = "reference record") -> str:
    """Return a value and what is typical, in words; `record` is what it is compared with.

    Examples
    --------
    >>> value_text(ComparedValue("TSH", "number", 0.031, 0.0002, 0.005, "high"))
    'TSH 0.031 is far above the typical 0.0002–0.005'
    >>> value_text(ComparedValue("shop", "category", "Q", n_same=0, n_samples=900))
    "shop 'Q' occurs in no reference record"
    >>> value_text(ComparedValue("shop", "category", "R", n_same=2, n_samples=900), "other record")
    "shop 'R' occurs in 2 of 900 other records"
    >>> value_text(ComparedValue("time", "time_of_day", 3.2 * 3600e6, 8 * 3600e6, 18 * 3600e6, "off"))
    'time 03:12 is outside the typical 08:00–18:00'
    >>> value_text(ComparedValue("size", "number", 0.5, -1.0, 2.0))
    'size 0.5 is within the typical -1 to 2'
    """
    text = f"{shortened(value.name)} {own_text(value)}"
    if value.kind == "category":
        counted = f"{value.n_same:,} of {value.n_samples:,} {record}s" if value.n_same else f"no {record}"
        return f"{text} occurs in {counted}"
    if not value.has_range:
        return text
    if not value.direction:
        return f"{text} is typical" if value.low == value.high else f"{text} is within the typical {range_text(value)}"
    far = "far " if value.low < value.high and value.unusualness > 1 else ""
    beyond = {"high": f"{far}above", "low": f"{far}below", "off": "outside"}[value.direction]
    if value.kind == "moment":
        beyond = {"high": "later than", "low": "earlier than"}[value.direction]
    return f"{text} is {beyond} the typical {range_text(value)}"


def shortened(text: str, n_letters: int = NAME_LETTERS) -> str:
    """Return a text that is cut if it is long."""
    return text if len(text) <= n_letters else f"{text[: n_letters - 1]}…"


def range_text(value: ComparedValue) -> str:
    """Return the typical range; a dash beside a minus would be hard to read."""
    low, high = (_text(end, value.kind) for end in (value.low, value.high))
    if low == high:
        return low
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def own_text(value: ComparedValue) -> str:
    """Return a value as text; a number or a time is on the same side of the typical range as the value itself."""
    if value.kind == "category":
        return repr(shortened(value.value, CATEGORY_LETTERS)) if isinstance(value.value, str) else str(value.value)
    if value.kind in ("number", "phase"):
        return number_text(shown_number(value.value, (value.low, value.high)))
    text = _time_text(value.value, value.kind)
    is_close = value.direction and text == _time_text(value.high, value.kind)
    return _time_text(value.value, value.kind, with_seconds=True) if is_close else text


def _text(number: float, kind: str) -> str:
    return number_text(number) if kind in ("number", "phase") else _time_text(number, kind)


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


def json_value(value: Any, kind: str) -> Any:
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
