"""What a fit finds: all that is needed to score samples, to say how sure that is, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches

from paretodepth._blocks import Result, map_blocks, phase, row_blocks
from paretodepth._checks import check_choice
from paretodepth.criteria.criterion import Missing
from paretodepth.criteria.fitted import FittedCriteria
from paretodepth.criteria.metrics.metric import View
from paretodepth.criteria.missing import Seen
from paretodepth.fronts.depth import DEPTHS, DepthKind, Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.pairs.capped_fronts import MAX_KEPT, auto_max_depth, capped_fronts, drawn_fronts
from paretodepth.pairs.limits import KEPT_BYTES, Limits
from paretodepth.pairs.nearest import fitted_n_neighbors, given_n_neighbors, map_new_blocks, nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, Criteria, HeldPairs, Pairs, Views, spread_rows
from paretodepth.pairs.shortlist import Shortlist
from paretodepth.scoring.advice import criteria_advice, fronts_advice
from paretodepth.scoring.calibration import (
    CALIBRATIONS,
    Calibration,
    check_alpha,
    check_threshold,
    kept_rows,
    largest_nominal_score,
)
from paretodepth.scoring.measures import Measurer, Measures, joined, usual_sizes
from paretodepth.scoring.methods import MEASURES, METHODS, Measure, MethodName

SHORTLIST_ROWS = 512
"""Samples whose nearest are sought by trees in one go."""
N_PROFILED = 200
"""Training samples, spread evenly over all, whose dissimilarities tell what is ordinary at each rank."""
N_PROFILED_VALUES = 2**22
"""Dissimilarities that these have in each criterion, unless there are fewer than `MIN_PROFILED` of them."""
MIN_PROFILED = 25
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


@dataclass(frozen=True)
class Model:
    """All that a fit finds, which a file can carry.

    Attributes
    ----------
    criteria : FittedCriteria
    training : list of ndarray
        What each criterion sees of the training samples that make the fronts.
    rows : ndarray of shape (n_training,)
        Which of the samples given to fit these are: all, or those that a split does not hold out.
    measurer : Measurer
        With the fronts and the numbers of neighbors.
    calibration : Calibration
    method : {"depth", "criteria", "union"}
        What scores and labels follow.
    threshold : float
        The score above which a sample is an anomaly.
    alpha : float or None
        The false-alarm rate, if it has set the threshold.
    scores : ndarray of shape (n_samples,)
        Of all samples given to fit, leave-one-out; larger is stranger, NaN for those that a criterion dropped.
    profiles : ndarray of shape (n_criteria, n_training)
        The median nominal dissimilarity of each rank.
    places : ndarray of shape (n_places, n_criteria)
        Dissimilarities of nominal pairs in rising order, to place a dyad among them.
    is_exact : bool
        Whether the fronts, up to the last one kept, are those of all training dyads.
    advice : list of str
        What had better be changed.
    """

    criteria: FittedCriteria
    training: list[View]
    rows: NDArray[np.intp]
    measurer: Measurer
    calibration: Calibration
    method: MethodName
    threshold: float
    alpha: float | None
    scores: NDArray[np.float64]
    profiles: NDArray[np.float64]
    places: NDArray[np.float64]
    is_exact: bool
    advice: list[str]

    @property
    def fronts(self) -> Fronts:
        """The fronts of the training dyads."""
        return self.measurer.depths.fronts

    @property
    def dropped(self) -> NDArray[np.intp]:
        """Which of the samples given to fit were left out for want of a value."""
        return np.flatnonzero(np.isnan(self.scores))

    def seen(self, X: Any, *, caller: str, first_row: int = 0, missing: Missing | None = None) -> Seen:
        """Return what the criteria see of new samples, as `FittedCriteria.seen`."""
        seen = self.criteria.seen(X, caller=caller, first_row=first_row, missing=missing)
        if len(self.rows) == len(self.scores) or not len(seen.rows):
            return seen
        return replace(seen, views=self.criteria.rows_of_views(seen.views, slice(None), self.rows))

    def seen_scores(
        self, seen: Seen, *, n_jobs: int | None, method: MethodName | None = None, first_row: int = 0
    ) -> NDArray[np.float64]:
        """Return the scores of new samples as `new_scores`, NaN for those that criteria dropped."""
        if not len(seen.rows):
            return np.full(seen.n_samples, np.nan)
        return seen.spread(self.new_scores(seen.views, n_jobs=n_jobs, method=method, first_row=first_row))

    def new_scores(
        self, views: Views, *, n_jobs: int | None, method: MethodName | None = None, first_row: int = 0
    ) -> NDArray[np.float64]:
        """Return the scores of new samples under a method, by default the fit's; larger is stranger."""
        chosen = method or self.method
        measures = self.new_measures(views, METHODS[chosen].measures, n_jobs=n_jobs, first_row=first_row)
        return self.calibration.score(measures, chosen)

    def p_values(self, scores: NDArray[np.float64], method: MethodName | None = None) -> NDArray[np.float64]:
        """Return the p-values of scores under a method, by default the fit's."""
        return self.calibration.p_values(scores, method or self.method)

    def new_measures(
        self, views: Views, needed: Collection[Measure], *, n_jobs: int | None, first_row: int = 0
    ) -> Measures:
        """Return what is needed of new samples, whose nearest trees find where that is faster."""
        if self._by_trees["balanced_sum" in needed]:
            return self.measures_by_trees(views, needed, n_jobs=n_jobs, first_row=first_row)
        measure = partial(self.measurer.of, needed=needed)
        return joined(self.map_new(measure, views, n_jobs=n_jobs, first_row=first_row))

    def measures_by_trees(
        self,
        views: Views,
        needed: Collection[Measure],
        *,
        n_jobs: int | None,
        first_row: int = 0,
        n_rows: int = SHORTLIST_ROWS,
    ) -> Measures:
        """Return what is needed of new samples, whose nearest trees find, of `n_rows` samples at a time."""
        measure = partial(self.measurer.of, needed=needed)
        with_sum = "balanced_sum" in needed

        def of_rows(rows: slice) -> Measures:
            new = [view[rows] for view in views]
            _, block, is_sure = self.shortlist.block(new, with_sum=with_sum, first_row=first_row + rows.start)
            found = measure(block)
            if not is_sure.all():
                # The trees' certificate: these may have nearer samples than were found, so all are looked at.
                exact = joined(self.map_new(measure, [view[~is_sure] for view in new], n_jobs=n_jobs))
                for name, values in found.items():
                    values[~is_sure] = exact[name]
            return found

        return joined(map_blocks(of_rows, list(gen_batches(len(views[0]), n_rows)), n_jobs))

    def new_dyads(self, views: Views, *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of new samples with those they are joined to, shape (n_samples, s, n_criteria)."""
        return np.concatenate(self.map_new(self._joined_dyads, views, n_jobs=n_jobs))

    def seen_dyads(self, seen: Seen, *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of new samples as `new_dyads`, NaN for those that criteria dropped."""
        if not len(seen.rows):
            return np.full((seen.n_samples, int(self.measurer.n_neighbors.sum()), len(self.training)), np.nan)
        return seen.spread(self.new_dyads(seen.views, n_jobs=n_jobs))

    def left_out_dyads(self, rows: NDArray[np.intp], *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of some training samples with the others they are joined to, as `new_dyads`."""
        return np.concatenate(self.map_left_out(self._joined_dyads, rows, n_jobs=n_jobs))

    def _joined_dyads(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        return nearest_dyads(block, self.measurer.n_neighbors)[1]

    def map_new(
        self,
        function: Callable[[NDArray[np.float64]], Result],
        views: Views,
        *,
        n_jobs: int | None,
        first_row: int = 0,
    ) -> list[Result]:
        """Return the function's results for blocks of dissimilarities of new samples to the training samples."""
        n_values = self.measurer.values_per_row(len(self.rows))
        return map_new_blocks(function, self.criteria.fitted, views, self.training, n_values, n_jobs, first_row)

    def map_left_out(
        self, function: Callable[[NDArray[np.float64]], Result], rows: NDArray[np.intp], *, n_jobs: int | None
    ) -> list[Result]:
        """Return the function's results for blocks of some training samples, each infinitely far from itself."""
        pairs = ComputedPairs(self.criteria.fitted, self.training, 1)
        places = np.searchsorted(self.rows, rows)

        def of_part(part: slice) -> Result:
            return function(np.concatenate([pairs.block(slice(place, place + 1)) for place in places[part]], axis=1))

        return map_blocks(of_part, row_blocks(len(rows), self.measurer.values_per_row(len(self.rows))), n_jobs)

    @cached_property
    def _by_trees(self) -> dict[bool, bool]:
        """Whether trees find the nearest faster, without and with the sum of all criteria; asked for every call."""
        return {with_sum: self.shortlist.is_worthwhile(with_sum=with_sum) for with_sum in (False, True)}

    @cached_property
    def shortlist(self) -> Shortlist:
        """Few training samples that are sure to hold the nearest of a sample."""
        return Shortlist(self.criteria.fitted, self.training, self.measurer.n_summed, self.measurer.weights)


def fitted_model(
    criteria: object,
    X: Any,
    settings: Settings,
    pairs_of: Callable[[Criteria, Views, int | None], Pairs],
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
    fitted, seen = FittedCriteria.fit(criteria, X, caller=caller, rows_of=rows_of)
    views, n_samples = seen.views, len(seen.rows)
    kept = rows_of(n_samples)
    rows = seen.rows[kept]
    held_out = np.delete(np.arange(n_samples), kept)
    threshold = check_threshold(settings.threshold, caller)
    alpha = None if threshold is not None else check_alpha(settings.alpha, len(held_out) or n_samples, caller)
    given_n_neighbors(settings.n_neighbors, fitted.names, len(rows), caller)
    training = fitted.rows_of_views(views, kept, kept)
    found = _found(pairs_of(fitted.fitted, training, settings.n_jobs), fitted, settings, caller)
    calibrating = found.measures
    if len(held_out):
        measure = partial(found.measurer.of, needed=MEASURES)
        n_values = found.measurer.values_per_row(len(rows))
        new = fitted.rows_of_views(views, held_out, kept)
        calibrating = joined(map_new_blocks(measure, fitted.fitted, new, training, n_values, settings.n_jobs))
    calibration = Calibration.fit(found.measures, calibrating)
    scores = np.full(seen.n_samples, np.nan)
    scores[rows] = calibration.score(found.measures, settings.method)
    if len(held_out):
        scores[seen.rows[held_out]] = calibration.score(calibrating, settings.method)
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
        places=np.sort(found.dyads[:: -(-len(found.dyads) // N_PLACES)], axis=0),
        is_exact=found.n_dyads == found.pairs.n_pairs,
        advice=found.advice,
    )


class _Found(NamedTuple):
    """What the pairs of training samples tell.

    Attributes
    ----------
    pairs : Pairs
    dyads : ndarray of shape (n_some_dyads, n_criteria)
        Of all pairs or of some, to tell what is usual.
    n_dyads : int
        How many dyads the fronts are made of.
    measurer : Measurer
    measures : Measures
        Of the training samples, each left out in turn.
    advice : list of str
    """

    pairs: Pairs
    dyads: NDArray[np.float64]
    n_dyads: int
    measurer: Measurer
    measures: Measures
    advice: list[str]


def _found(pairs: Pairs, criteria: FittedCriteria, settings: Settings, caller: str) -> _Found:
    """Return what the pairs of training samples tell: neighbors, fronts, and the samples' own measures."""
    limits = settings.limits
    limits.check(pairs.n_samples, pairs.n_criteria, caller)
    if limits.holds(pairs.n_pairs, pairs.n_criteria):
        with phase(f"dissimilarities of {pairs.n_pairs:,} pairs of samples"):
            pairs = pairs.held()
    with phase("neighbors"):
        dyads = pairs.sample()
        weights = 1 / usual_sizes(dyads)
        n_neighbors, lists = fitted_n_neighbors(settings.n_neighbors, pairs, weights, criteria.names, caller)
    n_dyads = limits.n_dyads(pairs.n_pairs)
    with phase(f"Pareto fronts of {n_dyads:,} dyads"):
        fronts = _fronts(pairs, n_neighbors, limits, settings.seed)
        measurer = Measurer.fit(Depths(fronts, settings.depth), n_neighbors, weights, pairs.n_samples)
    with phase("leave-one-out scores"):
        measures = measurer.of_training(pairs, lists)
    with phase("advice"):
        advice = criteria_advice(criteria.fitted, dyads, len(fronts), n_dyads)
        advice += fronts_advice(pairs, fronts, n_dyads, n_neighbors)
    return _Found(pairs, dyads, n_dyads, measurer, measures, advice)


def _fronts(pairs: Pairs, n_neighbors: NDArray[np.intp], limits: Limits, seed: int) -> Fronts:
    """Return the fronts that the limits ask for."""
    n_dyads, max_depth = limits.n_dyads(pairs.n_pairs), limits.max_depth
    if n_dyads < pairs.n_pairs:
        # They are few enough to be sorted whole, so nothing need be capped unless a depth is given.
        return drawn_fronts(pairs, n_dyads, None if max_depth == "auto" else max_depth, seed=seed)
    if max_depth == "auto":
        max_kept = min(MAX_KEPT, limits.n_bytes // KEPT_BYTES)
        max_depth = auto_max_depth(pairs, n_neighbors, max_kept=max_kept)
    if max_depth is not None:
        return capped_fronts(pairs, max_depth)
    return Fronts.from_dyads(HeldPairs.of(pairs).dyads, n_jobs=pairs.n_jobs)


def rank_profiles(pairs: Pairs) -> NDArray[np.float64]:
    """Return the median dissimilarity of each rank, shape (n_criteria, n_samples)."""
    n_rows = max(MIN_PROFILED, min(N_PROFILED, N_PROFILED_VALUES // pairs.n_samples))
    # The last of each row is its infinite distance from itself.
    blocks = [
        np.sort(pairs.block(slice(row, row + 1)), axis=2)[:, :, :-1] for row in spread_rows(pairs.n_samples, n_rows)
    ]
    profiles = np.median(np.concatenate(blocks, axis=1), axis=1)
    # A new sample has one more training sample to be compared with.
    return np.concatenate([profiles, profiles[:, -1:]], axis=1)
