"""Nearest samples under weighted sums of dissimilarities, for grids of weights."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def nearest_by_sum(
    block: NDArray[np.float64], weights: NDArray[np.float64], n_nearest: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return each row's nearest samples under the weighted sum of a block (n_criteria, n_rows, n_samples).

    The nearest comes first, and of equally near ones that with the smaller index.
    """
    n_criteria, n_rows, n_samples = block.shape
    distances = np.empty((n_rows, n_nearest))
    indices = np.empty((n_rows, n_nearest), np.intp)
    combined = np.empty(n_samples)
    for row in range(n_rows):
        combined[:] = 0.0
        for criterion in range(n_criteria):
            # A weight of zero leaves a criterion out, infinite dissimilarities too.
            if weights[criterion] > 0.0:
                for sample in range(n_samples):
                    combined[sample] += weights[criterion] * block[criterion, row, sample]
        nearest, nearest_index = distances[row], indices[row]
        for sample in range(n_samples):
            distance = combined[sample]
            place = min(sample, n_nearest)
            if place == n_nearest:
                if distance >= nearest[place - 1]:
                    continue
                place -= 1
            while place > 0 and distance < nearest[place - 1]:
                nearest[place] = nearest[place - 1]
                nearest_index[place] = nearest_index[place - 1]
                place -= 1
            nearest[place] = distance
            nearest_index[place] = sample
    return distances, indices


@njit(cache=True, nogil=True)
def root_of(parents: NDArray[np.intp], sample: int) -> int:
    """Return the representative of the set a sample belongs to (union–find, path halving)."""
    while parents[sample] != sample:
        parents[sample] = parents[parents[sample]]
        sample = parents[sample]
    return sample


@njit(cache=True, nogil=True)
def connecting_rank(distances: NDArray[np.float64], indices: NDArray[np.intp]) -> int:
    """Return the smallest k whose symmetric k-NN graph is connected, or 0 if the lists are too short to tell.

    Row i lists the nearest of sample i, the nearest first, itself left out. Samples i and j
    are joined if fewer than k samples are nearer, as in `dyads.connected_n_neighbors`.
    """
    n_samples, n_nearest = distances.shape
    parents = np.arange(n_samples)
    n_components = n_samples
    ends = np.zeros(n_samples, np.intp)
    for k in range(1, n_nearest + 1):
        for sample in range(n_samples):
            while ends[sample] < n_nearest and (
                ends[sample] < k or distances[sample, ends[sample]] == distances[sample, k - 1]
            ):
                a, b = root_of(parents, sample), root_of(parents, indices[sample, ends[sample]])
                if a != b:
                    parents[max(a, b)] = min(a, b)
                    n_components -= 1
                ends[sample] += 1
            # Samples as near as the last of the list may be missing from it.
            if ends[sample] == n_nearest and n_nearest < n_samples - 1 and n_components > 1:
                return 0
        if n_components == 1:
            return k
    return 0
