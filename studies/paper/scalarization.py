"""What linear combinations of the criteria can reach: the set L of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from paretodepth.fronts.fronts import check_dyads, front_numbers
from studies.hull import lower_left_hull

TOLERANCE = 1e-9
"""With three and more criteria, how far a dyad may miss the minimum, relative to the range of the dyads."""


def scalarizable(dyads: ArrayLike) -> NDArray[np.bool_]:
    """Return which dyads are Pareto-optimal and minimize some non-negative linear combination of the criteria.

    The others on the first front are out of reach for every choice of weights. A dyad on
    the line or plane through other minimizers minimizes too, and so do equal dyads.

    Parameters
    ----------
    dyads : array-like of shape (n_dyads, n_criteria)
        Finite dissimilarities, smaller is more similar.

    Returns
    -------
    is_scalarizable : ndarray of shape (n_dyads,)

    Notes
    -----
    With two criteria the answer is exact: the lower-left hull, its turns decided without
    rounding. With more it is a linear program for each dyad of the first front, right
    up to a relative error of 1e-9.

    References
    ----------
    Section 3.1 of the paper, the set L.

    Examples
    --------
    >>> from studies.paper.scalarization import scalarizable
    >>> scalarizable([[0, 2], [1, 1], [2, 0], [0.9, 1.9], [3, 3]])
    array([ True,  True,  True, False, False])
    """
    dyads = check_finite(check_dyads(dyads, "scalarizable"), "dyads", "scalarizable")
    is_scalarizable = np.zeros(len(dyads), dtype=bool)
    on_front = np.flatnonzero(front_numbers(dyads) == 1)
    front, places = np.unique(dyads[on_front], axis=0, return_inverse=True)
    if len(front) <= 1:
        reached = np.ones(len(front), dtype=bool)
    elif dyads.shape[1] == 2:
        reached = np.zeros(len(front), dtype=bool)
        reached[lower_left_hull(*np.ascontiguousarray(front.T))] = True
    else:
        reached = _minimizers(front)
    is_scalarizable[on_front] = reached[places.ravel()]
    return is_scalarizable


def _minimizers(front: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which dyads minimize a combination, by a linear program in the weights for each.

    The program looks for weights of sum one under which the dyad is below all others by as
    much as possible.
    """
    n_dyads, n_criteria = front.shape
    spans = np.ptp(front, axis=0)
    scaled = (front - front.min(axis=0)) / np.where(spans > 0, spans, 1.0)
    objective = np.append(np.zeros(n_criteria), -1.0)
    sum_of_weights = np.append(np.ones(n_criteria), 0.0)[None]
    bounds = [(0.0, 1.0)] * n_criteria + [(-1.0, 1.0)]
    reached = np.empty(n_dyads, dtype=bool)
    for dyad in range(n_dyads):
        differences = np.column_stack([scaled[dyad] - np.delete(scaled, dyad, axis=0), np.ones(n_dyads - 1)])
        program = linprog(
            objective, differences, np.zeros(n_dyads - 1), sum_of_weights, [1.0], bounds=bounds, method="highs"
        )
        reached[dyad] = -program.fun >= -TOLERANCE
    return reached


def check_finite(array: NDArray[np.float64], parameter: str, caller: str) -> NDArray[np.float64]:
    """Return an array without infinities."""
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be finite. Got {array[row, column]} in row {row}, "
            f"column {column}; drop that row."
        )
    return array
