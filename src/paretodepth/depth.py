"""How deep new dyads lie below the fronts of the training dyads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import staircases, trees
from paretodepth.fronts import LEAF_SIZE, MAX_HEIGHT, Fronts

MAX_SNAPSHOTS = 1024
DepthKind = Literal["paper", "insertion", "mid"]


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
        self._n_fronts = len(fronts)
        self._downward = self._upward = None
        if self._n_fronts and kind != "insertion":
            self._downward = _level_index(dyads, fronts.starts)
        if self._n_fronts and kind != "paper":
            self._upward = _level_index(-dyads[::-1], len(dyads) - fronts.starts[::-1])

    def of(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the depth of each row of `dyads`, shape (n_dyads, n_criteria)."""
        if self._n_fronts == 0:
            return np.ones(len(dyads))
        # Sorted, so that one search finds in the cache what the one before it read.
        order = np.argsort(dyads[:, 0])
        dyads = dyads[order]
        answers = []
        if self._downward is not None:
            answers.append(self._downward.first_levels(dyads) + 1)
        if self._upward is not None:
            answers.append(self._n_fronts + 1 - self._upward.first_levels(-dyads))
        depths = np.empty(len(dyads))
        depths[order] = np.mean(answers, axis=0)
        return depths


class _LevelIndex(Protocol):
    """Points in levels, to be asked for the first level with a point that a dyad dominates."""

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return these levels, 0 for the first; the number of levels where there is none."""


def _level_index(points: NDArray[np.float64], starts: NDArray[np.intp]) -> _LevelIndex:
    """Return the index that suits the number of criteria; level l is ``points[starts[l]:starts[l + 1]]``."""
    if points.shape[1] > 2:
        return _TreeIndex.build(points, starts)
    return _EnvelopeIndex.build(points, starts)


@dataclass(frozen=True)
class _EnvelopeIndex:
    """One or two criteria: a binary tree over the levels, each node the upper envelope of its levels.

    "Dominates a point of level l" is not monotone in l, so the levels cannot be bisected;
    the tree asks for a point in the first half of some levels, then in a half of that half.
    Which levels is told by snapshots of all levels at some values of the first criterion.
    """

    points: NDArray[np.float64]
    starts: NDArray[np.intp]
    heights: NDArray[np.intp]
    edges: NDArray[np.float64]
    highest: NDArray[np.float64]

    @classmethod
    def build(cls, points: NDArray[np.float64], starts: NDArray[np.intp]) -> _EnvelopeIndex:
        points = _two_criteria(points)
        rows = [(points, starts)]
        while len(rows[-1][1]) > 2:
            rows.append(staircases.merge_envelopes(*rows[-1]))
        # As many snapshots as together are no larger than the points.
        n_edges = min(max(1, len(points) // len(starts)), MAX_SNAPSHOTS)
        edges = np.concatenate(([-np.inf], np.sort(points[:, 0])[:: -(-len(points) // n_edges)][1:]))
        row_points, row_starts = zip(*rows, strict=True)
        points_before = np.cumsum([0] + [len(row) for row in row_points[:-1]])
        return cls(
            np.concatenate(row_points),
            np.concatenate([row + before for row, before in zip(row_starts, points_before, strict=True)]),
            np.cumsum([0] + [len(row) for row in row_starts[:-1]]),
            edges,
            staircases.take_snapshots(points, starts, edges),
        )

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        return staircases.find_levels(
            _two_criteria(dyads), self.points, self.starts, self.heights, self.edges, self.highest
        )


def _two_criteria(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one-criterion points with a constant second criterion, others as they are."""
    if points.shape[1] == 1:
        points = np.hstack((points, np.zeros_like(points)))
    return np.ascontiguousarray(points)


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
        _, lower, upper = trees.build_tree(columns, splits, LEAF_SIZE)
        points, lower_corners, upper_corners = (np.ascontiguousarray(part[:, :-1]) for part in (columns, lower, upper))
        levels, lowest = (part[:, -1].astype(np.intp) for part in (columns, lower))
        return cls(points, levels, (lower_corners, upper_corners), lowest, n_levels)

    def first_levels(self, dyads: NDArray[np.float64]) -> NDArray[np.intp]:
        return trees.find_levels(
            np.ascontiguousarray(dyads), self.points, self.levels, self.corners, self.lowest, self.n_levels
        )
