"""Fronts 1…L of the dyads of all pairs of many training samples, and the L that leaves nominal samples alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels.filters import are_reached
from paretodepth.blocks import map_blocks
from paretodepth.depth import Depths
from paretodepth.dyads import Views, dissimilarity_block, nearest_dyads, pairwise_dyads
from paretodepth.fitted_criteria import FittedCriterion
from paretodepth.fronts import Fronts
from paretodepth.summaries import FrontSummary, last_front

FEW_SAMPLES = 2000
"""Training samples whose pairs are sorted without foresight; more are foreseen from a quarter of them."""
ALIKE_SAMPLES = 200
"""Training samples whose pairs tell which points of a front are useful."""
ASKED_SAMPLES = 300
"""Training samples whose nearest dyads are asked for their depth."""
CAPPED_SHARE = 0.001
MARGIN = 6.0
"""Front f of a quarter may lie MARGIN / K * cbrt(f) fronts off: longest chains of f dyads vary with cbrt(f)."""
BLOCK_VALUES = 2**19
"""Dissimilarities in a block of pairs, 4 MiB, which stay in the cache until they are filtered."""

Criteria = Sequence[FittedCriterion]


def capped_fronts(
    criteria: Criteria, views: Views, max_depth: int, *, random_state: int = 0, n_jobs: int | None = None
) -> Fronts:
    """Return fronts 1…max_depth of the dyads of all pairs of training samples, exactly.

    The dissimilarities are computed block by block and never held together. Where front L
    will lie is foreseen from the fronts of a random quarter of the samples, and what lies
    beyond is dropped. In the end the fronts prove that right, or the pairs are gone through
    once more. So the result depends neither on the quarter nor on blocks or threads.

    Parameters
    ----------
    criteria : sequence of FittedCriterion
    views : sequence of ndarray
        What each criterion sees of the training samples.
    max_depth : int
        The last front to keep, L.
    random_state : int, default=0
        Seed of the quarter, which changes the time and not the result.
    n_jobs : int or None, default=None
        Threads.
    """
    n_samples, n_criteria = len(views[0]), len(criteria)
    beyond = alike = None
    if n_samples > FEW_SAMPLES:
        quarter = _drawn(criteria, views, n_samples // 4, random_state)
        foreseen = max_depth / growth(n_samples // 4, n_samples, n_criteria)
        foreseen = math.ceil(foreseen + MARGIN / n_criteria * math.cbrt(foreseen))
        beyond = last_front(capped_fronts(criteria, quarter, foreseen, random_state=random_state, n_jobs=n_jobs))
        alike = pairwise_dyads(criteria, _drawn(criteria, views, ALIKE_SAMPLES, random_state), n_jobs)
    while True:
        summary = FrontSummary(max_depth, n_criteria, beyond=beyond, alike=alike)
        points = summary.points
        _add_pairs(summary, criteria, views, n_jobs)
        fronts = summary.fronts()
        # What a point dominates was rightly dropped if front L holds a dyad that is nowhere larger than the point.
        is_right = are_reached(points, last_front(fronts))
        if is_right.all():
            return fronts
        beyond = points[is_right]


def _add_pairs(summary: FrontSummary, criteria: Criteria, views: Views, n_jobs: int | None) -> None:
    """Add the dyads of all pairs of samples to a summary."""

    def add(rows: slice) -> None:
        summary.add_block(pair_block(criteria, views, rows), is_triangle=True)

    map_blocks(add, pair_blocks(len(views[0]), len(criteria)), n_jobs)


def auto_max_depth(
    criteria: Criteria,
    views: Views,
    n_neighbors: NDArray[np.intp],
    *,
    max_kept: int = 2**22,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> int:
    """Return an L that fewer than 0.1 % of the training samples' nearest dyads should be deeper than.

    A few hundred random training samples are joined to their nearest among all others. L is
    the smallest depth, below the fronts of a random quarter of the samples, that fewer than
    `CAPPED_SHARE` of these dyads exceed, times the `growth` from the quarter to all samples.
    Fewer fronts are coarser and depths below them err to the deeper side, so L is generous.
    The fronts of the quarter are themselves capped by this rule, down to few samples.

    Parameters
    ----------
    criteria, views, random_state, n_jobs
        As in :func:`capped_fronts`.
    n_neighbors : ndarray of shape (n_criteria,)
        How many nearest samples a sample is joined to, in each criterion.
    max_kept : int, default=4194304
        Dyads that fronts 1…L may hold, by the same foresight. If they would hold more, as
        with four criteria, L is smaller and more of the nearest dyads are deeper.
    """
    n_samples, n_criteria = len(views[0]), len(criteria)
    nearest = _asked_dyads(criteria, views, n_neighbors, random_state, n_jobs)
    sizes = [n_samples]
    while sizes[0] > FEW_SAMPLES:
        sizes.insert(0, sizes[0] // 4)
    few = _drawn(criteria, views, sizes[0], random_state)
    fronts = Fronts.from_dyads(pairwise_dyads(criteria, few, n_jobs), n_jobs=n_jobs)
    for fewer, more in pairwise(sizes):
        depth = _cap(fronts, nearest, max_kept * (fewer / n_samples) ** 2)
        max_depth = math.ceil(depth * growth(fewer, more, n_criteria))
        if more == n_samples:
            return max_depth
        drawn = _drawn(criteria, views, more, random_state)
        fronts = capped_fronts(criteria, drawn, max_depth, random_state=random_state, n_jobs=n_jobs)
    return _cap(fronts, nearest, max_kept)


def growth(n_samples: int, n_more_samples: int, n_criteria: int) -> float:
    """Return how many times deeper a dyad lies below the fronts of more samples.

    The number of fronts of n dyads with a continuous distribution grows with n^(1 / K).
    """
    n_dyads, n_more_dyads = (n * (n - 1) for n in (n_samples, n_more_samples))
    return float((n_more_dyads / n_dyads) ** (1 / n_criteria))


def _cap(fronts: Fronts, dyads: NDArray[np.float64], max_kept: float) -> int:
    """Return the smallest depth that fewer than `CAPPED_SHARE` of the dyads exceed, if it keeps no more dyads."""
    depths = np.sort(Depths(fronts, "paper").of(dyads))
    n_deeper = math.ceil(CAPPED_SHARE * len(depths)) - 1
    depth = int(depths[len(depths) - 1 - n_deeper])
    if fronts.starts[min(depth, len(fronts))] <= max_kept:
        return depth
    return max(1, int(np.searchsorted(fronts.starts, max_kept, side="right")) - 1)


def _asked_dyads(
    criteria: Criteria, views: Views, n_neighbors: NDArray[np.intp], random_state: int, n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the nearest dyads of a few hundred random training samples, leave-one-out, shape (n_dyads, n_criteria)."""
    n_samples = len(views[0])
    asked = np.random.default_rng(random_state).choice(n_samples, min(n_samples, ASKED_SAMPLES), replace=False)

    def nearest(row: slice) -> NDArray[np.float64]:
        block = dissimilarity_block(criteria, [view[row] for view in views], views, row.start, n_jobs)
        block[:, 0, row.start] = np.inf
        dyads: NDArray[np.float64] = nearest_dyads(block, n_neighbors)[1][0]
        return dyads

    return np.concatenate(map_blocks(nearest, [slice(sample, sample + 1) for sample in asked], n_jobs))


def _drawn(criteria: Criteria, views: Views, n_drawn: int, random_state: int) -> Views:
    """Return the views of some random samples, in their order."""
    n_samples = len(views[0])
    drawn = np.sort(np.random.default_rng(random_state).choice(n_samples, min(n_drawn, n_samples), replace=False))
    return [
        view[np.ix_(drawn, drawn)] if criterion.is_precomputed else view[drawn]
        for criterion, view in zip(criteria, views, strict=True)
    ]


def pair_blocks(n_samples: int, n_criteria: int) -> list[slice]:
    """Return the rows of blocks of pairs, of some `BLOCK_VALUES` values each, in an order that mixes the samples."""
    blocks = []
    start = 0
    while start < n_samples - 1:
        stop = min(n_samples, start + max(1, BLOCK_VALUES // (n_criteria * (n_samples - start))))
        blocks.append(slice(start, stop))
        start = stop
    return [blocks[i] for i in np.random.default_rng(0).permutation(len(blocks))]


def pair_block(criteria: Criteria, views: Views, rows: slice) -> NDArray[np.float64]:
    """Return some training samples' dissimilarities to these and all later ones, (n_criteria, n_rows, n_columns)."""
    parts = zip(criteria, views, strict=True)
    return np.stack([criterion.training_dissimilarities(view, rows, None) for criterion, view in parts])
