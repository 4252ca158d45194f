"""The scoring methods: a row each, what it needs measured and what a fit measures for it.

Imports nothing heavy: the command line's help lists the methods. How measures become a score is
in :mod:`paretodepth.scoring.calibration`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

MethodName = Literal["depth", "blend"]
Measure = Literal[
    "mean_depth",
    "neighbor_sums",
    "balanced_sum",
    "neighbor_means",
    "local_ratios",
    "balanced_mean",
    "balanced_ratio",
    "pair_depth",
    "pair_depths",
    "pair_shares",
]


class Method(NamedTuple):
    """A way to score samples.

    Attributes
    ----------
    summary : str
        A phrase for help texts.
    measures : tuple of str
        What a score needs, as :mod:`paretodepth.scoring.measures` names it.
    fitted : tuple of str
        What a fit measures and explanations need.
    near, near_in_all : str
        Which of these says how far the nearest are, in each criterion and in all together.
    """

    summary: str
    measures: tuple[Measure, ...]
    fitted: tuple[Measure, ...]
    near: Measure
    near_in_all: Measure


OF_DEPTH: tuple[Measure, ...] = ("mean_depth", "neighbor_sums", "balanced_sum")
OF_BLEND: tuple[Measure, ...] = ("neighbor_means", "local_ratios", "balanced_mean", "balanced_ratio", "pair_depth")
METHODS: dict[MethodName, Method] = {
    "depth": Method("the paper's mean depth", ("mean_depth",), OF_DEPTH, "neighbor_sums", "balanced_sum"),
    "blend": Method(
        "each criterion, pairs of them and their sum blended",
        OF_BLEND,
        (*OF_BLEND, "pair_depths"),
        "neighbor_means",
        "balanced_mean",
    ),
}
