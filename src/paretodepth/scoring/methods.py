"""The scoring methods: a row each, what it needs measured and what a fit measures for it.

Imports nothing heavy: the command line's help lists the methods. How measures become a score is
told in :mod:`paretodepth.scoring.scores`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

MethodName = Literal["depth", "criteria", "blend"]
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
]


class Method(NamedTuple):
    """A way to score samples.

    Attributes
    ----------
    summary : str
        A phrase for help texts.
    measures : tuple of str
        What a score needs, as :mod:`paretodepth.scoring.measures` names it.
    explained : tuple of str
        What explanations need.
    fitted : tuple of str
        What a fit measures: at least these.
    """

    summary: str
    measures: tuple[Measure, ...]
    explained: tuple[Measure, ...]
    fitted: tuple[Measure, ...]


OF_SUMS: tuple[Measure, ...] = ("neighbor_sums", "balanced_sum")
OF_DEPTH: tuple[Measure, ...] = ("mean_depth", *OF_SUMS)
OF_BLEND: tuple[Measure, ...] = ("neighbor_means", "local_ratios", "balanced_mean", "balanced_ratio", "pair_depth")
OF_PAIRS: tuple[Measure, ...] = (*OF_BLEND, "pair_depths")
METHODS: dict[MethodName, Method] = {
    "depth": Method("the paper's mean depth", ("mean_depth",), OF_DEPTH, OF_DEPTH),
    # Depths of many criteria take a hundred times as long as these two.
    "criteria": Method("the most surprising criterion", ("neighbor_sums",), OF_SUMS, OF_DEPTH),
    "blend": Method("each criterion, pairs of them and their sum blended", OF_BLEND, OF_PAIRS, OF_PAIRS),
}


def answered_methods(method: MethodName) -> tuple[MethodName, ...]:
    """Return the methods whose scores follow from what a fit with a method measures."""
    return methods_from(METHODS[method].fitted)


def methods_from(measured: Collection[Measure]) -> tuple[MethodName, ...]:
    """Return the methods whose scores follow from what is measured."""
    return tuple(name for name, row in METHODS.items() if set(row.measures) <= set(measured))
