"""What a streaming detector refuses, and that it is one of scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from paretodepth import Criterion
from paretodepth.streaming import StreamingDetector

X = np.random.default_rng(0).normal(size=(60, 2))
PARAMETERS = [
    ({"window": 98}, ValueError, "'window' parameter of StreamingDetector must be an integer of at least 99"),
    ({"window": "wide"}, ValueError, "'window' parameter of StreamingDetector must be an integer"),
    ({"window": True, "alpha": 0.9}, ValueError, "'window' parameter"),
    ({"window": 10**7}, ValueError, "must be so small that its pairs fit into half of the memory that is free"),
    ({"refresh": 0}, ValueError, "'refresh' parameter of StreamingDetector must be None or an integer from 1"),
    ({"refresh": 1001}, ValueError, "to the size of the window, 1,000"),
    ({"alpha": 0}, ValueError, "'alpha' parameter of StreamingDetector must be a number between 0 and 1"),
    ({"alpha": 0.0001}, ValueError, "must be an integer of at least 9,999, what 'alpha' needs. Got 1000"),
    ({"method": "union"}, ValueError, "'method' parameter of StreamingDetector must be one of 'depth'"),
    ({"learn": "never"}, ValueError, "'learn' parameter of StreamingDetector must be one of 'nominal', 'all'"),
    ({"max_unlearnt": 1.5}, ValueError, "'max_unlearnt' parameter of StreamingDetector must be a number between"),
    ({"criteria": [Criterion("m", metric="precomputed")]}, ValueError, "Got metric='precomputed' for 'm' instead"),
    ({"criteria": "all"}, TypeError, "criteria"),
]


@pytest.mark.parametrize(("parameters", "error", "text"), PARAMETERS)
def test_parameters_that_cannot_be_are_refused_at_the_first_sample(parameters, error, text):
    with pytest.raises(error) as refusal:
        StreamingDetector(**parameters).update_one([1.0, 2.0])
    assert text in str(refusal.value)


SAMPLES = [
    ({"a": 1.0}, "Got no 'b' instead"),
    ({"a": 1.0, "b": "x"}, "The column 'b' of the criterion 'b' must hold numbers. Got 'x'"),
    ({"a": 1.0, "b": np.nan}, "Got 1 in 'b' instead"),
    ({"a": None, "b": 1.0}, "Got 1 in 'a' instead"),
    ({"a": [1.0, 2.0], "b": 1.0}, "must hold a single value in 'a', as the first did"),
    ({"a": np.inf, "b": 1.0}, "must hold finite numbers. Got inf in 'a'"),
    ({}, "must have strings as keys, at least one"),
    ({1: 1.0, 2: 2.0}, "must have strings as keys"),
    ([1.0, 2.0], "must be a dict of values by column, as the first"),
    ("text", "must be a dict of values by column, as the first"),
    (None, "must be a dict of values by column, as the first"),
    (3.5, "must be a dict of values by column, as the first"),
]


@pytest.mark.parametrize("n_before", [1, 40])
@pytest.mark.parametrize(("sample", "text"), SAMPLES)
def test_a_sample_that_is_refused_changes_nothing(sample, text, n_before):
    criteria = [Criterion("a", "a"), Criterion("b", "b")]
    stream = StreamingDetector(criteria, window=30, alpha=0.1)
    for a, b in X[:n_before]:
        stream.update_one({"a": a, "b": b})
    before = (stream.n_seen_, stream.window_, stream.drifts_)
    with pytest.raises((ValueError, TypeError)) as refusal:
        stream.update_one(sample)
    assert text in str(refusal.value)
    assert (stream.n_seen_, stream.window_, stream.drifts_) == before


def test_rows_of_another_length_are_refused():
    stream = StreamingDetector(window=30, alpha=0.1).partial_fit(X)
    for sample in ([1.0], [1.0, 2.0, 3.0], [[1.0], 2.0], {"a": 1.0}):
        with pytest.raises(ValueError, match=r"features|must hold a single value in 0|must be a sequence of values"):
            stream.update_one(sample)
    assert stream.n_seen_ == 60


def test_a_fit_that_fails_leaves_the_sample_out():
    # With all samples on a line there is no covariance; the window is not touched, and each sample says why.
    stream = StreamingDetector([Criterion("m", ["a", "b"], "mahalanobis")], window=30, alpha=0.1)
    for number in range(8):
        stream.update_one({"a": float(number), "b": 2.0 * number})
    for _ in range(3):
        with pytest.raises(ValueError, match="covariance"):
            stream.update_one({"a": 9.0, "b": 18.0})
        assert len(stream.window_) == 8
    stream.update_one({"a": 1.0, "b": 5.0})
    assert stream.age_ == 0


def test_a_sample_too_far_for_a_float_is_refused():
    stream = StreamingDetector(window=30, alpha=0.1).partial_fit(X - 1e308)
    with pytest.raises(ValueError, match="dissimilarities that are finite"):
        stream.update_one([1e308, 0.0])
    assert stream.n_seen_ == 60


def test_it_is_an_estimator_of_scikit_learn():
    stream = StreamingDetector(window=30, alpha=0.1)
    with pytest.raises(NotFittedError):
        check_is_fitted(stream)
    stream.fit(X)
    check_is_fitted(stream)
    copy = clone(stream)
    assert copy.get_params() == stream.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert is_outlier_detector(stream)
    assert set(stream.predict(X * 3)) == {-1, 1}
    # To fit is to begin anew.
    assert stream.fit(X).n_seen_ == 60
    assert stream.partial_fit(X).n_seen_ == 120
