"""A few training samples that are sure to contain the nearest of a sample, found by trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.utils import gen_batches

from paretodepth._blocks import stride
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.criteria.values import check_comparable
from paretodepth.pairs.pairs import Criteria, Encodings

ORDERS = {"cityblock": 1.0, "difference": 1.0, "euclidean": 2.0, "scaled": 2.0, "chebyshev": np.inf}
"""The order of the norm of metrics that trees know."""
DIFFERENCES = ("cityblock", "difference")
"""Metrics that of one column are the absolute difference, to the last bit."""
MIN_TREE_SAMPLES = 400
"""Fewest training samples for which trees are faster than all dissimilarities."""
MAX_TREE_COLUMNS = 6
"""Most columns of a criterion for which they are."""
MAX_SHORT_SHARE = 0.05
"""Largest share of the training samples that may be candidates."""
MIN_SURE_SHARE = 0.5
"""Share of the samples that must not be compared with all training samples after all."""
N_TRIED = 64
"""Training samples that are tried."""
N_MORE = 4
"""Samples beyond the nearest that a tree returns, to prove that none is left out."""
TREE_ERROR = 1e-9
"""Relative error of a tree's distances, which may be summed in another order; far more than there is."""
N_TOGETHER = 16
"""Samples whose dissimilarities are computed in one call, to all their candidates: a call costs more than these."""


class ShortBlock(NamedTuple):
    """The nearest of some samples, and a few others.

    `candidates` are training samples in ascending order, shape (n_rows, n_candidates), of which one may occur twice;
    `block` holds the dissimilarities to them, shape (n_criteria, n_rows, n_candidates), infinite the second time;
    `is_sure` says of each row whether the nearest are certainly among them.
    """

    candidates: NDArray[np.intp]
    block: NDArray[np.float64]
    is_sure: NDArray[np.bool_]


@dataclass(frozen=True)
class Shortlist:
    """Finds the nearest training samples, given as encoded: `n_nearest` in each criterion, and under the weighted sum.

    Under the sum the largest of these numbers is needed.
    """

    criteria: Criteria
    training: Encodings
    n_nearest: NDArray[np.intp]
    weights: NDArray[np.float64]

    def is_worthwhile(
        self, *, with_sum: bool, min_samples: int = MIN_TREE_SAMPLES, max_share: float = MAX_SHORT_SHARE
    ) -> bool:
        """Return whether there are at least `min_samples`, and trees that name few of them as candidates."""
        n_samples = len(self.training[0])
        if n_samples < min_samples or not all(
            _order(criterion) is not None
            and criterion.criterion.missing != "ignore"
            and encoding.shape[1] <= MAX_TREE_COLUMNS
            for criterion, encoding in zip(self.criteria, self.training, strict=True)
        ):
            return False
        n_looked_at = self._n_nearest_joint if with_sum else int(self.n_nearest.max())
        return n_looked_at < max_share * n_samples

    def n_candidates(self, *, with_sum: bool) -> int:
        """Return how many training samples a block names for each sample."""
        n_found = int((self.n_nearest + N_MORE).sum())
        return n_found + self._n_nearest_joint + N_MORE if with_sum else n_found

    def is_mostly_sure(self, *, with_sum: bool) -> bool:
        """Return whether the nearest of some training samples are mostly found: among tied values they are not."""
        some = [encoding[stride(len(encoding), N_TRIED)] for encoding in self.training]
        return bool(self.block(some, with_sum=with_sum).is_sure.mean() >= MIN_SURE_SHARE)

    def block(self, encodings: Encodings, *, with_sum: bool, first_row: int = 0) -> ShortBlock:
        """Return the nearest of some samples in each criterion and `with_sum`; `first_row` numbers them in messages."""
        # The trees only name candidates. What is compared in the end are the criteria's own dissimilarities, so that
        # no bit depends on whether trees were used.
        for criterion, encoding, training in zip(self.criteria, encodings, self.training, strict=True):
            check_comparable(encoding, training, criterion.name)
        found, farthest = [], []
        for tree, order, encoding, k in zip(self._trees, self._orders, encodings, self.n_nearest, strict=True):
            distances, neighbors = tree.query(encoding, k=int(k) + N_MORE, p=order)
            found.append(neighbors)
            farthest.append(distances[:, -1])
        if with_sum:
            joint = self._joint(encodings)
            distances, neighbors = self._joint_tree.query(joint, k=self._n_nearest_joint + N_MORE, p=max(self._orders))
            found.append(neighbors)
        # A tree gives the number of samples for one that is infinitely far.
        candidates = np.minimum(np.sort(np.concatenate(found, axis=1), axis=1), len(self.training[0]) - 1)
        block = self._dissimilarities(encodings, candidates, first_row)
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
    def _trees(self) -> list[KDTree | _SortedColumn]:
        return [
            KDTree(encoding) if encoding.shape[1] > 1 else _SortedColumn.of(encoding[:, 0])
            for encoding in self.training
        ]

    @cached_property
    def _joint_tree(self) -> KDTree:
        return KDTree(self._joint(self.training))

    def _joint(self, encodings: Encodings) -> NDArray[np.float64]:
        """Return all columns, weighted: their norm of the highest order is at most the sum of the criteria."""
        return np.column_stack([weight * encoding for weight, encoding in zip(self.weights, encodings, strict=True)])

    @property
    def _n_nearest_joint(self) -> int:
        """Number of the nearest by that norm that should hold the nearest by the sum, at most all training samples."""
        n_samples, n_columns = len(self.training[0]), sum(encoding.shape[1] for encoding in self.training)
        n_nearest, n_criteria = int(self.n_nearest.max()), len(self.criteria)
        exponent = {1.0: 0.0, 2.0: n_columns / 2, np.inf: n_columns}[max(self._orders)]
        # Compared as logarithms: the power of many columns is beyond integers and floats.
        if math.log(n_nearest) + exponent * math.log(n_criteria) >= math.log(n_samples):
            return n_samples
        return math.ceil(n_nearest * math.pow(n_criteria, exponent))

    def _dissimilarities(
        self, encodings: Encodings, candidates: NDArray[np.intp], first_row: int
    ) -> NDArray[np.float64]:
        """Return the dissimilarities to the candidates; one that a row has twice is infinitely far the second time."""
        block = np.empty((len(self.criteria), *candidates.shape))
        for part, criterion, encoding, training in zip(block, self.criteria, encodings, self.training, strict=True):
            if _is_difference(criterion, training):
                with np.errstate(over="ignore"):
                    np.abs(np.subtract(training[:, 0][candidates], encoding, out=part), out=part)
                if np.isfinite(part).all():
                    continue
            for rows in gen_batches(len(candidates), N_TOGETHER):
                near = candidates[rows]
                origin = (first_row + rows.start, near.ravel())
                together = criterion.dissimilarities(encoding[rows], training[near.ravel()], origin, 1)
                own = np.arange(len(near))
                part[rows] = together.reshape(len(near), *near.shape)[own, own]
        block[:, :, 1:][:, candidates[:, 1:] == candidates[:, :-1]] = np.inf
        return block


class _SortedColumn(NamedTuple):
    """One column in ascending order, queried like a tree: the nearest of a number are side by side."""

    values: NDArray[np.float64]
    samples: NDArray[np.intp]

    @classmethod
    def of(cls, column: NDArray[np.float64]) -> _SortedColumn:
        """Return a column, sorted."""
        samples = np.argsort(column, kind="stable")
        return cls(column[samples], samples)

    def query(self, encoding: NDArray[np.float64], k: int, p: float) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the distances and the numbers of the k nearest of each row, the farthest last, in any norm."""
        values, asked = self.values, encoding[:, 0]
        k = min(k, len(values))
        first = np.clip(np.searchsorted(values, asked) - k, 0, len(values) - k)
        last = np.minimum(first + k, len(values) - k)
        with np.errstate(over="ignore"):
            # Where they start is bisected: further on, as long as the one after them is nearer than the first.
            for _ in range(k.bit_length()):
                middle = (first + last) >> 1
                after = values[np.minimum(middle + k, len(values) - 1)]
                is_further = (first < last) & (asked - values[middle] > after - asked)
                first, last = np.where(is_further, middle + 1, first), np.where(is_further, last, middle)
            farthest = np.maximum(np.abs(asked - values[first]), np.abs(values[first + k - 1] - asked))
        return farthest[:, None], self.samples[first[:, None] + np.arange(k)]


def _is_difference(criterion: FittedCriterion, training: NDArray[np.float64]) -> bool:
    """Return whether a criterion is the absolute difference of one number."""
    return training.shape[1:] == (1,) and isinstance(criterion.metric, str) and criterion.metric in DIFFERENCES


def _order(criterion: FittedCriterion) -> float | None:
    """Return the order of the norm by which a criterion compares encoded samples, None if it is no norm."""
    # A function may have no hash; categories under "scaled" are no numbers.
    if not isinstance(criterion.metric, str) or any(criterion.state.get("rarities") or ()):
        return None
    return ORDERS.get(criterion.metric)


def _is_beyond(farthest: NDArray[np.float64], distances: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Return whether all that a tree has not named is farther than the k nearest that it has.

    That is the certificate: other samples are at least as far as the farthest one named. They
    must be farther, because criteria that the tree does not know break ties.
    """
    needed = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return np.asarray((farthest < np.inf) & (farthest * (1 - TREE_ERROR) > needed))
