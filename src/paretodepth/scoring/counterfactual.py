"""What the score of a sample would be if one criterion, or two together, were ordinary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import row_blocks
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.measures import Measurer, Measures, joined, row_totals
from paretodepth.scoring.methods import METHODS, Measure
from paretodepth.scoring.model import Model

NEAR: tuple[Measure, ...] = ("neighbor_means", "local_ratios", "balanced_mean", "balanced_ratio")
"""What the blend measures without fronts."""


class Nearest(NamedTuple):
    """A block of samples and their nearest training samples.

    Attributes
    ----------
    block : ndarray of shape (n_criteria, n_rows, n_training)
        Dissimilarities.
    neighbors : ndarray of shape (n_rows, s)
        The nearest, criterion after criterion, by column of the block.
    dyads : ndarray of shape (n_rows, s, n_criteria)
        With them.
    """

    block: NDArray[np.float64]
    neighbors: NDArray[np.intp]
    dyads: NDArray[np.float64]


def relieved_scores(
    model: Model, nearest: Nearest, measures: Measures, rows: NDArray[np.intp], criterion: int
) -> NDArray[np.float64]:
    """Return the scores of some rows if one criterion were ordinary; the nearest stay the nearest."""
    measurer, profile, needed = model.measurer, model.profiles[criterion], METHODS[model.method].measures
    assert isinstance(measurer, Measurer)
    score_if_ordinary = {name: measures[name][rows] for name in needed}
    if "neighbor_sums" in needed:
        with np.errstate(over="ignore"):
            score_if_ordinary["neighbor_sums"][:, criterion] = profile[: measurer.n_summed[criterion]].sum()
    if "mean_depth" in needed:
        part, neighbors, dyads = nearest.block[criterion, rows], nearest.neighbors[rows], nearest.dyads[rows]
        asked = np.take_along_axis(part, neighbors, axis=1)
        part.sort(axis=1)
        for row in range(len(rows)):
            dyads[row, :, criterion] = profile[np.searchsorted(part[row], asked[row])]
        score_if_ordinary["mean_depth"] = measurer.mean_depth(dyads)
    return model.calibration.score(score_if_ordinary, model.method)


def blend_measures(
    measurer: BlendMeasurer, block: NDArray[np.float64], dyads: NDArray[np.float64]
) -> tuple[Measures, NDArray[np.float64]]:
    """Return all that the blend measures of a block, and what depths in each pair of criteria add to it."""
    near, every = measurer.pair_shares(dyads)
    return measurer.of(block, NEAR) | {"pair_depth": _pair_depth(every), "pair_depths": near}, every


def _pair_depth(every: NDArray[np.float64]) -> NDArray[np.float64]:
    depth: NDArray[np.float64] = row_totals(every) / every.shape[1]
    return depth


def blend_relieved(
    model: Model,
    nearest: Nearest,
    measures: Measures,
    shares: NDArray[np.float64],
    is_asked: NDArray[np.bool_],
    is_local: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the blend's score of each asked row and criterion, in their order, if that criterion were ordinary.

    Where it is odd by its surroundings alone, it is ordinary once divided by its local ratio.
    The nearest stay the nearest, and pairs of other criteria what they are.

    Parameters
    ----------
    model : Model
    nearest : Nearest
    measures : Measures
    shares : ndarray of shape (n_rows, n_pairs)
        As `blend_measures` gives them.
    is_asked, is_local : ndarray of shape (n_rows, n_criteria)
    """
    measurer = model.measurer
    assert isinstance(measurer, BlendMeasurer)
    rows, criteria = np.nonzero(is_asked)
    if not len(rows):
        return np.empty(0)
    score_if_ordinary: Measures = {name: np.empty((len(rows), *measures[name].shape[1:])) for name in NEAR}
    dyads = nearest.dyads[rows]
    for criterion in np.unique(criteria).tolist():
        places = np.flatnonzero(criteria == criterion)
        block = nearest.block[:, rows[places]]
        ratios, are_local = (values[rows[places], criterion] for values in (measures["local_ratios"], is_local))
        block[criterion] = _ordinary(block[criterion], model.profiles[criterion], ratios, are_local)
        dyads[places, :, criterion] = np.take_along_axis(block[criterion], nearest.neighbors[rows[places]], axis=1)
        near = measurer.of(block, NEAR)
        usual = np.median(model.calibration.nominal["local_ratios"][:, criterion])
        near["local_ratios"][:, criterion] = np.minimum(near["local_ratios"][:, criterion], usual)
        for name, values in near.items():
            score_if_ordinary[name][places] = values
    score_if_ordinary["pair_depth"] = _pair_depth(_changed_shares(measurer, dyads, criteria, shares[rows]))
    return model.calibration.score(score_if_ordinary, model.method)


def _ordinary(
    part: NDArray[np.float64], profile: NDArray[np.float64], ratios: NDArray[np.float64], is_local: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return dissimilarities in one criterion as they would be if it were ordinary, shape (n_rows, n_training)."""
    ordinary = np.empty_like(part)
    # These ratios are large; others can be so small that the quotient is no number.
    ordinary[is_local] = part[is_local] / ratios[is_local, None]
    order = part[~is_local].argsort(axis=1)
    replaced = np.empty(order.shape)
    np.put_along_axis(replaced, order, profile[None], axis=1)
    ordinary[~is_local] = replaced
    return ordinary


def _changed_shares(
    measurer: BlendMeasurer, dyads: NDArray[np.float64], criteria: NDArray[np.intp], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return shares with those of the pairs that have the changed criterion, one a row, found anew."""
    for pair, of_pair in enumerate(measurer.fronts.criteria):
        rows = np.flatnonzero(np.isin(criteria, of_pair))
        if len(rows):
            shares[rows, pair] = measurer.pair_shares(dyads[rows], [pair])[1][:, 0]
    return shares


def pair_relieved_scores(
    model: Model, nearest: Nearest, scores: NDArray[np.float64], is_asked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each pair of criteria the score if the sample were in one of them like its nearest in the other.

    Of the two ways that with the lower score; where it is not asked, the score itself.
    """
    measurer, block = model.measurer, nearest.block
    assert isinstance(measurer, BlendMeasurer)
    pairs, score_if_ordinary = measurer.fronts.criteria, np.tile(scores[:, None], is_asked.shape[1])
    rows, places = np.nonzero(is_asked)
    if pairs.shape[1] == 1 or not len(rows):
        return score_if_ordinary
    # Both ways of every asked pair, in as many rows.
    rows, places = np.tile(rows, 2), np.tile(places, 2)
    kept, changed = np.concatenate([pairs[places[: len(rows) // 2]], pairs[places[: len(rows) // 2], ::-1]]).T
    likes = nearest.neighbors[rows, kept * int(measurer.n_neighbors[0])]

    def scores_of(some: slice) -> Measures:
        part = block[:, rows[some]]
        for criterion in np.unique(changed[some]).tolist():
            here = np.flatnonzero(changed[some] == criterion)
            encoding, fitted = model.training[criterion], model.criteria.fitted[criterion]
            alike = fitted.dissimilarities(encoding[likes[some][here]], encoding, (0, 0), 1)
            # Criteria give nothing infinite: that is the sample itself, left out.
            part[criterion, here] = np.where(np.isinf(part[criterion, here]), np.inf, alike)
        return measurer.of(part, METHODS[model.method].measures)

    blocks = row_blocks(len(rows), measurer.values_per_row(block.shape[2]))
    found = model.calibration.score(joined([scores_of(some) for some in blocks]), model.method)
    np.minimum.at(score_if_ordinary, (rows, places), found)
    return score_if_ordinary
