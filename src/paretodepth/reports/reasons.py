"""Why single samples are flagged or not, and the main reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.reference_range import ComparedValue
from paretodepth.scoring.explanation import Explanation


class Reason(NamedTuple):
    """Why one sample is flagged or not.

    Attributes
    ----------
    suspect : int
        The criterion that is the main reason, by index, with which the sentence opens; -1 if a combination is.
    because : str or None
        Its name, or that of the combination; None if the sample is not flagged.
    sentence : str
    criterion_p_values, relief, distances : ndarray of shape (n_criteria,)
        As in :class:`Explanation`.
    neighbors : list of ndarray of shape (n_neighbors,)
        For each criterion the nearest training samples.
    values : dict of list of Value
        By criterion, the values of the sample and their typical ranges, the most unusual first.
    """

    suspect: int
    because: str | None
    sentence: str
    criterion_p_values: NDArray[np.float64]
    relief: NDArray[np.float64]
    distances: NDArray[np.float64]
    neighbors: list[NDArray[np.intp]]
    values: Mapping[int, Sequence[ComparedValue]] = {}

    @property
    def blamed(self) -> ComparedValue | None:
        """The most unusual value of the criterion that is the main reason, if it is known."""
        return next(iter(self.values.get(self.suspect, ())), None)


def reasons_of(explanation: Explanation) -> Iterator[Reason]:
    """Yield an explanation sample by sample."""
    for sample in range(len(explanation)):
        yield Reason(
            *explanation.reason(sample),
            explanation.criterion_p_values[sample],
            explanation.relief[sample],
            explanation.distances[sample],
            [nearest[sample] for nearest in explanation.neighbors],
            explanation.values.of(sample),
        )
