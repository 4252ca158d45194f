"""River's protocol, against River itself."""

import copy

import numpy as np
from river import anomaly, base, evaluate, metrics, preprocessing

from paretodepth import Criterion
from paretodepth.streaming import StreamingDetector
from paretodepth.streaming.river import RiverDetector

X = [{"a": float(a), "b": float(b)} for a, b in np.random.default_rng(0).normal(size=(150, 2))]


def learnt(detector, samples=X):
    for x in samples:
        detector.learn_one(x)
    return detector


def test_it_is_an_anomaly_detector_of_river():
    detector = RiverDetector(window=50, alpha=0.05)
    assert isinstance(detector, base.AnomalyDetector)
    assert not detector._supervised


def test_scores_are_those_of_the_streaming_detector():
    own = StreamingDetector(window=50, alpha=0.05, method="blend")
    detector = RiverDetector(window=50, alpha=0.05, method="blend")
    for x in X:
        score = own.score_one(x)
        assert detector.score_one(x) == (0.0 if np.isnan(score) else score)
        own.learn_one(x)
        detector.learn_one(x)
    assert own.n_seen_ == len(X)


def test_a_clone_has_the_parameters_and_learns_anew():
    detector = learnt(RiverDetector([Criterion("both", ["a", "b"])], window=40, alpha=0.1))
    clone = detector.clone()
    assert (clone.window, clone.alpha, clone.criteria) == (40, 0.1, detector.criteria)
    assert clone.score_one(X[0]) == 0.0
    assert copy.deepcopy(detector).score_one(X[0]) == detector.score_one(X[0]) > 0


def test_it_works_in_pipelines_and_filters():
    pipeline = learnt(preprocessing.StandardScaler() | RiverDetector(window=50, alpha=0.05))
    assert pipeline.score_one({"a": 90.0, "b": 0.0}) > pipeline.score_one({"a": 0.0, "b": 0.0})
    filtered = anomaly.QuantileFilter(RiverDetector(window=50, alpha=0.05), q=0.95)
    learnt(filtered)
    assert filtered.classify(filtered.score_one({"a": 90.0, "b": 0.0}))


def test_river_evaluates_it():
    rng = np.random.default_rng(1)
    stream = []
    for number in range(300):
        is_anomaly = number > 100 and number % 20 == 0
        a, b = rng.normal(size=2) + (9 if is_anomaly else 0)
        stream.append(({"a": float(a), "b": float(b)}, is_anomaly))
    found = evaluate.progressive_val_score(
        stream, RiverDetector(window=100, alpha=0.05), metrics.RollingROCAUC(window_size=300)
    )
    assert found.get() > 0.95
