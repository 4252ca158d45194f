"""Few training samples that are sure to hold the nearest of a sample, found by trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.utils import gen_batches

from paretodepth.criteria.fitted import FittedCriterion
from paretodepth.pairs.pairs import Criteria, Views

ORDERS = {"cityblock": 1.0, "difference": 1.0, "euclidean": 2.0, "scaled": 2.0, "chebyshev": np.inf}
"""The order of the norm of metrics that trees know."""
MIN_TREE_SAMPLES = 5000
"""Training samples from which on trees are faster than all dissimilarities."""
MAX_TREE_COLUMNS = 6
"""Columns of a criterion up to which they are."""
MAX_SHORT_SHARE = 0.05
"""Share of the training samples that may have to be looked at."""
N_MORE = 4
"""Samples beyond the nearest that a tree is asked for, to see that none is left out."""
TREE_ERROR = 1e-9
"""Relative error of a tree's distances, which may be summed in another order; far more than there is."""
N_TOGETHER = 16
"""Samples whose dissimilarities are computed in one call, to all their candidates: a call costs more than these."""


class ShortBlock(NamedTuple):
    """The nearest of some samples, and a few others.

    Attributes
    ----------
    candidates : ndarray of shape (n_rows, n_candidates)
        Training samples in rising order, of which one may be there twice.
    block : ndarray of shape (n_criteria, n_rows, n_candidates)
        The dissimilarities to them, infinite the second time.
    is_sure : ndarray of shape (n_rows,)
        Whether the nearest are among them for sure.
    """

    candidates: NDArray[np.intp]
    block: NDArray[np.float64]
    is_sure: NDArray[np.bool_]


@dataclass(frozen=True)
class Shortlist:
    """Finds the nearest training samples in each criterion, and under the weighted sum of all.

    Attributes
    ----------
    criteria : sequence of FittedCriterion
    training : sequence of ndarray
        What each criterion sees of the training samples.
    n_nearest : ndarray of shape (n_criteria,)
        How many are needed in each criterion; under the sum, the most of these.
    weights : ndarray of shape (n_criteria,)
        Of the criteria in the sum.
    """

    criteria: Criteria
    training: Views
    n_nearest: NDArray[np.intp]
    weights: NDArray[np.float64]

    def is_worthwhile(
        self, *, with_sum: bool, min_samples: int = MIN_TREE_SAMPLES, max_share: float = MAX_SHORT_SHARE
    ) -> bool:
        """Tell whether there are at least `min_samples`, and trees for what is sought that name few of them."""
        n_samples = len(self.training[0])
        if n_samples < min_samples or not all(
            _order(criterion) is not None
            and criterion.criterion.missing != "ignore"
            and view.shape[1] <= MAX_TREE_COLUMNS
            for criterion, view in zip(self.criteria, self.training, strict=True)
        ):
            return False
        n_looked_at = self._n_nearest_joint if with_sum else int(self.n_nearest.max())
        return n_looked_at < max_share * n_samples

    def block(self, views: Views, *, with_sum: bool, first_row: int = 0) -> ShortBlock:
        """Return the nearest of some samples in each criterion and, if asked for, under the sum.

        `first_row` numbers the first sample in messages.
        """
        # The trees only name candidates. What is compared in the end are the criteria's own dissimilarities, so that
        # no bit depends on whether trees were used.
        found, farthest = [], []
        for tree, order, view, k in zip(self._trees, self._orders, views, self.n_nearest, strict=True):
            distances, neighbors = tree.query(view, k=int(k) + N_MORE, p=order)
            found.append(neighbors)
            farthest.append(distances[:, -1])
        if with_sum:
            joint = self._joint(views)
            distances, neighbors = self._joint_tree.query(joint, k=self._n_nearest_joint + N_MORE, p=max(self._orders))
            found.append(neighbors)
        # A tree gives the number of samples for one that is infinitely far.
        candidates = np.minimum(np.sort(np.concatenate(found, axis=1), axis=1), len(self.training[0]) - 1)
        block = self._dissimilarities(views, candidates, first_row)
        is_sure = np.ones(len(candidates), bool)
        for part, k, distance in zip(block, self.n_nearest, farthest, strict=True):
            is_sure &= _is_beyond(distance, part, k)
        if with_sum:
            # Added up in any order, as they only serve the certificate, whose margin is far wider than rounding.
            sums = np.tensordot(self.weights, block, axes=1)
            is_sure &= _is_beyond(distances[:, -1], sums, self.n_nearest.max())
        return ShortBlock(candidates, block, is_sure)

    @property
    def _orders(self) -> list[float]:
        return [_order(criterion) or 0.0 for criterion in self.criteria]

    @cached_property
    def _trees(self) -> list[KDTree]:
        return [KDTree(view) for view in self.training]

    @cached_property
    def _joint_tree(self) -> KDTree:
        return KDTree(self._joint(self.training))

    def _joint(self, views: Views) -> NDArray[np.float64]:
        """Return all columns, weighted: their norm of the highest order is at most the sum of the criteria."""
        return np.column_stack([weight * view for weight, view in zip(self.weights, views, strict=True)])

    @property
    def _n_nearest_joint(self) -> int:
        """How many of the nearest by that norm should hold the nearest by the sum: it is up to so many times larger."""
        n_columns = sum(view.shape[1] for view in self.training)
        exponent = {1.0: 0.0, 2.0: n_columns / 2, np.inf: n_columns}[max(self._orders)]
        n_nearest: int = math.ceil(self.n_nearest.max() * len(self.criteria) ** exponent)
        return n_nearest

    def _dissimilarities(self, views: Views, candidates: NDArray[np.intp], first_row: int) -> NDArray[np.float64]:
        """Return the dissimilarities to the candidates; one that a row has twice is infinitely far the second time."""
        block = np.empty((len(self.criteria), *candidates.shape))
        for part, criterion, view, training in zip(block, self.criteria, views, self.training, strict=True):
            for rows in gen_batches(len(candidates), N_TOGETHER):
                near = candidates[rows]
                origin = (first_row + rows.start, near.ravel())
                together = criterion.dissimilarities(view[rows], training[near.ravel()], origin, 1)
                own = np.arange(len(near))
                part[rows] = together.reshape(len(near), *near.shape)[own, own]
        block[:, :, 1:][:, candidates[:, 1:] == candidates[:, :-1]] = np.inf
        return block


def _order(criterion: FittedCriterion) -> float | None:
    """Return the order of the norm by which a criterion compares what it sees, None if it is no norm."""
    # A function may have no hash; categories under "scaled" are no numbers.
    if not isinstance(criterion.metric, str) or any(criterion.state.get("rarities") or ()):
        return None
    return ORDERS.get(criterion.metric)


def _is_beyond(farthest: NDArray[np.float64], distances: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Tell whether what a tree has not named is farther than the k nearest it has.

    That is the certificate: a sample without a name is at least as far as the farthest with
    one. It must be farther, as ties are told apart by criteria that the tree does not know.
    """
    needed = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return np.asarray((farthest < np.inf) & (farthest * (1 - TREE_ERROR) > needed))
