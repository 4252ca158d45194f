"""Why: which criteria make a sample strange, how much, and which nominal samples are nearest to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_extra, check_row
from paretodepth.criteria.missing import Seen
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.pairs.pairs import Views
from paretodepth.plots import plot_explanation
from paretodepth.scoring.calibration import LARGEST, Calibration
from paretodepth.scoring.measures import Measures, joined, usual_sizes
from paretodepth.scoring.methods import MEASURES, METHODS, MethodName
from paretodepth.scoring.model import Model
from paretodepth.scoring.wording import Case, html_table, sentence, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_ALPHA = 0.05
"""Up to which p-value a criterion is unusual if the threshold was not set by a false-alarm rate."""
ABOUT = 1.0
"""Difference of surprises, logarithms of p-values, that is too small to tell one cause from another."""
ORDINARY_P_VALUE = 0.25
"""A criterion with a larger p-value is ordinary already: there is nothing to relieve."""
N_SHOWN = 10
"""Samples that the printed form shows."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why samples are called strange or not, one row a sample.

    Attributes
    ----------
    criteria : list of str
        The criteria's names.
    method : {"depth", "criteria", "union"}
        The score that `is_anomaly` and `relief` go by.
    alpha : float
        The false-alarm rate.
    mean_depth : ndarray of shape (n_samples,)
    p_values : dict of ndarray of shape (n_samples,)
        By method.
    is_anomaly : ndarray of shape (n_samples,)
    criterion_p_values : ndarray of shape (n_samples, n_criteria)
        Of each criterion alone, by the sum of the dissimilarities to the k nearest.
    percentiles : ndarray of shape (n_samples, n_criteria)
        Percentage of the calibrating samples that are less strange in the criterion.
    distances : ndarray of shape (n_samples, n_criteria)
        The same sum as a multiple of its median in the calibrating samples.
    usual_distances : ndarray of shape (2, n_criteria)
        Between these are nine tenths of the calibrating samples.
    relief : ndarray of shape (n_samples, n_criteria)
        The p-value the sample would have if the criterion were ordinary, its dissimilarities
        being replaced by the nominal median of the same rank; the p-value itself if the
        criterion's own is above 0.25, as it is ordinary then.
    neighbors : list of ndarray of shape (n_samples, n_neighbors)
        For each criterion the nearest training samples by index, the nearest first.
    position : ndarray of shape (n_samples,)
        With two criteria, where the sample's dyads lie along the fronts: towards 1 if the first
        criterion is violated more, towards 0 if the second is. NaN otherwise.
    is_far : ndarray of shape (n_samples, n_criteria)
        Whether the sample is far from the nominal ones in the criterion alone.
    labels : array-like of shape (n_samples,) or None
        What the samples are called: by the index of the pandas data frame they came in or, if
        some were dropped for want of a value, by number. None: by number, all being here.
    """

    criteria: list[str]
    method: MethodName
    alpha: float
    mean_depth: NDArray[np.float64]
    p_values: dict[MethodName, NDArray[np.float64]]
    is_anomaly: NDArray[np.bool_]
    criterion_p_values: NDArray[np.float64]
    percentiles: NDArray[np.float64]
    distances: NDArray[np.float64]
    usual_distances: NDArray[np.float64]
    relief: NDArray[np.float64]
    neighbors: list[NDArray[np.intp]]
    position: NDArray[np.float64]
    is_far: NDArray[np.bool_]
    labels: Any = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.mean_depth)

    @property
    def is_joint(self) -> NDArray[np.bool_]:
        """Whether each sample is an anomaly that is far in no criterion alone."""
        return self.is_anomaly & ~self.is_far.any(axis=1)

    @property
    def sentences(self) -> list[str]:
        """One plain sentence a sample."""
        return [sentence(self._case(sample)) for sample in range(len(self))]

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row a sample, and the index of the frame explained."""
        columns: dict[str, Any] = {"mean_depth": self.mean_depth}
        columns |= {f"p_{method}": p_values for method, p_values in self.p_values.items()}
        columns["is_anomaly"] = self.is_anomaly
        if len(self.criteria) == 2:
            columns["position"] = self.position
        for criterion, name in enumerate(self.criteria):
            columns[f"{name}: p"] = self.criterion_p_values[:, criterion]
            columns[f"{name}: percentile"] = self.percentiles[:, criterion]
            columns[f"{name}: distance"] = self.distances[:, criterion]
            columns[f"{name}: relief"] = self.relief[:, criterion]
            columns[f"{name}: nearest"] = self.neighbors[criterion].tolist()
        columns["sentence"] = self.sentences
        return check_extra("pandas", "cli").DataFrame(columns, index=self.labels)

    def plot(self, sample: int, *, ax: Axes | None = None) -> Axes:
        """Draw how far one sample is from the nominal ones in each criterion, against what is usual.

        Parameters
        ----------
        sample : int
            The row.
        ax : matplotlib Axes or None, default=None
            None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        sample = check_row(sample, len(self), "sample", "Explanation.plot")
        if ax is None:
            figure = check_extra("matplotlib.figure", "report").Figure(
                figsize=(8, 2.2 + 0.5 * len(self.criteria)), layout="constrained"
            )
            ax = figure.subplots()
        ax.set_title(textwrap.fill(sentence(self._case(sample)), 80), fontsize=10)
        return plot_explanation(
            ax,
            names=self.criteria,
            distances=self.distances[sample],
            usual_distances=self.usual_distances,
            notes=[
                f"p = {shown(p)}, relief {shown(relief)}"
                for p, relief in zip(self.criterion_p_values[sample], self.relief[sample], strict=True)
            ],
            is_far=self.is_far[sample],
        )

    def __repr__(self) -> str:
        """Return a sentence a sample, for the first ten."""
        lines = [f"{label}: {sentence(self._case(sample))}" for sample, label in enumerate(self._shown_labels())]
        if len(self) > N_SHOWN:
            lines.append(f"… and {len(self) - N_SHOWN} more; see to_frame()")
        return "\n".join([f"Explanation of {len(self)} samples by {self.method}", *lines])

    def _repr_html_(self) -> str:
        """Return a table for notebooks, of the first ten samples."""
        headings = ["", f"p ({self.method})", *(f"{name}: p" for name in self.criteria), "why"]
        cases = [self._case(sample) for sample in range(min(len(self), N_SHOWN))]
        rows = [
            [str(label), shown(case.p_value), *map(shown, case.p_values), sentence(case)]
            for label, case in zip(self._shown_labels(), cases, strict=True)
        ]
        more = f"<p>… and {len(self) - N_SHOWN} more</p>" if len(self) > N_SHOWN else ""
        return html_table(headings, rows) + more

    def _shown_labels(self) -> Sequence[Any]:
        """Return what the first ten samples are called."""
        labels: Sequence[Any] = range(len(self)) if self.labels is None else self.labels
        return labels[:N_SHOWN]

    def _case(self, sample: int) -> Case:
        return Case(
            self.criteria,
            float(self.p_values[self.method][sample]),
            bool(self.is_anomaly[sample]),
            self.alpha,
            self.criterion_p_values[sample],
            self.is_far[sample],
            [nearest[sample] for nearest in self.neighbors],
        )


class _Reasons(NamedTuple):
    """What is found of a block of samples.

    Attributes
    ----------
    measures : Measures
    neighbors : ndarray of shape (n_samples, s)
        The nearest training samples, criterion after criterion.
    relieved : ndarray of shape (n_samples, n_criteria)
        For each criterion the score if that criterion were ordinary.
    position : ndarray of shape (n_samples,)
    """

    measures: Measures
    neighbors: NDArray[np.intp]
    relieved: NDArray[np.float64]
    position: NDArray[np.float64]


def explain_seen(model: Model, seen: Seen, *, n_jobs: int | None) -> Explanation:
    """Return why new samples are strange or not, without those that lack a value."""
    check_some_seen(seen)
    return replace(explain_new(model, seen.views, n_jobs=n_jobs), labels=seen.labels)


def explain_new(model: Model, views: Views, *, n_jobs: int | None, first_row: int = 0) -> Explanation:
    """Return why new samples are strange or not, given what the criteria see of them."""
    parts = model.map_new(lambda block: _reasons(model, block), views, n_jobs=n_jobs, first_row=first_row)
    return _explained(model, parts)


def explain_left_out(model: Model, rows: NDArray[np.intp], *, n_jobs: int | None) -> Explanation:
    """Return why some training samples, at least one, are strange or not, each compared with the others.

    Their p-values count the sample itself among the nominal ones, as `training_labels_` do.
    """
    return _explained(model, model.map_left_out(lambda block: _reasons(model, block), rows, n_jobs=n_jobs))


def _reasons(model: Model, block: NDArray[np.float64]) -> _Reasons:
    """Return what is found of the rows of a block of shape (n_criteria, n_rows, n_training)."""
    neighbors, dyads = nearest_dyads(block, model.measurer.n_summed)
    measures = model.measurer.of_dyads(dyads, block, MEASURES)
    relieved = np.tile(model.calibration.score(measures, model.method)[:, None], len(block))
    is_ordinary = model.calibration.criterion_p_values(measures["neighbor_sums"]) > ORDINARY_P_VALUE
    for criterion in range(len(block)):
        rows = np.flatnonzero(~is_ordinary[:, criterion])
        part = block.take(rows, axis=1)
        of_rows = {name: values[rows] for name, values in measures.items()}
        relieved[rows, criterion] = _relieved(model, part, neighbors[rows], dyads[rows], of_rows, criterion)
    return _Reasons(measures, neighbors, relieved, _position(model, dyads))


def _relieved(
    model: Model,
    block: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    dyads: NDArray[np.float64],
    measures: Measures,
    criterion: int,
) -> NDArray[np.float64]:
    """Return the scores if one criterion were ordinary; the nearest stay the nearest, as ranks are kept.

    Writes into `block`, `dyads` and `measures`.
    """
    measurer, profile, needed = model.measurer, model.profiles[criterion], METHODS[model.method].measures
    if "neighbor_sums" in needed:
        with np.errstate(over="ignore"):
            measures["neighbor_sums"][:, criterion] = profile[: measurer.n_summed[criterion]].sum()
    if needed == ("neighbor_sums",):
        return model.calibration.score(measures, model.method)
    part = block[criterion]
    order = part.argsort(axis=1)
    if "mean_depth" in needed:
        rising, asked = (np.take_along_axis(part, places, axis=1) for places in (order, neighbors))
        for row in range(len(dyads)):
            dyads[row, :, criterion] = profile[np.searchsorted(rising[row], asked[row])]
        measures["mean_depth"] = measurer.mean_depth(dyads)
    if "balanced_sum" in needed:
        np.put_along_axis(part, order, profile[None], axis=1)
        measures["balanced_sum"] = measurer.balanced_sum(block)
    return model.calibration.score(measures, model.method)


def _position(model: Model, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the dyads of each row lie along the fronts of two criteria; see `Explanation`."""
    if dyads.shape[2] != 2:
        return np.full(len(dyads), np.nan)
    # A place is never 0, so that dyads smaller than all nominal ones have a position too.
    first, second = (1 + np.searchsorted(model.places[:, c], dyads[:, :, c]) for c in range(2))
    position: NDArray[np.float64] = (first / (first + second)).mean(axis=1)
    return position


def _explained(model: Model, parts: Sequence[_Reasons]) -> Explanation:
    """Return the explanation of consecutive blocks of samples."""
    alpha, calibration = model.alpha or DEFAULT_ALPHA, model.calibration
    measures = joined([part.measures for part in parts])
    scores: dict[MethodName, NDArray[np.float64]] = {name: calibration.score(measures, name) for name in METHODS}
    sums, nominal = measures["neighbor_sums"], calibration.nominal["neighbor_sums"]
    usual = usual_sizes(nominal)
    n_less = [np.searchsorted(column, values) for column, values in zip(nominal.T, sums.T, strict=True)]
    ends = np.cumsum(model.measurer.n_summed)[:-1]
    return Explanation(
        criteria=model.criteria.names,
        method=model.method,
        alpha=alpha,
        mean_depth=measures["mean_depth"],
        p_values={name: calibration.p_values(score, name) for name, score in scores.items()},
        is_anomaly=scores[model.method] > model.threshold,
        criterion_p_values=calibration.criterion_p_values(sums),
        percentiles=100 * np.column_stack(n_less) / len(nominal),
        distances=_multiples(sums, usual),
        usual_distances=_multiples(np.quantile(np.minimum(nominal, LARGEST), [0.05, 0.95], axis=0), usual),
        relief=calibration.p_values(np.concatenate([part.relieved for part in parts]), model.method),
        neighbors=np.split(model.rows[np.concatenate([part.neighbors for part in parts])], ends, axis=1),
        position=np.concatenate([part.position for part in parts]),
        is_far=_far_criteria(calibration, measures, alpha),
    )


def _multiples(sums: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums as multiples of what is usual, infinity where a float cannot hold it."""
    with np.errstate(over="ignore"):
        multiples: NDArray[np.float64] = np.minimum(sums, LARGEST) / usual
    return multiples


def _far_criteria(calibration: Calibration, measures: Measures, alpha: float) -> NDArray[np.bool_]:
    """Tell in which criteria alone samples are far, shape (n_samples, n_criteria).

    The p-value is so small that it is hardly by chance that one of so many criteria has it; or
    it is at most alpha, and the criterion is about as surprising as all of them together.
    """
    p_values = calibration.criterion_p_values(measures["neighbor_sums"])
    n_criteria = p_values.shape[1]
    level = alpha if n_criteria == 1 else max(alpha / (2 * n_criteria), calibration.smallest_p_value)
    alone = calibration.surprise(measures, "neighbor_sums")
    together = np.maximum(calibration.surprise(measures, "mean_depth"), calibration.surprise(measures, "balanced_sum"))
    return np.asarray(p_values <= level) | ((p_values <= alpha) & (alone >= together[:, None] - ABOUT))


def check_some_seen(seen: Seen) -> None:
    """Refuse to explain samples all of which lack a value."""
    if not len(seen.rows):
        raise ValueError(
            f"The samples to explain must not all lack a value in a criterion that drops them. Got {seen.n_samples} "
            "that do; impute the values."
        )
