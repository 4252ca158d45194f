import pickle
from itertools import product

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth.scoring.measures import LARGEST
from paretodepth.scoring.methods import METHODS
from tests import naive
from tests.draws import small_blocks

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CRITERIA = [Criterion("place", [0, 1]), Criterion("size", 2, "cityblock"), Criterion("rest", [3, 4], "sqeuclidean")]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((30, 5)), rng.random((12, 5)) * 1.3


def matrices(A, B):
    return [
        cdist(A[:, [0, 1]], B[:, [0, 1]]),
        cdist(A[:, [2]], B[:, [2]], "cityblock"),
        cdist(A[:, [3, 4]], B[:, [3, 4]], "sqeuclidean"),
    ]


@pytest.mark.parametrize("rounded", [False, True])
def test_scores_equal_the_naive_ones(data, rounded):
    X_train, X = (np.round(part, 1) if rounded else part for part in data)
    training, new = (np.array(matrices(samples, X_train)) for samples in (X_train, X))
    dyads = naive.pairwise_dyads(training)
    numbers = naive.front_numbers(dyads)
    connected = [naive.connected_n_neighbors(matrix) for matrix in training]
    for depth, (n_neighbors, counts) in product(
        ("paper", "insertion", "mid"), [("connected", connected), (2, [2, 2, 2]), ([1, 3, 2], [1, 3, 2])]
    ):
        case = f"{depth} depth, n_neighbors={n_neighbors}"
        detector = ParetoDepthDetector(CRITERIA, n_neighbors=n_neighbors, depth=depth).fit(X_train)
        assert_array_equal(detector.n_neighbors_, counts, err_msg=case)
        expected = [naive.mean_depth(new[:, i], counts, dyads, numbers, depth) for i in range(len(X))]
        assert_array_equal(detector.mean_depth(X), expected, err_msg=case)
        left_out = [naive.mean_depth(training[:, i], counts, dyads, numbers, depth, exclude=i) for i in range(5)]
        assert_array_equal(detector.training_scores_[:5], -np.array(left_out), err_msg=case)


def test_signs_and_threshold_follow_scikit_learn(data):
    X_train, X = data
    detector = ParetoDepthDetector().fit(X_train)
    assert_array_equal(detector.score_samples(X), -detector.mean_depth(X))
    assert_array_equal(detector.decision_function(X), detector.score_samples(X) - detector.offset_)
    assert_array_equal(detector.predict(X), np.where(detector.mean_depth(X) > -detector.offset_, -1, 1))
    assert_array_equal(detector.training_labels_, np.where(detector.training_scores_ < detector.offset_, -1, 1))
    assert_array_equal(detector.fit_predict(X_train), detector.predict(X_train))


def test_a_given_threshold_overrides_alpha(data):
    X_train, X = data
    assert ParetoDepthDetector(threshold=10**30).fit(X_train).offset_ == -1e30
    detector = ParetoDepthDetector(threshold=7.5).fit(X_train)
    assert detector.offset_ == -7.5
    assert_array_equal(detector.predict(X) == -1, detector.mean_depth(X) > 7.5)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_score_does_not_depend_on_company_order_or_threads(data, n_jobs):
    X_train, X = data
    expected = ParetoDepthDetector(CRITERIA).fit(X_train).score_samples(X)
    with small_blocks(500):
        detector = ParetoDepthDetector(CRITERIA, n_jobs=n_jobs).fit(X_train)
        assert_array_equal(detector.score_samples(X), expected)
        assert_array_equal(detector.score_samples(X[::-1])[::-1], expected)
    assert_array_equal([detector.score_samples(x[None])[0] for x in X], expected)


def test_a_score_does_not_depend_on_the_order_of_training_samples(data):
    X_train, X = (np.round(part, 1) for part in data)
    permutation = np.random.default_rng(1).permutation(len(X_train))
    detector, permuted = (ParetoDepthDetector(CRITERIA).fit(part) for part in (X_train, X_train[permutation]))
    assert_array_equal(permuted.score_samples(X), detector.score_samples(X))
    assert_array_equal(permuted.training_scores_, detector.training_scores_[permutation])
    assert permuted.offset_ == detector.offset_


def test_a_score_survives_an_increasing_transform_of_a_criterion(data):
    X_train, X = data
    squared = [Criterion("a", [0], "sqeuclidean"), Criterion("b", [1], lambda A, B: np.exp(cdist(A, B)))]
    plain = [Criterion("a", [0], "cityblock"), Criterion("b", [1], "euclidean")]
    scores = [ParetoDepthDetector(criteria).fit(X_train).score_samples(X) for criteria in (squared, plain)]
    assert_array_equal(*scores)


@pytest.mark.parametrize("kind", ["sequence", "array", "dict"])
def test_precomputed_matrices_give_the_scores_of_their_metrics(data, kind):
    X_train, X = data
    criteria = [Criterion(c.name, metric="precomputed") for c in CRITERIA]
    as_given = {
        "sequence": list,
        "array": np.array,
        "dict": lambda m: dict(zip(["rest", "size", "place"], m[::-1], strict=True)),
    }[kind]
    detector = ParetoDepthDetector(criteria).fit(as_given(matrices(X_train, X_train)))
    expected = ParetoDepthDetector(CRITERIA).fit(X_train)
    assert detector.n_features_in_ == len(X_train)
    assert_array_equal(detector.training_scores_, expected.training_scores_)
    assert_array_equal(detector.score_samples(as_given(matrices(X, X_train))), expected.score_samples(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_data_frames_keep_and_check_their_column_names(data, frame):
    X_train, X = data
    names = ["x", "y", "size", "u", "v"]
    criteria = [Criterion("place", ["x", "y"]), Criterion("size", "size", "cityblock"), Criterion("rest", ["u", "v"])]
    detector = ParetoDepthDetector(criteria).fit(frame(dict(zip(names, X_train.T, strict=True))))
    assert_array_equal(detector.feature_names_in_, names)
    expected = ParetoDepthDetector(CRITERIA).fit(X_train).score_samples(X)
    assert_array_equal(detector.score_samples(frame(dict(zip(names, X.T, strict=True)))), expected)
    shuffled = dict(reversed([*zip(names, X.T, strict=True), ("more", X[:, 0])]))
    assert_array_equal(detector.score_samples(frame(shuffled)), expected)
    with pytest.raises(ValueError, match=r"that its criteria read, .* Got no 'size' \(did you mean 'Size'\?\) instead"):
        detector.score_samples(frame({"Size" if name == "size" else name: column for name, column in shuffled.items()}))


def test_columns_that_no_criterion_reads_are_not_needed(data):
    X_train, X = data
    columns = dict(zip(["x", "y", "size", "u", "v"], X_train.T, strict=True)) | {"note": ["?"] * len(X_train)}
    detector = ParetoDepthDetector([Criterion("size", "size", "difference")]).fit(pd.DataFrame(columns))
    expected = detector.score_samples(pd.DataFrame({**columns, "size": columns["size"] + 1}))
    assert_array_equal(detector.score_samples({"size": columns["size"] + 1}), expected)
    assert_array_equal(
        detector.score_samples(pl.DataFrame({"w": X_train[:, 0], "size": columns["size"] + 1})), expected
    )
    with pytest.raises(ValueError, match="Got no 'size' instead"):
        detector.predict({"x": X[:, 0]})


def test_criteria_that_take_all_columns_want_them_as_at_fit(data):
    frame = pd.DataFrame(data[0], columns=list("abcde"))
    for criteria in (None, [Criterion("all")], [Criterion("first", 0), Criterion("b", "b")]):
        detector = ParetoDepthDetector(criteria).fit(frame)
        with pytest.raises(ValueError, match="feature names should match"):
            detector.predict(frame[list("edcba")])


def test_an_explanation_keeps_the_index_of_the_frame(data):
    frame = pd.DataFrame(data[0][:, :2], columns=["a", "b"])
    criteria = [Criterion("a", "a", "difference", missing="drop"), Criterion("b", "b", "difference", missing="drop")]
    detector = ParetoDepthDetector(criteria).fit(frame)
    new = frame.iloc[:4].set_axis(["w", "x", "y", "z"])
    explanation = detector.explain(new)
    assert list(explanation.to_frame().index) == ["w", "x", "y", "z"]
    assert "\nw: " in repr(explanation)
    new.loc["x", "a"] = np.nan
    assert list(detector.explain(new).to_frame().index) == ["w", "y", "z"]
    assert list(detector.explain(new.to_dict("list")).to_frame().index) == [0, 2, 3]
    assert list(detector.explain(pa.Table.from_pandas(frame.iloc[3:5])).to_frame().index) == [0, 1]
    with pytest.raises(ValueError, match=r"must not all lack a value .* Got 1 that do"):
        detector.explain(new.loc[["x"]])


def test_fit_predict_is_predict_of_the_training_samples():
    X = np.random.default_rng(0).random((60, 2))
    detector = ParetoDepthDetector()
    labels = detector.fit_predict(X)
    assert_array_equal(labels, detector.predict(X))
    # There each sample meets itself, so that fewer are called than of samples left out in turn.
    assert (labels == -1).sum() < (detector.training_labels_ == -1).sum()


def test_default_criteria_are_named_after_the_columns(data):
    X_train, _ = data
    detector = ParetoDepthDetector().fit(pd.DataFrame(X_train[:, :2], columns=["speed", "mass"]))
    assert [(c.name, c.columns, c.metric) for c in detector.criteria_] == [
        ("speed", [0], "cityblock"),
        ("mass", [1], "cityblock"),
    ]


def test_a_fitted_detector_can_be_copied(data, tmp_path):
    X_train, X = data
    detector = ParetoDepthDetector(CRITERIA).fit(X_train)
    joblib.dump(detector, tmp_path / "detector")
    for restored in (pickle.loads(pickle.dumps(detector)), joblib.load(tmp_path / "detector")):
        assert_array_equal(restored.score_samples(X), detector.score_samples(X))
    assert clone(detector).get_params() == detector.get_params()


def test_nearest_dyads_have_the_mean_depth(data):
    X_train, X = data
    detector = ParetoDepthDetector(CRITERIA, n_neighbors=[2, 1, 3]).fit(X_train)
    near = detector.nearest_dyads(X)
    assert near.shape == (len(X), 6, 3)
    assert_array_equal(near[:, 0, 0], matrices(X, X_train)[0].min(axis=1))
    dyads = naive.pairwise_dyads(matrices(X_train, X_train))
    numbers = naive.front_numbers(dyads)
    depths = np.array([naive.depths(of_sample, dyads, numbers, "paper") for of_sample in near])
    assert len(np.unique(depths)) > 5
    assert_array_equal(depths.mean(axis=1), detector.mean_depth(X))


def test_constant_columns_and_duplicates_are_legal(data):
    X_train = np.repeat(np.column_stack([data[0][:20, 0], np.ones(20)]), 2, axis=0)
    with pytest.warns(AdviceWarning, match="equally unlike in the criterion 'x1', so all dyads are tied"):
        detector = ParetoDepthDetector().fit(X_train)
    assert np.all(np.isfinite(detector.training_scores_))
    assert_array_equal(detector.predict([[9.0, 5.0]]), [-1])


def test_verbose_tells_the_phases_of_fit(data, capsys):
    ParetoDepthDetector(verbose=1).fit(data[0])
    printed = capsys.readouterr().out
    assert "dissimilarities of 435 pairs" in printed
    assert "Pareto fronts" in printed


def test_scoring_before_fit_is_refused(data):
    for method in (
        "score_samples",
        "mean_depth",
        "decision_function",
        "predict",
        "nearest_dyads",
        "p_values",
        "select",
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(ParetoDepthDetector(), method)(data[1])


def test_a_refit_forgets_the_names_of_columns(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((12, 2)), columns=["u", "v"])
    detector = ParetoDepthDetector().fit(frame)
    matrix = np.abs(frame["u"].to_numpy()[:, None] - frame["u"].to_numpy())
    detector.set_params(criteria=[Criterion("u", metric="precomputed")]).fit([matrix])
    assert not hasattr(detector, "feature_names_in_")
    detector.save(tmp_path / "m")
    assert_array_equal(ParetoDepthDetector.load(tmp_path / "m").predict([matrix]), detector.predict([matrix]))


def test_a_method_set_after_fit_waits_for_the_next_one():
    X = np.random.default_rng(0).random((40, 2))
    new = np.random.default_rng(1).random((15, 2)) * 1.5
    detector = ParetoDepthDetector(method="depth").fit(X)
    before = (detector.score_samples(new), detector.predict(new), detector.p_values(new), detector.explain(new).method)
    detector.set_params(method="blend")
    after = (detector.score_samples(new), detector.predict(new), detector.p_values(new), detector.explain(new).method)
    np.testing.assert_equal(after, before)
    detector.fit(X)
    assert_array_equal(detector.score_samples(new), ParetoDepthDetector(method="blend").fit(X).score_samples(new))


def test_a_refused_fit_leaves_the_detector_as_it_was():
    X = np.random.default_rng(0).random((40, 2))
    detector = ParetoDepthDetector().fit(X)
    before = {name: getattr(detector, name) for name in vars(detector)}
    with pytest.raises(ValueError, match="must hold finite numbers"):
        detector.fit(np.full((9, 3), np.inf))
    assert {name: getattr(detector, name) for name in vars(detector)} == before


@pytest.mark.parametrize("method", METHODS)
def test_rescaling_a_criterion_changes_no_bit_of_a_score_up_to_the_documented_bound(method, data):
    X_train, X_new = data
    scores = ParetoDepthDetector(method=method).fit(X_train).score_samples(X_new)
    for exponent in (-900, 900, 985):
        scales = np.array([1.0, 2.0**exponent, 1.0, 1.0, 1.0])
        detector = ParetoDepthDetector(method=method).fit(X_train * scales)
        assert_array_equal(detector.score_samples(X_new * scales), scores)
    assert f"sums count as {LARGEST:g}".replace("+", "") in ParetoDepthDetector.__doc__
