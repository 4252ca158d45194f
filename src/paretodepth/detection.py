"""The whole job on tables: criteria chosen, fitted on one table, another one scored, and who is called and why."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paretodepth.advice import AdviceWarning
from paretodepth.calibration import discoveries
from paretodepth.cluster_validation import SECONDS_TO_WAIT, refuse_address
from paretodepth.criteria import Criterion
from paretodepth.criterion_validation import check_extra
from paretodepth.detection_validation import (
    check_column_names_known,
    check_named_columns,
    check_one_rate,
    check_one_source,
    check_some_columns,
)
from paretodepth.detector import ParetoDepthDetector
from paretodepth.explanation import Explanation
from paretodepth.left_out import explain_training, nearest_training_dyads
from paretodepth.schemas import KIND_TYPES, column_kind
from paretodepth.statistics import Method
from paretodepth.validation import check_columns, check_fdr

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[int, int], None]

SCORED_ROWS = 2000
"""Samples scored between two reports of progress."""
MANY_SAMPLES = 5000
"""Training samples with whose dyads the deepest fronts are counted as one."""


class Choice(NamedTuple):
    """Which criteria are used, and why.

    Attributes
    ----------
    criteria : list of Criterion
    columns : list of str
        The columns that they read, which new samples must have.
    remark : str
        What was chosen, if nobody else has; otherwise empty.
    """

    criteria: list[Criterion]
    columns: list[str]
    remark: str


def chosen_criteria(
    training: pa.Table,
    *,
    criteria: list[Criterion] | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
) -> Choice:
    """Return the given criteria, or one per named column or per numeric column, compared by absolute difference.

    Of the numeric columns, booleans, the id and those that only number the rows are left out.

    Parameters
    ----------
    training : pyarrow.Table
        The training samples.
    criteria : list of Criterion or None
    columns : sequence of str or None
        In place of criteria.
    id_column : str or None
        The column that names the samples.

    Examples
    --------
    >>> table = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"], "size": [1.0, 7.0, 2.0]})
    >>> chosen_criteria(table).remark
    'One criterion per numeric column: size. Left out: id (numbers the rows), name (text).'
    """
    check_one_source(criteria, columns)
    if criteria is not None:
        return Choice(criteria, _read_columns(criteria, training.column_names), "")
    kinds = {field.name: column_kind(field.type) for field in training.schema}
    if columns is not None:
        named = check_named_columns(columns, kinds)
        return Choice([_difference(name) for name in named], named, "")
    reasons = {name: _reason_against(training, name, id_column) for name in training.column_names}
    taken = check_some_columns([name for name, reason in reasons.items() if reason is None], kinds)
    left_out = [f"{name} ({reason})" for name, reason in reasons.items() if reason is not None]
    remark = f"One criterion per numeric column: {', '.join(taken)}."
    if left_out:
        remark += f" Left out: {', '.join(left_out)}."
    return Choice([_difference(name) for name in taken], taken, remark)


def _difference(name: str) -> Criterion:
    """Return the criterion of the absolute difference in one column."""
    return Criterion(name, [name], "cityblock")


def _reason_against(table: pa.Table, name: str, id_column: str | None) -> str | None:
    """Return why a column is no criterion unless asked for, or None."""
    column = table.column(name)
    if name == id_column:
        return "the id"
    if pa.types.is_boolean(column.type):
        return "true or false"
    if (kind := column_kind(column.type)) != "numbers":
        return kind
    if pa.types.is_integer(column.type) and len(column) > 1 and column.null_count == 0:
        steps = pc.pairwise_diff(column.combine_chunks().cast(pa.int64(), safe=False))
        if pc.all(pc.equal(steps, 1)).as_py():
            return "numbers the rows"
    return None


def _read_columns(criteria: Sequence[Criterion], names: list[str]) -> list[str]:
    """Return the columns that criteria read; all of them if one criterion counts columns by position."""
    read: set[int] = set()
    for criterion in criteria:
        columns = criterion.columns
        given = [columns] if isinstance(columns, str | int) or columns is None else list(columns)
        if any(not isinstance(column, str) for column in given):
            return names
        read.update(check_columns(given, criterion.name, len(names), names))
    return [names[column] for column in sorted(read)]


def fitted_detector(
    training: pa.Table,
    choice: Choice,
    *,
    method: Method = "union",
    alpha: float | None = None,
    client: Client | None = None,
) -> ParetoDepthDetector:
    """Return the detector fitted on a table; its advice is in `advice_`, not in warnings.

    Of many training samples the deepest fronts are counted as one. `column_kinds_` tells what the columns hold. A
    client has the workers of a Dask cluster do it.
    """
    max_depth: Literal["auto"] | None = "auto" if len(training) > MANY_SAMPLES else None
    detector = ParetoDepthDetector(choice.criteria, method=method, alpha=alpha, max_depth=max_depth, n_jobs=-1)
    table = training.select(choice.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        if client is None:
            detector.fit(table)
        else:
            from paretodepth import distributed

            distributed.fit(detector, table, client)
    detector.column_kinds_ = {field.name: column_kind(field.type) for field in table.schema}
    return detector


@contextmanager
def connected(address: str | None) -> Iterator[Client | None]:
    """Give a client of the Dask cluster at an address, of a new one on this machine for "local", or None."""
    if address is None:
        yield None
        return
    dask = check_extra("distributed", "distributed")
    if address == "local":
        cluster = dask.LocalCluster(threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR)
        with cluster, dask.Client(cluster) as client:
            yield client
        return
    try:
        client = dask.Client(address, timeout=SECONDS_TO_WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        refuse_address(address, error)
    with client:
        yield client


def expected_schema(detector: ParetoDepthDetector, source: str) -> pa.Schema:
    """Return the columns that a fitted detector reads, of the kinds it was fitted on as far as that is known."""
    names = check_column_names_known(getattr(detector, "feature_names_in_", None), source)
    kinds = getattr(detector, "column_kinds_", {})
    return pa.schema([(name, KIND_TYPES.get(kinds.get(name, ""), pa.null())) for name in names])


@dataclass(frozen=True)
class Detection:
    """What was found in a table of samples.

    Attributes
    ----------
    detector : ParetoDepthDetector
    training : pyarrow.Table or None
        None if the detector comes from a file.
    samples : pyarrow.Table
        With all their columns.
    columns : list of str
        Those that the criteria read.
    is_left_out : bool
        Whether the samples are the training samples, each compared with the others.
    scores : ndarray of shape (n_samples,)
        Larger is stranger.
    p_values : ndarray of shape (n_samples,)
    threshold : float
        The score above which a sample is called an anomaly.
    fdr : float or None
        The false discovery rate, if it has set the threshold.
    """

    detector: ParetoDepthDetector
    training: pa.Table | None
    samples: pa.Table
    columns: list[str]
    is_left_out: bool
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    threshold: float
    fdr: float | None

    @property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Which samples are called."""
        return self.scores > self.threshold

    @cached_property
    def strangest(self) -> NDArray[np.intp]:
        """The samples by index, the strangest first."""
        return np.argsort(-self.scores, kind="stable")

    def explanation(self, rows: NDArray[np.intp]) -> Explanation:
        """Return why some samples, at least one, are called or not."""
        if self.is_left_out:
            explanation = explain_training(self.detector, rows)
        else:
            explanation = self.detector.explain(self.samples.select(self.columns).take(rows))
        return replace(explanation, is_anomaly=self.is_anomaly[rows])

    def nearest_dyads(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of some samples with their nearest training samples, shape (n_rows, s, n_criteria)."""
        if self.is_left_out:
            return nearest_training_dyads(self.detector, rows)
        return self.detector.nearest_dyads(self.samples.select(self.columns).take(rows))


def detect(
    training: pa.Table,
    samples: pa.Table | None,
    choice: Choice,
    *,
    method: Method = "union",
    alpha: float | None = None,
    fdr: float | None = None,
    client: Client | None = None,
    progress: Progress = lambda n_done, n_samples: None,
) -> Detection:
    """Fit on one table and score another, or the same one leave-one-out.

    Parameters
    ----------
    training : pyarrow.Table
        Nominal samples.
    samples : pyarrow.Table or None
        None: the training samples, each compared with the others. Their p-values count the sample itself among the
        nominal ones.
    choice : Choice
        Of :func:`chosen_criteria`.
    method : {"depth", "criteria", "union"}, default="union"
        As in :class:`ParetoDepthDetector`.
    alpha, fdr : float or None
        The false-alarm rate, 0.05 by default; or a false discovery rate in its place.
    client : distributed.Client or None
        Of a Dask cluster to fit on.
    progress : callable
        Told how many samples are scored, and of how many.

    Returns
    -------
    detection : Detection

    Examples
    --------
    >>> nominal = pa.table({"size": np.random.default_rng(0).random(99)})
    >>> new = pa.table({"size": [0.5, 3.0]})
    >>> detect(nominal, new, chosen_criteria(nominal)).is_anomaly
    array([False,  True])
    """
    check_one_rate(alpha, fdr)
    fdr = None if fdr is None else check_fdr(fdr, "detect")
    detector = fitted_detector(training, choice, method=method, alpha=alpha, client=client)
    if samples is not None:
        return scored(detector, samples, choice.columns, training=training, fdr=fdr, progress=progress)
    scores = -detector.training_scores_
    progress(len(scores), len(scores))
    return _decided(detector, training, choice.columns, scores, training=training, fdr=fdr, is_left_out=True)


def scored(
    detector: ParetoDepthDetector,
    samples: pa.Table,
    columns: list[str],
    *,
    training: pa.Table | None = None,
    fdr: float | None = None,
    progress: Progress = lambda n_done, n_samples: None,
) -> Detection:
    """Return what a fitted detector finds in a table, which has the columns of fit among others."""
    scores = np.concatenate(list(_scores(detector, samples.select(columns), progress)))
    return _decided(detector, samples, columns, scores, training=training, fdr=fdr)


def _decided(
    detector: ParetoDepthDetector,
    samples: pa.Table,
    columns: list[str],
    scores: NDArray[np.float64],
    *,
    training: pa.Table | None,
    fdr: float | None,
    is_left_out: bool = False,
) -> Detection:
    """Return the detection with p-values and a threshold for scores."""
    p_values = detector._calibration.p_values(scores, detector.method)
    threshold = -detector.offset_ if fdr is None else _fdr_threshold(scores, p_values, fdr)
    return Detection(detector, training, samples, columns, is_left_out, scores, p_values, float(threshold), fdr)


def _scores(detector: ParetoDepthDetector, samples: pa.Table, progress: Progress) -> Iterator[NDArray[np.float64]]:
    """Yield the scores of a table part by part; larger is stranger."""
    for start in range(0, len(samples), SCORED_ROWS):
        yield -detector.score_samples(samples.slice(start, SCORED_ROWS))
        progress(min(start + SCORED_ROWS, len(samples)), len(samples))


def _fdr_threshold(scores: NDArray[np.float64], p_values: NDArray[np.float64], fdr: float) -> float:
    """Return the largest score of a sample that is not called at a false discovery rate."""
    is_called = discoveries(p_values, fdr)
    return float(scores[~is_called].max()) if not is_called.all() else float(np.nextafter(scores.min(), -np.inf))
