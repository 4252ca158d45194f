"""Criteria after fit: columns as indices, and what was estimated from the training samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from paretodepth._checks import check_extra, listed
from paretodepth.criteria.criterion import (
    BlockMetric,
    Criterion,
    Missing,
    check_n_criteria,
    checked_params,
    resolve_criteria,
)
from paretodepth.criteria.encoding import (
    Bound,
    EncodedSamples,
    bound_criteria,
    callable_input,
    check_common,
    element_block,
    frame_index,
    is_batch_stable,
    kept_rows,
    needed_columns,
    part_of,
    read_only,
    transformed,
    transformer_input,
)
from paretodepth.criteria.matrices import check_matrices, check_matrix
from paretodepth.criteria.metrics.metric import Encoding, State
from paretodepth.criteria.reference_range import ReferenceRange, column_values, reference_ranges
from paretodepth.criteria.samples import MIN_SAMPLES, Layout, check_n_samples, read_new, read_training
from paretodepth.criteria.values import Columns, Origin, check_comparable, check_dissimilarities, check_no_missing

Rows = slice | NDArray[np.intp]
Block = NDArray[np.float64]


@dataclass(frozen=True)
class FittedCriterion:
    """A criterion and what fit has fixed of it.

    Attributes
    ----------
    criterion : Criterion
        As given.
    columns : list of int
        The columns it reads, as indices.
    state : dict
        Parameters and estimates of its metric: numbers, strings, lists of these and arrays.
    transform : transformer or None
        The fitted clone of the criterion's transformer.
    typical : tuple of ReferenceRange
        The typical range of each of its columns that has one.
    """

    criterion: Criterion
    columns: list[int]
    state: State = field(repr=False)
    transform: Any = None
    typical: tuple[ReferenceRange, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The criterion's name."""
        return self.criterion.name

    @property
    def metric(self) -> str | BlockMetric:
        """The criterion's metric, as given."""
        return self.criterion.metric

    @property
    def is_precomputed(self) -> bool:
        """Whether the criterion reads dissimilarity matrices."""
        return self.criterion.is_precomputed

    @property
    def is_symmetric(self) -> bool:
        """Whether a pair of samples has the same dissimilarity, to the last bit, in either order."""
        registered = self.criterion.registered
        return registered is not None and registered.is_symmetric

    def encode(self, table: Columns) -> Encoding:
        """Return what the metric compares of samples, one row each."""
        if self.is_precomputed:
            matrix = table.arrays[self.columns[0]]
            return check_matrix(matrix, self.name, self.state["n_training"], table.first_row)
        columns = _read_columns(self.criterion, self.columns, table)
        if self.transform is not None:
            samples = transformer_input(columns, is_single=self.criterion.names_one)
            columns = _transformed_columns(self.criterion, self.transform, samples, self.state["transforms_alone"])
            columns = replace(columns, first_row=table.first_row, rows=table.rows)
        registered = self.criterion.registered
        return callable_input(columns) if registered is None else registered.encode(columns, self.state)

    def values(self, reference: ReferenceRange, table: Columns) -> Any:
        """Return the values of samples in the column of a typical range, NaN or None where missing."""
        columns = replace(table, arrays=[table.arrays[reference.column]], names=[reference.name], ignores_missing=True)
        return column_values(self.criterion, reference.kind, columns, self.state)

    def decoded(self, reference: ReferenceRange, encoding: Encoding) -> list[Any]:
        """Return the values of encoded samples in the column of a typical range as they were given."""
        metric = self.criterion.registered
        return [] if metric is None else metric.decoded(encoding, self.state, self.columns.index(reference.column))

    def dissimilarities(self, A: Encoding, B: Encoding, origin: Origin, n_jobs: int | None = None) -> Block:
        """Return the dissimilarities of each row of `A` to each row of `B`, checked.

        Of a precomputed criterion `A` already holds them. `origin` numbers the first
        row and the first column, or each column, in messages.
        """
        if self.is_precomputed:
            return A.astype(np.float64, copy=False)
        return self._block(A, B, origin, n_jobs, None)

    def write_training_dissimilarities(self, out: Block, encoding: Encoding, rows: slice, n_jobs: int | None) -> None:
        """Write the dissimilarities of some training samples to these and all later ones into a C-contiguous array.

        Only entries above the diagonal are meant: the dissimilarity of a pair is asked for once.
        """
        start = rows.start
        block = (
            None if self.is_precomputed else self._block(encoding[rows], encoding[start:], (start, start), n_jobs, out)
        )
        # A metric that cannot write to a given array has made one of its own.
        if block is not out:
            out[:] = encoding[rows, start:] if block is None else block

    def _block(self, A: Encoding, B: Encoding, origin: Origin, n_jobs: int | None, out: Block | None) -> Block:
        metric: Any = self.criterion.metric
        registered, params = self.criterion.registered, self.criterion.params
        if registered is not None:
            check_comparable(A, B, self.name)
            # More threads than cores help nobody, and the number may come from a stranger's file.
            threads = {"n_threads": min(effective_n_jobs(n_jobs), cpu_count())} if registered.is_threaded else {}
            block = registered.block(A, B, {**self.state, **threads, "out": out})
            if self.criterion.missing == "ignore":
                check_common(block, self.name, origin, n_columns=A.shape[1])
        elif self.criterion.pairwise:
            block = element_block(metric, A, B, params, self.name, is_training=out is not None)
        else:
            block = metric(read_only(A), read_only(B), **params)
        return check_dissimilarities(block, (len(A), len(B)), self.name, origin)


@dataclass(frozen=True)
class FittedCriteria:
    """Criteria fitted to training samples, and how these came.

    Attributes
    ----------
    fitted : list of FittedCriterion
    layout : Layout
    """

    fitted: list[FittedCriterion]
    layout: Layout

    @classmethod
    def fit(
        cls, criteria: object, X: Any, *, caller: str, rows_of: Callable[[int], Rows] = lambda n_samples: slice(None)
    ) -> tuple[FittedCriteria, EncodedSamples]:
        """Return criteria fitted to training samples, and what they see of these.

        Parameters
        ----------
        criteria : list of Criterion or None
            None: one per column, the absolute difference.
        X : array-like, data frame, dict of columns, list of objects or matrices
        caller : str
            The detector that messages name.
        rows_of : callable
            Tells from the number of samples that are not dropped which of them are fitted to.
        """
        given = resolve_criteria(criteria, caller)
        _check_before_data(given or [], caller)
        if given is not None and all(criterion.is_precomputed for criterion in given):
            matrices = check_matrices(X, [criterion.name for criterion in given], None, caller)
            n_training = check_n_samples(len(matrices[0]), MIN_SAMPLES, caller)
            fitted = [FittedCriterion(criterion, [], {"n_training": n_training}) for criterion in given]
            return cls(fitted, Layout(n_training)), EncodedSamples(matrices, np.arange(n_training), n_training)
        _check_mapping_of(given or [], X, caller)
        table, layout = read_training(
            X,
            caller,
            as_objects=any(criterion.reads_list for criterion in given or []),
            as_numbers=all(criterion.reads_numbers for criterion in given or []),
        )
        check_n_criteria(len(given or table.arrays), caller)
        bound = bound_criteria(given, layout)
        rows = kept_rows(bound, table)
        check_n_samples(len(rows), MIN_SAMPLES, caller, len(table))
        fitted_to = rows[rows_of(len(rows))]
        fitted = [fit_criterion(criterion, columns, table, fitted_to) for criterion, columns in bound]
        own = cls(fitted, layout)
        encodings = own._views(part_of(table, rows))
        # Only now that metrics have refused what they cannot read.
        own = cls([with_typical(criterion, part_of(table, fitted_to)) for criterion in fitted], layout)
        if len(rows) < len(table):
            encodings = own.encoded_rows(encodings, slice(None), rows)
        return own, EncodedSamples(encodings, rows, len(table), columns=part_of(table, rows))

    @property
    def names(self) -> list[str]:
        """The criteria's names."""
        return [criterion.name for criterion in self.fitted]

    def encode(self, X: Any, *, caller: str, first_row: int = 0, missing: Missing | None = None) -> EncodedSamples:
        """Return what criteria see of new samples.

        `first_row` numbers the first of them in messages; `missing` overrides what becomes of those that lack a value.
        """
        criteria = [fitted.criterion for fitted in self.fitted]
        if all(criterion.is_precomputed for criterion in criteria):
            matrices = check_matrices(X, self.names, self.layout.n_features, caller, first_row)
            return EncodedSamples(matrices, np.arange(len(matrices[0])), len(matrices[0]))
        _check_mapping_of(criteria, X, caller)
        as_numbers = all(criterion.reads_numbers for criterion in criteria)
        needed = needed_columns(self.bound, self.layout)
        table = read_new(X, caller, self.layout, as_numbers=as_numbers, first_row=first_row, needed=needed)
        rows = kept_rows(self.bound, table, missing)
        encoded = part_of(table, rows)
        return EncodedSamples(self._views(encoded) if len(rows) else [], rows, len(table), frame_index(X), encoded)

    def columns(self, X: Any, *, caller: str) -> Columns:
        """Return new samples as columns, as they came."""
        return read_new(X, caller, self.layout, as_numbers=False, needed=needed_columns(self.bound, self.layout))

    def _views(self, table: Columns) -> list[Encoding]:
        return [fitted.encode(table) for fitted in self.fitted]

    @property
    def bound(self) -> Bound:
        """The criteria with their columns."""
        return [(fitted.criterion, fitted.columns) for fitted in self.fitted]

    def encoded_rows(self, encodings: Sequence[Encoding], rows: Rows, training: Rows) -> list[Encoding]:
        """Return some rows of views, and of precomputed dissimilarities the columns of some training samples."""
        return [
            encoding[rows][:, training] if fitted.is_precomputed else encoding[rows]
            for fitted, encoding in zip(self.fitted, encodings, strict=True)
        ]


def _check_before_data(criteria: Sequence[Criterion], caller: str) -> None:
    """Refuse too many criteria, and metrics whose library is not installed."""
    check_n_criteria(len(criteria), caller)
    for metric in (criterion.registered for criterion in criteria):
        if metric is not None and metric.extra:
            check_extra(*metric.extra)


def fit_criterion(criterion: Criterion, indices: list[int], table: Columns, rows: NDArray[np.intp]) -> FittedCriterion:
    """Return a criterion with what its transformer and metric estimate from some rows of the training samples."""
    if criterion.is_precomputed:
        check_matrix(table.arrays[indices[0]], criterion.name, None)
        return FittedCriterion(criterion, indices, {"n_training": len(table)})
    state: State = {"missing": criterion.missing}
    transformer = None
    columns = _read_columns(criterion, indices, table)
    columns = part_of(columns, rows)
    if criterion.transform is not None:
        samples = transformer_input(columns, is_single=criterion.names_one)
        transformer = clone(criterion.transform).fit(samples)
        state["transforms_alone"] = not is_batch_stable(transformer, samples, criterion.name)
        columns = _transformed_columns(criterion, transformer, samples, state["transforms_alone"])
    metric = criterion.registered
    if metric is not None:
        params = checked_params(criterion, metric)
        state |= params if metric.fit is None else metric.fit(columns, params)
    return FittedCriterion(criterion, indices, state, transformer)


def with_typical(fitted: FittedCriterion, table: Columns) -> FittedCriterion:
    """Return a criterion with the typical ranges of the columns it reads."""
    columns = _read_columns(fitted.criterion, fitted.columns, table)
    return replace(fitted, typical=reference_ranges(fitted.criterion, fitted.columns, columns, fitted.state))


def _read_columns(criterion: Criterion, indices: list[int], table: Columns) -> Columns:
    """Return the columns that a criterion reads."""
    return Columns(
        [table.arrays[index] for index in indices],
        [table.names[index] for index in indices],
        f"the criterion '{criterion.name}'",
        criterion.missing == "ignore",
        table.first_row,
        table.rows,
    )


def _transformed_columns(criterion: Criterion, transformer: Any, samples: NDArray[Any], alone: bool) -> Columns:
    """Return a transformer's output as the columns that the metric reads."""
    columns = replace(
        transformed(transformer, samples, criterion.name, alone=alone), ignores_missing=criterion.missing == "ignore"
    )
    check_no_missing(columns)
    return columns


def _check_mapping_of(criteria: Sequence[Criterion], X: object, caller: str) -> None:
    """Refuse anything but a dict of columns if some of the criteria are precomputed."""
    matrices = [criterion.name for criterion in criteria if criterion.is_precomputed]
    if matrices:
        check_mapping(X, matrices, caller)


def check_mapping(X: object, names: Sequence[str], caller: str) -> None:
    """Refuse anything but a dict of columns where some criteria are precomputed and others are not."""
    if not isinstance(X, Mapping):
        raise TypeError(
            f"The samples given to {caller} must be a dict of columns when only some criteria are precomputed; it "
            f"holds the matrices of {listed(names)} beside the columns of the others. Got {type(X).__name__} instead."
        )
