"""Fronts 1…L of dyads that come block by block: one pass, bounded memory, exact."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._checks import check_count
from paretodepth._kernels.filters import choose_points, new_staircase, pass_points, pass_staircase
from paretodepth.fronts.fronts import Fronts, check_dyads

Block = NDArray[np.float64] | Sequence[NDArray[np.float64]]
"""Dissimilarities of shape (n_criteria, n_rows, n_columns), or a list of those of each criterion."""


class SummarySizes(NamedTuple):
    """Sizes of a summary's parts, which change its time and memory and not the fronts.

    Attributes
    ----------
    n_cells : int
        Cells of the table over a staircase: by default 32 KiB, so that it stays in the nearest cache.
    n_points : int
        Points that stand for a front of three and more criteria: more reject few dyads more and
        cost those that pass.
    n_candidates : int
        Points of a front that these are chosen from.
    n_probes : int
        Dyads that they are chosen by.
    batch_values : int
        Dissimilarities that are sorted at once, as long as the summary is smaller; by default
        some 1.2 GiB at the peak.
    """

    n_cells: int = 4096
    n_points: int = 256
    n_candidates: int = 1024
    n_probes: int = 2**14
    batch_values: int = 3 * 2**23


USUAL_SIZES = SummarySizes()


class FrontSummary:
    """Fronts 1…L of a stream of dyads.

    A dyad that one of front L of the dyads so far dominates lies beyond L in the whole and
    is dropped at once. The others wait and are merged in batches. The fronts depend on the
    dyads alone, not on blocks, their order or the batches.

    Parameters
    ----------
    max_depth : int
        The last front to keep, L.
    n_criteria : int
    beyond : ndarray of shape (n_points, n_criteria) or None, default=None
        Points that are equal to, or dominated by, dyads of front L of the whole: what they
        dominate is dropped from the start. With guessed points the fronts are exact if the
        final front L turns out to reach them all.
    alike : ndarray of shape (n_dyads, n_criteria) or None, default=None
        Dyads like those to come, to tell useful points from others; by default the first ones.
    sizes : SummarySizes, optional
        Of its parts; they change no front.

    Attributes
    ----------
    n_waiting : int
        How many dyads wait to be merged.

    Notes
    -----
    Several threads may add blocks to one summary. Besides the summary, at most half as many
    dyads wait as it holds, or what is missing to a batch if that is more.

    Examples
    --------
    >>> from paretodepth.fronts import FrontSummary
    >>> summary = FrontSummary(2, 2)
    >>> for block in [[[1, 3], [3, 1]], [[2, 4], [4, 4]], [[5, 5], [0, 2]]]:
    ...     summary.add(block)
    >>> summary.fronts().front(2)
    array([[1., 3.]])
    """

    def __init__(
        self,
        max_depth: int,
        n_criteria: int,
        *,
        beyond: NDArray[np.float64] | None = None,
        alike: NDArray[np.float64] | None = None,
        sizes: SummarySizes = USUAL_SIZES,
    ) -> None:
        max_depth = check_count(max_depth, "max_depth", "FrontSummary")
        nothing = np.empty((0, n_criteria))
        self._fronts = Fronts.from_dyads(nothing, max_depth=max_depth)
        self._sizes = sizes
        alike = nothing if alike is None else spread(alike, sizes.n_probes)
        self._sieve = _Sieve(nothing if beyond is None else beyond, alike, sizes)
        self._waiting: list[NDArray[np.float64]] = []
        self.n_waiting = 0
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        # A lock cannot be sent to a worker, and a copy needs one of its own.
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def add(self, dyads: ArrayLike) -> None:
        """Take in dyads of shape (n_dyads, n_criteria)."""
        columns = np.ascontiguousarray(check_dyads(dyads, "FrontSummary.add").T)
        self.add_block(columns[:, None, :], is_triangle=False)

    def add_block(self, block: Block, *, is_triangle: bool) -> None:
        """Take in a checked block of dissimilarities of shape (n_criteria, n_rows, n_columns), C-contiguous in each.

        Of a triangle only the entries above the diagonal, column > row, are dyads.
        """
        # Outside the lock, where nearly all the time goes. A sieve renewed meanwhile would only have dropped more.
        passed = self._sieve.passed(block, is_triangle)
        with self._lock:
            self._waiting.append(passed)
            self.n_waiting += len(passed)
            n_kept = len(self._fronts.dyads)
            # A merge sorts what is kept once more, so at least half as many must wait, or long streams would take
            # the square of their length.
            if self.n_waiting >= max(self._sizes.batch_values // max(3, len(block)) - n_kept, n_kept // 2):
                slipped = spread(np.concatenate(self._waiting), self._sizes.n_probes)
                self._merge()
                self._sieve = self._sieve.renewed(last_front(self._fronts), slipped)

    def fronts(self) -> Fronts:
        """Return what ``Fronts.from_dyads(dyads, max_depth=L)`` returns for all dyads so far."""
        with self._lock:
            self._merge()
            return self._fronts

    @property
    def points(self) -> NDArray[np.float64]:
        """The points that dyads are held against at present, shape (n_points, n_criteria)."""
        return self._sieve.points

    def _merge(self) -> None:
        """Merge the dyads that wait."""
        dyads = np.concatenate((self._fronts.dyads, *self._waiting))
        self._waiting, self.n_waiting = [], 0
        self._fronts = Fronts.from_dyads(dyads, max_depth=self._fronts.max_depth)


class _Sieve:
    """Lets dyads pass that none of some points dominates.

    Of two criteria all points are used, else a few hundred. These are chosen by what they
    do to dyads `alike`, and to dyads that slipped through before.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        alike: NDArray[np.float64],
        sizes: SummarySizes,
        slipped: NDArray[np.float64] | None = None,
    ) -> None:
        self._alike = alike
        self._sizes = sizes
        self._staircase = None
        # The first of the points' own fronts dominates what all of them do.
        self.points = Fronts.from_dyads(points, max_depth=1).dyads
        if points.shape[1] == 2 and len(points):
            self._staircase = new_staircase(self.points, sizes.n_cells)
        else:
            probes = alike if slipped is None else np.concatenate((alike, slipped))
            self.points = choose_points(spread(self.points, sizes.n_candidates), probes, sizes.n_points)

    def passed(self, block: Block, is_triangle: bool) -> NDArray[np.float64]:
        """Return the dyads of a block that pass, shape (n_dyads, n_criteria)."""
        if self._staircase is not None:
            return pass_staircase(block[0], block[1], is_triangle, self._staircase)
        return pass_points(np.ascontiguousarray(block), is_triangle, self.points)

    def renewed(self, points: NDArray[np.float64], slipped: NDArray[np.float64]) -> _Sieve:
        """Return a sieve of more points."""
        # The old points stay: foreseen ones may lie nearer to the final front than the front so far.
        points = np.concatenate((self.points, points))
        return _Sieve(points, self._alike if len(self._alike) else slipped, self._sizes, slipped)


def last_front(fronts: Fronts) -> NDArray[np.float64]:
    """Return front L of fronts capped at L, which is empty if there are fewer."""
    return fronts.front(len(fronts)) if len(fronts) == fronts.max_depth else fronts.dyads[:0]


def spread(dyads: NDArray[np.float64], n_dyads: int) -> NDArray[np.float64]:
    """Return at most `n_dyads` of the dyads, evenly spread over their order."""
    return dyads[:: -(-len(dyads) // n_dyads) or 1]
