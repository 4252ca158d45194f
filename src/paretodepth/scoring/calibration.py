"""How measures become scores and p-values: by a method, and by what nominal samples reach in each measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from paretodepth._checks import check_rate, is_real
from paretodepth.scoring.measures import LARGEST, Measures
from paretodepth.scoring.methods import METHODS, Measure, MethodName

CALIBRATIONS: tuple[Literal["leave-one-out"], Literal["split"]] = ("leave-one-out", "split")
HELD_OUT_SHARE = 1 / 3
"""Share of the training samples that a split sets aside for calibration."""
TAIL_SHARE = 0.1
"""Share of samples beyond which a distribution is continued by a tail."""
MIN_TAIL = 5
"""Samples that the tail starts with at least."""
TAIL_SHAPE = 0.25
"""Shape of the generalised Pareto distribution that continues the scores of a single table; 0 would be exponential.

Distances to nearest samples have heavier tails than that, but how heavy differs. Share, scale and shape were chosen
among 24 settings on the tables of ADBench, by the very figures that follow: with 0 to 10 % of anomalies a mean share of
0.14 to 0.20 of the flagged samples was nominal, so a rate of 0.1 is aimed at, not kept. A shape of 0 flags far more
(0.32 to 0.39 nominal), one of 1/2 next to nobody."""
FEW_TIED = 3
"""Nominal samples that may share a value without ties in the data: each other's nearest, or of the same depth."""

Surprises = Callable[[Measure], NDArray[np.float64]]
"""How surprising each value of a measure is, in its shape, on one scale for all."""
Score = Callable[[Measures, Surprises], NDArray[np.float64]]
"""Makes one score a sample from the measures by name and their surprises."""


class Scoring(NamedTuple):
    """What a method makes of measures; larger is more unusual.

    Attributes
    ----------
    score : callable
        One score a sample, shape (n_samples,).
    alone : callable
        How surprising each criterion is by itself, (n_samples, n_criteria).
    together : callable
        How surprising all criteria are at once, (n_samples,).
    """

    score: Score
    alone: Score
    together: Score


def _depth_together(values: Measures, surprise: Surprises) -> NDArray[np.float64]:
    """Return the larger surprise of the mean depth and the balanced sum."""
    return np.maximum(surprise("mean_depth"), surprise("balanced_sum"))


def _blend(values: Measures, surprise: Surprises) -> NDArray[np.float64]:
    """Return minus the logarithm of the harmonic mean of three p-values, continued beyond the smallest there is.

    They are those of the most surprising criterion, of the balanced sum, and of the pair
    depth. As K criteria have K chances, they are charged ln K. A single criterion is the
    balanced sum already and does not count twice.
    """
    parts = [_balanced(surprise), surprise("pair_depth")]
    n_criteria = values["local_ratios"].shape[1]
    if n_criteria > 1:
        parts.append(_blended_alone(values, surprise).max(axis=1) - math.log(n_criteria))
    # Of exponentials that a float could not hold.
    blend: NDArray[np.float64] = np.logaddexp.reduce(parts, axis=0) - math.log(len(parts))
    return blend


def _blended_alone(values: Measures, surprise: Surprises) -> NDArray[np.float64]:
    """Return the mean surprise of each criterion's three neighbor means and its local ratio."""
    ratios, means = surprise("local_ratios"), surprise("neighbor_means")
    n_criteria = ratios.shape[1]
    few, some, many = (means[:, start : start + n_criteria] for start in range(0, means.shape[1], n_criteria))
    return (few + some + many + ratios) / 4


def _balanced(surprise: Surprises) -> NDArray[np.float64]:
    """Return the mean surprise of the balanced sum's neighbor mean and local ratio."""
    return (surprise("balanced_mean") + surprise("balanced_ratio")) / 2


SCORINGS: dict[MethodName, Scoring] = {
    "depth": Scoring(
        score=lambda values, surprise: values["mean_depth"],
        alone=lambda values, surprise: surprise("neighbor_sums"),
        together=_depth_together,
    ),
    "blend": Scoring(
        score=_blend,
        alone=_blended_alone,
        together=lambda values, surprise: np.maximum(surprise("pair_depth"), _balanced(surprise)),
    ),
}


@dataclass(frozen=True)
class Surprise:
    """Minus the logarithm of the share of nominal samples in which a measure is at least as large.

    Up to `start` it is the share itself. Beyond, where few or no nominal samples are left, it is
    continued as if the measure had an exponential tail, so that it keeps rising. The tail starts
    with the share of nominal samples above `start`; those tied there count as one.

    Attributes
    ----------
    nominal : ndarray of shape (n_samples,)
        The nominal samples' values in rising order.
    start, scale : float
        Where the tail starts, and the mean excess over it.
    """

    nominal: NDArray[np.float64]
    start: float
    scale: float

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Surprise:
        """Return the surprise of a measure with these values in nominal samples."""
        nominal = np.minimum(np.sort(values), LARGEST)
        n_tail = min(len(nominal), max(MIN_TAIL, int(TAIL_SHARE * len(nominal))))
        start = float(nominal[-n_tail])
        excess = nominal[nominal > start] - start
        # Without a tail, the size of the values themselves is what is left of a scale.
        scale = excess.mean() if len(excess) else np.abs(nominal).mean() or 1.0
        return cls(nominal, start, max(float(scale), float(np.finfo(np.float64).tiny)))

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the surprise of each value."""
        nominal, n_samples, values = self.nominal, len(self.nominal), np.minimum(values, LARGEST)
        first, after = nominal.searchsorted(self.start), nominal.searchsorted(self.start, "right")
        tail_first = first if after - first <= FEW_TIED else after - 1
        n_as_large = n_samples - np.minimum(nominal.searchsorted(values), tail_first)
        # Looked up, so that no bit depends on how many values there are.
        by_count = -np.log(np.arange(1, n_samples + 1) / n_samples)
        surprise: NDArray[np.float64] = by_count[n_as_large - 1]
        with np.errstate(over="ignore"):
            tail = np.maximum(values - self.start, 0.0) / self.scale
        return surprise + np.minimum(tail, LARGEST)


@dataclass(frozen=True)
class Calibration:
    """How a method scores, and what nominal samples reach in each measure and in the score.

    Attributes
    ----------
    method : {"depth", "blend"}
    surprises : dict of list of Surprise
        By measure, one for each of its columns.
    nominal : dict of ndarray
        The measures of the nominal samples that calibrate, each column in rising order.
    scores : ndarray of shape (n_nominal,)
        Their scores, in rising order.
    alone : ndarray of shape (n_nominal, n_criteria)
        How surprising each criterion of theirs is alone, each column in rising order.
    """

    method: MethodName
    surprises: dict[Measure, list[Surprise]]
    nominal: dict[Measure, NDArray[np.float64]]
    scores: NDArray[np.float64]
    alone: NDArray[np.float64]

    @classmethod
    def fit(cls, training: Measures, calibrating: Measures, method: MethodName) -> Calibration:
        """Return the calibration by some nominal samples of surprises that are fitted to others, or to the same."""
        names = METHODS[method].fitted
        surprises = {name: [Surprise.fit(column) for column in _columns(training[name])] for name in names}
        nominal = {name: np.sort(calibrating[name], axis=0) for name in names}
        fitted = cls(method, surprises, nominal, np.empty(0), np.empty((0, 0)))
        alone = np.sort(fitted.alone_surprise(calibrating), axis=0)
        return replace(fitted, scores=np.sort(fitted.score(calibrating)), alone=alone)

    def score(self, measures: Measures) -> NDArray[np.float64]:
        """Return the scores of samples, larger is more unusual."""
        return SCORINGS[self.method].score(measures, partial(self.surprise, measures))

    def alone_surprise(self, measures: Measures) -> NDArray[np.float64]:
        """Return how surprising each criterion is alone, shape (n_samples, n_criteria)."""
        return SCORINGS[self.method].alone(measures, partial(self.surprise, measures))

    def together_surprise(self, measures: Measures) -> NDArray[np.float64]:
        """Return how surprising all criteria are at once."""
        return SCORINGS[self.method].together(measures, partial(self.surprise, measures))

    def surprise(self, measures: Measures, name: Measure) -> NDArray[np.float64]:
        """Return how surprising the values of a measure are, in its shape."""
        values = measures[name]
        columns = zip(self.surprises[name], _columns(values), strict=True)
        return np.column_stack([surprise.of(column) for surprise, column in columns]).reshape(values.shape)

    def p_values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the p-value of each score, in the shape of the scores."""
        return rank_p_values(self.scores, scores)

    @property
    def smallest_p_value(self) -> float:
        """The p-value of a sample that is more unusual than all that calibrate."""
        return 1 / (1 + len(self.scores))

    def alone_p_values(self, measures: Measures) -> NDArray[np.float64]:
        """Return the p-value of each criterion alone, shape (n_samples, n_criteria)."""
        return _columnwise_p_values(self.alone, self.alone_surprise(measures))

    def measure_p_values(self, measures: Measures, name: Measure) -> NDArray[np.float64]:
        """Return the p-value of each value of a measure, in its shape."""
        values = measures[name]
        return _columnwise_p_values(self.nominal[name].reshape(len(self.scores), -1), values).reshape(values.shape)


def _columnwise_p_values(nominal: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of each value among the nominal ones of its column, which are in rising order."""
    pairs = zip(nominal.T, _columns(values), strict=True)
    return np.column_stack([rank_p_values(column, own) for column, own in pairs])


def _columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of a measure, which may have only one."""
    return values.T if values.ndim == 2 else values[None]


def kept_rows(n_samples: int, calibration: str, seed: int) -> NDArray[np.intp] | slice:
    """Return which training samples make the fronts: all, or those that a split does not hold out."""
    if calibration == "leave-one-out":
        return slice(None)
    n_held_out = int(n_samples * HELD_OUT_SHARE)
    return np.sort(np.random.default_rng(seed).permutation(n_samples)[n_held_out:])


def rank_p_values(nominal: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (1 + number of nominal values not below each value) / (1 + number of nominal values).

    A tie counts against an anomaly. So among nominal values and a further one, in random
    order, the further one's p-value is at most t with a probability of at most t.

    Parameters
    ----------
    nominal : ndarray of shape (n_nominal,)
        In rising order; larger is more unusual.
    values : ndarray of any shape
        NaN, of samples that were not scored, stays NaN.
    """
    n_as_large = len(nominal) - np.searchsorted(nominal, values)
    p_values: NDArray[np.float64] = np.where(np.isnan(values), np.nan, (1 + n_as_large) / (1 + len(nominal)))
    return p_values


def largest_nominal_score(nominal: NDArray[np.float64], alpha: float) -> float:
    """Return the score above which `rank_p_values` are at most `alpha`, from rising scores of nominal samples."""
    # The tiny addition undoes the rounding of e.g. 0.05 * 300.
    n_as_large = int(alpha * (len(nominal) + 1) + 1e-9) - 1
    return float(nominal[-1 - n_as_large])


def tail_p_values(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often the rest of a single table suggests a score at least as large.

    Ranks do not show this: some samples of a table always have the highest scores. So the upper
    tenth of the scores is taken for the tail of a generalised Pareto distribution whose scale is
    that of the lower half of the tail, which up to a twentieth of anomalies leave alone. Below
    the tail it is the share of samples that score at least as much. That is a guess from the
    shape of the scores, not a p-value with a guarantee: where nominal samples have a heavier
    tail, more of them are flagged than a false discovery rate promises.

    Examples
    --------
    >>> scores = np.append(np.linspace(0, 1, 99), 50.0)
    >>> tail_p_values(scores)[[49, 98, 99]].round(5)
    array([0.51   , 0.03561, 0.     ])
    """
    rising = np.sort(scores)
    n_samples = len(rising)
    n_tail = min(n_samples - 1, max(MIN_TAIL, int(TAIL_SHARE * n_samples)))
    p_values = (n_samples - np.searchsorted(rising, scores)) / n_samples
    if n_tail < 1:
        return p_values
    start = rising[-n_tail - 1]
    excess = np.maximum(scores - start, 0.0)
    n_lower = (n_tail + 1) // 2
    # The excess that this share of the tail exceeds gives the scale.
    share = 1 - n_lower / (n_tail + 1)
    typical = rising[n_samples - n_tail + n_lower - 1] - start
    scale = typical * TAIL_SHAPE / (share**-TAIL_SHAPE - 1)
    if scale <= 0:
        # Half of the tail is tied with its start, which says nothing of what else to expect.
        return p_values
    tail = n_tail / n_samples * (1 + TAIL_SHAPE * excess / scale) ** (-1 / TAIL_SHAPE)
    found: NDArray[np.float64] = np.where(scores > start, tail, p_values)
    return found


def discoveries(p_values: NDArray[np.float64], fdr: float) -> NDArray[np.bool_]:
    """Return which p-values are small enough for a false discovery rate (Benjamini, Hochberg 1995); NaN never is."""
    is_known = ~np.isnan(p_values)
    is_flagged = np.zeros(len(p_values), dtype=bool)
    is_flagged[is_known] = false_discovery_control(p_values[is_known]) <= fdr
    return is_flagged


def labels(decision: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return -1 for decisions below 0, 1 for others, and 0 for NaN, of samples that were not scored."""
    return np.where(np.isnan(decision), 0, np.where(decision < 0, -1, 1))


def check_fdr(fdr: object, caller: str) -> float:
    """Return a false discovery rate between 0 and 1, both excluded."""
    return check_rate(fdr, "fdr", caller, "the share of nominal samples among those selected, 0.1 say")


def check_alpha(alpha: object, n_calibrating: int, caller: str) -> float:
    """Return a false-alarm rate that p-values from `n_calibrating` samples can reach; None: 0.05 or the smallest."""
    smallest = 1 / (n_calibrating + 1)
    if alpha is None:
        return max(0.05, smallest)
    rate = check_rate(alpha, "alpha", caller, "the share of nominal samples that may be called anomalies, 0.05 say")
    if rate < smallest * (1 - 1e-9):
        raise ValueError(
            f"The 'alpha' parameter of {caller} must be at least 1 / (1 + number of calibrating samples), which is "
            f"{smallest:.4g} for these {n_calibrating}. Got {rate:g} instead; raise it, give a 'threshold', or fit on "
            f"more samples: {int(np.ceil(1 / rate - 1e-9)) - 1} calibrating ones are enough."
        )
    return rate


def check_threshold(threshold: object, caller: str) -> float | None:
    """Return a score above which a sample is an anomaly, or None."""
    if threshold is None:
        return None
    if not is_real(threshold) or np.isnan(float(threshold)):  # type: ignore[arg-type]
        raise ValueError(
            f"The 'threshold' parameter of {caller} must be None or a number. Got {threshold!r} instead; "
            "None sets it from 'alpha'."
        )
    return float(threshold)  # type: ignore[arg-type]
