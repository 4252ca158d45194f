"""Metrics that the user brings as functions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.metrics.metric import View
from paretodepth.criteria.samples import table_rows
from paretodepth.criteria.values import Columns, check_numbers

SECONDS_BETWEEN_LINES = 1.0


def callable_view(columns: Columns) -> View:
    """Return what a callable is given of samples.

    Numbers as an array of shape (n_samples, n_columns), one column of objects as an array
    of shape (n_samples,), columns of which some hold objects as an array of objects.
    """
    if all(array.dtype.kind in "fiub" for array in columns.arrays):
        return check_numbers(columns)
    return columns.arrays[0] if len(columns.arrays) == 1 else table_rows(columns)


def element_block(
    function: Callable[..., float], A: View, B: View, params: Mapping[str, Any], name: str, *, is_training: bool
) -> NDArray[np.float64]:
    """Return the function's values for each pair, telling on a terminal how far it is.

    In a block of training samples `B` begins with the samples of `A`; each pair is asked
    for once, and entries on and below the diagonal are left 0.
    """
    block = np.zeros((len(A), len(B)))
    progress = _Progress(name, len(A))
    for row, a in enumerate(A):
        for column in range(row + 1 if is_training else 0, len(B)):
            block[row, column] = function(a, B[column], **params)
        progress.tell(row + 1)
    return block


class _Progress:
    """Lines on a terminal that tell how much of a block is done."""

    def __init__(self, name: str, n_rows: int) -> None:
        self._name = name
        self._n_rows = n_rows
        self._start = self._last = time.monotonic()

    def tell(self, n_done: int) -> None:
        """Print a line if a second has gone by since the last one."""
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES or not sys.stderr.isatty():
            return
        self._last = now
        left = (now - self._start) * (self._n_rows - n_done) / n_done
        print(  # noqa: T201
            f"criterion '{self._name}': {n_done:,} of {self._n_rows:,} samples compared, {left:.0f} s left",
            file=sys.stderr,
        )
