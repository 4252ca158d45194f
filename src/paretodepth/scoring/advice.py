"""Advice at fit: what about the criteria makes the fronts say little, and what to do.

People read it in Python, in a terminal and on a page: it names no parameter, and rows as these places number them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import rank_correlations, stride
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.capped_fronts import asked_dyads
from paretodepth.pairs.pairs import Pairs
from paretodepth.scoring.calibration import tail_p_values

MANY_CRITERIA = 5
TIED_SHARE = 0.1
ZERO_SHARE = 0.1
REDUNDANT_CORRELATION = 0.98
N_LOOKED_AT = 5_000
"""Dyads, spread evenly over all, whose ties are counted and whose rank correlations are computed."""
DEEP_SHARE = 0.01
"""Share of nominal dyads beyond the last front that is worth a word."""
STANDING_OUT_LEVEL = 0.01
"""How often one of so many nominal samples would stand out as much, by the tail of the scores, for it to be named."""
MIN_JUDGED = 100
"""Training samples from which on there is a tail to judge by."""
N_NAMED = 5
"""Training samples that are named as standing out; more are counted."""


class AdviceWarning(UserWarning):
    """Warning about criteria that work but should be improved, or about a stream whose window cannot be fitted."""


def criteria_advice(criteria: Sequence[FittedCriterion], dyads: NDArray[np.float64]) -> list[str]:
    """Return advice about the criteria, a sentence or two each, given the dyads of all training samples or of some."""
    names = [criterion.name for criterion in criteria]
    is_constant = _are_constant(dyads)
    advice = [_constant_advice(name) for name, constant in zip(names, is_constant, strict=True) if constant]
    advice += _redundancy_advice(names, _some(dyads), is_constant)
    advice += [
        f"The criterion '{criterion.name}' calls a Python function for each pair of samples, which is slow. Give a "
        "function f(A, B) of two arrays of samples instead."
        for criterion in criteria
        if criterion.criterion.pairwise
    ]
    return advice


def many_criteria_advice(n_criteria: int, n_fronts: int, n_dyads: int) -> list[str]:
    """Return advice about criteria so numerous that their dyads make few fronts."""
    if n_criteria <= MANY_CRITERIA:
        return []
    return [
        f"{n_criteria} criteria make only {n_fronts} fronts of {n_dyads:,} dyads, so depth is coarse. Use the "
        f"method 'blend', or join related columns into at most {MANY_CRITERIA} criteria."
    ]


def _constant_advice(name: str) -> str:
    return (
        f"All pairs of training samples are equally unlike in the criterion '{name}', so all dyads are tied in it "
        "and it tells only whether a new sample is as unlike. Check its columns, or leave it out."
    )


def _are_constant(dyads: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return in which criteria all dyads are tied."""
    # Column by column, which takes a tenth of the time of all at once.
    return np.array([column.min() == column.max() for column in dyads.T])


def _some(dyads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return some of the dyads, spread evenly over all."""
    return dyads[stride(len(dyads), N_LOOKED_AT)]


def tie_advice(names: Sequence[str], dyads: NDArray[np.float64]) -> list[str]:
    """Return advice about criteria with many tied or zero dissimilarities.

    Only fronts of all criteria suffer from them: among fronts of pairs, ties in one criterion blunt no others, and
    how far a sample is in each criterion counts beside them.
    """
    advice = []
    for name, tied, zero, constant in zip(names, *count_ties(_some(dyads)), _are_constant(dyads), strict=True):
        if constant or (tied <= TIED_SHARE and zero <= ZERO_SHARE):
            continue
        advice.append(
            f"{tied:.0%} of all pairs of dyads are tied in the criterion '{name}', {zero:.0%} of the dyads are zero: "
            "the fronts say little about it. Use a finer dissimilarity, or join it with another criterion."
        )
    return advice


def _redundancy_advice(names: Sequence[str], dyads: NDArray[np.float64], is_constant: NDArray[np.bool_]) -> list[str]:
    """Return advice about pairs of criteria that rank the dyads almost alike."""
    varying = [int(position) for position in np.flatnonzero(~is_constant)]
    correlations = rank_correlations(dyads)
    advice = []
    for first, second in combinations(varying, 2):
        correlation = float(correlations[first, second])
        if correlation > REDUNDANT_CORRELATION:
            advice.append(
                f"The criteria '{names[first]}' and '{names[second]}' rank pairs of samples almost alike (Spearman "
                f"correlation {correlation:.3f}). Leave one out, or join them."
            )
    return advice


class Ties(NamedTuple):
    """How often dyads have one dissimilarity in common, for each criterion.

    Attributes
    ----------
    shares : ndarray of shape (n_criteria,)
        How likely two different dyads have the same dissimilarity.
    zero_shares : ndarray of shape (n_criteria,)
        Share of dyads whose dissimilarity is zero.
    """

    shares: NDArray[np.float64]
    zero_shares: NDArray[np.float64]


def count_ties(dyads: NDArray[np.float64]) -> Ties:
    """Return how often the dissimilarities of dyads, shape (n_dyads, n_criteria), are tied."""
    shares, zero_shares = [], []
    for column in dyads.T:
        values = np.sort(column)
        ends = np.flatnonzero(np.concatenate((values[1:] != values[:-1], [True]))) + 1
        counts = np.diff(ends, prepend=0).astype(np.float64)
        shares.append(np.sum(counts * (counts - 1)) / max(1.0, len(values) * (len(values) - 1.0)))
        zero_shares.append(np.searchsorted(values, 0.0, side="right") / len(values))
    return Ties(np.array(shares), np.array(zero_shares))


def fronts_advice(pairs: Pairs, depths: Depths, n_neighbors: NDArray[np.intp]) -> list[str]:
    """Return advice about fronts, given with their index, if too many dyads lie beyond the last one."""
    advice = []
    fronts = depths.fronts
    if is_cut(fronts):
        # An index of millions of dyads is built once, if it tells what is asked for.
        if depths.kind != "paper":
            depths = Depths(fronts, "paper")
        deep_share = _deep_share(depths, asked_dyads(pairs, n_neighbors, 0))
        if deep_share > DEEP_SHARE:
            advice.append(
                f"{deep_share:.0%} of the training samples' nearest dyads are deeper than the last front kept, "
                f"{fronts.max_depth}, and share one depth. Keep more fronts, or fit on fewer samples."
            )
    return advice


def pair_fronts_advice(pairs: Pairs, fronts: PairFronts, n_neighbors: NDArray[np.intp]) -> list[str]:
    """Return advice about fronts of pairs of criteria, if too many dyads lie beyond the last ones."""
    advice = []
    if any(map(is_cut, fronts.fronts)):
        dyads = asked_dyads(pairs, n_neighbors, 0)
        # In the mean over the pairs, as the score takes them.
        deep_share = float(
            np.mean(
                [
                    _deep_share(Depths(of_pair, "paper"), dyads.take(criteria, axis=1)) if is_cut(of_pair) else 0.0
                    for criteria, of_pair in zip(fronts.criteria, fronts.fronts, strict=True)
                ]
            )
        )
        if deep_share > DEEP_SHARE:
            advice.append(
                f"{deep_share:.0%} of the training samples' nearest dyads are deeper than the last front kept of a "
                "pair of criteria, so their depth is an estimate from random dyads. Keep more fronts, or fit on "
                "fewer samples."
            )
    return advice


def clear_outlier_advice(scores: NDArray[np.float64], name: Callable[[int], object] = int) -> list[str]:
    """Return advice about training samples that score as only anomalies should; `name` names one by its row."""
    rows = clear_outlier_rows(scores).tolist()
    if not rows:
        return []
    who = "1 training sample scores like an anomaly"
    if len(rows) > 1:
        who = f"{len(rows)} training samples score like anomalies"
    named = ", ".join(str(name(row)) for row in rows[:N_NAMED]) + (" and more" if len(rows) > N_NAMED else "")
    return [f"{who}: {named}. Fit again without those that are not nominal."]


def clear_outlier_rows(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which training samples score as only anomalies should, the strangest first.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Leave-one-out, larger is stranger; NaN for samples that were dropped.
    """
    rows = np.flatnonzero(~np.isnan(scores))
    if len(rows) < MIN_JUDGED:
        return rows[:0]
    p_values = tail_p_values(scores[rows])
    n_odd = np.count_nonzero(p_values * len(rows) <= STANDING_OUT_LEVEL)
    return rows[np.argsort(p_values, kind="stable")[:n_odd]]


def is_cut(fronts: Fronts) -> bool:
    """Tell whether there may be fronts beyond the last one kept."""
    return fronts.max_depth is not None and len(fronts) == fronts.max_depth


def _deep_share(depths: Depths, dyads: NDArray[np.float64]) -> float:
    """Return the share of dyads that are deeper than the last front."""
    return float(np.mean(depths.of(dyads) > len(depths.fronts)))
