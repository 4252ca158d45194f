"""How measures become scores: of the whole sample, of each criterion alone, and of all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.scoring.methods import Measure, MethodName

Values = Mapping[Measure, NDArray[np.float64]]
"""The measures by name, one row a sample."""
Surprises = Callable[[Measure], NDArray[np.float64]]
"""How surprising each value of a measure is, in its shape, on one scale for all."""
Score = Callable[[Values, Surprises], NDArray[np.float64]]


class Scoring(NamedTuple):
    """What a method makes of measures; larger is stranger.

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


def _mean_depth(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the mean depth, as in the paper."""
    return values["mean_depth"]


def _sums_alone(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the surprise of each criterion's neighbor sum."""
    return surprise("neighbor_sums")


def _largest_criterion(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the largest surprise among the criteria, each by its neighbor sum."""
    largest: NDArray[np.float64] = surprise("neighbor_sums").max(axis=1)
    return largest


def _depth_together(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the larger surprise of the mean depth and the balanced sum."""
    return np.maximum(surprise("mean_depth"), surprise("balanced_sum"))


def _sum_together(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the surprise of the balanced sum."""
    return surprise("balanced_sum")


def _blend(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return minus the logarithm of the harmonic mean of three p-values, continued beyond the smallest there is.

    They are those of the most surprising criterion, of the balanced sum, and of the pair
    depth. As K criteria have K chances, they are charged ln K. A single criterion is the
    balanced sum already and is left out.
    """
    parts = [_balanced(surprise), surprise("pair_depth")]
    n_criteria = values["local_ratios"].shape[1]
    if n_criteria > 1:
        parts.append(_blended_alone(values, surprise).max(axis=1) - math.log(n_criteria))
    # Of exponentials that a float could not hold.
    blend: NDArray[np.float64] = np.logaddexp.reduce(parts, axis=0) - math.log(len(parts))
    return blend


def _blended_alone(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the mean surprise of each criterion's three neighbor means and its local ratio."""
    ratios, means = surprise("local_ratios"), surprise("neighbor_means")
    n_criteria = ratios.shape[1]
    few, some, many = (means[:, start : start + n_criteria] for start in range(0, means.shape[1], n_criteria))
    return (few + some + many + ratios) / 4


def _balanced(surprise: Surprises) -> NDArray[np.float64]:
    """Return the mean surprise of the balanced sum's neighbor mean and local ratio."""
    return (surprise("balanced_mean") + surprise("balanced_ratio")) / 2


def _blended_together(values: Values, surprise: Surprises) -> NDArray[np.float64]:
    """Return the larger surprise of the pair depth and the balanced sum."""
    return np.maximum(surprise("pair_depth"), _balanced(surprise))


SCORINGS: dict[MethodName, Scoring] = {
    "depth": Scoring(_mean_depth, _sums_alone, _depth_together),
    "criteria": Scoring(_largest_criterion, _sums_alone, _sum_together),
    "blend": Scoring(_blend, _blended_alone, _blended_together),
}
