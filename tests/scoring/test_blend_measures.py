"""The blend's statistics: how near the nearest are, how near these are to each other, and depths in pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import ParetoDepthDetector
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.pairs import HeldPairs
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.calibration import Calibration
from paretodepth.scoring.measures import typical_sizes
from paretodepth.scoring.methods import METHODS
from tests import naive
from tests.draws import UnheldPairs, assert_same_results, fitted_detector, small_blocks

MEASURES = METHODS["blend"].fitted


def infinite(rng, n_samples, n_criteria):
    """Matrices of dissimilarities of which a third are infinite, and few different ones."""
    matrices = np.where(rng.random((n_criteria, n_samples, n_samples)) < 0.3, np.inf, 1.0)
    matrices *= rng.integers(1, 4, matrices.shape)
    return np.where(np.eye(n_samples), 0.0, np.maximum(matrices, matrices.transpose(0, 2, 1)))


def differences(draw):
    def matrices(rng, n_samples, n_criteria):
        X = draw(rng, n_samples, n_criteria)
        return np.abs(X.T[:, :, None] - X.T[:, None])

    return matrices


KINDS = {
    "distinct": differences(lambda rng, n, k: rng.random((n, k))),
    "tied": differences(lambda rng, n, k: rng.integers(3, size=(n, k)).astype(float)),
    "rounded": differences(lambda rng, n, k: np.round(rng.random((n, k)), 1)),
    "equal": differences(lambda rng, n, k: np.ones((n, k))),
    "mostly equal": differences(lambda rng, n, k: (rng.random((n, k)) < 0.15).astype(float)),
    "infinite": infinite,
    "all infinite": lambda rng, n, k: np.where(np.eye(n), 0.0, np.full((k, n, n), np.inf)),
    "huge and tiny": differences(lambda rng, n, k: 10.0 ** rng.integers(-307, 307, (n, k))),
}


@pytest.mark.parametrize(("n_samples", "n_criteria"), [(22, 3), (22, 1), (12, 2), (11, 2), (3, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_measures_and_scores_equal_the_naive_ones(kind, n_samples, n_criteria):
    n_new = 5
    both = KINDS[kind](np.random.default_rng(0), n_samples + n_new, n_criteria)
    training, new = both[:, :n_samples, :n_samples], both[:, n_samples:, :n_samples]
    twin = naive.Blend(training)
    left_out, values = twin.left_out(), [twin.statistics(new[:, row]) for row in range(n_new)]
    # Criteria refuse what is infinite, so pairs are given.
    pairs = HeldPairs(naive.pairwise_dyads(training), n_samples, 1)
    measurer, nominal = BlendMeasurer.fit(pairs, PairFronts.from_dyads(pairs.dyads), typical_sizes(pairs.dyads))
    measures = measurer.of(new, MEASURES)
    for name in MEASURES:
        assert_allclose(nominal[name], [sample[name] for sample in left_out], rtol=1e-12, err_msg=f"{name}, left out")
        assert_allclose(measures[name], [sample[name] for sample in values], rtol=1e-12, err_msg=name)
    calibration = Calibration.fit(nominal, nominal, "blend")
    for found in (nominal, measures):
        scores = calibration.score(found)
        assert np.all(np.isfinite(scores))
        # From the same statistics: a difference in a last bit can make a tie, and so a rank.
        twins = [naive.blend_score(_samples(nominal), sample) for sample in _samples(found)]
        assert_allclose(scores, twins, rtol=1e-9, atol=1e-12)


def _samples(measures):
    """Return measures as one dict a sample."""
    names = list(measures)
    return [dict(zip(names, values, strict=True)) for values in zip(*measures.values(), strict=True)]


@pytest.mark.parametrize("kind", ["distinct", "rounded", "tied", "mostly equal"])
def test_no_bit_depends_on_blocks_threads_company_or_the_order_of_samples(kind):
    rng = np.random.default_rng(0)
    draw = {
        "distinct": lambda n: rng.random((n, 3)),
        "rounded": lambda n: np.round(rng.random((n, 3)), 1),
        "tied": lambda n: rng.integers(4, size=(n, 3)).astype(float),
        "mostly equal": lambda n: (rng.random((n, 3)) < 0.15).astype(float),
    }[kind]
    X, new = draw(60), draw(20)
    detector = fitted_detector(X, method="blend")
    scores = detector.score_samples(new)
    assert_array_equal([detector.score_samples(row[None])[0] for row in new], scores)
    order = rng.permutation(len(X))
    shuffled = fitted_detector(X[order], method="blend")
    assert_array_equal(shuffled.score_samples(new), scores)
    assert_array_equal(shuffled.training_scores_, detector.training_scores_[order])
    with small_blocks(500):
        blocks = fitted_detector(X, pairs_type=UnheldPairs, method="blend", n_jobs=2)
        assert_same_results(blocks, detector, new)


@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize(("mean", "seed", "ordinary"), [(1.5, 5, (3, 1, 2)), (1.5, 6, (0, 2, 2)), (1.0, 0, (0, 2, 2))])
def test_an_ordinary_count_beside_many_equal_ones_scores_as_others_do(mean, seed, ordinary, scale):
    # No row equals it. Of the rows one count away, 11 and more equal each other, so their own mean distance is 0.
    counts = np.random.default_rng(seed).poisson(mean, (300, 3))
    row = np.flatnonzero((counts == ordinary).all(axis=1))
    assert len(row) == 1
    scores = -fitted_detector(counts * scale, method="blend").training_scores_
    assert np.mean(scores >= scores[row]) > 0.05
    assert scores.max() < 8


def test_decimals_have_the_local_ratios_of_whole_numbers():
    rng = np.random.default_rng(0)
    X, new = rng.integers(5, size=(200, 3)), rng.integers(7, size=(50, 3))

    def ratios(scale):
        model = fitted_detector(X * scale, method="blend").model_
        measures = model.new_measures(model.encode(new * scale, caller="a test").encodings, MEASURES, n_jobs=1)
        return np.column_stack([measures["local_ratios"], measures["balanced_ratio"]])

    for scale in (0.1, 1 / 7, 1e-5):
        assert_allclose(ratios(scale), ratios(1.0), rtol=1e-9)


def test_a_sample_between_dense_ones_is_odd_by_its_local_ratio_alone():
    rng = np.random.default_rng(0)
    dense, wide = rng.normal(0, 0.005, (100, 2)), rng.normal(30, 6.0, (200, 2))
    detector = ParetoDepthDetector(method="blend").fit(np.concatenate([dense, wide]))
    model = detector.model_
    measures = model.new_measures(model.encode([[0.15, 0.0]], caller="a test").encodings, MEASURES, n_jobs=1)
    p_values = {
        name: model.calibration.measure_p_values(measures, name)[0] for name in ("neighbor_means", "local_ratios")
    }
    # Of 1, 5 and 20 nearest; wide ones are as far from each other.
    assert np.all(p_values["neighbor_means"][[0, 2, 4]] > 0.05)
    assert p_values["local_ratios"][0] < 0.01 < p_values["local_ratios"][1]
    assert detector.predict([[0.15, 0.0]])[0] == -1


def test_a_blend_has_no_fronts_of_all_criteria_and_no_mean_depth():
    X = np.random.default_rng(0).random((40, 3))
    detector = ParetoDepthDetector(method="blend", n_neighbors=3).fit(X)
    assert_array_equal(detector.fronts_.criteria, [[0, 1], [0, 2], [1, 2]])
    assert detector.n_fronts_ == sum(len(fronts) for fronts in detector.fronts_.fronts)
    assert_array_equal(detector.n_neighbors_, [10, 10, 10])
    assert detector.nearest_dyads(X[:2]).shape == (2, 30, 3)


@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
@pytest.mark.parametrize("max_depth", [None, 2])
def test_depths_in_some_pairs_are_those_of_all(max_depth):
    rng = np.random.default_rng(0)
    X, new = rng.integers(6, size=(40, 4)).astype(float), rng.random((5, 4))
    detector = ParetoDepthDetector(method="blend", max_depth=max_depth).fit(X)
    dyads = detector.nearest_dyads(new)
    near, every = detector.model_.measurer.pair_shares(dyads)
    for pairs in ([], [3], [4, 0, 5]):
        some_near, some_every = detector.model_.measurer.pair_shares(dyads, pairs)
        assert_array_equal(some_near, near[:, pairs])
        assert_array_equal(some_every, every[:, pairs])
