"""The paper's simulation: nominal samples in a cube, anomalies just outside one of its faces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_count, is_real
from paretodepth.criteria.criterion import Criterion


class Hypercube(NamedTuple):
    """Nominal training samples, test samples, and which criterion each test sample is anomalous in.

    Attributes
    ----------
    X_train : ndarray of shape (n_train, n_criteria)
    X_test : ndarray of shape (n_test, n_criteria)
    anomalous_criterion : ndarray of shape (n_test,)
        The criterion, from 0, in which a test sample is anomalous; -1 for nominal samples.
    criteria : list of Criterion
        The squared difference in each coordinate.
    """

    X_train: NDArray[np.float64]
    X_test: NDArray[np.float64]
    anomalous_criterion: NDArray[np.intp]
    criteria: list[Criterion]

    @property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Whether each test sample is an anomaly."""
        return self.anomalous_criterion >= 0


def make_hypercube(
    n_train: int = 300,
    n_test: int = 100,
    *,
    n_criteria: int = 4,
    class_probability: float = 0.05,
    width: float = 0.1,
    random_state: int | None = None,
) -> Hypercube:
    """Draw the samples of the paper's first experiment.

    Nominal samples are uniform on the unit cube. A test sample belongs with the same
    probability to each of `n_criteria` anomalous classes, in which one coordinate is
    uniform on [1, 1 + width] instead.

    Parameters
    ----------
    n_train, n_test : int, default=300 and 100
        Number of training and of test samples.
    n_criteria : int, default=4
        Number of coordinates K.
    class_probability : float, default=0.05
        Probability of each anomalous class; `n_criteria` times it must not exceed 1.
    width : float, default=0.1
        How far outside the cube anomalies may lie.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    data : Hypercube

    References
    ----------
    Section 5.1 of the paper.

    Examples
    --------
    >>> from paretodepth.datasets import make_hypercube
    >>> data = make_hypercube(random_state=0)
    >>> data.X_train.shape, data.X_test.shape, int(data.is_anomaly.sum())
    ((300, 4), (100, 4), 20)
    """
    caller = "make_hypercube"
    n_train, n_test = check_count(n_train, "n_train", caller), check_count(n_test, "n_test", caller)
    n_criteria = check_count(n_criteria, "n_criteria", caller)
    class_probability = check_interval(class_probability, "class_probability", 0, 1 / n_criteria, caller)
    rng = np.random.default_rng(random_state)
    X_train = rng.random((n_train, n_criteria))
    X_test = rng.random((n_test, n_criteria))
    probabilities = [1 - n_criteria * class_probability] + [class_probability] * n_criteria
    anomalous_criterion = rng.choice(np.arange(-1, n_criteria), size=n_test, p=probabilities)
    samples = np.flatnonzero(anomalous_criterion >= 0)
    X_test[samples, anomalous_criterion[samples]] = 1 + width * rng.random(len(samples))
    criteria = [Criterion(f"x{column}", [column], "sqeuclidean") for column in range(n_criteria)]
    return Hypercube(X_train, X_test, anomalous_criterion, criteria)


def check_interval(value: float, parameter: str, low: float, high: float, caller: str) -> float:
    """Return a number from `low` to `high`."""
    if not is_real(value) or not low <= value <= high:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be from {low:g} to {high:g}. Got {value!r} instead."
        )
    return float(value)
