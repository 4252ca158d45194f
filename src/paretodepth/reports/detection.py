"""The whole job on tables: criteria chosen, fitted on one table, another one scored, and who is called and why."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth.criteria.suggestion import Choice
from paretodepth.detector import ParetoDepthDetector
from paretodepth.files.schema import KIND_TYPES
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import check_fdr, discoveries
from paretodepth.scoring.explanation import Explanation, explain_left_out
from paretodepth.scoring.methods import MethodName

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[int, int], None]
SCORED_ROWS = 2000
"""Samples scored between two reports of progress."""
MANY_SAMPLES = 5000
"""Training samples with whose dyads the deepest fronts are counted as one."""


def fitted_detector(
    training: pa.Table,
    choice: Choice,
    *,
    method: MethodName = "union",
    alpha: float | None = None,
    client: Client | None = None,
) -> ParetoDepthDetector:
    """Return the detector fitted on a table; its advice is in `advice_`, not in warnings.

    Of many training samples the deepest fronts are counted as one. A
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
    return detector


def expected_schema(detector: ParetoDepthDetector, source: str) -> pa.Schema:
    """Return the columns that a fitted detector reads, of the kinds it was fitted on as far as that is known."""
    names = check_column_names_known(getattr(detector, "feature_names_in_", None), source)
    kinds = detector.model_.criteria.layout.kinds
    return pa.schema([(name, KIND_TYPES.get(kind, pa.null())) for name, kind in zip(names, kinds, strict=True)])


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
            explanation = explain_left_out(self.detector.model_, rows, n_jobs=self.detector.n_jobs)
        else:
            explanation = self.detector.explain(self.samples.select(self.columns).take(rows))
        return replace(explanation, is_anomaly=self.is_anomaly[rows])

    def nearest_dyads(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of some samples with their nearest training samples, shape (n_rows, s, n_criteria)."""
        if self.is_left_out:
            n_neighbors, n_jobs = self.detector.n_neighbors_, self.detector.n_jobs
            blocks = self.detector.model_.map_left_out(
                lambda block: nearest_dyads(block, n_neighbors)[1], rows, n_jobs=n_jobs
            )
            return np.concatenate(blocks)
        return self.detector.nearest_dyads(self.samples.select(self.columns).take(rows))


def detect(
    training: pa.Table,
    samples: pa.Table | None,
    choice: Choice,
    *,
    method: MethodName = "union",
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
    p_values = detector.model_.p_values(scores)
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


def check_one_rate(alpha: object, fdr: object) -> None:
    """Refuse a false-alarm rate and a false discovery rate at once."""
    if alpha is not None and fdr is not None:
        raise ValueError("Give either alpha or fdr. Got both; alpha bounds false alarms, fdr their share of the calls.")


def check_column_names_known(names: Iterable[str] | None, source: str) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    if names is None:
        raise ValueError(
            f"{source}: the model must have been fitted on columns with names. Got one fitted on an array; fit it on a "
            "data frame, or with `paretodepth fit`."
        )
    return [str(name) for name in names]
