"""k-NN, k-NN sum, k-LPE and LOF: scores of test samples from dissimilarity matrices, larger is more unusual."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth.criteria.matrices import check_matrices
from paretodepth.pairs.nearest import check_n_neighbors, connecting_rank, nearest_by_sum

FIRST_N_NEAREST = 32
"""Length of the first lists of neighbors; they are made longer where the connected k needs it."""


class Neighbors(NamedTuple):
    """The nearest training samples of each sample, the nearest first.

    Attributes
    ----------
    distances : ndarray of shape (n_samples, n_nearest)
    indices : ndarray of shape (n_samples, n_nearest)
    """

    distances: NDArray[np.float64]
    indices: NDArray[np.intp]

    def first(self, n_neighbors: int) -> Neighbors:
        """Return the `n_neighbors` nearest alone."""
        return Neighbors(self.distances[:, :n_neighbors], self.indices[:, :n_neighbors])


def knn(training: ArrayLike, test: ArrayLike, n_neighbors: int | None = None) -> NDArray[np.float64]:
    """Return the dissimilarity of each test sample to its k-th nearest training sample.

    Parameters
    ----------
    training : array-like of shape (n_training, n_training)
        Dissimilarities of the training samples; the diagonal is zero.
    test : array-like of shape (n_test, n_training)
        Dissimilarities of the test samples to the training samples.
    n_neighbors : int or None, default=None
        k. None: the smallest with a connected symmetric k-NN graph of the training samples.

    Returns
    -------
    scores : ndarray of shape (n_test,)

    Examples
    --------
    >>> from studies.baselines import knn
    >>> knn([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[1, 2, 3], [5, 4, 3]], n_neighbors=2)
    array([2., 4.])
    """
    return _scores("knn", _knn, training, test, n_neighbors)


def knn_sum(training: ArrayLike, test: ArrayLike, n_neighbors: int | None = None) -> NDArray[np.float64]:
    """Return the sum of the dissimilarities of each test sample to its k nearest training samples.

    Parameters and the returned array are as in :func:`knn`.

    Examples
    --------
    >>> from studies.baselines import knn_sum
    >>> knn_sum([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[1, 2, 3], [5, 4, 3]], n_neighbors=2)
    array([3., 7.])
    """
    return _scores("knn_sum", _knn_sum, training, test, n_neighbors)


def klpe(training: ArrayLike, test: ArrayLike, n_neighbors: int | None = None) -> NDArray[np.float64]:
    """Return one minus the local p-value estimate of each test sample.

    That is the share of training samples whose k-th nearest other training sample is
    nearer than the k-th nearest of the test sample. Parameters and the returned array are
    as in :func:`knn`.

    References
    ----------
    Zhao, Saligrama, "Anomaly Detection with Score functions based on Nearest Neighbor
    Graphs", NIPS 2009.

    Examples
    --------
    >>> from studies.baselines import klpe
    >>> klpe([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[1, 2, 3], [5, 4, 3]], n_neighbors=2)
    array([0.33333333, 1.        ])
    """
    return _scores("klpe", _klpe, training, test, n_neighbors)


def lof(training: ArrayLike, test: ArrayLike, n_neighbors: int | None = None) -> NDArray[np.float64]:
    """Return the local outlier factor of each test sample.

    That is how many times denser the surroundings of its k nearest training samples are
    than its own; the same as scikit-learn's ``LocalOutlierFactor(novelty=True)`` gives.
    Parameters and the returned array are as in :func:`knn`.

    References
    ----------
    Breunig, Kriegel, Ng, Sander, "LOF: Identifying Density-based Local Outliers",
    SIGMOD 2000.

    Examples
    --------
    >>> from studies.baselines import lof
    >>> lof([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[1, 2, 3], [5, 4, 3]], n_neighbors=2).round(3)
    array([1.167, 2.042])
    """
    return _scores("lof", _lof, training, test, n_neighbors)


def _knn(training: Neighbors, test: Neighbors) -> NDArray[np.float64]:
    return test.distances[:, -1]


def _knn_sum(training: Neighbors, test: Neighbors) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = test.distances.sum(axis=1)
    return sums


def _klpe(training: Neighbors, test: Neighbors) -> NDArray[np.float64]:
    radii = np.sort(training.distances[:, -1])
    return np.searchsorted(radii, test.distances[:, -1]) / len(radii)


def _lof(training: Neighbors, test: Neighbors) -> NDArray[np.float64]:
    radii = training.distances[:, -1]
    densities = _reachability_densities(training, radii)
    factors: NDArray[np.float64] = densities[test.indices].mean(axis=1) / _reachability_densities(test, radii)
    return factors


def _reachability_densities(neighbors: Neighbors, radii: NDArray[np.float64]) -> NDArray[np.float64]:
    reach = np.maximum(neighbors.distances, radii[neighbors.indices]).mean(axis=1)
    # scikit-learn's guard against dividing by zero where samples coincide.
    densities: NDArray[np.float64] = 1.0 / (reach + 1e-10)
    return densities


RIVALS: dict[str, Callable[[Neighbors, Neighbors], NDArray[np.float64]]] = {
    "k-NN": _knn,
    "k-NN sum": _knn_sum,
    "k-LPE": _klpe,
    "LOF": _lof,
}
"""Scores from the k nearest of the training and of the test samples, by the paper's names."""


def training_neighbors(
    block: NDArray[np.float64], weights: NDArray[np.float64], n_neighbors: int | None
) -> tuple[Neighbors, int]:
    """Return lists of nearest training samples, long enough to hold k, and k, the connected one if None is given.

    `block` holds the training samples' dissimilarities, shape (n_criteria, n_training,
    n_training), each sample infinitely far from itself.
    """
    if n_neighbors is not None:
        return Neighbors(*nearest_by_sum(block, weights, n_neighbors)), n_neighbors
    n_nearest = min(FIRST_N_NEAREST, block.shape[2] - 1)
    while True:
        neighbors = Neighbors(*nearest_by_sum(block, weights, n_nearest))
        k, components = connecting_rank(*neighbors)
        if not components.any():
            return neighbors, k
        n_nearest = min(2 * n_nearest, block.shape[2] - 1)


def _scores(
    caller: str,
    method: Callable[[Neighbors, Neighbors], NDArray[np.float64]],
    training: ArrayLike,
    test: ArrayLike,
    n_neighbors: int | None,
) -> NDArray[np.float64]:
    """Return a method's scores from two matrices, checked."""
    (training_matrix,) = check_matrices([training], ["training"], None, caller)
    (test_matrix,) = check_matrices([test], ["test"], len(training_matrix), caller)
    block = training_matrix[None].astype(np.float64)
    np.fill_diagonal(block[0], np.inf)
    one = np.ones(1)
    if n_neighbors is not None:
        (n_neighbors,) = check_n_neighbors(n_neighbors, ["dissimilarity"], len(training_matrix), caller)
    neighbors, k = training_neighbors(block, one, n_neighbors)
    return method(neighbors.first(k), Neighbors(*nearest_by_sum(test_matrix[None].astype(np.float64), one, k)))
