"""How deep new dyads lie below the fronts of the training dyads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import tree, two_criteria
from paretodepth.fronts.fronts import Fronts, lexicographic_order
from paretodepth.fronts.tree import MAX_HEIGHT, build_tree

HEIGHTS_PER_POINT = 4
"""Size of the envelopes of the slab index: more of them make smaller slabs."""
MANY_LEVELS = 8
"""Levels, as a multiple of the square root of the number of points, that need too large slabs."""
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

    Both answer one question, the first level with a point that the new dyad dominates: the
    levels are the fronts, or the fronts in reverse seen through a mirror. The index that
    answers it is built once.

    References
    ----------
    Section 4.1 of the paper.
    """

    def __init__(self, fronts: Fronts, kind: DepthKind) -> None:
        dyads = fronts.dyads
        self.fronts = fronts
        self.kind = kind
        self._n_fronts = len(fronts)
        self._downward = self._upward = None
        if self._n_fronts and kind != "insertion":
            self._downward = _level_index(dyads, fronts.starts)
        if self._n_fronts and kind != "paper":
            # Mirrored, a dyad that dominates is dominated, and the last front is the first.
            self._upward = _level_index(-dyads[::-1], len(dyads) - fronts.starts[::-1])

    def of(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the depth of each row of `dyads`, shape (n_dyads, n_criteria)."""
        if self._n_fronts == 0:
            return np.ones(len(dyads))
        # In order, so that one search finds in the cache what the one before it read; slabs are even left for good.
        order = lexicographic_order(dyads)
        dyads = dyads.take(order, axis=0)
        answers = []
        if self._downward is not None:
            answers.append(self._downward.first_levels(dyads) + 1)
        if self._upward is not None:
            answers.append(self._n_fronts + 1 - self._upward.first_levels(-dyads[::-1])[::-1])
        depths = np.empty(len(dyads))
        depths[order] = np.mean(answers, axis=0)
        return depths


class _LevelIndex(Protocol):
    """Points in levels, to be asked for the first level with a point that a dyad dominates."""

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return these levels, 0 for the first; the number of levels where there is none."""


def _level_index(points: NDArray[np.float64], starts: NDArray[np.intp]) -> _LevelIndex:
    """Return the index that suits the number of criteria; level l is ``points[starts[l]:starts[l + 1]]``."""
    # Slabs grow with the number of levels, or their heights would take too much memory, and the points of a slab are
    # gone through one by one: with many levels a tree is faster.
    if points.shape[1] == 2 and len(starts) < MANY_LEVELS * len(points) ** 0.5:
        return _SlabIndex.build(points, starts)
    return _TreeIndex.build(points, starts)


@dataclass(frozen=True)
class _SlabIndex:
    """Two criteria: the points in slabs along the first, with the upper envelope of all that follows each slab.

    "Dominates a point of level l" is not monotone in l, so the levels cannot be bisected;
    "dominates a point of the levels up to l" is, and the envelopes are those of levels up to l.
    """

    slabs: two_criteria.Slabs
    n_levels: int

    @classmethod
    def build(cls, points: NDArray[np.float64], starts: NDArray[np.intp]) -> _SlabIndex:
        n_levels = len(starts) - 1
        order = lexicographic_order(points)
        levels = np.repeat(np.arange(n_levels), np.diff(starts))[order]
        size = 1 + max(n_levels, math.isqrt(len(points))) // HEIGHTS_PER_POINT
        return cls(two_criteria.cut_slabs(points.take(order, axis=0), levels, n_levels, size), n_levels)

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        return two_criteria.find_levels(dyads, self.slabs, self.n_levels)


@dataclass(frozen=True)
class _TreeIndex:
    """Three and more criteria: a k-d tree with the lowest level of each node, searched by branch and bound."""

    points: NDArray[np.float64]
    levels: NDArray[np.intp]
    corners: tuple[NDArray[np.float64], NDArray[np.float64]]
    lowest: NDArray[np.intp]
    n_levels: int

    @classmethod
    def build(cls, points: NDArray[np.float64], starts: NDArray[np.intp]) -> _TreeIndex:
        n_levels = len(starts) - 1
        columns = np.column_stack((points, np.repeat(np.arange(n_levels), np.diff(starts))))
        # The lowest level of a node prunes the search, so levels are halved first, then the criteria in turn.
        n_criteria = points.shape[1]
        splits = np.array([n_criteria] * 4 + list(range(n_criteria)) * MAX_HEIGHT)
        _, lower, upper = build_tree(columns, splits)
        points, lower_corners, upper_corners = (np.ascontiguousarray(part[:, :-1]) for part in (columns, lower, upper))
        levels, lowest = (part[:, -1].astype(np.intp) for part in (columns, lower))
        return cls(points, levels, (lower_corners, upper_corners), lowest, n_levels)

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        found = np.full(len(dyads), self.n_levels)
        stack = np.empty(2 * MAX_HEIGHT, np.intp)
        tree.find_levels(np.ascontiguousarray(dyads), self.points, self.levels, self.corners, self.lowest, stack, found)
        return found
