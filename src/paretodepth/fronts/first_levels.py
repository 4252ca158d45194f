"""The first level of points that has one a dyad dominates, for any number of criteria."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels.wide_tree import LARGEST, LevelTree, find_dominated, find_levels
from paretodepth.fronts.fronts import is_new
from paretodepth.fronts.tree import MAX_HEIGHT, build_level_tree, encoded

FIRST_SHARE = 1 / 4
"""Share of the points that the first tree holds if there are few criteria: most dyads end there."""
FEW_CRITERIA = 4
"""With more, dyads end anywhere."""
FEW_POINTS = 2**19
"""With more, whoever scores first would wait long for the second tree."""
MAX_EFFORT = 512
"""Comparisons a point, of those beyond, that take no longer than a tree of them."""
LOOKING = 4
"""Comparisons that are made in the time it takes to look whether a point is of any interest."""
AT_ONCE = 64
"""Points that the processor compares a dyad with at once."""


class FirstLevels:
    """Finds the first level with a point that a dyad dominates.

    A tree of the first levels is built at once. Dyads that dominate none of their points, a
    few as a rule, are compared with all that is beyond; once that has taken as long, a
    tree of what is beyond is built.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_criteria)
        At least one, level by level.
    starts : ndarray of shape (n_levels + 1,)
        Level l is ``points[starts[l]:starts[l + 1]]``.
    first_share : float, default=1
        Share of the points that the first tree holds at least. It changes no answer.
    max_effort : int, default=512
        Comparisons a point before there is another tree. It changes no answer.
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
        # Equal dyads are looked up once: a pair is among the nearest of both its samples, samples that are alike have
        # equal dyads, and those that dominate next to nothing take a tree far longer than others.
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
        """Return the place of the first point beyond that each dyad dominates, found by comparing them with all.

        That of no point where there is none; None if it would take too long.
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
    """Return the first level of a tree, of so many, with a point that each dyad dominates, or their number."""
    found = np.full(len(dyads), n_levels, np.int32)
    asked = np.full(tree.records.shape[1], LARGEST, np.int16)
    find_levels(tree, dyads, encoded(dyads, tree.edges), asked, np.empty(MAX_HEIGHT, np.int64), found)
    return found.astype(np.intp)
