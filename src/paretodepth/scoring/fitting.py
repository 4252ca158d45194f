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
from paretodepth.pairs.capped_fronts import MAX_KEPT, auto_max_depth, capped_fronts, pair_fronts
from paretodepth.pairs.limits import KEPT_BYTES, Limits
from paretodepth.pairs.nearest import fitted_n_neighbors, given_n_neighbors, map_new_blocks
from paretodepth.pairs.pairs import Criteria, Encodings, HeldPairs, Pairs
from paretodepth.scoring.advice import (
    criteria_advice,
    fronts_advice,
    is_cut,
    many_criteria_advice,
    pair_fronts_advice,
    tie_advice,
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
from paretodepth.scoring.measures import DepthMeasurer, Measurer, Measures, joined, rank_profiles, typical_sizes
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.scoring.model import Model

N_QUANTILES = 50_000
"""Training dyads, spread evenly over all, among which a dyad is ranked in each criterion."""


class Settings(NamedTuple):
    """The parameters of a fit, as of the detector; some can be checked only beside the samples.

    Attributes
    ----------
    method, depth, calibration : str
    n_neighbors, alpha, threshold
    limits : Limits
    seed : int
        Chooses the samples that a split holds out.
    n_jobs : int or None
    is_advised : bool
        Whether to look for criteria that should be improved, a fifth of the time of a fit.
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
            limits=Limits.checked(parameters["max_depth"], parameters["memory_limit"], caller),
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
        Makes the pairs of training samples, here or on a cluster, of criteria, encodings and n_jobs.
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
    found = FITS[settings.method](pairs_of(fitted.fitted, training, settings.n_jobs), fitted, settings, caller)
    held_out_measures: Measures = {}
    if len(held_out):
        measure = partial(found.measurer.of, needed=METHODS[settings.method].fitted)
        n_values = found.measurer.values_per_row(len(rows))
        new = fitted.encoded_rows(encodings, held_out, kept)
        held_out_measures = joined(map_new_blocks(measure, fitted.fitted, new, training, n_values, settings.n_jobs))
    return calibrated_model(
        n_samples=encoded.n_samples,
        criteria=fitted,
        training=training,
        columns=encoded.columns_read(fitted.bound, kept),
        rows=rows,
        held_out=encoded.rows[held_out],
        measurer=found.measurer,
        measures=found.measures,
        held_out_measures=held_out_measures,
        method=settings.method,
        threshold=threshold,
        alpha=alpha,
        profiles=rank_profiles(found.pairs),
        dyad_quantiles=np.sort(found.dyads[stride(len(found.dyads), N_QUANTILES)], axis=0),
        is_exact=found.is_exact,
        advice=found.advice,
    )


def calibrated_model(
    *,
    n_samples: int,
    rows: NDArray[np.intp],
    held_out: NDArray[np.intp],
    measures: Measures,
    held_out_measures: Measures,
    method: MethodName,
    threshold: float | None,
    alpha: float | None,
    **others: Any,
) -> Model:
    """Return a model with what follows from measures: the calibration, the threshold and the scores of the samples."""
    calibration = Calibration.fit(measures, held_out_measures or measures, method)
    scores = np.full(n_samples, np.nan)
    scores[rows] = calibration.score(measures)
    if held_out_measures:
        scores[held_out] = calibration.score(held_out_measures)
    if alpha is not None:
        threshold = largest_nominal_score(calibration.scores, alpha)
    return Model(
        rows=rows,
        held_out=held_out,
        measures=measures,
        held_out_measures=held_out_measures,
        calibration=calibration,
        threshold=float(threshold),  # type: ignore[arg-type]
        alpha=alpha,
        scores=scores,
        **others,
    )


class _Found(NamedTuple):
    """What a method finds in the pairs of training samples.

    Attributes
    ----------
    pairs : Pairs
    dyads : ndarray of shape (n_some_dyads, n_criteria)
        Of all pairs or of some.
    is_exact : bool
        Whether the fronts, up to the last one asked for, are those of all dyads.
    measurer : Measurer
    measures : Measures
        Of the training samples, each left out in turn.
    advice : list of str
    """

    pairs: Pairs
    dyads: NDArray[np.float64]
    is_exact: bool
    measurer: Measurer
    measures: Measures
    advice: list[str]


def _fit_by_depth(pairs: Pairs, criteria: FittedCriteria, settings: Settings, caller: str) -> _Found:
    """Return what the depth method finds: neighbors, and the fronts of all criteria."""
    settings.limits.check(pairs.n_samples, pairs.n_criteria, caller)
    pairs = _held(pairs) if settings.limits.holds(pairs.n_pairs, pairs.n_criteria) else pairs
    with phase("neighbors"):
        dyads = pairs.sample()
        weights = 1 / typical_sizes(dyads)
        n_neighbors, lists = fitted_n_neighbors(settings.n_neighbors, pairs, weights, criteria.names, caller)
    with phase(f"Pareto fronts of {pairs.n_pairs:,} dyads"):
        depths = _depths(pairs, n_neighbors, settings)
        measurer = DepthMeasurer.fit(depths, n_neighbors, weights, pairs.n_samples)
    with phase("leave-one-out scores"):
        measures = measurer.of_training(pairs, lists)
    advice: list[str] = []
    if settings.is_advised:
        with phase("advice"):
            advice += criteria_advice(criteria.fitted, dyads)
            advice += tie_advice(criteria.names, dyads)
            advice += many_criteria_advice(len(criteria.fitted), len(depths.fronts), pairs.n_pairs)
            advice += fronts_advice(pairs, depths, n_neighbors)
    return _Found(pairs, dyads, True, measurer, measures, advice)


def _fit_by_blend(pairs: Pairs, criteria: FittedCriteria, settings: Settings, caller: str) -> _Found:
    """Return what the blend finds, which needs only the fronts of pairs of criteria."""
    limits = settings.limits
    limits.check_pair_fronts(pairs.n_samples, pairs.n_criteria, caller)
    pairs = _held(pairs) if limits.holds_for_pair_fronts(pairs.n_pairs, pairs.n_criteria) else pairs
    dyads = pairs.sample()
    with phase(f"Pareto fronts of {pairs.n_pairs:,} dyads in pairs of criteria"):
        fronts = pair_fronts(pairs, limits)
    with phase("leave-one-out scores"):
        measurer, measures = BlendMeasurer.fit(pairs, fronts, typical_sizes(dyads))
    advice: list[str] = []
    if settings.is_advised:
        with phase("advice"):
            advice += criteria_advice(criteria.fitted, dyads)
            advice += pair_fronts_advice(pairs, fronts, measurer.n_neighbors)
    # Fronts of too many dyads for the memory are cut even if nobody has asked for it.
    is_exact = limits.max_depth is not None or not any(map(is_cut, fronts.fronts))
    return _Found(pairs, dyads, is_exact, measurer, measures, advice)


FITS: dict[MethodName, Callable[[Pairs, FittedCriteria, Settings, str], _Found]] = {
    "depth": _fit_by_depth,
    "blend": _fit_by_blend,
}


def _held(pairs: Pairs) -> Pairs:
    """Return pairs whose dissimilarities are computed once."""
    with phase(f"dissimilarities of {pairs.n_pairs:,} pairs of samples"):
        return pairs.held()


def _depths(pairs: Pairs, n_neighbors: NDArray[np.intp], settings: Settings) -> Depths:
    """Return depths below the fronts that the limits ask for."""
    max_depth = settings.limits.max_depth
    if max_depth == "auto":
        max_kept = min(MAX_KEPT, settings.limits.n_bytes // KEPT_BYTES)
        max_depth = auto_max_depth(pairs, n_neighbors, max_kept=max_kept)
    if max_depth is not None:
        return Depths(capped_fronts(pairs, max_depth), settings.depth)
    return Depths.of_dyads(HeldPairs.of(pairs).dyads, settings.depth, n_jobs=pairs.n_jobs)
