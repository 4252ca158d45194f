"""Two criteria: how deep dyads lie below fronts, by a sweep or one by one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import two_criteria
from paretodepth.fronts.fronts import Fronts, lexicographic_order

Swept = tuple[NDArray[np.float64], NDArray[np.int32]]
SWEPT_POINTS = 300.0
"""Points that a sweep goes past in the time it takes to look up one dyad."""


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
    swept_points : float, default=300
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

    def mid_depths(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mid depth of each dyad, these being in lexicographic order."""
        return (self.first_dominated(dyads) + self.first_undominated(dyads)) / 2

    def first_dominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the first front with a point that each dyad, in lexicographic order, dominates: the paper's depth."""
        n_fronts = len(self._fronts)
        depths = np.zeros(len(dyads))
        if self._is_swept(dyads):
            n_groups = -(-n_fronts // two_criteria.GROUP)
            n_towers = -(-n_groups // two_criteria.GROUP)
            highest = np.full(n_fronts, np.nan), np.full(n_groups, np.nan), np.full(n_towers + 1, np.nan)
            two_criteria.sweep_down(*self._swept, n_fronts, dyads, highest, depths)
        else:
            two_criteria.ask_down(*self._envelopes, n_fronts, dyads, depths)
        return depths

    def first_undominated(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one more than the last front with a point that dominates each dyad: the insertion depth."""
        points, starts = self._fronts.dyads, self._fronts.starts
        depths = np.zeros(len(dyads))
        if self._is_swept(dyads):
            two_criteria.sweep_up(*self._swept, dyads, np.full(len(self._fronts), np.nan), depths)
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
