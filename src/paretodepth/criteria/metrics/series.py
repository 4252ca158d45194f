"""Metrics of series, of unequal lengths if need be; of equal lengths every numeric metric will do."""

from __future__ import annotations

import numbers
from functools import partial

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_extra
from paretodepth._kernels.sequences import shape_based_distances
from paretodepth.criteria.metrics.metric import Encoding, Metric, Parameter, State
from paretodepth.criteria.values import Columns, check_numbers, check_sequences, object_column

DTAIDISTANCE = ("dtaidistance", "timeseries")


def joined(sequences: Encoding) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return sequences one after another, and where each starts."""
    lengths = [len(sequence) for sequence in sequences]
    return np.concatenate(list(sequences)), np.concatenate(([0], np.cumsum(lengths))).astype(np.intp)


def _series(columns: Columns, state: State) -> Encoding:
    """Return a column of series, or each row of several columns of numbers."""
    if len(columns.arrays) > 1 or columns.arrays[0].dtype.kind != "O":
        return object_column(check_numbers(columns))
    return check_sequences(columns, 1)


def _dtw(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    dtw = check_extra("dtaidistance.dtw", "timeseries")
    # The library counts a window of 1 as none off the diagonal.
    window = None if state["window"] is None else state["window"] + 1
    pairs = ((0, len(A)), (len(A), len(A) + len(B)))
    distances = dtw.distance_matrix([*A, *B], block=pairs, compact=True, use_c=True, window=window)
    return np.array(distances).reshape(len(A), len(B))


def _centred(columns: Columns, state: State) -> Encoding:
    """Return each series less its mean, of unit length; a constant series as zeros."""
    rows = []
    for values in _series(columns, state):
        centred = values - values.mean() if np.ptp(values) > 0 else np.zeros_like(values)
        rows.append(centred / (np.sqrt(np.sum(centred**2)) or 1.0))
    return object_column(rows)


def _shape_based(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return shape_based_distances(*joined(A), *joined(B))


def check_window(value: object, parameter: str, caller: str) -> int | None:
    """Return an integer of at least 0, or None."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if value is not None and (not is_integer or not 0 <= value < 2**31):  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at least 0, below 2³¹. Got {value!r} "
            "instead; leave it out for none."
        )
    return value if value is None else int(value)  # type: ignore[call-overload]


_of_series = partial(Metric, kind="series", keeps_sequences=True, costly_length=10)

METRICS = (
    _of_series(
        "dtw",
        "distance after stretching time to align two series (dynamic time warping)",
        _series,
        _dtw,
        source="dtaidistance",
        parameters=(
            Parameter(
                "window",
                None,
                "how far aligned values may be apart, beyond the difference of lengths; any number if left out",
                check_window,
            ),
        ),
        extra=DTAIDISTANCE,
    ),
    _of_series(
        "shape_based",
        "one less the largest cross-correlation over all shifts: same shape, whatever level, scale and start",
        _centred,
        _shape_based,
    ),
)
