"""What an explanation rests on: measures, neighbors, counts, and the score if one criterion were typical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.scoring.measures import Measures, joined
from paretodepth.scoring.methods import METHODS, Measure
from paretodepth.scoring.model import Model

ORDINARY_P_VALUE = 0.25
"""Beyond this p-value a sample or a criterion is typical already, and no counterfactual is computed."""
ABOUT = 1.0
"""Difference of surprises, logarithms of p-values, that is too small to prefer one reason to another."""


class Evidence(NamedTuple):
    """What is found of a block of samples, to explain them.

    Attributes
    ----------
    measures : Measures
    neighbors : ndarray of shape (n_samples, s)
        The nearest training samples, criterion after criterion.
    score_if_typical : ndarray of shape (n_samples, n_criteria)
        For each criterion the score if that criterion were typical.
    position : ndarray of shape (n_samples,)
    n_equal : ndarray of shape (n_samples, n_criteria)
        How many training samples are at dissimilarity 0.
    has_twin : ndarray of shape (n_samples,)
        Whether a training sample is at dissimilarity 0 in every criterion.
    """

    measures: Measures
    neighbors: NDArray[np.intp]
    score_if_typical: NDArray[np.float64]
    position: NDArray[np.float64]
    n_equal: NDArray[np.intp]
    has_twin: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Evidence]) -> Evidence:
        """Return what is found of consecutive blocks of samples as one."""
        measures, *others = zip(*parts, strict=True)
        return cls(joined(measures), *map(np.concatenate, others))

    def take(self, samples: NDArray[np.intp]) -> Evidence:
        """Return what is found of some of the samples, in the given order."""
        others: list[Any] = [part[samples] for part in self[1:]]
        return Evidence({name: values[samples] for name, values in self.measures.items()}, *others)


class Counts(NamedTuple):
    """How many nominal samples reach what each of s samples does.

    A training sample is not counted among those that it is compared with.

    Attributes
    ----------
    n_nominal : ndarray of shape (s,)
        The samples that calibrate.
    n_strange : ndarray of shape (s,)
        Those of them that score at least as high.
    n_odd : ndarray of shape (s, n_criteria)
        At least as unusual in a criterion alone.
    n_far : ndarray of shape (s, n_counts, n_criteria)
        At least as far from their nearest in a criterion.
    n_far_in_all : ndarray of shape (s,)
        At least as far from their nearest by the sum of all criteria.
    n_pair_odd : ndarray of shape (s, n_pairs)
        At least as deep in a pair of criteria.
    n_match : ndarray of shape (s, n_criteria)
        Training samples at dissimilarity 0, but 0 for a new sample that equals one in every criterion: it may be that
        sample.
    is_local : ndarray of shape (s, n_criteria)
        Whether the sample is unusually far from its nearest for what these are from theirs.
    """

    n_nominal: NDArray[np.intp]
    n_strange: NDArray[np.intp]
    n_odd: NDArray[np.intp]
    n_far: NDArray[np.intp]
    n_far_in_all: NDArray[np.intp]
    n_pair_odd: NDArray[np.intp]
    n_match: NDArray[np.intp]
    is_local: NDArray[np.bool_]

    def of(self, sample: int) -> Counts:
        """Return what is counted for one sample."""
        return Counts(*(part[sample] for part in self))


def evidence_of(model: Model, block: NDArray[np.float64]) -> Evidence:
    """Return what is found of the rows of a block of shape (n_criteria, n_rows, n_training)."""
    measurer, calibration = model.measurer, model.calibration
    neighbors, dyads = nearest_dyads(block, measurer.n_named)
    is_equal = block == 0
    n_equal, has_twin = np.count_nonzero(is_equal, axis=2).T, is_equal.all(axis=0).any(axis=1)
    measures = measurer.of(block, (*METHODS[model.method].fitted, "pair_shares"))
    p_values = calibration.p_values(calibration.score(measures))
    is_asked = np.maximum(calibration.alone_p_values(measures), p_values[:, None]) <= ORDINARY_P_VALUE
    scores = scores_if_typical(model, block, neighbors, dyads, measures, is_asked)
    return Evidence(measures, neighbors, scores, _position(model, dyads), n_equal, has_twin)


def scores_if_typical(
    model: Model,
    block: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    dyads: NDArray[np.float64],
    measures: Measures,
    is_asked: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the score of each sample if one criterion were typical, shape (n_rows, n_criteria).

    The criterion's dissimilarities are replaced by the nominal medians of the same rank, and the
    nearest stay the nearest. Where it is not asked for, the score itself.

    Parameters
    ----------
    model : Model
    block : ndarray of shape (n_criteria, n_rows, n_training)
        Dissimilarities.
    neighbors : ndarray of shape (n_rows, s)
        The nearest, criterion after criterion, by column of the block.
    dyads : ndarray of shape (n_rows, s, n_criteria)
        With these.
    measures : Measures
        Of the rows, with their ``"pair_shares"`` if the method has any.
    is_asked : ndarray of shape (n_rows, n_criteria)
    """
    measurer, calibration = model.measurer, model.calibration
    scores = np.tile(calibration.score(measures)[:, None], len(block))
    for criterion in np.flatnonzero(is_asked.any(axis=0)).tolist():
        rows = np.flatnonzero(is_asked[:, criterion])
        changed, changed_dyads = block[:, rows], dyads[rows]
        np.put_along_axis(changed[criterion], changed[criterion].argsort(axis=1), model.profiles[criterion][None], 1)
        changed_dyads[:, :, criterion] = np.take_along_axis(changed[criterion], neighbors[rows], axis=1)
        before = {name: values[rows] for name, values in measures.items()}
        found = measurer.if_changed(changed, changed_dyads, before, criterion, calibration.nominal)
        scores[rows, criterion] = calibration.score(found)
    return scores


def far_criteria(model: Model, measures: Measures, alpha: float) -> NDArray[np.bool_]:
    """Tell in which criteria alone samples are far, shape (n_samples, n_criteria).

    The p-value is too small to be chance, given the number of criteria; or
    it is at most alpha, and the criterion is about as surprising as all of them together.
    """
    calibration = model.calibration
    p_values, alone = calibration.alone_p_values(measures), calibration.alone_surprise(measures)
    n_criteria = p_values.shape[1]
    level = alpha if n_criteria == 1 else max(alpha / (2 * n_criteria), calibration.smallest_p_value)
    together = calibration.together_surprise(measures)
    return np.asarray(p_values <= level) | ((p_values <= alpha) & (alone >= together[:, None] - ABOUT))


def are_crowded(model: Model, measures: Measures, alpha: float) -> NDArray[np.bool_]:
    """Tell which samples have others near in all criteria at once, that are unusually near to each other."""
    calibration = model.calibration
    if "balanced_ratio" not in measures:
        return np.zeros(len(measures["balanced_sum"]), bool)
    p_values = {
        name: calibration.measure_p_values(measures, name) for name in ("balanced_mean", "balanced_ratio", "pair_depth")
    }
    is_near = (p_values["balanced_mean"] > alpha) & (p_values["pair_depth"] > alpha)
    return np.asarray(is_near & (p_values["balanced_ratio"] <= alpha) & (measures["balanced_ratio"] > 1))


def counts_of(model: Model, found: Evidence, alpha: float, is_training_sample: NDArray[np.bool_]) -> Counts:
    """Return how many of the calibrating samples reach what each sample does.

    `is_training_sample` marks training samples: they are calibration samples too and do not count themselves.
    """
    calibration, measures, measurer, method = model.calibration, found.measures, model.measurer, model.method
    n_samples, n_criteria = found.n_equal.shape
    total = len(calibration.alone)

    def n_reaching(p_values: NDArray[np.float64]) -> NDArray[np.intp]:
        own = is_training_sample.reshape(-1, *[1] * (p_values.ndim - 1))
        return np.maximum(np.rint(p_values * (1 + total)).astype(np.intp) - 1 - own, 0)

    def n_of(name: Measure) -> NDArray[np.intp]:
        return n_reaching(calibration.measure_p_values(measures, name))

    scores = calibration.score(measures)
    of_method = METHODS[method]
    is_local = np.zeros(found.n_equal.shape, bool)
    if "local_ratios" in measures:
        is_local = (calibration.measure_p_values(measures, "local_ratios") <= alpha) & (measures["local_ratios"] > 1)
    n_pair_odd = n_of("pair_depths") if len(measurer.pairs) else np.empty((n_samples, 0), np.intp)
    return Counts(
        n_nominal=total - is_training_sample,
        n_strange=n_reaching(calibration.p_values(scores)),
        n_odd=n_reaching(calibration.alone_p_values(measures)),
        n_far=n_of(of_method.near).reshape(n_samples, -1, n_criteria),
        n_far_in_all=n_of(of_method.near_in_all),
        n_pair_odd=n_pair_odd,
        # The twin of a sample given as new may be the sample itself: then nobody can say that another matches it.
        n_match=np.where((found.has_twin & ~is_training_sample)[:, None], 0, found.n_equal),
        is_local=is_local,
    )


def _position(model: Model, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the dyads of each row lie along the fronts of two criteria; see `Explanation`."""
    if dyads.shape[2] != 2:
        return np.full(len(dyads), np.nan)
    # A rank is never 0, so that dyads smaller than all nominal ones have a position too.
    first, second = (1 + np.searchsorted(model.dyad_quantiles[:, c], dyads[:, :, c]) for c in range(2))
    position: NDArray[np.float64] = (first / (first + second)).mean(axis=1)
    return position
