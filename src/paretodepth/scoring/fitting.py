"""How a model is made: from samples to neighbors, fronts, measures and a calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from paretodepth._blocks import phase, stride
from paretodepth._checks import check_choice
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.fronts.depth_index import DEPTHS, DepthKind, Depths
from paretodepth.pairs.capped_fronts import MAX_KEPT, auto_max_depth, capped_fronts, pair_fronts, sampled_fronts
from paretodepth.pairs.limits import KEPT_BYTES, Limits
from paretodepth.pairs.nearest import fitted_n_neighbors, given_n_neighbors, map_new_blocks
from paretodepth.pairs.pairs import Criteria, Encodings, HeldPairs, Pairs
from paretodepth.scoring.advice import (
    criteria_advice,
    fronts_advice,
    is_cut,
    many_criteria_advice,
    pair_fronts_advice,
)
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.calibration import (
    CALIBRATIONS,
    Calibration,
    check_alpha,
    check_threshold,
    kept_rows,
    largest_nominal_score,
)
from paretodepth.scoring.measures import Measurer, Measures, joined, rank_profiles, usual_sizes
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.scoring.model import Model

N_PLACES = 50_000
"""Training dyads, spread evenly over all, that a dyad's place in each criterion is told from."""


class Settings(NamedTuple):
    """The parameters of a fit, as of the detector; some can be checked only beside the samples.

    Attributes
    ----------
    method, depth, calibration : str
    n_neighbors, alpha, threshold
    limits : Limits
    seed : int
        Draws the samples that a split holds out, and the dyads if not all are used.
    n_jobs : int or None
    is_advised : bool
        Whether to look for what had better be changed, a fifth of the time of a fit.
    """

    method: MethodName
    depth: DepthKind
    calibration: str
    n_neighbors: object
    alpha: object
    threshold: object
    limits: Limits
    seed: int
    n_jobs: int | None
    is_advised: bool = True

    @classmethod
    def checked(cls, parameters: Mapping[str, Any], caller: str) -> Settings:
        """Return a detector's parameters, checked as far as can be without samples."""
        return cls(
            method=check_choice(parameters["method"], "method", tuple(METHODS), caller),
            depth=check_choice(parameters["depth"], "depth", DEPTHS, caller),
            calibration=check_choice(parameters["calibration"], "calibration", CALIBRATIONS, caller),
            n_neighbors=parameters["n_neighbors"],
            alpha=parameters["alpha"],
            threshold=parameters["threshold"],
            limits=Limits.checked(parameters["max_depth"], parameters["max_dyads"], parameters["memory_limit"], caller),
            seed=check_random_state(parameters["random_state"]).randint(2**31 - 1),
            n_jobs=parameters["n_jobs"],
        )


def fitted_model(
    criteria: object,
    X: Any,
    settings: Settings,
    pairs_of: Callable[[Criteria, Encodings, int | None], Pairs],
    caller: str,
) -> Model:
    """Return what is found in training samples.

    Parameters
    ----------
    criteria : list of Criterion or None
    X : array-like, data frame, dict of columns, list of objects or matrices
        The samples, which should be nominal.
    settings : Settings
    pairs_of : callable
        Makes the pairs of training samples, here or on a cluster, of criteria, views and n_jobs.
    caller : str
        The detector that messages name.
    """
    rows_of = partial(kept_rows, calibration=settings.calibration, seed=settings.seed)
    fitted, encoded = FittedCriteria.fit(criteria, X, caller=caller, rows_of=rows_of)
    encodings, n_samples = encoded.encodings, len(encoded.rows)
    kept = rows_of(n_samples)
    rows = encoded.rows[kept]
    held_out = np.delete(np.arange(n_samples), kept)
    threshold = check_threshold(settings.threshold, caller)
    alpha = None if threshold is not None else check_alpha(settings.alpha, len(held_out) or n_samples, caller)
    given_n_neighbors(settings.n_neighbors, fitted.names, len(rows), caller)
    training = fitted.encoded_rows(encodings, kept, kept)
    found = _found(pairs_of(fitted.fitted, training, settings.n_jobs), fitted, settings, caller)
    calibrating = found.measures
    if len(held_out):
        measure = partial(found.measurer.of, needed=METHODS[settings.method].fitted)
        n_values = found.measurer.values_per_row(len(rows))
        new = fitted.encoded_rows(encodings, held_out, kept)
        calibrating = joined(map_new_blocks(measure, fitted.fitted, new, training, n_values, settings.n_jobs))
    calibration = Calibration.fit(found.measures, calibrating, settings.method)
    scores = np.full(encoded.n_samples, np.nan)
    scores[rows] = calibration.score(found.measures, settings.method)
    if len(held_out):
        scores[encoded.rows[held_out]] = calibration.score(calibrating, settings.method)
    if alpha is not None:
        threshold = largest_nominal_score(calibration.scores[settings.method], alpha)
    return Model(
        criteria=fitted,
        training=training,
        rows=rows,
        measurer=found.measurer,
        calibration=calibration,
        method=settings.method,
        threshold=float(threshold),  # type: ignore[arg-type]
        alpha=alpha,
        scores=scores,
        profiles=rank_profiles(found.pairs),
        places=np.sort(found.dyads[stride(len(found.dyads), N_PLACES)], axis=0),
        is_exact=found.is_exact,
        advice=found.advice,
    )


class _Found(NamedTuple):
    """What the pairs of training samples tell.

    Attributes
    ----------
    pairs : Pairs
    dyads : ndarray of shape (n_some_dyads, n_criteria)
        Of all pairs or of some, to tell what is usual.
    is_exact : bool
        Whether the fronts, up to the last one asked for, are those of all dyads.
    measurer : Measurer or BlendMeasurer
    measures : Measures
        Of the training samples, each left out in turn.
    advice : list of str
    """

    pairs: Pairs
    dyads: NDArray[np.float64]
    is_exact: bool
    measurer: Measurer | BlendMeasurer
    measures: Measures
    advice: list[str]


def _found(pairs: Pairs, criteria: FittedCriteria, settings: Settings, caller: str) -> _Found:
    """Return what the pairs of training samples tell: neighbors, fronts, and the samples' own measures."""
    limits, is_pairwise = settings.limits, settings.method == "blend"
    limits.check(pairs.n_samples, pairs.n_criteria, caller, is_pairwise=is_pairwise)
    if limits.holds(pairs.n_pairs, pairs.n_criteria, is_pairwise=is_pairwise):
        with phase(f"dissimilarities of {pairs.n_pairs:,} pairs of samples"):
            pairs = pairs.held()
    n_dyads = limits.n_dyads(pairs.n_pairs)
    if is_pairwise:
        return _blended(pairs, criteria, n_dyads, settings)
    with phase("neighbors"):
        dyads = pairs.sample()
        weights = 1 / usual_sizes(dyads)
        n_neighbors, lists = fitted_n_neighbors(settings.n_neighbors, pairs, weights, criteria.names, caller)
    with phase(f"Pareto fronts of {n_dyads:,} dyads"):
        depths = _depths(pairs, n_neighbors, settings)
        measurer = Measurer.fit(depths, n_neighbors, weights, pairs.n_samples)
    with phase("leave-one-out scores"):
        measures = measurer.of_training(pairs, lists)
    advice: list[str] = []
    if settings.is_advised:
        with phase("advice"):
            advice += criteria_advice(criteria.fitted, dyads)
            advice += many_criteria_advice(len(criteria.fitted), len(depths.fronts), n_dyads)
            advice += fronts_advice(pairs, depths, n_dyads, n_neighbors)
    return _Found(pairs, dyads, n_dyads == pairs.n_pairs, measurer, measures, advice)


def _blended(pairs: Pairs, criteria: FittedCriteria, n_dyads: int, settings: Settings) -> _Found:
    """Return what the pairs of training samples tell the blend, which needs only the fronts of pairs of criteria."""
    dyads = pairs.sample()
    with phase(f"Pareto fronts of {n_dyads:,} dyads in pairs of criteria"):
        fronts = pair_fronts(pairs, settings.limits, seed=settings.seed)
    with phase("leave-one-out scores"):
        measurer, measures = BlendMeasurer.fit(pairs, fronts, usual_sizes(dyads))
    advice: list[str] = []
    if settings.is_advised:
        with phase("advice"):
            advice += criteria_advice(criteria.fitted, dyads, is_pairwise=True)
            advice += pair_fronts_advice(pairs, fronts, n_dyads, measurer.n_neighbors)
    # Fronts of too many dyads for the memory are cut even if nobody has asked for it.
    is_whole = settings.limits.max_depth is not None or not any(map(is_cut, fronts.fronts))
    return _Found(pairs, dyads, n_dyads == pairs.n_pairs and is_whole, measurer, measures, advice)


def _depths(pairs: Pairs, n_neighbors: NDArray[np.intp], settings: Settings) -> Depths:
    """Return depths below the fronts that the limits ask for."""
    limits, kind = settings.limits, settings.depth
    n_dyads, max_depth = limits.n_dyads(pairs.n_pairs), limits.max_depth
    if n_dyads < pairs.n_pairs:
        # They are few enough to be sorted whole, so nothing need be capped unless a depth is given.
        return Depths(
            sampled_fronts(pairs, n_dyads, None if max_depth == "auto" else max_depth, seed=settings.seed), kind
        )
    if max_depth == "auto":
        max_kept = min(MAX_KEPT, limits.n_bytes // KEPT_BYTES)
        max_depth = auto_max_depth(pairs, n_neighbors, max_kept=max_kept)
    if max_depth is not None:
        return Depths(capped_fronts(pairs, max_depth), kind)
    return Depths.of_dyads(HeldPairs.of(pairs).dyads, kind, n_jobs=pairs.n_jobs)
