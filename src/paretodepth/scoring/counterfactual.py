"""What the score of a sample would be if one criterion were typical."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paretodepth.scoring.measures import Measures
from paretodepth.scoring.model import Model


def scores_if_typical(
    model: Model,
    block: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    dyads: NDArray[np.float64],
    measures: Measures,
    is_asked: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the score of each sample if one criterion were typical, shape (n_rows, n_criteria).

    The criterion's dissimilarities are replaced by the nominal medians of the same rank, and the
    nearest stay the nearest. Where it is not asked for, the score itself.

    Parameters
    ----------
    model : Model
    block : ndarray of shape (n_criteria, n_rows, n_training)
        Dissimilarities.
    neighbors : ndarray of shape (n_rows, s)
        The nearest, criterion after criterion, by column of the block.
    dyads : ndarray of shape (n_rows, s, n_criteria)
        With these.
    measures : Measures
        Of the rows, with their ``"pair_shares"`` if the method has any.
    is_asked : ndarray of shape (n_rows, n_criteria)
    """
    measurer, calibration = model.measurer, model.calibration
    scores = np.tile(calibration.score(measures)[:, None], len(block))
    for criterion in np.flatnonzero(is_asked.any(axis=0)).tolist():
        rows = np.flatnonzero(is_asked[:, criterion])
        changed, changed_dyads = block[:, rows], dyads[rows]
        np.put_along_axis(changed[criterion], changed[criterion].argsort(axis=1), model.profiles[criterion][None], 1)
        changed_dyads[:, :, criterion] = np.take_along_axis(changed[criterion], neighbors[rows], axis=1)
        before = {name: values[rows] for name, values in measures.items()}
        found = measurer.if_changed(changed, changed_dyads, before, criterion, calibration.nominal)
        scores[rows, criterion] = calibration.score(found)
    return scores
