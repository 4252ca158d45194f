"""A stream against the batch detector on the same window, bit by bit, after any history."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth.streaming import StreamingDetector
from tests import naive
from tests.streaming.random_streams import table

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
METHODS = ["depth", "blend"]
HISTORIES = st.lists(
    st.one_of(
        st.tuples(st.just("learn"), st.integers(1, 30)),
        st.tuples(st.just("partial_fit"), st.integers(1, 30)),
        st.tuples(st.just("score"), st.integers(1, 3)),
        st.tuples(st.just("refresh"), st.just(0)),
    ),
    max_size=8,
)


def batch(stream):
    """Return the batch detector fitted to the samples in the window."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        return ParetoDepthDetector(stream.criteria, method=stream.method, alpha=stream.alpha).fit(table(stream.window_))


def assert_equals_batch(stream, new):
    """Check that scores, p-values, threshold and labels are those of the batch detector to the last bit."""
    assert stream.age_ == 0
    detector = batch(stream)
    X = table(new)
    assert_array_equal(stream.score_samples(X), detector.score_samples(X))
    assert_array_equal(stream.p_values(X), detector.p_values(X))
    assert_array_equal(stream.predict(X), detector.predict(X))
    assert stream.threshold_ == -detector.offset_
    assert [-stream.score_one(x) for x in new] == detector.score_samples(X).tolist()
    assert [stream.p_value_one(x) for x in new] == detector.p_values(X).tolist()


def draws(rng, n_samples, n_criteria, n_values):
    """Return samples with ties, or without any if `n_values` is 0."""
    shape = (n_samples, n_criteria)
    return (rng.integers(n_values, size=shape) if n_values else rng.normal(size=shape)).astype(float).tolist()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4])
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_values=st.sampled_from([0, 2, 6]),
    window=st.integers(9, 40),
    refresh=st.integers(1, 9),
    learn=st.sampled_from(["nominal", "all"]),
    history=HISTORIES,
)
def test_any_history_ends_with_the_scores_of_the_batch_detector(
    method, n_criteria, seed, n_values, window, refresh, learn, history
):
    rng = np.random.default_rng(seed)
    stream = StreamingDetector(window=window, refresh=refresh, method=method, alpha=0.1, learn=learn)
    stream.partial_fit(draws(rng, 9, n_criteria, n_values))
    for action, size in history:
        samples = draws(rng, size, n_criteria, n_values)
        if action == "learn":
            for x in samples:
                stream.learn_one(x)
                assert stream.age_ <= max(0, refresh - 1)
                if stream.age_ == 0 and n_criteria < 3:
                    assert -stream.score_one(samples[0]) == batch(stream).score_samples([samples[0]])[0]
        elif action == "partial_fit":
            stream.partial_fit(samples)
        elif action == "score":
            age, kept = stream.age_, stream.window_
            assert [-stream.score_one(x) for x in samples] == stream.score_samples(samples).tolist()
            assert (stream.age_, stream.window_) == (age, kept)
        else:
            stream.refresh_fronts()
    stream.refresh_fronts()
    assert len(stream.window_) <= window
    assert_equals_batch(stream, draws(rng, 5, n_criteria, n_values))


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_that_was_just_scored_is_scored_anew_by_new_fronts(method):
    rng = np.random.default_rng(0)
    stream = StreamingDetector(window=30, refresh=20, method=method, alpha=0.1, learn="all")
    stream.partial_fit(draws(rng, 65, 2, 0))
    assert stream.age_ > 0
    (x,) = draws(rng, 1, 2, 0)
    before = stream.score_one(x)
    stream.refresh_fronts()
    assert stream.score_one(x) == -batch(stream).score_samples([x])[0] != before


@pytest.mark.parametrize("n_values", [0, 4])
def test_between_fits_neighbors_are_those_in_the_window_and_fronts_those_of_the_last_fit(n_values):
    rng = np.random.default_rng(0)
    stream = StreamingDetector(window=20, refresh=15, method="depth", alpha=0.1, learn="all")
    stream.partial_fit(draws(rng, 40, 2, n_values))
    stream.refresh_fronts()
    fitted = batch(stream)
    before = np.array(stream.window_)
    dyads = naive.pairwise_dyads(np.abs(before[:, None] - before[None]).transpose(2, 0, 1))
    stream.partial_fit(draws(rng, 9, 2, n_values))
    assert stream.age_ == 9
    window = np.array(stream.window_)
    assert len(window) == 20
    assert_array_equal(window[:11], before[9:])
    for x in draws(rng, 5, 2, n_values):
        rows = np.abs(window - x).T
        expected = naive.mean_depth(rows, fitted.n_neighbors_, dyads, naive.front_numbers(dyads))
        assert stream.score_one(x) == expected


def test_with_refresh_1_the_fronts_are_always_fresh():
    rng = np.random.default_rng(1)
    stream = StreamingDetector(window=15, refresh=1, alpha=0.1, learn="all")
    for x in draws(rng, 40, 2, 0):
        stream.learn_one(x)
        if stream.n_seen_ >= 9:
            assert stream.age_ == 0
    assert_equals_batch(stream, draws(rng, 5, 2, 0))


MIXED = [
    ("scaled", [Criterion("amount", ["a", "b"], "scaled"), Criterion("kind", "kind", "mismatch")]),
    ("seuclidean", [Criterion("amount", ["a", "b"], "seuclidean"), Criterion("a", "a", "cityblock")]),
    ("mahalanobis", [Criterion("amount", ["a", "b"], "mahalanobis")]),
    ("gower", [Criterion("all", ["a", "b", "kind"], "gower"), Criterion("b", "b")]),
    ("transform", [Criterion("amount", ["a", "b"], transform=PCA(1)), Criterion("b", "b")]),
    ("asymmetric", [Criterion("lead", "a", lambda A, B: np.maximum(2 * (A - B.T), B.T - A)), Criterion("b", "b")]),
    ("pairwise", [Criterion("gap", "a", lambda x, y: abs(float(x[0] - y[0])), pairwise=True), Criterion("b", "b")]),
]


@pytest.mark.parametrize("criteria", [criteria for _, criteria in MIXED], ids=[name for name, _ in MIXED])
@pytest.mark.parametrize("method", METHODS)
def test_criteria_of_every_kind_equal_the_batch_detector(criteria, method):
    rng = np.random.default_rng(2)
    samples = [
        {"a": float(a), "b": float(b), "kind": str(kind), "note": "unread"}
        for a, b, kind in zip(
            rng.normal(size=70), rng.integers(5, size=70), rng.choice(["x", "y", "z"], 70), strict=True
        )
    ]
    stream = StreamingDetector(criteria, window=30, refresh=8, method=method, alpha=0.1)
    for sample in samples[:60]:
        stream.update_one(sample)
    stream.refresh_fronts()
    assert_equals_batch(stream, samples[60:])


def test_objects_such_as_paths_equal_the_batch_detector():
    rng = np.random.default_rng(3)
    paths = [rng.normal(size=(rng.integers(4, 9), 2)).cumsum(axis=0) for _ in range(60)]
    criteria = [
        Criterion("shape", metric="shape"),
        Criterion("speed", metric="speed"),
        Criterion("h", metric="hausdorff"),
    ]
    stream = StreamingDetector(criteria, window=25, refresh=6, alpha=0.1)
    for path in paths[:50]:
        stream.update_one(path)
    stream.refresh_fronts()
    assert_equals_batch(stream, paths[50:])


def test_samples_of_every_form_are_the_same_samples():
    X = np.random.default_rng(4).normal(size=(60, 2))
    forms = [X, X.tolist(), [tuple(x) for x in X], {"a": X[:, 0], "b": X[:, 1]}, [{"a": a, "b": b} for a, b in X]]
    scores = []
    for samples in forms:
        stream = StreamingDetector(window=30, alpha=0.1).partial_fit(samples)
        scores.append(stream.score_one({"a": 3.0, "b": 0.5} if isinstance(stream.window_[0], dict) else [3.0, 0.5]))
    assert len(set(scores)) == 1


def test_rows_of_data_frames_are_samples():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"a": np.arange(30.0) % 7, "b": np.arange(30.0) % 11}
    streams = [
        StreamingDetector(window=20, alpha=0.1).partial_fit(frame)
        for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), columns)
    ]
    assert len({stream.score_one({"a": 9.5, "b": 1.0}) for stream in streams}) == 1


def test_learning_after_scoring_is_the_same_as_learning():
    scored, unscored = (StreamingDetector(window=30, alpha=0.1) for _ in range(2))
    for x in draws(np.random.default_rng(5), 80, 2, 0):
        scored.score_one(x)
        scored.learn_one(x)
        unscored.learn_one(x)
    assert scored.window_ == unscored.window_
    assert scored.score_one([2.0, 2.0]) == unscored.score_one([2.0, 2.0])


def test_a_row_that_was_changed_after_it_was_scored_is_scored_anew():
    stream = StreamingDetector(window=30, alpha=0.1).partial_fit(draws(np.random.default_rng(6), 40, 2, 0))
    x = [0.0, 0.0]
    stream.score_one(x)
    x[0] = 50.0
    assert stream.update_one(x).is_anomaly


def test_anomalies_are_shown_and_not_learnt_until_they_are_too_many():
    rng = np.random.default_rng(7)
    stream = StreamingDetector(window=100, alpha=0.05, max_unlearnt=0.1)
    X = np.concatenate((rng.normal(size=(150, 2)), 100 + rng.normal(size=(60, 2))))
    observations = [stream.update_one(x) for x in X]
    is_left_out = np.array([not observation.is_learnt for observation in observations])
    is_anomaly = np.array([observation.is_anomaly for observation in observations])
    for number in range(len(X)):
        n_before = is_left_out[max(0, number - 99) : number].sum()
        assert is_left_out[number] == (is_anomaly[number] and n_before < 10)
    assert max(is_left_out[first : first + 100].sum() for first in range(len(X))) == 10
    # The change is learnt in the end, and told.
    assert is_anomaly[150:155].all()
    assert not is_anomaly[-20:].any()
    assert any(observation.is_drift for observation in observations[150:170])


def test_with_learn_all_every_sample_is_learnt():
    stream = StreamingDetector(window=20, alpha=0.1, learn="all").partial_fit(
        np.random.default_rng(8).normal(size=(30, 2))
    )
    observation = stream.update_one([100.0, 100.0])
    assert observation.is_anomaly
    assert observation.is_learnt
    assert stream.window_[-1] == [100.0, 100.0]


def test_an_unchanged_stream_is_called_at_most_about_twice_as_often_as_alpha():
    rng = np.random.default_rng(9)
    stream = StreamingDetector(window=200, alpha=0.05)
    observations = [stream.update_one(x) for x in rng.normal(size=(3000, 2))]
    assert 0.02 < np.mean([observation.is_anomaly for observation in observations[1000:]]) < 0.12


def test_until_alpha_can_be_reached_nothing_is_scored():
    stream = StreamingDetector(window=50, alpha=0.05)
    X = np.random.default_rng(10).normal(size=(19, 2))
    for x in X[:18]:
        observation = stream.update_one(x)
        assert np.isnan([observation.score, observation.p_value]).all()
        assert not observation.is_anomaly
        assert observation.is_learnt
    with pytest.raises(NotFittedError, match=r"must have learnt 19 samples, what 'alpha' needs. Got 18 so far"):
        stream.predict(X)
    assert np.isnan(stream.score_one(X[0]))
    stream.update_one(X[18])
    assert_equals_batch(stream, X[:3].tolist())


def test_a_sample_that_lacks_a_value_is_neither_scored_nor_learnt_if_it_is_to_be_dropped():
    criteria = [Criterion("a", "a", missing="drop"), Criterion("b", "b")]
    stream = StreamingDetector(criteria, window=30, alpha=0.1)
    for number, (a, b) in enumerate(np.random.default_rng(11).normal(size=(60, 2))):
        is_whole = number % 5 > 0
        observation = stream.update_one({"a": a if is_whole else None, "b": b})
        assert observation.is_learnt or not is_whole or observation.is_anomaly
        assert np.isnan(observation.score) == (not is_whole or number < 12)
    stream.refresh_fronts()
    assert_equals_batch(stream, stream.window_[:3])


DROPPING = [Criterion("a", "a", missing="drop"), Criterion("b", "b")]
UNREAD = {
    "null": lambda number: None,
    "first null": lambda number: None if number < 30 else 1.0,
    "null now and then": lambda number: None if number % 3 else "text",
    "list, then text": lambda number: ["x"] if number == 0 else "text",
    "text, then lists": lambda number: "text" if number == 0 else [1.0, "x"],
    "number, then infinity": lambda number: 1.0 if number == 0 else np.inf,
    "nested": lambda number: nested(900) if number % 7 == 2 else {"deep": [number]},
}


def nested(depth):
    """Return lists within lists."""
    value = 1.0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("unread", UNREAD.values(), ids=UNREAD)
@pytest.mark.parametrize("criteria", [DROPPING, [Criterion("a", 0, missing="drop"), Criterion("b", 1)]])
def test_columns_that_no_criterion_reads_change_nothing(unread, criteria):
    X = np.random.default_rng(14).normal(size=(90, 2)).tolist()
    names = ["a", "b", "note"]
    for form in (lambda values: dict(zip(names, values, strict=False)), list):
        if form is list and criteria is DROPPING:
            continue
        streams = [StreamingDetector(criteria, window=30, alpha=0.1) for _ in range(2)]
        for number, x in enumerate(X):
            with_note, without = form([*x, unread(number)]), form([*x, 0.0])
            np.testing.assert_equal(*(s.update_one(one) for s, one in zip(streams, (with_note, without), strict=True)))
            np.testing.assert_equal(streams[0].score_one(with_note), streams[1].score_one(without))
        assert [list(x)[:2] for x in streams[0].window_] == [list(x)[:2] for x in streams[1].window_]
        assert streams[0].explain_one(with_note).sentences == streams[1].explain_one(without).sentences
        streams[0].refresh_fronts()
        new = [form([a, b, 0.0]) for a, b in X[:3]]
        assert_equals_batch(streams[0], new if criteria is DROPPING else [form([*x, np.nan]) for x in X[:3]])


def test_the_window_holds_the_columns_that_criteria_read():
    samples = [{"note": "text", "a": a, "more": [1], "b": b} for a, b in np.random.default_rng(15).normal(size=(50, 2))]
    stream = StreamingDetector(DROPPING, window=30, alpha=0.1).partial_fit(samples)
    assert {tuple(sample) for sample in stream.window_} == {("a", "b")}
    stream = StreamingDetector([Criterion("glob", ["[ab]"])], window=30, alpha=0.1).partial_fit(samples)
    assert {tuple(sample) for sample in stream.window_} == {("a", "b")}
    rows = [[None, sample["a"], "text", sample["b"]] for sample in samples]
    stream = StreamingDetector([Criterion("a", 1), Criterion("b", 3)], window=30, alpha=0.1).partial_fit(rows)
    np.testing.assert_equal(stream.window_[-1], [np.nan, samples[-1]["a"], np.nan, samples[-1]["b"]])


def test_an_explanation_names_the_odd_column():
    stream = StreamingDetector(window=100, alpha=0.05)
    stream.partial_fit({"x": np.random.default_rng(12).random(150), "y": np.random.default_rng(13).random(150)})
    assert stream.explain_one({"x": 9.0, "y": 0.5}).sentences[0].startswith("x 9 is far above the typical ")
