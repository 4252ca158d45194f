"""Criteria on the tables people have: objects, names, gaps, transformers, functions, files, advice."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth._blocks import progress_to
from paretodepth.pairs import capped_fronts as capping
from tests.draws import fitted, pairs_of, small_blocks
from tests.naive import metrics as naive

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
in_any_table = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
N = 20


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    return {
        "amount": rng.lognormal(size=n),
        "count": rng.integers(1, 9, size=n),
        "vendor": [f"vendor {i}" for i in rng.integers(5, size=n)],
        "paid": rng.random(n) < 0.5,
        "load": [rng.normal(size=rng.integers(2, 6)).tolist() for _ in range(n)],
        "path": [rng.normal(size=(rng.integers(2, 6), 2)).tolist() for _ in range(n)],
    }


CRITERIA = [
    Criterion("amount", "amount", "log_ratio"),
    Criterion("who", ["vendor", "paid"], "mismatch"),
    Criterion("all", ["amount", "count", "vendor", "paid"], "gower"),
    Criterion("load", "load", "shape_based"),
    Criterion("path", "path", "frechet"),
]


def block(criterion, X, X_new=None):
    """Return the dissimilarities of new samples, or of the training samples themselves, to the training samples."""
    own = fitted([criterion], X)
    (new,) = own.encodings if X_new is None else own.views_of(X_new)
    return own.criteria[0].dissimilarities(new, own.encodings[0], (0, 0))


@in_any_table
def test_columns_may_hold_objects_in_any_table(frame):
    detector = ParetoDepthDetector(CRITERIA).fit(frame(table()))
    assert_array_equal(detector.feature_names_in_, list(table()))
    expected = ParetoDepthDetector(CRITERIA).fit(table()).score_samples(table(1))
    assert_array_equal(detector.score_samples(frame(table(1))), expected)


def test_a_dict_is_read_by_name_whatever_the_order():
    detector = ParetoDepthDetector(CRITERIA).fit(table())
    turned = dict(reversed(table(1).items()))
    assert_array_equal(detector.score_samples(turned), detector.score_samples(table(1)))
    assert_array_equal(
        ParetoDepthDetector(CRITERIA).fit(pd.DataFrame(table())).predict(turned), detector.predict(turned)
    )


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, list, tuple, lambda values: np.array(values, dtype=object)])
def test_a_list_of_strings_is_one_column(kind):
    words = [f"{'ab' * (i % 4)}{'c' * (i % 7)}" for i in range(N)]
    criterion = Criterion("one", metric=lambda A, B: np.array([[float(len({*a} ^ {*b})) for b in B] for a in A]))
    detector = ParetoDepthDetector([criterion]).fit(kind(words))
    assert detector.n_features_in_ == 1
    assert_array_equal(
        detector.score_samples(kind(["zz", "ab"])),
        ParetoDepthDetector([criterion]).fit(words).score_samples(["zz", "ab"]),
    )


@pytest.mark.parametrize("length", [4, None])
def test_a_list_of_series_is_one_column_even_if_all_are_equally_long(length):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=length or rng.integers(2, 6)) for _ in range(N)]
    detector = ParetoDepthDetector([Criterion("one", metric="shape_based")]).fit(rows)
    expected = ParetoDepthDetector([Criterion("one", "s", "shape_based")]).fit({"s": rows})
    new = [[1.0, 2.0, 4.0, 1.0], [3.0, 2.0, 1.0, 1.0]]
    assert detector.n_features_in_ == 1
    assert_array_equal(detector.score_samples(new), expected.score_samples({"s": new}))
    assert_array_equal(detector.score_samples([*new, [1.0, 2.0]])[:2], detector.score_samples(new))


def test_rows_of_numbers_are_series_too():
    X = np.random.default_rng(0).normal(size=(N, 5))
    assert_array_equal(
        block(Criterion("one", metric="shape_based"), X), block(Criterion("one", "s", "shape_based"), {"s": list(X)})
    )


def test_trajectories_come_as_a_list_or_as_one_array():
    paths = np.random.default_rng(0).normal(size=(N, 6, 2))
    scores = [
        ParetoDepthDetector([Criterion("one", metric="hausdorff")]).fit(X).training_scores_
        for X in (paths, list(paths), paths.tolist(), {"path": paths})
    ]
    for other in scores[1:]:
        assert_array_equal(other, scores[0])


def test_rows_of_mixed_values_are_a_table():
    rows = [(f"c{i % 3}", float(i)) for i in range(N)]
    expected = block(Criterion("one", metric="gower"), {"a": [c for c, _ in rows], "b": [v for _, v in rows]})
    assert_array_equal(block(Criterion("one", metric="gower"), rows), expected)
    assert_array_equal(block(Criterion("one", metric="gower"), np.array(rows, dtype=object)), expected)


@in_any_table
def test_gower_ignores_what_one_of_two_samples_lacks(frame):
    rng = np.random.default_rng(0)
    amount = [None if i % 5 == 0 else value for i, value in enumerate(rng.normal(size=N).tolist())]
    color = [None if i % 7 == 1 else f"c{i % 3}" for i in range(N)]
    constant = [1.0] * N
    criterion = Criterion("one", metric="gower", missing="ignore")
    rows = list(zip(amount, color, constant, strict=True))
    expected = [[naive.gower(a, b, rows) for b in rows] for a in rows]
    actual = block(criterion, frame({"amount": amount, "color": color, "constant": constant}))
    assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "part", "finish"),
    [
        ("euclidean", lambda x, y, v: (x - y) ** 2, np.sqrt),
        ("sqeuclidean", lambda x, y, v: (x - y) ** 2, float),
        ("seuclidean", lambda x, y, v: (x - y) ** 2 / v, np.sqrt),
        ("cityblock", lambda x, y, v: abs(x - y), float),
        ("log_ratio", lambda x, y, v: abs(np.log(x / y)), float),
        ("hamming", lambda x, y, v: (x != y) / 3, float),
        ("mismatch", lambda x, y, v: (x != y) / 3, float),
    ],
)
def test_missing_columns_are_made_up_for_by_the_others(metric, part, finish):
    X = np.random.default_rng(0).integers(1, 6, size=(N, 3)).astype(float)
    complete = Criterion("one", metric=metric, missing="ignore")
    assert_allclose(block(complete, X), block(Criterion("one", metric=metric), X), rtol=1e-12)
    X[::3, 0] = X[1::4, 1] = np.nan
    variances = np.nanvar(X, axis=0, ddof=1)

    def twin(a, b):
        parts = [part(x, y, v) for x, y, v in zip(a, b, variances, strict=True) if not np.isnan(x + y)]
        return finish(sum(parts) * 3 / len(parts))

    assert_allclose(block(complete, X), [[twin(a, b) for b in X] for a in X], rtol=1e-12)


def test_unseen_categories_differ_from_all_that_were_seen():
    X = {"color": ["red", "green", "blue", "red"], "size": [1, 2, 2, 1]}
    new = {"color": ["pink"], "size": [2]}
    assert_array_equal(block(Criterion("one", metric="mismatch"), X, new), [[1, 0.5, 0.5, 1]])
    assert_allclose(
        block(Criterion("one", metric="eskin"), X, new), [np.array([2 / 9 + 1 / 2, 2 / 9, 2 / 9, 2 / 9 + 1 / 2])]
    )
    assert_array_equal(block(Criterion("one", "color", "gower"), X, new), [[1, 1, 1, 1]])
    sets = {"labels": [["a", "b"], ["a"], ["c"], []]}
    assert_allclose(block(Criterion("one", metric="jaccard"), sets, {"labels": [{"a", "z"}]}), [[2 / 3, 1 / 2, 1, 1]])


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "gower", "speed", "eskin"])
def test_estimates_do_not_move_with_the_samples_being_scored(metric):
    rng = np.random.default_rng(0)
    if metric == "speed":
        X, new = ([rng.normal(size=(5, 2)) * scale for _ in range(N)] for scale in (1, 100))
    else:
        X, new = rng.normal(size=(N, 3)), 100 * rng.normal(size=(N, 3))
    detector = ParetoDepthDetector([Criterion("one", metric=metric)]).fit(X)
    state = pickle.dumps(detector.criteria_)
    alone = detector.score_samples(new[:1])
    assert_array_equal(detector.score_samples(new)[:1], alone)
    assert pickle.dumps(detector.criteria_) == state


def test_a_transformer_is_cloned_and_fitted_on_its_columns():
    X, new = table(), table(1)
    scaler = StandardScaler()
    detector = ParetoDepthDetector([Criterion("one", ["amount", "count"], "cityblock", scaler)]).fit(X)
    assert not hasattr(scaler, "mean_")
    columns = np.column_stack([X["amount"], X["count"]])
    assert_allclose(detector.criteria_[0].transform.mean_, columns.mean(axis=0))
    scaled = [np.column_stack([part["amount"], part["count"]]) / columns.std(axis=0) for part in (X, new)]
    expected = ParetoDepthDetector([Criterion("one", metric="cityblock")], n_neighbors=2).fit(scaled[0])
    assert_allclose(
        detector.set_params(n_neighbors=2).fit(X).score_samples(new), expected.score_samples(scaled[1]), atol=1e-9
    )
    assert clone(detector).fit(X).criteria_[0].transform is not detector.criteria_[0].transform


@pytest.mark.parametrize(
    ("columns", "transform"),
    [
        ("vendor", TfidfVectorizer(analyzer="char")),
        (["vendor"], OneHotEncoder(handle_unknown="ignore")),
        (["vendor", "paid"], OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        (["amount", "count"], make_pipeline(StandardScaler(), PCA(2))),
        ("amount", FunctionTransformer(np.log)),
    ],
)
def test_a_transformed_sample_scores_alone_as_in_a_batch(columns, transform):
    X, new = table(n=60), table(1, n=60)
    detector = ParetoDepthDetector([Criterion("one", columns, "euclidean", transform)]).fit(X)
    scores = detector.score_samples(new)
    alone = [detector.score_samples({k: v[i : i + 1] for k, v in new.items()})[0] for i in range(60)]
    assert_array_equal(alone, scores)
    assert_array_equal(pickle.loads(pickle.dumps(detector)).score_samples(new), scores)


def test_a_transformer_that_rounds_by_the_batch_is_given_single_samples():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, 40)), rng.normal(size=(50, 40))
    by_product = FunctionTransformer(lambda X: X - X.mean(axis=0))
    detector = ParetoDepthDetector([Criterion("one", transform=by_product)], n_neighbors=2).fit(X)
    assert detector.criteria_[0].state["transforms_alone"]
    elementwise = ParetoDepthDetector([Criterion("one", transform=StandardScaler())], n_neighbors=2).fit(X)
    assert not elementwise.criteria_[0].state["transforms_alone"]
    pca = ParetoDepthDetector([Criterion("one", transform=PCA(10))], n_neighbors=2).fit(X)
    assert_array_equal([pca.score_samples(x[None])[0] for x in new], pca.score_samples(new))


def test_a_transformer_may_impute_and_a_text_metric_may_follow_one():
    X = np.random.default_rng(0).random((N, 2))
    X[3, 1] = np.nan
    transform = SimpleImputer()
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert_allclose(block(Criterion("one", transform=transform), X), cdist(filled, filled))
    lower = FunctionTransformer(np.vectorize(str.lower, otypes=[object]))
    names = {"name": ["Anna", "ANNA", "Otto", "otto"]}
    assert_array_equal(block(Criterion("one", "name", "mismatch", lower), names)[0], [0, 0, 1, 1])


def test_a_block_callable_is_called_once_a_block_with_its_parameters():
    shapes = []

    def metric(A, B, power):
        shapes.append((len(A), len(B)))
        return cdist(A, B) ** power

    X = np.random.default_rng(0).random((N, 2))
    with small_blocks(200):
        detector = ParetoDepthDetector([Criterion("one", metric=metric, power=2)], n_neighbors=2).fit(X)
    assert shapes == [(10, 20), (10, 10)]
    shapes.clear()
    with small_blocks(200):
        scores = detector.score_samples(X[:15])
    assert shapes == [(10, 20), (5, 20)]
    expected = ParetoDepthDetector([Criterion("one", metric="euclidean")], n_neighbors=2).fit(X)
    assert_array_equal(scores, expected.score_samples(X[:15]))


def test_an_element_callable_is_called_once_a_pair_and_warned_to_be_slow():
    calls, encoded = [], []

    def metric(a, b, power):
        calls.append((a, b))
        return abs(sum(a.encode()) - sum(b.encode())) ** power

    words = ["a", "bq", "cde", "fxyz", "fghij", "klmnop", "zzzzzzzz"]
    slow = Criterion("codes", metric=metric, pairwise=True, power=1.5)
    slowness = "'codes' calls a Python function for each pair of samples, which is slow"
    with pytest.warns(AdviceWarning, match=slowness), progress_to(lambda *what: encoded.append(what)):
        detector = ParetoDepthDetector([slow], n_neighbors=2).fit(words)
    assert calls == [(a, b) for i, a in enumerate(words) for b in words[i + 1 :]]
    assert ("criterion 'codes', pair by pair", 7, 7) in encoded
    fast = Criterion("codes", metric=lambda A, B: np.array([[float(metric(a, b, 1.5)) for b in B] for a in A]))
    expected = ParetoDepthDetector([fast], n_neighbors=2).fit(words)
    assert_array_equal(detector.score_samples(["", "aaaa"]), expected.score_samples(["", "aaaa"]))


@pytest.mark.parametrize("mapped", [False, True])
def test_matrices_stand_beside_other_criteria_in_a_dict(mapped, tmp_path):
    rng = np.random.default_rng(0)
    X, new = rng.random((N, 3)), rng.random((6, 3))
    matrix, new_matrix = cdist(X[:, :2], X[:, :2]), cdist(new[:, :2], X[:, :2])
    if mapped:
        np.save(tmp_path / "matrix.npy", matrix)
        matrix = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    mixed = [Criterion("place", metric="precomputed"), Criterion("size", "size", "difference")]
    detector = ParetoDepthDetector(mixed).fit({"place": matrix, "size": X[:, 2]})
    expected = ParetoDepthDetector([Criterion("place", [0, 1]), Criterion("size", 2, "difference")]).fit(X)
    assert_array_equal(detector.training_scores_, expected.training_scores_)
    assert_array_equal(detector.score_samples({"place": new_matrix, "size": new[:, 2]}), expected.score_samples(new))


def test_single_precision_matrices_on_disk_are_read_as_they_are(tmp_path):
    X = np.random.default_rng(0).random((N, 2))
    np.save(tmp_path / "matrix.npy", cdist(X, X).astype(np.float32))
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    criteria = [Criterion("one", metric="precomputed")]
    detector, expected = (ParetoDepthDetector(criteria).fit([m]) for m in (mapped, np.array(mapped, dtype=float)))
    assert_array_equal(
        detector.score_samples([mapped[:4]]), expected.score_samples([np.array(mapped[:4], dtype=float)])
    )


def test_globs_take_the_columns_they_match():
    X = pd.DataFrame(np.random.default_rng(0).random((N, 4)), columns=["x_1", "x_2", "y", "x*"])
    detector = ParetoDepthDetector([Criterion("a", "x_*"), Criterion("b", ["y", "x_?"]), Criterion("c", "x*")]).fit(X)
    assert [criterion.columns for criterion in detector.criteria_] == [[0, 1], [2, 0, 1], [3]]


def fit_with_advice(X, criteria=None):
    with pytest.warns(AdviceWarning) as caught:
        detector = ParetoDepthDetector(criteria, n_neighbors=2).fit(X)
    assert [str(warning.message) for warning in caught] == detector.advice_
    assert all(warning.filename == __file__ for warning in caught)
    return detector.advice_


def test_advice_tells_of_ties_zeros_constants_redundancy_and_too_many_criteria():
    rng = np.random.default_rng(0)
    x = rng.random(40)
    (ties,) = fit_with_advice(np.column_stack([x, rng.integers(2, size=40)]))
    assert ties.startswith("50% of all pairs of dyads are tied in the criterion 'x1', 49% of the dyads are zero: the")
    # Of the blend only pairs of criteria have fronts, and how far a sample is in each counts beside them.
    blend = ParetoDepthDetector(method="blend").fit(np.column_stack([x, rng.integers(2, size=40)]))
    assert blend.advice_ == []
    rounded = ParetoDepthDetector().fit(np.round(rng.random((300, 2)), 2))
    assert rounded.advice_ == []
    (zeros,) = fit_with_advice(np.column_stack([x, np.where(np.arange(40) < 16, 0, rng.random(40))]))
    assert "'x1', 15% of the dyads are zero" in zeros
    (constant,) = fit_with_advice(np.column_stack([x, np.ones(40)]))
    assert "equally unlike in the criterion 'x1'" in constant
    (redundant,) = fit_with_advice(np.column_stack([x, rng.random(40), x + 0.001 * rng.random(40)]))
    assert "'x0' and 'x2' rank pairs of samples almost alike (Spearman correlation 1.000). Leave one out" in redundant
    (many,) = fit_with_advice(rng.random((40, 6)))
    assert many.startswith("6 criteria make only ")
    assert "fronts of 780 dyads" in many


def test_good_criteria_get_no_advice(recwarn):
    assert ParetoDepthDetector().fit(np.random.default_rng(0).random((40, 5))).advice_ == []
    assert not recwarn


def test_a_criterion_shows_what_it_was_given():
    criterion = Criterion("time", "hour", "cyclic", missing="ignore", period=24)
    assert repr(criterion) == "Criterion(name='time', columns='hour', metric='cyclic', missing='ignore', period=24)"
    assert criterion == pickle.loads(pickle.dumps(criterion))
    assert criterion != Criterion("time", "hour", "cyclic", missing="ignore", period=12)
    with pytest.raises(AttributeError):
        criterion.name = "other"


def test_equal_criteria_are_equal_and_have_equal_hashes():
    def makers():
        yield Criterion("a")
        yield Criterion("a", np.arange(2))
        yield Criterion("a", [0, 1])
        yield Criterion("a", (0, 1))
        yield Criterion("a", [0, 2])
        yield Criterion("a", np.arange(3))
        yield Criterion("a", pd.Index(["x", "y"]))
        yield Criterion("a", pd.Index(["x", "y", "z"]))
        yield Criterion("a", metric="cyclic", period=24)
        yield Criterion("a", metric="cyclic", period=12)
        yield Criterion("a", metric=cdist, weights=np.ones(3), other={"of": [np.zeros(2)]})
        yield Criterion("a", metric=cdist, weights=np.ones(3), other={"of": [np.ones(2)]})
        yield Criterion("a", missing="ignore")
        yield Criterion("b")

    for row, one in enumerate(makers()):
        assert one != one.name
        for column, other in enumerate(makers()):
            assert (one == other) is (row == column)
            assert row != column or hash(one) == hash(other)
    assert len(set(makers()) | set(makers())) == 14
    assert Criterion("a", metric="cyclic", period=np.float64(24)) == Criterion("a", metric="cyclic", period=24)


def test_an_error_about_a_drawn_dyad_names_the_training_samples():
    X = np.arange(40.0)[:, None]

    def wrong(A, B):
        block = np.abs(A - B.T)
        if len(A) == 1:
            block[(A == 7) & (B.T == 33)] = -1.0
        return block

    detector = ParetoDepthDetector([Criterion("wrong", 0, wrong)])
    pairs = pairs_of(detector.criteria, X)
    with pytest.raises(ValueError, match=r"Got -1.0 for sample 7 and training sample 33 instead"):
        pairs.chosen(7, np.array([9, 33, 35]))
    with pytest.raises(ValueError, match=r"Got -1.0 for sample 7 and training sample 33 instead"):
        capping.sampled_dyads(pairs, 779, seed=0)


@pytest.mark.parametrize(
    ("n_neighbors", "text"),
    [
        ("conected", "must be one of 'connected'. Got 'conected' instead"),
        (0, "must be an integer of at least 1 and below the number of training samples, 20. Got 0"),
        (20, "below the number of training samples, 20. Got 20"),
        ([2, 3], "must hold one integer per criterion, 1 in all. Got 2 instead"),
        (2.5, "must be 'connected', an integer or one integer per criterion. Got 2.5"),
    ],
)
def test_a_wrong_number_of_neighbors_is_refused_before_any_dissimilarity_is_computed(n_neighbors, text):
    def never(A, B):
        raise AssertionError("a dissimilarity was asked for")

    with pytest.raises(ValueError, match=text):
        ParetoDepthDetector([Criterion("a", 0, never)], n_neighbors=n_neighbors).fit(np.random.rand(20, 1))


def test_a_text_without_a_known_word_is_as_far_as_can_be():
    texts = ["red apple", "green apple", "red pear", "green pear", "ripe red apple", "ripe pear"] * 5
    criterion = Criterion("text", "text", "cosine", transform=TfidfVectorizer())
    own = fitted([criterion], {"text": texts})
    (unknown,) = own.views_of({"text": ["zinc oxide", ""]})
    assert_array_equal(own.criteria[0].dissimilarities(unknown, own.encodings[0], (0, 0)), np.ones((2, 30)))
    assert_array_equal(own.criteria[0].dissimilarities(unknown, unknown, (0, 0)), np.zeros((2, 2)))
    detector = ParetoDepthDetector([criterion], n_neighbors=5).fit({"text": texts})
    assert detector.predict({"text": ["zinc oxide"]}) == [-1]


@pytest.mark.parametrize("pairwise", [False, True])
def test_a_function_cannot_change_the_samples(pairwise):
    def spoiling(a, b):
        a[...] = 0
        return 1.0

    detector = ParetoDepthDetector([Criterion("c", None, spoiling, pairwise=pairwise)])
    with pytest.raises(ValueError, match="read-only"):
        detector.fit(np.random.default_rng(0).random((9, 2)))


def test_a_matrix_with_masked_entries_is_refused():
    matrix = np.ma.masked_less(np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0))), 1)
    with pytest.raises(TypeError, match=r"criterion 'm' must have no masked entries. Got some; fill them in"):
        ParetoDepthDetector([Criterion("m", metric="precomputed")]).fit([matrix])
