"""The whole job on tables: a detector fitted on one, another one scored, and who is called and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth import distributed
from paretodepth._blocks import phase
from paretodepth.criteria.choice import read_columns
from paretodepth.criteria.criterion import Missing, resolve_criteria
from paretodepth.criteria.metrics.metric import View
from paretodepth.criteria.missing import Seen
from paretodepth.criteria.values import is_missing
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.files.schema import KIND_TYPES, check_expected_columns
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import check_fdr, discoveries
from paretodepth.scoring.explanation import Explanation, explain_left_out, explain_new
from paretodepth.scoring.model import Model

if TYPE_CHECKING:
    from distributed import Client

TOGETHER = "several together"
"""Who is to blame for a sample that is far in no criterion alone."""


class Reason(NamedTuple):
    """Why one sample is called or not.

    Attributes
    ----------
    suspect : int
        The criterion most to blame, by index; -1 if the sample is far in none alone.
    because : str or None
        Its name, or `TOGETHER`; None if the sample is not called.
    sentence : str
    criterion_p_values, relief, distances : ndarray of shape (n_criteria,)
        As in :class:`Explanation`.
    neighbors : list of ndarray of shape (n_neighbors,)
        For each criterion the nearest training samples.
    """

    suspect: int
    because: str | None
    sentence: str
    criterion_p_values: NDArray[np.float64]
    relief: NDArray[np.float64]
    distances: NDArray[np.float64]
    neighbors: list[NDArray[np.intp]]


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
        What the criteria see of the samples; None if they are the training samples, each
        compared with the others.
    scores : ndarray of shape (n_samples,)
        Larger is stranger; NaN for samples that lack a value.
    fdr : float or None
        The false discovery rate, if it sets the threshold.
    first_row : int
        The number of the first sample, if they are a part of many.
    """

    detector: ParetoDepthDetector
    training: pa.Table | None
    samples: pa.Table
    seen: Seen | None
    scores: NDArray[np.float64]
    fdr: float | None
    first_row: int = 0

    @property
    def model(self) -> Model:
        """What the detector's fit has found."""
        return self.detector.model_

    @property
    def is_left_out(self) -> bool:
        """Whether the samples are the training samples, each compared with the others."""
        return self.seen is None

    @cached_property
    def unscored(self) -> NDArray[np.intp]:
        """The samples that are not scored, for they lack a value in a criterion that drops them."""
        return np.flatnonzero(np.isnan(self.scores))

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
        return self.model.p_values(self.scores)

    @cached_property
    def threshold(self) -> float:
        """The score above which a sample is called an anomaly."""
        return self.model.threshold if self.fdr is None else _fdr_threshold(self.scores, self.p_values, self.fdr)

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
                known.extend(_reasons_of(self.explanation(rows)))
        return known[:n_samples]

    @cached_property
    def _reasons(self) -> list[Reason]:
        """Those known so far, the strangest sample's first."""
        return []

    def explanation(self, rows: NDArray[np.intp]) -> Explanation:
        """Return why some samples, at least one, are called or not."""
        n_jobs = self.detector.n_jobs
        if self.seen is None:
            explanation = explain_left_out(self.model, rows, n_jobs=n_jobs)
        else:
            explanation = explain_new(self.model, self._views_of(self.seen, rows), n_jobs=n_jobs)
        return replace(explanation, is_anomaly=self.is_anomaly[rows])

    def nearest_dyads(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of some samples with their nearest training samples, shape (n_rows, s, n_criteria)."""
        if self.seen is None:
            return self.model.left_out_dyads(rows, n_jobs=self.detector.n_jobs)
        return self.model.new_dyads(self._views_of(self.seen, rows), n_jobs=self.detector.n_jobs)

    def _views_of(self, seen: Seen, rows: NDArray[np.intp]) -> list[View]:
        places = np.searchsorted(seen.rows, rows)
        return self.model.criteria.rows_of_views(seen.views, places, slice(None))


def detect(
    detector: ParetoDepthDetector,
    training: pa.Table,
    samples: pa.Table | None = None,
    *,
    fdr: float | None = None,
    client: Client | None = None,
) -> Detection:
    """Fit a detector on one table and score another, or the same one leave-one-out.

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
        `alpha` or `threshold`.
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
    if fdr is not None:
        fdr = check_fdr(fdr, "detect")
        check_one_rate(detector)
    fit_to_table(detector, training, client=client)
    if samples is not None:
        return scored(detector, samples, training=training, fdr=fdr)
    return Detection(detector, training, training, None, detector.model_.scores, fdr)


def fit_to_table(
    detector: ParetoDepthDetector, training: pa.Table, *, client: Client | None = None
) -> ParetoDepthDetector:
    """Return a detector fitted to the columns that its criteria read; its advice is in `advice_`, not in warnings."""
    table = training.select(read_columns(resolve_criteria(detector.criteria, NAME), training.column_names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        return detector.fit(table) if client is None else distributed.fit(detector, table, client)


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
        seen = model.seen(samples.select(columns), caller=NAME, first_row=first_row, missing=missing)
        scores = model.seen_scores(seen, n_jobs=detector.n_jobs, first_row=first_row)
    return Detection(detector, training, samples, seen, scores, fdr, first_row)


def scored_chunks(
    detector: ParetoDepthDetector, chunks: Iterable[pa.Table], *, missing: Missing | None = None
) -> Iterator[Detection]:
    """Yield what is found in one chunk of samples after another; messages number samples through all of them."""
    n_before = 0
    for chunk in chunks:
        yield scored(detector, chunk, first_row=n_before, missing=missing)
        n_before += len(chunk)


def expected_schema(detector: ParetoDepthDetector, source: str) -> pa.Schema:
    """Return the columns that a fitted detector reads, of the kinds it was fitted on as far as that is known."""
    layout = detector.model_.criteria.layout
    names = check_column_names_known(layout.feature_names, source)
    return pa.schema([(name, KIND_TYPES.get(kind, pa.null())) for name, kind in zip(names, layout.kinds, strict=True)])


def suspects(explanation: Explanation) -> NDArray[np.intp]:
    """Return the criterion most to blame for each sample, by index; -1 if it is far in none alone.

    That is the one with the smallest p-value, of several the one with the largest distance in multiples of
    the usual.
    """
    first = np.lexsort((-explanation.distances, explanation.criterion_p_values), axis=1)[:, 0]
    return np.where(explanation.is_far.any(axis=1), first, -1)


def _reasons_of(explanation: Explanation) -> Iterator[Reason]:
    """Yield an explanation sample by sample."""
    names = [*explanation.criteria, TOGETHER]
    blamed = zip(suspects(explanation).tolist(), explanation.sentences, strict=True)
    for sample, (suspect, sentence) in enumerate(blamed):
        yield Reason(
            suspect,
            # The last name is that of index -1.
            names[suspect] if explanation.is_anomaly[sample] else None,
            sentence,
            explanation.criterion_p_values[sample],
            explanation.relief[sample],
            explanation.distances[sample],
            [nearest[sample] for nearest in explanation.neighbors],
        )


def _fdr_threshold(scores: NDArray[np.float64], p_values: NDArray[np.float64], fdr: float) -> float:
    """Return the largest score of a sample that is not called at a false discovery rate."""
    is_scored = ~np.isnan(scores)
    scores, is_called = scores[is_scored], discoveries(p_values, fdr)[is_scored]
    if not len(scores):
        return np.inf
    return float(scores[~is_called].max()) if not is_called.all() else float(np.nextafter(scores.min(), -np.inf))


def check_table(table: object, parameter: str) -> None:
    """Refuse samples that are no table of pyarrow."""
    if not isinstance(table, pa.Table):
        raise TypeError(
            f"The '{parameter}' parameter of detect must be a pyarrow.Table. Got {type(table).__name__} instead; "
            "files.read_table reads one, pyarrow.Table.from_pandas makes one of a data frame."
        )


def check_leave_one_out(detector: ParetoDepthDetector) -> None:
    """Refuse to compare all training samples with the others if a split would hold some of them out."""
    if detector.calibration == "split":
        raise ValueError(
            "The detector given to detect must calibrate by 'leave-one-out' to score its own training samples. Got "
            "'split' instead; give samples, or leave out calibration."
        )


def check_one_rate(detector: ParetoDepthDetector) -> None:
    """Refuse a detector with a threshold of its own where a false discovery rate is to set it."""
    if detector.alpha is not None:
        raise ValueError("Give either alpha or fdr. Got both; alpha bounds false alarms, fdr their share of the calls.")
    if detector.threshold is not None:
        raise ValueError("Give either threshold or fdr. Got both; fdr sets a threshold by the samples.")


def check_column_names_known(names: Iterable[str] | None, source: str) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    if names is None:
        raise ValueError(
            f"{source}: the model must have been fitted on columns with names. Got one fitted on an array; fit it on a "
            "data frame, or with `paretodepth fit`."
        )
    return [str(name) for name in names]
