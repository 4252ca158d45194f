"""Fronts of pairs of criteria: what lies deep below many of them lies deep, however many criteria there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from paretodepth._blocks import map_blocks
from paretodepth._kernels.two_criteria import number_pairs
from paretodepth.fronts.fronts import Fronts, check_dyads, is_new, order_ties, value_order
from paretodepth.fronts.staircases import Staircases
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
        Of each pair, equal dyads kept once.
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
        # Pairs with the same first criterion in one go, which need be sorted by that but once.
        parts = [criteria[criteria[:, 0] == first] for first in np.unique(criteria[:, 0])]

        def fronts_of(part: NDArray[np.intp]) -> list[tuple[Fronts, Staircases]]:
            return [_numbered(ordered, max_depth) for _, ordered in ordered_pairs(checked, part)]

        found = [both for part in map_blocks(fronts_of, parts, n_jobs) for both in part]
        made = cls(criteria, tuple(_of_columns(fronts, criteria.shape[1]) for fronts, _ in found))
        # They have what was sorted already.
        vars(made)["staircases"] = tuple(staircases for _, staircases in found)
        return made

    @cached_property
    def staircases(self) -> tuple[Staircases, ...]:
        """What answers depths, of each pair."""
        return tuple(Staircases(_of_columns(fronts, 2)) for fronts in self.fronts)

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
        in_order = ordered_pairs(dyads, self.criteria)
        for fronts, staircases, (order, ordered) in zip(self.fronts, self.staircases, in_order, strict=True):
            # Below no front at all every depth is 1.
            total[order] += staircases.mid_depths(ordered) / len(fronts) if len(fronts) else 1.0
        return total / len(self.criteria)

    def mid_depths(self, dyads: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Give for each pair the dyads' mid depths, shape (n_dyads,), multiples of one half."""
        in_order = ordered_pairs(dyads, self.criteria)
        for fronts, staircases, (order, ordered) in zip(self.fronts, self.staircases, in_order, strict=True):
            depths = np.ones(len(dyads))
            if len(fronts):
                depths[order] = staircases.mid_depths(ordered)
            yield depths


def _numbered(ordered: NDArray[np.float64], max_depth: int | None) -> tuple[Fronts, Staircases]:
    """Return the fronts of two-criteria dyads in lexicographic order, and what answers depths below them."""
    numbers = number_pairs(ordered)
    # Equal dyads are kept once: they answer the same, and pairs of few values have them over and over.
    is_kept = is_new(ordered)
    if max_depth is not None:
        is_kept &= numbers <= max_depth
    if not is_kept.all():
        ordered, numbers = ordered[is_kept], numbers[is_kept]
    fronts = Fronts.of_numbered(ordered, numbers, max_depth)
    return fronts, Staircases(fronts, swept=(ordered, numbers.astype(np.int32)))


def _of_columns(fronts: Fronts, n_columns: int) -> Fronts:
    """Return fronts of a criterion and one that is always 0 as those of the criterion, or the other way round."""
    if fronts.dyads.shape[1] == n_columns:
        return fronts
    dyads = np.zeros((len(fronts.dyads), n_columns))
    dyads[:, 0] = fronts.dyads[:, 0]
    return replace(fronts, dyads=dyads)


def ordered_pairs(
    dyads: NDArray[np.float64], criteria: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Give for each pair of criteria the dyads' lexicographic order, and their two criteria in that order.

    A single criterion is given a second one that is always 0: it has the same fronts.
    """
    of_first: tuple[int, NDArray[np.intp], NDArray[np.bool_]] | None = None
    for first, *rest in criteria.tolist():
        if of_first is None or of_first[0] != first:
            of_first = (first, *value_order(dyads[:, first]))
        _, order, is_same = of_first
        second = dyads[:, rest[0]] if rest else np.zeros(len(dyads))
        if rest and is_same.any():
            order, is_same = order.copy(), is_same.copy()
            order_ties(second, order, is_same)
        ordered = np.empty((len(dyads), 2))
        ordered[:, 0], ordered[:, 1] = dyads[order, first], second[order]
        yield order, ordered


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
    sizes = np.outer(lengths, lengths)
    dependence = np.zeros((n_criteria, n_criteria))
    np.divide(np.abs(ranks.T @ ranks), sizes, out=dependence, where=sizes > 0)
    # Rounded, or the last bit of a product, which differs between machines, would choose between equal ones.
    dependence = dependence.round(9)
    np.fill_diagonal(dependence, np.inf)
    return dependence
