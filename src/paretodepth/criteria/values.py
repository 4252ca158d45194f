"""Columns of samples, and what the values that a criterion reads must be."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import shortened

Column = NDArray[Any]
Origin = tuple[int, int | NDArray[np.intp]]
"""The numbers, in messages, of a block's first row and of its first column, or of each column."""
Numbers = Sequence[int] | NDArray[np.intp]
"""Of samples, in messages."""
VALUE_KINDS: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    (numbers.Real, "numbers"),
    (date | time | np.datetime64, "times"),
    (list | tuple | np.ndarray, "lists"),
)
"""Types of objects in a column, and what the column holds."""
LARGEST = int(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Columns:
    """Some columns of a table of samples.

    Attributes
    ----------
    arrays : list of ndarray of shape (n_samples,) or (n_samples, width)
        Numbers, or objects such as strings and arrays.
    names : list of str
        Names, or indices, for messages.
    reader : str
        The criterion or detector that reads them, for messages.
    ignores_missing : bool
        Whether missing values are allowed.
    first_row : int
        Number of the first sample, for messages: samples may come in parts.
    rows : ndarray of shape (n_samples,) or None
        Row numbers of these samples, counted from the first, if others were dropped.
    """

    arrays: list[Column]
    names: list[str]
    reader: str
    ignores_missing: bool = False
    first_row: int = 0
    rows: NDArray[np.intp] | None = None

    @property
    def numbers(self) -> Numbers:
        """The number of each sample, for messages."""
        return range(self.first_row, self.first_row + len(self)) if self.rows is None else self.first_row + self.rows

    def alone(self, place: int) -> Columns:
        """Return one of the columns alone."""
        return replace(self, arrays=[self.arrays[place]], names=[self.names[place]])

    @property
    def parts(self) -> list[Columns]:
        """Each column alone."""
        return [self.alone(place) for place in range(len(self.arrays))]

    @property
    def entries(self) -> Iterable[tuple[int, Any]]:
        """The samples' numbers, for messages, and their values in the only column."""
        return zip(self.numbers, self.arrays[0], strict=True)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.arrays[0])


def array_kind(array: Column) -> str:
    """Return "numbers", "text", "times" or "lists", by a column's type or first value; empty if neither decides."""
    if array.dtype.kind in "fiub":
        return "numbers" if array.ndim == 1 else "lists"
    if array.dtype.kind == "M":
        return "times"
    # NumPy counts durations among the integers.
    value = next((value for value in array if not is_missing(value) and array.dtype.kind != "m"), None)
    for types, kind in VALUE_KINDS:
        if isinstance(value, types):
            return kind
    return ""


def check_no_missing(columns: Columns) -> None:
    """Refuse missing values, counted per column, unless they are to be ignored."""
    if not columns.ignores_missing:
        _refuse_missing(columns, [int(missing_entries(array).sum()) for array in columns.arrays], columns.names)


def missing_entries(array: Column) -> NDArray[np.bool_]:
    """Tell which entries of a column are missing: NaN, None, NA, NaT."""
    if array.dtype.kind in "fc":
        is_nan = np.isnan(array)
        return is_nan if array.ndim == 1 else np.asarray(is_nan.reshape(len(array), -1).any(axis=1))
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=bool)
    return np.fromiter((is_missing(value) for value in array), dtype=bool, count=len(array))


def is_missing(value: object) -> bool:
    """Tell whether a value stands for a missing one."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    # pandas' own missing values are known by name: it need not be installed.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _refuse_missing(columns: Columns, counts: Sequence[int], names: Sequence[str]) -> None:
    """Raise an error if any column misses values."""
    missing = [f"{count} in '{name}'" for count, name in zip(counts, names, strict=True) if count]
    if missing:
        raise ValueError(
            f"The columns of {columns.reader} must hold no missing values (NaN, None). Got {', '.join(missing)} "
            "instead; impute the values, or set missing='drop' on the criterion to leave these samples out, "
            "'ignore' on one of several columns to compare what both samples have."
        )


def check_numbers(columns: Columns) -> NDArray[np.float64]:
    """Return columns of numbers, or of equally long arrays of numbers, as one array of shape (n_samples, width)."""
    parts = [
        array.reshape(len(array), -1) if array.dtype.kind in "fiub" else _number_column(columns.alone(place))
        for place, array in enumerate(columns.arrays)
    ]
    # A copy even of one column: who gave it may change it.
    table = np.array(parts[0] if len(parts) == 1 else np.hstack(parts), dtype=np.float64, order="C")
    if np.isfinite(table).all():
        return table
    names = [name for part, name in zip(parts, columns.names, strict=True) for _ in range(part.shape[1])]
    if np.isinf(table).any():
        sample, column = np.argwhere(np.isinf(table))[0]
        raise ValueError(
            f"The columns of {columns.reader} must hold finite numbers. Got {table[sample, column]} in "
            f"'{names[column]}', sample {columns.numbers[sample]}; drop that sample or mend it."
        )
    if not columns.ignores_missing:
        counts = np.isnan(table).sum(axis=0)
        _refuse_missing(columns, [int(count) for count in counts], names)
    return table


def _number_column(column: Columns) -> NDArray[Any]:
    """Return a column of objects as numbers of shape (n_samples, width)."""
    (array,) = column.arrays
    if array.dtype.kind != "O":
        refuse_value(array[0], column.numbers[0], column, "numbers")
    if any(isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) for value in array):
        return _check_equal_lengths(column)
    values = np.empty((len(array), 1))
    for row, (sample, value) in enumerate(column.entries):
        if is_missing(value):
            values[row] = np.nan
        elif isinstance(value, numbers.Real | np.bool_) and not _is_too_large(value):
            values[row] = float(value)
        else:
            refuse_value(value, sample, column, "numbers")
    return values


def _check_equal_lengths(column: Columns) -> NDArray[np.float64]:
    """Return a column of equally long arrays as rows."""
    rows = [_float_array(value, 1, sample, column) for sample, value in column.entries]
    for sample, row in zip(column.numbers, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"The column '{column.names[0]}' of {column.reader} must hold arrays of one length for this metric. "
                f"Got {len(rows[0])} values in sample {column.numbers[0]} and {len(row)} in sample {sample} instead; "
                "'dtw' and 'shape_based' compare series of unequal lengths."
            )
    return np.stack(rows)


def _float_array(value: Any, ndim: int, sample: int, column: Columns) -> NDArray[np.float64]:
    """Return one entry of a column as an array of numbers with `ndim` dimensions."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and ndim == 2 and len(array):
            # Nested lists of a data frame arrive as arrays of arrays.
            array = np.stack([np.asarray(row) for row in value])
    except (ValueError, TypeError):
        array = np.empty(0, dtype=object)
    if array.ndim != ndim or array.dtype.kind not in "fiub":
        refuse_value(value, sample, column, "arrays of numbers" if ndim == 1 else "arrays of points")
    return np.ascontiguousarray(array, dtype=np.float64)


def refuse_value(value: object, sample: int, column: Columns, expected: str, remedy: str | None = None) -> NoReturn:
    """Raise an error about an entry of the wrong kind."""
    if remedy is None:
        value, remedy = _remedied(value)
    raise TypeError(
        f"The column '{column.names[0]}' of {column.reader} must hold {expected}. Got {shortened(value)} of type "
        f"{type(value).__name__} in sample {sample} instead; {remedy}."
    )


def _remedied(value: object) -> tuple[object, str]:
    """Return an entry of the wrong kind as it is shown, and what to do about it."""
    if isinstance(value, date | time | np.datetime64):
        return value, "take a metric for dates and times: 'elapsed', 'time_of_day', 'weekday' or 'day_of_year'"
    if isinstance(value, timedelta | np.timedelta64):
        return value, "convert the durations to numbers, say seconds"
    if isinstance(value, str):
        remedy = "convert it if it means numbers, or take a metric for text or categories, 'levenshtein' or 'mismatch'"
        return value, remedy
    if _is_too_large(value):
        return float("inf"), "drop that sample, or divide the column by a power of ten"
    return value, "convert the column, or choose a metric for what it holds (`paretodepth criteria` lists them)"


def check_no_others(rows: NDArray[Any], reader: str, first_row: int) -> None:
    """Refuse strings among samples that are to be numbers, even if they could be read as such, times, huge numbers."""
    for sample, row in enumerate(rows, first_row):
        for column, value in enumerate(np.atleast_1d(row)):
            if isinstance(value, str | date | time) or _is_too_large(value):
                refuse_value(value, sample, Columns([], [str(column)], reader), "numbers")


def _is_too_large(value: object) -> bool:
    """Tell whether an integer is beyond the range of floats."""
    return isinstance(value, int) and abs(value) > LARGEST


def check_single(columns: Columns) -> Column:
    """Return the one column that a metric of single values reads."""
    if len(columns.arrays) != 1:
        raise ValueError(
            f"The columns of {columns.reader} must be one for this metric. Got {len(columns.arrays)} instead, "
            f"{', '.join(repr(name) for name in columns.names[:5])}; name one, or make a criterion of each."
        )
    return columns.arrays[0]


def check_categories(columns: Columns) -> list[list[Any]]:
    """Return for each column its categories as plain Python values, None where missing."""
    return [
        [None if is_missing(value) else check_category(value, sample, column) for sample, value in column.entries]
        for column in columns.parts
    ]


def check_category(value: Any, sample: int, column: Columns) -> Any:
    """Return a category: a string, a boolean or a number."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if not isinstance(value, str | bool | int | float) or _is_too_large(value):
        refuse_value(value, sample, column, "categories: strings, booleans or numbers below 1.8e308")
    return value


def check_sequences(column: Columns, ndim: int) -> Column:
    """Return a column of series (one dimension) or of at least two points each (two) as arrays of finite numbers."""
    sequences = object_column(_float_array(value, ndim, sample, column) for sample, value in column.entries)
    expected = f"The column '{column.names[0]}' of {column.reader} must hold"
    for sample, array in zip(column.numbers, sequences, strict=True):
        if len(array) < ndim:
            raise ValueError(
                f"{expected} at least {ndim} {'point' if ndim == 1 else 'points'} in every sequence. Got {len(array)} "
                f"in sample {sample} instead; drop that sample."
            )
        if not np.isfinite(array).all():
            position = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ValueError(
                f"{expected} finite numbers in every sequence. Got {array[position].tolist()} at position {position} "
                f"of sample {sample} instead; drop or interpolate it."
            )
    return sequences


def object_column(values: Iterable[Any]) -> Column:
    """Return an array of shape (n_samples,) that holds the values as they are, also equally long arrays."""
    values = list(values)
    column = np.empty(len(values), dtype=object)
    for sample, value in enumerate(values):
        column[sample] = value
    return column


def check_dissimilarities(block: object, shape: tuple[int, ...], name: str, origin: Origin) -> NDArray[np.float64]:
    """Return a criterion's block of finite, non-negative dissimilarities; `origin` numbers it."""
    array = np.asarray(block)
    if array.shape != shape or array.dtype.kind not in "fiub":
        raise ValueError(
            f"The metric of the criterion '{name}' must return numbers of the shape (len(A), len(B)) = {shape}. "
            f"Got the shape {array.shape} and dtype {array.dtype} instead."
        )
    array = array.astype(np.float64, copy=False)
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        row, column = np.argwhere(~((array >= 0) & (array < np.inf)))[0]
        raise ValueError(
            f"The criterion '{name}' must give dissimilarities that are finite and not negative. Got "
            f"{array[row, column]} for sample {origin[0] + row} and training sample {column_number(origin, column)} "
            "instead; drop or mend that sample, or choose another metric."
        )
    return array


def check_comparable(A: Column, B: Column, name: str) -> None:
    """Refuse samples of another width or type than the training samples; compiled loops would not notice."""
    if A.dtype != B.dtype or A.shape[1:] != B.shape[1:]:
        widths = [f"{encoding.dtype} of the shape {encoding.shape[1:]}" for encoding in (B, A)]
        raise ValueError(
            f"The criterion '{name}' must compare samples that hold as much as the training samples, {widths[0]}. "
            f"Got {widths[1]} instead; mend the columns, or fit again."
        )


def column_number(origin: Origin, column: int) -> int:
    """Return the number of a block's column in messages."""
    return int(origin[1][column] if isinstance(origin[1], np.ndarray) else origin[1] + column)
