"""Grids of weights: what each method reaches with every weighted sum of the criteria."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from paretodepth._checks import check_count
from paretodepth.pairs.nearest import nearest_by_sum
from studies.baselines.scores import RIVALS, Neighbors, training_neighbors


def weight_grid(n_criteria: int, n_values: int) -> NDArray[np.float64]:
    """Return all weights with `n_values` evenly spaced values from 0 to 1 per criterion, all-zero left out.

    Parameters
    ----------
    n_criteria, n_values : int

    Returns
    -------
    weights : ndarray of shape (n_values ** n_criteria - 1, n_criteria)

    Examples
    --------
    >>> from studies.baselines import weight_grid
    >>> len(weight_grid(4, 6))
    1295
    """
    n_criteria = check_count(n_criteria, "n_criteria", "weight_grid")
    values = np.linspace(0, 1, check_count(n_values, "n_values", "weight_grid"))
    return np.array(list(product(values, repeat=n_criteria)))[1:]


def weighted_scores(
    training: NDArray[np.float64],
    test: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_neighbors: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return each method's scores of the test samples for every weight.

    The criteria are computed once, by the caller; a weight costs one pass over the
    dissimilarities.

    Parameters
    ----------
    training : ndarray of shape (n_criteria, n_training, n_training)
        Dissimilarities of the training samples, each infinitely far from itself.
    test : ndarray of shape (n_criteria, n_test, n_training)
        Dissimilarities of the test samples to the training samples.
    weights : ndarray of shape (n_weights, n_criteria)
    n_neighbors : int or None, default=None
        k. None: the connected k of the training samples under each weighted sum.

    Returns
    -------
    scores : dict of ndarray of shape (n_weights, n_test)
        By the method's name; larger is more unusual.
    """
    scores = {name: np.empty((len(weights), test.shape[1])) for name in RIVALS}
    for row, weight in enumerate(weights):
        neighbors, k = training_neighbors(training, weight, n_neighbors)
        nearest = neighbors.first(k), Neighbors(*nearest_by_sum(test, weight, k))
        for name, method in RIVALS.items():
            scores[name][row] = method(*nearest)
    return scores


def areas_under_curves(
    is_anomaly: Sequence[bool] | NDArray[np.bool_], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the area under the ROC curve of each row of scores, ties counting one half.

    Parameters
    ----------
    is_anomaly : array-like of shape (n_samples,)
    scores : ndarray of shape (n_rows, n_samples)
        Larger is more unusual.

    Returns
    -------
    areas : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from studies.baselines import areas_under_curves
    >>> areas_under_curves([False, False, True], np.array([[1, 2, 3], [1, 2, 2], [2, 2, 1]]))
    array([1.  , 0.75, 0.  ])
    """
    is_anomaly = np.asarray(is_anomaly)
    n_anomalies = np.count_nonzero(is_anomaly)
    ranks = rankdata(scores, axis=1)[:, is_anomaly].sum(axis=1)
    areas: NDArray[np.float64] = (ranks / n_anomalies - (n_anomalies + 1) / 2) / (len(is_anomaly) - n_anomalies)
    return areas
