"""Why a sample is unusual or not: by which criteria, how much, and which nominal samples are nearest to it."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_extra, check_row
from paretodepth.criteria.encoding import EncodedSamples
from paretodepth.criteria.values import Columns
from paretodepth.pairs.pairs import Encodings
from paretodepth.plots import plot_explanation
from paretodepth.scoring.evidence import Counts, Evidence, are_crowded, counts_of, evidence_of, far_criteria
from paretodepth.scoring.measures import LARGEST, Measures, typical_sizes
from paretodepth.scoring.methods import MethodName
from paretodepth.scoring.model import Model
from paretodepth.scoring.sample_values import SampleValues, sample_values, shortened, value_text
from paretodepth.scoring.sentences import (
    COMBINATION,
    RECORDS,
    Phrase,
    main_criterion,
    p_text,
    phrases_of,
    sentence,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_ALPHA = 0.05
"""Up to which p-value a criterion is unusual if the threshold was not set by a false-alarm rate."""
N_SHOWN = 10
"""Samples that the printed form shows."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why samples are unusual or not, one row a sample.

    Attributes
    ----------
    criteria : list of str
        The criteria's names.
    method : {"depth", "blend"}
        The score that `is_anomaly` and `relief` go by.
    alpha : float
        The false-alarm rate.
    scores, p_values : ndarray of shape (n_samples,)
    is_anomaly : ndarray of shape (n_samples,)
    criterion_p_values : ndarray of shape (n_samples, n_criteria)
        Of each criterion alone, by the sum of the dissimilarities to the k nearest; with ``"blend"`` by
        the means over 1, 5 and 20 and the local ratio together.
    percentiles : ndarray of shape (n_samples, n_criteria)
        Percentage of the calibrating samples that are less unusual in the criterion.
    distances : ndarray of shape (n_samples, n_criteria)
        The same sum, with ``"blend"`` the mean over 5, as a multiple of its median in the calibrating samples.
    typical_distances : ndarray of shape (2, n_criteria)
        Between these are nine tenths of the calibrating samples.
    relief : ndarray of shape (n_samples, n_criteria)
        The p-value the sample would have if the criterion were typical, its dissimilarities being replaced by the
        nominal median of the same rank; the p-value itself if that or the criterion's own is above 0.25.
    neighbors : list of ndarray of shape (n_samples, n_neighbors)
        For each criterion the nearest training samples by index, the nearest first.
    position : ndarray of shape (n_samples,)
        With two criteria, where the sample's dyads lie along the fronts: towards 1 if the first
        criterion is violated more, towards 0 if the second is. NaN otherwise.
    is_far : ndarray of shape (n_samples, n_criteria)
        Whether the sample is far from the nominal ones in the criterion alone.
    pairs : ndarray of shape (n_pairs, 2)
        With ``"blend"`` the pairs of criteria whose fronts there are; of other methods none.
    pair_p_values : ndarray of shape (n_samples, n_pairs)
        Of each pair of criteria alone, by the depth of the dyads with the nearest in these two.
    is_crowded : ndarray of shape (n_samples,)
        Whether others are near in all criteria at once, but unusually near to each other.
    counts : Counts
        How many nominal samples reach what each sample does, on which sentences rest.
    n_local : int
        How many nearest are compared with theirs, with ``"blend"``.
    n_near : ndarray of shape (n_counts, n_criteria)
        Over how many nearest `counts.n_far` go.
    n_near_in_all : int
        Over how many nearest `counts.n_far_in_all` go.
    values : SampleValues
        The samples' values in the columns that criteria read, where these are known.
    names : array-like of shape (n_samples,) or None
        The samples' names: the index of the pandas data frame they came in or, if some were dropped because of
        missing values, their numbers. None: their numbers, none being dropped.
    others : str
        What the training samples are: "nominal", "other" ones of the same file, or those "fitted" of it.
    """

    criteria: list[str]
    method: MethodName
    alpha: float
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    is_anomaly: NDArray[np.bool_]
    criterion_p_values: NDArray[np.float64]
    percentiles: NDArray[np.float64]
    distances: NDArray[np.float64]
    typical_distances: NDArray[np.float64]
    relief: NDArray[np.float64]
    neighbors: list[NDArray[np.intp]]
    position: NDArray[np.float64]
    is_far: NDArray[np.bool_]
    pairs: NDArray[np.intp]
    pair_p_values: NDArray[np.float64]
    is_crowded: NDArray[np.bool_]
    counts: Counts
    n_local: int
    n_near: NDArray[np.intp]
    n_near_in_all: int
    values: SampleValues = field(default_factory=SampleValues)
    names: Any = None
    others: str = "nominal"

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.is_anomaly)

    @property
    def is_joint(self) -> NDArray[np.bool_]:
        """Whether each sample is an anomaly that is far in no criterion alone."""
        return self.is_anomaly & ~self.is_far.any(axis=1)

    @property
    def sentences(self) -> list[str]:
        """One plain sentence a sample, made of its phrases; long ones drop the least important."""
        return [self.sentence(sample) for sample in range(len(self))]

    @property
    def main_reasons(self) -> list[str | None]:
        """What each sentence opens with: a criterion or an unusual combination; None for samples not flagged."""
        return [self.reason(sample)[1] for sample in range(len(self))]

    def reason(self, sample: int) -> tuple[int, str | None, str]:
        """Return the main reason, as a criterion or -1 for a combination and by name, and the sentence."""
        phrases = self.phrases(sample)
        criterion = main_criterion(phrases, len(self.criteria))
        name = [*self.criteria, COMBINATION][criterion] if self.is_anomaly[sample] else None
        return criterion, name, sentence(phrases, self.criteria, self.others)

    def phrases(self, sample: int) -> list[Phrase]:
        """Return the facts that the sentence about a sample is made of."""
        return phrases_of(self, check_row(sample, len(self), "sample", "Explanation.phrases"))

    def sentence(self, sample: int) -> str:
        """Return the sentence about a sample."""
        return sentence(self.phrases(sample), self.criteria, self.others)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row a sample, and the index of the frame explained."""
        columns: dict[str, Any] = {"score": self.scores, "p": self.p_values, "is_anomaly": self.is_anomaly}
        if len(self.criteria) == 2:
            columns["position"] = self.position
        for criterion, name in enumerate(self.criteria):
            columns[f"{name}: p"] = self.criterion_p_values[:, criterion]
            columns[f"{name}: percentile"] = self.percentiles[:, criterion]
            columns[f"{name}: distance"] = self.distances[:, criterion]
            columns[f"{name}: relief"] = self.relief[:, criterion]
            columns[f"{name}: nearest"] = self.neighbors[criterion].tolist()
        columns |= self.values.to_columns(self.criteria)
        for place, pair in enumerate(self.pairs):
            name = " and ".join(self.criteria[criterion] for criterion in pair)
            if len(pair) == 2:
                columns[f"{name}: p"] = self.pair_p_values[:, place]
        columns["sentence"] = self.sentences
        return check_extra("pandas", "cli").DataFrame(columns, index=self.names)

    def plot(self, sample: int, *, ax: Axes | None = None) -> Axes:
        """Draw how far one sample is from the nominal ones in each criterion, against what is typical.

        Parameters
        ----------
        sample : int
            The row.
        ax : matplotlib Axes or None, default=None
            None for a new figure of pyplot's, which a notebook shows.

        Returns
        -------
        ax : matplotlib Axes
        """
        sample = check_row(sample, len(self), "sample", "Explanation.plot")
        ax = plot_explanation(
            names=self.criteria,
            distances=self.distances[sample],
            usual_distances=self.typical_distances,
            notes=[
                f"p = {p_text(p)}, relief {p_text(relief)}"
                for p, relief in zip(self.criterion_p_values[sample], self.relief[sample], strict=True)
            ],
            is_far=self.is_far[sample],
            ax=ax,
        )
        ax.set_title(textwrap.fill(self.sentence(sample), 80), fontsize=10)
        return ax

    def __repr__(self) -> str:
        """Return a sentence a sample, for the first ten."""
        names = self._names()
        lines = [f"{names[sample]}: {self.sentence(sample)}" for sample in range(min(len(self), N_SHOWN))]
        if len(self) > N_SHOWN:
            lines.append(f"… and {len(self) - N_SHOWN} more; see to_frame()")
        return "\n".join([f"Explanation of {len(self)} samples by {self.method}", *lines])

    def _repr_html_(self) -> str:
        """Return a table for notebooks, of the ten most unusual samples: their values in each criterion, and why."""
        headings = ["", "p", *self.criteria, "why"]
        first = np.argsort(-self.scores, kind="stable")[:N_SHOWN].tolist()
        names, p_values = self._names(), self.p_values
        rows = [[str(names[i]), p_text(p_values[i]), *self._cells(i), self.sentence(i)] for i in first]
        more = f"<p>… and {len(self) - N_SHOWN} less unusual</p>" if len(self) > N_SHOWN else ""
        return _html_table(headings, rows) + more

    def _cells(self, sample: int) -> list[str]:
        """Return for each criterion its p-value, and the sample's value, in words, where that is known."""
        values, texts = self.values.of(sample), self.values.texts_of(sample)
        cells = []
        for criterion, p_value in enumerate(self.criterion_p_values[sample].tolist()):
            own = [value_text(value, RECORDS[self.others]) for value in values.get(criterion, [])[:1] if value.is_known]
            own += [shortened(text) for text, _ in [texts[criterion]]] if criterion in texts else []
            cells.append("; ".join([*own, f"p = {p_text(p_value)}"]))
        return cells

    def _names(self) -> Sequence[Any]:
        """Return the samples' names."""
        return range(len(self)) if self.names is None else self.names


def _html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for notebooks, its text escaped."""
    lines = [("th", headings), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) for tag, row in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def explain_encoded(model: Model, encoded: EncodedSamples, *, n_jobs: int | None) -> Explanation:
    """Return why new samples are unusual or not, without those that have missing values."""
    check_some_seen(encoded)
    explanation = replace(explain_new(model, encoded.encodings, n_jobs=n_jobs), names=encoded.labels)
    return explanation if encoded.columns is None else with_values(explanation, model, encoded.columns)


def with_values(explanation: Explanation, model: Model, columns: Columns) -> Explanation:
    """Return an explanation with the values of the samples, given as columns; neighbors are the model's."""
    is_training_sample = explanation.counts.n_nominal < len(model.calibration.alone)
    return replace(explanation, values=sample_values(model, columns, explanation.neighbors, is_training_sample))


def explain_new(model: Model, encodings: Encodings, *, n_jobs: int | None, first_row: int = 0) -> Explanation:
    """Return why new samples are unusual or not, given as each metric encodes them."""
    find = partial(evidence_of, model)
    found = Evidence.joined(model.map_new(find, encodings, n_jobs=n_jobs, first_row=first_row))
    return _explained(model, found, np.zeros(len(found.position), bool))


def explain_left_out(model: Model, rows: NDArray[np.intp], *, n_jobs: int | None) -> Explanation:
    """Return why some training samples, at least one, are unusual or not, each compared with the others.

    Their p-values count the sample itself among the nominal ones, as `training_labels_` do.
    """
    find = partial(evidence_of, model)
    found = Evidence.joined(model.map_left_out(find, rows, n_jobs=n_jobs))
    return _explained(model, found, np.ones(len(rows), bool))


def explain_mixed(model: Model, places: NDArray[np.intp], encodings: Encodings, *, n_jobs: int | None) -> Explanation:
    """Return why samples, at least one, are unusual or not, some of which are training samples.

    Parameters
    ----------
    model : Model
    places : ndarray of shape (n_samples,)
        Which training sample each sample is, to be compared with the others; -1 for new ones.
    views : list of ndarray
        What the criteria see of the new ones.
    n_jobs : int or None
    """
    is_new = places < 0
    find = partial(evidence_of, model)
    parts: list[Evidence] = []
    if not is_new.all():
        parts += model.map_left_out(find, places[~is_new], n_jobs=n_jobs)
    if is_new.any():
        parts += model.map_new(find, encodings, n_jobs=n_jobs)
    found = Evidence.joined(parts).take(np.argsort(np.argsort(is_new, kind="stable")))
    return _explained(model, found, ~is_new)


def _explained(model: Model, found: Evidence, is_training_sample: NDArray[np.bool_]) -> Explanation:
    """Return the explanation of samples, given what is found of them and which are training samples."""
    alpha, calibration, measurer, measures = _alpha(model), model.calibration, model.measurer, found.measures
    scores, alone = calibration.score(measures), calibration.alone_surprise(measures)
    n_less = [np.searchsorted(column, values) for column, values in zip(calibration.alone.T, alone.T, strict=True)]
    sums, nominal = (_distances(values, len(model.criteria.fitted)) for values in (measures, calibration.nominal))
    typical = typical_sizes(nominal)
    has_pairs = len(measurer.pairs) > 0
    return Explanation(
        criteria=model.criteria.names,
        method=model.method,
        alpha=alpha,
        scores=scores,
        p_values=calibration.p_values(scores),
        is_anomaly=scores > model.threshold,
        criterion_p_values=calibration.alone_p_values(measures),
        percentiles=100 * np.column_stack(n_less) / len(calibration.alone),
        distances=_multiples(sums, typical),
        typical_distances=_multiples(np.quantile(np.minimum(nominal, LARGEST), [0.05, 0.95], axis=0), typical),
        relief=calibration.p_values(found.score_if_typical),
        neighbors=np.split(model.rows[found.neighbors], np.cumsum(measurer.n_named)[:-1], axis=1),
        position=found.position,
        is_far=far_criteria(model, measures, alpha),
        pairs=measurer.pairs,
        pair_p_values=(
            calibration.measure_p_values(measures, "pair_depths") if has_pairs else np.empty((len(sums), 0))
        ),
        is_crowded=are_crowded(model, measures, alpha),
        counts=counts_of(model, found, alpha, is_training_sample),
        n_local=int(measurer.n_named[0]),
        n_near=measurer.n_near,
        n_near_in_all=measurer.n_near_in_all,
    )


def _alpha(model: Model) -> float:
    """Return the rate up to which p-values are called unusual."""
    return model.alpha or DEFAULT_ALPHA


def _distances(measures: Measures, n_criteria: int) -> NDArray[np.float64]:
    """Return how far the nearest are in each criterion: their sum, of the blend the mean of five."""
    if "neighbor_sums" in measures:
        return measures["neighbor_sums"]
    return measures["neighbor_means"][:, n_criteria : 2 * n_criteria]


def _multiples(sums: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums as multiples of what is usual, infinity where a float cannot hold it."""
    with np.errstate(over="ignore"):
        multiples: NDArray[np.float64] = np.minimum(sums, LARGEST) / usual
    return multiples


def check_some_seen(encoded: EncodedSamples) -> None:
    """Refuse to explain samples all of which lack a value."""
    if not len(encoded.rows):
        raise ValueError(
            f"The samples to explain must not all lack a value in a criterion that drops them. Got {encoded.n_samples} "
            "that do; impute the values."
        )
