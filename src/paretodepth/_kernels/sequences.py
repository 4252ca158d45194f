"""Dissimilarities of sequences of unequal lengths.

The sequences of a block lie one after another in one array; sequence i takes the rows
from starts[i] to starts[i + 1].
"""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled


@compiled
def squared_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the squared Euclidean distance of two points of the plane."""
    return float((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)


@compiled
def farthest_nearest(A: NDArray[np.float64], B: NDArray[np.float64], least: float) -> float:
    """Return the largest squared distance of a point of `A` to its nearest of `B`, or `least` if that is larger."""
    farthest = least
    for i in range(A.shape[0]):
        nearest = np.inf
        for j in range(B.shape[0]):
            distance = squared_distance(A[i], B[j])
            if distance < nearest:
                nearest = distance
                # A point that is nearer still cannot be the farthest.
                if nearest <= farthest:
                    break
        farthest = max(farthest, nearest)
    return farthest


@compiled
def hausdorff_distances(
    A: NDArray[np.float64], a_starts: NDArray[np.intp], B: NDArray[np.float64], b_starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the Hausdorff distances of point sequences, shape (a, b)."""
    distances = np.empty((len(a_starts) - 1, len(b_starts) - 1))
    for i in range(distances.shape[0]):
        first = A[a_starts[i] : a_starts[i + 1]]
        for j in range(distances.shape[1]):
            second = B[b_starts[j] : b_starts[j + 1]]
            one_way = farthest_nearest(first, second, 0.0)
            distances[i, j] = np.sqrt(farthest_nearest(second, first, one_way))
    return distances


@compiled
def frechet_distances(
    A: NDArray[np.float64], a_starts: NDArray[np.intp], B: NDArray[np.float64], b_starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the discrete Fréchet distances of point sequences, shape (a, b).

    The leash leashes[j] of the shortest walk to point i of one and point j of the other
    is kept for one i at a time.
    """
    distances = np.empty((len(a_starts) - 1, len(b_starts) - 1))
    for column in range(distances.shape[1]):
        second = B[b_starts[column] : b_starts[column + 1]]
        leashes = np.empty(len(second))
        for row in range(distances.shape[0]):
            first = A[a_starts[row] : a_starts[row + 1]]
            for i in range(len(first)):
                diagonal = np.inf
                for j in range(len(second)):
                    before = leashes[j] if i > 0 else np.inf
                    shortest = min(before, diagonal)
                    if j > 0:
                        shortest = min(shortest, leashes[j - 1])
                    if i == 0 and j == 0:
                        shortest = 0.0
                    # Squared, with one root in the end: which leash is longer does not change.
                    leashes[j] = max(shortest, squared_distance(first[i], second[j]))
                    diagonal = before
            distances[row, column] = np.sqrt(leashes[-1])
    return distances


@compiled
def shape_based_distances(
    A: NDArray[np.float64], a_starts: NDArray[np.intp], B: NDArray[np.float64], b_starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return one less the largest normalized cross-correlation of centred series, shape (a, b).

    A series of zeros correlates with nothing; two of them are alike.
    """
    distances = np.empty((len(a_starts) - 1, len(b_starts) - 1))
    for row in range(distances.shape[0]):
        first = A[a_starts[row] : a_starts[row + 1]]
        first_square = 0.0
        for value in first:
            first_square += value * value
        for column in range(distances.shape[1]):
            second = B[b_starts[column] : b_starts[column + 1]]
            second_square = 0.0
            for value in second:
                second_square += value * value
            if first_square == 0.0 or second_square == 0.0:
                distances[row, column] = 0.0 if first_square == second_square else 1.0
                continue
            largest = 0.0
            for shift in range(1 - len(second), len(first)):
                product = 0.0
                for i in range(max(shift, 0), min(len(first), len(second) + shift)):
                    product += first[i] * second[i - shift]
                largest = max(largest, product)
            # The root of a rounded square is exact, so that equal series are exactly 0 apart.
            distances[row, column] = max(0.0, 1.0 - largest / np.sqrt(first_square * second_square))
    return distances
