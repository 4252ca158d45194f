"""Every check of input; past this module nobody checks again."""

from __future__ import annotations

import fnmatch
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth.words import listed as _listed
from paretodepth.words import suggestion as _suggestion

MAX_CRITERIA = 64
"""Far fewer already leave almost every dyad undominated, while lists of neighbors grow with the square."""

Origin = tuple[int, int | NDArray[np.intp]]
"""The numbers, in messages, of a block's first row and of its first column, or of each column."""


def column_number(origin: Origin, column: int) -> int:
    """Return the number of a block's column in messages."""
    return int(origin[1][column] if isinstance(origin[1], np.ndarray) else origin[1] + column)


def check_dyads(dyads: ArrayLike, caller: str) -> NDArray[np.float64]:
    """Return dyads as a C-contiguous float64 array of shape (n_dyads, n_criteria) without NaN."""
    array = np.asarray(dyads)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"The 'dyads' parameter of {caller} must hold real numbers. Got dtype {array.dtype} instead; "
            "convert it to float first."
        )
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"The 'dyads' parameter of {caller} must have the shape (n_dyads, n_criteria) with at least one "
            f"criterion. Got the shape {array.shape} instead; use dyads.reshape(-1, 1) for one criterion."
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    is_nan = np.isnan(array)
    if is_nan.any():
        row, criterion = np.argwhere(is_nan)[0]
        raise ValueError(
            f"The 'dyads' parameter of {caller} must hold no NaN. Got one in row {row}, criterion {criterion}; "
            "drop that dyad or impute it."
        )
    return array


def check_finite(array: NDArray[np.float64], parameter: str, caller: str) -> NDArray[np.float64]:
    """Return an array without infinities."""
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be finite. Got {array[row, column]} in row {row}, "
            f"column {column}; drop that row."
        )
    return array


def check_choice(value: object, parameter: str, choices: Sequence[str], caller: str) -> Any:
    """Return a value that is one of a few words."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be one of {_listed(choices)}. "
            f"Got {value!r} instead{_suggestion(value, choices)}."
        )
    return value


def check_count(value: object, parameter: str, caller: str) -> int:
    """Return an integer of at least 1."""
    if not _is_integer(value) or value < 1:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at least 1. Got {value!r} instead."
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_optional_count(value: object, parameter: str, caller: str) -> int | None:
    """Return an integer of at least 1, or None."""
    return None if value is None else check_count(value, parameter, caller)


def check_cap(value: object, parameter: str, caller: str) -> Any:
    """Return an integer of at least 1, "auto" or None."""
    if isinstance(value, str):
        return check_choice(value, parameter, ("auto",), caller)
    return check_optional_count(value, parameter, caller)


def check_memory(n_needed: int, n_allowed: int, n_samples: int, n_dyads: int, caller: str) -> None:
    """Refuse a fit that needs more memory than is allowed."""
    if n_needed > n_allowed:
        raise ValueError(
            f"The 'memory_limit' parameter of {caller} must allow for what the fit needs, about {n_needed:,} bytes for "
            f"{n_dyads:,} dyads of {n_samples:,} samples. Got {n_allowed:,} instead, half of what is free if None "
            "was given; set max_depth='auto' for exact fronts up to a depth in little memory, or max_dyads=2_000_000 "
            "for the fronts of random dyads, or raise memory_limit."
        )


def check_front_number(number: object, n_fronts: int, caller: str) -> int:
    """Return the number of one of some fronts."""
    if not _is_integer(number) or not 1 <= number <= n_fronts:  # type: ignore[operator]
        raise ValueError(
            f"The 'number' parameter of {caller} must be an integer from 1 to {n_fronts}, the number of fronts. "
            f"Got {number!r} instead."
        )
    return int(number)  # type: ignore[call-overload, no-any-return]


def check_mergeable(fronts: Any, other: Any, caller: str) -> None:
    """Refuse to merge anything but fronts of dyads of the same criteria."""
    if not isinstance(other, type(fronts)):
        raise TypeError(f"The 'other' parameter of {caller} must be Fronts. Got {other!r} instead.")
    if fronts.dyads.shape[1] != other.dyads.shape[1]:
        raise ValueError(
            f"The 'other' parameter of {caller} must hold dyads of {fronts.dyads.shape[1]} criteria. "
            f"Got {other.dyads.shape[1]} instead."
        )


def check_n_jobs(n_jobs: object) -> int | None:
    """Return a number of threads: None, or an integer that is not 0."""
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"The 'n_jobs' parameter must be None or an integer that is not 0. Got {n_jobs!r} instead; "
            "-1 stands for all cores."
        )
    return n_jobs  # type: ignore[return-value]


def check_row(row: object, n_rows: int, parameter: str, caller: str) -> int:
    """Return the index of one of some rows."""
    if not _is_integer(row) or not 0 <= row < n_rows:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer from 0 to {n_rows - 1}. Got {row!r} instead."
        )
    return int(row)  # type: ignore[call-overload, no-any-return]


def check_rate(rate: object, parameter: str, caller: str, meaning: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    if not _is_real(rate) or not 0 < rate < 1:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be a number between 0 and 1, both excluded. Got {rate!r} "
            f"instead; it is {meaning}."
        )
    return float(rate)  # type: ignore[arg-type]


def check_fdr(fdr: object, caller: str) -> float:
    """Return a false discovery rate between 0 and 1, both excluded."""
    return check_rate(fdr, "fdr", caller, "the share of nominal samples among those selected, 0.1 say")


def check_alpha(alpha: object, n_calibrating: int, caller: str) -> float:
    """Return a false-alarm rate that p-values from so many samples can reach; None stands for 0.05 or the smallest."""
    smallest = 1 / (n_calibrating + 1)
    if alpha is None:
        return max(0.05, smallest)
    rate = check_rate(alpha, "alpha", caller, "the share of nominal samples that may be called anomalies, 0.05 say")
    if rate < smallest * (1 - 1e-9):
        raise ValueError(
            f"The 'alpha' parameter of {caller} must be at least 1 / (1 + number of calibrating samples), which is "
            f"{smallest:.4g} for these {n_calibrating}. Got {rate:g} instead; raise it, give a 'threshold', or fit on "
            f"more samples: {int(np.ceil(1 / rate - 1e-9)) - 1} calibrating ones are enough."
        )
    return rate


def check_interval(value: float, parameter: str, low: float, high: float, caller: str) -> float:
    """Return a number from `low` to `high`."""
    if not _is_real(value) or not low <= value <= high:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be from {low:g} to {high:g}. Got {value!r} instead."
        )
    return float(value)


def check_threshold(threshold: object, caller: str) -> float | None:
    """Return a mean depth above which a sample is an anomaly, or None."""
    if threshold is None:
        return None
    if not _is_real(threshold) or np.isnan(threshold):  # type: ignore[call-overload]
        raise ValueError(
            f"The 'threshold' parameter of {caller} must be None or a number. Got {threshold!r} instead; "
            "None sets it from 'alpha'."
        )
    return float(threshold)  # type: ignore[arg-type]


def check_n_samples(n_samples: int, minimum: int, caller: str) -> int:
    """Return a number of training samples that is large enough."""
    if n_samples < minimum:
        raise ValueError(f"{caller} must be fitted on at least {minimum} samples. Got {n_samples} instead.")
    return n_samples


def check_n_criteria(n_criteria: int, caller: str) -> None:
    """Refuse more criteria than Pareto fronts can tell anything about."""
    if n_criteria > MAX_CRITERIA:
        raise ValueError(
            f"{caller} must be given at most {MAX_CRITERIA} criteria. Got {n_criteria:,} instead; join related columns "
            "into criteria, as Criterion(name, columns=[…]) does, or leave some out."
        )


def check_n_neighbors(n_neighbors: object, names: Sequence[str], n_samples: int, caller: str) -> NDArray[np.intp]:
    """Return one number of neighbors a criterion."""
    if _is_integer(n_neighbors):
        counts: list[Any] = [n_neighbors] * len(names)
    elif isinstance(n_neighbors, Sequence | np.ndarray) and not isinstance(n_neighbors, str):
        counts = list(n_neighbors)
    else:
        raise ValueError(
            f"The 'n_neighbors' parameter of {caller} must be 'connected', an integer or one integer per criterion. "
            f"Got {n_neighbors!r} instead."
        )
    if len(counts) != len(names):
        raise ValueError(
            f"The 'n_neighbors' parameter of {caller} must hold one integer per criterion, {len(names)} in all. "
            f"Got {len(counts)} instead; the criteria are {_listed(names)}."
        )
    for name, count in zip(names, counts, strict=True):
        if not _is_integer(count) or not 1 <= count < n_samples:
            raise ValueError(
                f"The 'n_neighbors' parameter of {caller} must be an integer of at least 1 and below the number of "
                f"training samples, {n_samples}. Got {count!r} for the criterion '{name}' instead."
            )
    return np.array(counts, dtype=np.intp)


def check_weights(weights: object, names: Sequence[str]) -> NDArray[np.float64]:
    """Return one non-negative, finite weight a criterion, not all zero."""
    array = np.asarray(weights)
    if (
        array.shape != (len(names),)
        or array.dtype.kind not in "fiu"
        or not np.all((array >= 0) & (array < np.inf))
        or not array.any()
    ):
        raise ValueError(
            "The 'weights' parameter of WeightedDetector must be 'balanced' or one number per criterion, "
            f"{_listed(names)}, none negative and not all zero. Got {weights!r} instead."
        )
    return array.astype(np.float64)


def check_instances(values: object, parameter: str, kind: type, caller: str) -> list[Any]:
    """Return a list of at least one instance of a class."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise TypeError(
            f"The '{parameter}' parameter of {caller} must be a list of {kind.__name__} objects. "
            f"Got {values!r} instead."
        )
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(
                f"The '{parameter}' parameter of {caller} must hold only {kind.__name__} objects. "
                f"Got {value!r} instead; write {kind.__name__}(name, columns=…, metric=…)."
            )
    if not values:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must hold at least one {kind.__name__}. "
            "Got an empty list instead."
        )
    return list(values)


def check_names(names: Sequence[object], caller: str) -> list[str]:
    """Return criterion names that are strings and all different."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The name of a criterion of {caller} must be a non-empty string. Got {name!r} instead.")
        if names.count(name) > 1:
            raise ValueError(
                f"The criteria of {caller} must have different names. Got '{name}' {names.count(name)} times instead."
            )
    return list(names)  # type: ignore[arg-type]


def check_metric(metric: object, name: str, known: Sequence[str]) -> None:
    """Refuse what is neither a callable nor the name of a known metric."""
    if callable(metric):
        return
    if not isinstance(metric, str):
        raise TypeError(
            f"The 'metric' parameter of the criterion '{name}' must be a metric's name or a callable. "
            f"Got {metric!r} instead."
        )
    if metric not in known:
        raise ValueError(
            f"The 'metric' parameter of the criterion '{name}' must be a known metric or a callable. "
            f"Got '{metric}' instead{_suggestion(metric, known)}; the known ones are {_listed(known)}."
        )


def check_columns(columns: object, name: str, n_features: int, feature_names: Sequence[str] | None) -> list[int]:
    """Return a criterion's columns as indices; None stands for all."""
    if columns is None:
        return list(range(n_features))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        columns = [columns]
    indices = [
        _column_index(match, name, n_features, feature_names)
        for column in columns
        for match in _glob_matches(column, feature_names)
    ]
    if not indices:
        raise ValueError(
            f"The 'columns' parameter of the criterion '{name}' must name at least one column. "
            "Got none instead; leave it out to take all columns."
        )
    return indices


def _glob_matches(column: object, feature_names: Sequence[str] | None) -> list[object]:
    """Return the columns that a glob such as 'x_*' stands for; anything else, or a glob without match, as it is."""
    if isinstance(column, str) and feature_names is not None and column not in feature_names:
        return [name for name in feature_names if fnmatch.fnmatchcase(name, column)] or [column]
    return [column]


def _column_index(column: object, name: str, n_features: int, feature_names: Sequence[str] | None) -> int:
    """Return the index of a column given by index or name."""
    expected = f"The 'columns' parameter of the criterion '{name}' must hold"
    if isinstance(column, str):
        if feature_names is None:
            raise ValueError(
                f"{expected} indices when the data have no column names. Got '{column}' instead; "
                "pass a data frame or give the column's index."
            )
        if column not in feature_names:
            raise ValueError(
                f"{expected} columns of the data. Got '{column}' instead{_suggestion(column, feature_names)}; "
                f"the columns are {_listed(feature_names)}."
            )
        return list(feature_names).index(column)
    if not _is_integer(column):
        raise TypeError(f"{expected} column names or indices. Got {column!r} instead.")
    if not 0 <= column < n_features:  # type: ignore[operator]
        raise ValueError(f"{expected} indices from 0 to {n_features - 1}. Got {column} instead.")
    return int(column)  # type: ignore[call-overload, no-any-return]


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def refuse_output(path: str, error: OSError) -> NoReturn:
    """Raise an error about an output that cannot be written."""
    raise OSError(
        f"{path}: the output must be a file in a folder that can be written. Got this instead: "
        f"{error.strerror or error}; choose another place."
    ) from error
