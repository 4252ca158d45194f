"""How deep new dyads lie below the fronts of the training dyads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import tree
from paretodepth.fronts.fronts import Fronts, is_new, lexicographic_order
from paretodepth.fronts.staircases import Staircases
from paretodepth.fronts.tree import MAX_HEIGHT, build_tree

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

    The index that answers is built once, when it is first asked.

    References
    ----------
    Section 4.1 of the paper.
    """

    def __init__(self, fronts: Fronts, kind: DepthKind) -> None:
        self.fronts = fronts
        self.kind = kind
        self._index: _Index | None = None
        if len(fronts):
            # That of two criteria sees itself what it needs.
            self._index = Staircases(fronts) if fronts.dyads.shape[1] == 2 else _Trees(fronts, kind)

    def of(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the depth of each row of `dyads`, shape (n_dyads, n_criteria)."""
        if self._index is None:
            return np.ones(len(dyads))
        # In order, so that one search finds in the cache what the one before it read, and a sweep goes along with them.
        order = lexicographic_order(dyads)
        ordered = dyads.take(order, axis=0)
        answers = []
        if self.kind != "insertion":
            answers.append(self._index.first_dominated(ordered))
        if self.kind != "paper":
            answers.append(self._index.first_undominated(ordered))
        depths = np.empty(len(dyads))
        depths[order] = np.mean(answers, axis=0)
        return depths


class _Index(Protocol):
    """Fronts, to be asked for the depths of dyads in lexicographic order."""

    def first_dominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the paper's depths."""

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the insertion depths."""


class _Trees:
    """Any number of criteria: trees that find the first level with a point that a dyad dominates.

    The levels are the fronts, or the fronts in reverse seen through a mirror.
    """

    def __init__(self, fronts: Fronts, kind: DepthKind) -> None:
        points, starts = fronts.dyads, fronts.starts
        self._n_fronts = len(fronts)
        if kind != "insertion":
            self._downward = _LevelTree.build(points, starts)
        if kind != "paper":
            # Mirrored, a dyad that dominates is dominated, and the last front is the first.
            self._upward = _LevelTree.build(-points[::-1], len(points) - starts[::-1])

    def first_dominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self._downward.first_levels(dyads) + 1).astype(np.float64)

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self._n_fronts + 1 - self._upward.first_levels(-dyads[::-1])[::-1]).astype(np.float64)


@dataclass(frozen=True)
class _LevelTree:
    """A k-d tree with the lowest level of each node, searched by branch and bound."""

    points: NDArray[np.float64]
    levels: NDArray[np.intp]
    corners: tuple[NDArray[np.float64], NDArray[np.float64]]
    lowest: NDArray[np.intp]
    n_levels: int

    @classmethod
    def build(cls, points: NDArray[np.float64], starts: NDArray[np.intp]) -> _LevelTree:
        """Return the tree of points of which ``points[starts[l]:starts[l + 1]]`` are on level l."""
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
        """Return these levels for dyads in lexicographic order, the number of levels where there is none."""
        # Equal dyads, which there may be many of, are looked up once.
        is_first = is_new(dyads)
        distinct = np.ascontiguousarray(dyads[is_first])
        found = np.full(len(distinct), self.n_levels)
        stack = np.empty(2 * MAX_HEIGHT, np.intp)
        tree.find_levels(distinct, self.points, self.levels, self.corners, self.lowest, stack, found)
        levels: NDArray[np.intp] = found[np.cumsum(is_first) - 1]
        return levels
