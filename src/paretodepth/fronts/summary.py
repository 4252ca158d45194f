"""Fronts 1…L of dyads that come block by block: one pass, bounded memory, exact."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._blocks import stride
from paretodepth._checks import check_count
from paretodepth.fronts.dominance_filter import USUAL_SIZES, Block, DominanceFilter, SummarySizes
from paretodepth.fronts.fronts import Fronts, check_dyads


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
        alike = nothing if alike is None else alike[stride(len(alike), sizes.n_probes)]
        self._filter = DominanceFilter(nothing if beyond is None else beyond, alike, sizes)
        self._waiting: list[NDArray[np.float64]] = []
        self.n_waiting = 0
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        # A lock cannot be sent to a worker, and a copy needs one of its own. What came in many parts is sent as one.
        state = {name: value for name, value in vars(self).items() if name != "_lock"}
        return state | {"_waiting": [np.concatenate(self._waiting)] if self._waiting else []}

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
        # Outside the lock, where nearly all the time goes. A filter rebuilt meanwhile would only have dropped more.
        self._wait([self._filter.survivors(block, is_triangle)])

    def add_summary(self, other: FrontSummary) -> None:
        """Take in what another summary up to the same front, which is used no more, holds of other dyads."""
        # What waits there waits here: what is dropped by a sort of some of the dyads is hardly worth the sort.
        self._wait([other._fronts.dyads, *other._waiting])

    def _wait(self, parts: list[NDArray[np.float64]]) -> None:
        """Let dyads wait, and merge all that wait if these are enough."""
        with self._lock:
            self._waiting += parts
            self.n_waiting += sum(map(len, parts))
            n_kept, n_criteria = self._fronts.dyads.shape
            # A merge sorts what is kept once more, so at least half as many must wait, or long streams would take
            # the square of their length.
            if self.n_waiting >= max(self._sizes.batch_values // max(3, n_criteria) - n_kept, n_kept // 2):
                waiting = np.concatenate(self._waiting)
                false_negatives = waiting[stride(len(waiting), self._sizes.n_probes)]
                self._merge()
                self._filter = self._filter.rebuilt(last_front(self._fronts), false_negatives)

    def fronts(self) -> Fronts:
        """Return what ``Fronts.from_dyads(dyads, max_depth=L)`` returns for all dyads so far."""
        with self._lock:
            self._merge()
            return self._fronts

    @property
    def points(self) -> NDArray[np.float64]:
        """The points that dyads are held against at present, shape (n_points, n_criteria)."""
        return self._filter.points

    def _merge(self) -> None:
        """Merge the dyads that wait."""
        dyads = np.concatenate((self._fronts.dyads, *self._waiting))
        self._waiting, self.n_waiting = [], 0
        self._fronts = Fronts.from_dyads(dyads, max_depth=self._fronts.max_depth)


def last_front(fronts: Fronts) -> NDArray[np.float64]:
    """Return front L of fronts capped at L, which is empty if there are fewer."""
    return fronts.front(len(fronts)) if len(fronts) == fronts.max_depth else fronts.dyads[:0]
