"""Fronts of pairs of criteria: what lies deep below many of them lies deep, however many criteria there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from paretodepth._blocks import map_blocks
from paretodepth.fronts.depth import Depths
from paretodepth.fronts.fronts import Fronts, check_dyads
from paretodepth.fronts.summary import spread

MAX_PAIRS = 45
"""Pairs of criteria whose fronts are made: all pairs of ten criteria."""
N_COMPARED = 4096
"""Dyads that tell which criteria depend on each other."""


@dataclass(frozen=True, eq=False)
class PairFronts:
    """The fronts of some pairs of criteria, for the mean of their mid depths.

    Attributes
    ----------
    criteria : ndarray of shape (n_pairs, 2)
        Which two criteria; of a single criterion, which has no pair, shape (1, 1).
    fronts : tuple of Fronts
        Of each pair.
    """

    criteria: NDArray[np.intp]
    fronts: tuple[Fronts, ...]

    @classmethod
    def from_dyads(cls, dyads: ArrayLike, *, max_depth: int | None = None, n_jobs: int | None = None) -> PairFronts:
        """Return the fronts of `chosen_pairs` of the criteria.

        Parameters
        ----------
        dyads : array-like of shape (n_dyads, n_criteria)
            Dissimilarities as in :func:`front_numbers`.
        max_depth : int or None, default=None
            The last front to keep of each pair.
        n_jobs : int or None, default=None
            Threads over the pairs; changes no result.
        """
        checked = check_dyads(dyads, "PairFronts.from_dyads")
        criteria = chosen_pairs(checked)

        def fronts_of(pair: NDArray[np.intp]) -> Fronts:
            return Fronts.from_dyads(checked.take(pair, axis=1), max_depth=max_depth)

        return cls(criteria, tuple(map_blocks(fronts_of, list(criteria), n_jobs)))

    @cached_property
    def depths(self) -> Sequence[Depths]:
        """What answers depths, of each pair."""
        return tuple(Depths(fronts, "mid") for fronts in self.fronts)

    def mean_depth(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean, over the pairs, of each dyad's mid depth divided by the number of the pair's fronts.

        Parameters
        ----------
        dyads : ndarray of shape (n_dyads, n_criteria)
            Of all criteria.

        Returns
        -------
        depths : ndarray of shape (n_dyads,)
        """
        total = np.zeros(len(dyads))
        for pair, depths in zip(self.criteria, self.depths, strict=True):
            total += depths.of(dyads.take(pair, axis=1)) / max(1, len(depths.fronts))
        return total / len(self.criteria)


def chosen_pairs(dyads: NDArray[np.float64], *, max_pairs: int = MAX_PAIRS) -> NDArray[np.intp]:
    """Return the pairs of criteria whose fronts are worth making, shape (n_pairs, 2), in rising order.

    All pairs, as long as they are at most `max_pairs`, those of ten criteria. Of more
    criteria, in turns, each with the one it depends on most, each with the one it depends
    on least, each with the one it depends on second most, and so on, until there are so
    many; within a turn the strongest dependence goes first, or the weakest. Dependent
    criteria come first because a broken dependence is seen in no criterion alone. The
    first turn is always finished, so every criterion occurs and there are never more
    pairs than `max_pairs` or criteria.

    Dependence is the absolute rank correlation (Spearman's) of evenly spread dyads. Of
    equal ones the earlier criteria go first. A single criterion stands for itself, shape (1, 1).
    """
    n_criteria = dyads.shape[1]
    if n_criteria == 1:
        return np.zeros((1, 1), np.intp)
    if n_criteria * (n_criteria - 1) // 2 <= max_pairs:
        return np.array(list(combinations(range(n_criteria), 2)), np.intp)
    dependence = _dependence(spread(dyads, N_COMPARED))
    # A criterion depends infinitely on itself, which is no partner.
    partners = {
        -1: np.argsort(-dependence, axis=1, kind="stable")[:, 1:],
        1: np.argsort(dependence, axis=1, kind="stable")[:, :-1],
    }
    chosen: set[tuple[int, int]] = set()
    for turn in range(n_criteria - 1):
        sign = 1 if turn % 2 else -1
        in_turn = enumerate(partners[sign][:, turn // 2].tolist())
        pairs = {(min(pair), max(pair)) for pair in in_turn} - chosen
        in_order = sorted(pairs, key=lambda pair: (sign * dependence[pair], pair))
        chosen.update(in_order if turn == 0 else in_order[: max(0, max_pairs - len(chosen))])
    return np.array(sorted(chosen), np.intp)


def _dependence(dyads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute rank correlations of the criteria, infinite of each with itself; 0 where one is constant."""
    n_dyads, n_criteria = dyads.shape
    ranks = rankdata(dyads, axis=0) - (n_dyads + 1) / 2
    lengths = np.sqrt((ranks**2).sum(axis=0))
    products = np.abs(ranks.T @ ranks)
    sizes = np.outer(lengths, lengths)
    dependence = np.divide(products, sizes, out=np.zeros((n_criteria, n_criteria)), where=sizes > 0)
    # Rounded, or the last bit of a product, which differs between machines, would choose between equal ones.
    dependence = np.round(dependence, 9)
    np.fill_diagonal(dependence, np.inf)
    return dependence
