"""Samples that lack a value: left out of a fit, not scored, in their places."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer

from paretodepth import Criterion, ParetoDepthDetector

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

N = 60
GAPS = [3, 17, 18]


def table(n_samples=N, seed=0):
    rng = np.random.default_rng(seed)
    return {"a": rng.normal(size=n_samples), "b": rng.normal(size=n_samples), "w": rng.choice(list("xyz"), n_samples)}


def criteria(missing="drop"):
    return [
        Criterion("a", "a", "difference", missing=missing),
        Criterion("b", "b", "seuclidean", missing=missing),
        Criterion("w", "w", "mismatch", missing=missing),
    ]


def with_gaps(columns):
    a, w = columns["a"].copy(), columns["w"].astype(object)
    a[GAPS[:2]], w[GAPS[2]] = np.nan, None
    return columns | {"a": a, "w": w}


def without(columns, rows=GAPS):
    return {name: np.delete(values, rows) for name, values in columns.items()}


@pytest.fixture(scope="module", params=[("leave-one-out", "depth"), ("leave-one-out", "blend"), ("split", "blend")])
def detectors(request):
    """Return a detector fitted to samples with gaps, and one to the others alone."""
    calibration, method = request.param
    parameters = {"method": method, "calibration": calibration, "random_state": 0, "n_neighbors": 4}
    training = with_gaps(table())
    return (
        ParetoDepthDetector(criteria(), **parameters).fit(training),
        ParetoDepthDetector(criteria("fail"), **parameters).fit(without(training)),
    )


def test_a_fit_that_drops_samples_is_that_of_the_others(detectors):
    gaps, others = detectors
    kept = np.delete(np.arange(N), GAPS)
    assert_array_equal(gaps.dropped_, GAPS)
    assert others.dropped_.size == 0
    assert_array_equal(gaps.training_scores_[kept], others.training_scores_)
    assert np.isnan(gaps.training_scores_[GAPS]).all()
    assert_array_equal(gaps.training_labels_[kept], others.training_labels_)
    assert_array_equal(gaps.training_labels_[GAPS], 0)
    assert gaps.offset_ == others.offset_
    assert_array_equal(gaps.score_samples(table(seed=1)), others.score_samples(table(seed=1)))


def test_nearest_samples_are_named_by_their_rows_before_any_was_dropped(detectors):
    gaps, others = (detector.explain(table(5, seed=1)).neighbors for detector in detectors)
    kept = np.delete(np.arange(N), GAPS)
    for own, other in zip(gaps, others, strict=True):
        assert_array_equal(own, kept[other])


def test_new_samples_that_lack_a_value_are_not_scored_and_the_others_as_ever(detectors, tmp_path):
    detector, _ = detectors
    complete = table(seed=1)
    new = with_gaps(complete)
    is_kept = ~np.isin(np.arange(N), GAPS)
    detector.save(tmp_path / "gaps.model")
    for own in (detector, ParetoDepthDetector.load(tmp_path / "gaps.model")):
        for method in (own.score_samples, own.decision_function, own.p_values, own.nearest_dyads):
            found, expected = method(new), method(complete)
            assert found.shape == expected.shape
            assert_array_equal(found[is_kept], expected[is_kept])
            assert np.isnan(found[~is_kept]).all()
        assert_array_equal(own.predict(new), np.where(is_kept, own.predict(complete), 0))
        assert_array_equal(own.select(new, fdr=0.5)[is_kept], own.select(without(new), fdr=0.5))
        assert not own.select(new, fdr=0.99)[~is_kept].any()


def test_samples_all_of_which_lack_a_value_are_none_scored(detectors):
    nothing = table(4) | {"a": np.full(4, np.nan)}
    assert np.isnan(detectors[0].score_samples(nothing)).all()
    assert_array_equal(detectors[0].predict(nothing), 0)
    assert not detectors[0].select(nothing).any()
    assert detectors[0].nearest_dyads(nothing).shape == detectors[0].nearest_dyads(table(4)).shape


def test_only_criteria_that_drop_do(detectors):
    mixed = [Criterion("a", "a", "difference"), *criteria()[1:]]
    with pytest.raises(ValueError, match=r"Got 2 in 'a' instead; .* missing='drop'"):
        ParetoDepthDetector(mixed).fit(with_gaps(table()))
    detector = ParetoDepthDetector([Criterion("b", "b", "difference", missing="drop")]).fit(with_gaps(table()))
    assert detector.dropped_.size == 0


def test_matrices_lose_the_rows_and_columns_of_dropped_samples():
    training = with_gaps(table())
    distances = np.abs(np.subtract.outer(training["b"], training["b"]))
    by_matrix = [criteria()[0], Criterion("b", metric="precomputed")]
    by_column = [criteria()[0], Criterion("b", "b", "difference", missing="drop")]
    expected = ParetoDepthDetector(by_column).fit(training)
    detector = ParetoDepthDetector(by_matrix).fit({"a": training["a"], "b": distances})
    assert_array_equal(detector.training_scores_, expected.training_scores_)
    new = table(7, seed=1)
    across = np.abs(np.subtract.outer(new["b"], training["b"]))
    assert_array_equal(detector.score_samples({"a": new["a"], "b": across}), expected.score_samples(new))


def test_a_transformer_is_given_missing_values_unless_they_are_dropped():
    frame = pd.DataFrame(with_gaps(table()))[["a", "b"]]
    imputing = Criterion("a", ["a"], "euclidean", transform=SimpleImputer())
    assert ParetoDepthDetector([imputing]).fit(frame).dropped_.size == 0
    dropping = Criterion("a", ["a"], "euclidean", transform=SimpleImputer(), missing="drop")
    assert_array_equal(ParetoDepthDetector([dropping]).fit(frame).dropped_, GAPS[:2])
