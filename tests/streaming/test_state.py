"""Saved streams: they go on as if they had never stopped; damaged and hostile files are refused."""

import contextlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.models.stream_file import load_stream, save_stream
from paretodepth.streaming import StreamingDetector

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
METHODS = ["depth", "blend"]


def samples(seed, n_samples):
    rng = np.random.default_rng(seed)
    return [{"a": float(a), "b": float(b), "c": str(rng.integers(4))} for a, b in rng.normal(size=(n_samples, 2))]


CRITERIA = [Criterion("a", "a"), Criterion("scaled", ["a", "b"], "scaled"), Criterion("c", "c", "mismatch")]


def assert_same_course(streams, more):
    """Check that streams say the same of further samples, to the last bit, and learn the same."""
    for x in more:
        first, second = (stream.update_one(x) for stream in streams)
        np.testing.assert_equal(first, second)
    assert streams[0].window_ == streams[1].window_
    assert streams[0].drifts_ == streams[1].drifts_


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_before", [0, 1, 5, 9, 30, 47, 80])
def test_a_loaded_stream_goes_on_as_if_it_had_never_stopped(method, n_before, tmp_path):
    stream = StreamingDetector(CRITERIA, window=40, refresh=12, method=method, alpha=0.1)
    for x in samples(0, n_before):
        stream.update_one(x)
    stream.save(tmp_path / "s")
    loaded = StreamingDetector.load(tmp_path / "s")
    assert loaded.n_seen_ == n_before
    assert loaded.get_params() == stream.get_params()
    assert_same_course([stream, loaded], samples(1, 60))


def test_rows_and_objects_go_on_too(tmp_path):
    rng = np.random.default_rng(2)
    rows = StreamingDetector(window=30, alpha=0.1).partial_fit(rng.normal(size=(50, 2)))
    paths = [rng.normal(size=(rng.integers(4, 9), 2)) for _ in range(80)]
    of_paths = StreamingDetector([Criterion("p", metric="hausdorff")], window=30, alpha=0.1).partial_fit(paths[:50])
    for stream, more in ((rows, rng.normal(size=(40, 2)).tolist()), (of_paths, paths[50:])):
        stream.save(tmp_path / "s")
        loaded = StreamingDetector.load(tmp_path / "s")
        for x in more:
            np.testing.assert_equal(*(one.update_one(x) for one in (stream, loaded)))


@pytest.mark.parametrize("n_before", range(100, 320, 17))
def test_missing_values_in_columns_that_no_criterion_reads_do_not_keep_a_stream_from_resuming(n_before, tmp_path):
    criteria = [Criterion("a", "a", missing="drop"), Criterion("b", "b")]
    more = [sample | {"c": None if number % 2 else "text"} for number, sample in enumerate(samples(6, n_before + 30))]
    stream = StreamingDetector(criteria, window=120, alpha=0.05)
    for x in more[:n_before]:
        stream.update_one(x)
    stream.save(tmp_path / "s")
    assert_same_course([stream, StreamingDetector.load(tmp_path / "s")], more[n_before:])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_before", [10, 15, 60, 110, 150, 210, 300])
def test_streams_whose_fits_fail_resume_too(method, n_before, tmp_path):
    rng = np.random.default_rng(7)
    ordinary = rng.normal(size=(300, 2)).tolist()
    # No covariance can be inverted of samples on a line.
    line = [[a, 2 * a] for a in rng.normal(size=162).tolist()]
    more = line[:12] + ordinary[:80] + line[12:] + ordinary[80:]
    criteria = [Criterion("m", [0, 1], "mahalanobis"), Criterion("x", 0)]
    stream = StreamingDetector(criteria, window=30, refresh=12, method=method, alpha=0.1, learn="all")
    for x in more[:n_before]:
        stream.update_one(x)
    stream.save(tmp_path / "s")
    assert_same_course([stream, StreamingDetector.load(tmp_path / "s")], more[n_before:])


def test_a_state_that_could_not_be_loaded_is_not_written(tmp_path):
    path = tmp_path / "s"
    stream = StreamingDetector(CRITERIA, window=40, alpha=0.1).partial_fit(samples(8, 60))
    stream.save(path)
    before = path.read_bytes()
    window = stream._stream.window
    for damaged in (window.fitted, window.later):
        whole, damaged[0]["a"] = damaged[0]["a"], None
        with pytest.raises(ValueError, match="missing values"):
            stream.save(path)
        damaged[0]["a"] = whole
    window.age += 1
    with pytest.raises(ValueError, match="numbers of samples that do not fit the rest"):
        stream.save(path)
    assert path.read_bytes() == before


def test_functions_are_asked_for(tmp_path):
    criteria = [Criterion("gap", ["a"], lambda A, B: np.abs(A - B.T))]
    stream = StreamingDetector(criteria, window=30, alpha=0.1).partial_fit(samples(3, 40))
    stream.save(tmp_path / "s")
    with pytest.raises(ValueError, match="must hold the metric of the criterion 'gap'"):
        StreamingDetector.load(tmp_path / "s")
    loaded = StreamingDetector.load(tmp_path / "s", {"gap": criteria[0].metric})
    assert_same_course([stream, loaded], samples(4, 30))


@pytest.fixture
def saved(tmp_path):
    """A small state: its file, and a function that writes it with changes."""
    path = tmp_path / "state"
    StreamingDetector(CRITERIA, window=40, refresh=12, alpha=0.1).partial_fit(samples(5, 90)).save(path)
    state = load_stream(path, {}, dict)

    def changed(**changes):
        save_stream(path, state | changes)
        return path

    changed.state = state
    return changed


def test_damaged_files_are_refused_or_hold_the_same_state(saved):
    path = saved()
    whole = path.read_bytes()
    for size in (0, 10, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="must be a whole model file"):
            StreamingDetector.load(path)
    n_harmless = 0
    for place in range(0, len(whole), len(whole) // 50):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        # Some bytes of a zip carry no content, for example the times of its parts.
        with contextlib.suppress(ValueError):
            np.testing.assert_equal(load_stream(path, {}, dict), saved.state)
            n_harmless += 1
    assert n_harmless < 5


def test_files_of_the_other_kind_are_refused(saved, tmp_path):
    ParetoDepthDetector().fit(np.random.default_rng(0).random((30, 2))).save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"must be the file of a stream\. Got that of a fitted detector"):
        StreamingDetector.load(tmp_path / "m")
    with pytest.raises(ValueError, match=r"must be the file of a fitted detector\. Got that of a stream"):
        ParetoDepthDetector.load(saved())


HOSTILE = {
    "age": [-1, 0, 3, 41, 10**30, 1.5, "40", None, True],
    "n_seen": [-1, 0, 10**30, None, 2.5],
    "n_learnt": [-1, 0, 10**9],
    "n_incomparable": [-1, 1.5, None],
    "n_read": [-1, 0, "many"],
    "fitted": [None, {}, "text", [1, 2], [{"a": 1.0}] * 40, [{}] * 40, [[]] * 40, [None] * 40],
    "later": [[], None, {}, "text", [1, 2], *([wrong] * 11 for wrong in ({"a": 1.0}, {}, [], None))],
    "names": [None, "a", [1], [["a"]]],
    "waiting": [None, {}, [1], [{}], [{"a": 1.0}]],
    "e_values": [None, [0.0] * 4, np.zeros(3), np.full(4, np.nan), np.full(4, np.inf), -np.ones(4), np.zeros(4, int)],
    "drifts": [None, [-1], [5, 5], [10**30], ["a"], list(range(101)), [1.5]],
    "unlearnt": [None, [1], [[1]], [[-1, 2.0]], [[1, float("nan")]], [[1, "a"]], [[5, 1.0], [4, 1.0]], [[0, 1.0]] * 9],
    "parameters": [None, [], {"window": 10**9}, {"window": 3}, {"refresh": 0}, {"criteria": 5}, {"n_jobs": 5}],
    "parameters, other ones": [{"x": 1}, {"criteria": None}, {"method": "union"}, {"learn": "never"}, {"alpha": 0.0}],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in HOSTILE.items() for value in values])
def test_hostile_states_are_refused(saved, name, value):
    name = name.split(",")[0]
    if name == "parameters" and isinstance(value, dict):
        value = saved.state["parameters"] | value
    with pytest.raises(ValueError, match="does not understand"):
        StreamingDetector.load(saved(**{name: value}))


def test_states_without_a_part_are_refused(saved, tmp_path):
    for name in saved.state:
        save_stream(tmp_path / "part", {key: value for key, value in saved.state.items() if key != name})
        with pytest.raises(ValueError, match="does not understand"):
            StreamingDetector.load(tmp_path / "part")


def test_a_state_holds_the_samples_and_nothing_fitted(saved):
    assert set(saved.state) == {
        "parameters", "fitted", "later", "age", "n_seen", "n_learnt", "n_incomparable", "n_read", "names", "waiting",
        "drifts", "e_values", "unlearnt",
    }  # fmt: skip
    assert saved().stat().st_size < 20_000


def test_scores_of_a_loaded_stream_are_those_of_the_batch_detector(saved):
    loaded = StreamingDetector.load(saved()).refresh_fronts()
    columns = {name: [sample[name] for sample in loaded.window_] for name in ("a", "b", "c")}
    detector = ParetoDepthDetector(CRITERIA, method="blend", alpha=0.1).fit(columns)
    new = {"a": [0.5, 9.0], "b": [0.1, 0.2], "c": ["1", "2"]}
    assert_array_equal(loaded.score_samples(new), detector.score_samples(new))
