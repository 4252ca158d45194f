import time
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth import Criterion, Fronts
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.dominance_filter import SummarySizes
from paretodepth.pairs.capped_fronts import (
    auto_max_depth,
    capped_fronts,
    pair_blocks,
    sampled_dyads,
    sampled_numbers,
)
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from tests import naive
from tests.draws import IS_SLOW, assert_same_fronts, draw_samples, fitted, pairs_of, small_blocks

N_SAMPLES = 80 if IS_SLOW else 700
SMALL = {"few_samples": 12, "sizes": SummarySizes(n_points=16, batch_values=900)}
"""Have a few samples treated as many."""


@pytest.fixture(autouse=True)
def blocks():
    with small_blocks(200):
        yield


def pairs_drawn(kind, n_criteria, n_samples=60, n_jobs=1):
    return pairs_of(None, draw_samples(kind, n_samples, n_criteria), n_jobs)


@pytest.mark.parametrize("n_criteria", range(1, 6))
@pytest.mark.parametrize("kind", ["distinct", "normal", "tied", "equal", "duplicate", "sorted", "clusters"])
def test_capped_fronts_are_those_of_all_pairs(kind, n_criteria):
    pairs = pairs_drawn(kind, n_criteria)
    held = HeldPairs.of(pairs)
    ways = {"computed": pairs, "held": held, "two threads": pairs_drawn(kind, n_criteria, n_jobs=2)}
    for max_depth in (1, 4, 1000):
        expected = Fronts.from_dyads(held.dyads, max_depth=max_depth)
        for way, same in ways.items():
            assert_same_fronts(capped_fronts(same, max_depth, **SMALL), expected, f"{way}, cap {max_depth}")


@pytest.mark.parametrize("kind", ["distinct", "tied"])
def test_capped_fronts_equal_the_naive_ones(kind):
    pairs = pairs_drawn(kind, 2, 25)
    dyads = naive.pairwise_dyads([cdist(encoding, encoding, "cityblock") for encoding in pairs.encodings])
    numbers = naive.front_numbers(dyads)
    fronts = capped_fronts(pairs, 3, **SMALL)
    for number in range(1, 4):
        assert_array_equal(fronts.front(number), np.unique(dyads[numbers == number], axis=0))


@pytest.mark.parametrize("n_criteria", [2, 3])
def test_blocks_and_draws_change_nothing(n_criteria):
    pairs = pairs_drawn("distinct", n_criteria, n_jobs=2)
    expected = Fronts.from_dyads(HeldPairs.of(pairs).dyads, max_depth=3)
    for n_values, seed in product((1, 7, 50, 400, 10**6), range(3)):
        with small_blocks(n_values):
            fronts = capped_fronts(pairs, 3, seed=seed, **SMALL)
        assert_same_fronts(fronts, expected, f"blocks of {n_values}, seed {seed}")


class CountedPairs(ComputedPairs):
    """Pairs that count how often all of them are gone through."""

    n_passes = 0

    def summarized(self, summary, blocks):
        self.n_passes += 1
        return super().summarized(summary, blocks)


@pytest.mark.parametrize("n_criteria", [2, 3, 4])
@pytest.mark.parametrize(("n_copies", "n_passes"), [(1, 1), (10, 2)], ids=["right", "wrong"])
def test_a_wrong_foresight_is_made_up_for(n_criteria, n_copies, n_passes):
    # A quarter of samples that are there ten times has nearly all dyads of the whole, so its fronts lie no higher.
    rng = np.random.default_rng(0)
    samples = rng.random((300 // n_copies, 1)) + 0.1 * rng.random((300 // n_copies, n_criteria))
    own = fitted(None, np.repeat(samples, n_copies, axis=0))
    pairs = CountedPairs(own.criteria, own.encodings, 1)
    expected = Fronts.from_dyads(HeldPairs.of(pairs).dyads, max_depth=10)
    assert_same_fronts(capped_fronts(pairs, 10, few_samples=30), expected)
    assert pairs.n_passes == n_passes


def test_matrices_and_functions_give_the_fronts_of_the_same_numbers():
    samples = np.random.default_rng(0).random((60, 2))
    matrices = [cdist(column, column) for column in (samples[:, :1], samples[:, 1:])]
    precomputed = [Criterion(name, metric="precomputed") for name in "ab"]
    functions = [Criterion(name, [column], lambda A, B: cdist(A, B)) for column, name in enumerate("ab")]
    first, second = pairs_of(precomputed, matrices), pairs_of(functions, samples)
    assert_same_fronts(capped_fronts(first, 5, **SMALL), capped_fronts(second, 5, **SMALL))


def test_every_pair_is_in_one_block():
    for n_samples in (2, 3, 50):
        rows = np.concatenate([np.r_[rows] for rows in pair_blocks(n_samples, 2)])
        assert set(range(n_samples - 1)) <= set(rows)
        assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("kind", ["distinct", "normal", "clusters"])
@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4])
def test_hardly_any_nearest_dyad_is_deeper_than_the_automatic_cap(kind, n_criteria):
    pairs = HeldPairs.of(pairs_drawn(kind, n_criteria, N_SAMPLES))
    n_neighbors = np.full(n_criteria, 6)
    max_depth = auto_max_depth(pairs, n_neighbors, few_samples=300, n_asked=N_SAMPLES)
    fronts = Fronts.from_dyads(pairs.dyads)
    _, nearest = nearest_dyads(pairs.block(slice(0, N_SAMPLES)), n_neighbors)
    depths = Depths(fronts, "paper").of(nearest.reshape(-1, n_criteria))
    assert np.mean(depths > max_depth) < 0.001
    computed = pairs_drawn(kind, n_criteria, N_SAMPLES, n_jobs=2)
    assert max_depth == auto_max_depth(computed, n_neighbors, few_samples=300, n_asked=N_SAMPLES)


def test_the_automatic_cap_of_few_samples_is_the_depth_itself():
    pairs = pairs_drawn("distinct", 2, 40)
    matrices = [cdist(encoding, encoding, "cityblock") for encoding in pairs.encodings]
    dyads = naive.pairwise_dyads(matrices)
    numbers = naive.front_numbers(dyads)
    near = [
        [matrix[i][j] for matrix in matrices]
        for i in range(40)
        for j in naive.nearest([matrix[i] for matrix in matrices], (3, 3), i)
    ]
    depths = naive.depths(near, dyads, numbers, "paper")
    expected = min(depth for depth in range(1, 1000) if np.mean(depths > depth) < 0.1)
    assert expected < max(depths)
    assert auto_max_depth(pairs, np.array([3, 3]), capped_share=0.1) == expected


@pytest.mark.parametrize("n_criteria", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_automatic_cap_keeps_few_enough_dyads(n_criteria):
    pairs = HeldPairs.of(pairs_drawn("distinct", n_criteria, N_SAMPLES))
    max_kept = pairs.n_pairs // 20
    free, tight = (
        auto_max_depth(pairs, np.full(n_criteria, 5), max_kept=n_kept, few_samples=300) for n_kept in (10**9, max_kept)
    )
    assert tight < free
    assert max_kept / 2 < len(capped_fronts(pairs, tight).dyads) < 2 * max_kept


def test_every_pair_is_sampled_equally_often():
    rng = np.random.default_rng(0)
    counts = np.zeros(20)
    for _ in range(2000):
        counts[sampled_numbers(20, 5, rng)] += 1
        counts[sampled_numbers(20, 15, rng)] += 1
    # 2000 draws of a mean of 1 a number each, of variance 3 / 8.
    assert np.abs(counts - 2000).max() < 4 * np.sqrt(2000 * 3 / 8)


def naive_sampled_numbers(n_numbers, n_sampled, rng):
    """Return distinct random numbers below `n_numbers`, collected in a set."""
    if n_sampled > n_numbers // 2:
        return np.delete(np.arange(n_numbers), naive_sampled_numbers(n_numbers, n_numbers - n_sampled, rng))
    sampled = set()
    while len(sampled) < n_sampled:
        sampled |= set(rng.integers(n_numbers, size=n_sampled - len(sampled)).tolist())
    return np.array(sorted(sampled), np.intp)


@pytest.mark.parametrize(("n_numbers", "n_sampled"), [(1, 0), (1, 1), (20, 7), (1000, 500), (1000, 501), (10**9, 5000)])
def test_sampled_numbers_equal_the_naive_ones(n_numbers, n_sampled):
    for seed in range(5):
        found, expected = (
            function(n_numbers, n_sampled, np.random.default_rng(seed))
            for function in (sampled_numbers, naive_sampled_numbers)
        )
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)


def test_numbers_are_sampled_in_the_time_of_a_few_sorts():
    n_numbers, n_sampled = 10**7, 2**18

    def seconds(function):
        start = time.process_time()
        function()
        return time.process_time() - start

    rng = np.random.default_rng(0)
    sorts = [seconds(lambda: np.sort(rng.integers(n_numbers, size=n_sampled))) for _ in range(5)]
    found = [seconds(lambda: sampled_numbers(n_numbers, n_sampled, rng)) for _ in range(3)]
    # About 6 times as long; by a hash table it took more than 200 times.
    assert min(found) < 50 * min(sorts)


@pytest.mark.parametrize("n_dyads", [1, 100, 700, 780])
def test_sampled_dyads_are_those_of_as_many_pairs(n_dyads):
    pairs = pairs_drawn("distinct", 2, 40, n_jobs=2)
    held = HeldPairs.of(pairs)
    dyads = sampled_dyads(pairs, n_dyads, seed=3)
    sampled = {tuple(dyad) for dyad in dyads}
    assert len(sampled) == n_dyads
    assert sampled <= {tuple(dyad) for dyad in held.dyads}
    assert_array_equal(sampled_dyads(held, n_dyads, seed=3), dyads)
