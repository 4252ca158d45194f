"""Model files: same bits after loading, whatever the criteria; damaged and hostile files; saving that is killed.

`PARETODEPTH_KILLS=200 python -m pytest tests -k kills_during_save` kills as often as a soak asks for, not 20 times.
"""

import dataclasses
import hashlib
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from datetime import date, datetime

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
from paretodepth.fronts.depth_index import Depths
from paretodepth.models import model_schema
from paretodepth.models.container import MAGIC, PREFIX, VERSION
from paretodepth.models.model_schema import PARAMETERS, SCHEMA, TYPES
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import Model
from tests.criteria.metric_draws import draws, is_installed

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CASES = [draw for draw in draws(METRICS.values()) if is_installed(METRICS[draw.metric])]
X = np.random.default_rng(0).random((60, 2))
NOT_CARRIED = {"n_jobs": None, "verbose": 0, "memory_limit": None}
NEW = np.random.default_rng(1).random((30, 2)) * 1.3


def absolute(A, B):
    return np.abs(A[:, :1] - B[:, 0])


def years_apart(a, b):
    return abs((a - b).days) / 365


def model_bytes(folder, method):
    ParetoDepthDetector(method=method).fit(X).save(folder / "m")
    return (folder / "m").read_bytes()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small model file, as bytes."""
    return model_bytes(tmp_path_factory.mktemp("model"), "depth")


@pytest.fixture(scope="module")
def blend_model(tmp_path_factory):
    """The same of the blend."""
    return model_bytes(tmp_path_factory.mktemp("model"), "blend")


def saved_and_loaded(detector, tmp_path, criteria=None):
    path = tmp_path / "detector.model"
    detector.save(path)
    return ParetoDepthDetector.load(path, criteria)


def assert_same(a, b, new):
    assert_array_equal(a.p_values(new), b.p_values(new))
    for name in ("score_samples", "decision_function", "predict", "nearest_dyads"):
        assert_array_equal(getattr(a, name)(new), getattr(b, name)(new))
    explained_by = [own.explain(new) for own in (a, b)]
    assert explained_by[0].sentences == explained_by[1].sentences
    explanations = [vars(explanation).copy() for explanation in explained_by]
    # The index of a data frame, which numpy cannot compare.
    np.testing.assert_equal(*(np.array(explained.pop("labels")) for explained in explanations))
    values = [explained.pop("values") for explained in explanations]
    np.testing.assert_equal(*(told.to_columns(explanations[0]["criteria"]) for told in values))
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
    assert_same(detector, loaded, pd.DataFrame(NEW, columns=["u", "v"]))
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


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
@pytest.mark.parametrize("calibration", ["leave-one-out", "split"])
def test_precomputed_matrices_of_any_type_come_back(n_criteria, calibration, tmp_path):
    matrices = [np.abs(X[:, :1] - X[:, 0]) * 10 for _ in range(n_criteria)]
    types = ["float64", "float32", "int16", ">f8", "uint8"]
    matrices = [np.asfortranarray(m.astype(t)) for m, t in zip(matrices, types, strict=False)]
    np.save(tmp_path / "matrix.npy", matrices[0])
    matrices[0] = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    criteria = [Criterion(f"c{i}", metric="precomputed") for i in range(n_criteria)]
    detector = ParetoDepthDetector(criteria, calibration=calibration, random_state=0).fit(matrices)
    assert_same(detector, saved_and_loaded(detector, tmp_path), [m[:7] for m in matrices])


def test_functions_are_asked_for_by_the_name_of_the_criterion(tmp_path):
    days = [date(2000 + year, 1, 1 + year % 9) for year in range(12)]
    table = {"x": X[:12, 0], "day": days}
    criteria = [Criterion("far", "x", absolute), Criterion("old", "day", years_apart, pairwise=True)]
    detector = ParetoDepthDetector(criteria).fit(table)
    loaded = saved_and_loaded(detector, tmp_path, {"far": absolute, "old": years_apart})
    assert_same(detector, loaded, {"x": [0.1, 3.0], "day": [date(1990, 1, 1), days[3]]})
    for handed, text in [
        (None, r"must hold the metric of the criterion 'far', a function that was called 'absolute'"),
        ({"far": absolute}, "metric of the criterion 'old', a function that was called 'years_apart'"),
        (
            {"far": absolute, "old": years_apart, "odl": max},
            r"the file asks for, 'far', 'old'. Got 'odl' instead \(did",
        ),
    ]:
        with pytest.raises(ValueError, match=text):
            ParetoDepthDetector.load(tmp_path / "detector.model", handed)
    with pytest.raises(TypeError, match=r"must hold functions. Got 'euclidean' for 'far' instead"):
        ParetoDepthDetector.load(tmp_path / "detector.model", {"far": "euclidean", "old": years_apart})


def test_columns_of_plain_objects_come_back(tmp_path):
    cells = [True, "\ud800 \x00", 2**70, float("inf"), np.float32(0.1), datetime(2020, 1, 1, 12), {"a": (1, {2})}]
    cells += [[None, np.arange(3), frozenset([1.5])], np.datetime64("2020-01-01", "ns"), slice(1, None), [0, 1, 2]]
    criterion = Criterion("odd", "cell", lambda a, b, shift: float(a is not b) + shift, pairwise=True, shift=np.pi)
    detector = ParetoDepthDetector([criterion]).fit({"cell": cells})
    loaded = saved_and_loaded(detector, tmp_path, {"odd": criterion.metric})
    np.testing.assert_equal(list(loaded.model_.training[0]), cells)
    assert [type(cell) for cell in loaded.model_.training[0]] == [type(cell) for cell in cells]
    assert loaded.criteria_[0].criterion.params == {"shift": np.pi}


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
            "training of the model must be numbers, .* Got object instead",
        ),
        (
            lambda: ParetoDepthDetector([Criterion("m", metric="precomputed")]).fit([np.zeros((4, 4), np.longdouble)]),
            "training of the model must hold numbers or dates to be saved. Got dtype float128",
        ),
    ],
)
def test_what_a_file_cannot_carry_is_refused_and_nothing_written(make, text, tmp_path):
    with pytest.raises(TypeError, match=text):
        make().save(tmp_path / "detector.model")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_detector_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ParetoDepthDetector().save(tmp_path / "detector.model")


@pytest.mark.slow
def test_scores_are_the_same_in_another_process_with_any_number_of_threads(blend_model, tmp_path):
    (tmp_path / "m").write_bytes(blend_model)
    np.save(tmp_path / "new.npy", NEW)
    code = (
        "import sys, numpy as np\nfrom paretodepth import ParetoDepthDetector\n"
        "for n_jobs in (None, 1, 2, 4):\n"
        "    detector = ParetoDepthDetector.load('m').set_params(n_jobs=n_jobs)\n"
        "    sys.stdout.buffer.write(detector.score_samples(np.load('new.npy')).tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == 4 * ParetoDepthDetector(method="blend").fit(X).score_samples(NEW).tobytes()


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


def load_bytes(content, tmp_path):
    path = tmp_path / "changed.model"
    path.write_bytes(content)
    return ParetoDepthDetector.load(path)


def sealed(header, data, version=VERSION):
    """A file with a right checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = PREFIX.pack(MAGIC, version, len(text)) + text + data
    return content + hashlib.sha256(content).digest()


def opened(model):
    """The header of a model file, and its arrays' bytes."""
    length = PREFIX.unpack(model[: PREFIX.size])[2]
    return json.loads(model[PREFIX.size : PREFIX.size + length]), model[PREFIX.size + length : -32]


def test_a_truncated_file_is_refused_wherever_it_ends(model, tmp_path):
    ends = [0, 1, 7, 8, 23, 24, 31, 32, 55, 56, 57, *range(100, len(model), len(model) // 50), len(model) - 1]
    for end in ends:
        with pytest.raises(ValueError, match="must be a whole model file, as written by save"):
            load_bytes(model[:end], tmp_path)


def test_a_file_with_any_byte_changed_is_refused(model, tmp_path):
    rng = random.Random(0)
    for place in [*range(24), *(rng.randrange(len(model)) for _ in range(100)), len(model) - 1]:
        changed = bytearray(model)
        changed[place] ^= 1 << rng.randrange(8)
        with pytest.raises(ValueError, match=r"must be a (whole model file|model file of version)"):
            load_bytes(bytes(changed), tmp_path)


def test_other_versions_are_refused_with_a_sentence(model, tmp_path):
    header, data = opened(model)
    with pytest.raises(ValueError, match=r"of version 3, which this paretodepth reads. Got version 1 instead; open it"):
        load_bytes(sealed(header, data, version=1), tmp_path)
    header["objects"][0]["class"] = "Novelty"
    header["package"] = "9.9.9"
    with pytest.raises(ValueError, match=r"does not understand \('Novelty'\), from paretodepth 9.9.9; open it with"):
        load_bytes(sealed(header, data), tmp_path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for place in (tmp_path / "none.model", tmp_path):
        with pytest.raises(OSError, match=str(place)):
            ParetoDepthDetector.load(place)
    with pytest.raises(OSError, match="must be a file in a folder that can be written"):
        ParetoDepthDetector().fit(X).save(tmp_path / "no" / "folder")


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ([10**15], "<f8"),
        ([2**40, 2**40], "<f8"),
        ([2**61], "<f8"),
        ([0, 2**61], "<f8"),
        ([0, 2**30, 2**30, 2**30], "<f8"),
        ([-1], "<f8"),
        ([True], "<f8"),
        ([1.5], "<f8"),
        ("9", "<f8"),
        ([1] * 70, "<f8"),
        ([1], "|O"),
        ([1], "O"),
        ([1], "<U1000000000"),
        ([1], "|V8"),
        ([1], "i4,O"),
        ([1], None),
        ([60, 2], ">f8"),
    ],
)
def test_declared_shapes_and_types_are_checked_before_memory_is_taken(model, tmp_path, shape, dtype):
    header, data = opened(model)
    header["arrays"][0] |= {"shape": shape, "dtype": dtype}
    with pytest.raises(ValueError, match=r"must be a whole model file, as written by save. Got a header that cannot"):
        load_bytes(sealed(header, data), tmp_path)


def test_arrays_cannot_be_read_twice_from_the_same_bytes(model, tmp_path):
    header, data = opened(model)
    header["arrays"] *= 2
    with pytest.raises(ValueError, match="an array larger than the file"):
        load_bytes(sealed(header, data), tmp_path)


def object_of(header, name):
    return next(node["parts"] for node in header["objects"] if node.get("class") == name)


def grown(header, data, reference, values):
    """Point a reference at a new array."""
    array = np.asarray(values)
    header["arrays"].append({"dtype": array.dtype.str, "shape": list(array.shape), "order": "C"})
    reference["array"] = len(header["arrays"]) - 1
    return header, data + array.tobytes()


HOSTILE = {
    "more neighbors than samples": ("DepthMeasurer", "n_summed", [500, 500]),
    "negative numbers of neighbors": ("DepthMeasurer", "n_summed", [-1, 11]),
    "nothing joined": ("DepthMeasurer", "n_neighbors", [0, 0]),
    "more joined than summed": ("DepthMeasurer", "n_neighbors", [50, 50]),
    "too few weights": ("DepthMeasurer", "weights", [1.0]),
    "starts beyond the dyads": ("Fronts", "starts", [0, 10**9]),
    "starts that fall": ("Fronts", "starts", [0, 1770, 5, 1770]),
    "starts whose differences wrap": ("Fronts", "starts", [0, 39, 2**62, -(2**63), -(2**62), 446, 1770]),
    "no fronts": ("Fronts", "starts", [0]),
    "dyads that are NaN": ("Fronts", "dyads", np.full((1770, 2), np.nan)),
    "dyads of three criteria": ("Fronts", "dyads", np.ones((1770, 3))),
    "flat dyads": ("Fronts", "dyads", np.ones(1770)),
    "no nominal samples": ("Surprise", "nominal", np.empty(0)),
    "too short profiles": ("Model", "profiles", np.ones((2, 3))),
    "flat places": ("Model", "dyad_quantiles", np.ones(5)),
    "scores that are NaN": ("Model", "scores", np.full(60, np.nan)),
    "a score that is NaN": ("Model", "scores", np.r_[np.ones(59), np.nan]),
    "scores in a table": ("Model", "scores", np.ones((60, 1))),
    "a row too many": ("Model", "rows", np.arange(61)),
    "rows beyond the samples": ("Model", "rows", np.arange(60) + 1),
    "integers for numbers": ("DepthMeasurer", "weights", [1, 2]),
    "usual values that fall": ("ReferenceRange", "values", [3.0, 2.0, 1.0]),
    "usual values that are NaN": ("ReferenceRange", "values", [np.nan]),
    "no usual values": ("ReferenceRange", "values", np.empty(0)),
    "a usual range beyond all values": ("ReferenceRange", "values", [50.0, 60.0]),
    "criteria alone that are none": ("Calibration", "alone", np.ones((60, 3))),
    "criteria alone of fewer samples": ("Calibration", "alone", np.ones((59, 2))),
    "nominal values that fall": ("Surprise", "nominal", np.arange(60.0)[::-1]),
    "criteria alone that fall": ("Calibration", "alone", -np.arange(120.0).reshape(60, 2)),
    "negative weights": ("DepthMeasurer", "weights", [-1.0, 1.0]),
    "infinite weights": ("DepthMeasurer", "weights", [np.inf, 1.0]),
    "infinite nominal values": ("Surprise", "nominal", [-np.inf, 1.0, 2.0]),
    "an infinite score": ("Model", "scores", np.r_[np.ones(59), np.inf]),
    "negative profiles": ("Model", "profiles", np.full((2, 60), -np.inf)),
    "negative places": ("Model", "dyad_quantiles", -np.ones((5, 2))),
}
HOSTILE_BLEND = {
    "a pair with a criterion that is not there": ("PairFronts", "criteria", [[0, 2]]),
    "a pair with a criterion before the first": ("PairFronts", "criteria", [[-1, 1]]),
    "more pairs than fronts": ("PairFronts", "criteria", [[0, 1], [0, 1]]),
    "pairs of three": ("PairFronts", "criteria", [[0, 1, 1]]),
    "flat pairs": ("PairFronts", "criteria", [0, 1]),
    "starts of a pair that fall": ("Fronts", "starts", [0, 1770, 5, 1770]),
    "a pair's dyads that are NaN": ("Fronts", "dyads", np.full((1770, 2), np.nan)),
    "a pair's dyads of three criteria": ("Fronts", "dyads", np.ones((1770, 3))),
    "more neighbors than the blend has": ("BlendMeasurer", "n_neighbors", [11, 11]),
    "unequal numbers of neighbors": ("BlendMeasurer", "n_neighbors", [10, 9]),
    "as many listed as joined": ("BlendMeasurer", "n_summed", [10, 10]),
    "more listed than there are": ("BlendMeasurer", "n_summed", [500, 500]),
    "nothing listed": ("BlendMeasurer", "n_summed", np.empty(0, int)),
    "square numbers of neighbors": ("BlendMeasurer", "n_neighbors", [[10, 10]]),
    "means of fewer samples": ("BlendMeasurer", "local_means", np.ones((59, 3))),
    "means without the sum": ("BlendMeasurer", "local_means", np.ones((60, 2))),
    "means that are NaN": ("BlendMeasurer", "local_means", np.full((60, 3), np.nan)),
    "negative means": ("BlendMeasurer", "local_means", np.full((60, 3), -1.0)),
    "infinite means": ("BlendMeasurer", "local_means", np.full((60, 3), np.inf)),
    "no softening": ("BlendMeasurer", "softening", np.zeros(3)),
    "too little softening": ("BlendMeasurer", "softening", np.ones(2)),
    "weights of another number": ("BlendMeasurer", "weights", [1.0]),
    "infinite weights of the blend": ("BlendMeasurer", "weights", [1.0, np.inf]),
}


@pytest.mark.parametrize("case", [*HOSTILE, *HOSTILE_BLEND])
def test_a_well_sealed_file_whose_parts_do_not_fit_is_refused(case, model, blend_model, tmp_path):
    owner, part, values = (HOSTILE | HOSTILE_BLEND)[case]
    header, data = opened(blend_model if case in HOSTILE_BLEND else model)
    content = sealed(*grown(header, data, object_of(header, owner)[part], values))
    with pytest.raises(ValueError, match=r"does not understand \(([\w ]+ that do not fit|'\w+' of another type)"):
        load_bytes(content, tmp_path)


def test_kept_rows_whose_differences_wrap_are_refused(tmp_path):
    ParetoDepthDetector(calibration="split", random_state=0).fit(X).save(tmp_path / "m")
    header, data = opened((tmp_path / "m").read_bytes())
    kept = np.arange(40)
    kept[3:6] = [2**62, -(2**63), -(2**62)]
    content = sealed(*grown(header, data, object_of(header, "Model")["rows"], kept))
    with pytest.raises(ValueError, match=r"does not understand \(rows of a Model that do not fit the rest"):
        load_bytes(content, tmp_path)


def test_a_float_of_numpy_comes_back_as_a_plain_one(tmp_path):
    detector = ParetoDepthDetector(alpha=np.float64(0.2)).fit(X)
    loaded = saved_and_loaded(detector, tmp_path)
    assert loaded.alpha == 0.2
    assert_array_equal(loaded.score_samples(NEW), detector.score_samples(NEW))


WALKS = {"walk": [np.cumsum(row.reshape(-1, 2), axis=0) for row in np.random.default_rng(2).random((20, 12))]}
SERIES = {"series": list(np.random.default_rng(3).random((20, 30)))}
MIXED = {"color": list("abcab" * 4), "size": np.arange(20) % 7, "amount": np.random.default_rng(4).random(20)}
LABELS = {"labels": [{"a"}, {"a", "b"}, set(), {"c"}] * 5}
HOSTILE_PARAMS = {
    "window": ("dtw", SERIES, {}, [2**62, 2**63 - 2, -5, "wide"]),
    "points": ("shape", WALKS, {}, [10**8, -1, 1.5, None]),
    "period": ("cyclic", {"x": X[:, 0]}, {"period": 24}, [0, -1, "day", None]),
    "p": ("minkowski", {"x": X[:, 0]}, {}, [-3.0, "two"]),
    "bins": ("speed", WALKS, {}, [10**9, 0]),
    "normalized": ("levenshtein", {"text": list("abcab" * 4)}, {}, [7, None]),
    "missing": ("cityblock", {"x": X[:, 0]}, {}, ["ignore", 3]),
}


def saved_bytes(metric, table, params, tmp_path):
    ParetoDepthDetector([Criterion("c", None, metric, **params)]).fit(table).save(tmp_path / "m")
    return (tmp_path / "m").read_bytes()


def stated(header, name):
    """The node of an entry of a fitted criterion's state, as a list of key and value."""
    (found,) = (item for item in object_of(header, "FittedCriterion")["state"]["dict"] if item[0] == name)
    return found


@pytest.mark.parametrize(
    "name", [name for name, (metric, *_) in HOSTILE_PARAMS.items() if is_installed(METRICS[metric])]
)
def test_parameters_of_a_fitted_criterion_are_those_of_its_criterion_whatever_its_state_says(name, tmp_path):
    metric, table, params, hostile = HOSTILE_PARAMS[name]
    content = saved_bytes(metric, table, params, tmp_path)
    scores = load_bytes(content, tmp_path).score_samples(table)
    for value in hostile:
        header, data = opened(content)
        stated(header, name)[1] = value
        loaded = load_bytes(sealed(header, data), tmp_path)
        assert_array_equal(loaded.score_samples(table), scores)
        assert loaded.criteria_[0].state[name] != value


HOSTILE_ESTIMATES = {
    ("seuclidean", "variances"): [[0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], [1.0], [1, 1], [[1.0, 1.0]]],
    ("mahalanobis", "inverse_covariance"): [np.eye(3), np.ones(4), np.full((2, 2), np.nan), np.full((2, 2), np.inf)],
    ("speed", "edges"): [np.zeros(21), np.arange(5.0), np.arange(21), np.arange(21)[::-1] / 2, np.full(21, np.inf)],
    ("gower", "ranges"): [np.ones(2), np.full(3, -1.0), np.full(3, np.nan), np.ones(3, int), np.ones((3, 1))],
    ("gower", "vocabularies"): [None, [], [None, None], [["a"], ["a", "a"], None], [[[1]], None, None], "abc"],
    ("scaled", "vocabularies"): [None, [], [None, None], [["a"], ["a", "a"], None], "abc"],
    ("scaled", "rarities"): [
        None,
        [None],
        [[1.0], None, None],
        [["a"] * 9, None, None],
        [[0.0] * 9, None, None],
        "abc",
    ],
    ("scaled", "floors"): [np.ones(2), np.full(3, -1.0), np.full(3, np.nan), np.full(3, np.inf), np.ones((3, 1))],
    ("scaled", "scales"): [np.ones(2), np.zeros(3), np.full(3, np.nan), np.ones(3, int), np.ones((3, 1))],
    ("mismatch", "vocabularies"): [None, [["a"]], [["a"], None, ["b"]], [["a", "a"], [1], [2]], [[None], [1], [2]]],
    ("eskin", "vocabularies"): [None, [["a"]], [["a"], "abc", ["b"]]],
    ("jaccard", "labels"): [["a", "b"], ["a", "b", "b"], "abc", [["a"], "b", "c"], 3],
}
ESTIMATED_FROM = {"speed": WALKS, "jaccard": LABELS, "gower": MIXED, "scaled": MIXED, "mismatch": MIXED, "eskin": MIXED}


@pytest.mark.parametrize(("metric", "name"), HOSTILE_ESTIMATES)
def test_estimates_of_another_type_shape_or_range_are_refused(metric, name, tmp_path):
    content = saved_bytes(metric, ESTIMATED_FROM.get(metric, X), {}, tmp_path)
    for value in HOSTILE_ESTIMATES[metric, name]:
        header, data = opened(content)
        if isinstance(stated(header, name)[1], dict):
            header, data = grown(header, data, stated(header, name)[1], value)
        else:
            stated(header, name)[1] = value
        with pytest.raises(ValueError, match=rf"{name.replace('_', ' ')} of the metric {metric} that do not fit"):
            load_bytes(sealed(header, data), tmp_path)


def test_every_estimate_has_been_tried_with_hostile_values():
    assert set(HOSTILE_ESTIMATES) == {
        (metric.name, estimate.name) for metric in METRICS.values() for estimate in metric.estimates
    }


def test_edges_other_than_those_given_are_refused(tmp_path):
    content = saved_bytes("speed", WALKS, {"edges": [0, 1, 2.5]}, tmp_path)
    load_bytes(content, tmp_path)
    header, data = opened(content)
    header, data = grown(header, data, stated(header, "edges")[1], [0, 1, 2.0])
    with pytest.raises(ValueError, match="edges of the metric speed that do not fit"):
        load_bytes(sealed(header, data), tmp_path)


@pytest.mark.parametrize("name", ["n_threads", "transforms_alone", "n_training", "window"])
def test_a_state_with_what_a_metric_does_not_have_is_refused(name, model, tmp_path):
    header, data = opened(model)
    object_of(header, "FittedCriterion")["state"]["dict"].append([name, 1])
    with pytest.raises(ValueError, match="estimates that do not fit the rest"):
        load_bytes(sealed(header, data), tmp_path)


def test_a_metric_whose_estimates_are_not_declared_cannot_be_saved(tmp_path):
    detector = ParetoDepthDetector().fit(X)
    detector.criteria_[0].state["novel"] = 1.0
    with pytest.raises(ValueError, match="state of a FittedCriterion that do not fit the rest"):
        detector.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_every_part_of_every_stored_class_has_a_row_in_the_schema():
    for cls, rows in SCHEMA.items():
        assert set(rows) == set(TYPES[cls]), cls.__name__
    for cls in SCHEMA.keys() - {Depths}:
        assert set(TYPES[cls]) == {field.name for field in dataclasses.fields(cls)}, cls.__name__
    named = set(ParetoDepthDetector().get_params())
    assert set(model_schema.NOT_CARRIED) == set(NOT_CARRIED)
    assert named == PARAMETERS.keys() | set(NOT_CARRIED)
    assert not PARAMETERS.keys() & set(NOT_CARRIED)


def test_a_part_without_a_row_can_be_neither_written_nor_read(model, tmp_path, monkeypatch):
    detector = ParetoDepthDetector().fit(X)
    rows = {name: row for name, row in SCHEMA[Model].items() if name != "dyad_quantiles"}
    monkeypatch.setitem(SCHEMA, Model, rows)
    with pytest.raises(KeyError, match="dyad_quantiles"):
        detector.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"does not understand \('dyad_quantiles'\)"):
        load_bytes(model, tmp_path)


def test_what_belongs_to_the_machine_is_not_taken_from_a_file(model, tmp_path):
    header, data = opened(model)
    assert not header["state"]["parameters"].keys() & set(NOT_CARRIED)
    for value in (2**63 - 1, -(2**63), "all", {"float": "nan"}, [1]):
        header["state"]["parameters"].update(dict.fromkeys(NOT_CARRIED, value))
        loaded = load_bytes(sealed(header, data), tmp_path)
        assert {name: loaded.get_params()[name] for name in NOT_CARRIED} == NOT_CARRIED


HOSTILE_STATE = {
    "an unknown parameter": lambda header: header["state"]["parameters"].update(predict=1),
    "no model": lambda header: header["state"].pop("model"),
    "another model": lambda header: header["state"].update(model={"object": 0}),
    "no fronts": lambda header: object_of(header, "Depths").pop("fronts"),
    "other samples": lambda header: object_of(header, "Model")["training"].pop(),
    "a measure that nominal samples lack": lambda header: object_of(header, "Calibration")["nominal"]["dict"].pop(),
    "a measure without surprise": lambda header: object_of(header, "Calibration")["surprises"]["dict"].pop(),
    "a column too many": lambda header: object_of(header, "Layout").update(n_features=3),
    "names of another number": lambda header: object_of(header, "Layout").update(feature_names=["u"]),
    "a column that is not there": lambda header: object_of(header, "FittedCriterion").update(columns=[7]),
    "an object from ahead": lambda header: header["objects"].reverse(),
    "an object from behind": lambda header: header["state"].update(model={"object": -1}),
    "an unknown metric": lambda header: object_of(header, "Criterion").update(metric="eval"),
    "an unknown node": lambda header: header["state"].update(model={"pickle": "gASVAAAA"}),
    "two nodes in one": lambda header: header["state"].update(model={"object": 0, "array": 0}),
    "deep nodes": lambda header: header["state"].update(model=nested(500)),
    "a transformer": lambda header: object_of(header, "FittedCriterion").update(transform="x"),
    "fronts of another kind": lambda header: object_of(header, "Depths").update(kind="deep"),
    "a seed of text": lambda header: header["state"]["parameters"].update(random_state="today"),
    "an alpha beyond 1": lambda header: header["state"]["parameters"].update(alpha=7),
    "more neighbors than samples": lambda header: header["state"]["parameters"].update(n_neighbors=10**6),
    "an unknown kind of column": lambda header: object_of(header, "Layout").update(kinds=["numbers", "code"]),
    "two criteria of one name": lambda header: object_of(header, "Criterion").update(name="x1"),
    "a criterion without a name": lambda header: object_of(header, "Criterion").update(name=""),
    "a threshold that is NaN": lambda header: object_of(header, "Model").update(threshold={"float": "nan"}),
    "a threshold that no float can hold": lambda header: object_of(header, "Model").update(threshold=10**400),
    "a parameter that no float can hold": lambda header: header["state"]["parameters"].update(threshold=10**400),
    "a rate beyond 1": lambda header: object_of(header, "Model").update(alpha=1.5),
    "a tail that falls": lambda header: object_of(header, "Surprise").update(scale=-1.0),
    "an infinite scale": lambda header: object_of(header, "Surprise").update(scale={"float": "inf"}),
    "a tail that starts at infinity": lambda header: object_of(header, "Surprise").update(start={"float": "-inf"}),
    "a tail that starts beyond all floats": lambda header: object_of(header, "Surprise").update(start=-(10**400)),
    "a tail from nowhere": lambda header: object_of(header, "Surprise").update(start={"float": "nan"}),
    "a negative cap": lambda header: object_of(header, "Fronts").update(max_depth=-1),
    "no objects": lambda header: header.update(objects=3),
    "what is usual of a column that is not read": lambda header: object_of(header, "ReferenceRange").update(column=1),
    "what is usual of nobody": lambda header: object_of(header, "ReferenceRange").update(n_samples=0),
    "usual categories of numbers": lambda header: object_of(header, "ReferenceRange").update(kind="category"),
    "usual times of numbers": lambda header: object_of(header, "ReferenceRange").update(kind="moment"),
    "a usual range that is NaN": lambda header: object_of(header, "ReferenceRange").update(low={"float": "nan"}),
    "a circle of numbers": lambda header: object_of(header, "ReferenceRange").update(period=1.0),
    "no state": lambda header: header.update(state=None),
}


def test_measures_of_another_method_are_refused(blend_model, tmp_path):
    header, data = opened(blend_model)
    object_of(header, "Calibration").update(method="depth")
    with pytest.raises(ValueError, match="measurer of a Model that do not fit the rest"):
        load_bytes(sealed(header, data), tmp_path)


def nested(depth):
    node = []
    for _ in range(depth):
        node = [node]
    return node


@pytest.mark.parametrize("case", HOSTILE_STATE)
def test_a_well_sealed_header_that_makes_no_sense_is_refused(case, model, tmp_path):
    header, data = opened(model)
    HOSTILE_STATE[case](header)
    with pytest.raises(ValueError, match="must be a whole model file"):
        load_bytes(sealed(header, data), tmp_path)


@pytest.mark.parametrize("text", [b"", b"null", b"[", b"\xff", b'{"package": NaN}', b"[" * 10**6, b"1" * 10**5])
def test_a_well_sealed_header_that_is_not_one_is_refused(text, tmp_path):
    with pytest.raises(ValueError, match=r"must be a whole model file, as written by save. Got a header that cannot"):
        load_bytes(sealed(text, b""), tmp_path)


def test_wider_training_samples_are_refused_before_a_compiled_loop_reads_them(tmp_path):
    # The loop over columns trusts both sides to be as wide, so a hostile file could make it read beyond its arrays.
    criterion = Criterion("c", None, "cyclic", period=24)
    ParetoDepthDetector([criterion]).fit(X).save(tmp_path / "m")
    header, data = opened((tmp_path / "m").read_bytes())
    content = sealed(*grown(header, data, object_of(header, "Model")["training"][0], np.ones((60, 1))))
    with pytest.raises(ValueError, match="criterion 'c' must compare samples that hold as much as the training"):
        load_bytes(content, tmp_path).predict(NEW)


PRECOMPUTED = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))


def changed_matrix(places, value):
    matrix = PRECOMPUTED.copy()
    matrix[places] = value
    return matrix


HOSTILE_MATRICES = {
    "nothing but NaN": (np.where(np.eye(60), 0.0, np.nan), "finite and not negative"),
    "a pair that is NaN": (changed_matrix(([3, 5], [5, 3]), np.nan), "finite and not negative"),
    "an infinite pair": (changed_matrix(([3, 5], [5, 3]), np.inf), "finite and not negative"),
    "a negative pair": (changed_matrix(([3, 5], [5, 3]), -1.0), "finite and not negative"),
    "an asymmetric pair": (changed_matrix((3, 5), 7.0), "be symmetric"),
    "a sample that differs from itself": (changed_matrix((3, 3), 1.0), "have a zero diagonal"),
    "too few columns": (PRECOMPUTED[:, :59], "be square at fit"),
    "times": (np.zeros((60, 60), "<M8[us]"), "be a two-dimensional array of numbers"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", HOSTILE_MATRICES)
def test_a_precomputed_matrix_that_fit_refuses_is_refused_in_a_file(case, method, tmp_path):
    matrix, text = HOSTILE_MATRICES[case]
    criteria = [Criterion(name, metric="precomputed") for name in "abc"]
    with pytest.raises((TypeError, ValueError), match=text):
        ParetoDepthDetector(criteria, method=method).fit([matrix] * 3)
    ParetoDepthDetector(criteria, method=method).fit([PRECOMPUTED] * 3).save(tmp_path / "m")
    header, data = opened((tmp_path / "m").read_bytes())
    content = sealed(*grown(header, data, object_of(header, "Model")["training"][0], matrix))
    with pytest.raises(ValueError, match=f"must be a whole model file.*{text}"):
        load_bytes(content, tmp_path)


SEQUENCE_METRICS = {
    "speed": WALKS,
    "shape": WALKS,
    "hausdorff": WALKS,
    "frechet": WALKS,
    "shape_based": SERIES,
} | ({"dtw": SERIES} if is_installed(METRICS["dtw"]) else {})


@pytest.mark.parametrize("metric", SEQUENCE_METRICS)
def test_samples_encoded_as_no_fit_encodes_them_are_refused(metric, tmp_path):
    content = saved_bytes(metric, SEQUENCE_METRICS[metric], {}, tmp_path)
    header, data = opened(content)
    node = object_of(header, "Model")["training"][0]
    rows = np.random.default_rng(0).random((20, 20))
    if "array" in node:
        # Rows of numbers become a column of sequences.
        header["objects"].insert(0, {"column": [[20], [{"array": len(header["arrays"])}] * 20]})
        moved = json.loads(re.sub(r'{"object": (\d+)}', lambda m: f'{{"object": {int(m[1]) + 1}}}', json.dumps(header)))
        node = object_of(moved, "Model")["training"][0]
        node.clear()
        node["object"] = 0
        content = sealed(*grown(moved, data, {}, np.ones((6, 2))))
    else:
        node.clear()
        content = sealed(*grown(header, data, node, rows))
    with pytest.raises(ValueError, match=r"training of a Model that do not fit the rest"):
        load_bytes(content, tmp_path)


PARTS = ".paretodepth-*.part"
N_KILLS = int(os.environ.get("PARETODEPTH_KILLS", "20"))


def save_for_ever(detectors, told):
    """Save one detector after the other, telling of each."""
    while True:
        for detector in detectors:
            detector.save("m")
            os.write(told, b".")


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
