"""The last samples of a stream: as they came, as criteria encode them, and their dissimilarities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import is_integer
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.encoding import check_common
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.pairs.limits import FREE_SHARE, free_bytes, listing_bytes, sorting_bytes
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Encodings, HeldPairs

Matrices = list[NDArray[np.float64] | None]
REFRESHED_SHARE = 2
"""By default the model is fitted again when one of this many samples in the window is new."""


class Window:
    """The samples that the model was fitted to, and those learnt since.

    The window is the last `size` of them. Samples that have left it stay until the next fit,
    so that from the samples alone a state can be made again: by a fit to the first, and by
    learning the others. If fits fail for long, `2 * size` of the others stay: enough for all
    that is known of the window.

    Every array here has a row for each sample in the window, in their order, after rows of
    samples that have left it.

    Parameters
    ----------
    size : int
        How many samples the window holds at most.
    n_later : int
        How many samples are learnt between two fits at most, if none fails.

    Attributes
    ----------
    fitted : list
        The samples of the last fit, as `SampleReader.kept` returns them; empty before the first fit.
    later : list
        Those learnt since.
    age : int
        How many samples were learnt since the last fit.
    """

    def __init__(self, size: int, n_later: int) -> None:
        self.size = size
        self.fitted: list[Any] = []
        self.later: list[Any] = []
        self.age = 0
        self._n_places = size + n_later
        self._n_rows = 0
        self._views: list[Encoding] = []
        self._held: Matrices = []
        self._found: Matrices = []
        self._local_means: NDArray[np.float64] | None = None

    @property
    def samples(self) -> list[Any]:
        """The samples in the window, the oldest first."""
        return [*self.fitted, *self.later][-self.size :]

    @property
    def n_samples(self) -> int:
        """How many samples are in the window."""
        return min(self.size, len(self.fitted) + len(self.later))

    @property
    def rows(self) -> slice:
        """The rows of the samples in the window; before the first fit those that they will have."""
        end = self._n_rows or self.n_samples
        return slice(end - self.n_samples, end)

    @property
    def encodings(self) -> list[Encoding]:
        """The samples in the window as criteria encode them."""
        return [encoding[self.rows] for encoding in self._views]

    @property
    def local_means(self) -> NDArray[np.float64] | None:
        """The local means of the samples in the window, if the method has some."""
        return None if self._local_means is None else self._local_means[self.rows]

    def append(
        self,
        sample: Any,
        encodings: Sequence[Encoding] = (),
        dissimilarities: Sequence[NDArray[np.float64] | None] = (),
        local_means: NDArray[np.float64] | None = None,
    ) -> None:
        """Learn a sample; before the first fit nothing is known of it.

        Parameters
        ----------
        sample : dict, list or object
        views : sequence of ndarray
            The sample as each criterion encodes it, one row.
        dissimilarities : sequence of ndarray of shape (n_samples,)
            Of the samples in the window to it, for each criterion whose dissimilarities are held.
        local_means : ndarray of shape (1, n_criteria + 1) or None
        """
        if self._n_rows == self._n_places:
            self._move_to_front(self._held)
        rows, place = self.rows, self._n_rows
        for held, row in zip(self._held, dissimilarities, strict=True):
            if held is not None:
                held[rows, place] = row
        for buffer, encoding in zip(self._views, encodings, strict=True):
            buffer[place] = encoding[0]
        if self._local_means is not None:
            self._local_means[place] = local_means
        self._n_rows += len(self._views) > 0
        self.later.append(sample)
        self.age += 1
        # Before the first fit nothing is known of samples, so none need stay that has left the window.
        del self.later[: -(2 * self.size if self.fitted else self.size)]

    def is_held(self, criterion: int) -> bool:
        """Tell whether the dissimilarities of a criterion are held."""
        return self._held[criterion] is not None

    def pairs(self, criteria: Criteria, encodings: Encodings, n_jobs: int | None) -> HeldPairs:
        """Return the pairs of the samples in the window, for a fit to them.

        Criteria that estimate nothing say the same of two samples whatever the window, so
        what they said is held. What others say must be computed at every fit.
        """
        start, end, n_samples = self.rows.start, self.rows.stop, self.n_samples
        dyads = np.empty((n_samples * (n_samples - 1) // 2, len(criteria)))
        # Kept only when the fit has succeeded.
        self._found = list(self._held) or [None] * len(criteria)
        for place, (criterion, encoding) in enumerate(zip(criteria, encodings, strict=True)):
            held = self._found[place]
            if held is None:
                computed = HeldPairs.of(ComputedPairs([criterion], [encoding], n_jobs)).dyads[:, 0]
                if not estimates(criterion):
                    self._found[place] = self._matrix(computed)
            else:
                computed = np.concatenate([held[row, row + 1 : end] for row in range(start, end)])
            dyads[:, place] = computed
        return HeldPairs(dyads, n_samples, n_jobs)

    def _matrix(self, dissimilarities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a matrix of dissimilarities of earlier samples to later ones, with those of the window."""
        matrix = np.empty((self._n_places, self._n_places))
        last = self.rows.stop
        end = 0
        for row in range(self.rows.start, last):
            start, end = end, end + last - row - 1
            matrix[row, row + 1 : last] = dissimilarities[start:end]
        return matrix

    def adopt(self, encodings: Encodings, local_means: NDArray[np.float64] | None) -> None:
        """Take over what a fit to the samples in the window has found of them, and forget earlier ones."""
        self._fill(encodings, local_means, self._found)
        self.fitted, self.later, self.age = self.samples, [], 0

    def restart(self, samples: list[Any], encodings: Encodings) -> None:
        """Hold samples that were learnt long after the last fit; their dissimilarities and local means are unknown."""
        unknown = None if self._local_means is None else np.zeros((len(samples), len(encodings) + 1))
        self._fill(encodings, unknown, [None] * len(encodings))
        self.later = samples

    def _fill(self, encodings: Encodings, local_means: NDArray[np.float64] | None, held: Matrices) -> None:
        """Begin the arrays with samples of the window."""
        buffers = [self._buffer(encoding) for encoding in encodings]
        means = None if local_means is None else self._buffer(local_means)
        self._move_to_front(held)
        # Only now that there was memory for all.
        self._views, self._local_means, self._held, self._n_rows = buffers, means, held, len(encodings[0])

    def _buffer(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return an array with a row for each place, the first of which are given."""
        buffer = np.empty((self._n_places, *rows.shape[1:]), rows.dtype)
        buffer[: len(rows)] = rows
        return buffer

    def _move_to_front(self, matrices: Matrices) -> None:
        """Move the rows of the window, and those of some matrices, to the front of their arrays."""
        rows, n_samples = self.rows, self.n_samples
        for matrix in matrices:
            if matrix is not None and rows.start:
                matrix[:n_samples, :n_samples] = matrix[rows, rows]
        for buffer in [*self._views, *([] if self._local_means is None else [self._local_means])]:
            buffer[:n_samples] = buffer[rows]
        self._n_rows = n_samples


def estimates(criterion: FittedCriterion) -> bool:
    """Tell whether what a criterion says of two samples depends on others that it was fitted to."""
    metric = criterion.criterion.registered
    return criterion.criterion.transform is not None or (metric is not None and metric.fit is not None)


def check_pairs(criteria: Criteria, encodings: Encodings, others: Encodings, number: int, n_jobs: int | None) -> None:
    """Refuse a sample that cannot be compared with others, as far as that does not depend on what criteria estimate.

    Parameters
    ----------
    criteria : sequence of FittedCriterion
    views, others : sequence of ndarray
        The sample and the others, as criteria encode them.
    number : int
        The number of the sample in the stream, for messages.
    n_jobs : int or None
    """
    for criterion, encoding, other in zip(criteria, encodings, others, strict=True):
        if not estimates(criterion):
            is_named = criterion.criterion.registered is not None
            # A function is asked for the dissimilarity of the earlier sample to the later one, as in a fit.
            A, B, origin = (encoding, other, (number, 0)) if is_named else (other, encoding, (0, number))
            criterion.dissimilarities(A, B, origin, n_jobs)
        elif criterion.criterion.missing == "ignore":
            n_common = (~np.isnan(encoding)).astype(np.float64) @ (~np.isnan(other)).astype(np.float64).T
            check_common(np.where(n_common > 0, 0.0, np.nan), criterion.name, (number, 0), n_columns=encoding.shape[1])


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
