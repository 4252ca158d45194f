"""Whether small p-values have become too many, by e-values that no unchanged stream makes large often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MEAN_RUN = 1_000_000
"""Samples of an unchanged stream between two false alarms, on average at least."""
EXPONENTS = np.array([0.25, 0.5, 0.75, 0.9])
"""Of the e-values: the smaller, the smaller the p-values that make them large."""


class DriftMonitor:
    """Detects when the p-values of a stream stop being uniform, in that small ones are too many.

    A p-value p becomes four e-values ``e * p ** (e - 1)``, whose mean over uniform p-values is 1. For each exponent e,
    ``e_values`` holds the sum, over all samples since the last drift, of the product of the e-values from that sample
    on. There is drift when the mean of the four sums reaches `mean_run`. That is the procedure of Shiryaev and Roberts:
    if p-values are uniform or larger, it fires among the first n samples with a probability of at most n / `mean_run`.

    No e-value grows with large p-values. An unchanged stream has slightly too many of these, because each sample of
    the window was compared with one sample less than a new one is.

    Parameters
    ----------
    mean_run : float, default=1000000
        Samples between two false alarms, on average at least.

    Attributes
    ----------
    e_values : ndarray of shape (4,)

    References
    ----------
    Vovk et al., "Retrain or not retrain: conformal test martingales for change-point detection", COPA 2021.

    Examples
    --------
    >>> from paretodepth.streaming.drift import DriftMonitor
    >>> monitor = DriftMonitor()
    >>> [monitor.update(p) for p in (0.5, 0.2, 0.9, 0.001, 0.001, 0.001, 0.001)]
    [False, False, False, False, False, False, True]
    """

    def __init__(self, *, mean_run: float = MEAN_RUN) -> None:
        self.mean_run = mean_run
        self.e_values: NDArray[np.float64] = np.zeros(len(EXPONENTS))

    def update(self, p_value: float) -> bool:
        """Take a p-value, and return whether there is drift."""
        self.e_values = (1 + self.e_values) * EXPONENTS * p_value ** (EXPONENTS - 1)
        if self.e_values.mean() < self.mean_run:
            return False
        self.e_values = np.zeros(len(EXPONENTS))
        return True
