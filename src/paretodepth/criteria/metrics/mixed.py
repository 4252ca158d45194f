"""Metrics of numbers and categories together."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.metrics.categorical import codes, is_vocabulary, vocabulary
from paretodepth.criteria.metrics.metric import Estimate, Metric, State, View, are_numbers
from paretodepth.criteria.metrics.numeric import DIFFERENCE, MISMATCH, summed
from paretodepth.criteria.values import Column, Columns, check_categories, check_numbers, is_missing


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


def _are_ranges(value: Any, params: Mapping[str, Any], n_columns: int, view: View) -> bool:
    return are_numbers(value, (n_columns,)) and bool(np.all(value >= 0))


def _are_known(value: Any, params: Mapping[str, Any], n_columns: int, view: View) -> bool:
    is_list = isinstance(value, list) and len(value) == n_columns
    return is_list and all(known is None or is_vocabulary(known) for known in value)


def _one_by_one(columns: Columns) -> list[Columns]:
    return [
        replace(columns, arrays=[array], names=[name])
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
        estimates=(Estimate("vocabularies", _are_known), Estimate("ranges", _are_ranges)),
        ignores_missing=True,
    ),
)
