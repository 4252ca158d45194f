"""Samples as columns, whatever they come in: arrays, data frames, dicts of columns, plain lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import date, time
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from paretodepth._checks import listed, suggestion
from paretodepth.criteria.values import Column, Columns, array_kind, check_no_others, object_column

MIN_SAMPLES = 3


@dataclass(frozen=True)
class Layout:
    """How the training samples came, and how new ones must come.

    Attributes
    ----------
    n_features : int
        The number of columns; of precomputed criteria, of training samples.
    feature_names : list of str or None
        The columns' names, if all are strings.
    is_object_column : bool
        Whether they were one column of objects, so that a plain list is one again.
    kinds : list of str
        What each column holds: "numbers", "text", "lists", "times", or "" if unknown.
    """

    n_features: int
    feature_names: list[str] | None = None
    is_object_column: bool = False
    kinds: list[str] = field(default_factory=list)


def read_training(X: Any, caller: str, *, as_objects: bool, as_numbers: bool) -> tuple[Columns, Layout]:
    """Return training samples as columns, and how they came.

    Parameters
    ----------
    X : array-like, data frame, dict of columns or list of objects
    caller : str
        The detector that messages name.
    as_objects : bool
        A plain list is one column of objects, even if it could be a table.
    as_numbers : bool
        Every criterion reads numbers only, so anything else is refused at once.
    """
    is_objects = is_object_column(X) or (as_objects and isinstance(X, list | tuple))
    features = _features(caller, None)
    columns = _read(features, X, None, is_objects=is_objects, as_numbers=as_numbers)
    names = getattr(features, "feature_names_in_", None)
    kinds = [array_kind(array) for array in columns.arrays]
    return columns, Layout(features.n_features_in_, None if names is None else list(names), is_objects, kinds)


def read_new(
    X: Any, caller: str, layout: Layout, *, as_numbers: bool, first_row: int = 0, needed: Collection[str] | None = None
) -> Columns:
    """Return new samples as columns, which must come as the training samples did.

    With the names that are `needed`, the other columns of data frames and dicts may be missing, and the order is free.
    """
    if _is_plain(X, layout):
        # The case of streams: to find out what else samples could be takes longer than to score one.
        check_not_matrices(X, caller)
        return Columns(list(X.T), [str(column) for column in range(X.shape[1])], caller, first_row=first_row)
    is_objects = is_object_column(X) or (layout.is_object_column and isinstance(X, list | tuple))
    columns = _read(
        _features(caller, layout), X, layout, is_objects=is_objects, as_numbers=as_numbers, first_row=first_row,
        needed=needed,
    )  # fmt: skip
    return replace(columns, first_row=first_row)


def table_columns(X: Any, caller: str) -> tuple[list[str | int], list[Column]]:
    """Return the names and the columns of a table of any number of samples; columns of an array have numbers."""
    if has_names(X):
        return _named_columns(X, caller)  # type: ignore[return-value]
    table = check_table(X, caller)
    return list(range(table.shape[1])), list(table.T)


def has_names(X: Any) -> bool:
    """Tell whether samples are a dict of columns or a data frame."""
    # Sparse matrices of some kinds are dicts too, before SciPy 1.13.
    return (isinstance(X, Mapping) and not issparse(X)) or nw.dependencies.is_into_dataframe(X)


def _named_columns(
    X: Any, caller: str, expected: list[str] | None = None, needed: Collection[str] | None = None
) -> tuple[list[str], list[Column]]:
    """Return the names and the columns of a dict or a data frame: all, or those needed."""
    if isinstance(X, Mapping):
        names = check_column_names(list(X), expected, caller, needed)
        arrays = [column_array(check_values(X[name], name, caller)) for name in names]
        check_column_lengths(arrays, names, caller)
        return names, arrays
    frame = nw.from_native(X, eager_only=True)
    check_some_columns(frame.columns, caller)
    if needed is None:
        return [str(name) for name in frame.columns], [column_array(one.to_native()) for one in frame.iter_columns()]
    names = check_needed_columns(frame.columns, needed, caller)
    return names, [column_array(frame[name].to_native()) for name in names]


def _is_plain(X: Any, layout: Layout) -> bool:
    """Tell whether samples are a table of numbers as at fit, which needs no further checks."""
    is_table = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and len(X) > 0
    return is_table and X.shape[1] == layout.n_features and layout.feature_names is None and not layout.is_object_column


def _features(caller: str, layout: Layout | None) -> Any:
    """Return an estimator on which scikit-learn stores the number and names of features, or compares them.

    An estimator of its own, not the detector: a refused fit leaves the detector as it was. Messages name its class.
    """
    features = _class_named(caller)()
    if layout is not None:
        note_features(features, layout)
    return features


@cache
def _class_named(name: str) -> type[Any]:
    # Kept, because to make a class takes as long as to score a sample.
    return type(name, (BaseEstimator,), {})


def note_features(estimator: Any, layout: Layout) -> None:
    """Set the number and the names of features on a fitted estimator, as scikit-learn wants them."""
    estimator.n_features_in_ = layout.n_features
    if layout.feature_names is not None:
        estimator.feature_names_in_ = np.array(layout.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        # Of an earlier fit.
        del estimator.feature_names_in_


def _read(
    features: Any,
    X: Any,
    layout: Layout | None,
    *,
    is_objects: bool,
    as_numbers: bool,
    first_row: int = 0,
    needed: Collection[str] | None = None,
) -> Columns:
    """Return samples as columns; without a layout, note their features."""
    caller, reset = type(features).__name__, layout is None
    minimum = MIN_SAMPLES if reset else 1
    if has_names(X):
        if not isinstance(X, Mapping) and needed is None:
            validate_data(features, X, reset=reset, skip_check_array=True)
        expected = None if layout is None else layout.feature_names or []
        names, arrays = _named_columns(X, caller, expected, needed)
        if needed is not None:
            names, arrays = _in_places(names, arrays, list(features.feature_names_in_))
        elif isinstance(X, Mapping):
            # scikit-learn knows no dicts.
            note_features(features, Layout(len(names), names))
    elif is_objects:
        check_not_matrices(check_array_like(X, caller), caller)
        is_array = nw.dependencies.is_into_series(X) or (isinstance(X, np.ndarray) and X.dtype.kind == "M")
        names, arrays = ["0"], [column_array(X) if is_array else object_column(X)]
        validate_data(features, arrays[0][:, None], reset=reset, skip_check_array=True)
    else:
        check_not_matrices(check_array_like(X, caller), caller)
        arrays = _array_columns(features, X, reset, minimum, as_numbers=as_numbers, first_row=first_row)
        names = [str(column) for column in range(len(arrays))]
    check_n_samples(len(arrays[0]), minimum, caller)
    return Columns(arrays, names, caller)


def _in_places(names: list[str], arrays: list[Column], features: list[str]) -> tuple[list[str], list[Column]]:
    """Return columns at the places they had at fit; nobody reads the others."""
    nothing = np.full(len(arrays[0]), np.nan)
    given = dict(zip(names, arrays, strict=True))
    return features, [given.get(name, nothing) for name in features]


def _array_columns(
    features: Any, X: Any, reset: bool, minimum: int, *, as_numbers: bool, first_row: int
) -> list[Column]:
    """Return the columns of a table without names."""
    kind = np.asarray(X).dtype.kind if isinstance(X, list | tuple | np.ndarray) else "f"
    if kind in "OU":
        # Through objects, for NumPy makes strings of numbers among strings.
        X = np.array(X, dtype=object)
        if as_numbers:
            check_no_others(X, type(features).__name__, first_row)
    table = validate_data(
        features,
        X,
        # Times would be cast to numbers without a word; what reads numbers refuses them.
        dtype=None if kind == "M" or (kind in "OU" and not as_numbers) else np.float64,
        ensure_all_finite=False,
        ensure_min_samples=minimum,
        reset=reset,
    )
    return list(table.T)


def is_object_column(X: Any) -> bool:
    """Tell whether samples are one column of objects: strings, sets, times, or sequences that make no table.

    Equally long rows of single values are a table.
    """
    if nw.dependencies.is_into_series(X):
        return column_array(X).dtype.kind in "OM"
    if isinstance(X, np.ndarray):
        return X.ndim == 3 or (X.ndim == 1 and X.dtype.kind in "OUM")
    if not isinstance(X, list | tuple):
        return False
    if any(isinstance(value, str | AbstractSet | date | time | np.datetime64) for value in X):
        return True
    if not X or not all(_is_sequence(value) for value in X):
        return False
    return len({len(value) for value in X}) > 1 or all(_is_sequence(entry) for value in X for entry in value)


def _is_sequence(value: object) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def column_array(values: Any) -> Column:
    """Return a column as an array: numbers of shape (n,) or (n, width), or times or objects of shape (n,)."""
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
            # What the clock shows there: NumPy knows no zones, and UTC would shift hours of the day.
            series = series.dt.replace_time_zone(None)
        values = series.to_list() if _is_nested(series.dtype) else series.to_numpy()
    if not isinstance(values, np.ndarray):
        values = list(values)
        try:
            array = np.asarray(values)
        except ValueError:
            return object_column(values)
    else:
        array = values
    is_numeric = array.dtype.kind in "fiub" and array.ndim <= 2
    return array if is_numeric or (array.dtype.kind in "mMO" and array.ndim == 1) else object_column(values)


def _is_nested(dtype: Any) -> bool:
    return isinstance(dtype, nw.List | nw.Array)


def check_column_names(
    names: list[Any], expected: list[str] | None, reader: str, needed: Collection[str] | None = None
) -> list[str]:
    """Return the names of a dict of columns, in the order of fit if there was one, or only those needed."""
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or not names:
        raise TypeError(
            f"A dict of columns given to {reader} must have strings as keys, at least one. "
            f"Got {wrong[0] if wrong else 'an empty dict'!r} instead."
        )
    if expected is None:
        return names
    if not expected:
        raise ValueError(
            f"The samples given to {reader} must be an array or a list, as at fit, where columns had no names. "
            "Got a dict of columns instead; fit on one."
        )
    if needed is not None:
        return check_needed_columns(names, needed, reader)
    if set(names) != set(expected):
        missing, extra = ([n for n in a if n not in b] for a, b in ((expected, names), (names, expected)))
        raise ValueError(
            f"The columns given to {reader} must be those of fit. Got {names} instead, without {missing} and with "
            f"{extra} besides; fit again if the columns have changed."
        )
    return expected


def check_needed_columns(names: Sequence[str], needed: Collection[str], reader: str) -> list[str]:
    """Return the columns that criteria read, all of which must be there."""
    missing = [f"no '{name}'{suggestion(name, list(names))}" for name in needed if name not in names]
    if missing:
        raise ValueError(
            f"The columns given to {reader} must be those that its criteria read, {listed(needed)}. Got "
            f"{', '.join(missing[:5])} instead; rename or add columns."
        )
    return list(needed)


def check_column_lengths(arrays: Sequence[Column], names: Sequence[str], reader: str) -> int:
    """Return the number of samples, which all columns must have."""
    for array, name in zip(arrays, names, strict=True):
        if len(array) != len(arrays[0]):
            raise ValueError(
                f"The columns given to {reader} must all have one length. Got {len(arrays[0])} values in "
                f"'{names[0]}' and {len(array)} in '{name}' instead."
            )
    return len(arrays[0])


def check_array_like(X: Any, reader: str) -> Any:
    """Return samples without names, which are in memory and not masked: masks would be ignored."""
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError(f"The samples given to {reader} must be in memory. Got {type(X).__name__}; call its collect().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError(
            f"The samples given to {reader} must not be masked. Got {int(np.ma.getmaskarray(X).sum())} masked entries "
            "instead; mark them as NaN with X.filled(np.nan), then drop or impute them."
        )
    return X


def check_table(X: Any, caller: str) -> NDArray[Any]:
    """Return a table without names as an array of two dimensions."""
    table: NDArray[Any] = np.array(check_array_like(X, caller))
    if table.ndim != 2 or not table.shape[1]:
        raise TypeError(
            f"The table given to {caller} must be a data frame, a dict of columns or an array of two dimensions. "
            f"Got {type(X).__name__} instead."
        )
    return table


def check_some_columns(names: Sequence[Any], reader: str) -> None:
    """Refuse a data frame without columns."""
    if not len(names):
        raise ValueError(f"The samples given to {reader} must have at least one column. Got a data frame without any.")


def check_values(values: Any, name: str, reader: str) -> Any:
    """Return what a dict of columns holds under a name, if it is a column."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise TypeError(
            f"The column '{name}' given to {reader} must be a sequence of values, one a sample. "
            f"Got {values!r} instead; write [{values!r}] for one sample."
        )
    return values


def check_n_samples(n_samples: int, minimum: int, caller: str, n_given: int | None = None) -> int:
    """Return a number of training samples, of those given, that is large enough."""
    if n_samples < minimum:
        of_given = f" that lack no value, of {n_given}," if n_given not in (None, n_samples) else ""
        raise ValueError(f"{caller} must be fitted on at least {minimum} samples. Got {n_samples}{of_given} instead.")
    return n_samples


def check_not_matrices(X: Any, reader: str) -> None:
    """Refuse dissimilarity matrices in place of samples."""
    is_list = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 3)
    candidates = list(X) if is_list and len(X) else [X]
    if all(_looks_like_dissimilarities(candidate) for candidate in candidates):
        raise ValueError(
            f"The samples given to {reader} must not be dissimilarity matrices. Got "
            f"{'matrices' if is_list else 'a matrix'}, square and symmetric with a zero diagonal, instead; give the "
            "criteria metric='precomputed' and pass a list of matrices, or a data frame if the columns are meant."
        )


def _looks_like_dissimilarities(matrix: Any) -> bool:
    """Tell whether an array is square and symmetric with a zero diagonal, and not all zero."""
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        return False
    if matrix.shape[0] != matrix.shape[1] or len(matrix) < 3 or np.any(np.diagonal(matrix) != 0):
        return False
    return bool(np.any(matrix)) and np.array_equal(matrix, matrix.T)
