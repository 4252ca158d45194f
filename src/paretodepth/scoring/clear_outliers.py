"""Who stands out of the rest, when nobody else is there to compare with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TAIL_SHARE = 0.1
"""Share of the samples of a file that its tail starts with."""
MIN_TAIL = 5
"""Samples that the tail has at least."""
TAIL_SHAPE = 0.25
"""Of the generalised Pareto distribution that continues the tail; 0 would be exponential.

Distances to nearest samples have heavier tails than that, but how heavy differs. Share, scale and shape were chosen
among 24 settings on the tables of ADBench, by the very figures that follow: with 0 to 10 % of anomalies a mean share of
0.14 to 0.20 of those called was nominal, so a rate of 0.1 is what is aimed at and not what is kept. A shape of 0 calls
far more (0.32 to 0.39 nominal), one of 1/2 next to nobody."""


def tail_p_values(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often the rest of a file suggests a score at least as large.

    Ranks cannot tell: among themselves some samples are always the strangest. So the upper tenth
    of the scores is taken for the tail of a generalised Pareto distribution whose scale is that
    of the lower half of the tail, which up to a twentieth of anomalies leave alone. Below the
    tail it is the share of samples that score at least as much. That is a guess from the shape of
    the scores, not a p-value with a guarantee: where nominal samples have a heavier tail, more of
    them are called than a false discovery rate says.

    Examples
    --------
    >>> scores = np.append(np.linspace(0, 1, 99), 50.0)
    >>> tail_p_values(scores)[[49, 98, 99]].round(5)
    array([0.51   , 0.03561, 0.     ])
    """
    rising = np.sort(scores)
    n_samples = len(rising)
    n_tail = min(n_samples - 1, max(MIN_TAIL, int(TAIL_SHARE * n_samples)))
    p_values = (n_samples - np.searchsorted(rising, scores)) / n_samples
    if n_tail < 1:
        return p_values
    start = rising[-n_tail - 1]
    excess = np.maximum(scores - start, 0.0)
    n_lower = (n_tail + 1) // 2
    # The excess that this share of the tail exceeds gives the scale.
    share = 1 - n_lower / (n_tail + 1)
    typical = rising[n_samples - n_tail + n_lower - 1] - start
    scale = typical * TAIL_SHAPE / (share**-TAIL_SHAPE - 1)
    if scale <= 0:
        # Half of the tail is tied with its start: there is no telling what else to expect.
        return p_values
    tail = n_tail / n_samples * (1 + TAIL_SHAPE * excess / scale) ** (-1 / TAIL_SHAPE)
    found: NDArray[np.float64] = np.where(scores > start, tail, p_values)
    return found
