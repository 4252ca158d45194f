"""What is measured of a sample: its mean depth, and sums of dissimilarities to its nearest training samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels.neighbors import sum_nearest
from paretodepth._kernels.weights import nearest_by_sum
from paretodepth.depth import Depths
from paretodepth.dyads import nearest_dyads

Method = Literal["depth", "criteria", "union"]


class Statistics(NamedTuple):
    """What is measured of samples, larger is stranger.

    Attributes
    ----------
    mean_depth : ndarray of shape (n_samples,)
    neighbor_sums : ndarray of shape (n_samples, n_criteria)
        In each criterion, the sum of the dissimilarities to the k nearest training samples.
    balanced_sum : ndarray of shape (n_samples,)
        The same of the sum of all criteria, each divided by its median nominal dyad.
    """

    mean_depth: NDArray[np.float64]
    neighbor_sums: NDArray[np.float64]
    balanced_sum: NDArray[np.float64]


def joined(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of consecutive blocks of samples as one."""
    return Statistics(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Measurement:
    """How statistics are taken from blocks of dissimilarities to the training samples.

    Attributes
    ----------
    depths : Depths
    n_neighbors : ndarray of shape (n_criteria,)
    weights : ndarray of shape (n_criteria,)
        Of the criteria in the balanced sum.
    """

    depths: Depths
    n_neighbors: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def fit(cls, depths: Depths, n_neighbors: NDArray[np.intp], dyads: NDArray[np.float64]) -> Measurement:
        """Return the measurement whose weights balance the training dyads."""
        medians = np.median(dyads, axis=0)
        # A criterion in which most pairs are equal has no scale but the mean, and a constant zero needs none.
        scales = np.where(medians > 0, medians, dyads.mean(axis=0))
        return cls(depths, n_neighbors, 1 / np.where(scales > 0, scales, 1.0))

    def mean_depth(self, dyads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the paper's v from nearest dyads of shape (n_rows, s, n_criteria)."""
        n_rows, n_dyads, n_criteria = dyads.shape
        depths = self.depths.of(dyads.reshape(-1, n_criteria)).reshape(n_rows, n_dyads)
        mean: NDArray[np.float64] = depths.mean(axis=1)
        return mean

    def statistics(self, block: NDArray[np.float64], method: Method) -> Statistics:
        """Return the statistics of the rows of a block; those that the method does not need are empty."""
        n_rows = block.shape[1]
        _, dyads = nearest_dyads(block, self.n_neighbors)
        mean_depth, neighbor_sums, balanced_sum = np.empty((n_rows, 0)), np.empty((n_rows, 0)), np.empty((n_rows, 0))
        if method != "criteria":
            mean_depth = self.mean_depth(dyads)
        if method != "depth":
            neighbor_sums = sum_nearest(dyads, self.n_neighbors)
        if method == "union":
            balanced_sum = self.balanced_sum(block)
        return Statistics(mean_depth, neighbor_sums, balanced_sum)

    def balanced_sum(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the k nearest of each row under the weighted sum of the criteria."""
        distances, _ = nearest_by_sum(block, self.weights, int(self.n_neighbors.max()))
        # Added one after the other, so that no bit depends on how many rows there are.
        sums: NDArray[np.float64] = distances.cumsum(axis=1)[:, -1]
        return sums
