"""Compares answers with the peers, then times, all in one process."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from paretodepth.benchmarks.peers import Sorter, installed_peers
from paretodepth.benchmarks.workloads import Dyads, Workload, draw
from paretodepth.fronts import front_numbers

MAX_SECONDS = 60.0
MAX_BYTES = 8 * 2**30
PROBE_SIZE = 5_000
ENOUGH_SECONDS = 1.5


@dataclass
class SortingResult:
    """Seconds for one workload; `left_out` and `wrong` say which peers are missing, and why."""

    kind: str
    n_criteria: int
    n_dyads: int
    numpy_sort: float
    one_core: float
    all_cores: float
    extra_memory: float | None
    peers: dict[str, float]
    left_out: dict[str, str]
    wrong: list[str]

    @property
    def best_peer(self) -> str | None:
        """The fastest peer that is right."""
        right = [name for name in self.peers if name not in self.wrong]
        return min(right, key=self.peers.__getitem__, default=None)

    @property
    def speed_up(self) -> float | None:
        """How many times faster than the best peer we are, on one core."""
        return self.peers[self.best_peer] / self.one_core if self.best_peer else None


def seconds(function: Callable[[], object]) -> float:
    """Return the median time of repeated calls, at least one and at most five."""
    times: list[float] = []
    while not times or (len(times) < 5 and sum(times) < ENOUGH_SECONDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_bytes(function: Callable[[], object]) -> int | None:
    """Return by how much a call raised the memory in use at its peak; None where the system does not tell."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident("VmRSS")
        function()
        return _resident("VmHWM") - before
    except OSError:
        return None


def _resident(field: str) -> int:
    """Return a line of the process's memory status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")


def time_sorting(workloads: Iterable[Workload], report: Callable[[str], None]) -> list[SortingResult]:
    """Sort every workload with us and every installed peer; a peer too slow or too large is left out."""
    peers = installed_peers()
    probes = {(name, k): _probe(sorter, k) for name, sorter in peers.items() for k in range(2, 7)}
    return [_time_workload(workload, peers, probes, report) for workload in workloads]


def _probe(sorter: Sorter, n_criteria: int) -> tuple[float, float]:
    """Return a peer's seconds and bytes for few points, to foresee those for many."""
    points = draw(Workload("uniform", n_criteria, PROBE_SIZE))
    sorter(points[:100])
    start = time.perf_counter()
    n_bytes = peak_bytes(partial(sorter, points))
    return time.perf_counter() - start, n_bytes or 0


def _time_workload(
    workload: Workload,
    peers: dict[str, Sorter],
    probes: dict[tuple[str, int], tuple[float, float]],
    report: Callable[[str], None],
) -> SortingResult:
    """Compare answers, then time."""
    report(f"{workload.kind}, {workload.n_criteria} criteria, {workload.n_dyads:,} dyads")
    dyads = draw(workload)
    ours = front_numbers(dyads)
    extra = peak_bytes(partial(front_numbers, dyads))
    times: dict[str, float] = {}
    left_out: dict[str, str] = {}
    wrong = []
    for name, sorter in peers.items():
        reason = _reason_to_leave_out(*probes[name, workload.n_criteria], workload.n_dyads / PROBE_SIZE)
        if reason:
            left_out[name] = reason
            continue
        if not _same(sorter, dyads, ours):
            wrong.append(name)
        times[name] = seconds(partial(sorter, dyads))
    return SortingResult(
        *workload,
        numpy_sort=seconds(partial(np.sort, dyads[:, 0].copy())),
        one_core=seconds(partial(front_numbers, dyads)),
        all_cores=seconds(partial(front_numbers, dyads, n_jobs=-1)),
        extra_memory=None if extra is None else extra / dyads.nbytes,
        peers=times,
        left_out=left_out,
        wrong=wrong,
    )


def _reason_to_leave_out(probe_seconds: float, probe_bytes: float, factor: float) -> str | None:
    """Return why a peer cannot be run; time and memory of a slow one grow with the square."""
    if probe_seconds > 0.05 and probe_seconds * factor**2 > MAX_SECONDS:
        return "over a minute"
    if probe_bytes > 2**26 and probe_bytes * factor**2 > MAX_BYTES:
        return "over 8 GB"
    return None


def _same(sorter: Sorter, dyads: Dyads, numbers: np.ndarray) -> bool:
    """Tell whether a peer's front numbers are ours."""
    return bool(np.array_equal(sorter(dyads), numbers))


def remarks(results: list[SortingResult]) -> list[str]:
    """Return which peers gave wrong answers or were left out, and where."""
    where: dict[str, list[str]] = {}
    for row in results:
        for name in row.wrong:
            where.setdefault(f"{name} is wrong", []).append(f"{row.kind}, K = {row.n_criteria}")
        for name, reason in row.left_out.items():
            where.setdefault(f"{name} left out, {reason}", []).append(f"{row.n_dyads:,} dyads, K = {row.n_criteria}")
    return [f"{what}: " + "; ".join(dict.fromkeys(places)) for what, places in where.items()]


def save_results(results: list[SortingResult], tables: dict[str, dict[str, float]], out: Path) -> list[Path]:
    """Write the figures as JSON and a log-log plot to a folder; return both paths."""
    out.mkdir(parents=True, exist_ok=True)
    data, picture = out / "benchmark.json", out / "benchmark.png"
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    data.write_text(json.dumps({"machine": machine, "sorting": [asdict(r) for r in results], **tables}, indent=1))
    _plot(results).savefig(picture, dpi=110)
    return [data, picture]


def _plot(results: list[SortingResult]) -> Figure:
    """Return the time of the dyad workloads against their number, ours and the best peer's."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax = figure.subplots()
    chosen = [result for result in results if result.kind == "dyads"]
    for color, k in enumerate(sorted({result.n_criteria for result in chosen})):
        rows = sorted((r for r in chosen if r.n_criteria == k), key=lambda r: r.n_dyads)
        sizes = [row.n_dyads for row in rows]
        ax.loglog(sizes, [row.one_core for row in rows], "o-", color=f"C{color}", label=f"paretodepth, K = {k}")
        peer = [row.peers[row.best_peer] if row.best_peer else np.nan for row in rows]
        ax.loglog(sizes, peer, "x--", color=f"C{color}", label=f"best peer, K = {k}")
    sorts = sorted({(row.n_dyads, row.numpy_sort) for row in chosen if row.n_criteria == 2})
    ax.loglog(*zip(*sorts, strict=True), color="0.6", label="numpy.sort of one criterion")
    ax.set(xlabel="dyads", ylabel="seconds, one core", title="Non-dominated sorting of dyads under K criteria")
    ax.grid(which="both", color="0.92")
    ax.legend(fontsize=7, ncols=2)
    return figure
