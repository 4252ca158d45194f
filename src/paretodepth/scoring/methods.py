"""The scoring methods: a row each, what it needs measured and how that becomes a score.

Imports nothing heavy: the command line's help lists the methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MethodName = Literal["depth", "criteria", "union"]
Measure = Literal["mean_depth", "neighbor_sums", "balanced_sum"]


class Method(NamedTuple):
    """A way to score samples.

    Attributes
    ----------
    summary : str
        A phrase for help texts.
    measures : tuple of str
        What it needs, as :mod:`paretodepth.scoring.measures` takes it.
    score : callable
        ``score(values, surprise)`` returns one score a sample, larger is stranger. `values` are
        the measures by name; ``surprise(name)`` has the shape of a measure and tells how
        surprising each value is, on one scale for all.
    """

    summary: str
    measures: tuple[Measure, ...]
    score: Callable[[Mapping[Measure, NDArray[np.float64]], Callable[[Measure], NDArray[np.float64]]], Any]


def _mean_depth(values: Mapping[Measure, Any], surprise: Callable[[Measure], Any]) -> Any:
    """Return the mean depth, as in the paper."""
    return values["mean_depth"]


def _largest_criterion(values: Mapping[Measure, Any], surprise: Callable[[Measure], Any]) -> Any:
    """Return the largest surprise among the criteria, each by its neighbor sum."""
    return surprise("neighbor_sums").max(axis=1)


def _union(values: Mapping[Measure, Any], surprise: Callable[[Measure], Any]) -> Any:
    """Return the largest surprise among the mean depth, the criteria and the balanced sum.

    As each of these three has one chance, the K criteria, which have K, are charged ln K.
    """
    n_criteria = values["neighbor_sums"].shape[1]
    alone = _largest_criterion(values, surprise) - math.log(n_criteria)
    return alone.clip(surprise("mean_depth")).clip(surprise("balanced_sum"))


METHODS: dict[MethodName, Method] = {
    "depth": Method("the paper's mean depth", ("mean_depth",), _mean_depth),
    "criteria": Method("the most surprising criterion", ("neighbor_sums",), _largest_criterion),
    "union": Method(
        "the most surprising of depth, criteria and their sum", ("mean_depth", "neighbor_sums", "balanced_sum"), _union
    ),
}
MEASURES = tuple(dict.fromkeys(measure for method in METHODS.values() for measure in method.measures))
"""All that some method needs, and every fit measures."""
