"""Checks of tables of samples: that there are columns, of one length, the same as at fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretodepth.sample_validation import Column


def check_column_names(names: list[Any], expected: list[str] | None, reader: str) -> list[str]:
    """Return the names of a dict of columns, in the order of fit if there was one."""
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
    if set(names) != set(expected):
        missing, extra = ([n for n in a if n not in b] for a, b in ((expected, names), (names, expected)))
        raise ValueError(
            f"The columns given to {reader} must be those of fit. Got {names} instead, without {missing} and with "
            f"{extra} besides; fit again if the columns have changed."
        )
    return expected


def check_column_lengths(arrays: Sequence[Column], names: Sequence[str], reader: str) -> int:
    """Return the number of samples, which all columns must have."""
    for array, name in zip(arrays, names, strict=True):
        if len(array) != len(arrays[0]):
            raise ValueError(
                f"The columns given to {reader} must all have one length. Got {len(arrays[0])} values in "
                f"'{names[0]}' and {len(array)} in '{name}' instead."
            )
    return len(arrays[0])


def check_collected(X: Any, is_lazy: bool, reader: str) -> Any:
    """Return samples that are there, not a query that would give them."""
    if is_lazy:
        raise TypeError(f"The samples given to {reader} must be in memory. Got {type(X).__name__}; call its collect().")
    return X


def check_unmasked(X: Any, reader: str) -> Any:
    """Return samples of which no entry is masked, for masks are not looked at."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError(
            f"The samples given to {reader} must not be masked. Got {int(np.ma.getmaskarray(X).sum())} masked entries "
            "instead; mark them as NaN with X.filled(np.nan), then drop or impute them."
        )
    return X


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
