import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector, nearby
from tests.test_limits import fitted

SAMPLES = {
    "distinct": lambda rng, n: rng.random((n, 5)),
    "tied": lambda rng, n: np.round(rng.random((n, 5)), 1),
    "equal": lambda rng, n: np.ones((n, 5)),
    "duplicate": lambda rng, n: np.repeat(rng.random((n // 5, 5)), 5, axis=0),
    "far and near": lambda rng, n: rng.random((n, 5)) * 10.0 ** rng.integers(-150, 150, (n, 1)),
}
CRITERIA = {
    "columns": None,
    "norms": [
        Criterion("city", [0, 1], "cityblock"),
        Criterion("euclid", [1, 2, 3], "euclidean"),
        Criterion("chebyshev", [3, 4], "chebyshev"),
        Criterion("one", [0], "difference"),
    ],
}


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("criteria", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("method", ["depth", "criteria"])
def test_trees_change_no_bit_of_the_scores(kind, criteria, method, monkeypatch):
    rng = np.random.default_rng(0)
    X = SAMPLES[kind](rng, 150)
    new = np.concatenate([SAMPLES[kind](rng, 40), X[:9], rng.random((9, 5)) * 3])
    monkeypatch.setattr(nearby, "N_ROWS", 20)
    detector = fitted(X, criteria=criteria, method=method, n_jobs=2)
    assert not detector._nearby.is_worthwhile
    expected = detector.score_samples(new)
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    assert detector._nearby.is_worthwhile
    asked = []
    monkeypatch.setattr(nearby, "map_new_blocks", lambda *of: asked.append(len(of[2][0])) or map_new_blocks(*of))
    assert_array_equal(detector.score_samples(new), expected)
    assert_array_equal([detector.score_samples(x[None])[0] for x in new[:5]], expected[:5])
    # What is tied is compared with all training samples.
    if kind in ("distinct", "tied", "equal"):
        assert (sum(asked) > 0) == (kind != "distinct")


map_new_blocks = nearby.map_new_blocks


def test_criteria_without_trees_are_compared_with_all(monkeypatch):
    monkeypatch.setattr(nearby, "MANY_SAMPLES", 100)
    X = np.random.default_rng(0).random((120, 7))
    for criterion in (
        Criterion("cosine", metric="cosine"),
        Criterion("wide"),
        Criterion("gaps", [0], "euclidean", missing="ignore"),
        Criterion("function", [0], lambda A, B: np.abs(A - B.T)),
    ):
        assert not ParetoDepthDetector([criterion, Criterion("x", [1])]).fit(X)._nearby.is_worthwhile
    assert ParetoDepthDetector([Criterion("x", [0]), Criterion("y", [1])]).fit(X)._nearby.is_worthwhile
