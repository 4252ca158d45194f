"""What a fit finds in the pairs of training samples: numbers of neighbors, fronts, and the samples' own statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import phase
from paretodepth.fronts.depth import DepthKind, Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.pairs.capped_fronts import MAX_KEPT, auto_max_depth, capped_fronts, drawn_fronts
from paretodepth.pairs.connected import fitted_n_neighbors, given_n_neighbors
from paretodepth.pairs.limits import KEPT_BYTES, Limits
from paretodepth.pairs.pairs import HeldPairs, Pairs
from paretodepth.scoring.advice import _advice
from paretodepth.scoring.measures import Measurement, Statistics, usual_sizes


class Trained(NamedTuple):
    """What was found.

    Attributes
    ----------
    pairs : Pairs
    dyads : ndarray of shape (n_dyads, n_criteria)
        Of all pairs or of some, to tell what is usual.
    n_neighbors : ndarray of shape (n_criteria,)
    fronts : Fronts
    n_dyads : int
        How many dyads the fronts are made of.
    measurement : Measurement
    statistics : Statistics
        Of the training samples, each left out in turn.
    advice : list of str
    """

    pairs: Pairs
    dyads: NDArray[np.float64]
    n_neighbors: NDArray[np.intp]
    fronts: Fronts
    n_dyads: int
    measurement: Measurement
    statistics: Statistics
    advice: list[str]


def train(
    pairs: Pairs,
    names: Sequence[str],
    n_neighbors: object,
    depth: DepthKind,
    limits: Limits,
    seed: int,
    caller: str,
) -> Trained:
    """Return what is found in the pairs of training samples.

    Parameters
    ----------
    pairs : Pairs
    names : sequence of str
        The criteria's.
    n_neighbors, depth
        As of the detector.
    limits : Limits
    seed : int
        Draws the dyads if not all are used.
    caller : str
        Named in errors.
    """
    # Before any dissimilarity is computed, which may take hours.
    given_n_neighbors(n_neighbors, names, pairs.n_samples, caller)
    limits.check(pairs.n_samples, pairs.n_criteria, caller)
    if limits.holds(pairs.n_pairs, pairs.n_criteria):
        with phase(f"dissimilarities of {pairs.n_pairs:,} pairs of samples"):
            pairs = HeldPairs.of(pairs)
    with phase("neighbors"):
        dyads = pairs.sample()
        weights = 1 / usual_sizes(dyads)
        counts, lists = fitted_n_neighbors(n_neighbors, pairs, weights, names, caller)
    n_dyads = limits.n_dyads(pairs.n_pairs)
    with phase(f"Pareto fronts of {n_dyads:,} dyads"):
        fronts = _fronts(pairs, counts, limits, seed)
        measurement = Measurement.fit(Depths(fronts, depth), counts, weights, pairs.n_samples)
    with phase("leave-one-out scores"):
        statistics = measurement.training_statistics(pairs, lists)
    advice = _advice(pairs, fronts, n_dyads, counts)
    return Trained(pairs, dyads, counts, fronts, n_dyads, measurement, statistics, advice)


def _fronts(pairs: Pairs, n_neighbors: NDArray[np.intp], limits: Limits, seed: int) -> Fronts:
    """Return the fronts that the limits ask for."""
    n_dyads, max_depth = limits.n_dyads(pairs.n_pairs), limits.max_depth
    if n_dyads < pairs.n_pairs:
        # They are few enough to be sorted whole, so nothing need be capped unless a depth is given.
        return drawn_fronts(pairs, n_dyads, None if max_depth == "auto" else max_depth, seed=seed)
    if max_depth == "auto":
        max_kept = min(MAX_KEPT, limits.n_bytes // KEPT_BYTES)
        max_depth = auto_max_depth(pairs, n_neighbors, max_kept=max_kept)
    if max_depth is not None:
        return capped_fronts(pairs, max_depth)
    return Fronts.from_dyads(HeldPairs.of(pairs).dyads, n_jobs=pairs.n_jobs)
