"""Why: which criteria make a sample strange, how much, and which nominal samples are nearest to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_extra, check_row
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.pairs.pairs import Pairs, spread_rows
from paretodepth.plots import plot_explanation
from paretodepth.scoring.calibration import LARGEST, METHODS, Calibration
from paretodepth.scoring.measures import Measurement, Method, Statistics, joined, usual_sizes
from paretodepth.scoring.wording import _enumerated, _html_row, _shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_ALPHA = 0.05
"""Up to which p-value a criterion is unusual if the threshold was not set by a false-alarm rate."""
ABOUT = 1.0
"""Difference of surprises, logarithms of p-values, that is too small to tell one cause from another."""
N_NAMED = 2
"""Nearest nominal samples that a sentence names."""
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
    """

    criteria: list[str]
    method: Method
    alpha: float
    mean_depth: NDArray[np.float64]
    p_values: dict[Method, NDArray[np.float64]]
    is_anomaly: NDArray[np.bool_]
    criterion_p_values: NDArray[np.float64]
    percentiles: NDArray[np.float64]
    distances: NDArray[np.float64]
    usual_distances: NDArray[np.float64]
    relief: NDArray[np.float64]
    neighbors: list[NDArray[np.intp]]
    position: NDArray[np.float64]
    is_far: NDArray[np.bool_]

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
        return [self._sentence(sample) for sample in range(len(self))]

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row a sample."""
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
        return check_extra("pandas", "cli").DataFrame(columns)

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
        ax.set_title(textwrap.fill(self._sentence(sample), 80), fontsize=10)
        return plot_explanation(
            ax,
            names=self.criteria,
            distances=self.distances[sample],
            usual_distances=self.usual_distances,
            notes=[
                f"p = {_shown(p)}, relief {_shown(relief)}"
                for p, relief in zip(self.criterion_p_values[sample], self.relief[sample], strict=True)
            ],
            is_far=self.is_far[sample],
        )

    def __repr__(self) -> str:
        """Return a sentence a sample, for the first ten."""
        lines = [f"{sample}: {self._sentence(sample)}" for sample in range(min(len(self), N_SHOWN))]
        if len(self) > N_SHOWN:
            lines.append(f"… and {len(self) - N_SHOWN} more; see to_frame()")
        return "\n".join([f"Explanation of {len(self)} samples by {self.method}", *lines])

    def _repr_html_(self) -> str:
        """Return a table for notebooks, of the first ten samples."""
        headings = ["", f"p ({self.method})", *(f"{name}: p" for name in self.criteria), "why"]
        shown = list(zip(self.p_values[self.method], self.criterion_p_values, strict=True))[:N_SHOWN]
        rows = [
            [str(sample), _shown(p_value), *map(_shown, p_values), self._sentence(sample)]
            for sample, (p_value, p_values) in enumerate(shown)
        ]
        lines = [_html_row("th", headings), *(_html_row("td", row) for row in rows)]
        more = f"<p>… and {len(self) - N_SHOWN} more</p>" if len(self) > N_SHOWN else ""
        return f"<table>{''.join(lines)}</table>{more}"

    def _sentence(self, sample: int) -> str:
        """Return why a sample is strange, or that it is not."""
        p_values, is_far = self.criterion_p_values[sample], self.is_far[sample]
        unusual = [i for i in np.argsort(p_values, kind="stable") if p_values[i] <= self.alpha]
        ordinary = [i for i in range(len(p_values)) if p_values[i] > self.alpha]
        p_value = f"p = {_shown(self.p_values[self.method][sample])}"
        if not self.is_anomaly[sample]:
            verdict = f"Ordinary ({p_value})"
            if unusual:
                verdict = (
                    f"Not strange enough to be called ({p_value}), though unusual in {self._with_p(sample, unusual)}"
                )
            return f"{verdict}; {self._nearest(sample, range(len(p_values)))}."
        far = [i for i in unusual if is_far[i]]
        if not far and len(p_values) == 1:
            return f"Stranger in {self._with_p(sample, [0])} than nominal samples may be; {self._nearest(sample, [0])}."
        if not far:
            alone = "ordinary in each criterion alone"
            if unusual:
                alone = f"far in no criterion alone, though unusual in {self._with_p(sample, unusual)}"
            return f"{alone.capitalize()}, but no nominal sample is near in all of them at once ({p_value})."
        parts = [f"Far from every nominal sample in {self._with_p(sample, far)}"]
        if between := [i for i in unusual if not is_far[i]]:
            parts.append(f"unusual in {self._with_p(sample, between)}")
        if ordinary:
            names = _enumerated([self.criteria[i] for i in ordinary])
            parts.append(f"{names} {'is' if len(ordinary) == 1 else 'are'} ordinary")
        closest = ordinary or [int(np.argmax(p_values))]
        return f"{'; '.join(parts)}; {self._nearest(sample, closest)}."

    def _with_p(self, sample: int, criteria: Sequence[int]) -> str:
        """Return criteria's names with their p-values."""
        return _enumerated([f"{self.criteria[i]} (p = {_shown(self.criterion_p_values[sample, i])})" for i in criteria])

    def _nearest(self, sample: int, criteria: Sequence[int]) -> str:
        """Return the nearest nominal samples in some criteria."""
        lists = [", ".join(map(str, self.neighbors[i][sample, :N_NAMED])) for i in criteria]
        return "nearest " + "; ".join(
            f"by {self.criteria[i]}: {named}" for i, named in zip(criteria, lists, strict=True)
        )


def explained(
    reasoning: Reasoning,
    parts: Sequence[Reasons],
    criteria: list[str],
    training: NDArray[np.intp],
    threshold: float,
    alpha: float | None,
) -> Explanation:
    """Return the explanation of consecutive blocks of samples.

    Parameters
    ----------
    reasoning : Reasoning
    parts : sequence of Reasons
        Of the blocks.
    criteria : list of str
        The criteria's names.
    training : ndarray of shape (n_training,)
        The indices of the compared training samples among all.
    threshold : float
        The score above which a sample is an anomaly.
    alpha : float or None
        The false-alarm rate, if it has set the threshold.
    """
    alpha = alpha or DEFAULT_ALPHA
    calibration, method = reasoning.calibration, reasoning.method
    statistics = joined([part.statistics for part in parts])
    scores = {name: calibration.score(statistics, name) for name in METHODS}
    nominal = calibration.nominal.neighbor_sums
    relieved = np.concatenate([part.relieved for part in parts])
    usual = usual_sizes(nominal)
    n_less = [np.searchsorted(column, sums) for column, sums in zip(nominal.T, statistics.neighbor_sums.T, strict=True)]
    ends = np.cumsum(reasoning.measurement.n_summed)[:-1]
    return Explanation(
        criteria=criteria,
        method=method,
        alpha=alpha,
        mean_depth=statistics.mean_depth,
        p_values={name: calibration.p_values(score, name) for name, score in scores.items()},
        is_anomaly=scores[method] > threshold,
        criterion_p_values=calibration.criterion_p_values(statistics.neighbor_sums),
        percentiles=100 * np.column_stack(n_less) / len(nominal),
        distances=_multiples(statistics.neighbor_sums, usual),
        usual_distances=_multiples(np.quantile(np.minimum(nominal, LARGEST), [0.05, 0.95], axis=0), usual),
        relief=calibration.p_values(relieved, method),
        neighbors=np.split(training[np.concatenate([part.neighbors for part in parts])], ends, axis=1),
        position=np.concatenate([part.position for part in parts]),
        is_far=_far_criteria(calibration, statistics, alpha),
    )


def _multiples(sums: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums as multiples of what is usual, infinity where a float cannot hold it."""
    with np.errstate(over="ignore"):
        multiples: NDArray[np.float64] = np.minimum(sums, LARGEST) / usual
    return multiples


def _far_criteria(calibration: Calibration, statistics: Statistics, alpha: float) -> NDArray[np.bool_]:
    """Tell in which criteria alone samples are far, shape (n_samples, n_criteria).

    The p-value is so small that it is hardly by chance that one of so many criteria has it; or
    it is at most alpha, and the criterion is about as surprising as all of them together.
    """
    p_values = calibration.criterion_p_values(statistics.neighbor_sums)
    n_criteria = p_values.shape[1]
    level = alpha if n_criteria == 1 else max(alpha / (2 * n_criteria), calibration.smallest_p_value)
    alone, together = calibration.surprises_of(statistics)
    return np.asarray(p_values <= level) | ((p_values <= alpha) & (alone >= together[:, None] - ABOUT))


N_PROFILED = 200
"""Training samples, spread evenly over all, whose dissimilarities tell what is ordinary at each rank."""
N_PROFILED_VALUES = 2**22
"""Dissimilarities that these have in each criterion, unless there are fewer than `MIN_PROFILED` of them."""
MIN_PROFILED = 25
N_POSITIONED = 50_000
"""Training dyads, spread evenly over all, that a dyad's place in each criterion is told from."""
ORDINARY_P_VALUE = 0.25
"""A criterion with a larger p-value is ordinary already: there is nothing to relieve."""


class Reasons(NamedTuple):
    """What is found of a block of samples.

    Attributes
    ----------
    statistics : Statistics
    neighbors : ndarray of shape (n_samples, s)
        The nearest training samples, criterion after criterion.
    relieved : ndarray of shape (n_samples, n_criteria)
        For each criterion the score if that criterion were ordinary.
    position : ndarray of shape (n_samples,)
    """

    statistics: Statistics
    neighbors: NDArray[np.intp]
    relieved: NDArray[np.float64]
    position: NDArray[np.float64]


@dataclass(frozen=True)
class Reasoning:
    """How reasons are found from blocks of dissimilarities to the training samples.

    Attributes
    ----------
    measurement : Measurement
    calibration : Calibration
    method : {"depth", "criteria", "union"}
        The score whose relief is told.
    profiles : ndarray of shape (n_criteria, n_training)
        The median nominal dissimilarity of each rank.
    places : ndarray of shape (n_places, n_criteria)
        Dissimilarities of nominal pairs in rising order, to place a dyad among them.
    """

    measurement: Measurement
    calibration: Calibration
    method: Method
    profiles: NDArray[np.float64]
    places: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        measurement: Measurement,
        calibration: Calibration,
        method: Method,
        pairs: Pairs,
        dyads: NDArray[np.float64],
    ) -> Reasoning:
        """Return the reasoning from the pairs of training samples, and dyads of some of them."""
        places = np.sort(dyads[:: -(-len(dyads) // N_POSITIONED)], axis=0)
        return cls(measurement, calibration, method, rank_profiles(pairs), places)

    def reasons(self, block: NDArray[np.float64]) -> Reasons:
        """Return the reasons of the rows of a block of shape (n_criteria, n_rows, n_training)."""
        measure = self.measurement
        neighbors, dyads = nearest_dyads(block, measure.n_summed)
        statistics = Statistics(measure.mean_depth(dyads), measure.neighbor_sums(dyads), measure.balanced_sum(block))
        scores = self.calibration.score(statistics, self.method)
        relieved = np.tile(scores[:, None], len(block))
        is_ordinary = self.calibration.criterion_p_values(statistics.neighbor_sums) > ORDINARY_P_VALUE
        for criterion in range(len(block)):
            rows = np.flatnonzero(~is_ordinary[:, criterion])
            of_rows = Statistics(*(part[rows] for part in statistics))
            part = block.take(rows, axis=1)
            relieved[rows, criterion] = self._relieved(part, neighbors[rows], dyads[rows], of_rows, criterion)
        return Reasons(statistics, neighbors, relieved, self._position(dyads))

    def _relieved(
        self,
        block: NDArray[np.float64],
        neighbors: NDArray[np.intp],
        dyads: NDArray[np.float64],
        statistics: Statistics,
        criterion: int,
    ) -> NDArray[np.float64]:
        """Return the scores if one criterion were ordinary; the nearest stay the nearest, as ranks are kept.

        Writes into `block` and `dyads`.
        """
        measure, profile = self.measurement, self.profiles[criterion]
        mean_depth, neighbor_sums, balanced_sum = statistics
        with np.errstate(over="ignore"):
            neighbor_sums[:, criterion] = profile[: measure.n_summed[criterion]].sum()
        if self.method != "criteria":
            part = block[criterion]
            order = part.argsort(axis=1)
            rising, asked = (np.take_along_axis(part, places, axis=1) for places in (order, neighbors))
            for row in range(len(dyads)):
                dyads[row, :, criterion] = profile[np.searchsorted(rising[row], asked[row])]
            mean_depth = measure.mean_depth(dyads)
            if self.method == "union":
                np.put_along_axis(part, order, profile[None], axis=1)
                balanced_sum = measure.balanced_sum(block)
        return self.calibration.score(Statistics(mean_depth, neighbor_sums, balanced_sum), self.method)

    def _position(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where the dyads of each row lie along the fronts of two criteria; see `Explanation`."""
        if dyads.shape[2] != 2:
            return np.full(len(dyads), np.nan)
        # A place is never 0, so that dyads smaller than all nominal ones have a position too.
        first, second = (1 + np.searchsorted(self.places[:, c], dyads[:, :, c]) for c in range(2))
        position: NDArray[np.float64] = (first / (first + second)).mean(axis=1)
        return position


def rank_profiles(pairs: Pairs) -> NDArray[np.float64]:
    """Return the median dissimilarity of each rank, shape (n_criteria, n_samples)."""
    n_rows = max(MIN_PROFILED, min(N_PROFILED, N_PROFILED_VALUES // pairs.n_samples))
    # The last of each row is its infinite distance from itself.
    blocks = [
        np.sort(pairs.block(slice(row, row + 1)), axis=2)[:, :, :-1] for row in spread_rows(pairs.n_samples, n_rows)
    ]
    profiles = np.median(np.concatenate(blocks, axis=1), axis=1)
    # A new sample has one more training sample to be compared with.
    return np.concatenate([profiles, profiles[:, -1:]], axis=1)
