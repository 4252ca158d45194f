"""How sure: what nominal samples reach in each measure and method, and p-values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from paretodepth._checks import check_rate, is_real
from paretodepth.scoring.measures import LARGEST, Measures
from paretodepth.scoring.methods import Measure, MethodName, answered_methods
from paretodepth.scoring.scores import SCORINGS

CALIBRATIONS: tuple[Literal["leave-one-out"], Literal["split"]] = ("leave-one-out", "split")
HELD_OUT_SHARE = 1 / 3
"""Share of the training samples that a split sets aside for calibration."""
TAIL_SHARE = 0.1
"""Share of nominal samples beyond which the distribution of a measure is continued exponentially."""
MIN_TAIL = 5
"""Nominal samples that the tail starts with at least."""
FEW_TIED = 3
"""Nominal samples that may share a value without ties in the data: each other's nearest, or of the same depth."""


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
        In rising order; larger is stranger.
    values : ndarray of any shape
        NaN, of samples that were not scored, stays NaN.
    """
    n_as_strange = len(nominal) - np.searchsorted(nominal, values)
    p_values: NDArray[np.float64] = np.where(np.isnan(values), np.nan, (1 + n_as_strange) / (1 + len(nominal)))
    return p_values


def largest_nominal_score(nominal: NDArray[np.float64], alpha: float) -> float:
    """Return the score above which `rank_p_values` are at most `alpha`, from rising scores of nominal samples."""
    # The tiny addition undoes the rounding of, say, 0.05 * 300.
    n_as_strange = int(alpha * (len(nominal) + 1) + 1e-9) - 1
    return float(nominal[-1 - n_as_strange])


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
    """What nominal samples reach in each measure and under each method.

    Attributes
    ----------
    surprises : dict of list of Surprise
        By measure, one for each of its columns.
    nominal : dict of ndarray
        The measures of the nominal samples that calibrate, each column in rising order.
    scores : dict of ndarray of shape (n_nominal,)
        Their scores, in rising order, by method: the fit's, and others that need no more measures.
    alone : ndarray of shape (n_nominal, n_criteria)
        How surprising each criterion of theirs is alone under the fit's method, each column in rising order.
    """

    surprises: dict[Measure, list[Surprise]]
    nominal: dict[Measure, NDArray[np.float64]]
    scores: dict[MethodName, NDArray[np.float64]]
    alone: NDArray[np.float64]

    @classmethod
    def fit(cls, training: Measures, calibrating: Measures, method: MethodName) -> Calibration:
        """Return the calibration by some nominal samples of surprises that are fitted to others, or to the same."""
        surprises = {name: [Surprise.fit(column) for column in _columns(values)] for name, values in training.items()}
        nominal = {name: np.sort(values, axis=0) for name, values in calibrating.items()}
        fitted = cls(surprises, nominal, {}, np.empty((0, 0)))
        scores: dict[MethodName, NDArray[np.float64]] = {
            name: np.sort(fitted.score(calibrating, name)) for name in answered_methods(method)
        }
        return replace(fitted, scores=scores, alone=np.sort(fitted.alone_surprise(calibrating, method), axis=0))

    def score(self, measures: Measures, method: MethodName) -> NDArray[np.float64]:
        """Return the scores of samples under a method, larger is stranger."""
        return SCORINGS[method].score(measures, partial(self.surprise, measures))

    def alone_surprise(self, measures: Measures, method: MethodName) -> NDArray[np.float64]:
        """Return how surprising each criterion is alone, shape (n_samples, n_criteria)."""
        return SCORINGS[method].alone(measures, partial(self.surprise, measures))

    def together_surprise(self, measures: Measures, method: MethodName) -> NDArray[np.float64]:
        """Return how surprising all criteria are at once."""
        return SCORINGS[method].together(measures, partial(self.surprise, measures))

    def surprise(self, measures: Measures, name: Measure) -> NDArray[np.float64]:
        """Return how surprising the values of a measure are, in its shape."""
        values = measures[name]
        columns = zip(self.surprises[name], _columns(values), strict=True)
        return np.column_stack([surprise.of(column) for surprise, column in columns]).reshape(values.shape)

    def p_values(self, scores: NDArray[np.float64], method: MethodName) -> NDArray[np.float64]:
        """Return the p-value of each score."""
        return rank_p_values(self.scores[method], scores)

    @property
    def smallest_p_value(self) -> float:
        """The p-value of a sample that is stranger than all that calibrate."""
        return 1 / (1 + len(self.alone))

    def measure_p_values(self, measures: Measures, name: Measure) -> NDArray[np.float64]:
        """Return the p-value of each value of a measure, in its shape."""
        values = measures[name]
        return columnwise_p_values(self.nominal[name].reshape(len(self.alone), -1), values).reshape(values.shape)


def columnwise_p_values(nominal: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of each value among the nominal ones of its column, which are in rising order."""
    pairs = zip(nominal.T, _columns(values), strict=True)
    return np.column_stack([rank_p_values(column, own) for column, own in pairs])


def _columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of a measure, which may have only one."""
    return values.T if values.ndim == 2 else values[None]


def discoveries(p_values: NDArray[np.float64], fdr: float) -> NDArray[np.bool_]:
    """Tell which p-values are small enough for a false discovery rate (Benjamini, Hochberg 1995); NaN never is."""
    is_known = ~np.isnan(p_values)
    is_called = np.zeros(len(p_values), dtype=bool)
    is_called[is_known] = false_discovery_control(p_values[is_known]) <= fdr
    return is_called


def labels(decision: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return -1 for decisions below 0, 1 for others, and 0 for NaN, of samples that were not scored."""
    return np.where(np.isnan(decision), 0, np.where(decision < 0, -1, 1))


def check_fdr(fdr: object, caller: str) -> float:
    """Return a false discovery rate between 0 and 1, both excluded."""
    return check_rate(fdr, "fdr", caller, "the share of nominal samples among those selected, 0.1 say")


def check_alpha(alpha: object, n_calibrating: int, caller: str) -> float:
    """Return a false-alarm rate that p-values from so many samples can reach; None stands for 0.05 or the smallest."""
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
    """Return a mean depth above which a sample is an anomaly, or None."""
    if threshold is None:
        return None
    if not is_real(threshold) or np.isnan(float(threshold)):  # type: ignore[arg-type]
        raise ValueError(
            f"The 'threshold' parameter of {caller} must be None or a number. Got {threshold!r} instead; "
            "None sets it from 'alpha'."
        )
    return float(threshold)  # type: ignore[arg-type]
