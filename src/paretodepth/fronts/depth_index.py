"""Depths of new dyads below the fronts of the training dyads."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import two_criteria
from paretodepth._kernels.wide_tree import LARGEST, LevelTree, find_dominated, find_levels
from paretodepth.fronts.fronts import Fronts, is_new, lexicographic_order, number_fronts
from paretodepth.fronts.tree import MAX_HEIGHT, build_level_tree, encoded

Swept = tuple[NDArray[np.float64], NDArray[np.int32]]
SWEPT_POINTS = 200.0
"""Points that a sweep passes in the time it takes to look up one dyad; 0 never sweeps."""
N_FIRST_SWEPT = 8
"""Sweeps that take as long as to build the tree that looks dyads up."""
N_SEARCHES = 16
"""Dyads that a sweep searches for side by side."""
MIN_GROUP_BITS = 5
"""A sweep looks at groups of 32 fronts, or of as many as there are groups."""
KEPT_POINTS = 2**22
"""Points up to which their order for sweeps is kept from the sort."""
FIRST_SHARE = 1 / 4
"""Share of the points that the first tree holds if there are few criteria: most dyads end there."""
FEW_CRITERIA = 4
"""With more, dyads end anywhere."""
FEW_POINTS = 2**19
"""With more, the first scores would have to wait long for the second tree."""
MAX_EFFORT = 512
"""Comparisons a point, of those beyond, that take no longer than a tree of them."""
LOOKING = 4
"""Comparisons that take as long as to see whether a point is of interest."""
AT_ONCE = 64
"""Points that the processor compares a dyad with at once."""
DepthKind = Literal["paper", "insertion", "mid"]
DEPTHS = get_args(DepthKind)


class Depths:
    """Depths of new dyads below fronts F_1, …, F_M.

    ``"paper"``
        the first front with a dyad that the new one dominates, M + 1 if it dominates none;
    ``"insertion"``
        one more than the last front with a dyad that dominates the new one, 1 if none does:
        the front the new dyad would lie on. Never larger than the paper's depth;
    ``"mid"``
        the mean of the two.

    The index that answers is built once, when it is first used.

    References
    ----------
    Section 4.1 of the paper.
    """

    def __init__(self, fronts: Fronts, kind: DepthKind) -> None:
        self.fronts = fronts
        self.kind = kind
        self._index: Staircases | _Trees | None = None
        if len(fronts):
            self._index = Staircases(fronts) if fronts.dyads.shape[1] == 2 else _Trees(fronts, kind)

    @classmethod
    def of_dyads(cls, dyads: NDArray[np.float64], kind: DepthKind, *, n_jobs: int | None = None) -> Depths:
        """Return depths below all fronts of dyads that need no check, which are sorted only once."""
        _, ordered, numbers = number_fronts(dyads, n_jobs)
        depths = cls(Fronts.of_numbered(ordered, numbers, None), kind)
        # Of many it would take memory for as long as the index is there, and they are looked up more often than swept.
        if dyads.shape[1] == 2 and 0 < len(dyads) <= KEPT_POINTS:
            depths._index = Staircases(depths.fronts, swept=(ordered, numbers.astype(np.int32)))
        return depths

    def of(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the depth of each row of `dyads`, shape (n_dyads, n_criteria)."""
        if self._index is None:
            return np.ones(len(dyads))
        # In order, so that one search finds in the cache what the one before it read, and a sweep goes along with them.
        order = lexicographic_order(dyads)
        ordered = dyads.take(order, axis=0)
        depths = np.empty(len(dyads))
        if self.kind == "paper":
            depths[order] = self._index.first_dominated(ordered)
        elif self.kind == "insertion":
            depths[order] = self._index.first_undominated(ordered)
        else:
            depths[order] = np.mean(self._index.both(ordered), axis=0)
        return depths


class Staircases:
    """Two criteria: a front is a staircase, falling in one criterion as the other grows.

    Many dyads are swept along the first criterion together with the points of the fronts.
    A few are looked up: the fronts, or a tree of them, are bisected, and each front itself.
    `swept` are the dyads of the fronts in lexicographic order and their front numbers, if
    known: then a tree is built only after some sweeps. `swept_points` changes no depth.
    """

    def __init__(self, fronts: Fronts, *, swept: Swept | None = None, swept_points: float = SWEPT_POINTS) -> None:
        self._fronts = fronts
        self._swept_points = swept_points
        self._n_sweeps_left = 0 if swept is None else N_FIRST_SWEPT
        if swept is not None:
            self._swept = swept

    def _is_swept(self, dyads: NDArray[np.float64]) -> bool:
        """Return whether there are enough dyads for a sweep."""
        return len(dyads) * self._swept_points > len(self._fronts.dyads)

    def both(self, dyads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the paper's depths of dyads in lexicographic order, and their insertion depths."""
        undominated = self.first_undominated(dyads)
        return self.first_dominated(dyads, undominated), undominated

    def first_dominated(
        self, dyads: NDArray[np.float64], undominated: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the first front with a point that each dyad, in lexicographic order, dominates: the paper's depth.

        The search starts at the insertion depth if given, which is never larger.
        """
        n_fronts = len(self._fronts)
        depths = np.zeros(len(dyads)) if undominated is None else undominated.copy()
        self._n_sweeps_left -= 1
        if self._is_swept(dyads) or self._n_sweeps_left >= 0:
            size = 1 << max(MIN_GROUP_BITS, n_fronts.bit_length() // 2)
            groups = np.full(n_fronts // size + 1, np.nan)
            fronts = np.full(len(groups) * size, np.nan)
            groups[-1] = fronts[n_fronts:] = np.inf
            two_criteria.sweep_down(*self._swept, dyads, fronts, groups, depths)
        else:
            two_criteria.ask_down(*self._envelopes, n_fronts, dyads, depths)
        return depths

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one more than the last front with a point that dominates each dyad: the insertion depth."""
        points, starts = self._fronts.dyads, self._fronts.starts
        depths = np.empty(len(dyads))
        if self._is_swept(dyads):
            lowest, found = np.full(len(starts), np.nan), np.empty(N_SEARCHES, np.intp)
            two_criteria.sweep_up(*self._swept, dyads, lowest, found, depths)
        else:
            two_criteria.ask_up(points, starts, dyads, depths)
        return depths

    @cached_property
    def _swept(self) -> Swept:
        """The points in lexicographic order, and their front numbers."""
        order = lexicographic_order(self._fronts.dyads)
        return self._fronts.dyads.take(order, axis=0), self._fronts.numbers.astype(np.int32)[order]

    @cached_property
    def _envelopes(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The envelopes of a tree of fronts, and where each starts, see `ask_down`."""
        points, starts = self._fronts.dyads, self._fronts.starts
        n_leaves = 1 << (len(self._fronts) - 1).bit_length()
        starts = np.append(starts, np.full(n_leaves + 1 - len(starts), starts[-1]))
        envelopes, lengths = [], []
        while True:
            sizes = np.diff(starts)
            # Of two halves only the first one is asked.
            is_asked = np.arange(len(sizes)) % 2 == 0
            envelopes.append(points[np.repeat(is_asked, sizes)])
            lengths.append(np.where(is_asked, sizes, 0))
            if len(sizes) == 1:
                # There is no node 0.
                lengths.append(np.array([0, 0]))
                return np.concatenate(envelopes[::-1]), np.cumsum(np.concatenate(lengths[::-1]))
            joined, ends = np.empty_like(points), np.empty(len(sizes) // 2, np.intp)
            two_criteria.join_envelopes(points, starts, joined, ends)
            points, starts = joined[: ends[-1]], np.append(0, ends)


class _Trees:
    """Any number of criteria: trees of levels, which are the fronts, or the mirrored fronts in reverse."""

    def __init__(self, fronts: Fronts, kind: DepthKind) -> None:
        points, starts = fronts.dyads, fronts.starts
        self._n_fronts = len(fronts)
        if kind != "insertion":
            # Fronts that were cut are those that most dyads end in.
            is_parted = fronts.max_depth is None and points.shape[1] <= FEW_CRITERIA and len(points) <= FEW_POINTS
            self._downward = FirstLevels(points, starts, first_share=FIRST_SHARE if is_parted else 1.0)
        if kind != "paper":
            # Mirrored, a dyad that dominates is dominated, and the last front is the first.
            self._upward = FirstLevels(-points[::-1], len(points) - starts[::-1])

    def first_dominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self._downward.of(dyads) + 1).astype(np.float64)

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self._n_fronts + 1 - self._upward.of(-dyads)).astype(np.float64)

    def both(self, dyads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.first_dominated(dyads), self.first_undominated(dyads)


class FirstLevels:
    """Finds the first level with a point that a dyad dominates.

    Level l is ``points[starts[l]:starts[l + 1]]``; there is at least one point. A tree of the
    first levels, with at least `first_share` of the points, is built at once. Dyads that
    dominate none of these, a few as a rule, are compared with all others; after `max_effort`
    comparisons a point, a second tree is built. Neither number changes an answer.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        starts: NDArray[np.intp],
        *,
        first_share: float = 1.0,
        max_effort: int = MAX_EFFORT,
    ) -> None:
        self._points, self._starts = points, starts
        self._n_levels = len(starts) - 1
        self._n_first = max(1, int(np.searchsorted(starts, first_share * len(points))))
        self._n_points = int(starts[self._n_first])
        self._first = build_level_tree(points[: self._n_points], starts[: self._n_first + 1])
        self._beyond: LevelTree | None = None
        self._effort_left = max_effort * (len(points) - self._n_points)

    def of(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the first level of each dyad, these being in lexicographic order; `n_levels` where there is none."""
        # Equal dyads are looked up once: a pair is among the nearest of both its samples, similar samples have equal
        # dyads, and those that dominate next to nothing take a tree far longer than others.
        is_first = is_new(dyads)
        distinct = np.ascontiguousarray(dyads[is_first])
        found = _searched(self._first, distinct, self._n_first)
        if self._n_first < self._n_levels:
            left = np.flatnonzero(found == self._n_first)
            found[left] = self._of_deep(distinct[left])
        levels: NDArray[np.intp] = found[np.cumsum(is_first) - 1]
        return levels

    def _of_deep(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the first level of dyads that dominate no point of the first tree."""
        if self._beyond is None:
            places = self._compared(dyads)
            if places is not None:
                return np.searchsorted(self._starts, places, side="right") - 1
            starts = self._starts[self._n_first :] - self._n_points
            self._beyond = build_level_tree(self._points[self._n_points :], starts)
        return self._n_first + _searched(self._beyond, dyads, self._n_levels - self._n_first)

    def _compared(self, dyads: NDArray[np.float64]) -> NDArray[np.intp] | None:
        """Return the position of the first point beyond that each dyad dominates, by comparisons with all.

        The number of points if there is none; None if it would take too long.
        """
        points = self._points[self._n_points :]
        # Together with those that are extreme in the same criterion, which few points reach.
        extreme = encoded(dyads, self._first.edges).argmax(axis=1)
        groups = []
        for criterion in np.unique(extreme):
            asked = np.flatnonzero(extreme == criterion)
            groups.append((asked, np.flatnonzero(points[:, criterion] >= dyads[asked, criterion].min())))
        self._effort_left -= sum(LOOKING * len(points) + len(asked) * len(near) for asked, near in groups)
        if self._effort_left < 0:
            return None
        places = np.empty(len(dyads), np.intp)
        for asked, near in groups:
            found = np.empty(len(asked), np.intp)
            find_dominated(np.ascontiguousarray(points[near].T), dyads[asked], np.empty(AT_ONCE, np.int8), found)
            places[asked] = np.append(near + self._n_points, len(self._points))[found]
        return places


def _searched(tree: LevelTree, dyads: NDArray[np.float64], n_levels: int) -> NDArray[np.intp]:
    """Return the first of `n_levels` levels of a tree with a point that each dyad dominates, or `n_levels`."""
    found = np.full(len(dyads), n_levels, np.int32)
    asked = np.full(tree.records.shape[1], LARGEST, np.int16)
    find_levels(tree, dyads, encoded(dyads, tree.edges), asked, np.empty(MAX_HEIGHT, np.int64), found)
    return found.astype(np.intp)
