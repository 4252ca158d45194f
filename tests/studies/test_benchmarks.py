import json
import re
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from paretodepth import front_numbers
from paretodepth._blocks import progress_to
from studies.__main__ import app
from studies.benchmarks import fitting, peers, sorting, workloads
from studies.benchmarks.sorting import time_sorting
from studies.benchmarks.workloads import WORKLOAD_KINDS, Workload
from tests import naive

FEW = [Workload("dyads", 2, 200), Workload("dyads", 2, 400), Workload("heavy ties", 3, 200)]
PEERS = {"right": front_numbers, "hasty": lambda points: np.ones(len(points), int)}


RIVAL = """
import sys
import numpy as np
given, answer, n, k = sys.argv[1:]
points = np.fromfile(given).reshape(int(n), int(k))
is_above = np.all(points[:, None] <= points, axis=2) & np.any(points[:, None] < points, axis=2)
ranks, before = np.ones(len(points), int), None
while before is None or np.any(before != ranks):
    ranks, before = 1 + np.max(np.where(is_above, ranks[:, None], 0), axis=0), ranks
(ranks - 1).astype(np.int32).tofile(answer)
"""


def timed(few, peer_seconds=60, peers=PEERS, **options):
    return time_sorting(few, peer_seconds, peers=peers, probe_sizes=(50,), enough_seconds=0.0, **options)


@pytest.fixture
def rival(tmp_path):
    """A command that sorts as a rival does; what it prints in the end is to be appended."""
    path = tmp_path / "rival.py"
    path.write_text(RIVAL)
    return f"{sys.executable} {path}"


@pytest.mark.parametrize("kind", WORKLOAD_KINDS)
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
    dyads = np.random.default_rng(0).random((60, 3))
    dyads = peers.PREPARED.get(peer, np.array)(dyads)
    assert_array_equal(peers.PEERS[peer](dyads), front_numbers(dyads))


def test_a_peer_of_other_fronts_is_named_and_never_the_best():
    results = timed(FEW)
    for result in results:
        assert result.differing == ["hasty"]
        assert result.best_peer == "right"
        assert result.speed_up > 0
    assert sorting.remarks(results) == ["hasty gives other fronts: dyads, K = 2; heavy ties, K = 3"]


def test_a_peer_that_would_take_too_long_is_left_out():
    def slow(points):
        time.sleep(0.02)
        return front_numbers(points)

    # From 50 to 500 dyads the time is foreseen to grow a hundredfold, to two seconds.
    (result,) = timed([Workload("dyads", 2, 500)], 1, {"slow": slow})
    assert result.left_out == {"slow": "over 1 s"}
    assert result.best_peer is None
    assert result.speed_up is None
    assert sorting.remarks([result]) == ["slow left out, over 1 s: 500 dyads, K = 2"]


def test_peers_are_timed_on_sets_smaller_than_those_before():
    large, small, smallest = timed([Workload("dyads", 2, n_dyads) for n_dyads in (400, 200, 30)])
    assert large.differing == small.differing == smallest.differing == ["hasty"]


@pytest.mark.slow
def test_a_rival_of_any_language_is_timed_and_compared(rival, tmp_path):
    # Less than it takes to start, but not to be foreseen from so few dyads.
    (result,) = timed(FEW[2:], 1e6, peers={}, rival=rival)
    assert list(result.peers) == ["rival"]
    assert result.differing == []
    (tmp_path / "rival.py").write_text(RIVAL + "print('took', 0.00125)")
    (result,) = timed(FEW[2:], peers={}, rival=rival)
    assert result.peers == {"rival": 0.00125}
    (tmp_path / "rival.py").write_text(RIVAL.replace("(ranks - 1)", "np.maximum(ranks, 2)"))
    (result,) = timed(FEW[2:], 1e6, peers={}, rival=rival)
    assert result.differing == ["rival"]


def test_a_peer_gets_its_points_as_it_wants_them():
    encoded = []

    def single(points):
        encoded.append(points)
        return front_numbers(points)

    (result,) = timed([Workload("heavy ties", 2, 200)], peers={"pyoperon": single})
    assert result.differing == []
    assert_array_equal(encoded[-1], np.unique(workloads.draw(Workload("heavy ties", 2, 200)), axis=0))
    assert result.speed_up == result.peers["pyoperon"] / result.same_points["pyoperon"]


def test_peers_are_left_out_when_time_is_up():
    (result,) = timed(FEW[:1], max_seconds=-1)
    assert result.left_out == {"right": "out of time", "hasty": "out of time"}
    assert result.one_core > 0


def test_tables_for_the_readme_show_the_best_peer():
    page = sorting.in_markdown(timed(FEW))
    assert "| criteria | 200 dyads | 400 dyads |" in page
    assert "| criteria | heavy ties |" in page
    assert "pyoperon receives its points sorted, distinct, single precision, and so do we next to it." in page
    assert "× (right)" in page
    assert "hasty" not in page


def test_sets_of_one_size_are_not_plotted(tmp_path):
    written = sorting.save_results(timed(FEW[2:]), {}, tmp_path)
    assert [path.name for path in written] == ["benchmark.json", "benchmark.md"]
    assert sorted(tmp_path.iterdir()) == sorted(written)


def test_who_watches_is_told_each_set():
    told = []
    with progress_to(lambda *state: told.append(state)):
        timed(FEW)
    assert told == [
        ("dyads, 2 criteria, 200 dyads", 0, 3),
        ("dyads, 2 criteria, 400 dyads", 1, 3),
        ("heavy ties, 3 criteria, 200 dyads", 2, 3),
    ]


def test_what_a_peer_needs_is_foreseen_from_what_it_needed():
    assert sorting.Known(1000, 1.0, 0).reason_to_leave_out(10_000, 60) == "over 60 s"
    assert sorting.Known(1000, 0.1, 2**27).reason_to_leave_out(10_000, 60) == "over 8 GB"
    assert sorting.Known(1000, 0.1, 0).reason_to_leave_out(10_000, 60) is None
    assert sorting.Known(1000, 0.009, 0).reason_to_leave_out(10**6, 60) is None


def test_the_time_of_a_peer_is_foreseen_to_grow_as_it_has_grown():
    known = sorting.Known(10_000, 1.0, 0).after(sorting.Known(1000, 0.1, 0))
    assert known.power == pytest.approx(1)
    assert known.reason_to_leave_out(500_000, 60) is None
    assert known.reason_to_leave_out(700_000, 60) == "over 60 s"
    assert sorting.Known(1000, 1.0, 0).after(None).power == 2
    assert sorting.Known(10_000, 1.0, 0).after(sorting.Known(1000, 0.001, 0)).power == 2, "too short to tell"
    assert sorting.Known(10_000, 0.0, 0).after(sorting.Known(1000, 0.1, 0)).power == 1, "a process that starts slowly"


def test_benchmark_prints_tables_and_writes_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(
        sorting, "time_sorting", lambda workloads, peer_seconds, rival: timed(FEW, peer_seconds, rival=rival)
    )
    monkeypatch.setattr(fitting, "depth_ratios", lambda workloads: {"K = 2": 0.5})
    monkeypatch.setattr(fitting, "fit_ratios", lambda: {"K = 2": 1.5})
    monkeypatch.setattr(fitting, "string_ratios", lambda: {"fit": 0.8})
    monkeypatch.setattr(fitting, "startup_seconds", lambda: {"cold cache": 9.0})
    result = CliRunner().invoke(app, ["benchmark", "--out", str(tmp_path / "new")], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    steps = re.findall(r"^· (.*) …$", result.output, flags=re.MULTILINE)
    assert steps == [
        "dyads, 2 criteria, 200 dyads",
        "dyads, 2 criteria, 400 dyads",
        "heavy ties, 3 criteria, 200 dyads",
        "depth queries, fits and fresh processes",
    ]
    assert "hasty gives other fronts" in result.output
    assert "cold cache: 9.00" in result.output
    data = json.loads((tmp_path / "new" / "benchmark.json").read_text())
    assert [row["n_dyads"] for row in data["sorting"]] == [200, 400, 200]
    assert "| criteria |" in (tmp_path / "new" / "benchmark.md").read_text()
    assert (tmp_path / "new" / "benchmark.png").stat().st_size > 1000


@pytest.mark.slow
def test_depth_fit_and_startup_are_measured(monkeypatch):
    few = [workload._replace(n_dyads=workload.n_dyads // 1000) for workload in workloads.depth_workloads(full=False)]
    ratios = fitting.depth_ratios(few, n_queries=100, enough_seconds=0.0)
    assert list(ratios)[::3] == ["K = 2, 1,000 dyads", "K = 5, 200 dyads"]
    assert all(ratio > 0 for ratio in ratios.values())
    assert set(fitting.fit_ratios(100, enough_seconds=0.0)) == {"K = 2", "K = 3", "K = 4"}
    assert all(ratio > 0 for ratio in fitting.string_ratios(100, enough_seconds=0.0).values())
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert all(duration > 0 for duration in fitting.startup_seconds(30).values())


def test_a_peer_that_is_left_with_one_point_is_left_out():
    (result,) = timed([Workload("all equal", 3, 100)], peers={"pyoperon": PEERS["right"]})
    assert result.left_out == {"pyoperon": "cannot sort one point"}
    assert not result.peers
