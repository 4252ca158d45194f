"""The training samples of a fitted detector, each compared with the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import Result, map_blocks, row_blocks
from paretodepth.detector import ParetoDepthDetector
from paretodepth.pairs.nearest import dissimilarity_block, nearest_dyads
from paretodepth.scoring.explanation import Explanation, explained


def explain_training(detector: ParetoDepthDetector, rows: NDArray[np.intp]) -> Explanation:
    """Return why some of the training samples that make the fronts are strange or not.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Fitted.
    rows : ndarray of shape (n_rows,)
        Indices of training samples, at least one.

    Returns
    -------
    explanation : Explanation
        Its p-values count the sample itself among the nominal ones, as `training_labels_` do.
    """
    reasons = _over_blocks(detector._reasoning.reasons, detector, rows)
    names = [criterion.name for criterion in detector.criteria_]
    kept = np.arange(len(detector.training_scores_))[detector._kept]
    return explained(detector._reasoning, reasons, names, kept, -detector.offset_, detector.alpha_)


def nearest_training_dyads(detector: ParetoDepthDetector, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the dyads of training samples with their nearest others, as `ParetoDepthDetector.nearest_dyads`."""
    n_neighbors = detector.n_neighbors_
    return np.concatenate(_over_blocks(lambda block: nearest_dyads(block, n_neighbors)[1], detector, rows))


def _over_blocks(
    function: Callable[[NDArray[np.float64]], Result], detector: ParetoDepthDetector, rows: NDArray[np.intp]
) -> list[Result]:
    """Return the function's results for blocks of dissimilarities, each sample infinitely far from itself."""
    criteria, training, n_jobs = detector.criteria_, detector._training, detector.n_jobs

    def of_part(part: slice) -> Result:
        block = dissimilarity_block(criteria, [view[rows[part]] for view in training], training, part.start, n_jobs)
        block[:, np.arange(block.shape[1]), rows[part]] = np.inf
        return function(block)

    return map_blocks(of_part, row_blocks(len(rows), len(criteria) * len(training[0])), n_jobs)
