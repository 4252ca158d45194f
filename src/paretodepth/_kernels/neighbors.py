"""Nearest training samples, read from blocks of dissimilarities (n_criteria, n_rows, n_samples).

What every fit needs is written into arrays that are given: to compile the making of arrays takes as long as the rest.
"""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

AT_ONCE = 32
"""Samples that are compared with the farthest of the nearest before each is looked at."""


@compiled
def unpack_rows(dyads: NDArray[np.float64], start: int, block: NDArray[np.float64]) -> None:
    """Fill the block of samples `start`, … against all; a sample is infinitely far from itself."""
    n_criteria, n_rows, n_samples = block.shape
    stop = start + n_rows
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


@compiled
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


@compiled
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


@compiled
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


@compiled
def select_nearest(block: NDArray[np.float64], n_neighbors: NDArray[np.intp], neighbors: NDArray[np.intp]) -> None:
    """Write each row's nearest samples, criterion after criterion, the nearest first."""
    n_criteria, n_rows, n_samples = block.shape
    # A literal would be compiled for itself.
    top = int(np.intp(0))
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
            # The farthest of the nearest so far is on top, and nearly all samples end at one comparison with it, which
            # the processor makes of several at once.
            for start in range(size, n_samples, AT_ONCE):
                stop = min(start + AT_ONCE, n_samples)
                farthest = block[criterion, row, heap[0]]
                values = block[criterion, row, start:stop]
                n_near = 0
                for place in range(values.shape[0]):
                    n_near += values[place] <= farthest
                if n_near > 0:
                    for sample in range(start, stop):
                        if is_nearer(block, criterion, row, sample, heap[0]):
                            heap[0] = sample
                            sift_down(block, criterion, row, heap, top, size)
            for last in range(size - 1, 0, -1):
                heap[0], heap[last] = heap[last], heap[0]
                sift_down(block, criterion, row, heap, top, last)


@compiled
def join_nearest(
    distances: NDArray[np.float64], neighbors: NDArray[np.intp], largest: int, parents: NDArray[np.intp]
) -> int:
    """Join samples to their nearest, rank by rank, until all are connected; return that rank, at most the largest.

    Row i lists the nearest of sample i, the nearest first; of equally near ones all have the rank of the first. A
    sample's parent is another of its component, or itself if it stands for the component.
    """
    n_samples, n_listed = neighbors.shape
    for sample in range(n_samples):
        parents[sample] = sample
    n_components = n_samples
    rank = 0
    while rank < largest and n_components > 1:
        for sample in range(n_samples):
            distance = distances[sample, rank]
            if rank > 0 and distances[sample, rank - 1] == distance:
                continue
            place = rank
            while place < n_listed and distances[sample, place] == distance:
                one, other = sample, neighbors[sample, place]
                # Whoever is passed on the way up is hung higher.
                while parents[one] != one:
                    parents[one] = parents[parents[one]]
                    one = parents[one]
                while parents[other] != other:
                    parents[other] = parents[parents[other]]
                    other = parents[other]
                n_components -= one != other
                parents[one] = other
                place += 1
        rank += 1
    return rank


@compiled
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
