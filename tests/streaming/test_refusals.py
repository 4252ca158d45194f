"""What a streaming detector refuses, and that it is one of scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
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
        with pytest.raises(ValueError, match=r"must hold a single value in 0|must be a sequence of 2 values"):
            stream.update_one(sample)
    assert stream.n_seen_ == 60


def course(stream, samples):
    """Return the observations of samples, None for those that are refused, and the warnings."""
    observations = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in samples:
            try:
                observations.append(stream.update_one(x))
            except (ValueError, TypeError):
                observations.append(None)
    return observations, [str(one.message) for one in caught if one.category is AdviceWarning]


ORDINARY = np.random.default_rng(1).normal(size=(1200, 2)).tolist()


@pytest.mark.parametrize(
    ("criteria", "extreme", "parameters"),
    [
        (None, 1e308, {"window": 300}),
        ([Criterion("both", [0, 1])], 1e200, {"window": 100, "alpha": 0.05}),
        ([Criterion("both", [0, 1])], 1e200, {"window": 100, "alpha": 0.05, "method": "blend"}),
    ],
)
@pytest.mark.parametrize("places", [(40, 60), (0, 1), (0, 5), (10, 11)])
def test_two_samples_too_far_apart_do_not_hold_up_a_stream(criteria, extreme, parameters, places):
    places = [place // (5 if "alpha" in parameters else 1) for place in places]
    samples = [list(x) for x in ORDINARY[:600]]
    for place, sign in zip(places, (1, -1), strict=True):
        samples.insert(place, [sign * extreme, 0.0])
    observations, _ = course(StreamingDetector(criteria, **parameters), samples)
    # The wrong samples, and as many ordinary ones in the worst case, before the window has given way.
    assert sum(observation is None for observation in observations) <= 4
    assert all(observation is not None and np.isfinite(observation.score) for observation in observations[-300:])


COVARIANCE = [Criterion("m", [0, 1], "mahalanobis")]


def test_equal_samples_at_first_do_not_hold_up_a_stream():
    samples = [[1.0, 2.0]] * 25 + ORDINARY[:1000]
    stream = StreamingDetector(COVARIANCE, window=100, method="depth", alpha=0.05)
    observations, told = course(stream, samples)
    assert None not in observations
    assert all(observation.is_learnt for observation in observations[:25])
    assert all(observation.score > 0 for observation in observations[60:])
    assert len(told) == 1
    assert told[0].startswith("The window cannot be fitted; the last sample need not be the cause. Nothing is scored")
    assert "until a later fit succeeds. The reason: The columns of the criterion 'm' must not determine" in told[0]


@pytest.mark.parametrize("method", ["depth", "blend"])
@pytest.mark.parametrize("n_equal", [160, 700])
def test_equal_samples_in_between_leave_the_last_model_in_use(method, n_equal):
    samples = ORDINARY[:200] + [[1.0, 2.0]] * n_equal + ORDINARY[200:]
    stream = StreamingDetector(COVARIANCE, window=100, method=method)
    observations, told = course(stream, samples)
    assert None not in observations
    assert all(observation.score >= 0 for observation in observations[100:])
    assert len(told) == 1
    assert "The model of 50 samples ago is used until a later fit succeeds." in told[0]
    stream.refresh_fronts()
    assert stream.score_one([0.5, 0.5]) == -ParetoDepthDetector(COVARIANCE, method=method, alpha=0.01).fit(
        stream.window_
    ).score_samples([[0.5, 0.5]])


def test_failing_fits_are_reported_again_after_one_has_succeeded():
    samples = [[1.0, 2.0]] * 30 + ORDINARY[:200] + [[1.0, 2.0]] * 150 + ORDINARY[200:400]
    assert len(course(StreamingDetector(COVARIANCE, window=60, alpha=0.05), samples)[1]) == 2


def test_a_fit_that_is_asked_for_and_fails_changes_nothing():
    stream = StreamingDetector(COVARIANCE, window=60, alpha=0.05).partial_fit(ORDINARY[:200])
    course(stream, [[1.0, 2.0]] * 100)
    age, window, score = stream.age_, stream.window_, stream.score_one([0.5, 0.5])
    assert age > 0
    with pytest.raises(ValueError, match="covariance"):
        stream.refresh_fronts()
    assert (stream.age_, stream.window_, stream.score_one([0.5, 0.5])) == (age, window, score)


@pytest.mark.parametrize("n_first", [1, 12, 60])
def test_a_change_for_good_is_learnt_in_the_end(n_first):
    # Samples that have only "a" and samples that have only "b" cannot be compared.
    criteria = [Criterion("both", ["a", "b"], "cityblock", missing="ignore")]
    stream = StreamingDetector(criteria, window=40, alpha=0.1)
    first = [{"a": a, "b": None} for a, _ in ORDINARY[:n_first]]
    assert None not in course(stream, first)[0]
    n_window = len(stream.window_)
    later = [{"a": None, "b": b} for _, b in ORDINARY[:300]]
    observations, told = course(stream, later)
    assert observations.count(None) == n_window
    assert None in observations[:1]
    assert None not in observations[n_window:]
    assert told == [
        f"The last {n_window + 1} samples could not be compared with the window, so {n_window} of its {n_window} "
        "samples are forgotten."
    ]
    assert observations[-1].score >= 0
    # One alone, and one that cannot be read, are refused and forgotten.
    before = stream.window_
    assert course(stream, [{"a": 1.0, "b": None}, {"a": "text", "b": 1.0}] * 40)[0] == [None] * 80
    assert len(stream.window_) == len(before) == 40
    assert course(stream, later[:1])[0][0] is not None


def test_numbers_that_came_after_text_can_be_read_when_the_text_has_left_the_window():
    criteria = [Criterion("m", ["a", "b"], "mahalanobis"), Criterion("all", ["a", "kind"], "gower")]
    # The fits fail at first, so that the window slides.
    samples = [{"a": 1.0, "b": 1.0, "kind": kind} for kind in ["x", 5.0] + ["x"] * 40]
    samples += [{"a": a, "b": b, "kind": "x"} for a, b in ORDINARY[:60]]
    observations, _ = course(StreamingDetector(criteria, window=30, alpha=0.1), samples)
    assert None not in observations
    assert observations[-1].score >= 0


def test_the_first_value_that_is_not_missing_fixes_the_kind_of_a_column():
    criteria = [Criterion("all", ["a", "kind"], "gower", missing="ignore")]
    samples = [{"a": a, "kind": "x" if b > 0 else "y"} for a, b in ORDINARY[:60]]
    observations, _ = course(StreamingDetector(criteria, window=30, alpha=0.1), [{"a": 0.5, "kind": None}, *samples])
    assert None not in observations
    assert observations[-1].score >= 0


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
