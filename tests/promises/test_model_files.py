"""Model files: same bits after loading, whatever the criteria; damaged and hostile files; saving that is killed.

`PARETODEPTH_KILLS=200 python -m pytest tests -k kills_during_save` kills as often as a soak asks for, not 20 times.
"""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import zipfile
from datetime import UTC, date, datetime
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.criteria.metrics import METRICS
from paretodepth.models import model_file
from paretodepth.scoring.methods import METHODS
from tests.criteria.metric_draws import draws, is_installed
from tests.promises.fuzz_models import bytes_of, packed, unpacked

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CASES = [draw for draw in draws(METRICS.values()) if is_installed(METRICS[draw.metric])]
X = np.random.default_rng(0).random((60, 2))
NOT_CARRIED = {"n_jobs": None, "verbose": 0, "memory_limit": None}
NEW = np.random.default_rng(1).random((30, 2)) * 1.3


def absolute(A, B):
    return np.abs(A[:, :1] - B[:, 0])


def years_apart(a, b):
    return abs((a - b).days) / 365


def saved_and_loaded(detector, tmp_path, functions=None, *, is_stored=False):
    """A detector from its file, which has no fronts that are fast to compute unless these are to be stored."""
    with pytest.MonkeyPatch.context() as patch:
        if is_stored:
            patch.setattr(model_file, "MAX_RECOMPUTED", -1)
        detector.save(tmp_path / "m")
    return ParetoDepthDetector.load(tmp_path / "m", functions)


def parts_of(detector, tmp_path, *, is_stored=True):
    """The settings and the arrays of a detector's file."""
    saved_and_loaded(detector, tmp_path, is_stored=is_stored)
    return unpacked((tmp_path / "m").read_bytes())


def load_bytes(content, tmp_path):
    (tmp_path / "changed.model").write_bytes(content)
    return ParetoDepthDetector.load(tmp_path / "changed.model")


@pytest.fixture(scope="module", params=["depth", "blend"])
def model(request, tmp_path_factory):
    """The settings and the arrays of a small model with its fronts."""
    return parts_of(ParetoDepthDetector(method=request.param).fit(X), tmp_path_factory.mktemp("model"))


def assert_same(a, b, new):
    assert_array_equal(a.p_values(new), b.p_values(new))
    for name in ("score_samples", "decision_function", "predict", "nearest_dyads"):
        assert_array_equal(getattr(a, name)(new), getattr(b, name)(new))
    explained_by = [own.explain(new) for own in (a, b)]
    assert explained_by[0].sentences == explained_by[1].sentences
    explanations = [vars(explanation).copy() for explanation in explained_by]
    # The index of a data frame, which numpy cannot compare.
    np.testing.assert_equal(*(np.array(explained.pop("names")) for explained in explanations))
    values = [explained.pop("values") for explained in explanations]
    np.testing.assert_equal(*(compared.to_columns(explanations[0]["criteria"]) for compared in values))
    np.testing.assert_equal(*explanations)
    # What belongs to the machine is not carried by a file.
    assert repr(clone(a).set_params(**NOT_CARRIED)) == repr(b)
    for name in ("n_neighbors_", "n_fronts_", "offset_", "alpha_", "training_scores_", "training_labels_", "advice_"):
        np.testing.assert_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.metric}-{next(iter(case.training))}")
def test_every_metric_gives_the_same_bits_after_loading(case, tmp_path):
    detector = ParetoDepthDetector([Criterion("a", None, case.metric, **case.params)], method="blend")
    detector.fit(case.training)
    assert_same(detector, saved_and_loaded(detector, tmp_path), case.new)


@pytest.mark.parametrize(
    "parameters",
    [
        {"depth": "insertion"},
        {"depth": "mid", "method": "blend", "n_neighbors": np.array([3, 4]), "n_jobs": 2},
        {"calibration": "split", "random_state": 0, "alpha": 0.2},
        {"threshold": 12, "n_neighbors": np.int64(2), "method": "blend"},
        {"n_jobs": np.int64(1), "random_state": np.int64(3), "alpha": 0.2, "calibration": "split"},
        {"n_jobs": np.int32(2), "alpha": np.float32(0.25), "n_neighbors": np.array([2, 3], np.uint8)},
        {"max_depth": np.int64(3), "threshold": np.float32(3), "verbose": np.int64(0)},
        {"memory_limit": np.int64(2**30), "criteria": [Criterion("a", np.int64(0), "minkowski", p=np.float32(3))]},
        {"criteria": [Criterion("a", np.arange(2), "cyclic", period=np.int64(24))]},
        {"criteria": (Criterion("first", "u*"), Criterion("both", ["u", "v"], "seuclidean", missing="ignore"))},
    ],
)
def test_every_parameter_gives_the_same_bits_after_loading(parameters, tmp_path):
    detector = ParetoDepthDetector(**parameters).fit(pd.DataFrame(X, columns=["u", "v"]))
    loaded = saved_and_loaded(detector, tmp_path)
    new = pd.DataFrame(NEW, columns=["u", "v"])
    assert_same(detector, loaded, new)
    assert_same(detector, saved_and_loaded(loaded, tmp_path, is_stored=True), new)
    assert_array_equal(loaded.feature_names_in_, ["u", "v"])
    with pytest.raises(ValueError, match=r"feature names|that its criteria read"):
        loaded.predict(pd.DataFrame(NEW, columns=["v", "w"]))


@pytest.mark.parametrize("method", METHODS)
def test_the_nearest_are_found_by_trees_after_loading_too(method, tmp_path):
    detector = ParetoDepthDetector(method=method).fit(X)
    loaded = saved_and_loaded(detector, tmp_path)
    encodings = loaded.model_.encode(NEW, caller="test").encodings
    measures = METHODS[method].fitted
    found = loaded.model_.measures_by_trees(encodings, measures, n_jobs=1)
    expected = detector.model_.new_measures(encodings, measures, n_jobs=1)
    for name in measures:
        assert_array_equal(found[name], expected[name])


def test_functions_are_asked_for_by_the_name_of_the_criterion(tmp_path):
    days = [date(2000 + year, 1, 1 + year % 9) for year in range(12)]
    table = {"x": X[:12, 0], "day": days}
    criteria = [Criterion("far", "x", absolute), Criterion("old", "day", years_apart, pairwise=True)]
    detector = ParetoDepthDetector(criteria).fit(table)
    loaded = saved_and_loaded(detector, tmp_path, {"far": absolute, "old": years_apart})
    assert_same(detector, loaded, {"x": [0.1, 3.0], "day": [date(1990, 1, 1), days[3]]})
    for given, text in [
        (None, r"must hold the metric of the criterion 'far', the function 'absolute'"),
        ({"far": absolute}, "metric of the criterion 'old', the function 'years_apart'"),
        (
            {"far": absolute, "old": years_apart, "odl": max},
            r"the file asks for, 'far', 'old'. Got 'odl' instead \(did",
        ),
    ]:
        with pytest.raises(ValueError, match=text):
            ParetoDepthDetector.load(tmp_path / "m", given)
    with pytest.raises(TypeError, match=r"must hold functions. Got 'euclidean' for 'far' instead"):
        ParetoDepthDetector.load(tmp_path / "m", {"far": "euclidean", "old": years_apart})


CELLS = {
    "number": [1, 2.5, None, np.float32(0.1), Fraction(1, 3), float("nan"), True, pd.NA, 2**80, -0.0],
    "category": ["a", None, "\ud800 \x00", True, 1, pd.NA, np.str_("b"), 2**80, 0.5, "a"],
    "set": [{"a", 1}, frozenset(), ["b"], ("a",), np.array(["c"]), {"a": 1}.keys(), {2**80}, [True], {"b"}, set()],
    "moment": [
        datetime(2020, 1, 1, 12),
        date(2021, 2, 3),
        pd.Timestamp("2020-05-05 03:04:05.000006789"),
        datetime(2020, 1, 1, tzinfo=UTC),
        np.datetime64("2020-01-01", "ns"),
        pd.NaT,
        None,
        date(101, 1, 1),
        np.datetime64("2020-01-01T05"),
        datetime(2999, 12, 31, 23, 59, 59, 999999),
    ],
    "track": [np.arange(4.0 + i % 3).repeat(2).reshape(-1, 2) for i in range(9)] + [[[0, 1], [2, 3.5]]],
}


@pytest.mark.parametrize("parameters", [{}, {"calibration": "split", "random_state": 1, "alpha": 0.3}])
def test_cells_of_any_type_that_a_metric_reads_come_back_and_dropped_rows_too(parameters, tmp_path):
    table = {name: [*cells, *cells] for name, cells in CELLS.items()} | {"x": np.arange(20) ** 2}
    criteria = [
        Criterion("number", "number", "difference", missing="drop"),
        Criterion("category", "category", "mismatch", missing="drop"),
        Criterion("mixed", ["number", "category", "x"], "gower", missing="ignore"),
        Criterion("set", "set", "jaccard"),
        Criterion("since", "moment", "elapsed", missing="drop"),
        Criterion("track", "track", "hausdorff"),
        Criterion("scaled", ["x", "category"], "scaled", missing="ignore"),
    ]
    detector = ParetoDepthDetector(criteria, method="blend", **parameters).fit(table)
    assert len(detector.dropped_) == 10
    assert_same(detector, saved_and_loaded(detector, tmp_path), table)


def test_cells_that_functions_read_come_back_as_they_were(tmp_path):
    cells = [True, "\ud800 \x00", 2**70, float("inf"), np.float32(0.1), datetime(2020, 1, 1, 12), {"a": (1, {2})}]
    cells += [[None, np.arange(3), frozenset([1.5])], np.datetime64("2020-01-01", "ns"), date(1, 1, 1), [0, 1, 2]]
    criterion = Criterion("odd", "cell", lambda a, b, shift: float(a is not b) + shift, pairwise=True, shift=np.pi)
    detector = ParetoDepthDetector([criterion]).fit({"cell": cells})
    loaded = saved_and_loaded(detector, tmp_path, {"odd": criterion.metric})
    np.testing.assert_equal(list(loaded.model_.training[0]), cells)
    assert [type(cell) for cell in loaded.model_.training[0]] == [type(cell) for cell in cells]
    assert loaded.criteria_[0].criterion.params == {"shift": np.pi}


@pytest.mark.parametrize("n_criteria", [1, 2, 5])
@pytest.mark.parametrize("calibration", ["leave-one-out", "split"])
def test_precomputed_matrices_of_any_type_come_back(n_criteria, calibration, tmp_path):
    types = ["float64", "float32", "int16", ">f8", "uint8"]
    matrices = [np.asfortranarray((PRECOMPUTED * 10).astype(dtype)) for dtype in types[:n_criteria]]
    np.save(tmp_path / "matrix.npy", matrices[0])
    matrices[0] = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    criteria = [Criterion(f"c{i}", metric="precomputed") for i in range(n_criteria)]
    detector = ParetoDepthDetector(criteria, calibration=calibration, random_state=0).fit(matrices)
    assert_same(detector, saved_and_loaded(detector, tmp_path), [m[:7] for m in matrices])
    # Beside other criteria, and with a sample that these drop.
    table = {f"c{i}": matrix for i, matrix in enumerate(matrices)} | {"x": [None, *X[1:, 0]]}
    criteria.append(Criterion("x", "x", missing="drop"))
    detector = ParetoDepthDetector(criteria, calibration=calibration, random_state=0).fit(table)
    new = {name: column[:7] for name, column in table.items()}
    assert_same(detector, saved_and_loaded(detector, tmp_path), new)


@pytest.mark.parametrize("max_depth", [4, "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_fronts_up_to_a_depth_come_back(method, max_depth, tmp_path):
    samples = np.random.default_rng(0).random((150, 3))
    detector = ParetoDepthDetector(method=method, max_depth=max_depth).fit(samples)
    assert_same(detector, saved_and_loaded(detector, tmp_path), samples[:20] * 1.2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: ParetoDepthDetector([Criterion("size", transform=StandardScaler())]).fit(X),
            "criterion 'size' must have no transform to be saved. Got StandardScaler, .* pickle or joblib",
        ),
        (
            lambda: ParetoDepthDetector(calibration="split", random_state=np.random.RandomState(0)).fit(X),
            "random_state of the detector must be numbers, text, .* Got RandomState instead",
        ),
        (
            lambda: ParetoDepthDetector([Criterion("f", None, lambda A, B, by: absolute(A, B), by=max)]).fit(X),
            "params of the criterion 'f' must be numbers, .* Got builtin_function_or_method instead",
        ),
        (
            lambda: ParetoDepthDetector([Criterion("f", "c", lambda a, b: 1.0, pairwise=True)]).fit(
                {"c": [object() for _ in range(4)]}
            ),
            "samples of the model must be numbers, .* Got object instead",
        ),
        (
            lambda: ParetoDepthDetector([Criterion("m", metric="precomputed")]).fit([np.zeros((4, 4), np.longdouble)]),
            "columns/0 must hold numbers or dates to be saved. Got dtype float128",
        ),
    ],
)
def test_what_a_file_cannot_carry_is_refused_and_nothing_written(make, text, tmp_path):
    with pytest.raises(TypeError, match=text):
        make().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_detector_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ParetoDepthDetector().save(tmp_path / "m")
    with pytest.raises(ValueError, match="n_neighbors"):
        ParetoDepthDetector().fit(X).set_params(n_neighbors=10**6).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_small_model_is_a_small_file(tmp_path):
    samples = np.random.default_rng(0).random((1000, 6))
    detector = ParetoDepthDetector(method="blend").fit(samples)
    loaded = saved_and_loaded(detector, tmp_path)
    assert (tmp_path / "m").stat().st_size < 5e6
    assert_array_equal(loaded.score_samples(samples[:50]), detector.score_samples(samples[:50]))


@pytest.mark.slow
def test_scores_are_the_same_in_another_process_with_any_number_of_threads(tmp_path):
    detector = ParetoDepthDetector(method="blend").fit(X)
    detector.save(tmp_path / "m")
    np.save(tmp_path / "new.npy", NEW)
    code = (
        "import sys, numpy as np\nfrom paretodepth import ParetoDepthDetector\n"
        "for n_jobs in (None, 1, 2, 4):\n"
        "    detector = ParetoDepthDetector.load('m').set_params(n_jobs=n_jobs)\n"
        "    sys.stdout.buffer.write(detector.score_samples(np.load('new.npy')).tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == 4 * detector.score_samples(NEW).tobytes()


@pytest.mark.parametrize("library", [pickle, joblib])
def test_pickle_and_joblib_carry_a_detector_too(library, tmp_path):
    detector = ParetoDepthDetector([Criterion("size", transform=StandardScaler())], method="blend").fit(X)
    if library is pickle:
        loaded = pickle.loads(pickle.dumps(detector))
    else:
        joblib.dump(detector, tmp_path / "detector.joblib")
        loaded = joblib.load(tmp_path / "detector.joblib")
    assert_same(detector, loaded, NEW)
    again = pickle.loads(pickle.dumps(ParetoDepthDetector(method="blend").fit(X)))
    assert_same(again, saved_and_loaded(again, tmp_path), NEW)


def test_a_truncated_file_is_refused_wherever_it_ends(model, tmp_path):
    content = packed(*model)
    for end in [0, 1, 7, 8, 31, *range(100, len(content), len(content) // 50), len(content) - 1]:
        with pytest.raises(ValueError, match="must be a whole model file, as written by save"):
            load_bytes(content[:end], tmp_path)


def test_a_file_with_any_byte_changed_is_refused_or_holds_the_same(model, tmp_path):
    content, rng = packed(*model), random.Random(0)
    scores = load_bytes(content, tmp_path).score_samples(NEW)
    n_refused = 0
    for place in [*range(40), *(rng.randrange(len(content)) for _ in range(200)), *range(-30, 0)]:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        try:
            loaded = load_bytes(bytes(changed), tmp_path)
        except ValueError:
            n_refused += 1
        else:
            assert_array_equal(loaded.score_samples(NEW), scores)
    assert n_refused > 200


def test_other_versions_and_kinds_are_refused_with_a_sentence(model, tmp_path):
    settings, arrays = model
    with pytest.raises(ValueError, match=r"of version 4, which this paretodepth reads. Got version 5 instead; open it"):
        load_bytes(packed({**settings, "version": 5}, arrays), tmp_path)
    with pytest.raises(ValueError, match=r"must be the file of a fitted detector. Got that of a stream instead"):
        load_bytes(packed({**settings, "kind": "stream"}, arrays), tmp_path)
    with pytest.raises(ValueError, match=r"does not understand \(.*'novel'.*\), from paretodepth 9.9.9; open it with"):
        load_bytes(packed({**settings, "method": "novel", "package": "9.9.9"}, arrays), tmp_path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for place in (tmp_path / "none.model", tmp_path):
        with pytest.raises(OSError, match=str(place)):
            ParetoDepthDetector.load(place)
    with pytest.raises(OSError, match="must be a file in a folder that can be written"):
        ParetoDepthDetector().fit(X).save(tmp_path / "no" / "folder")


HEADERS = [
    ("(1000000000000000,)", "<f8"),
    ("(1099511627776, 1099511627776)", "<f8"),
    ("(0, 2305843009213693952)", "<f8"),
    ("(-1,)", "<f8"),
    ("(True,)", "<f8"),
    ("(1.5,)", "<f8"),
    ("9", "<f8"),
    ("(1,)", "|O"),
    ("(0,)", "<U1000000000"),
    ("(1,)", "|V8"),
    ("(1,)", "i4,O"),
    ("()", "<f8"),
]


@pytest.mark.parametrize(("shape", "dtype"), HEADERS)
def test_declared_shapes_and_types_are_checked_before_memory_is_taken(model, tmp_path, shape, dtype):
    settings, arrays = model
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)
    with pytest.raises(ValueError, match=r"must be a whole model file, as written by save. Got another file, or a dam"):
        load_bytes(packed(settings, arrays | {"weights": array}), tmp_path)


ARCHIVES = {
    "packed": lambda settings, arrays: packed(settings, arrays, zipfile.ZIP_DEFLATED),
    "more bytes": lambda settings, arrays: packed(settings, arrays | {"weights": bytes_of(np.ones(2)) + b"x"}),
    "no array": lambda settings, arrays: packed(settings, arrays | {"weights": b""}),
    "an array of objects": lambda settings, arrays: packed(settings, arrays | {"weights": pickle.dumps([1])}),
    "no settings": lambda settings, arrays: packed(b"", arrays),
    "other settings": lambda settings, arrays: packed(b"[]", arrays),
    "deep settings": lambda settings, arrays: packed(b"[" * 10**6, arrays),
    "settings of another encoding": lambda settings, arrays: packed(b"\xff", arrays),
    "a number too long": lambda settings, arrays: packed(b"1" * 10**5, arrays),
    "no archive": lambda settings, arrays: b"x,y\n1,2\n",
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_an_archive_that_save_has_not_written_is_refused(case, model, tmp_path):
    with pytest.raises(ValueError, match=r"must be a whole model file, as written by save. Got another file, or a dam"):
        load_bytes(ARCHIVES[case](*model), tmp_path)


HOSTILE = {
    "use": [np.full(60, 3, np.uint8), np.ones(60, np.int64), np.zeros(60, np.uint8), np.ones(61, np.uint8)],
    "weights": [[1.0], [-1.0, 1.0], [np.inf, 1.0], [np.nan, 1.0], [1, 2]],
    "profiles": [np.ones((2, 3)), np.full((2, 60), -np.inf), np.arange(120.0).reshape(2, 60)[:, ::-1]],
    "dyad_quantiles": [np.ones(5), -np.ones((5, 2)), np.full((5, 2), np.nan), np.array([[2.0, 2.0], [1.0, 3.0]])],
    "kept/0/starts": [[0, 10**9], [0, 1770, 5, 1770], [0, 39, 2**62, -(2**63), -(2**62), 446, 1770], [0], [1, 1770]],
    "kept/0/dyads": [np.full((1770, 2), np.nan), np.ones((1770, 3)), np.ones(1770), -np.ones((1770, 2))],
    # Of one method alone.
    "n_neighbors": [[500, 500], [0, 0], [-1, 11], [60, 5], [1.0, 1.0]],
    "measures/mean_depth": [np.ones((60, 1)), np.full(60, np.nan), np.full(60, np.inf), np.ones(59)],
    "measures/neighbor_sums": [np.ones((60, 3)), np.full((60, 2), -1.0)],
    "pairs": [[[0, 2]], [[-1, 1]], [[0, 1], [0, 1]], [[0, 1, 1]], [0, 1]],
    "softening": [np.zeros(3), np.ones(2), [1.0, np.inf, 1.0]],
    "local_means": [np.ones((59, 3)), np.ones((60, 2)), np.full((60, 3), np.nan), np.full((60, 3), np.inf)],
    "measures/pair_depths": [np.ones((60, 2)), np.full((60, 1), np.nan)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_arrays_that_do_not_fit_are_refused(name, model, tmp_path):
    settings, arrays = model
    for values in HOSTILE[name] if name in arrays else ():
        with pytest.raises(ValueError, match="does not understand"):
            load_bytes(packed(settings, arrays | {name: np.asarray(values)}), tmp_path)
    if name in arrays:
        with pytest.raises(ValueError, match="does not understand"):
            load_bytes(packed(settings, {key: array for key, array in arrays.items() if key != name}), tmp_path)


def test_every_array_has_been_tried(model):
    assert {name for name in model[1] if not name.startswith(("columns/", "measures/"))} <= set(HOSTILE)


HOSTILE_SETTINGS = {
    "parameters": [None, {"predict": 1}, {"alpha": 7}, {"n_neighbors": 10**6}, {"random_state": "today"}],
    "criteria": [None, [], [{"criterion": {}}], "eval", [1]],
    "layout": [None, {"n_features": 3}, {"n_features": 10**9, "kinds": []}, {"n_features": 2, "kinds": ["x", "code"]}],
    "columns": [None, [], [{"kind": "eval", "places": [0, 1]}], [{"kind": "table", "places": [0, 7]}]],
    "method": ["criterion", "eval", None],
    "depth": ["deep", None],
    "threshold": [{"float": "nan"}, "high", 10**400],
    "alpha": [None, 0, 1.5, 1e-9, {"float": "nan"}],
    "is_exact": [None, 1],
    "advice": [None, "x", [1]],
    "fronts": [None, {"kept": [-1], "sampled": []}, {"kept": [None, None], "sampled": []}, {"kept": [None]}],
}


@pytest.mark.parametrize("name", HOSTILE_SETTINGS)
def test_settings_that_make_no_sense_are_refused(name, model, tmp_path):
    settings, arrays = model
    for value in HOSTILE_SETTINGS[name]:
        with pytest.raises(ValueError, match="does not understand"):
            load_bytes(packed({**settings, name: value}, arrays), tmp_path)
    assert set(HOSTILE_SETTINGS) | {"version", "kind", "package"} == set(settings)


HOSTILE_CRITERIA = {
    ("dtw", "window"): [2**62, -5, "wide"],
    ("shape", "points"): [10**8, -1, 1.5, None, 100_000],
    ("cyclic", "period"): [0, -1, "day", None],
    ("minkowski", "p"): [-3.0, "two"],
    ("speed", "bins"): [10**9, 0],
    ("levenshtein", "normalized"): [7, None],
}


@pytest.mark.parametrize(("metric", "param"), [key for key in HOSTILE_CRITERIA if is_installed(METRICS[key[0]])])
def test_parameters_of_metrics_are_checked_and_take_no_more_memory_than_there_is(metric, param, tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "free_bytes", lambda: 2**24)
    case = next(case for case in CASES if case.metric == metric)
    detector = ParetoDepthDetector([Criterion("c", None, metric, **case.params)]).fit(case.training)
    settings, arrays = parts_of(detector, tmp_path)
    for value in HOSTILE_CRITERIA[metric, param]:
        changed = json.loads(json.dumps(settings))
        changed["criteria"][0]["criterion"]["params"] = {"dict": [[param, value]]}
        with pytest.raises(ValueError, match="does not understand"):
            load_bytes(packed(changed, arrays), tmp_path)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("metric", "eval"),
        ("name", ""),
        ("name", "x1"),
        ("missing", "guess"),
        ("columns", 7),
        ("pairwise", True),
        ("params", {"dict": [["transform", "x"]]}),
    ],
)
def test_criteria_that_nobody_could_have_given_are_refused(part, value, model, tmp_path):
    settings, arrays = model
    settings = json.loads(json.dumps(settings))
    settings["criteria"][0]["criterion"][part] = value
    with pytest.raises(ValueError, match="does not understand"):
        load_bytes(packed(settings, arrays), tmp_path)


def test_what_belongs_to_the_machine_is_not_taken_from_a_file(model, tmp_path):
    settings, arrays = model
    assert not settings["parameters"].keys() & set(NOT_CARRIED)
    for name in NOT_CARRIED:
        with pytest.raises(ValueError, match="parameters that do not fit"):
            load_bytes(packed({**settings, "parameters": {**settings["parameters"], name: 2}}, arrays), tmp_path)


@pytest.mark.parametrize("samples", [X[:, :1], np.full((60, 2), np.nan), np.full((60, 2), np.inf), X.astype("<M8[us]")])
def test_samples_that_a_fit_refuses_are_refused_in_a_file(samples, model, tmp_path):
    settings, arrays = model
    with pytest.raises(ValueError, match="does not understand"):
        load_bytes(packed(settings, arrays | {"columns/0": samples.T}), tmp_path)


def test_fronts_that_take_long_to_compute_must_be_in_the_file(model, tmp_path, monkeypatch):
    settings, arrays = model
    content = packed({**settings, "fronts": {"kept": [], "sampled": []}}, arrays)
    load_bytes(content, tmp_path)
    monkeypatch.setattr(model_file, "MAX_RECOMPUTED", 1000)
    with pytest.raises(ValueError, match="no fronts, of too many dyads to compute them"):
        load_bytes(content, tmp_path)


PRECOMPUTED = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))


def changed_matrix(places, value):
    matrix = PRECOMPUTED.copy()
    matrix[places] = value
    return matrix


HOSTILE_MATRICES = {
    "finite and not negative": [
        np.where(np.eye(60), 0.0, np.nan),
        *(changed_matrix(([3, 5], [5, 3]), value) for value in (np.inf, -1.0, np.nan)),
    ],
    "be symmetric": [changed_matrix((3, 5), 7.0)],
    "have a zero diagonal": [changed_matrix((3, 3), 1.0)],
    "be square at fit": [PRECOMPUTED[:, :59]],
    "be a two-dimensional array of numbers": [np.zeros((60, 60), "<M8[us]")],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", HOSTILE_MATRICES)
def test_a_precomputed_matrix_that_fit_refuses_is_refused_in_a_file(text, method, tmp_path):
    criteria = [Criterion(name, metric="precomputed") for name in "abc"]
    detector = ParetoDepthDetector(criteria, method=method).fit([PRECOMPUTED] * 3)
    settings, arrays = parts_of(detector, tmp_path)
    for matrix in HOSTILE_MATRICES[text]:
        with pytest.raises((TypeError, ValueError), match=text):
            ParetoDepthDetector(criteria, method=method).fit([matrix] * 3)
        with pytest.raises(ValueError, match=f"must be a whole model file.*{text}"):
            load_bytes(packed(settings, arrays | {"columns/0": matrix}), tmp_path)


PARTS = ".paretodepth-*.part"
N_KILLS = int(os.environ.get("PARETODEPTH_KILLS", "20"))


def save_for_ever(detectors, report):
    """Save one detector after the other, reporting each."""
    while True:
        for detector in detectors:
            detector.save("m")
            os.write(report, b".")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills too many processes to start each anew")
def test_kills_during_save_leave_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    detectors = [ParetoDepthDetector(n_neighbors=k).fit(X[:9]) for k in (2, 3)]
    for detector, name in zip(detectors, "ab", strict=True):
        detector.save(name)
    whole = [(tmp_path / name).read_bytes() for name in "ab"]
    rng = random.Random(0)
    found, n_parts = [0, 0], 0
    for kill in range(N_KILLS):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            save_for_ever(detectors[:: (-1) ** kill], writing)
        os.close(writing)
        start = time.monotonic()
        os.read(reading, 1)
        # Some moment of the next saves, however slow the disk is; every other time while a file is being written.
        time.sleep(rng.random() * (time.monotonic() - start))
        while kill % 2 and not any(tmp_path.glob(PARTS)):
            pass
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        found[whole.index((tmp_path / "m").read_bytes())] += 1
        for part in tmp_path.glob(PARTS):
            n_parts += 1
            part.unlink()
    assert min(found) >= N_KILLS // 10
    assert n_parts >= N_KILLS // 10, "the kills must hit the writing itself"
    ParetoDepthDetector.load("m")
