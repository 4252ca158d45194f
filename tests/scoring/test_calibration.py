"""Scores of the tests, p-values, and what is called an anomaly by them."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.preprocessing import StandardScaler

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.scoring.calibration import Surprise, discoveries, kept_rows, rank_p_values
from paretodepth.scoring.methods import METHODS
from tests import naive
from tests.draws import small_blocks

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CALIBRATIONS = ["leave-one-out", "split"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((40, 3)), rng.random((15, 3)) * 1.6


@pytest.mark.parametrize("rounded", [False, True])
def test_scores_and_p_values_equal_the_naive_ones(data, rounded):
    X_train, X = (np.round(part, 1) if rounded else part for part in (data[0][:26], data[1]))
    training, new = (np.abs(samples.T[:, :, None] - X_train.T[:, None]) for samples in (X_train, X))
    dyads = naive.pairwise_dyads(training)
    numbers = naive.front_numbers(dyads)
    counts = [naive.connected_n_neighbors(matrix) for matrix in training]
    nominal = [naive.statistics(training[:, i], counts, dyads, numbers, exclude=i) for i in range(len(X_train))]
    values = [naive.statistics(new[:, i], counts, dyads, numbers) for i in range(len(X))]
    detector = ParetoDepthDetector().fit(X_train)
    assert_allclose(-detector.training_scores_, [sample[0] for sample in nominal], rtol=1e-12)
    assert_allclose(-detector.score_samples(X), [sample[0] for sample in values], rtol=1e-12)
    assert_allclose(
        detector.model_.calibration.alone,
        np.sort([naive.depth_alone(nominal, sample) for sample in nominal], axis=0),
        rtol=1e-12,
        atol=1e-12,
    )
    p_values = [naive.p_value(-detector.training_scores_, score) for score in -detector.score_samples(X)]
    assert_array_equal(detector.p_values(X), p_values)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_sample_is_an_anomaly_if_its_p_value_is_at_most_alpha(method, calibration):
    for alpha, n_samples in product((0.02, 0.05, 0.1, 0.5), (149, 150, 152)):
        case = f"alpha {alpha}, {n_samples} samples"
        rng = np.random.default_rng(0)
        detector = ParetoDepthDetector(method=method, alpha=alpha, calibration=calibration, random_state=0)
        X = np.round(1.5 * rng.random((200, 2)), 2)
        is_anomaly = detector.fit(np.round(rng.random((n_samples, 2)), 2)).predict(X) == -1
        assert 0 < is_anomaly.sum() < len(X), case
        assert_array_equal(is_anomaly, detector.p_values(X) <= alpha, err_msg=case)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["table", "precomputed", "estimating"])
def test_a_split_fits_on_the_kept_samples_and_calibrates_on_the_others(data, method, kind):
    X_train, X = data
    kept = kept_rows(len(X_train), "split", np.random.RandomState(3).randint(2**31 - 1))
    held_out = np.delete(np.arange(len(X_train)), kept)
    assert len(held_out) == len(X_train) // 3
    criteria = None
    given = [X_train, X_train[kept], X_train[held_out], X]
    if kind == "precomputed":
        criteria = [Criterion(name, metric="precomputed") for name in "ab"]
        pairs = (X_train, X_train), (X_train[kept], X_train[kept]), (X_train[held_out], X_train[kept])
        given = [[cdist(A[:, :1], B[:, :1]), cdist(A[:, 1:], B[:, 1:])] for A, B in (*pairs, (X, X_train[kept]))]
    elif kind == "estimating":
        criteria = [Criterion("a", transform=StandardScaler()), Criterion("b", metric="mahalanobis")]
    parameters = {"criteria": criteria, "method": method, "threshold": 2.0}
    detector = ParetoDepthDetector(calibration="split", random_state=3, **parameters).fit(given[0])
    of_kept = ParetoDepthDetector(**parameters).fit(given[1])
    new = [cdist(X[:, :1], X_train[:, :1]), cdist(X[:, 1:], X_train[:, 1:])] if kind == "precomputed" else X
    assert_array_equal(detector.score_samples(new), of_kept.score_samples(given[3]))
    assert_array_equal(detector.training_scores_[kept], of_kept.training_scores_)
    nominal = of_kept.score_samples(given[2])
    assert_array_equal(detector.training_scores_[held_out], nominal)
    expected = [naive.p_value(-nominal, score) for score in -detector.score_samples(new)]
    assert_array_equal(detector.p_values(new), expected)


def test_a_score_does_not_depend_on_company_order_or_threads():
    rng = np.random.default_rng(0)
    X_train, X = np.round(rng.random((60, 3)), 2), np.round(1.4 * rng.random((30, 3)), 2)
    # More neighbors than numpy adds one after the other.
    detector = ParetoDepthDetector(method="blend", n_neighbors=20).fit(X_train)
    expected = detector.score_samples(X)
    assert_array_equal([detector.score_samples(x[None])[0] for x in X], expected)
    assert_array_equal(detector.score_samples(X[::-1])[::-1], expected)
    order = rng.permutation(len(X_train))
    with small_blocks(500):
        shuffled = ParetoDepthDetector(method="blend", n_neighbors=20, n_jobs=2).fit(X_train[order])
        assert_array_equal(shuffled.score_samples(X), expected)
    assert_array_equal(shuffled.training_scores_, detector.training_scores_[order])


def test_scores_tell_samples_apart_beyond_the_largest_training_score(data):
    X_train, _ = data
    detector = ParetoDepthDetector(method="blend").fit(X_train)
    far = [[2 + step, 0.5, 0.5] for step in range(50)]
    assert_array_equal(detector.p_values(far), np.full(50, 1 / 41))
    assert np.all(np.diff(detector.score_samples(far)) < 0)


@pytest.mark.parametrize("method", METHODS)
def test_constant_criteria_give_finite_scores(method):
    X_train = np.column_stack([np.random.default_rng(0).random(30), np.ones(30), np.ones(30)])
    detector = ParetoDepthDetector(method=method).fit(X_train)
    scores = detector.score_samples([[0.5, 1.0, 1.0], [0.5, 7.0, 1.0]])
    assert np.all(np.isfinite(scores))
    assert scores[1] < detector.offset_ < scores[0]


def test_ties_count_against_an_anomaly():
    nominal = np.array([1.0, 2.0, 2.0, 3.0])
    values = np.array([0.0, 2.0, 2.5, 3.0, 4.0])
    assert_array_equal(rank_p_values(nominal, values), [1.0, 0.8, 0.4, 0.4, 0.2])
    assert_array_equal(rank_p_values(nominal, values), [naive.p_value(nominal, value) for value in values])


def test_a_whole_number_far_from_tied_ones_has_by_far_the_largest_score():
    ages = np.random.default_rng(0).integers(20, 60, 1000).astype(float)
    ages[17] = ages.mean() + 40 * ages.std()
    scores = -ParetoDepthDetector(method="blend").fit(ages[:, None]).training_scores_
    assert scores.argmax() == 17
    assert scores[17] > 6 + np.sort(scores)[-2]


def test_a_tail_starts_with_the_share_above_its_start():
    values = np.array([0.0, 1.0, 2.0, 4.0])
    for nominal in (
        [0.0] * 99 + [1.0],
        [0.0] * 97 + [1.0, 2.0, 3.0],
        [1.0] * 100,
        [0.0] * 100,
        [*range(50), *range(50)],
    ):
        surprises = Surprise.fit(np.array(nominal)).of(values)
        assert_allclose(surprises, [naive.surprise(nominal, value) for value in values], rtol=1e-12)
        assert np.all(np.diff(surprises) >= 0)
    # One of a hundred is above, and the start counts once.
    assert_allclose(Surprise.fit(np.array([0.0] * 99 + [1.0])).of(values), [0, *(np.log(50) + values[1:])])
    # Values that few share are not tied: the tail starts with the share at least as large.
    for n_equal in (1, 2, 3):
        nominal = np.repeat(np.arange(100.0), n_equal)
        start = nominal[-10 * n_equal]
        assert_allclose(Surprise.fit(nominal).of(np.array([start, start + 1e-12])), np.log(10), rtol=1e-9)


def test_few_samples_have_the_smallest_alpha_they_allow(data):
    X_train, _ = data
    assert ParetoDepthDetector().fit(X_train[:9]).alpha_ == 0.1
    assert ParetoDepthDetector().fit(X_train[:19]).alpha_ == 0.05
    assert ParetoDepthDetector(threshold=3.0).fit(X_train[:9]).alpha_ is None
    detector = ParetoDepthDetector(alpha=0.1).fit(X_train[:9])
    assert_array_equal(detector.predict([[5.0, 5.0, 5.0]]), [-1])


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_false_alarms_hold_the_asked_rate(method, calibration):
    rng = np.random.default_rng(1)
    detector = ParetoDepthDetector(method=method, calibration=calibration, random_state=0)
    alphas = np.array([0.05, 0.1])
    rates = []
    for _ in range(25):
        p_values = detector.fit(rng.standard_normal((90, 3))).p_values(rng.standard_normal((100, 3)))
        rates.append(np.mean(p_values[:, None] <= alphas, axis=0))
    mean, error = np.mean(rates, axis=0), np.std(rates, axis=0) / 5
    assert np.all(mean < alphas + 2 * error)
    assert np.all(mean > alphas / 3)


def test_the_selected_are_those_of_benjamini_and_hochberg(data):
    rng = np.random.default_rng(0)
    for fdr in (0.05, 0.1, 0.5):
        for p_values in (rng.random(20) ** 3, rng.integers(1, 5, 20) / 40, np.ones(3)):
            assert_array_equal(discoveries(p_values, fdr), naive.discoveries(p_values, fdr))
    detector = ParetoDepthDetector(method="blend").fit(rng.random((300, 3)))
    X = np.concatenate([rng.random((50, 3)), 2 + rng.random((20, 3))])
    selected = detector.select(X, fdr=0.1)
    assert_array_equal(selected, naive.discoveries(detector.p_values(X), 0.1))
    assert selected[50:].all()
    assert selected[:50].mean() < 0.15
