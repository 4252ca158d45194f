import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Criterion
from paretodepth.pairs import connected as neighbors
from paretodepth.pairs import shortlist as nearby
from paretodepth.scoring import measures as statistics
from paretodepth.scoring.methods import METHODS
from tests.draws import SAMPLES, draw_samples, fitted_detector, pairs_of

KINDS = ["distinct", "rounded", "equal", "duplicate", "far and near"]
CRITERIA = {
    "columns": None,
    "norms": [
        Criterion("city", [0, 1], "cityblock"),
        Criterion("euclid", [1, 2], "euclidean"),
        Criterion("one", [3], "difference"),
    ],
}


@pytest.fixture
def asked(monkeypatch):
    """Count the samples that are compared with all training samples after all."""
    asked, map_new_blocks = [], statistics.map_new_blocks
    monkeypatch.setattr(statistics, "map_new_blocks", lambda *of: asked.append(len(of[2][0])) or map_new_blocks(*of))
    return asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criteria", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("method", METHODS)
def test_trees_change_no_bit_of_the_scores(kind, criteria, method, asked, monkeypatch):
    rng = np.random.default_rng(0)
    X = SAMPLES[kind](rng, 150, 5)
    new = np.concatenate([SAMPLES[kind](rng, 40, 5), X[:9], rng.random((9, 5)) * 3])
    monkeypatch.setattr(statistics, "NEARBY_ROWS", 20)
    monkeypatch.setattr(nearby, "MAX_SHARE", 0.9)
    detector = fitted_detector(X, criteria=criteria, method=method, n_neighbors=4, n_jobs=2)
    assert not detector._nearby.is_worthwhile(with_sum=True)
    expected = detector.score_samples(new)
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    assert detector._nearby.is_worthwhile(with_sum=True)
    assert_array_equal(detector.score_samples(new), expected)
    assert_array_equal([detector.score_samples(x[None])[0] for x in new[:5]], expected[:5])
    # What is tied is compared with all training samples.
    if kind in ("rounded", "equal"):
        assert sum(asked) > 0
    if kind == "distinct" and method != "union":
        assert not asked


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_difference_has_trees_but_no_sum(kind, monkeypatch):
    X = draw_samples(kind, 150, 5)
    criteria = [Criterion("chebyshev", [0, 1, 2], "chebyshev"), Criterion("city", [3, 4], "cityblock")]
    detector = fitted_detector(X, criteria=criteria, n_neighbors=3)
    expected = detector.score_samples(X[:30] + 0.01)
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    assert detector._nearby.is_worthwhile(with_sum=False)
    assert not detector._nearby.is_worthwhile(with_sum=True)
    assert_array_equal(detector.score_samples(X[:30] + 0.01), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criteria", CRITERIA.values(), ids=CRITERIA)
def test_trees_change_no_bit_of_the_lists(kind, criteria, monkeypatch):
    monkeypatch.setattr(neighbors, "N_LISTED", 6)
    monkeypatch.setattr(neighbors, "FOUND_ROWS", 40)
    monkeypatch.setattr(nearby, "MAX_SHARE", 0.9)
    X = draw_samples(kind, 150, 5)
    pairs = pairs_of(criteria, X, 2)
    weights = np.linspace(0.5, 3.0, pairs.n_criteria)
    expected = neighbors.NeighborLists.gathered(pairs, weights)
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    found = []
    block = nearby.Nearby.block
    monkeypatch.setattr(nearby.Nearby, "block", lambda self, *of, **how: found.append(of) or block(self, *of, **how))
    lists = neighbors.NeighborLists.gathered(pairs, weights)
    assert len(found) == 4
    for part, expected_part in zip(lists, expected, strict=True):
        assert_array_equal(part, expected_part)


def test_criteria_without_trees_are_compared_with_all(monkeypatch):
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    X = np.random.default_rng(0).random((120, 7))

    def is_worthwhile(*criteria):
        return fitted_detector(X, criteria=list(criteria), n_neighbors=3)._nearby.is_worthwhile(with_sum=False)

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


def test_a_metric_without_a_hash_is_compared_with_all_samples():
    X = np.zeros((nearby.MANY_SAMPLES, 1))
    pairs = pairs_of([Criterion("a", 0, Difference(2.0))], X)
    found = nearby.Nearby(pairs.criteria, pairs.views, np.array([3]), np.ones(1))
    assert not found.is_worthwhile(with_sum=False)
