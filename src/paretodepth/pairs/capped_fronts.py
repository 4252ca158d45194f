"""Fronts 1…L of the dyads of many training samples, under all criteria or each pair of them, and an automatic L."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from paretodepth._blocks import block_values
from paretodepth._kernels.filters import are_reached
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.dominance_filter import USUAL_SIZES, SummarySizes
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import N_COMPARED, N_SAMPLED, PairFronts, chosen_pairs, with_sampled
from paretodepth.fronts.summary import FrontSummary, last_front
from paretodepth.pairs.limits import Limits
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.pairs.pairs import HeldPairs, Pairs, pairs_before

FEW_SAMPLES = 2000
"""Training samples whose pairs are sorted at once; for more, front L is foreseen from a quarter of them."""
ALIKE_SAMPLES = 200
"""Training samples whose pairs show which points of a front are useful."""
ASKED_SAMPLES = 300
"""Training samples whose nearest dyads' depths set an automatic cap."""
PAIRED_SAMPLES = 700
"""Random training samples whose fronts under pairs of criteria foresee those of all."""
ASKED_AT_ONCE = 16
"""Of these, whose dyads are found together."""
CAPPED_SHARE = 0.001
"""Of these nearest dyads, what may be deeper than an automatic cap."""
FRONT_MARGIN = 6.0
"""Of `spread_of`, how far all of a front may lie off where a quarter of the samples has it.

Wide, because one point that is foreseen too near costs a second pass over all pairs, and a front further off only lets
a few dyads more wait."""
DEPTH_MARGIN = 2.0
"""The same for the depth of single dyads. Narrow: nothing is proved by it, and every front more takes memory."""
PAIR_VALUES = 2**19
"""Dissimilarities in a block of pairs, 4 MiB, which stay in the cache until they are filtered."""
SAMPLED_AT_ONCE = 256
"""Training samples whose sampled dyads are computed together."""
MAX_KEPT = 2**22
"""Dyads that fronts 1…L may hold, of all pairs of criteria together, if L is chosen automatically."""


def capped_fronts(
    pairs: Pairs, max_depth: int, *, seed: int = 0, few_samples: int = FEW_SAMPLES, sizes: SummarySizes = USUAL_SIZES
) -> Fronts:
    """Return fronts 1…max_depth of the dyads of all pairs of training samples, exactly.

    One pass computes the dissimilarities block by block and never holds them together. It
    drops what lies beyond front L as foreseen from the fronts of a random quarter of the
    samples. In the end the fronts prove that right, or a second pass follows. So the result
    depends neither on the quarter (`seed`), blocks or threads, nor on `few_samples`, up to
    which nothing is foreseen, or `sizes`.
    """
    every = range(pairs.n_criteria)
    return fronts_of_some(pairs, [every], [max_depth], seed=seed, few_samples=few_samples, sizes=sizes)[0]


def fronts_of_some(
    pairs: Pairs,
    criteria: Sequence[Sequence[int]],
    max_depths: Sequence[int],
    *,
    seed: int = 0,
    few_samples: int = FEW_SAMPLES,
    sizes: SummarySizes = USUAL_SIZES,
) -> list[Fronts]:
    """Return what `capped_fronts` does of several choices of criteria, each up to a depth of its own, in one pass."""
    n_samples = pairs.n_samples
    beyond: list[NDArray[np.float64] | None] = [None] * len(criteria)
    alike = None
    if n_samples > few_samples:
        # Otherwise whole batches would be sorted, and nearly all of them dropped again.
        foreseen = [_foreseen_depth(*of_some, n_samples) for of_some in zip(criteria, max_depths, strict=True)]
        quarter = pairs.random_subset(n_samples // 4, seed)
        fewer = fronts_of_some(quarter, criteria, foreseen, seed=seed, few_samples=few_samples, sizes=sizes)
        beyond = [last_front(fronts) for fronts in fewer]
        alike = HeldPairs.of(pairs.random_subset(ALIKE_SAMPLES, seed)).dyads
    found: dict[int, Fronts] = {}
    while len(found) < len(criteria):
        missing = [choice for choice in range(len(criteria)) if choice not in found]
        summaries = [
            FrontSummary(
                max_depths[choice],
                len(criteria[choice]),
                beyond=beyond[choice],
                alike=None if alike is None else alike[:, list(criteria[choice])],
                sizes=sizes,
            )
            for choice in missing
        ]
        points = [summary.points for summary in summaries]
        parts = [(criteria[choice], summary) for choice, summary in zip(missing, summaries, strict=True)]
        all_fronts = pairs.summarized(parts, pair_blocks(n_samples, pairs.n_criteria))
        for choice, fronts, guessed in zip(missing, all_fronts, points, strict=True):
            # What a point dominates was rightly dropped if front L holds a dyad that is nowhere larger than the point.
            is_right = are_reached(guessed, last_front(fronts))
            if is_right.all():
                found[choice] = fronts
            # Among fewer dyads no dyad lies deeper than among all, so what front L of these reaches, front L of all
            # does: these points are right for good, and the second pass is the last.
            beyond[choice] = guessed[is_right]
    return [found[choice] for choice in range(len(criteria))]


def _foreseen_depth(criteria: Sequence[int], max_depth: int, n_samples: int) -> int:
    """Return a depth, below the fronts of a quarter of the samples, that front `max_depth` of all will not exceed."""
    depth = max_depth / growth(n_samples // 4, n_samples, len(criteria))
    return math.ceil(depth + FRONT_MARGIN * spread_of(depth, len(criteria)))


def auto_max_depth(
    pairs: Pairs,
    n_neighbors: NDArray[np.intp],
    *,
    max_kept: int = MAX_KEPT,
    few_samples: int = FEW_SAMPLES,
    n_asked: int = ASKED_SAMPLES,
    capped_share: float = CAPPED_SHARE,
) -> int:
    """Return an L that fewer than 0.1 % of the training samples' nearest dyads should exceed.

    `n_asked` random training samples are joined to their `n_neighbors` nearest among all
    others. L is the smallest depth, below the fronts of a random quarter of the samples, that
    fewer than `capped_share` of these dyads exceed, times the `growth` from the quarter to
    all samples. Fewer fronts are coarser, so L is generous. The fronts of the quarter are
    themselves capped by this rule, down to `few_samples`. If fronts 1…L would hold more than
    `max_kept` dyads, as with four criteria, L is smaller.
    """
    n_samples = pairs.n_samples
    # Always the same samples, because L and with it every score depend on them.
    seed = 0
    nearest = asked_dyads(pairs, n_neighbors, seed, n_asked=n_asked)
    sizes = [n_samples]
    while sizes[0] > few_samples:
        sizes.insert(0, sizes[0] // 4)
    few = HeldPairs.of(pairs.random_subset(sizes[0], seed))
    fronts = Fronts.from_dyads(few.dyads, n_jobs=pairs.n_jobs)
    for fewer, more in pairwise(sizes):
        depth = float(_exceeded_depth(fronts, nearest, capped_share))
        depth += DEPTH_MARGIN * spread_of(depth, pairs.n_criteria)
        depth = min(depth, _kept_depth(fronts, max_kept * (fewer / n_samples) ** 2))
        max_depth = math.ceil(depth * growth(fewer, more, pairs.n_criteria))
        if more == n_samples:
            return max_depth
        fronts = capped_fronts(pairs.random_subset(more, seed), max_depth, seed=seed, few_samples=few_samples)
    return int(min(_exceeded_depth(fronts, nearest, capped_share), _kept_depth(fronts, max_kept)))


def sampled_dyads(pairs: Pairs, n_dyads: int, *, seed: int) -> NDArray[np.float64]:
    """Return `n_dyads` random dyads of the training samples, shape (n_dyads, n_criteria)."""
    sampled = sampled_numbers(pairs.n_pairs, n_dyads, np.random.default_rng(seed))
    firsts = pairs_before(np.arange(pairs.n_samples), pairs.n_samples)
    samples = np.searchsorted(firsts, sampled, side="right") - 1
    others = sampled - firsts[samples] + samples + 1
    asked, starts = np.unique(samples, return_index=True)
    chosen = list(zip(asked.tolist(), np.split(others, starts[1:]), strict=True))

    def dyads_of(pairs: Pairs, part: list[tuple[int, NDArray[np.intp]]]) -> NDArray[np.float64]:
        return np.concatenate([pairs.chosen(*of_sample) for of_sample in part])

    dyads = pairs.map(dyads_of, [chosen[part] for part in gen_batches(len(chosen), SAMPLED_AT_ONCE)])
    return np.concatenate(list(dyads))


def sampled_numbers(n_numbers: int, n_sampled: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return distinct random numbers below `n_numbers` in rising order, without listing all of these."""
    if n_sampled > n_numbers // 2:
        # The others are fewer, so fewer numbers come up twice.
        return np.delete(np.arange(n_numbers), sampled_numbers(n_numbers, n_numbers - n_sampled, rng))
    sampled = np.empty(0, np.intp)
    while len(sampled) < n_sampled:
        both = np.concatenate((sampled, rng.integers(n_numbers, size=n_sampled - len(sampled))))
        # Sorted, because np.union1d uses a hash table, which takes several times as long.
        both.sort()
        sampled = both[np.concatenate(([True], both[1:] != both[:-1]))]
    return sampled


def growth(n_samples: int, n_more_samples: int, n_criteria: int) -> float:
    """Return how many times deeper a dyad lies below the fronts of more samples.

    The number of fronts of n dyads with a continuous distribution grows with n^(1 / K).
    """
    n_dyads, n_more_dyads = (n * (n - 1) for n in (n_samples, n_more_samples))
    return float((n_more_dyads / n_dyads) ** (1 / n_criteria))


def spread_of(depth: float, n_criteria: int) -> float:
    """Return the size of random variations of a depth: a count for one criterion, the longest of chains for more."""
    return math.sqrt(depth) if n_criteria == 1 else math.cbrt(depth) / n_criteria


def _exceeded_depth(fronts: Fronts, dyads: NDArray[np.float64], share: float) -> int:
    """Return the smallest depth that fewer than a share of the dyads exceed."""
    depths = np.sort(Depths(fronts, "paper").of(dyads))
    n_deeper = math.ceil(share * len(depths)) - 1
    return int(depths[len(depths) - 1 - n_deeper])


def _kept_depth(fronts: Fronts, max_kept: float) -> float:
    """Return the last front up to which there are at most `max_kept` dyads, at least 1; infinite if that is all."""
    if len(fronts.dyads) <= max_kept:
        return math.inf
    return max(1, int(np.searchsorted(fronts.starts, max_kept, side="right")) - 1)


def asked_dyads(
    pairs: Pairs, n_neighbors: NDArray[np.intp], seed: int, *, n_asked: int = ASKED_SAMPLES
) -> NDArray[np.float64]:
    """Return the nearest dyads of `n_asked` random training samples, leave-one-out, shape (n_dyads, n_criteria)."""
    asked = np.random.default_rng(seed).choice(pairs.n_samples, min(pairs.n_samples, n_asked), replace=False)

    def nearest(pairs: Pairs, samples: list[int]) -> NDArray[np.float64]:
        rows = [slice(sample, sample + 1) for sample in samples]
        return np.concatenate([nearest_dyads(pairs.block(row), n_neighbors)[1][0] for row in rows])

    parts = [asked[part].tolist() for part in gen_batches(len(asked), ASKED_AT_ONCE)]
    return np.concatenate(list(pairs.map(nearest, parts)))


def pair_blocks(n_samples: int, n_criteria: int) -> list[slice]:
    """Return the rows of blocks of pairs, of some `PAIR_VALUES` values each, in an order that mixes the samples."""
    blocks = []
    start = 0
    while start < n_samples - 1:
        # Later samples have fewer still to be paired with, so later blocks have more rows.
        stop = min(n_samples, start + max(1, block_values(PAIR_VALUES) // (n_criteria * (n_samples - start))))
        blocks.append(slice(start, stop))
        start = stop
    # Shuffled, because neighbors in sorted data are similar: front L so far would drop little of what is still to come.
    return [blocks[i] for i in np.random.default_rng(0).permutation(len(blocks))]


def pair_fronts(
    pairs: Pairs,
    limits: Limits,
    *,
    few_samples: int = FEW_SAMPLES,
    n_sampled: int = N_SAMPLED,
    sizes: SummarySizes = USUAL_SIZES,
) -> PairFronts:
    """Return the fronts of pairs of criteria within limits.

    If `max_depth` is ``"auto"``, each pair of criteria has a last front of its own, such that
    all pairs together hold some 4 million dyads. Without a cap they may hold some 8 million,
    and if all dyads are more, the last fronts are chosen in the same way. Fronts up to a cap
    are exact and come from one pass over the blocks of dissimilarities, now and then two;
    `n_sampled` random dyads, of all pairs of criteria together and the same ones every time,
    estimate depths beyond them.
    """
    max_kept = limits.max_kept
    criteria = chosen_pairs(sampled_dyads(pairs, min(N_COMPARED, pairs.n_pairs), seed=0))
    if limits.max_depth is None and len(criteria) * pairs.n_pairs <= max_kept:
        return PairFronts.from_dyads(HeldPairs.of(pairs).dyads, criteria=criteria, n_jobs=pairs.n_jobs)
    if isinstance(limits.max_depth, int):
        max_depths = [limits.max_depth] * len(criteria)
    else:
        max_kept = min(MAX_KEPT, max_kept) if limits.max_depth == "auto" else max_kept
        max_depths = auto_max_depths(pairs, criteria, max_kept=max_kept, n_asked=min(few_samples, PAIRED_SAMPLES))
    # All together they sort as much at once as a single one.
    sizes = sizes._replace(batch_values=sizes.batch_values // len(criteria))
    fronts = fronts_of_some(pairs, criteria.tolist(), max_depths, few_samples=few_samples, sizes=sizes)
    made = PairFronts(criteria, tuple(fronts))
    n_dyads = min(max(1, n_sampled // len(criteria)), pairs.n_pairs)
    return with_sampled(made, sampled_dyads(pairs, n_dyads, seed=0), pairs.n_jobs)


def auto_max_depths(
    pairs: Pairs, criteria: NDArray[np.intp], *, max_kept: int = MAX_KEPT, n_asked: int = PAIRED_SAMPLES
) -> list[int]:
    """Return, for each pair of criteria, a last front such that the fronts of all hold `max_kept` dyads together.

    Foreseen from the fronts of a few random samples and their `growth` to all samples, so
    the number of dyads is about right for continuous dissimilarities, and smaller for others.
    """
    # Always the same samples, because the last fronts and with them every score depend on them.
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
