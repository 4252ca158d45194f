"""Metrics of categories, booleans and sets of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.metrics.metric import Encoding, Metric, State
from paretodepth.criteria.metrics.numeric import MISMATCH, scipy_block, summed
from paretodepth.criteria.values import (
    Columns,
    check_categories,
    check_category,
    check_numbers,
    check_single,
    object_column,
    refuse_value,
)

UNSEEN = -1.0
"""The code of a category that no training sample has, so that it differs from all of theirs."""


def vocabulary(values: Sequence[Any]) -> list[Any]:
    """Return the categories there are, in the order of their first sample."""
    return [category for category in dict.fromkeys(values) if category is not None]


def codes(values: Sequence[Any], known: Sequence[Any]) -> NDArray[np.float64]:
    """Return a number for each value, equal for equal categories; NaN for missing ones."""
    numbers = {category: float(code) for code, category in enumerate(known)} | {None: np.nan}
    return np.array([numbers.get(value, UNSEEN) for value in values])


def _vocabularies(columns: Columns, params: Mapping[str, Any]) -> State:
    return {**params, "vocabularies": [vocabulary(values) for values in check_categories(columns)]}


def _coded(columns: Columns, state: State) -> Encoding:
    return np.column_stack(
        [codes(values, known) for values, known in zip(check_categories(columns), state["vocabularies"], strict=True)]
    )


def decoded_categories(encoding: Encoding, state: State, column: int) -> Encoding:
    """Return the categories of a column from their codes, None where the code stands for none."""
    known = state["vocabularies"][column]
    return object_column(known[int(code)] if 0 <= code < len(known) else None for code in encoding[:, column].tolist())


def _mismatch(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return summed(A, B, MISMATCH) / int(A.shape[1])


def _eskin(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    n_categories = np.array([max(len(known), 1) for known in state["vocabularies"]])
    return summed(A, B, MISMATCH, 2.0 / n_categories**2)


def _labels(columns: Columns, params: Mapping[str, Any]) -> State:
    if not _holds_sets(columns):
        return {**params, "labels": None}
    return {**params, "labels": vocabulary(sorted(set().union(*check_label_sets(columns)), key=str))}


def _holds_sets(columns: Columns) -> bool:
    """Tell whether a column of sets or lists is meant, rather than columns of booleans."""
    is_value = (str, bool, int, float, np.generic, type(None))
    return columns.arrays[0].dtype.kind == "O" and not isinstance(columns.arrays[0][0], is_value)


def _members(columns: Columns, state: State) -> Encoding:
    """Return a column of zeros and ones for each label, and a last one that counts the unseen labels."""
    if state["labels"] is None:
        return np.column_stack([check_flags(columns), np.zeros(len(columns))])
    positions = {label: position for position, label in enumerate(state["labels"])}
    members = np.zeros((len(columns), len(positions) + 1))
    for sample, labels in enumerate(check_label_sets(columns)):
        for label in labels:
            members[sample, positions.get(label, -1)] += 1
    return members


def _jaccard(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    # Whole numbers, so that the sums are exact. Two empty sets are equal.
    not_shared = scipy_block(A, B, "cityblock")
    union = (A.sum(axis=1)[:, None] + B.sum(axis=1) + not_shared) / 2
    shares: NDArray[np.float64] = np.divide(not_shared, union, out=np.zeros_like(union), where=union > 0)
    return shares


def _flags(columns: Columns, state: State) -> Encoding:
    return check_flags(columns)


def check_flags(columns: Columns) -> NDArray[np.float64]:
    """Return columns of booleans as zeros and ones."""
    table = check_numbers(columns)
    wrong = np.argwhere((table != 0) & (table != 1))
    if len(wrong):
        sample, column = wrong[0]
        raise ValueError(
            f"The columns of {columns.reader} must hold booleans, or 0 and 1. Got {table[sample, column]} in sample "
            f"{columns.numbers[sample]} instead; compare it with a threshold first."
        )
    return table


def check_label_sets(columns: Columns) -> list[frozenset[Any]]:
    """Return a column of sets (or lists) of labels."""
    check_single(columns)
    sets = []
    for sample, value in columns.entries:
        if not isinstance(value, AbstractSet | list | tuple | np.ndarray):
            refuse_value(value, sample, columns, "sets of labels")
        sets.append(frozenset(check_category(label, sample, columns) for label in value))
    return sets


def _boolean(name: str, summary: str) -> Metric:
    """Return a metric of `cdist` for booleans."""

    def block(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
        return scipy_block(A.astype(bool), B.astype(bool), name)

    return Metric(name, summary, _flags, block, kind="categorical", source="SciPy")


_coded_metric = partial(
    Metric,
    encode=_coded,
    fit=_vocabularies,
    kind="categorical",
    decode=decoded_categories,
    ignores_missing=True,
)

METRICS = (
    _coded_metric(
        "mismatch", "share of columns whose categories differ; an unseen category differs from all", block=_mismatch
    ),
    _coded_metric(
        "eskin",
        "as mismatch, but a column of n training categories counts 2 / n², so that columns of few weigh more",
        block=_eskin,
    ),
    Metric(
        "jaccard",
        "share of labels that only one has: sets of labels, columns of booleans; an unseen label is in no other set",
        _members,
        _jaccard,
        _labels,
        kind="categorical",
    ),
    _boolean("dice", "booleans: as jaccard, but columns true in both count twice"),
    _boolean("rogerstanimoto", "booleans: share of columns that differ, these counted twice"),
    _boolean("russellrao", "booleans: share of columns not true in both; of a sample and itself not 0"),
    _boolean("sokalsneath", "booleans: as jaccard, but columns that differ count twice"),
    _boolean("yule", "booleans: from the odds that two columns agree; 0 if one contains the other"),
)
