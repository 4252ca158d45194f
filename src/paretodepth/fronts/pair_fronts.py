"""Fronts of pairs of criteria: what lies deep below many of them lies deep, however many criteria there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._blocks import map_blocks, rank_correlations, stride
from paretodepth._kernels.two_criteria import number_pairs
from paretodepth.fronts.depth_index import Staircases
from paretodepth.fronts.fronts import Fronts, check_dyads, is_new, order_ties, value_order

MAX_PAIRS = 45
"""Pairs of criteria whose fronts are made: all pairs of ten criteria."""
N_SAMPLED = 2**21
"""Random dyads, of all pairs together, that estimate depths beyond the fronts kept."""
N_COMPARED = 4096
"""Dyads that show which criteria depend on each other."""


@dataclass(frozen=True, eq=False)
class PairFronts:
    """The fronts of some pairs of criteria, for the mean of their mid depths.

    Of many dyads only fronts 1…L are kept. The fronts of some random dyads then estimate how
    deep a dyad beyond L lies, and the number of all fronts: a depth as a share of all fronts
    hardly depends on how many dyads the fronts are made of.

    Attributes
    ----------
    criteria : ndarray of shape (n_pairs, 2)
        Which two criteria; of a single criterion, which has no pair, shape (1, 1).
    fronts : tuple of Fronts
        Of each pair, equal dyads kept once.
    sampled : tuple of Fronts
        Those of random dyads, of each pair, or none if nothing was dropped.

    Examples
    --------
    >>> from paretodepth.fronts.pair_fronts import PairFronts
    >>> fronts = PairFronts.from_dyads([[1, 3, 2], [3, 1, 1], [2, 4, 4], [4, 4, 3]])
    >>> fronts
    <PairFronts: 9 fronts of 3 pairs of criteria>
    >>> fronts.criteria.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> [len(of_pair) for of_pair in fronts.fronts]
    [3, 2, 4]
    >>> fronts.mean_depth([[0, 0, 0], [9, 9, 9]]).round(2)
    array([0.36, 1.36])
    """

    criteria: NDArray[np.intp]
    fronts: tuple[Fronts, ...]
    sampled: tuple[Fronts, ...] = ()

    @classmethod
    def from_dyads(
        cls,
        dyads: ArrayLike,
        *,
        criteria: NDArray[np.intp] | None = None,
        max_depth: int | None = None,
        n_jobs: int | None = None,
        max_kept: int | None = None,
        n_sampled: int = N_SAMPLED,
    ) -> PairFronts:
        """Return the fronts of the given pairs of criteria in ascending order, or of the `chosen_pairs`.

        Each pair keeps fronts 1…max_depth, and all together at most `max_kept` dyads, so that
        memory is bounded. If any are dropped, `n_sampled` random dyads, of all pairs together,
        estimate depths beyond the last front kept. `n_jobs` threads change no result.
        """
        checked = check_dyads(dyads, "PairFronts.from_dyads")
        criteria = chosen_pairs(checked) if criteria is None else criteria
        most = len(checked) if max_kept is None else max_kept // len(criteria)
        made = _all_fronts(checked, criteria, n_jobs, max_depth, most)
        if any(fronts.max_depth is not None for fronts in made.fronts):
            return with_sampled(made, random_rows(checked, max(1, n_sampled // len(criteria))), n_jobs)
        return made

    def __repr__(self) -> str:
        return f"<PairFronts: {sum(map(len, self.fronts)):,} fronts of {len(self.criteria)} pairs of criteria>"

    @cached_property
    def staircases(self) -> tuple[Staircases, ...]:
        """The index that answers depths, of each pair."""
        return tuple(Staircases(_of_columns(fronts, 2)) for fronts in self.fronts)

    @cached_property
    def beyond(self) -> tuple[_Beyond | None, ...]:
        """The estimate of depths beyond the last front kept, of each pair."""
        if not self.sampled:
            return (None,) * len(self.fronts)
        parts = zip(self.fronts, self.sampled, strict=True)
        return tuple(_Beyond.of(*(_of_columns(part, 2) for part in both)) for both in parts)

    def mean_depth(self, dyads: ArrayLike) -> NDArray[np.float64]:
        """Return the mean, over the pairs, of each dyad's mid depth divided by the number of the pair's fronts."""
        dyads = np.asarray(dyads, np.float64)
        total = np.zeros(len(dyads))
        for depths, n_fronts in self.depths(dyads):
            total += depths / n_fronts
        return total / len(self.criteria)

    def depths(
        self, dyads: NDArray[np.float64], pairs: Sequence[int] | None = None
    ) -> Iterator[tuple[NDArray[np.float64], int]]:
        """Yield for each pair, or some `pairs`, the dyads' mid depths and the number of fronts to divide them by.

        Depths are multiples of one half, whose sums are exact. Where the last fronts were
        dropped they are shares of the fronts already, and the number is 1.
        """
        chosen = list(range(len(self.fronts)) if pairs is None else pairs)
        in_order = zip(chosen, ordered_pairs(dyads, self.criteria[chosen]), strict=True)
        for pair, (order, ordered) in in_order:
            fronts, staircases, beyond = self.fronts[pair], self.staircases[pair], self.beyond[pair]
            depths = np.ones(len(dyads))
            if len(fronts) == 0:
                # Below no front at all every depth is 1.
                yield depths, 1
                continue
            deep, shallow = staircases.both(ordered)
            depths[order] = (deep + shallow) / 2
            if beyond is not None:
                depths[order] = beyond.shares(ordered, (deep + shallow) / 2, deep > len(fronts))
            yield depths, len(fronts) if beyond is None else 1


@dataclass(frozen=True)
class _Beyond:
    """Depths beyond front L, estimated from the `n_sampled` fronts of random dyads; `n_fronts` estimates all fronts."""

    staircases: Staircases
    n_sampled: int
    n_fronts: float

    @classmethod
    def of(cls, fronts: Fronts, sampled: Fronts) -> _Beyond | None:
        """Return an estimate from the fronts of random dyads; None if no front was dropped."""
        if fronts.max_depth is None or len(fronts) < fronts.max_depth:
            return None
        staircases = Staircases(sampled)
        # Every dyad of front L has the insertion depth L. Of chains above a dyad, which are one shorter than its
        # depth, all dyads have longer ones than random dyads have, by the same factor at every depth. One half is
        # subtracted instead of one, which might leave nothing to divide by.
        sampled_depth = staircases.first_undominated(fronts.front(len(fronts))).mean()
        factor = (len(fronts) - 0.5) / (sampled_depth - 0.5)
        return cls(staircases, len(sampled), max(len(fronts), factor * len(sampled)))

    def shares(
        self, dyads: NDArray[np.float64], depths: NDArray[np.float64], is_beyond: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return depths, which are lower bounds beyond front L, as shares of all fronts."""
        shares = depths / self.n_fronts
        deep, shallow = self.staircases.both(dyads[is_beyond])
        shares[is_beyond] = np.maximum(shares[is_beyond], (deep + shallow) / 2 / self.n_sampled)
        return shares


def random_rows(dyads: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Return `n_rows` random dyads in their order, the same ones every time, or all if there are no more."""
    if len(dyads) <= n_rows:
        return dyads
    return dyads.take(np.sort(np.random.default_rng(0).choice(len(dyads), n_rows, replace=False)), axis=0)


def with_sampled(fronts: PairFronts, dyads: NDArray[np.float64], n_jobs: int | None) -> PairFronts:
    """Return the same fronts with those of random dyads, given of all criteria, to estimate depths beyond."""
    sampled = _all_fronts(dyads, fronts.criteria, n_jobs, None, len(dyads)).fronts
    made = PairFronts(fronts.criteria, fronts.fronts, sampled)
    vars(made)["staircases"] = fronts.staircases
    return made


def _all_fronts(
    dyads: NDArray[np.float64], criteria: NDArray[np.intp], n_jobs: int | None, max_depth: int | None, max_kept: int
) -> PairFronts:
    """Return the fronts of some pairs of criteria up to a depth and a number of dyads a pair."""
    # Pairs with the same first criterion in one go, which need be sorted by that but once.
    parts = [criteria[criteria[:, 0] == first] for first in np.unique(criteria[:, 0])]

    def fronts_of(part: NDArray[np.intp]) -> list[tuple[Fronts, Staircases]]:
        return [_numbered(ordered, max_depth, max_kept) for _, ordered in ordered_pairs(dyads, part)]

    found = [both for part in map_blocks(fronts_of, parts, n_jobs) for both in part]
    made = PairFronts(criteria, tuple(_of_columns(fronts, criteria.shape[1]) for fronts, _ in found))
    # They reuse the sorted dyads.
    vars(made)["staircases"] = tuple(staircases for _, staircases in found)
    return made


def _numbered(ordered: NDArray[np.float64], max_depth: int | None, max_kept: int) -> tuple[Fronts, Staircases]:
    """Return the fronts of two-criteria dyads in lexicographic order, and the index of depths below them."""
    numbers = number_pairs(ordered)
    # Equal dyads are kept once: they answer the same, and pairs of few values have them over and over.
    is_kept = is_new(ordered)
    n_fronts = int(numbers.max(initial=0))
    if is_kept.sum() > max_kept:
        ends = np.cumsum(np.bincount(numbers[is_kept]))
        # At least one front is kept, however large it is.
        last = max(1, int(np.searchsorted(ends, max_kept, side="right")) - 1)
        max_depth = last if max_depth is None else min(last, max_depth)
    if max_depth is not None and max_depth < n_fronts:
        is_kept &= numbers <= max_depth
    else:
        max_depth = None
    if not is_kept.all():
        ordered, numbers = ordered[is_kept], numbers[is_kept]
    fronts = Fronts.of_numbered(ordered, numbers, max_depth)
    return fronts, Staircases(fronts, swept=(ordered, numbers.astype(np.int32)))


def _of_columns(fronts: Fronts, n_columns: int) -> Fronts:
    """Return fronts of a criterion and one that is always 0 as those of the criterion alone, or vice versa."""
    if fronts.dyads.shape[1] == n_columns:
        return fronts
    dyads = np.zeros((len(fronts.dyads), n_columns))
    dyads[:, 0] = fronts.dyads[:, 0]
    return replace(fronts, dyads=dyads)


def ordered_pairs(
    dyads: NDArray[np.float64], criteria: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Yield for each pair of criteria the dyads' lexicographic order, and their two criteria in that order.

    A single criterion is given a second one that is always 0: it has the same fronts.
    """
    for first, several in groupby(criteria.tolist(), lambda pair: pair[0]):
        by_first, is_tied = value_order(dyads[:, first])
        # To take values is far faster than to index a column: its values are first put next to each other.
        has_ties, in_order = is_tied.any(), dyads[:, first].take(by_first)
        for _, *rest in several:
            order, second = by_first, dyads[:, rest[0]] if rest else np.zeros(len(dyads))
            if rest and has_ties:
                order = by_first.copy()
                order_ties(second, order, is_tied.copy())
                # Zeros of either sign are equal, and may have changed places.
                in_order = dyads[:, first].take(order)
            ordered = np.empty((len(dyads), 2))
            ordered[:, 0], ordered[:, 1] = in_order, second.take(order)
            yield order, ordered


def chosen_pairs(dyads: NDArray[np.float64], *, max_pairs: int = MAX_PAIRS) -> NDArray[np.intp]:
    """Return the pairs of criteria whose fronts are worth making, shape (n_pairs, 2), in ascending order.

    All pairs, if they are at most `max_pairs`, those of ten criteria. Of more criteria, turns add pairs until they are
    that many: each criterion with the one it depends on most, then on least, then on second most, and so on; within a
    turn the strongest dependence goes first, or the weakest. A broken dependence shows in no criterion alone. The first
    turn is always finished, so every criterion occurs, and there are never more pairs than `max_pairs` or criteria.

    Dependence is the absolute rank correlation (Spearman's) of evenly spread dyads. Of
    equal ones the earlier criteria go first. A single criterion stands for itself, shape (1, 1).
    """
    n_criteria = dyads.shape[1]
    if n_criteria == 1:
        return np.zeros((1, 1), np.intp)
    if n_criteria * (n_criteria - 1) // 2 <= max_pairs:
        return np.array(list(combinations(range(n_criteria), 2)), np.intp)
    # Rounded, or the last bit of a product, which differs between machines, would choose between equal ones.
    dependence = np.abs(rank_correlations(dyads[stride(len(dyads), N_COMPARED)])).round(9)
    # A criterion is no partner of its own.
    np.fill_diagonal(dependence, np.inf)
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
