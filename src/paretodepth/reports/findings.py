"""What is found in a table of samples: scores, p-values, decisions and reasons."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._blocks import phase
from paretodepth._checks import check_extra
from paretodepth.criteria.encoding import EncodedSamples
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.suggestion import Suggestion
from paretodepth.criteria.values import Columns, is_missing
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.reports.decision import fdr_threshold, n_clear_outliers, share_threshold
from paretodepth.reports.page import write_report
from paretodepth.reports.reasons import Reason, reasons_of
from paretodepth.reports.results import FIRST_ROW, headline, result_columns, results_table, written_table
from paretodepth.scoring.calibration import tail_p_values
from paretodepth.scoring.explanation import Explanation, explain_mixed, explain_new, with_values
from paretodepth.scoring.model import Model
from paretodepth.tables.files import write_table

if TYPE_CHECKING:
    from paretodepth.reports.labels import Labels

N_SHOWN = 5
"""Records that the printed form shows."""


@dataclass(frozen=True, repr=False)
class Findings:
    """What is found in a table of samples.

    Sentences, reports and JSON number rows as a spreadsheet does: the first record is row 2.

    Attributes
    ----------
    detector : ParetoDepthDetector
        Fitted.
    training : pyarrow.Table or None
        The samples compared with; None if the detector comes from a model file.
    samples : pyarrow.Table
        With all their columns.
    encoded : EncodedSamples or None
        The samples as criteria encode them; None if all of them were fitted.
    scores : ndarray of shape (n_samples,)
        Larger is more unusual; NaN for samples that are not scored because of missing values.
    fdr : float or None
        The false discovery rate, if it sets the threshold.
    first_sample : int
        The index of the first sample, if the samples are a part of a table.
    contamination : float or None
        The share of the samples that is flagged, if it sets the threshold.
    is_left_out : bool
        Whether the samples are the training samples, each compared with the others.
    fitted_rows : ndarray of shape (n_fitted,) or None
        The rows of `training` that were fitted, in ascending order; None if all were.
    labels : Labels or None
        Which samples are anomalies in truth.
    id_column : str or None
        The column that identifies samples.
    suggestion : Suggestion or None
        The criteria that were chosen automatically, if they were.
    texts : pyarrow.Table or None
        By column, the cells of text as the file has them.
    given : object
        The table as it was given.
    inputs : sequence of str
        The files that were read; that of the samples is the last.
    """

    detector: ParetoDepthDetector
    training: pa.Table | None
    samples: pa.Table
    encoded: EncodedSamples | None
    scores: NDArray[np.float64]
    fdr: float | None = None
    first_sample: int = 0
    contamination: float | None = None
    is_left_out: bool = False
    fitted_rows: NDArray[np.intp] | None = None
    labels: Labels | None = None
    id_column: str | None = None
    suggestion: Suggestion | None = None
    texts: pa.Table | None = None
    given: Any = None
    inputs: Sequence[str] = ()

    def __repr__(self) -> str:
        """Return the headline and the most unusual samples, a line each."""
        n_shown = min(N_SHOWN, self.n_scored)
        reasons = zip(self.most_unusual[:n_shown].tolist(), self.reasons(n_shown), strict=True)
        lines = [f"row {self.row_number(row)}: score {self.scores[row]:.1f}; {why.sentence}" for row, why in reasons]
        return "\n".join([headline(self), *lines])

    def to_arrow(self) -> pa.Table:
        """Return the samples with the columns score, p_value, decision, because, value, … and why."""
        return results_table(self)

    def to_frame(self) -> Any:
        """Return what `to_arrow` returns, as the library of the given table has it: pandas, polars or pyarrow.

        A data frame keeps its index and its own columns as they are. Files and dicts give a data frame of pandas.
        """
        is_own = self.id_column is None
        if nw.dependencies.is_pandas_dataframe(self.given):
            own = self.given if is_own else self.given[[self.id_column]]
            return own.assign(**{name: column.to_numpy() for name, column in result_columns(self).to_pandas().items()})
        if nw.dependencies.is_polars_dataframe(self.given):
            own = self.given if is_own else self.given.select(self.id_column)
            return own.hstack(nw.get_native_namespace(own).from_arrow(result_columns(self)))
        if isinstance(self.given, pa.Table):
            return self.to_arrow()
        check_extra("pandas", "cli")
        return self.to_arrow().to_pandas()

    def report(self, path: str | PathLike[str], *, title: str | None = None, call: str | None = None) -> None:
        """Write the report, one HTML page that opens offline.

        Parameters
        ----------
        path : str or path-like
            ``-`` is standard output.
        title : str or None, default=None
        call : str or None, default=None
            The command or call that the foot of the page names.
        """
        write_report(self, fspath(path), title=title, call=call)

    def write(self, path: str | PathLike[str], *, escape_formulas: bool = False) -> None:
        """Write what `to_arrow` returns to a file, in the format of its ending, the cells of a file as they were.

        With `escape_formulas`, text that a spreadsheet may take for a formula begins with an apostrophe.
        """
        write_table(written_table(self, fspath(path), escape_formulas=escape_formulas), path)

    @property
    def clear(self) -> NDArray[np.intp]:
        """The indices of the clear outliers, the most unusual first; an estimate if nothing is known to be normal."""
        return self.most_unusual[: n_clear_outliers(self.tail_p_values)]

    def row_number(self, row: int) -> int:
        """Return the number of a sample's row in a spreadsheet."""
        return FIRST_ROW + self.first_sample + row

    @property
    def training_names(self) -> Sequence[Any]:
        """The names of the training samples: by the id column, or the numbers of their rows."""
        if self.training is not None and self.id_column in self.training.column_names:
            names: list[Any] = self.training.column(self.id_column).to_pylist()
            return names
        return range(FIRST_ROW, sys.maxsize)

    @property
    def training_rows(self) -> NDArray[np.intp]:
        """The row of the training table that each fitted sample is."""
        return np.arange(len(self.model.scores)) if self.fitted_rows is None else self.fitted_rows

    @property
    def model(self) -> Model:
        """The fitted model."""
        return self.detector.model_

    @cached_property
    def _is_scored(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.scores)

    @cached_property
    def unscored(self) -> NDArray[np.intp]:
        """The samples that are not scored because a value is missing in a criterion that drops them."""
        return np.flatnonzero(~self._is_scored)

    @property
    def n_scored(self) -> int:
        """The number of samples that are scored."""
        return len(self.scores) - len(self.unscored)

    def missing_in(self, row: int) -> list[str]:
        """Return the columns in which a sample that is not scored has no value."""
        criteria = self.model.criteria
        names = criteria.layout.feature_names or []
        dropping = [fitted for fitted in criteria.fitted if fitted.criterion.missing != "ignore"]
        read = sorted({column for fitted in dropping for column in fitted.columns})
        return [names[column] for column in read if is_missing(self.samples.column(names[column])[row].as_py())]

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """The p-value of each sample; a training sample counts itself among the normal ones."""
        return self.model.calibration.p_values(self.scores)

    @cached_property
    def tail_p_values(self) -> NDArray[np.float64]:
        """The p-values; of a single table estimates by the tail of its own scores."""
        if not self.is_left_out:
            return self.p_values
        p_values = np.full(len(self.scores), np.nan)
        p_values[self._is_scored] = tail_p_values(self.scores[self._is_scored])
        return p_values

    @cached_property
    def threshold(self) -> float:
        """The score above which a sample is flagged."""
        scores = self.scores[self._is_scored]
        if self.contamination is not None:
            return share_threshold(scores, self.contamination)
        if self.fdr is not None:
            return fdr_threshold(scores, self.tail_p_values[self._is_scored], self.fdr)
        return self.model.threshold

    @cached_property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Which samples are flagged."""
        return self.scores > self.threshold

    @property
    def n_anomalies(self) -> int:
        """The number of samples that are flagged."""
        return int(self.is_anomaly.sum())

    @cached_property
    def most_unusual(self) -> NDArray[np.intp]:
        """The indices of the samples that are scored, the most unusual first: flagged ones come before the others."""
        # NaN comes last.
        return np.argsort(-self.scores, kind="stable")[: self.n_scored]

    def reasons(self, n_samples: int) -> list[Reason]:
        """Return the reasons of the most unusual samples, the most unusual first.

        Each sample is explained once, however many outputs ask for it.
        """
        known = self._reasons
        rows = self.most_unusual[len(known) : n_samples]
        if len(rows):
            with phase(f"reasons of {len(rows):,} samples"):
                known.extend(reasons_of(self.explanation(rows)))
        return known[:n_samples]

    @cached_property
    def _reasons(self) -> list[Reason]:
        """The reasons found so far."""
        return []

    def explanation(self, rows: NDArray[np.intp]) -> Explanation:
        """Return the explanation of some samples, at least one; neighbors are rows of the training table."""
        n_jobs = self.detector.n_jobs
        if self.is_left_out:
            explanation = explain_mixed(self.model, *self._placed(rows), n_jobs=n_jobs)
        else:
            explanation = explain_new(self.model, self._encodings_of(rows), n_jobs=n_jobs)
        explanation = with_values(explanation, self.model, self.columns_of(rows))
        if self.fitted_rows is not None:
            fitted_rows = self.fitted_rows
            explanation = replace(explanation, neighbors=[fitted_rows[nearest] for nearest in explanation.neighbors])
        others = "nominal" if not self.is_left_out else "other" if self.fitted_rows is None else "fitted"
        return replace(explanation, is_anomaly=self.is_anomaly[rows], others=others)

    def columns_of(self, rows: NDArray[np.intp]) -> Columns:
        """Return some samples as columns, as they came."""
        if self.encoded is not None and (columns := self.encoded.columns_of(rows)) is not None:
            return columns
        names = self.model.criteria.layout.feature_names
        return self.model.criteria.columns(self.samples.select(names).take(rows), caller=NAME)

    def nearest_dyads(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dyads of some samples with their nearest training samples, shape (n_rows, s, n_criteria)."""
        places, new = self._placed(rows)
        is_new, n_jobs = places < 0, self.detector.n_jobs
        dyads = np.empty((len(rows), int(self.model.measurer.n_neighbors.sum()), len(self.model.criteria.names)))
        if is_new.any():
            dyads[is_new] = self.model.new_dyads(new, n_jobs=n_jobs)
        if not is_new.all():
            dyads[~is_new] = self.model.left_out_dyads(places[~is_new], n_jobs=n_jobs)
        return dyads

    def _placed(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Encoding]]:
        """Return the fitted sample that each row is, -1 if none, and the encodings of the rows that are none."""
        places = np.full(len(self.scores), -1)
        if self.is_left_out:
            places[self.training_rows] = np.arange(len(self.model.scores))
        return places[rows], self._encodings_of(rows[places[rows] < 0])

    def _encodings_of(self, rows: NDArray[np.intp]) -> list[Encoding]:
        if self.encoded is None:
            return []
        places = np.searchsorted(self.encoded.rows, rows)
        return self.model.criteria.encoded_rows(self.encoded.encodings, places, slice(None))
