"""The whole job on tables: a detector fitted on one, another one scored, and who is called and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth import distributed
from paretodepth._blocks import phase
from paretodepth.criteria.criterion import Missing, resolve_criteria
from paretodepth.criteria.encoding import EncodedSamples, read_columns
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.values import Columns, is_missing
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.reports.decision import (
    ONE_FILE_SHARE,
    check_contamination,
    check_leave_one_out,
    check_one_file,
    check_one_rate,
    fdr_threshold,
    share_threshold,
)
from paretodepth.reports.reasons import Reason, reasons_of, training_names
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import check_fdr, tail_p_values
from paretodepth.scoring.explanation import Explanation, explain_left_out, explain_mixed, explain_new, with_values
from paretodepth.scoring.model import Model
from paretodepth.tables.expected_columns import check_expected_columns

if TYPE_CHECKING:
    from distributed import Client

    from paretodepth.reports.labels import Labels


@dataclass(frozen=True)
class Detection:
    """What was found in a table of samples.

    Attributes
    ----------
    detector : ParetoDepthDetector
        Fitted.
    training : pyarrow.Table or None
        None if the detector comes from a file.
    samples : pyarrow.Table
        With all their columns.
    seen : Seen or None
        What the criteria see of the samples; None if all of them were fitted.
    scores : ndarray of shape (n_samples,)
        Larger is stranger; NaN for samples that lack a value.
    fdr : float or None
        The false discovery rate, if it sets the threshold.
    first_row : int
        The number of the first sample, if they are a part of many.
    contamination : float or None
        The share of the samples that is called, if it sets the threshold.
    is_left_out : bool
        Whether the samples are the training samples, each compared with the others: one file.
    fitted_rows : ndarray of shape (n_fitted,) or None
        The rows of `training` that were fitted, in rising order; None if all were.
    labels : Labels or None
        Which samples are anomalies in truth.
    id_column : str or None
        The column that names samples; None: they are called by their rows.
    count_from : int
        What the first row of a file is called: 2 counts the lines of one with a header.
    """

    detector: ParetoDepthDetector
    training: pa.Table | None
    samples: pa.Table
    encoded: EncodedSamples | None
    scores: NDArray[np.float64]
    fdr: float | None
    first_row: int = 0
    contamination: float | None = None
    is_left_out: bool = False
    fitted_rows: NDArray[np.intp] | None = None
    labels: Labels | None = None
    id_column: str | None = None
    count_from: int = 0

    def __repr__(self) -> str:
        return f"<Detection: {self.n_anomalies:,} of {self.n_scored:,} samples called anomalies>"

    @property
    def model(self) -> Model:
        """What the detector's fit has found."""
        return self.detector.model_

    @cached_property
    def _is_scored(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.scores)

    @cached_property
    def unscored(self) -> NDArray[np.intp]:
        """The samples that are not scored, for they lack a value in a criterion that drops them."""
        return np.flatnonzero(~self._is_scored)

    @property
    def n_scored(self) -> int:
        """How many samples are scored."""
        return len(self.scores) - len(self.unscored)

    def lacking(self, row: int) -> list[str]:
        """Return the columns in which a sample that is not scored lacks a value."""
        criteria = self.model.criteria
        names = criteria.layout.feature_names or []
        dropping = [fitted for fitted in criteria.fitted if fitted.criterion.missing != "ignore"]
        read = sorted({column for fitted in dropping for column in fitted.columns})
        return [names[column] for column in read if is_missing(self.samples.column(names[column])[row].as_py())]

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """Of each sample; of training samples they count the sample itself among the nominal ones."""
        return self.model.calibration.p_values(self.scores)

    @cached_property
    def tail_p_values(self) -> NDArray[np.float64]:
        """How often the rest suggests a score as large: of one file by the tail of its scores, else the p-values."""
        if not self.is_left_out:
            return self.p_values
        p_values = np.full(len(self.scores), np.nan)
        p_values[self._is_scored] = tail_p_values(self.scores[self._is_scored])
        return p_values

    @cached_property
    def threshold(self) -> float:
        """The score above which a sample is called an anomaly."""
        scores = self.scores[self._is_scored]
        if self.contamination is not None:
            return share_threshold(scores, self.contamination)
        if self.fdr is not None:
            return fdr_threshold(scores, self.tail_p_values[self._is_scored], self.fdr)
        return self.model.threshold

    @cached_property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Which samples are called."""
        return self.scores > self.threshold

    @property
    def n_anomalies(self) -> int:
        """How many samples are called."""
        return int(self.is_anomaly.sum())

    @cached_property
    def strangest(self) -> NDArray[np.intp]:
        """The samples that are scored, by index, the strangest first, so those called come before the others."""
        # NaN comes last.
        return np.argsort(-self.scores, kind="stable")[: self.n_scored]

    def reasons(self, n_samples: int) -> list[Reason]:
        """Return why each of so many samples is called or not, the strangest first.

        Each is explained once, however many outputs ask for it.
        """
        known = self._reasons
        rows = self.strangest[len(known) : n_samples]
        if len(rows):
            with phase(f"reasons of {len(rows):,} samples"):
                known.extend(reasons_of(self.explanation(rows)))
        return known[:n_samples]

    @cached_property
    def _reasons(self) -> list[Reason]:
        """Those known so far, the strangest sample's first."""
        return []

    def explanation(self, rows: NDArray[np.intp]) -> Explanation:
        """Return why some samples, at least one, are called or not; the nearest are rows of the training samples."""
        n_jobs = self.detector.n_jobs
        if self.encoded is None:
            explanation = explain_left_out(self.model, rows, n_jobs=n_jobs)
        elif self.is_left_out:
            places, new = self._placed(self.encoded, rows)
            explanation = explain_mixed(self.model, places, new, n_jobs=n_jobs)
        else:
            explanation = explain_new(self.model, self._views_of(self.encoded, rows), n_jobs=n_jobs)
        explanation = with_values(explanation, self.model, self.columns_of(rows))
        if self.fitted_rows is not None:
            fitted_rows = self.fitted_rows
            explanation = replace(explanation, neighbors=[fitted_rows[nearest] for nearest in explanation.neighbors])
        others = "nominal" if not self.is_left_out else "other" if self.fitted_rows is None else "fitted"
        names = training_names(self.training, self.id_column, self.count_from)
        return replace(explanation, is_anomaly=self.is_anomaly[rows], others=others, names=names)

    def columns_of(self, rows: NDArray[np.intp]) -> Columns:
        """Return some samples as columns, as they came."""
        if self.encoded is not None and (columns := self.encoded.columns_of(rows)) is not None:
            return columns
        names = self.model.criteria.layout.feature_names
        return self.model.criteria.columns(self.samples.select(names).take(rows), caller=NAME)

    def nearest_dyads(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of some samples with their nearest training samples, shape (n_rows, s, n_criteria)."""
        if self.encoded is None:
            return self.model.left_out_dyads(rows, n_jobs=self.detector.n_jobs)
        if not self.is_left_out:
            return self.model.new_dyads(self._views_of(self.encoded, rows), n_jobs=self.detector.n_jobs)
        places, new = self._placed(self.encoded, rows)
        dyads = np.empty((len(rows), int(self.model.measurer.n_neighbors.sum()), len(self.model.criteria.names)))
        if (is_new := places < 0).any():
            dyads[is_new] = self.model.new_dyads(new, n_jobs=self.detector.n_jobs)
        if not is_new.all():
            dyads[~is_new] = self.model.left_out_dyads(places[~is_new], n_jobs=self.detector.n_jobs)
        return dyads

    def _placed(self, encoded: EncodedSamples, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Encoding]]:
        """Return which fitted sample each row is, -1 if none, and what the criteria see of those that are none."""
        places = np.full(len(self.scores), -1)
        places[self.fitted_rows] = np.arange(len(self.model.scores))
        return places[rows], self._views_of(encoded, rows[places[rows] < 0])

    def _views_of(self, encoded: EncodedSamples, rows: NDArray[np.intp]) -> list[Encoding]:
        places = np.searchsorted(encoded.rows, rows)
        return self.model.criteria.encoded_rows(encoded.encodings, places, slice(None))


def detect(
    detector: ParetoDepthDetector,
    training: pa.Table,
    samples: pa.Table | None = None,
    *,
    fdr: float | None = None,
    contamination: float | None = None,
    rows: NDArray[np.intp] | None = None,
    client: Client | None = None,
) -> Detection:
    """Fit a detector on one table and score another, or the same one leave-one-out.

    Of one table alone nobody knows which samples are nominal: its strangest twentieth is called
    unless something else is given.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Is fitted to the columns of `training` that its criteria read, without criteria to all of
        them. What it advises is in its `advice_`, not in warnings.
    training : pyarrow.Table
        Nominal samples.
    samples : pyarrow.Table or None, default=None
        With the same columns, and others if need be. None: the training samples, each compared
        with the others.
    fdr : float or None, default=None
        A false discovery rate, as in `ParetoDepthDetector.select`, in place of the detector's
        `alpha` or `threshold`; of one table an estimate, see `scoring.calibration.tail_p_values`.
    contamination : float or None, default=None
        Of one table, the share of its samples to call; 0.05 if nothing else is given.
    rows : ndarray of shape (n_rows,) or None, default=None
        The rows of `training` to fit, in rising order. None: all. Of one table, the others are
        scored as new samples.
    client : distributed.Client or None, default=None
        Of a Dask cluster to fit on.

    Returns
    -------
    detection : Detection
        :func:`write_report` makes a page of it.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from paretodepth import ParetoDepthDetector
    >>> from paretodepth.reports import detect
    >>> nominal = pa.table({"size": np.random.default_rng(0).random(99)})
    >>> detect(ParetoDepthDetector(), nominal, pa.table({"size": [0.5, 3.0]})).is_anomaly
    array([False,  True])
    """
    distributed.check_detector(detector, "detect")
    check_table(training, "training")
    if samples is None:
        check_leave_one_out(detector)
    else:
        check_table(samples, "samples")
    check_one_file(contamination, samples is not None)
    fdr = None if fdr is None else check_fdr(fdr, "detect")
    contamination = None if contamination is None else check_contamination(contamination)
    check_one_rate(detector, fdr, contamination)
    if samples is None and not any(rate is not None for rate in (detector.alpha, detector.threshold, contamination)):
        contamination = ONE_FILE_SHARE if fdr is None else None
    fit_to_table(detector, training, rows=rows, client=client)
    if samples is not None:
        return replace(scored(detector, samples, training=training, fdr=fdr), fitted_rows=rows)
    encoded, scores = (None, detector.model_.scores) if rows is None else _scores_of_all(detector, training, rows)
    return Detection(
        detector,
        training,
        training,
        encoded,
        scores,
        fdr,
        contamination=contamination,
        is_left_out=True,
        fitted_rows=rows,
    )


def _scores_of_all(
    detector: ParetoDepthDetector, table: pa.Table, rows: NDArray[np.intp]
) -> tuple[EncodedSamples, NDArray[np.float64]]:
    """Return what the criteria see of all samples, and their scores: of fitted rows leave-one-out, others as new."""
    model = detector.model_
    with phase(f"scores of {len(table) - len(rows):,} samples that were not fitted"):
        encoded = model.encode(table.select(model.criteria.layout.feature_names), caller=NAME)
        others = np.setdiff1d(encoded.rows, rows, assume_unique=True)
        scores = np.full(len(table), np.nan)
        scores[rows] = model.scores
        if len(others):
            new = model.criteria.encoded_rows(encoded.encodings, np.searchsorted(encoded.rows, others), slice(None))
            scores[others] = model.new_scores(new, n_jobs=detector.n_jobs)
    return encoded, scores


def fit_to_table(
    detector: ParetoDepthDetector,
    training: pa.Table,
    *,
    rows: NDArray[np.intp] | None = None,
    client: Client | None = None,
) -> ParetoDepthDetector:
    """Return a detector fitted to some rows, None for all, of the columns that its criteria read.

    Its hints are in `advice_`, not in warnings.
    """
    criteria = resolve_criteria(detector.criteria, NAME)
    table = training.select(read_columns(criteria, training.column_names))
    fitted = table if rows is None else table.take(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        try:
            return detector.fit(fitted) if client is None else distributed.fit(detector, fitted, client)
        except ValueError:
            if rows is not None:
                # The same error about the whole table names rows as the file numbers them.
                FittedCriteria.fit(criteria, table, caller=NAME)
            raise


def scored(
    detector: ParetoDepthDetector,
    samples: pa.Table,
    *,
    training: pa.Table | None = None,
    fdr: float | None = None,
    first_row: int = 0,
    missing: Missing | None = None,
) -> Detection:
    """Return what a detector finds in a table that has the columns of fit among others.

    `first_row` numbers the first sample in messages. `missing` says what becomes of samples that lack a value in a
    criterion, in place of what it says itself unless it ignores them.
    """
    model = detector.model_
    columns = model.criteria.layout.feature_names or []
    check_expected_columns(samples.column_names, columns, "samples", keep_others=True)
    with phase(f"scores of samples {first_row:,} to {first_row + len(samples) - 1:,}"):
        # Of the whole table at once: messages count all missing values.
        encoded = model.encode(samples.select(columns), caller=NAME, first_row=first_row, missing=missing)
        scores = model.encoded_scores(encoded, n_jobs=detector.n_jobs, first_row=first_row)
    return Detection(detector, training, samples, encoded, scores, fdr, first_row=first_row)


def scored_chunks(
    detector: ParetoDepthDetector, chunks: Iterable[pa.Table], *, missing: Missing | None = None
) -> Iterator[Detection]:
    """Yield what is found in one chunk of samples after another; messages number samples through all of them."""
    n_before = 0
    for chunk in chunks:
        yield scored(detector, chunk, first_row=n_before, missing=missing)
        n_before += len(chunk)


def check_table(table: object, parameter: str) -> None:
    """Refuse samples that are no table of pyarrow."""
    if not isinstance(table, pa.Table):
        raise TypeError(
            f"The '{parameter}' parameter of detect must be a pyarrow.Table. Got {type(table).__name__} instead; "
            "files.read_table reads one, pyarrow.Table.from_pandas makes one of a data frame."
        )
