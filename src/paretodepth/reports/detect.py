"""The whole job on a table: choose criteria, fit, score, decide what is flagged."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth import distributed
from paretodepth._blocks import phase
from paretodepth.criteria.criterion import Criterion, Missing, resolve_criteria
from paretodepth.criteria.encoding import EncodedSamples, read_columns
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.criteria.samples import has_names
from paretodepth.criteria.suggestion import (
    MAX_CRITERIA,
    Suggestion,
    check_suggested,
    column_criteria,
    suggest_criteria,
)
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.distributed.cluster import connected
from paretodepth.reports.decision import ONE_FILE_SHARE, check_contamination, check_one_rate, check_one_table
from paretodepth.reports.findings import Findings
from paretodepth.reports.input_table import input_table, source_name
from paretodepth.reports.labels import Labels, check_own_column
from paretodepth.reports.row_limit import choose_rows, max_depth_of, random_rows
from paretodepth.reports.score import find_in
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import check_fdr
from paretodepth.scoring.methods import MethodName
from paretodepth.tables.reading import Reading
from paretodepth.tables.sources import check_readable

if TYPE_CHECKING:
    from distributed import Client

MIN_ROWS = 4
"""Rows to learn from: of three samples, each has the same two neighbors."""


class Learning(NamedTuple):
    """A table to learn from and its cells of text, the detector, the criteria if suggested, and the rows to fit."""

    training: pa.Table
    texts: pa.Table
    detector: ParetoDepthDetector
    suggestion: Suggestion | None = None
    rows: NDArray[np.intp] | None = None

    def fitting(self, rows: NDArray[np.intp] | None) -> Learning:
        """Return the same with some rows to fit, None for all."""
        n_rows = len(self.training) if rows is None else len(rows)
        self.detector.set_params(max_depth=max_depth_of(n_rows))
        return self._replace(rows=rows)

    def sampled(self, n_rows: int | None) -> Learning:
        """Return the same with this many random rows to fit, None for all."""
        return self if n_rows is None else self.fitting(random_rows(len(self.training), n_rows))

    def fitted(self) -> ParetoDepthDetector:
        """Return the detector, fitted."""
        return fit_to_table(self.detector, self.training, rows=self.rows)

    def findings(self) -> Findings:
        """Return the training samples as findings, once the detector is fitted, for remarks about these."""
        return Findings(
            self.detector, self.training, self.training.slice(0, 0), None, np.empty(0), fitted_rows=self.rows
        )


def detect(
    table: Any,
    reference: Any = None,
    *,
    criteria: Any = None,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    alpha: float | None = None,
    fdr: float | None = None,
    contamination: float | None = None,
    label: str | None = None,
    method: MethodName = "blend",
    missing: Missing = "drop",
    train_rows: int | None = None,
    exact: bool = False,
    dask: str | None = None,
    format: str | Reading | None = None,
) -> Findings:
    """Find the most unusual records of a table, with the reason for each.

    Without a reference, every record is compared with all others, and the most unusual 5 % are
    flagged unless a rate is given. With one, every record is compared with the records of the
    reference, and `alpha` is the false-alarm rate.

    Large tables are fitted on a random subset of their rows, always the same; every row is scored.
    :func:`~paretodepth.reports.row_limit.choose_rows` has the rule.

    Parameters
    ----------
    table : path, data frame of pandas, polars or pyarrow, dict of columns or array
        The records to check. A file and a data frame with the same content give the same scores:
        text in a data frame is typed as the cells of a CSV file are.
    reference : as `table`, or None, default=None
        Records that are known to be normal.
    criteria : list of Criterion, Suggestion, path of a TOML file or None, default=None
        None: chosen automatically, see :func:`suggest`.
    columns : sequence of str or None, default=None
        In place of criteria, columns of numbers: one criterion each.
    id : str or None, default=None
        The column that identifies records; no criterion reads it.
    alpha : float or None, default=None
        The false-alarm rate: the share of normal records that may be flagged, 0.05 with a reference.
    fdr, contamination : float or None, default=None
        In place of `alpha`: the expected share of normal records among those flagged; without a
        reference, the share of the records to flag.
    label : str or None, default=None
        A column with the true labels, two values. Not used for scoring, only for evaluation.
    method : {"blend", "depth"}, default="blend"
        As in :class:`ParetoDepthDetector`, whose default is ``"depth"``.
    missing : {"drop", "ignore", "fail"}, default="drop"
        What happens to records with missing values where a criterion does not say: they are not
        scored, compared in the columns they have, or refused.
    train_rows : int or None, default=None
        Fit on this many random rows.
    exact : bool, default=False
        Fit on all rows, however long it takes.
    dask : str or None, default=None
        Fit on a Dask cluster: ``"local"``, or the address of its scheduler.
    format : str, Reading or None, default=None
        How files are read, as in :func:`paretodepth.tables.read_table`.

    Returns
    -------
    findings : Findings

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> weights = np.append(rng.normal(70, 10, 98), [68.0, 500.0])
    >>> findings = detect({"id": np.arange(100), "kg": weights, "cm": rng.normal(170, 8, 100)})
    >>> findings.most_unusual[:2]
    array([99, 69])
    """
    check_one_size(train_rows, exact)
    first = table if reference is None else reference
    learning = learn(first, "detect", criteria, columns, id, alpha, method, missing, label, format)
    samples, texts = learning.training, learning.texts
    if reference is not None:
        read = read_columns(learning.detector.criteria, samples.column_names)
        samples, texts = input_table(table, "detect", format=format, schema=samples.select(read).schema)
    check_own_column(id, samples.column_names)
    labels = None if label is None else Labels.of(samples, label)
    learning = learning.sampled(train_rows)
    if train_rows is None and not exact and dask is None:
        learning = learning.fitting(choose_rows(learning.detector, learning.training, len(samples)))
    with connected(dask) as client:
        found = find(
            learning.detector,
            learning.training,
            None if reference is None else samples,
            fdr=fdr,
            contamination=contamination,
            rows=learning.rows,
            client=client,
        )
    return replace(
        found,
        labels=labels,
        id_column=id,
        suggestion=learning.suggestion,
        texts=texts,
        given=table,
        inputs=[os.fspath(name) for name in (reference, table) if isinstance(name, str | os.PathLike)],
    )


def suggest(
    table: Any,
    *,
    max_criteria: int = MAX_CRITERIA,
    id: str | None = None,
    label: str | None = None,
    format: str | Reading | None = None,
) -> Suggestion:
    """Suggest criteria for a table, and say how each column is interpreted and used.

    Parameters
    ----------
    table : path, data frame of pandas, polars or pyarrow, dict of columns or array
    max_criteria : int, default=6
    id, label : str or None, default=None
        The columns that identify records and that hold the true labels; no criterion reads them.
    format : str, Reading or None, default=None
        How a file is read, as in :func:`paretodepth.tables.read_table`.

    Returns
    -------
    suggestion : Suggestion
        `criteria` are for :func:`detect` and `ParetoDepthDetector`, `columns` has an entry for each
        column, `to_toml()` is the text of a file of criteria.

    Examples
    --------
    >>> suggest({"nr": [1, 2, 3, 4], "price": ["1,50", "2,75", "1,10", "9,00"]}).criteria
    [Criterion(name='price', columns=['price'], metric='difference')]
    """
    samples = table
    # A detector numbers the columns of an array.
    if isinstance(table, str | os.PathLike) or has_names(table):
        samples = input_table(table, "suggest", format=format)[0]
        check_own_column(id, samples.column_names)
    return check_suggested(suggest_criteria(samples, max_criteria, id_column=id, label=label))


def fit(
    table: Any,
    *,
    criteria: Any = None,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    alpha: float | None = None,
    method: MethodName = "blend",
    missing: Missing = "drop",
    label: str | None = None,
    train_rows: int | None = None,
    format: str | Reading | None = None,
) -> ParetoDepthDetector:
    """Return a detector fitted to a table of normal records.

    Its `save` writes the model file that :func:`score`, :func:`explain` and ``paretodepth watch`` read.
    The parameters are those of :func:`detect`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fit({"kg": rng.normal(70, 10, 99), "cm": rng.normal(170, 8, 99)}).n_features_in_
    2
    """
    learning = learn(table, "fit", criteria, columns, id, alpha, method, missing, label, format)
    return learning.sampled(train_rows).fitted()


def learn(
    table: Any,
    caller: str,
    criteria: Any,
    columns: Sequence[str] | None,
    id: str | None,
    alpha: float | None,
    method: MethodName,
    missing: Missing,
    label: str | None,
    format: str | Reading | None,
) -> Learning:
    """Return a table to learn from and the detector to fit to it; the parameters are those of `detect`."""
    training, texts = input_table(table, caller, format=format)
    check_training_rows(len(training), source_name(table, caller))
    given = criteria_of(criteria, missing)
    suggestion = None
    if given is None and columns is None:
        described = training.drop_columns([label]) if label in training.column_names else training
        suggestion = check_suggested(suggest_criteria(described, id_column=id))
        given = [criterion.with_missing(missing) for criterion in suggestion.criteria]
    elif columns is not None:
        given = [criterion.with_missing(missing) for criterion in column_criteria(training, columns, given)]
    max_depth = max_depth_of(len(training))
    detector = ParetoDepthDetector(given, method=method, alpha=alpha, max_depth=max_depth, n_jobs=-1)
    return Learning(training, texts, detector, suggestion)


def criteria_of(criteria: Any, missing: Missing = "drop") -> list[Criterion] | None:
    """Return criteria given as a list, a suggestion or a TOML file; `missing` is the rule where they do not say."""
    if isinstance(criteria, str | os.PathLike):
        return Criterion.from_toml(check_readable(os.fspath(criteria)), missing=missing)
    given = criteria.criteria if isinstance(criteria, Suggestion) else criteria
    return None if given is None else [criterion.with_missing(missing) for criterion in given]


def find(
    detector: ParetoDepthDetector,
    training: pa.Table,
    samples: pa.Table | None = None,
    *,
    fdr: float | None = None,
    contamination: float | None = None,
    rows: NDArray[np.intp] | None = None,
    client: Client | None = None,
) -> Findings:
    """Fit a detector to some rows of one table, score another, or the same one with each sample left out in turn."""
    distributed.check_detector(detector, "detect")
    fdr = None if fdr is None else check_fdr(fdr, "detect")
    contamination = None if contamination is None else check_contamination(contamination)
    check_one_rate(detector, fdr, contamination)
    check_one_table(detector, contamination, samples is not None)
    if samples is None and not any(rate is not None for rate in (detector.alpha, detector.threshold, contamination)):
        contamination = ONE_FILE_SHARE if fdr is None else None
    fit_to_table(detector, training, rows=rows, client=client)
    if samples is not None:
        return replace(find_in(detector, samples), training=training, fdr=fdr, fitted_rows=rows)
    encoded, scores = (None, detector.model_.scores) if rows is None else _scores_of_all(detector, training, rows)
    found = Findings(detector, training, training, encoded, scores, fdr)
    return replace(found, contamination=contamination, is_left_out=True, fitted_rows=rows)


def _scores_of_all(
    detector: ParetoDepthDetector, table: pa.Table, rows: NDArray[np.intp]
) -> tuple[EncodedSamples, NDArray[np.float64]]:
    """Return the encoded samples and their scores: fitted rows are left out in turn, others are new samples."""
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


def check_one_size(train_rows: int | None, exact: bool) -> None:
    """Refuse to fit both all rows and some."""
    if train_rows is not None and exact:
        raise ValueError("Give either train_rows (--train-rows) or exact (--exact), which fits all rows. Got both.")


def check_training_rows(n_rows: int, source: str) -> None:
    """Refuse a table of too few rows to learn from."""
    if n_rows < MIN_ROWS:
        raise ValueError(
            f"{source}: must hold at least {MIN_ROWS} samples to learn from. Got {n_rows} instead; the more the "
            "better, and 19 for a false-alarm rate of 5%."
        )
