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


def n_clear_outliers(p_values: NDArray[np.float64]) -> int:
    """Return how many samples of one file stand out, given their `tail_p_values`; NaN stands for none.

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
