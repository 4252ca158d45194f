"""What a fit finds: all that is needed to score samples, to say how sure that is, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from paretodepth._blocks import Result, map_blocks, row_blocks
from paretodepth.criteria.criterion import Missing
from paretodepth.criteria.encoding import EncodedSamples
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.values import Column
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.nearest import map_new_blocks, nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, Encodings, HeldPairs
from paretodepth.pairs.shortlist import Shortlist
from paretodepth.scoring.calibration import Calibration
from paretodepth.scoring.measures import Measurer, Measures, joined
from paretodepth.scoring.methods import METHODS, Measure, MethodName

MAX_COMPARED = 2**15
"""Dissimilarities in a criterion up to which they are all computed: to ask for less takes as long."""
SHORTLIST_ROWS = 2048
"""Samples, at most, whose nearest are sought by trees in one go: depths of many are found faster than of few."""


@dataclass(frozen=True)
class Model:
    """All that a fit finds, which a file can carry.

    Attributes
    ----------
    criteria : FittedCriteria
    training : list of ndarray
        What each criterion sees of the training samples that make the fronts.
    columns : dict of int to ndarray
        The same samples as they came: the columns that criteria read, by index, without matrices.
    rows : ndarray of shape (n_training,)
        Which of the samples given to fit these are: all, or those that a split does not hold out.
    held_out : ndarray of int
        Which of them a split holds out.
    measurer : Measurer
        With the fronts and the numbers of neighbors.
    measures : Measures
        Of the training samples, each left out in turn.
    held_out_measures : Measures
        Of those that a split holds out; empty if there are none.
    calibration : Calibration
        With the method.
    threshold : float
        The score above which a sample is an anomaly.
    alpha : float or None
        The false-alarm rate, if it has set the threshold.
    scores : ndarray of shape (n_samples,)
        Of all samples given to fit, leave-one-out; larger is more unusual, NaN for those that a criterion dropped.
    profiles : ndarray of shape (n_criteria, n_training)
        The median nominal dissimilarity of each rank.
    dyad_quantiles : ndarray of shape (n_quantiles, n_criteria)
        Dissimilarities of nominal pairs in rising order, to rank a dyad among them.
    is_exact : bool
        Whether the fronts, up to the last one asked for, are those of all training dyads.
    advice : list of str
        Warnings about the criteria and the fronts.
    """

    criteria: FittedCriteria
    training: list[Encoding]
    columns: dict[int, Column]
    rows: NDArray[np.intp]
    held_out: NDArray[np.intp]
    measurer: Measurer
    measures: Measures
    held_out_measures: Measures
    calibration: Calibration
    threshold: float
    alpha: float | None
    scores: NDArray[np.float64]
    profiles: NDArray[np.float64]
    dyad_quantiles: NDArray[np.float64]
    is_exact: bool
    advice: list[str]

    def __repr__(self) -> str:
        n_criteria = len(self.criteria.fitted)
        return f"<Model: method={self.method!r} fitted on {len(self.scores):,} samples under {n_criteria} criteria>"

    @property
    def method(self) -> MethodName:
        """The method that scores and labels follow."""
        return self.calibration.method

    @property
    def fronts(self) -> Fronts | PairFronts:
        """The fronts of the training dyads, or those of pairs of criteria."""
        return self.measurer.fronts

    @property
    def n_fronts(self) -> int:
        """The number of fronts, of all pairs of criteria together."""
        return self.measurer.n_fronts

    @property
    def dropped(self) -> NDArray[np.intp]:
        """Which of the samples given to fit were left out for want of a value."""
        return np.flatnonzero(np.isnan(self.scores))

    def encode(self, X: Any, *, caller: str, first_row: int = 0, missing: Missing | None = None) -> EncodedSamples:
        """Return new samples as each metric encodes them, as `FittedCriteria.encode`."""
        encoded = self.criteria.encode(X, caller=caller, first_row=first_row, missing=missing)
        if len(self.rows) == len(self.scores) or not len(encoded.rows):
            return encoded
        return replace(encoded, encodings=self.criteria.encoded_rows(encoded.encodings, slice(None), self.rows))

    def encoded_scores(self, encoded: EncodedSamples, *, n_jobs: int | None, first_row: int = 0) -> NDArray[np.float64]:
        """Return the scores of new samples as `new_scores`, NaN for those that criteria dropped."""
        if not len(encoded.rows):
            return np.full(encoded.n_samples, np.nan)
        return encoded.with_nan_for_dropped(self.new_scores(encoded.encodings, n_jobs=n_jobs, first_row=first_row))

    def new_scores(self, encodings: Encodings, *, n_jobs: int | None, first_row: int = 0) -> NDArray[np.float64]:
        """Return the scores of new samples; larger is more unusual."""
        needed = METHODS[self.method].measures
        return self.calibration.score(self.new_measures(encodings, needed, n_jobs=n_jobs, first_row=first_row))

    def new_measures(
        self, encodings: Encodings, needed: Collection[Measure], *, n_jobs: int | None, first_row: int = 0
    ) -> Measures:
        """Return what is needed of new samples, whose nearest trees find where that is faster."""
        n_dissimilarities = len(encodings[0]) * len(self.rows)
        if n_dissimilarities > MAX_COMPARED and self._is_by_trees(with_sum=needs_sum(needed)):
            return self.measures_by_trees(encodings, needed, n_jobs=n_jobs, first_row=first_row)
        measure = partial(self.measurer.of, needed=needed)
        return joined(self.map_new(measure, encodings, n_jobs=n_jobs, first_row=first_row))

    def measures_by_trees(
        self,
        encodings: Encodings,
        needed: Collection[Measure],
        *,
        n_jobs: int | None,
        first_row: int = 0,
        n_rows: int = SHORTLIST_ROWS,
    ) -> Measures:
        """Return what is needed of new samples, whose nearest trees find, of at most `n_rows` samples at a time."""
        measure = partial(self.measurer.of, needed=needed)
        with_sum = needs_sum(needed)
        n_rows = min(n_rows, -(-len(encodings[0]) // effective_n_jobs(n_jobs)))
        n_values = len(self.training) * self.shortlist.n_candidates(with_sum=with_sum)

        def of_rows(rows: slice) -> Measures:
            new = [encoding[rows] for encoding in encodings]
            candidates, block, is_sure = self.shortlist.block(new, with_sum=with_sum, first_row=first_row + rows.start)
            found = measure(block, numbers=candidates)
            if not is_sure.all():
                # The trees' certificate: these may have nearer samples than were found, so all are looked at.
                exact = joined(self.map_new(measure, [encoding[~is_sure] for encoding in new], n_jobs=n_jobs))
                for name, values in found.items():
                    values[~is_sure] = exact[name]
            return found

        return joined(map_blocks(of_rows, row_blocks(len(encodings[0]), n_values, n_rows), n_jobs))

    def new_dyads(self, encodings: Encodings, *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of new samples with those they are joined to, shape (n_samples, s, n_criteria)."""
        return np.concatenate(self.map_new(self._joined_dyads, encodings, n_jobs=n_jobs))

    def encoded_dyads(self, encoded: EncodedSamples, *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of new samples as `new_dyads`, NaN for those that criteria dropped."""
        if not len(encoded.rows):
            return np.full((encoded.n_samples, int(self.measurer.n_neighbors.sum()), len(self.training)), np.nan)
        return encoded.with_nan_for_dropped(self.new_dyads(encoded.encodings, n_jobs=n_jobs))

    def left_out_dyads(self, rows: NDArray[np.intp], *, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the dyads of some training samples with the others they are joined to, as `new_dyads`."""
        return np.concatenate(self.map_left_out(self._joined_dyads, rows, n_jobs=n_jobs))

    def some_dyads(self, n_samples: int) -> NDArray[np.float64]:
        """Return the dyads of `n_samples` random training samples among themselves, always the same."""
        pairs = ComputedPairs(self.criteria.fitted, self.training, 1)
        return HeldPairs.of(pairs.random_subset(n_samples, 0)).dyads

    def _joined_dyads(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        return nearest_dyads(block, self.measurer.n_neighbors)[1]

    def map_new(
        self,
        function: Callable[[NDArray[np.float64]], Result],
        encodings: Encodings,
        *,
        n_jobs: int | None,
        first_row: int = 0,
    ) -> list[Result]:
        """Return the function's results for blocks of dissimilarities of new samples to the training samples."""
        n_values = self.measurer.values_per_row(len(self.rows))
        return map_new_blocks(function, self.criteria.fitted, encodings, self.training, n_values, n_jobs, first_row)

    def map_left_out(
        self, function: Callable[[NDArray[np.float64]], Result], rows: NDArray[np.intp], *, n_jobs: int | None
    ) -> list[Result]:
        """Return the function's results for blocks of some training samples, each infinitely far from itself."""
        pairs = ComputedPairs(self.criteria.fitted, self.training, 1)
        positions = np.searchsorted(self.rows, rows)

        def of_part(part: slice) -> Result:
            return function(np.concatenate([pairs.block(slice(row, row + 1)) for row in positions[part]], axis=1))

        return map_blocks(of_part, row_blocks(len(rows), self.measurer.values_per_row(len(self.rows))), n_jobs)

    def _is_by_trees(self, *, with_sum: bool) -> bool:
        """Tell whether trees find the nearest faster, without or with the sum of all criteria; looked at once."""
        if with_sum not in self._by_trees:
            is_worthwhile = self.shortlist.is_worthwhile(with_sum=with_sum)
            self._by_trees[with_sum] = is_worthwhile and self.shortlist.is_mostly_sure(with_sum=with_sum)
        return self._by_trees[with_sum]

    @cached_property
    def _by_trees(self) -> dict[bool, bool]:
        """What `_is_by_trees` has found."""
        return {}

    @cached_property
    def shortlist(self) -> Shortlist:
        """Few training samples that are sure to hold the nearest of a sample."""
        return Shortlist(self.criteria.fitted, self.training, self.measurer.n_summed, self.measurer.weights)


def needs_sum(needed: Collection[Measure]) -> bool:
    """Tell whether measures need the nearest under the sum of all criteria."""
    return "balanced_sum" in needed or "balanced_mean" in needed
