"""The benchmark of streams, small."""

import numpy as np
import pytest
from typer.testing import CliRunner

from studies.__main__ import app
from studies.benchmarks import streams


def test_answers_are_those_of_the_batch_detector():
    assert streams.wrong_methods(window=120, n_criteria=(2,)) == []


def test_a_wrong_answer_would_be_named(monkeypatch):
    monkeypatch.setattr(streams.StreamingDetector, "score_samples", lambda self, X: np.zeros(len(X)))
    assert streams.wrong_methods(window=120, n_criteria=(2,)) == ["depth, K = 2", "blend, K = 2"]


def test_times_are_told_of_ours_and_of_river():
    times = streams.stream_times((2,), window=120, n_timed=30)
    names = [row.name for row in times]
    assert names[:2] == ["paretodepth, depth", "paretodepth, blend"]
    assert {"River LocalOutlierFactor", "River HalfSpaceTrees"} <= set(names)
    assert all(0 < row.mean <= row.largest and row.p99 <= row.largest for row in times)


@pytest.fixture
def folder(tmp_path):
    """A labelled set with anomalies far off."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.arange(400) % 40 == 0
    X[y] += 8
    np.savez(tmp_path / "7_far.npz", X=X, y=y.astype(int))
    return tmp_path


def test_areas_are_told_of_sets_that_are_there(folder):
    areas = streams.stream_areas(folder, window=120, names=["7_far", "8_nowhere"])
    assert list(areas) == ["far"]
    assert areas["far"]["paretodepth, blend"] > 0.99
    assert streams.stream_areas(folder, names=["8_nowhere"]) == {}
    times = [streams.StreamTimes("ours", 2, 0.5, 1.25, 200.0)]
    tables = streams.stream_tables(times, areas)
    assert tables[0].rows == [["ours", "2", "0.500", "1.25", "200"]]
    assert tables[1].columns == ["detector", "far"]
    assert len(streams.stream_tables(times, {})) == 1


def test_the_command_writes_the_tables(monkeypatch, tmp_path):
    monkeypatch.setattr(streams, "wrong_methods", lambda: ["depth, K = 2"])
    monkeypatch.setattr(streams, "stream_times", lambda: [streams.StreamTimes("ours", 2, 0.5, 1.25, 200.0)])
    monkeypatch.setattr(streams, "stream_areas", lambda: {"far": {"ours": 0.75}})
    result = CliRunner().invoke(app, ["benchmark", "--kind", "stream", "--out", str(tmp_path / "new")])
    assert result.exit_code == 0
    assert "Unlike the batch detector: depth, K = 2." in result.stdout
    assert "| ours | 2 | 0.500 | 1.25 | 200 |" in (tmp_path / "new" / "streams.md").read_text()
