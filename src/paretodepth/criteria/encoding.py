"""What criteria read: their columns, the samples that are kept, the input of transformers and functions."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import evenly_spaced, phase, with_progress
from paretodepth._checks import is_integer, listed, suggestion
from paretodepth.criteria.criterion import Criterion, Missing
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import Layout
from paretodepth.criteria.values import (
    Column,
    Columns,
    Origin,
    check_no_missing,
    check_numbers,
    column_number,
    missing_entries,
    object_column,
)

Bound = list[tuple[Criterion, list[int]]]
"""Criteria with their columns as indices."""
N_PROBES = 16
"""Samples by which a transformer is tested."""


@dataclass(frozen=True)
class EncodedSamples:
    """Samples as each criterion encodes them.

    Attributes
    ----------
    encodings : list of ndarray
        One per criterion, of the samples that are kept; empty if none is.
    rows : ndarray of int
        The rows of the kept samples.
    n_samples : int
        Number of all samples.
    index : pandas.Index or None
        Index of the data frame they came in.
    columns : Columns or None
        The kept samples as given, if known.
    """

    encodings: list[NDArray[Any]]
    rows: NDArray[np.intp]
    n_samples: int
    index: Any = None
    columns: Columns | None = None

    @property
    def labels(self) -> Any:
        """Names of the kept samples: the frame's index, else row numbers if some were dropped, else None."""
        if self.index is not None:
            return self.index[self.rows]
        return None if len(self.rows) == self.n_samples else self.rows

    def columns_of(self, rows: NDArray[np.intp]) -> Columns | None:
        """Return some of the kept samples as columns, in the given order, by their rows among all."""
        if self.columns is None:
            return None
        places = np.searchsorted(self.rows, rows)
        return replace(self.columns, arrays=[array[places] for array in self.columns.arrays], rows=rows)

    def columns_read(self, bound: Bound, rows: slice | NDArray[np.intp]) -> dict[int, Column]:
        """Return copies of some rows of the columns that criteria read, by index; without matrices."""
        read = {column for criterion, columns in bound if not criterion.is_precomputed for column in columns}
        table = self.columns
        return {} if table is None else {column: table.arrays[column][rows].copy() for column in sorted(read)}

    def with_nan_for_dropped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the kept samples with NaN for those that were dropped."""
        if len(self.rows) == self.n_samples:
            return values
        spread = np.full((self.n_samples, *values.shape[1:]), np.nan)
        spread[self.rows] = values
        return spread


def frame_index(X: Any) -> Any:
    """Return the index of a data frame or series of pandas, None for anything else."""
    if isinstance(X, np.ndarray):
        return None
    is_pandas = nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pandas_series(X)
    return X.index if is_pandas else None


def bound_criteria(criteria: Sequence[Criterion] | None, layout: Layout) -> Bound:
    """Return criteria with their columns as indices; by default one per column, the absolute difference."""
    n_features, feature_names = layout.n_features, layout.feature_names
    if criteria is None:
        names = feature_names if feature_names is not None else [f"x{column}" for column in range(n_features)]
        return [(Criterion(str(name), [column], "cityblock"), [column]) for column, name in enumerate(names)]
    bound = []
    for criterion in criteria:
        columns = criterion.columns
        if columns is None and criterion.is_precomputed:
            columns = criterion.name
        bound.append((criterion, check_columns(columns, criterion.name, n_features, feature_names)))
    return bound


def needed_columns(bound: Bound, layout: Layout) -> list[str] | None:
    """Return the names of the columns that criteria read, None if one counts columns or takes all."""
    names = layout.feature_names
    if names is None or not all(criterion.is_by_name or criterion.is_precomputed for criterion, _ in bound):
        return None
    return [names[column] for column in sorted({column for _, columns in bound for column in columns})]


def read_columns(criteria: Sequence[Criterion] | None, names: list[str]) -> list[str]:
    """Return the columns of a table that criteria read.

    All of them if there are no criteria, or one of them counts columns by position.

    Examples
    --------
    >>> read_columns([Criterion("size", ["s_*"])], ["name", "s_1", "s_2"])
    ['s_1', 's_2']
    """
    if criteria is None:
        return names
    read: set[int] = set()
    for criterion in criteria:
        columns = criterion.columns
        given = [columns] if isinstance(columns, str | int) or columns is None else list(columns)
        if any(not isinstance(column, str) for column in given):
            return names
        read.update(check_columns(given, criterion.name, len(names), names))
    return [names[column] for column in sorted(read)]


def check_columns(columns: object, name: str, n_features: int, feature_names: Sequence[str] | None) -> list[int]:
    """Return a criterion's columns as indices; None stands for all."""
    if columns is None:
        return list(range(n_features))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        columns = [columns]
    places = {feature: place for place, feature in enumerate(feature_names or ())}
    matches = [match for column in columns for match in _glob_matches(column, places)]
    indices = [_check_column(match, name, n_features, places) for match in matches]
    if not indices:
        raise ValueError(
            f"The 'columns' parameter of the criterion '{name}' must name at least one column. "
            "Got none instead; leave it out to take all columns."
        )
    return indices


def _glob_matches(column: object, places: Mapping[str, int]) -> list[object]:
    """Return the columns that a glob such as 'x_*' stands for; anything else, or a glob without match, as it is."""
    if isinstance(column, str) and column not in places:
        return [name for name in places if fnmatch.fnmatchcase(name, column)] or [column]
    return [column]


def _check_column(column: object, name: str, n_features: int, places: Mapping[str, int]) -> int:
    """Return the index of a column given by index or name."""
    expected = f"The 'columns' parameter of the criterion '{name}' must hold"
    if isinstance(column, str):
        if not places:
            raise ValueError(
                f"{expected} indices when the data have no column names. Got '{column}' instead; "
                "pass a data frame or give the column's index."
            )
        if column not in places:
            raise ValueError(
                f"{expected} columns of the data. Got '{column}' instead{suggestion(column, list(places))}; the "
                f"columns are {listed(list(places)[:20])}{' and so on' if len(places) > 20 else ''}."
            )
        return places[column]
    if not is_integer(column):
        raise TypeError(f"{expected} column names or indices. Got {column!r} instead.")
    if not 0 <= column < n_features:  # type: ignore[operator]
        raise ValueError(f"{expected} indices from 0 to {n_features - 1}. Got {column} instead.")
    return int(column)  # type: ignore[call-overload, no-any-return]


def kept_rows(bound: Bound, table: Columns, missing: Missing | None = None) -> NDArray[np.intp]:
    """Return the rows that no criterion drops, and refuse missing values in these where a criterion must not fail."""
    columns: dict[str, set[int]] = {"fail": set(), "drop": set(), "ignore": set()}
    for criterion, indices in bound:
        columns[_missing_rule(criterion, missing)].update(indices)
    is_kept = np.ones(len(table), dtype=bool)
    for index in columns["drop"]:
        is_kept &= ~missing_entries(table.arrays[index])
    rows = np.flatnonzero(is_kept)
    read = sorted(columns["fail"])
    if read and len(rows):
        strict = replace(table, arrays=[table.arrays[i] for i in read], names=[table.names[i] for i in read])
        check_no_missing(part_of(strict, rows))
    return rows


def _missing_rule(criterion: Criterion, missing: Missing | None) -> Missing:
    """Return the rule for missing values; a transformer gets the samples unless they are to be dropped."""
    if criterion.is_precomputed or (criterion.transform is not None and criterion.missing != "drop"):
        return "ignore"
    return criterion.missing if missing is None or criterion.missing == "ignore" else missing


def part_of(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Return some rows of columns, which keep their numbers."""
    if len(rows) == len(columns):
        return columns
    return replace(columns, arrays=[array[rows] for array in columns.arrays], rows=rows)


def check_common(block: NDArray[np.float64], name: str, origin: Origin, *, n_columns: int) -> NDArray[np.float64]:
    """Return a block in which every pair of samples has some column in common."""
    nothing = np.argwhere(np.isnan(block))
    if len(nothing):
        row, column = nothing[0]
        alone = "a criterion of one column cannot ignore its gaps, so " if n_columns == 1 else ""
        raise ValueError(
            f"The criterion '{name}' must find a column that both samples of a pair have. Got none for sample "
            f"{origin[0] + row} and training sample {column_number(origin, column)}; {alone}impute a value, or set "
            "missing='drop' to leave out samples that lack one."
        )
    return block


def transformer_input(columns: Columns, *, is_single: bool) -> NDArray[Any]:
    """Return the input of a transformer: a table, or the values of a single column of objects.

    As with scikit-learn's ColumnTransformer, a column of strings named alone (not in a
    list) comes as an array of shape (n_samples,), which text vectorizers expect.
    """
    if is_single and len(columns.arrays) == 1 and columns.arrays[0].dtype.kind == "O":
        return columns.arrays[0]
    return table_rows(columns)


def table_rows(columns: Columns) -> NDArray[Any]:
    """Return columns side by side, as numbers if all are, otherwise as objects."""
    if all(array.dtype.kind in "fiub" for array in columns.arrays):
        return np.column_stack(columns.arrays).astype(np.float64)
    rows = np.empty((len(columns), len(columns.arrays)), dtype=object)
    for position, array in enumerate(columns.arrays):
        rows[:, position] = object_column(array)
    return rows


def transformed(transformer: Any, samples: NDArray[Any], name: str, *, alone: bool) -> Columns:
    """Return a fitted transformer's output as columns, each sample transformed on its own if `alone`."""
    if alone:
        rows = [_output(transformer, samples[i : i + 1], name) for i in range(len(samples))]
        output = np.concatenate(rows)
    else:
        output = _output(transformer, samples, name)
    reader = f"the criterion '{name}', transformed,"
    if output.dtype.kind in "fiub":
        return Columns([output], ["output"], reader)
    return Columns(list(output.T.astype(object)), [str(column) for column in range(output.shape[1])], reader)


def _output(transformer: Any, samples: NDArray[Any], name: str) -> NDArray[Any]:
    output: NDArray[Any] = check_transformed(transformer.transform(samples), len(samples), name)
    return output


def is_batch_stable(transformer: Any, samples: NDArray[Any], name: str) -> bool:
    """Tell whether a transformer gives some training samples the same bits alone and in their batch.

    Products of matrices, as in PCA, do not; such a transformer is given one sample at a time.
    """
    probes = evenly_spaced(len(samples), N_PROBES)
    together = _output(transformer, samples, name)[probes]
    alone = np.concatenate([_output(transformer, samples[i : i + 1], name) for i in probes])
    return np.array_equal(alone, together, equal_nan=together.dtype.kind == "f")


def check_transformed(output: Any, n_samples: int, name: str) -> Any:
    """Return a transformer's output, a dense array with one row a sample."""
    array = np.asarray(output.toarray() if hasattr(output, "toarray") else output)
    if array.ndim not in (1, 2) or len(array) != n_samples:
        raise ValueError(
            f"The transform of the criterion '{name}' must return one row a sample, {n_samples} in all. "
            f"Got the shape {array.shape} instead."
        )
    return array.reshape(n_samples, -1)


def callable_input(columns: Columns) -> Encoding:
    """Return the input of a callable.

    Numbers are an array of shape (n_samples, n_columns), one column of objects is an array
    of shape (n_samples,), and columns some of which hold objects are an array of objects.
    """
    if all(array.dtype.kind in "fiub" for array in columns.arrays):
        return check_numbers(columns)
    return columns.arrays[0] if len(columns.arrays) == 1 else table_rows(columns)


def read_only(encoding: Encoding) -> Encoding:
    """Return a read-only view for a function: were it to change the samples, all later scores would differ."""
    own = encoding.view()
    own.flags.writeable = False
    return own


def element_block(
    function: Callable[..., float], A: Encoding, B: Encoding, params: Mapping[str, Any], name: str, *, is_training: bool
) -> NDArray[np.float64]:
    """Return the function's values for each pair, and report progress.

    In a block of training samples `B` begins with the samples of `A`; each pair is asked
    for once, and entries on and below the diagonal are left 0.
    """
    A, B = read_only(A), read_only(B)
    block = np.zeros((len(A), len(B)))
    with phase(f"criterion '{name}', pair by pair"):
        for row, a in with_progress(enumerate(A), len(A)):
            for column in range(row + 1 if is_training else 0, len(B)):
                block[row, column] = function(a, B[column], **params)
    return block
