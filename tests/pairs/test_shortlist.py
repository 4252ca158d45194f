import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Criterion
from paretodepth.pairs.shortlist import MIN_TREE_SAMPLES, N_MORE, ORDERS, Shortlist
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import needs_sum
from tests.draws import SAMPLES, draw_samples, fitted_detector, pairs_of

KINDS = ["distinct", "tied", "rounded", "equal", "duplicate", "triplicate", "far and near"]
TREE_CRITERIA = {
    "columns": None,
    "norms": [
        Criterion("city", [0, 1], "cityblock"),
        Criterion("euclid", [1, 2], "euclidean"),
        Criterion("one", [3], "difference"),
    ],
    "scaled": [Criterion("together", [0, 1, 2], "scaled", ratio=[1]), Criterion("one", [3], "difference")],
}


def assert_trees_change_nothing(model, new, needed):
    """Compare what is measured of new samples by trees and without, bit by bit."""
    encodings = model.encode(new, caller="a test").encodings
    expected = model.new_measures(encodings, needed, n_jobs=2)
    for n_rows in (1, 20):
        found = model.measures_by_trees(encodings, needed, n_jobs=2, n_rows=n_rows)
        assert found.keys() == expected.keys() == set(needed)
        for name in needed:
            assert_array_equal(found[name], expected[name], err_msg=f"{name}, {n_rows} rows at a time")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criteria", TREE_CRITERIA.values(), ids=TREE_CRITERIA)
@pytest.mark.parametrize("method", METHODS)
def test_trees_change_no_bit_of_what_is_measured(kind, criteria, method):
    rng = np.random.default_rng(0)
    # Under the sum, more of the nearest 20 than of 5 are looked at.
    X = SAMPLES[kind](rng, 400 if method == "blend" else 150, 5)
    new = np.concatenate([SAMPLES[kind](rng, 40, 5), X[:9], rng.random((9, 5)) * 3])
    model = fitted_detector(X, criteria=criteria, method=method, n_neighbors=4).model_
    needed = METHODS[method].measures
    with_sum = needs_sum(needed)
    assert not model.shortlist.is_worthwhile(with_sum=with_sum)
    assert model.shortlist.is_worthwhile(with_sum=with_sum, min_samples=100, max_share=0.9)
    assert_trees_change_nothing(model, new, needed)
    is_sure = model.shortlist.block(model.encode(new, caller="a test").encodings, with_sum=with_sum).is_sure
    # What is tied is compared with all training samples.
    if kind in ("rounded", "equal"):
        assert not is_sure.all()
    if kind == "distinct" and method != "blend":
        assert is_sure.all()
    # Three are tied as the 10th nearest of the blend's 20, and trees name them all.
    if kind == "triplicate" and method == "blend":
        assert is_sure.any()


def test_categories_have_no_trees():
    X = draw_samples("rounded", 150, 2)
    model = fitted_detector(X, criteria=[Criterion("codes", [0, 1], "scaled", categories=[0])], n_neighbors=3).model_
    assert not model.shortlist.is_worthwhile(with_sum=False, min_samples=100)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_difference_has_trees_but_no_sum(kind):
    X = draw_samples(kind, 150, 5)
    criteria = [Criterion("chebyshev", [0, 1, 2], "chebyshev"), Criterion("city", [3, 4], "cityblock")]
    model = fitted_detector(X, criteria=criteria, n_neighbors=3).model_
    assert model.shortlist.is_worthwhile(with_sum=False, min_samples=100)
    assert not model.shortlist.is_worthwhile(with_sum=True, min_samples=100)
    assert_trees_change_nothing(model, X[:30] + 0.01, METHODS["depth"].measures)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_sum", [False, True])
def test_a_sure_block_holds_the_nearest(kind, with_sum):
    rng = np.random.default_rng(0)
    X, new = SAMPLES[kind](rng, 120, 2), SAMPLES[kind](rng, 40, 2)
    pairs = pairs_of(None, X)
    weights = np.array([0.5, 2.0])
    shortlist = Shortlist(pairs.criteria, pairs.encodings, np.array([3, 5]), weights)
    candidates, block, is_sure = shortlist.block([new[:, :1], new[:, 1:]], with_sum=with_sum)
    distances = np.abs(new.T[:, :, None] - X.T[:, None])
    for row in np.flatnonzero(is_sure):
        for criterion, k in enumerate((3, 5)):
            nearest = np.argsort(distances[criterion, row], kind="stable")[:k]
            assert set(nearest) <= set(candidates[row])
            assert_array_equal(np.sort(block[criterion, row])[:k], distances[criterion, row, nearest])
        if with_sum:
            assert set(np.argsort(weights @ distances[:, row], kind="stable")[:5]) <= set(candidates[row])


def test_criteria_without_trees_are_compared_with_all():
    X = np.random.default_rng(0).random((120, 7))

    def is_worthwhile(*criteria):
        pairs = pairs_of(list(criteria), X)
        shortlist = Shortlist(pairs.criteria, pairs.encodings, np.array([3, 3]), np.ones(2))
        return shortlist.is_worthwhile(with_sum=False, min_samples=100)

    for criterion in (
        Criterion("cosine", metric="cosine"),
        Criterion("wide"),
        Criterion("gaps", [0], "euclidean", missing="ignore"),
        Criterion("function", [0], lambda A, B: np.abs(A - B.T)),
    ):
        assert not is_worthwhile(criterion, Criterion("x", [1]))
    assert is_worthwhile(Criterion("x", [0]), Criterion("y", [1]))


@dataclasses.dataclass
class Difference:
    """A metric without a hash."""

    scale: float

    def __call__(self, A, B):
        return self.scale * np.abs(A - B.T)


@pytest.mark.parametrize(("metric", "has_tree"), [("difference", True), (Difference(2.0), False)], ids=str)
def test_a_metric_without_a_hash_is_compared_with_all_of_many_samples(metric, has_tree):
    pairs = pairs_of([Criterion("a", 0, metric)], np.zeros((MIN_TREE_SAMPLES, 1)))
    shortlist = Shortlist(pairs.criteria, pairs.encodings, np.array([3]), np.ones(1))
    assert shortlist.is_worthwhile(with_sum=False) == has_tree


@pytest.mark.parametrize(("kind", "is_sure"), [("distinct", True), ("rounded", False), ("equal", False)])
def test_trees_are_left_alone_where_ties_leave_them_unsure(kind, is_sure):
    X = draw_samples(kind, 600, 2)
    shortlist = fitted_detector(X, n_neighbors=4).model_.shortlist
    assert shortlist.is_worthwhile(with_sum=False)
    assert shortlist.is_mostly_sure(with_sum=False) == is_sure


@pytest.mark.parametrize("kind", KINDS)
def test_sorted_columns_change_no_score(kind):
    X, new = draw_samples(kind, 600, 3), draw_samples(kind, 50, 3, seed=1)
    model = fitted_detector(X, n_neighbors=[3, 4, 5]).model_
    assert model.shortlist.is_worthwhile(with_sum=False)
    assert_trees_change_nothing(model, np.concatenate([new, X[:20]]), METHODS["depth"].measures)


def test_a_sorted_column_names_the_nearest():
    rng = np.random.default_rng(0)
    for n_samples, k in ((3, 1), (7, 3), (7, 7), (300, 15)):
        X, new = rng.normal(size=(n_samples, 1)), rng.normal(size=(50, 1), scale=2)
        pairs = pairs_of(None, np.column_stack((X, X)))
        shortlist = Shortlist(pairs.criteria, pairs.encodings, np.array([k, k]), np.ones(2))
        candidates, _, _ = shortlist.block([new, new], with_sum=False)
        nearest = np.argsort(np.abs(new - X.T), axis=1)[:, : k + N_MORE]
        for row, expected in zip(candidates, nearest, strict=True):
            assert set(row) == set(expected)


def test_differences_beyond_the_largest_number_are_refused_with_the_samples_named():
    X = np.linspace(-1e308, -0.9e308, 1000).reshape(500, 2)
    detector = fitted_detector(X, n_neighbors=3)
    assert detector.model_.shortlist.is_worthwhile(with_sum=False)
    with pytest.raises(
        ValueError, match=r"'x0' must give dissimilarities that are finite .* for sample 1 and training"
    ):
        detector.score_samples([[-1e308, -1e308], [1e308, 0.0]])


@pytest.mark.parametrize("metric", sorted(ORDERS.keys() - {"difference"}))
@pytest.mark.parametrize(("n_criteria", "n_columns"), [(16, 1), (7, 3), (64, 1), (64, 6)])
def test_no_number_of_criteria_and_columns_is_too_large_for_a_shortlist(metric, n_criteria, n_columns):
    X = np.random.default_rng(0).random((MIN_TREE_SAMPLES, n_criteria * n_columns))
    # With one of the largest order, all are looked up by it.
    metrics = [metric, *["cityblock"] * (n_criteria - 1)]
    criteria = [Criterion(f"c{i}", range(i * n_columns, (i + 1) * n_columns), m) for i, m in enumerate(metrics)]
    pairs = pairs_of(criteria, X)
    shortlist = Shortlist(pairs.criteria, pairs.encodings, np.full(n_criteria, 3), np.ones(n_criteria))
    assert shortlist.is_worthwhile(with_sum=True) == (ORDERS[metric] == 1)
    n_found = n_criteria * (3 + N_MORE) + N_MORE
    n_joint = 3 if ORDERS[metric] == 1 else MIN_TREE_SAMPLES
    assert shortlist.n_candidates(with_sum=True) == n_found + n_joint


@pytest.mark.parametrize(("n_criteria", "n_columns"), [(16, 1), (7, 3)])
def test_many_samples_are_scored_as_few_under_many_criteria(n_criteria, n_columns):
    X = np.random.default_rng(0).random((MIN_TREE_SAMPLES, n_criteria * n_columns))
    metrics = ["chebyshev", *["euclidean"] * (n_criteria - 1)]
    criteria = [Criterion(f"c{i}", range(i * n_columns, (i + 1) * n_columns), m) for i, m in enumerate(metrics)]
    detector = fitted_detector(X, criteria=criteria, method="blend")
    # Of few samples all dissimilarities are computed, without a shortlist.
    few = [detector.score_samples(X[start : start + 50]) for start in range(0, MIN_TREE_SAMPLES, 50)]
    assert_array_equal(detector.score_samples(X), np.concatenate(few))
