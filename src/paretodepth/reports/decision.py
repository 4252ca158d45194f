"""Who is called: by a rate, by a share of the file, or by how far samples stand out of the rest of their own file."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_rate
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.calibration import discoveries

ONE_FILE_SHARE = 0.05
"""The share of one file's samples that is called if nothing else is asked for."""
ONE_FILE_FDR = 0.1
"""The false discovery rate at which samples of one file stand out."""
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


def stand_out_p_values(scores: NDArray[np.float64]) -> NDArray[np.float64]:
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
    >>> stand_out_p_values(scores)[[49, 98, 99]].round(5)
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


def n_standing_out(p_values: NDArray[np.float64]) -> int:
    """Return how many samples of one file stand out, given their `stand_out_p_values`; NaN stands for none.

    An estimate: how far scores go without anomalies is known only from the rest of the file.
    """
    return int(discoveries(p_values[~np.isnan(p_values)], ONE_FILE_FDR).sum())


def fdr_threshold(scores: NDArray[np.float64], p_values: NDArray[np.float64], fdr: float) -> float:
    """Return the largest score of a sample that is not called at a false discovery rate."""
    is_called = discoveries(p_values, fdr)
    if not len(scores):
        return math.inf
    return float(scores[~is_called].max()) if not is_called.all() else float(np.nextafter(scores.min(), -np.inf))


def share_threshold(scores: NDArray[np.float64], share: float) -> float:
    """Return the score above which that share of the samples lies, rounded to whole samples; at least one does.

    Of tied samples at the threshold none is called, unless nothing else would be.

    Examples
    --------
    >>> share_threshold(np.arange(10.0), 0.2)
    7.0
    """
    rising = np.sort(scores)
    # Half a sample counts: 5 % of 50 samples are 3.
    n_called = max(1, math.floor(share * len(rising) + 0.5))
    below = rising[-n_called - 1] if n_called < len(rising) else -np.inf
    return float(below if below < rising[-1] else np.nextafter(rising[-1], -np.inf))


def check_contamination(share: object) -> float:
    """Return the share of a file's samples that are to be called."""
    return check_rate(share, "contamination", "detect", "the share of the samples to be called anomalies, 0.05 say")


def check_one_rate(detector: ParetoDepthDetector, fdr: float | None, contamination: float | None) -> None:
    """Refuse several ways to choose who is called."""
    given = {
        "alpha": detector.alpha,
        "threshold": detector.threshold,
        "fdr": fdr,
        "contamination": contamination,
    }
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ValueError(
            f"Give either {' or '.join(names)}. Got {'both' if len(names) == 2 else 'all'}; alpha bounds false alarms, "
            "fdr their share of the calls, contamination is the share of one file's samples to call, and threshold "
            "the score above which samples are called."
        )


def check_one_file(contamination: object, has_samples: bool) -> None:
    """Refuse to call a share of new samples: what they hold is not known, and the training samples tell what is odd."""
    if contamination is not None and has_samples:
        raise ValueError(
            "A contamination is the share of one file's samples to call. Got new samples beside the training samples; "
            "give alpha or fdr, or one file alone."
        )


def check_leave_one_out(detector: ParetoDepthDetector) -> None:
    """Refuse to compare all training samples with the others if a split would hold some of them out."""
    if detector.calibration == "split":
        raise ValueError(
            "The detector given to detect must calibrate by 'leave-one-out' to score its own training samples. Got "
            "'split' instead; give samples, or leave out calibration."
        )
