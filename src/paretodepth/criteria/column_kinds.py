"""What each column of a table holds, by its values and its name."""

from __future__ import annotations

import numbers
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import evenly_spaced
from paretodepth.criteria.metrics.times import check_moments
from paretodepth.criteria.values import Column, Columns, array_kind, is_missing

N_INSPECTED = 5000
"""Rows, evenly spaced, by which a column is judged; what is counted is counted in all rows."""
LABELS = {"label", "labels", "class", "target", "y", "ground_truth", "truth"}
LABEL_WORDS = {"fraud", "fraudulent", "anomaly", "anomalous", "outlier"}
ID_WORDS = {"id", "uuid", "guid", "key", "nr", "no", "number"}
CODE_WORDS = {"zip", "zipcode", "postcode", "postal", "plz", "code", "id"}
"""Words in the names of columns whose numbers are names of something."""
MIN_FLAG_ROWS = 5
"""Rows from which on two values are no accident."""
MIN_ORDERED_ROWS = 10
"""Rows from which on it is no accident that they are in order."""
MIN_ID_DIGITS = 6
MIN_TEXT_WORDS = 2.0
"""Words in a cell, on average, that make a text; fewer are a name or a code."""
TAIL_RATIO = 2.0
"""How many times longer the upper tail of amounts is than the lower one, from the median to the 5 % quantiles.

Of their logarithms neither is as much longer than the other.
"""
MIN_AMOUNTS = 20
"""Different amounts; fewer are grades."""
MIN_SPAN = 6.0
"""How many times larger the upper of these quantiles is than the lower; below, differences serve as well."""


class ColumnKind(NamedTuple):
    """A column and what it holds.

    Attributes
    ----------
    name : str
    kind : str
        "number", "amount", "category", "flag", "text", "time", "series", "trajectory", "set", "id", "label",
        "constant", "empty" or "other".
    reason : str
        Why, for people who know the data and no statistics.
    values : ndarray
        Values of some rows, evenly spaced.
    """

    name: str
    kind: str
    reason: str
    values: Column


def column_kinds(
    columns: Mapping[str, Column], *, id_column: str | None = None, label: str | None = None
) -> list[ColumnKind]:
    """Return what each column of a table holds.

    Parameters
    ----------
    columns : mapping of ndarray
        The columns by name.
    id_column, label : str or None
        Columns that are known not to be criteria.

    Examples
    --------
    >>> from paretodepth.criteria.column_kinds import column_kinds
    >>> columns = {"nr": np.arange(6), "paid": np.array([True, False] * 3), "size": np.array([1.5, 2, 3, 3, 4, 4.5])}
    >>> [column.kind for column in column_kinds(columns)]
    ['id', 'flag', 'number']
    """
    known = {label: ("label", "the answer, not a measurement"), id_column: ("id", "names the samples")}
    found = []
    for name, array in columns.items():
        some = array[evenly_spaced(len(array), N_INSPECTED)]
        found.append(ColumnKind(name, *(known.get(name) or _kind_and_reason(name, array, some)), some))
    return found


def _kind_and_reason(name: str, array: Column, some: Column) -> tuple[str, str]:
    kind = array_kind(array)
    if kind == "numbers":
        return _of_numbers(name, array, some)
    if kind == "text":
        return _of_strings(name, array, some)
    if kind == "times":
        return _of_times(array, some)
    if kind == "lists":
        return _of_lists(some)
    return ("empty", "holds nothing") if all(map(is_missing, some)) else ("other", "holds no known type")


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: `CustomerID`, `customer_id` and `customer id` are the same.

    Examples
    --------
    >>> words_of("CustomerID"), words_of("zip-code"), words_of("isFraud")
    (['customer', 'id'], ['zip', 'code'], ['is', 'fraud'])
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", apart) if word]


def _is_named_like_a_label(name: str) -> bool:
    words = words_of(name)
    return "_".join(words) in LABELS or any(word in LABEL_WORDS for word in words)


def as_numbers(array: Column) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where there is none."""
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    return np.array([_as_number(value) for value in array], dtype=np.float64)


def _as_number(value: Any) -> float:
    if is_missing(value) or not isinstance(value, numbers.Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan


def _of_numbers(name: str, array: Column, some: Column) -> tuple[str, str]:
    """Return kind and reason of a column of numbers."""
    values = as_numbers(array)
    values = values[np.isfinite(values)]
    if not len(values):
        return "empty", "holds no number"
    low, high = float(values.min()), float(values.max())
    if low == high:
        return "constant", f"is always {_shown(low)}"
    are_flags = array.dtype.kind == "b" or isinstance(some[0], bool | np.bool_)
    if np.all((values == low) | (values == high)) and (are_flags or len(values) >= MIN_FLAG_ROWS):
        return _of_two(name, [_shown(low), _shown(high)] if not are_flags else ["true", "false"])
    few = as_numbers(some)
    few = few[np.isfinite(few)]
    if np.all(values == np.round(values)) and (found := _of_names(name, values, few)):
        return found
    if low >= 0 and _are_amounts(few):
        middle = float(np.median(few))
        return "amount", f"an amount, mostly near {_shown(middle)} and up to {_shown(high)}"
    return "number", f"a number from {_shown(low)} to {_shown(high)}"


def _are_amounts(values: NDArray[np.float64]) -> bool:
    """Tell whether ratios say more than differences: a long upper tail that logarithms make as short as the lower."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    if (
        len(np.unique(values)) < MIN_AMOUNTS
        or low <= 0
        or high < MIN_SPAN * low
        or high - middle <= TAIL_RATIO * (middle - low)
    ):
        return False
    upper, lower = np.log(high / middle), np.log(middle / low)
    return bool(max(upper, lower) <= TAIL_RATIO * min(upper, lower))


def _of_two(name: str, shown: Sequence[str]) -> tuple[str, str]:
    """Return kind and reason of a column of two values."""
    if _is_named_like_a_label(name):
        return "label", "has two values and the name of a label; it would give the answer away"
    return "flag", f"is either {shown[0]} or {shown[1]}"


def _of_names(name: str, values: NDArray[np.float64], few: NDArray[np.float64]) -> tuple[str, str] | None:
    """Return kind and reason of whole numbers that are names of something, or None if they are quantities."""
    words = words_of(name)
    low, high = values.min(), values.max()
    if len(values) > 2 and high - low + 1 == len(values):
        encoded = np.zeros(len(values), dtype=bool)
        encoded[(values - low).astype(np.intp)] = True
        if encoded.all():
            return "id", "numbers the rows"
    steps = np.diff(values)
    if len(values) >= MIN_ORDERED_ROWS and (np.all(steps > 0) or np.all(steps < 0)):
        return "id", "counts on from row to row"
    share = len(np.unique(few)) / len(few)
    if share > 0.95 and _are_long_and_random(few):
        return "id", "long numbers at random, nearly every row has another one"
    if not words or not (words[-1] in ID_WORDS or any(word in CODE_WORDS for word in words)):
        return None
    if share > 0.5:
        return "id", "has the name of a number that names things, and nearly every row has another one"
    return "category", f"numbers that are names, by the column's own: {len(np.unique(few))} different ones"


def _are_long_and_random(values: NDArray[np.float64]) -> bool:
    """Tell whether whole numbers have many digits, most of them equally many, and are spread evenly over their range.

    Quantities crowd somewhere; numbers that a machine has dealt out do not.
    """
    if values.min() < 0 or np.median(values) < 10 ** (MIN_ID_DIGITS - 1) or len(values) < MIN_ORDERED_ROWS:
        return False
    digits = np.floor(np.log10(np.maximum(values, 1)))
    places = np.sort((values - values.min()) / (values.max() - values.min()))
    gap = np.max(np.abs(places - np.linspace(0, 1, len(places))))
    # Of evenly spread numbers one in a hundred samples has a larger gap (Kolmogorov's distribution).
    return bool(np.mean(digits == np.median(digits)) >= 0.85 and gap < 1.63 / np.sqrt(len(places)))


def _of_strings(name: str, array: Column, some: Column) -> tuple[str, str]:
    """Return kind and reason of a column of strings."""
    counts = Counter(value for value in array if isinstance(value, str))
    few = [value for value in some if isinstance(value, str)]
    if len(counts) == 1:
        return "constant", f"is always {_shown(next(iter(counts)))}"
    if len(counts) == 2 and counts.total() >= MIN_FLAG_ROWS:
        return _of_two(name, [_shown(value) for value in counts])
    n_different = len(set(few))
    n_words = float(np.mean([len(value.split()) for value in few])) if few else 0.0
    if n_words >= MIN_TEXT_WORDS and n_different > len(few) / 3:
        return "text", f"free text of {n_words:.0f} words or so"
    if n_different > len(few) / 2:
        return "id", "nearly every row has another value"
    common = ", ".join(_shown(value) for value, _ in counts.most_common(2))
    return "category", f"{len(counts):,} different values, {common} the most frequent"


def _of_times(array: Column, some: Column) -> tuple[str, str]:
    """Return kind and reason of a column of dates or times."""
    try:
        moments = moments_of(some)
    except (TypeError, ValueError):
        return "other", "times that cannot be compared"
    if not len(moments):
        return "empty", "holds no time"
    low, high = moments.min(), moments.max()
    if low == high and np.all(moments_of(array) == low):
        return "constant", f"is always {some[0]}"
    has_dates = high - low >= np.timedelta64(1, "D") or low.astype("datetime64[D]").astype(int) != 0
    first, last = (str(moment.astype("datetime64[s]")) for moment in (low, high))
    if has_dates:
        return "time", f"dates or times from {first[:10]} to {last[:10]}"
    return "time", f"times of day from {first[11:]} to {last[11:]}"


def moments_of(array: Column) -> NDArray[np.datetime64]:
    """Return the times that are there; times of day lie on the first of January 1970."""
    moments = check_moments(Columns([array], ["times"], "profiles", True), needs_dates=False)
    return moments[~np.isnat(moments)]


def _of_lists(some: Column) -> tuple[str, str]:
    """Return kind and reason of a column of lists: series, trajectories or sets of names."""
    lists = [value for value in some if not is_missing(value)]
    entries = [entry for value in lists for entry in value]
    if not entries:
        return "empty", "holds empty lists"
    if all(isinstance(entry, str) for entry in entries):
        return "set", "lists of names"
    if all(isinstance(entry, numbers.Real) for entry in entries):
        lengths = {len(value) for value in lists}
        if min(lengths) > 0 and np.isfinite(np.array(entries, dtype=np.float64)).all():
            longest = f" to {max(lengths)}" if len(lengths) > 1 else ""
            return "series", f"series of {min(lengths)}{longest} values"
        return "other", "series with gaps"
    if all(_are_points(value) for value in lists):
        return "trajectory", "ways through the plane"
    return "other", "lists of no known kind"


def _are_points(value: Any) -> bool:
    """Tell whether a list holds at least two points x, y or x, y, t with rising t."""
    try:
        points = np.array([list(point) for point in value], dtype=np.float64)
    except (TypeError, ValueError):
        return False
    if points.ndim != 2 or len(points) < 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        return False
    return points.shape[1] == 2 or bool(np.all(np.diff(points[:, 2]) > 0))


def _shown(value: Any) -> str:
    """Return a value as people write it, cut if it is long."""
    if isinstance(value, str):
        return f"'{value if len(value) <= 30 else value[:29] + '…'}'"
    is_whole = value == round(value) or abs(value) >= 1000
    return f"{value:,.0f}" if is_whole and abs(value) < 1e15 else f"{value:.4g}"
