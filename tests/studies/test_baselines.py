import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from studies.baselines import (
    RIVALS,
    WeightedDetector,
    areas_under_curves,
    klpe,
    knn,
    knn_sum,
    lof,
    weight_grid,
    weighted_scores,
)
from studies.baselines.scores import training_neighbors
from tests import naive

SCORES = {"k-NN": knn, "k-NN sum": knn_sum, "k-LPE": klpe, "LOF": lof}


def matrices(seed, n_training=30, n_test=12, *, tied=False):
    rng = np.random.default_rng(seed)
    draw = (lambda n: rng.integers(4, size=(n, 2)).astype(float)) if tied else (lambda n: rng.random((n, 2)))
    training, test = draw(n_training), draw(n_test)
    return cdist(training, training), cdist(test, training)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_neighbors", [1, 3, 29])
def test_scores_equal_the_naive_ones(n_neighbors, tied):
    training, test = matrices(0, tied=tied)
    expected = naive.baseline_scores(training, test, n_neighbors)
    for method, scores in SCORES.items():
        assert_allclose(scores(training, test, n_neighbors), expected[method], rtol=1e-12, err_msg=method)


@pytest.mark.parametrize("n_neighbors", [1, 5, 20])
def test_lof_and_neighbors_equal_scikit_learns(n_neighbors):
    training, test = matrices(1)
    peer = LocalOutlierFactor(n_neighbors=n_neighbors, novelty=True, metric="precomputed").fit(training)
    assert_allclose(lof(training, test, n_neighbors), -peer.score_samples(test), rtol=0, atol=1e-12)
    distances, _ = NearestNeighbors(n_neighbors=n_neighbors, metric="precomputed").fit(training).kneighbors(test)
    assert_array_equal(knn(training, test, n_neighbors), distances[:, -1])
    assert_allclose(knn_sum(training, test, n_neighbors), distances.sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("tied", [False, True])
def test_without_a_number_k_is_the_connected_one(tied):
    for seed in range(4):
        training, test = matrices(seed, tied=tied)
        k = naive.connected_n_neighbors(training)
        assert_array_equal(lof(training, test), lof(training, test, k), err_msg=f"seed {seed}")


@pytest.mark.parametrize("n_apart", [33, 70])
def test_the_connected_k_may_be_longer_than_the_first_lists(n_apart):
    rng = np.random.default_rng(0)
    samples = np.r_[rng.random(n_apart), 100 + rng.random(100)][:, None]
    block = cdist(samples, samples)
    np.fill_diagonal(block, np.inf)
    # The other samples of the smaller group come first, then the other group.
    assert training_neighbors(block[None], np.ones(1), None)[1] == n_apart


def test_weighted_scores_are_those_of_the_weighted_sum():
    blocks = [matrices(seed) for seed in range(3)]
    training, test = (np.stack(part) for part in zip(*blocks, strict=True))
    weights = weight_grid(3, 2)
    infinite = training.copy()
    infinite[:, np.arange(30), np.arange(30)] = np.inf
    scores = weighted_scores(infinite, test, weights)
    for name in RIVALS:
        for row, weight in enumerate(weights):
            expected = SCORES[name](np.tensordot(weight, training, 1), np.tensordot(weight, test, 1))
            assert_allclose(scores[name][row], expected, rtol=1e-12)


def test_the_papers_grid_has_all_weights_but_zero():
    weights = weight_grid(4, 6)
    assert weights.shape == (1295, 4)
    assert weights.any(axis=1).all()
    assert len(np.unique(weights, axis=0)) == 1295


def test_areas_equal_scikit_learns_with_ties():
    rng = np.random.default_rng(0)
    labels = rng.random(50) < 0.3
    scores = rng.integers(5, size=(6, 50)).astype(float)
    assert_allclose(areas_under_curves(labels, scores), [roc_auc_score(labels, row) for row in scores], rtol=1e-14)


@pytest.mark.parametrize(
    ("training", "test", "n_neighbors", "text"),
    [
        ([[0, 1], [1, 0]], [[1, 2, 3]], 1, "must have one column per training sample, 2"),
        ([[0, 1, 1], [1, 0, 1]], [[1, 2]], 1, "must be square"),
        ([[0, 1], [2, 0]], [[1, 2]], 1, "must be symmetric"),
        ([[0, 1], [1, 0]], [[1, np.nan]], 1, "finite and not negative"),
        ([[0, 1], [1, 0]], [[1, 2]], 2, "below the number of training samples, 2"),
    ],
)
def test_bad_matrices_are_refused(training, test, n_neighbors, text):
    with pytest.raises(ValueError, match=text):
        knn(training, test, n_neighbors)


@pytest.mark.parametrize("method", SCORES)
def test_the_detector_scores_by_the_weighted_sum(method):
    rng = np.random.default_rng(2)
    X_train, X = rng.random((40, 3)), rng.random((15, 3))
    weights = np.array([0.0, 1.0, 2.5])
    detector = WeightedDetector(method=method, weights=weights, n_jobs=2).fit(X_train)
    training, test = (np.abs(samples[:, None] - X_train).dot(weights) for samples in (X_train, X))
    assert detector.n_neighbors_ == naive.connected_n_neighbors(training)
    assert_allclose(detector.score_samples(X), -SCORES[method](training, test), rtol=1e-12)
    assert_array_equal(detector.predict(X) == -1, detector.decision_function(X) < 0)


def test_training_scores_leave_the_sample_out():
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    detector = WeightedDetector(method="LOF", weights=[1, 1], n_neighbors=5).fit(X)
    peer = LocalOutlierFactor(n_neighbors=5, metric="cityblock").fit(X)
    assert_allclose(detector.training_scores_, peer.negative_outlier_factor_, rtol=1e-12)
    assert np.mean(detector.training_scores_ < detector.offset_) <= 0.05


def test_balanced_weights_make_the_criteria_alike():
    X = np.random.default_rng(4).random((50, 2))
    weights = WeightedDetector().fit(X * [1, 1000]).weights_
    assert_allclose(weights * [1, 1000], WeightedDetector().fit(X).weights_, rtol=1e-12)
    assert_array_equal(WeightedDetector().fit(np.column_stack([X[:, 0], np.ones(50)])).weights_[1], 1)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"weights": [1.0]}, "one number per criterion, 'x0', 'x1', none negative"),
        ({"weights": [0, 0]}, "not all zero"),
        ({"weights": [1, -1]}, "none negative"),
        ({"weights": "equal"}, "must be 'balanced' or one number per criterion"),
        ({"method": "knn"}, "must be one of 'k-NN', 'k-NN sum', 'k-LPE', 'LOF'"),
        ({"n_neighbors": 20}, "below the number of training samples, 20"),
        ({"n_neighbors": "all"}, "must be 'connected', an integer"),
        ({"alpha": 0}, "between 0 and 1"),
    ],
)
def test_bad_parameters_are_refused(parameters, text):
    with pytest.raises(ValueError, match=text):
        WeightedDetector(**parameters).fit(np.random.default_rng(0).random((20, 2)))
