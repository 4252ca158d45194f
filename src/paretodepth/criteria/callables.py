"""Metrics that the user brings as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import phase, with_progress
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import table_rows
from paretodepth.criteria.values import Columns, check_numbers


def callable_view(columns: Columns) -> Encoding:
    """Return what a callable is given of samples.

    Numbers as an array of shape (n_samples, n_columns), one column of objects as an array
    of shape (n_samples,), columns of which some hold objects as an array of objects.
    """
    if all(array.dtype.kind in "fiub" for array in columns.arrays):
        return check_numbers(columns)
    return columns.arrays[0] if len(columns.arrays) == 1 else table_rows(columns)


def read_only(encoding: Encoding) -> Encoding:
    """Return a view that a function can only read: were it to change the samples, all later scores would differ."""
    own = encoding.view()
    own.flags.writeable = False
    return own


def element_block(
    function: Callable[..., float], A: Encoding, B: Encoding, params: Mapping[str, Any], name: str, *, is_training: bool
) -> NDArray[np.float64]:
    """Return the function's values for each pair, telling who watches how far it is.

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
