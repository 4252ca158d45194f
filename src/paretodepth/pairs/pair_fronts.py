"""Fronts of pairs of criteria, of the dyads of all training samples or of some."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from paretodepth.fronts.dominance_filter import USUAL_SIZES, SummarySizes
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import N_COMPARED, N_ROUGH, PairFronts, chosen_pairs, with_rough
from paretodepth.pairs.capped_fronts import FEW_SAMPLES, fronts_of_some, growth, sampled_dyads
from paretodepth.pairs.limits import Limits
from paretodepth.pairs.pairs import HeldPairs, Pairs

AUTO_KEPT = 2**22
"""Dyads that the fronts of all pairs may hold together if their last front is chosen automatically."""
ASKED_SAMPLES = 700
"""Random samples from whose fronts these are foreseen."""


def pair_fronts(
    pairs: Pairs,
    limits: Limits,
    *,
    seed: int = 0,
    few_samples: int = FEW_SAMPLES,
    n_rough: int = N_ROUGH,
    sizes: SummarySizes = USUAL_SIZES,
) -> PairFronts:
    """Return the fronts of pairs of criteria that the limits ask for.

    With a cap one pass over the blocks of dissimilarities, and now and then a second, gives
    the fronts of all pairs of criteria. They are exact and depend neither on blocks nor on
    threads. What lies beyond them is told by random dyads.

    Parameters
    ----------
    pairs : Pairs
    limits : Limits
        If `max_depth` is ``"auto"``, each pair of criteria has a last front of its own,
        such that all pairs together hold some 4 million dyads. Without a cap they may hold
        some 8 million, and if all dyads are more, the last fronts are chosen in the same way.
    seed : int, default=0
        Of the dyads that stand for all where `limits` asks for fewer. Those that tell what
        lies beyond a cap are the same ones every time, so that a cap alone draws no lots.
    few_samples : int, default=2000
        Up to how many samples nothing is foreseen.
    n_rough : int, default=2097152
        Random dyads, of all pairs of criteria together, that tell what lies beyond a cap.
    sizes : SummarySizes, optional
        Of the summaries of the fronts together. They change no front.
    """
    n_dyads = limits.n_dyads(pairs.n_pairs)
    max_kept = limits.max_kept
    criteria = chosen_pairs(sampled_dyads(pairs, min(N_COMPARED, pairs.n_pairs), seed=0))
    is_small = limits.max_depth is None and len(criteria) * n_dyads <= max_kept
    if n_dyads < pairs.n_pairs or is_small:
        is_sampled = n_dyads < pairs.n_pairs
        dyads = sampled_dyads(pairs, n_dyads, seed=seed) if is_sampled else HeldPairs.of(pairs).dyads
        max_depth = None if limits.max_depth == "auto" else limits.max_depth
        return PairFronts.from_dyads(
            dyads,
            criteria=criteria,
            max_depth=max_depth,
            n_jobs=pairs.n_jobs,
            max_kept=max_kept,
            n_rough=n_rough,
        )
    if isinstance(limits.max_depth, int):
        max_depths = [limits.max_depth] * len(criteria)
    else:
        max_kept = min(AUTO_KEPT, max_kept) if limits.max_depth == "auto" else max_kept
        max_depths = auto_max_depths(pairs, criteria, max_kept=max_kept, n_asked=min(few_samples, ASKED_SAMPLES))
    # All together they sort as much at once as a single one.
    sizes = sizes._replace(batch_values=sizes.batch_values // len(criteria))
    fronts = fronts_of_some(pairs, criteria.tolist(), max_depths, seed=seed, few_samples=few_samples, sizes=sizes)
    made = PairFronts(criteria, tuple(fronts))
    n_sampled = min(max(1, n_rough // len(criteria)), pairs.n_pairs)
    return with_rough(made, sampled_dyads(pairs, n_sampled, seed=0), pairs.n_jobs)


def auto_max_depths(
    pairs: Pairs, criteria: NDArray[np.intp], *, max_kept: int = AUTO_KEPT, n_asked: int = ASKED_SAMPLES
) -> list[int]:
    """Return, for each pair of criteria, a last front such that the fronts of all hold `max_kept` dyads together.

    Foreseen from the fronts of a few random samples and their `growth` to all samples, so
    the number of dyads is about right for continuous dissimilarities, and smaller for others.
    """
    # Always the same draws, because the last fronts and with them every score depend on them.
    few = HeldPairs.of(pairs.random_subset(n_asked, 0)).dyads
    n_few = min(n_asked, pairs.n_samples)
    share = min(1.0, max_kept / len(criteria) / pairs.n_pairs)
    rate = growth(n_few, pairs.n_samples, criteria.shape[1])
    last_fronts = []
    for pair in criteria:
        fronts = Fronts.from_dyads(few.take(pair, axis=1), n_jobs=pairs.n_jobs)
        n_fronts = int(np.searchsorted(fronts.starts, share * len(few), side="right")) - 1
        last_fronts.append(max(1, math.floor(n_fronts * rate)))
    return last_fronts
