from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Fronts
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.dominance_filter import SummarySizes
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.capped_fronts import auto_max_depths, pair_fronts
from paretodepth.pairs.limits import Limits
from paretodepth.pairs.pairs import HeldPairs
from tests.draws import IS_SLOW, assert_same_fronts, draw_samples, pairs_of, small_blocks

SMALL = {"few_samples": 12, "sizes": SummarySizes(batch_values=2700)}
"""Have a few samples treated as many."""
N_SAMPLES = 250 if IS_SLOW else 400


def limits(max_depth=None, n_bytes=2**33):
    return Limits(max_depth, n_bytes, n_bytes // 256)


def pairs_drawn(kind, n_criteria, n_samples=60, n_jobs=1):
    return pairs_of(None, draw_samples(kind, n_samples, n_criteria), n_jobs)


@pytest.mark.parametrize("n_criteria", [1, 2, 4])
@pytest.mark.parametrize("kind", ["distinct", "tied", "equal", "duplicate", "clusters"])
def test_capped_pair_fronts_are_those_of_all_pairs(kind, n_criteria):
    pairs = pairs_drawn(kind, n_criteria)
    held = HeldPairs.of(pairs)
    ways = {"computed": pairs, "held": held, "two threads": pairs_drawn(kind, n_criteria, n_jobs=2)}
    for max_depth in (1, 4, 1000):
        for way, same in ways.items():
            with small_blocks(200):
                found = pair_fronts(same, limits(max_depth), **SMALL)
            for pair, fronts in zip(found.criteria, found.fronts, strict=True):
                expected = Fronts.from_dyads(held.dyads[:, pair], max_depth=max_depth)
                assert_same_fronts(fronts, expected, f"{way}, cap {max_depth}, criteria {pair}")


def test_blocks_change_no_capped_front():
    pairs = pairs_drawn("distinct", 3, n_jobs=2)
    expected = PairFronts.from_dyads(HeldPairs.of(pairs).dyads, max_depth=3).fronts
    for n_values in (1, 50, 10**6):
        with small_blocks(n_values):
            found = pair_fronts(pairs, limits(3), **SMALL).fronts
        for fronts, same in zip(found, expected, strict=True):
            assert_same_fronts(fronts, same, f"blocks of {n_values}")


def test_a_cap_alone_draws_no_lots():
    pairs = pairs_drawn("distinct", 3)
    found, again = (pair_fronts(pairs, limits(3), n_sampled=600, **SMALL) for _ in range(2))
    assert [fronts.dyads.shape for fronts in found.sampled] == [(200, 2)] * 3
    assert_array_equal(found.mean_depth(HeldPairs.of(pairs).dyads), again.mean_depth(HeldPairs.of(pairs).dyads))


@pytest.mark.parametrize("kind", ["distinct", "normal", "clusters", "tied", "equal"])
@pytest.mark.parametrize("n_criteria", [1, 2, 4])
def test_above_the_cap_only_the_divisor_is_foreseen(kind, n_criteria):
    pairs = HeldPairs.of(pairs_drawn(kind, n_criteria, N_SAMPLES))
    whole, capped = (pair_fronts(pairs, limits(max_depth), n_sampled=pairs.n_pairs) for max_depth in (None, 40))
    dyads = pairs.dyads[::7]
    for row, pair in enumerate(whole.criteria):
        of_pair = [
            PairFronts(np.array([pair]), (part.fronts[row],), part.sampled[row : row + 1]) for part in (whole, capped)
        ]
        exact, foreseen = (part.mean_depth(dyads) for part in of_pair)
        is_above = Depths(whole.fronts[row], "paper").of(dyads[:, pair]) <= 40
        ratios = foreseen[is_above] / exact[is_above]
        assert is_above.any()
        assert np.ptp(ratios) < 1e-12
        assert 0.8 < ratios[0] < 1.25


@pytest.mark.parametrize("kind", ["distinct", "normal", "clusters", "tied"])
@pytest.mark.parametrize("max_depth", ["auto", 20])
def test_capped_and_uncapped_fronts_nearly_agree_at_any_depth(kind, max_depth):
    pairs = HeldPairs.of(pairs_drawn(kind, 4, N_SAMPLES))
    whole = pair_fronts(pairs, limits())
    # A budget of one fiftieth of what there is, and as many random dyads.
    n_bytes = 256 * 6 * pairs.n_pairs // 50
    capped = pair_fronts(pairs, limits(max_depth, n_bytes=n_bytes), few_samples=100, n_sampled=6 * pairs.n_pairs // 20)
    dyads = pairs.dyads[::7]
    exact, foreseen = whole.mean_depth(dyads), capped.mean_depth(dyads)
    assert np.abs(exact - foreseen).max() < 0.15
    assert np.abs(exact - foreseen).mean() < 0.03
    assert np.corrcoef(exact, foreseen)[0, 1] > 0.99


@pytest.mark.parametrize("kind", ["distinct", "normal"])
def test_the_automatic_caps_keep_about_as_many_dyads_as_they_may(kind):
    pairs = HeldPairs.of(pairs_drawn(kind, 3, N_SAMPLES))
    criteria = np.array(list(combinations(range(3), 2)))
    max_kept = 3 * pairs.n_pairs // 10
    caps = auto_max_depths(pairs, criteria, max_kept=max_kept, n_asked=N_SAMPLES // 4)
    kept = [
        len(Fronts.from_dyads(pairs.dyads[:, pair], max_depth=cap).dyads)
        for pair, cap in zip(criteria, caps, strict=True)
    ]
    assert 0.6 * max_kept < sum(kept) < 1.4 * max_kept


def test_without_a_cap_the_last_fronts_are_dropped_if_they_are_too_many():
    pairs = HeldPairs.of(pairs_drawn("distinct", 4, N_SAMPLES))
    whole = PairFronts.from_dyads(pairs.dyads)
    kept = PairFronts.from_dyads(pairs.dyads, max_kept=pairs.n_pairs)
    assert not whole.sampled
    assert 0.8 * pairs.n_pairs < sum(len(fronts.dyads) for fronts in kept.fronts) <= pairs.n_pairs
    for fronts, all_fronts in zip(kept.fronts, whole.fronts, strict=True):
        assert_array_equal(fronts.dyads, all_fronts.dyads[: all_fronts.starts[len(fronts)]])


def test_without_a_cap_memory_sets_one():
    pairs = pairs_drawn("distinct", 4, N_SAMPLES)
    n_kept = pairs.n_pairs
    found, same = (pair_fronts(part, limits(n_bytes=256 * n_kept)) for part in (pairs, HeldPairs.of(pairs)))
    assert 0.6 * n_kept < sum(len(fronts.dyads) for fronts in found.fronts) < 1.4 * n_kept
    for fronts, expected in zip(found.fronts + found.sampled, same.fronts + same.sampled, strict=True):
        assert_same_fronts(fronts, expected)
