"""The last samples of a stream: as they came, as criteria see them, and how unlike they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import is_integer
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted import FittedCriterion
from paretodepth.criteria.metrics.metric import View
from paretodepth.pairs.limits import FREE_SHARE, listing_bytes, sorting_bytes
from paretodepth.pairs.memory import free_bytes
from paretodepth.pairs.pairs import ComputedPairs, Criteria, HeldPairs, Views

REFRESHED_SHARE = 2
"""By default the fronts are made anew when one sample of so many in the window is new."""


class Window:
    """The samples that the model was fitted to, and those learnt since.

    Every list and array here has a place for each: the samples of the fit come first, then
    the later ones in their order. The window is the last `size` of all of them. Samples that
    have left it stay until the next fit, so that from the samples alone a state can be made
    again: by a fit to the first, and by learning the others.

    Parameters
    ----------
    size : int
        How many samples the window holds at most.
    n_later : int
        How many samples are learnt between two fits at most.

    Attributes
    ----------
    samples : list
        As `plain_sample` returns them.
    n_fitted : int
        How many of them the last fit was made of; 0 before the first one.
    """

    def __init__(self, size: int, n_later: int) -> None:
        self.size = size
        self.samples: list[Any] = []
        self.n_fitted = 0
        self._n_places = size + n_later
        self._views: list[View] = []
        self._held: list[NDArray[np.float64] | None] = []
        self._found: list[NDArray[np.float64] | None] = []
        self._local_means: NDArray[np.float64] | None = None

    @property
    def start(self) -> int:
        """The place of the oldest sample in the window."""
        return max(0, len(self.samples) - self.size)

    @property
    def n_samples(self) -> int:
        """How many samples are in the window."""
        return len(self.samples) - self.start

    @property
    def age(self) -> int:
        """How many samples were learnt since the last fit."""
        return len(self.samples) - self.n_fitted

    @property
    def views(self) -> list[View]:
        """What criteria see of the samples in the window."""
        return [view[self.start : len(self.samples)] for view in self._views]

    @property
    def local_means(self) -> NDArray[np.float64] | None:
        """The local means of the samples in the window, if the method has some."""
        return None if self._local_means is None else self._local_means[self.start : len(self.samples)]

    def append(
        self,
        sample: Any,
        views: Sequence[View] = (),
        dissimilarities: Sequence[NDArray[np.float64] | None] = (),
        local_means: NDArray[np.float64] | None = None,
    ) -> None:
        """Learn a sample; before the first fit nothing is known of it.

        Parameters
        ----------
        sample : dict, list or object
        views : sequence of ndarray
            What each criterion sees of it, one row.
        dissimilarities : sequence of ndarray of shape (n_samples,)
            Of the samples in the window to it, for each criterion whose dissimilarities are held.
        local_means : ndarray of shape (1, n_criteria + 1) or None
        """
        place, start = len(self.samples), self.start
        for held, row in zip(self._held, dissimilarities, strict=True):
            if held is not None:
                held[start:place, place] = row
        for buffer, view in zip(self._views, views, strict=True):
            buffer[place] = view[0]
        if self._local_means is not None:
            self._local_means[place] = local_means
        self.samples.append(sample)

    def is_held(self, criterion: int) -> bool:
        """Tell whether the dissimilarities of a criterion are held."""
        return self._held[criterion] is not None

    def pairs(self, criteria: Criteria, views: Views, n_jobs: int | None) -> HeldPairs:
        """Return the pairs of the samples in the window, for a fit to them.

        Criteria that estimate nothing say the same of two samples whatever the window, so
        what they said is held. What others say must be computed anew at every fit.
        """
        start, end, n_samples = self.start, len(self.samples), self.n_samples
        dyads = np.empty((n_samples * (n_samples - 1) // 2, len(criteria)))
        # Kept only when the fit has succeeded.
        self._found = list(self._held) or [None] * len(criteria)
        for place, (criterion, view) in enumerate(zip(criteria, views, strict=True)):
            held = self._found[place]
            if held is None:
                computed = HeldPairs.of(ComputedPairs([criterion], [view], n_jobs)).dyads[:, 0]
                if not estimates(criterion):
                    # Of the first fit; nothing has left the window before it.
                    self._found[place] = self._matrix(computed, n_samples)
            else:
                computed = np.concatenate([held[row, row + 1 : end] for row in range(start, end)])
            dyads[:, place] = computed
        return HeldPairs(dyads, n_samples, n_jobs)

    def _matrix(self, dissimilarities: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
        """Return room for all dissimilarities, those of an earlier sample to a later one, with some of them there."""
        matrix = np.empty((self._n_places, self._n_places))
        end = 0
        for row in range(n_samples):
            start, end = end, end + n_samples - row - 1
            matrix[row, row + 1 : n_samples] = dissimilarities[start:end]
        return matrix

    def adopt(self, views: Views, local_means: NDArray[np.float64] | None) -> None:
        """Take over what a fit to the samples in the window has found of them, and let go of earlier ones."""
        start, end = self.start, len(self.samples)
        del self.samples[:start]
        self._held = self._found
        for held in self._held:
            if held is not None and start:
                held[: end - start, : end - start] = held[start:end, start:end]
        self.n_fitted = len(self.samples)
        self._views = [self._buffer(view) for view in views]
        self._local_means = None if local_means is None else self._buffer(local_means)

    def _buffer(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return room for all places, with the first rows there."""
        buffer = np.empty((self._n_places, *rows.shape[1:]), rows.dtype)
        buffer[: len(rows)] = rows
        return buffer


def estimates(criterion: FittedCriterion) -> bool:
    """Tell whether what a criterion says of two samples depends on others that it was fitted to."""
    metric = criterion.criterion.registered
    return criterion.criterion.transform is not None or (metric is not None and metric.fit is not None)


def check_window(window: object, refresh: object, n_needed: int, n_criteria: int, caller: str) -> tuple[int, int]:
    """Return the size of a window that is large enough and fits into memory, and after how many samples it is fitted.

    Parameters
    ----------
    window, refresh : int or None
    n_needed : int
        Samples that p-values of the size of `alpha` need.
    n_criteria : int
        1 if they are not known yet.
    caller : str
    """
    if not is_integer(window) or window < n_needed:  # type: ignore[operator]
        raise ValueError(
            f"The 'window' parameter of {caller} must be an integer of at least {n_needed:,}, what 'alpha' needs. "
            f"Got {window!r} instead; widen the window, or raise alpha."
        )
    size = int(window)  # type: ignore[call-overload]
    if refresh is None:
        refresh = max(1, size // REFRESHED_SHARE)
    if not is_integer(refresh) or not 1 <= refresh <= size:  # type: ignore[operator]
        raise ValueError(
            f"The 'refresh' parameter of {caller} must be None or an integer from 1 to the size of the window, "
            f"{size:,}. Got {refresh!r} instead; 1 makes the fronts anew after every sample that is learnt."
        )
    n_later = int(refresh)  # type: ignore[call-overload]
    n_places, n_pairs = size + n_later, size * (size - 1) // 2
    n_bytes = 8 * n_criteria * n_places**2 + sorting_bytes(n_pairs, n_criteria) + listing_bytes(size, n_criteria)
    n_free = int(FREE_SHARE * free_bytes())
    if n_bytes > n_free:
        raise ValueError(
            f"The 'window' parameter of {caller} must be so small that its pairs fit into half of the memory that is "
            f"free, {n_free:,} bytes. Got {size:,}, which takes about {n_bytes:,}; narrow the window."
        )
    return size, n_later


def refuse_precomputed(criteria: Sequence[Criterion] | None, caller: str) -> None:
    """Refuse criteria that read matrices, of which a stream has none."""
    for criterion in criteria or []:
        if criterion.is_precomputed:
            raise ValueError(
                f"The criteria of {caller} must compare samples. Got metric='precomputed' for '{criterion.name}' "
                "instead; give a function of two samples, with pairwise=True."
            )
