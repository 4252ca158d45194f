"""Which samples are flagged: by a rate, by a share of the table, or as clear outliers among the others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_rate
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.calibration import discoveries

ONE_FILE_SHARE = 0.05
"""The share of a single table that is flagged by default."""
ONE_FILE_FDR = 0.1
"""The false discovery rate of clear outliers."""


def n_clear_outliers(p_values: NDArray[np.float64]) -> int:
    """Return the number of clear outliers, given their `tail_p_values`; NaN stands for none.

    For a single table this is an estimate, because only the other records show how large scores are without anomalies.
    """
    return int(discoveries(p_values[~np.isnan(p_values)], ONE_FILE_FDR).sum())


def fdr_threshold(scores: NDArray[np.float64], p_values: NDArray[np.float64], fdr: float) -> float:
    """Return the largest score of a sample that is not flagged at a false discovery rate."""
    is_flagged = discoveries(p_values, fdr)
    if not len(scores):
        return math.inf
    return float(scores[~is_flagged].max()) if not is_flagged.all() else float(np.nextafter(scores.min(), -np.inf))


def share_threshold(scores: NDArray[np.float64], share: float) -> float:
    """Return the score above which a share of the samples lies, rounded to whole samples, at least one.

    Samples tied at the threshold are not flagged, unless no other would be.

    Examples
    --------
    >>> share_threshold(np.arange(10.0), 0.2)
    7.0
    """
    rising = np.sort(scores)
    # Half a sample counts: 5 % of 50 samples are 3.
    n_flagged = max(1, math.floor(share * len(rising) + 0.5))
    below = rising[-n_flagged - 1] if n_flagged < len(rising) else -np.inf
    return float(below if below < rising[-1] else np.nextafter(rising[-1], -np.inf))


def check_contamination(share: object) -> float:
    """Return the share of a table's samples to flag."""
    return check_rate(share, "contamination", "detect", "the share of the samples to flag, e.g. 0.05")


def check_one_rate(detector: ParetoDepthDetector, fdr: float | None, contamination: float | None) -> None:
    """Refuse several rules of what is flagged."""
    given = {"alpha": detector.alpha, "threshold": detector.threshold, "fdr": fdr, "contamination": contamination}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ValueError(
            f"Give either {' or '.join(names)}. Got {'both' if len(names) == 2 else 'all'}; alpha is the false-alarm "
            "rate, fdr the share of normal records among those flagged, contamination the share of a single table "
            "to flag, and threshold the score above which records are flagged."
        )


def check_one_table(detector: ParetoDepthDetector, contamination: object, has_reference: bool) -> None:
    """Refuse what makes no sense with a reference, or without one."""
    if has_reference and contamination is not None:
        raise ValueError(
            "A contamination is the share of a single table's records to flag. Got a reference too; give alpha or fdr "
            "instead, or leave out the reference."
        )
    if not has_reference and detector.calibration == "split":
        raise ValueError(
            "The detector given to detect must calibrate by 'leave-one-out' to score its own training samples. Got "
            "'split' instead; give a reference, or leave out calibration."
        )
