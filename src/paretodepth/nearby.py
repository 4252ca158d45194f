"""Few training samples that are sure to hold the nearest of a new sample, found by trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.utils import gen_batches

from paretodepth.blocks import map_blocks
from paretodepth.dyads import map_new_blocks
from paretodepth.pairs import Criteria, Views
from paretodepth.statistics import Statistics, joined

ORDERS = {"cityblock": 1.0, "difference": 1.0, "euclidean": 2.0, "chebyshev": np.inf}
"""The order of the norm of metrics that trees know."""
MANY_SAMPLES = 5000
"""Training samples from which on a tree is faster than all dissimilarities."""
MAX_COLUMNS = 6
"""Columns of a criterion up to which it is."""
N_MORE = 4
"""Samples beyond the nearest that a tree is asked for, to see that none is left out."""
ROUNDING = 1e-9
"""Relative error of a tree's distances, which may be summed in another order; far more than there is."""
N_ROWS = 512
N_TOGETHER = 16
"""New samples whose dissimilarities are computed in one call, to all their candidates: a call costs more than these."""


@dataclass(frozen=True)
class Nearby:
    """Finds the nearest training samples of new ones.

    Attributes
    ----------
    criteria : sequence of FittedCriterion
    training : sequence of ndarray
        What each criterion sees of the training samples.
    n_nearest : ndarray of shape (n_criteria,)
        How many are needed in each criterion.
    """

    criteria: Criteria
    training: Views
    n_nearest: NDArray[np.intp]

    @property
    def is_worthwhile(self) -> bool:
        """Whether there are many samples, and trees for all criteria."""
        return len(self.training[0]) >= MANY_SAMPLES and all(
            criterion.metric in ORDERS and criterion.criterion.missing == "error" and view.shape[1] <= MAX_COLUMNS
            for criterion, view in zip(self.criteria, self.training, strict=True)
        )

    def measured(
        self, measure: Callable[[NDArray[np.float64]], Statistics], views: Views, n_jobs: int | None
    ) -> list[Statistics]:
        """Return what is measured of new samples, block by block.

        `measure` takes dissimilarities to the training samples, (n_criteria, n_rows, n_columns),
        and depends on the nearest in each criterion alone, so that it may be given fewer columns.
        """
        starts = range(0, len(views[0]), N_ROWS)
        of_rows = partial(self._measured, measure, n_jobs)
        return map_blocks(of_rows, [[view[start : start + N_ROWS] for view in views] for start in starts], n_jobs)

    def _measured(
        self, measure: Callable[[NDArray[np.float64]], Statistics], n_jobs: int | None, views: Views
    ) -> Statistics:
        candidates, distances = self._candidates(views)
        block = self._block(views, candidates)
        found = measure(block)
        unsure = np.flatnonzero(~self._is_sure(block, distances))
        if len(unsure):
            asked = [view[unsure] for view in views]
            exact = joined(map_new_blocks(measure, self.criteria, asked, self.training, n_jobs))
            found = Statistics(*map(np.copy, found))
            for part, exact_part in zip(found, exact, strict=True):
                part[unsure] = exact_part
        return found

    @cached_property
    def _trees(self) -> list[KDTree]:
        return [KDTree(view) for view in self.training]

    def _candidates(self, views: Views) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return training samples near each new one in some criterion, rising, and the farthest distance in each."""
        found, farthest = [], []
        for tree, criterion, view, k in zip(self._trees, self.criteria, views, self.n_nearest, strict=True):
            distances, neighbors = tree.query(view, k=int(k) + N_MORE, p=ORDERS[str(criterion.metric)])
            found.append(neighbors)
            farthest.append(distances[:, -1])
        return np.sort(np.concatenate(found, axis=1), axis=1), np.array(farthest)

    def _block(self, views: Views, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the dissimilarities to the candidates; one that a row has twice is infinitely far the second time."""
        block = np.empty((len(self.criteria), *candidates.shape))
        for part, criterion, view, training in zip(block, self.criteria, views, self.training, strict=True):
            for rows in gen_batches(len(candidates), N_TOGETHER):
                nearby = candidates[rows]
                together = criterion.dissimilarities(view[rows], training[nearby.ravel()], (0, 0), 1)
                own = np.arange(len(nearby))
                part[rows] = together.reshape(len(nearby), *nearby.shape)[own, own]
        block[:, :, 1:][:, candidates[:, 1:] == candidates[:, :-1]] = np.inf
        return block

    def _is_sure(self, block: NDArray[np.float64], farthest: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell whether what is not among the candidates is farther than the nearest that are needed."""
        needed = [np.partition(part, k - 1, axis=1)[:, k - 1] for part, k in zip(block, self.n_nearest, strict=True)]
        return np.asarray(np.all(farthest * (1 - ROUNDING) > np.array(needed), axis=0))
