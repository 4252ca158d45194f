"""Nearest training samples, read from blocks of dissimilarities (n_criteria, n_rows, n_samples)."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def pack_rows(block: NDArray[np.float64], dyads: NDArray[np.float64]) -> None:
    """Write the dyads of consecutive samples with all later ones, one row of `dyads` a pair.

    Row r, column c of each criterion's part of `block` is the pair of the r-th of these
    samples with the c-th sample counted from the first of them.
    """
    n_criteria, n_rows, n_columns = block.shape
    dyad = 0
    for row in range(n_rows):
        for column in range(row + 1, n_columns):
            for criterion in range(n_criteria):
                dyads[dyad, criterion] = block[criterion, row, column]
            dyad += 1


@njit(cache=True, nogil=True)
def unpack_rows(dyads: NDArray[np.float64], n_samples: int, start: int, stop: int) -> NDArray[np.float64]:
    """Return the block of samples start…stop - 1 against all; a sample is infinitely far from itself."""
    n_criteria = dyads.shape[1]
    block = np.empty((n_criteria, stop - start, n_samples))
    # The pair (a, b), a < b, lies at a * n_samples - a * (a + 1) / 2 + b - a - 1. Those of one earlier sample with the
    # block's lie side by side, so they are read together.
    for other in range(stop):
        first = other * n_samples - other * (other + 1) // 2 - other - 1
        for sample in range(max(start, other + 1), stop):
            for criterion in range(n_criteria):
                block[criterion, sample - start, other] = dyads[first + sample, criterion]
    for sample in range(start, stop):
        first = sample * n_samples - sample * (sample + 1) // 2 - sample - 1
        for criterion in range(n_criteria):
            block[criterion, sample - start, sample] = np.inf
            for other in range(sample + 1, n_samples):
                block[criterion, sample - start, other] = dyads[first + other, criterion]
    return block


@njit(cache=True, nogil=True)
def unpack_later(dyads: NDArray[np.float64], n_samples: int, start: int, stop: int) -> NDArray[np.float64]:
    """Return the block of samples start…stop - 1 against these and all later ones, 0 on and below the diagonal."""
    n_criteria = dyads.shape[1]
    block = np.zeros((n_criteria, stop - start, n_samples - start))
    for sample in range(start, stop):
        first = sample * n_samples - sample * (sample + 1) // 2
        for criterion in range(n_criteria):
            row = block[criterion, sample - start]
            for other in range(sample + 1, n_samples):
                row[other - start] = dyads[first + other - sample - 1, criterion]
    return block


@njit(cache=True, nogil=True)
def mirror_square(block: NDArray[np.float64], start: int) -> None:
    """Copy what is right of the diagonal to its left; rows and columns `start`, … of the block are the same samples.

    The diagonal becomes infinite: no sample is its own neighbor.
    """
    n_criteria, n_rows, _ = block.shape
    for criterion in range(n_criteria):
        for row in range(n_rows):
            block[criterion, row, start + row] = np.inf
            for column in range(row):
                block[criterion, row, start + column] = block[criterion, column, start + row]


@njit(cache=True, nogil=True)
def is_nearer(block: NDArray[np.float64], criterion: int, row: int, a: int, b: int) -> bool:
    """Tell whether sample `a` comes before `b` among the neighbors of a row in one criterion.

    Equal dissimilarities are told apart by the other criteria in their order, then by index.
    """
    if block[criterion, row, a] != block[criterion, row, b]:
        return bool(block[criterion, row, a] < block[criterion, row, b])
    for other in range(block.shape[0]):
        if block[other, row, a] != block[other, row, b]:
            return bool(block[other, row, a] < block[other, row, b])
    return a < b


@njit(cache=True, nogil=True)
def sift_down(
    block: NDArray[np.float64], criterion: int, row: int, heap: NDArray[np.intp], place: int, size: int
) -> None:
    """Restore a heap with the farthest sample on top after a change at `place`."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and is_nearer(block, criterion, row, heap[child], heap[child + 1]):
            child += 1
        if not is_nearer(block, criterion, row, heap[place], heap[child]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@njit(cache=True, nogil=True)
def select_nearest(block: NDArray[np.float64], n_neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return each row's nearest samples, criterion after criterion, the nearest first."""
    n_criteria, n_rows, n_samples = block.shape
    n_selected = 0
    for size in n_neighbors:
        n_selected += size
    neighbors = np.empty((n_rows, n_selected), np.intp)
    for row in range(n_rows):
        end = 0
        for criterion in range(n_criteria):
            size = n_neighbors[criterion]
            heap = neighbors[row, end : end + size]
            end += size
            for place in range(size):
                heap[place] = place
            for place in range(size // 2 - 1, -1, -1):
                sift_down(block, criterion, row, heap, place, size)
            for sample in range(size, n_samples):
                if is_nearer(block, criterion, row, sample, heap[0]):
                    heap[0] = sample
                    sift_down(block, criterion, row, heap, 0, size)
            for last in range(size - 1, 0, -1):
                heap[0], heap[last] = heap[last], heap[0]
                sift_down(block, criterion, row, heap, 0, last)
    return neighbors


@njit(cache=True, nogil=True)
def count_nearer(rows: NDArray[np.float64], neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each row and each of its neighbors how many samples are nearer, under one criterion."""
    counts = np.zeros(neighbors.shape, np.intp)
    for row in range(len(neighbors)):
        values = rows[row]
        for place in range(neighbors.shape[1]):
            value = values[neighbors[row, place]]
            count = 0
            for other in values:
                count += other < value
            counts[row, place] = count
    return counts


@njit(cache=True, nogil=True)
def sum_nearest(dyads: NDArray[np.float64], n_neighbors: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return each row's sum, in each criterion, over the dyads with its nearest in that criterion.

    `dyads` (n_rows, s, n_criteria) are those of the samples that `select_nearest` returns. They
    are added one after the other, so that no bit depends on how many rows there are.
    """
    n_rows, _, n_criteria = dyads.shape
    sums = np.zeros((n_rows, n_criteria))
    for row in range(n_rows):
        dyad = 0
        for criterion in range(n_criteria):
            for _ in range(n_neighbors[criterion]):
                sums[row, criterion] += dyads[row, dyad, criterion]
                dyad += 1
    return sums


@njit(cache=True, nogil=True)
def root_of(parents: NDArray[np.intp], sample: int) -> int:
    """Return the representative of the set a sample belongs to (union–find, path halving)."""
    while parents[sample] != sample:
        parents[sample] = parents[parents[sample]]
        sample = parents[sample]
    return sample


@njit(cache=True, nogil=True)
def rank_components(rows: NDArray[np.float64], components: NDArray[np.intp], n_components: int) -> NDArray[np.intp]:
    """Return for each row the rank of its nearest sample in each component (1: none is nearer)."""
    ranks = np.empty((rows.shape[0], n_components), np.intp)
    for row in range(rows.shape[0]):
        nearest = np.full(n_components, np.inf)
        for sample in range(rows.shape[1]):
            component = components[sample]
            nearest[component] = min(nearest[component], rows[row, sample])
        ranks[row] = np.searchsorted(np.sort(rows[row]), nearest) + 1
    return ranks


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
def connecting_rank(distances: NDArray[np.float64], indices: NDArray[np.intp]) -> tuple[int, NDArray[np.intp]]:
    """Return the smallest k whose symmetric k-NN graph is connected, and a root for each sample, all the same.

    Row i lists the nearest of sample i, the nearest first, itself left out. Samples i and j
    are joined if fewer than k samples are nearer. If the lists are too short to tell, k is no
    larger than the smallest, and samples with the same root are joined in that k's graph.
    """
    n_samples, n_nearest = distances.shape
    parents = np.empty(n_samples, np.intp)
    for sample in range(n_samples):
        parents[sample] = sample
    n_components = n_samples
    ends = np.zeros(n_samples, np.intp)
    is_short = False
    k = 0
    while n_components > 1 and k < n_nearest and not is_short:
        k += 1
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
            if ends[sample] == n_nearest and n_nearest < n_samples - 1:
                is_short = True
    for sample in range(n_samples):
        parents[sample] = root_of(parents, sample)
    return k, parents
