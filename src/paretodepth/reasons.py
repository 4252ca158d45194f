"""What is found out about a sample beside its score: its neighbors, and the score if a criterion were ordinary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.calibration import Calibration
from paretodepth.dyads import nearest_dyads
from paretodepth.pairs import Pairs, spread_rows
from paretodepth.statistics import Measurement, Method, Statistics

N_PROFILED = 200
"""Training samples, spread evenly over all, whose dissimilarities tell what is ordinary at each rank."""
N_PROFILED_VALUES = 2**22
"""Dissimilarities that these have in each criterion, unless there are fewer than `MIN_PROFILED` of them."""
MIN_PROFILED = 25
N_POSITIONED = 50_000
"""Training dyads, spread evenly over all, that a dyad's place in each criterion is told from."""
ORDINARY_P_VALUE = 0.25
"""A criterion with a larger p-value is ordinary already: there is nothing to relieve."""


class Reasons(NamedTuple):
    """What is found of a block of samples.

    Attributes
    ----------
    statistics : Statistics
    neighbors : ndarray of shape (n_samples, s)
        The nearest training samples, criterion after criterion.
    relieved : ndarray of shape (n_samples, n_criteria)
        For each criterion the score if that criterion were ordinary.
    position : ndarray of shape (n_samples,)
    """

    statistics: Statistics
    neighbors: NDArray[np.intp]
    relieved: NDArray[np.float64]
    position: NDArray[np.float64]


@dataclass(frozen=True)
class Reasoning:
    """How reasons are found from blocks of dissimilarities to the training samples.

    Attributes
    ----------
    measurement : Measurement
    calibration : Calibration
    method : {"depth", "criteria", "union"}
        The score whose relief is told.
    profiles : ndarray of shape (n_criteria, n_training)
        The median nominal dissimilarity of each rank.
    places : ndarray of shape (n_places, n_criteria)
        Dissimilarities of nominal pairs in rising order, to place a dyad among them.
    """

    measurement: Measurement
    calibration: Calibration
    method: Method
    profiles: NDArray[np.float64]
    places: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        measurement: Measurement,
        calibration: Calibration,
        method: Method,
        pairs: Pairs,
        dyads: NDArray[np.float64],
    ) -> Reasoning:
        """Return the reasoning from the pairs of training samples, and dyads of some of them."""
        places = np.sort(dyads[:: -(-len(dyads) // N_POSITIONED)], axis=0)
        return cls(measurement, calibration, method, rank_profiles(pairs), places)

    def reasons(self, block: NDArray[np.float64]) -> Reasons:
        """Return the reasons of the rows of a block of shape (n_criteria, n_rows, n_training)."""
        measure = self.measurement
        neighbors, dyads = nearest_dyads(block, measure.n_summed)
        statistics = Statistics(measure.mean_depth(dyads), measure.neighbor_sums(dyads), measure.balanced_sum(block))
        scores = self.calibration.score(statistics, self.method)
        relieved = np.tile(scores[:, None], len(block))
        is_ordinary = self.calibration.criterion_p_values(statistics.neighbor_sums) > ORDINARY_P_VALUE
        for criterion in range(len(block)):
            rows = np.flatnonzero(~is_ordinary[:, criterion])
            of_rows = Statistics(*(part[rows] for part in statistics))
            part = block.take(rows, axis=1)
            relieved[rows, criterion] = self._relieved(part, neighbors[rows], dyads[rows], of_rows, criterion)
        return Reasons(statistics, neighbors, relieved, self._position(dyads))

    def _relieved(
        self,
        block: NDArray[np.float64],
        neighbors: NDArray[np.intp],
        dyads: NDArray[np.float64],
        statistics: Statistics,
        criterion: int,
    ) -> NDArray[np.float64]:
        """Return the scores if one criterion were ordinary; the nearest stay the nearest, as ranks are kept.

        Writes into `block` and `dyads`.
        """
        measure, profile = self.measurement, self.profiles[criterion]
        mean_depth, neighbor_sums, balanced_sum = statistics
        with np.errstate(over="ignore"):
            neighbor_sums[:, criterion] = profile[: measure.n_summed[criterion]].sum()
        if self.method != "criteria":
            part = block[criterion]
            order = part.argsort(axis=1)
            rising, asked = (np.take_along_axis(part, places, axis=1) for places in (order, neighbors))
            for row in range(len(dyads)):
                dyads[row, :, criterion] = profile[np.searchsorted(rising[row], asked[row])]
            mean_depth = measure.mean_depth(dyads)
            if self.method == "union":
                np.put_along_axis(part, order, profile[None], axis=1)
                balanced_sum = measure.balanced_sum(block)
        return self.calibration.score(Statistics(mean_depth, neighbor_sums, balanced_sum), self.method)

    def _position(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where the dyads of each row lie along the fronts of two criteria; see `Explanation`."""
        if dyads.shape[2] != 2:
            return np.full(len(dyads), np.nan)
        # A place is never 0, so that dyads smaller than all nominal ones have a position too.
        first, second = (1 + np.searchsorted(self.places[:, c], dyads[:, :, c]) for c in range(2))
        position: NDArray[np.float64] = (first / (first + second)).mean(axis=1)
        return position


def rank_profiles(pairs: Pairs) -> NDArray[np.float64]:
    """Return the median dissimilarity of each rank, shape (n_criteria, n_samples)."""
    n_rows = max(MIN_PROFILED, min(N_PROFILED, N_PROFILED_VALUES // pairs.n_samples))
    # The last of each row is its infinite distance from itself.
    blocks = [
        np.sort(pairs.block(slice(row, row + 1)), axis=2)[:, :, :-1] for row in spread_rows(pairs.n_samples, n_rows)
    ]
    profiles = np.median(np.concatenate(blocks, axis=1), axis=1)
    # A new sample has one more training sample to be compared with.
    return np.concatenate([profiles, profiles[:, -1:]], axis=1)
