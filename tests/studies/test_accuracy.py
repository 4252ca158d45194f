"""Small versions of the experiments on accuracy; the bounds are wide enough for their few runs."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

from paretodepth import Criterion
from studies.accuracy import areas, regimes, scores, validity
from studies.pages import ACCURACY
from tests.studies.small import SMALL, assert_section_is_written, cells


@pytest.mark.slow
def test_the_blend_is_near_the_better_of_depth_and_criteria_in_every_regime(runs):
    tables = areas.tables(runs("accuracy"), SMALL["accuracy"][0])
    found = {
        row["regime"]: {name: float(row[name].split()[0]) for name in ("PDA", "criteria", "blend")}
        for row in cells(tables, "areas")
    }
    assert found["cube, K = 4"]["criteria"] > found["cube, K = 4"]["PDA"] + 0.02
    assert found["joint band, K = 2"]["PDA"] > found["joint band, K = 2"]["criteria"] + 0.2
    for area in found.values():
        assert area["blend"] > max(area["PDA"], area["criteria"]) - 0.03
    summary = {row["method"]: row for row in cells(tables, "summary")}
    assert summary["k-NN sum, best weight"]["among label-free"] == "needs labels"
    assert float(summary["blend"]["among label-free"]) <= float(summary["PDA"]["among label-free"])
    assert {"LOF", "IsolationForest"} <= summary.keys()
    assert not [name for name in summary if name.startswith("PyOD")]


def test_anomalies_lie_as_far_out_as_the_density_of_their_cluster_makes_odd():
    task = regimes.regimes()["clusters, K = 3"](0)
    centers = regimes.CLUSTER_DISTANCE * np.eye(3)
    radii = np.linalg.norm(task.X_test[:, None] - centers, axis=2) / regimes.SPREADS
    odd, nominal = radii[task.is_anomaly].min(axis=1), radii[~task.is_anomaly].min(axis=1)
    assert len(odd) == 40
    assert np.all((odd > regimes.NEAREST_RADIUS - 1e-9) & (odd < regimes.FARTHEST_RADIUS + 1e-9))
    assert np.mean(nominal > regimes.NEAREST_RADIUS) < 0.15


def test_a_broken_dependence_keeps_the_marginals():
    draws = [regimes.regimes()["broken dependence, K = 4"](seed) for seed in range(10)]
    odd = np.concatenate([task.X_test[task.is_anomaly] for task in draws])
    nominal = np.concatenate([task.X_test[~task.is_anomaly] for task in draws])
    # 400 anomalies: a standard deviation of 1.02 is told with an error of 0.036.
    np.testing.assert_allclose(odd.std(axis=0), nominal.std(axis=0), atol=0.15)

    def gap(X):
        return np.abs(X[:, 2:] - np.column_stack([X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]]) / np.sqrt(2)).max(axis=1)

    assert np.median(gap(odd)) > 2 * np.median(gap(nominal))


def test_methods_of_pyod_are_rivals_where_it_is_installed(monkeypatch):
    class Rival:
        def __init__(self, random_state=None):
            self.random_state = random_state

        def get_params(self):
            return {"random_state": self.random_state}

        def set_params(self, random_state):
            self.random_state = random_state

        def fit(self, X):
            return self

        def decision_function(self, X):
            return X[:, 0] + self.random_state

    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "pyod", raising=False)
    assert scores.installed_pyod() == []
    package = ModuleType("pyod")
    package.__spec__ = ModuleSpec("pyod", None)
    monkeypatch.setitem(sys.modules, "pyod", package)
    assert scores.installed_pyod() == ["KNN", "ECOD", "GMM", "INNE", "OCSVM"]
    for name in scores.PYOD:
        module = ModuleType(name)
        setattr(module, name, Rival)
        monkeypatch.setitem(sys.modules, f"pyod.models.{name.lower()}", module)
    X = np.random.default_rng(0).random((40, 2))
    task = regimes.Task.of(X[:30], X[30:], np.arange(10) > 7, [Criterion("x", 0), Criterion("y", 1)])
    found = scores.label_free_scores(task, 3, list(scores.PYOD))
    assert [name for name in found if name.startswith("PyOD")] == [f"PyOD {name}" for name in scores.PYOD]
    np.testing.assert_array_equal(found["PyOD GMM"], task.columns_test[:, 0] + 3)


@pytest.mark.slow
def test_false_alarms_and_discoveries_hold_their_rates(runs):
    tables = validity.tables(runs("validity"), SMALL["validity"][0])
    rows = cells(tables, "alarms")
    assert [row["method, calibration"] for row in rows] == [
        f"{method}, {calibration}" for calibration in ("leave-one-out", "split") for method in validity.METHODS
    ]
    for row in rows:
        mean, error = (float(part) for part in row["alpha = 0.1"].split(" ± "))
        assert 0.05 < mean < 0.1 + 3 * error
    for row in cells(tables, "discoveries"):
        mean, error = (float(part) for part in row["fdr = 0.1"].split(" ± "))
        assert mean < 0.1 + 3 * error


def test_regimes_of_real_data_are_there_when_their_files_are(tmp_path, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(tmp_path))
    simulated = list(regimes.regimes())
    assert simulated == [
        "cube, K = 4",
        "cube, K = 2",
        "joint band, K = 2",
        "joint band, K = 3",
        "categories, K = 6",
        "pedestrians, K = 2",
        "clusters, K = 3",
        "broken dependence, K = 4",
    ]
    rng = np.random.default_rng(0)
    (tmp_path / "mfeat").mkdir()
    digits = np.repeat(np.arange(10), 20)
    for encoding in regimes.VIEWS["6 views"]:
        table = np.column_stack([rng.random((200, 4)) + digits[:, None], digits])
        np.savetxt(tmp_path / "mfeat" / f"mfeat-{encoding}.csv", table, delimiter=",", header="0,1,2,3,0", comments="")
    (tmp_path / "adbench").mkdir()
    base = rng.random((90, 4))
    X = np.column_stack([base, base + 0.01 * rng.random((90, 4)), np.ones(90)])
    np.savez(tmp_path / "adbench" / "7_small.npz", X=X, y=np.arange(90) >= 80)
    draws = regimes.regimes()
    assert list(draws)[len(simulated) : -1] == [
        f"digits, {encodings}, {n}"
        for n in ("one digit", "three digits")
        for encodings in ("2 views", "3 views", "6 views")
    ]
    task = draws["digits, 2 views, three digits"](0)
    assert task.X_train.shape == (30, 8)
    assert [criterion.name for criterion in task.criteria] == ["mor", "fou"]
    assert task.is_anomaly.sum() == 50
    task = draws["small"](3)
    assert task.X_train.shape == (40, 9)
    assert task.columns_train.shape == (40, 8)
    assert sorted(criterion.columns for criterion in task.criteria) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert task.is_anomaly.tolist() == [False] * 40 + [True] * 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCURACY.experiments)
def test_an_experiment_writes_its_tables_pictures_and_section(name, runs, tmp_path):
    assert_section_is_written(ACCURACY, name, runs(name), tmp_path)
