"""Criteria fitted again to the samples of an earlier fit, which a file may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from paretodepth.criteria.criterion import Criterion, check_n_criteria, resolve_criteria
from paretodepth.criteria.encoding import bound_criteria, kept_rows, part_of
from paretodepth.criteria.fitted_criteria import FittedCriteria, FittedCriterion, fit_criterion, with_typical
from paretodepth.criteria.matrices import check_matrices
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import Layout, check_n_samples
from paretodepth.criteria.values import Column, Columns

CALLER = "the loaded detector"
"""Whom messages name."""


def refit(
    criteria: Sequence[Criterion], layout: Layout, columns: Mapping[int, Column], n_given: int, max_bytes: int
) -> tuple[FittedCriteria, list[Encoding]]:
    """Return criteria fitted again to the training samples of a fit, and these samples encoded.

    Parameters
    ----------
    criteria : list of Criterion
        All of a fit, also those that it chose itself.
    layout : Layout
    columns : mapping of int to ndarray
        The columns that criteria read, and their matrices, by index; if all criteria are precomputed, the matrices by
        the criteria's places.
    n_given : int
        How many samples the fit was given; it may have dropped some and set others aside.
    max_bytes : int
        Memory that the encoded samples may take.
    """
    given = resolve_criteria(criteria, CALLER) or []
    check_n_criteria(len(given), CALLER)
    if all(criterion.is_precomputed for criterion in given):
        own = FittedCriteria([FittedCriterion(criterion, [], {"n_training": n_given}) for criterion in given], layout)
        return own, check_matrices([columns[place] for place in range(len(given))], own.names, None, CALLER)
    bound = bound_criteria(given, layout)
    table = _table_of(columns, layout)
    rows = np.arange(len(table))
    check_n_samples(len(kept_rows(bound, table)), len(table), CALLER)
    fitted = [fit_criterion(criterion, indices, table, rows) for criterion, indices in bound]
    one = part_of(table, rows[:1])
    check_encoded_size(len(table) * sum(own.encode(one).nbytes for own in fitted if not own.is_precomputed), max_bytes)
    encodings = [own.encode(table) for own in fitted]
    own = FittedCriteria([with_typical(_of_given(own, n_given), table) for own in fitted], layout)
    return own, encodings


def _of_given(fitted: FittedCriterion, n_given: int) -> FittedCriterion:
    """Return a criterion whose matrices, if it reads some, have a column for each sample that a fit was given."""
    return replace(fitted, state={"n_training": n_given}) if fitted.is_precomputed else fitted


def _table_of(columns: Mapping[int, Column], layout: Layout) -> Columns:
    """Return a table with some columns in their places; no criterion reads the others."""
    nothing = np.full(len(next(iter(columns.values()))), np.nan)
    names = layout.feature_names or [str(column) for column in range(layout.n_features)]
    return Columns([columns.get(column, nothing) for column in range(layout.n_features)], names, CALLER)


def check_encoded_size(n_bytes: int, max_bytes: int) -> None:
    """Refuse samples that would take too much memory once they are encoded."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"The encoded samples of {CALLER} must fit into half of the memory that is free, {max_bytes:,} bytes. Got "
            f"{n_bytes:,} instead; fit with smaller parameters of metrics, or on fewer samples."
        )
