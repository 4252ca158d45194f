import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.datasets import make_hypercube, make_pedestrians, trajectory_criteria, trajectory_table
from paretodepth.datasets.pedestrians import SPEED_EDGES


def test_the_hypercube_is_what_the_paper_describes():
    data = make_hypercube(1000, 20_000, n_criteria=3, class_probability=0.1, width=0.2, random_state=0)
    assert data.X_train.shape == (1000, 3)
    assert 0 <= data.X_train.min() < data.X_train.max() <= 1
    outside = data.X_test > 1
    assert_array_equal(outside.sum(axis=1), data.is_anomaly)
    assert_array_equal(outside.argmax(axis=1)[data.is_anomaly], data.anomalous_criterion[data.is_anomaly])
    assert 1.19 < data.X_test.max() <= 1.2
    # Three standard errors of a share of 0.1 among 20,000 are 0.006.
    assert np.all(np.abs(outside.mean(axis=0) - 0.1) < 0.0065)


def test_simulations_repeat_with_their_seed():
    for make in (
        lambda seed: make_hypercube(random_state=seed).X_test,
        lambda seed: trajectory_table(make_pedestrians(10, 6, random_state=seed).trajectories),
    ):
        assert_array_equal(make(3), make(3))
        assert not np.array_equal(make(3), make(4))


def test_the_table_holds_speed_shares_and_points_along_the_path():
    straight = np.column_stack([np.arange(10.0) / 9, np.zeros(10), np.arange(10.0) / 9])
    (row,) = trajectory_table([straight])
    # One metre a second, up to rounding of the steps, lies on the edge of bins 4 and 5.
    assert row[4] + row[5] == pytest.approx(1)
    assert_allclose(row[20:], np.append(np.linspace(0, 1, 100), np.zeros(100)), atol=1e-12)


def test_metrics_of_trajectories_are_those_of_the_table():
    paths, new = (make_pedestrians(30, random_state=seed).trajectories for seed in (0, 1))
    criteria = [Criterion("speed", metric="speed", edges=SPEED_EDGES.tolist()), Criterion("shape", metric="shape")]
    detector = ParetoDepthDetector(criteria).fit(paths)
    expected = ParetoDepthDetector(trajectory_criteria()).fit(trajectory_table(paths))
    assert_array_equal(detector.training_scores_, expected.training_scores_)
    assert_array_equal(detector.score_samples(new), expected.score_samples(trajectory_table(new)))


def test_pedestrians_are_anomalous_in_what_their_kind_says():
    training, test = make_pedestrians(300, random_state=0), make_pedestrians(60, 60, random_state=1)
    X_train, X = trajectory_table(training.trajectories), trajectory_table(test.trajectories)
    for criterion, anomalous, ordinary in zip(
        trajectory_criteria(), ("speed", "shape"), ("shape", "speed"), strict=True
    ):
        depth = ParetoDepthDetector([criterion]).fit(X_train).mean_depth(X)
        areas = {}
        for kind in ("speed", "shape", "both"):
            chosen = np.isin(test.kinds, ["nominal", kind])
            areas[kind] = roc_auc_score(test.kinds[chosen] == kind, depth[chosen])
        # With 20 anomalous and 60 nominal pedestrians the AUC of an uninformative criterion has an error of 0.075.
        assert min(areas[anomalous], areas["both"]) > 0.9
        assert 0.27 < areas[ordinary] < 0.73


@pytest.mark.slow
def test_the_papers_simulation_reaches_its_auc():
    areas = []
    for seed in range(20):
        data = make_hypercube(random_state=seed)
        depth = ParetoDepthDetector(data.criteria).fit(data.X_train).mean_depth(data.X_test)
        areas.append(roc_auc_score(data.is_anomaly, depth))
    # One run has a standard deviation of 0.02, so the mean of 20 lies within 0.014 in three of its errors.
    assert np.mean(areas) > 0.948 - 0.014
