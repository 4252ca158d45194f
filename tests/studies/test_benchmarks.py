import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from paretodepth import front_numbers
from paretodepth.cli import app
from paretodepth.studies.benchmarks import fitting, peers, sorting, workloads
from paretodepth.studies.benchmarks.workloads import KINDS, Workload
from tests import naive


@pytest.fixture
def few_workloads(monkeypatch):
    monkeypatch.setattr(sorting, "PROBE_SIZES", (50,))
    monkeypatch.setattr(sorting, "ENOUGH_SECONDS", 0.0)
    chosen = [Workload("dyads", 2, 200), Workload("dyads", 2, 400), Workload("heavy ties", 3, 200)]
    monkeypatch.setattr(workloads, "sorting_workloads", lambda *, full, kind: chosen)
    fake = {"right": front_numbers, "hasty": lambda points: np.ones(len(points), int)}
    monkeypatch.setattr(sorting, "installed_peers", lambda: fake)
    return chosen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_criteria", [2, 5])
def test_workloads_are_sorted_right(kind, n_criteria):
    dyads = workloads.draw(Workload(kind, n_criteria, 60))
    assert dyads.shape == (60, n_criteria)
    assert_array_equal(front_numbers(dyads), naive.front_numbers(dyads))


def test_single_front_and_chain_are_what_they_say():
    assert front_numbers(workloads.draw(Workload("single front", 3, 300))).max() == 1
    assert front_numbers(workloads.draw(Workload("single chain", 3, 300))).max() == 300


def test_the_full_benchmark_holds_the_default_one():
    default, full = (workloads.sorting_workloads(full=full, kind=None) for full in (False, True))
    assert set(default) < set(full)
    assert {w.kind for w in workloads.sorting_workloads(full=False, kind="dyads")} == {"dyads"}
    assert Workload("dyads", 2, 10_000_000) in full


@pytest.mark.parametrize("peer", peers.installed_peers())
def test_installed_peers_agree_on_distinct_dyads(peer):
    # Whole numbers, because one peer rounds to single precision.
    dyads = np.argsort(np.random.default_rng(0).random((60, 3)), axis=0).astype(float)
    assert_array_equal(peers.PEERS[peer](dyads), front_numbers(dyads))


def test_a_wrong_peer_is_named_and_never_the_best(few_workloads):
    results = sorting.time_sorting(few_workloads, 60, lambda _: None)
    for result in results:
        assert result.wrong == ["hasty"]
        assert result.best_peer == "right"
        assert result.speed_up > 0
    assert sorting.remarks(results) == ["hasty is wrong: dyads, K = 2; heavy ties, K = 3"]


def test_a_peer_that_would_take_too_long_is_left_out(few_workloads, monkeypatch):
    needs = {50: sorting.Known(50, 1.0, 0)}
    monkeypatch.setattr(sorting, "_measure", lambda sorter, dyads: (needs[len(dyads)], None))
    results = sorting.time_sorting([Workload("dyads", 2, 500)], 60, lambda _: None)
    assert results[0].left_out == {"right": "over 60 s", "hasty": "over 60 s"}
    assert results[0].best_peer is None
    assert results[0].speed_up is None
    assert "right left out, over 60 s: 500 dyads, K = 2" in sorting.remarks(results)


def test_what_a_peer_needs_is_foreseen_from_what_it_needed():
    assert sorting.Known(1000, 1.0, 0).reason_to_leave_out(10_000, 60) == "over 60 s"
    assert sorting.Known(1000, 0.1, 2**27).reason_to_leave_out(10_000, 60) == "over 8 GB"
    assert sorting.Known(1000, 0.1, 0).reason_to_leave_out(10_000, 60) is None
    assert sorting.Known(1000, 0.009, 0).reason_to_leave_out(10**6, 60) is None


def test_benchmark_prints_tables_and_writes_figures(few_workloads, monkeypatch, tmp_path):
    monkeypatch.setattr(fitting, "depth_ratios", lambda *, full: {"K = 2": 0.5})
    monkeypatch.setattr(fitting, "fit_ratios", lambda: {"K = 2": 1.5})
    monkeypatch.setattr(fitting, "string_ratios", lambda: {"fit": 0.8})
    monkeypatch.setattr(fitting, "startup_seconds", lambda: {"cold cache": 9.0})
    result = CliRunner().invoke(app, ["benchmark", "--out", str(tmp_path / "new")], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "hasty is wrong" in result.output
    assert "cold cache: 9.00" in result.output
    data = json.loads((tmp_path / "new" / "benchmark.json").read_text())
    assert [row["n_dyads"] for row in data["sorting"]] == [200, 400, 200]
    assert (tmp_path / "new" / "benchmark.png").stat().st_size > 1000


@pytest.mark.slow
def test_depth_fit_and_startup_are_measured(monkeypatch):
    monkeypatch.setattr(sorting, "ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr(fitting, "draw", lambda w: workloads.draw(w._replace(n_dyads=w.n_dyads // 1000)))
    assert all(ratio > 0 for ratio in fitting.depth_ratios(full=False).values())
    assert set(fitting.fit_ratios()) == {"K = 2", "K = 3", "K = 4"}
    assert all(ratio > 0 for ratio in fitting.string_ratios(100).values())
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert all(seconds > 0 for seconds in fitting.startup_seconds(30).values())
