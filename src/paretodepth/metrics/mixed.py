"""Metrics of numbers and categories together."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.metrics.categorical import codes, vocabulary
from paretodepth.metrics.metric import Metric, State, View
from paretodepth.metrics.numeric import DIFFERENCE, MISMATCH, summed
from paretodepth.sample_validation import Column, Columns, check_categories, check_numbers, is_missing


def _holds_numbers(array: Column) -> bool:
    """Tell whether a column holds numbers; booleans are categories."""
    if array.dtype.kind == "O":
        return all(
            is_missing(value) or (isinstance(value, numbers.Real) and not isinstance(value, bool)) for value in array
        )
    return array.dtype.kind in "fiu"


def _ranges(columns: Columns, params: Mapping[str, Any]) -> State:
    """Estimate the range of each column of numbers, and the categories of the others.

    A constant column has no range: its values are compared as categories, equal or not.
    """
    vocabularies: list[list[Any] | None] = []
    ranges = np.zeros(len(columns.arrays))
    for position, part in enumerate(_one_by_one(columns)):
        if not _holds_numbers(part.arrays[0]):
            vocabularies.append(vocabulary(check_categories(part)[0]))
            continue
        vocabularies.append(None)
        values = check_numbers(part)
        if not np.isnan(values).all():
            ranges[position] = np.nanmax(values) - np.nanmin(values)
    return {**params, "vocabularies": vocabularies, "ranges": ranges}


def _one_by_one(columns: Columns) -> list[Columns]:
    return [
        Columns([array], [name], columns.reader, columns.ignores_missing)
        for array, name in zip(columns.arrays, columns.names, strict=True)
    ]


def _encoded(columns: Columns, state: State) -> View:
    return np.column_stack(
        [
            check_numbers(part) if known is None else codes(check_categories(part)[0], known)
            for part, known in zip(_one_by_one(columns), state["vocabularies"], strict=True)
        ]
    )


def _gower(A: View, B: View, state: State) -> NDArray[np.float64]:
    has_range = state["ranges"] > 0
    comparisons = np.where(has_range, DIFFERENCE, MISMATCH)
    return summed(A, B, comparisons, 1 / np.where(has_range, state["ranges"], 1.0)) / int(A.shape[1])


METRICS = (
    Metric(
        "gower",
        "mixed",
        "mean over columns: differences relative to the range of the training samples, and whether categories differ",
        _encoded,
        _gower,
        _ranges,
        ignores_missing=True,
    ),
)
