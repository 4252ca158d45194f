"""How deep new dyads lie below the fronts of the training dyads."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import two_criteria
from paretodepth.fronts.first_levels import FEW_CRITERIA, FEW_POINTS, FIRST_SHARE, FirstLevels
from paretodepth.fronts.fronts import Fronts, lexicographic_order, number_fronts

Swept = tuple[NDArray[np.float64], NDArray[np.int32]]
SWEPT_POINTS = 200.0
"""Points that a sweep goes past in the time it takes to look up one dyad."""
N_SEARCHES = 16
"""Dyads that a sweep searches for side by side."""
MIN_GROUP_BITS = 5
"""A sweep looks at groups of 32 fronts, or of as many as there are groups."""
KEPT_POINTS = 2**22
"""Points up to which their order for sweeps is kept from the sort."""
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

    @classmethod
    def of_dyads(cls, dyads: NDArray[np.float64], kind: DepthKind, *, n_jobs: int | None = None) -> Depths:
        """Return depths below all fronts of dyads that need no check, which are put in order but once."""
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


class _Index(Protocol):
    """Fronts, to be asked for the depths of dyads in lexicographic order."""

    def first_dominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the paper's depths."""

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the insertion depths."""

    def both(self, dyads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the paper's depths and the insertion depths."""


class Staircases:
    """Two criteria: a front is a staircase, falling in one criterion as the other grows.

    Many dyads are swept along the first criterion together with the points of the fronts.
    A few are looked up: the fronts, or a tree of them, are bisected, and each front itself.

    Parameters
    ----------
    fronts : Fronts
        At least one.
    swept : tuple of ndarray or None, default=None
        The dyads of the fronts in lexicographic order and their front numbers, if they are at hand.
    swept_points : float, default=200
        Points that a sweep goes past in the time it takes to look up one dyad; 0 sweeps
        never. It changes no depth.
    """

    def __init__(self, fronts: Fronts, *, swept: Swept | None = None, swept_points: float = SWEPT_POINTS) -> None:
        self._fronts = fronts
        self._swept_points = swept_points
        if swept is not None:
            self._swept = swept

    def _is_swept(self, dyads: NDArray[np.float64]) -> bool:
        """Tell whether there are enough dyads for a sweep."""
        return len(dyads) * self._swept_points > len(self._fronts.dyads)

    def both(self, dyads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the paper's depths of dyads in lexicographic order, and their insertion depths."""
        undominated = self.first_undominated(dyads)
        return self.first_dominated(dyads, undominated), undominated

    def first_dominated(
        self, dyads: NDArray[np.float64], undominated: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the first front with a point that each dyad, in lexicographic order, dominates: the paper's depth.

        It is found sooner from the insertion depth on, which is never larger.
        """
        n_fronts = len(self._fronts)
        depths = np.zeros(len(dyads)) if undominated is None else undominated.copy()
        if self._is_swept(dyads):
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
    """Any number of criteria: trees that find the first level with a point that a dyad dominates.

    The levels are the fronts, or the fronts in reverse seen through a mirror.
    """

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
