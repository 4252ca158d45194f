import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth import Criterion, Fronts
from paretodepth.fronts import summary as summaries
from paretodepth.pairs import capped_fronts as capping
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.pairs.pairs import HeldPairs
from tests import naive
from tests.draws import IS_SLOW, assert_same_fronts, draw_samples, pairs_of

N_SAMPLES = 80 if IS_SLOW else 700


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(capping, "FEW_SAMPLES", 12)
    monkeypatch.setattr(capping, "PAIR_VALUES", 200)
    monkeypatch.setattr(summaries, "BATCH_VALUES", 900)
    monkeypatch.setattr(summaries, "N_POINTS", 16)


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
            assert_same_fronts(capping.capped_fronts(same, max_depth), expected, f"{way}, cap {max_depth}")


@pytest.mark.parametrize("kind", ["distinct", "tied"])
def test_capped_fronts_equal_the_naive_ones(kind):
    pairs = pairs_drawn(kind, 2, 25)
    dyads = naive.pairwise_dyads([cdist(view, view, "cityblock") for view in pairs.views])
    numbers = naive.front_numbers(dyads)
    fronts = capping.capped_fronts(pairs, 3)
    for number in range(1, 4):
        assert_array_equal(fronts.front(number), np.unique(dyads[numbers == number], axis=0))


@pytest.mark.parametrize("n_criteria", [2, 3])
def test_blocks_and_draws_change_nothing(n_criteria, monkeypatch):
    pairs = pairs_drawn("distinct", n_criteria, n_jobs=2)
    expected = Fronts.from_dyads(HeldPairs.of(pairs).dyads, max_depth=3)
    for block_values in (1, 7, 50, 400, 10**6):
        monkeypatch.setattr(capping, "PAIR_VALUES", block_values)
        for seed in range(3):
            fronts = capping.capped_fronts(pairs, 3, seed=seed)
            assert_same_fronts(fronts, expected, f"blocks of {block_values}, seed {seed}")


@pytest.mark.parametrize("n_criteria", [2, 3, 4])
def test_a_wrong_foresight_is_made_up_for(n_criteria, monkeypatch):
    pairs = pairs_drawn("distinct", n_criteria, 120)
    expected = Fronts.from_dyads(HeldPairs.of(pairs).dyads, max_depth=10)
    monkeypatch.setattr(capping, "FRONT_MARGIN", 0.0)
    monkeypatch.setattr(capping, "growth", lambda *_: 100.0)
    asked, pair_blocks = [], capping.pair_blocks
    monkeypatch.setattr(capping, "pair_blocks", lambda *of: asked.append(of) or pair_blocks(*of))
    assert_same_fronts(capping.capped_fronts(pairs, 10), expected)
    assert asked.count((120, n_criteria)) == 2


def test_matrices_and_functions_give_the_fronts_of_the_same_numbers():
    samples = np.random.default_rng(0).random((60, 2))
    matrices = [cdist(column, column) for column in (samples[:, :1], samples[:, 1:])]
    precomputed = [Criterion(name, metric="precomputed") for name in "ab"]
    functions = [Criterion(name, [column], lambda A, B: cdist(A, B)) for column, name in enumerate("ab")]
    first, second = pairs_of(precomputed, matrices), pairs_of(functions, samples)
    assert_same_fronts(capping.capped_fronts(first, 5), capping.capped_fronts(second, 5))


def test_every_pair_is_in_one_block():
    for n_samples in (2, 3, 50):
        rows = np.concatenate([np.r_[rows] for rows in capping.pair_blocks(n_samples, 2)])
        assert set(range(n_samples - 1)) <= set(rows)
        assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("kind", ["distinct", "normal", "clusters"])
@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4])
def test_hardly_any_nearest_dyad_is_deeper_than_the_automatic_cap(kind, n_criteria, monkeypatch):
    monkeypatch.setattr(capping, "FEW_SAMPLES", 300)
    monkeypatch.setattr(capping, "ASKED_SAMPLES", N_SAMPLES)
    pairs = HeldPairs.of(pairs_drawn(kind, n_criteria, N_SAMPLES))
    n_neighbors = np.full(n_criteria, 6)
    max_depth = capping.auto_max_depth(pairs, n_neighbors)
    fronts = Fronts.from_dyads(pairs.dyads)
    _, nearest = nearest_dyads(pairs.block(slice(0, N_SAMPLES)), n_neighbors)
    depths = capping.Depths(fronts, "paper").of(nearest.reshape(-1, n_criteria))
    assert np.mean(depths > max_depth) < 0.001
    assert max_depth == capping.auto_max_depth(pairs_drawn(kind, n_criteria, N_SAMPLES, n_jobs=2), n_neighbors)


def test_the_automatic_cap_of_few_samples_is_the_depth_itself(monkeypatch):
    monkeypatch.setattr(capping, "FEW_SAMPLES", 100)
    monkeypatch.setattr(capping, "CAPPED_SHARE", 0.1)
    pairs = pairs_drawn("distinct", 2, 40)
    matrices = [cdist(view, view, "cityblock") for view in pairs.views]
    dyads = naive.pairwise_dyads(matrices)
    numbers = naive.front_numbers(dyads)
    near = [
        [matrix[i][j] for matrix in matrices]
        for i in range(40)
        for j in naive.nearest([matrix[i] for matrix in matrices], (3, 3), i)
    ]
    depths = naive.depths(near, dyads, numbers, "paper")
    expected = min(depth for depth in range(1, 1000) if np.mean(depths > depth) < 0.1)
    assert capping.auto_max_depth(pairs, np.array([3, 3])) == expected


@pytest.mark.parametrize("n_criteria", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_automatic_cap_keeps_few_enough_dyads(n_criteria, monkeypatch):
    monkeypatch.setattr(capping, "FEW_SAMPLES", 300)
    pairs = HeldPairs.of(pairs_drawn("distinct", n_criteria, N_SAMPLES))
    max_kept = pairs.n_pairs // 20
    free, tight = (
        capping.auto_max_depth(pairs, np.full(n_criteria, 5), max_kept=n_kept) for n_kept in (10**9, max_kept)
    )
    assert tight < free
    assert max_kept / 2 < len(capping.capped_fronts(pairs, tight).dyads) < 2 * max_kept
