"""Compares answers with the peers, then times, all in one process."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from paretodepth._blocks import step
from paretodepth.fronts.fronts import front_numbers
from studies.benchmarks.peers import INPUTS, PREPARED, Rival, Sorter, installed_peers
from studies.benchmarks.workloads import GROWING, Dyads, Workload, draw
from studies.measure import ENOUGH_SECONDS, peak_bytes, seconds
from studies.tables import Table

SHORT_SECONDS = 0.01
MAX_SECONDS = 15 * 60
"""For peers in all; what comes after them takes a few minutes."""
MAX_BYTES, SMALL_BYTES = 8 * 2**30, 2**24
PROBE_SIZES = (1_000, 5_000, 20_000)


@dataclass
class SortingResult:
    """Seconds for one workload, extra memory as a multiple of the dyads' own, and peers left out or of other answers.

    `same_points` are our own seconds for the points of peers that want them prepared.
    """

    kind: str
    n_criteria: int
    n_dyads: int
    numpy_sort: float
    one_core: float
    all_cores: float
    extra_memory: float
    peers: dict[str, float] = field(default_factory=dict)
    same_points: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)

    @property
    def best_peer(self) -> str | None:
        """The fastest peer, by our time for the same points, whose answer is ours."""
        agreeing = [name for name in self.peers if name not in self.differing]
        return min(agreeing, key=self._times_ours, default=None)

    @property
    def speed_up(self) -> float | None:
        """How many times faster than the best peer we are, on one core."""
        return self._times_ours(self.best_peer) if self.best_peer else None

    def _times_ours(self, peer: str) -> float:
        """Return a peer's time as a multiple of ours for the same points."""
        return self.peers[peer] / self.same_points.get(peer, self.one_core)


class Known(NamedTuple):
    """What a peer needed for a number of dyads, to predict what it needs for more."""

    n_dyads: int
    seconds: float
    n_bytes: int
    power: float = 2.0

    def after(self, fewer: Known | None) -> Known:
        """Return the same with the power of the number of dyads by which the time has grown since fewer dyads."""
        if fewer is None or fewer.seconds < SHORT_SECONDS or fewer.n_dyads >= self.n_dyads:
            return self
        # A rival that starts in more time than it sorts may have been found to take none.
        growth = max(1.0, self.seconds / fewer.seconds)
        power = math.log(growth) / math.log(self.n_dyads / fewer.n_dyads)
        return self._replace(power=min(2.0, max(1.0, power)))

    def reason_to_leave_out(self, n_dyads: int, max_seconds: float) -> str | None:
        """Return why the peer is not run on this many dyads; long times grow with their power or square."""
        growth = (n_dyads / self.n_dyads) ** 2
        if self.seconds > SHORT_SECONDS and self.seconds * (n_dyads / self.n_dyads) ** self.power > max_seconds:
            return f"over {max_seconds:g} s"
        if self.n_bytes > SMALL_BYTES and self.n_bytes * growth > MAX_BYTES:
            return "over 8 GB"
        return None


def time_sorting(
    workloads: Sequence[Workload],
    peer_seconds: float,
    *,
    rival: str | None = None,
    max_seconds: float = MAX_SECONDS,
    peers: Mapping[str, Sorter] | None = None,
    probe_sizes: Sequence[int] = PROBE_SIZES,
    enough_seconds: float = ENOUGH_SECONDS,
) -> list[SortingResult]:
    """Compare answers, then time every workload, with us and every peer foreseen to take at most `peer_seconds`.

    Parameters
    ----------
    workloads : sequence of Workload
    peer_seconds : float
    rival : str or None, default=None
        The command of a :class:`Rival`, one more peer.
    max_seconds : float
        After so long peers are left out.
    peers : mapping of str to Sorter or None, default=None
        None: those installed.
    probe_sizes : sequence of int
        Rising numbers of dyads that a peer is tried with before it is given a workload.
    enough_seconds : float
        Short calls are repeated until they have taken as long in all, to give their median.
    """
    everybody = dict(installed_peers() if peers is None else peers)
    if rival is not None:
        everybody["rival"] = Rival(rival)
    end = time.monotonic() + max_seconds
    contest = _Contest(everybody, peer_seconds, end, probe_sizes, enough_seconds)
    results = []
    for number, workload in enumerate(workloads):
        title = f"{workload.kind}, {workload.n_criteria} criteria, {workload.n_dyads:,} dyads"
        with step(title, number, len(workloads)):
            results.append(contest.result(workload))
    return results


@dataclass(frozen=True)
class _Contest:
    """Who is timed and how long, and what each peer needed so far, by its name, the kind of dyads and criteria."""

    peers: Mapping[str, Sorter]
    peer_seconds: float
    end: float
    probe_sizes: Sequence[int]
    enough_seconds: float
    known: dict[tuple[str, str, int], Known] = field(default_factory=dict)

    def result(self, workload: Workload) -> SortingResult:
        """Return the times of one workload."""
        dyads = draw(workload)
        numbers = front_numbers(dyads)
        result = SortingResult(
            *workload,
            numpy_sort=seconds(partial(np.sort, dyads[:, 0].copy()), enough=self.enough_seconds),
            one_core=seconds(partial(front_numbers, dyads), enough=self.enough_seconds),
            all_cores=seconds(partial(front_numbers, dyads, n_jobs=-1), enough=self.enough_seconds),
            extra_memory=(peak_bytes(partial(front_numbers, dyads)) or np.nan) / dyads.nbytes,
        )
        for name in self.peers:
            self._enter(name, workload, numbers, result)
        return result

    def _enter(self, name: str, workload: Workload, numbers: NDArray[np.intp], result: SortingResult) -> None:
        """Write into the result what a peer needs and whether its answer is ours, or why it is left out."""
        key = (name, workload.kind, workload.n_criteria)
        # Few dyads are tried before many, to be stopped by what they need and not by the machine.
        for n_dyads in (*(size for size in self.probe_sizes if size < workload.n_dyads), workload.n_dyads):
            known = self.known.get(key)
            # Foreseen for all dyads: to see a slow peer fail a little later would take the time of the fast ones.
            reason = known.reason_to_leave_out(workload.n_dyads, self.peer_seconds) if known else None
            reason = "out of time" if time.monotonic() > self.end else reason
            if reason:
                result.left_out[name] = reason
                return
            if known is None or n_dyads > known.n_dyads or n_dyads == workload.n_dyads:
                dyads = draw(workload._replace(n_dyads=n_dyads))
                dyads = PREPARED[name](dyads) if name in PREPARED else dyads
                if name in PREPARED and len(dyads) < 2:
                    # pyoperon ends the process, and with it the benchmark.
                    result.left_out[name] = "cannot sort one point"
                    return
                measured, answer = self._measured(self.peers[name], dyads, n_dyads)
                self.known[key] = measured.after(known)
        if name in PREPARED:
            numbers = front_numbers(dyads)
            result.same_points[name] = seconds(partial(front_numbers, dyads), enough=self.enough_seconds)
        result.peers[name] = self.known[key].seconds
        if not np.array_equal(answer, numbers):
            result.differing.append(name)

    def _measured(self, sorter: Sorter, dyads: Dyads, n_dyads: int) -> tuple[Known, NDArray[np.intp]]:
        """Return what a peer needs for this many dyads and its answer; one call if that takes long enough."""
        answers: list[NDArray[np.intp]] = []
        n_bytes: list[int | None] = []
        first = seconds(lambda: n_bytes.append(peak_bytes(lambda: answers.append(sorter(dyads)))))
        median = first if first > self.enough_seconds else seconds(partial(sorter, dyads), enough=self.enough_seconds)
        if isinstance(sorter, Rival):
            median = sorter.seconds
        return Known(n_dyads, median, n_bytes[0] or 0), answers[0]


def remarks(results: list[SortingResult]) -> list[str]:
    """Return which peers gave other answers than we or were left out, and where."""
    where: dict[str, list[str]] = {}
    for row in results:
        for name in row.differing:
            where.setdefault(f"{name} gives other fronts", []).append(f"{row.kind}, K = {row.n_criteria}")
        for name, reason in row.left_out.items():
            where.setdefault(f"{name} left out, {reason}", []).append(f"{row.n_dyads:,} dyads, K = {row.n_criteria}")
    return [f"{what}: " + "; ".join(dict.fromkeys(places)) for what, places in where.items()]


def save_results(results: list[SortingResult], tables: dict[str, dict[str, float]], out: Path) -> list[Path]:
    """Write the figures as JSON, the tables of docs/sorting.md and a log-log plot to a folder; return the paths.

    Without sets of a growing number of dyads there is nothing to plot.
    """
    out.mkdir(parents=True, exist_ok=True)
    data, page, picture = (out / f"benchmark.{ending}" for ending in ("json", "md", "png"))
    page.write_text(in_markdown(results), encoding="utf-8")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    data.write_text(json.dumps({"machine": machine, "sorting": [asdict(r) for r in results], **tables}, indent=1))
    growing = [result for result in results if result.kind == GROWING]
    if not growing:
        return [data, page]
    _plot(growing).savefig(picture, dpi=110)
    return [data, page, picture]


def in_markdown(results: list[SortingResult]) -> str:
    """Return the tables of docs/sorting.md: uniform dyads by number, and the other kinds, next to the best peer."""
    sizes = sorted({row.n_dyads for row in results if row.kind == GROWING})
    kinds = list(dict.fromkeys(row.kind for row in results if row.kind != GROWING))
    cells = {(row.kind, row.n_criteria, row.n_dyads): _cell(row) for row in results}
    criteria = sorted({row.n_criteria for row in results})
    n_others = min((row.n_dyads for row in results if row.kind != GROWING), default=0)
    caption = "Seconds on one core, and how many times faster than the best peer that finds the same fronts."
    given = "; ".join(f"{name} receives its points {how}, and so do we next to it" for name, how in INPUTS.items())
    tables = [
        Table(
            "growing",
            caption,
            ["criteria", *(f"{size:,} dyads" for size in sizes)],
            [[str(k), *(cells.get((GROWING, k, size), "–") for size in sizes)] for k in criteria],
        ),
        Table(
            "kinds",
            f"{n_others:,} dyads of other kinds. {given}.",
            ["criteria", *kinds],
            [[str(k), *(cells.get((kind, k, n_others), "–") for kind in kinds)] for k in criteria],
        ),
    ]
    return "\n".join(table.to_markdown() for table in tables)


def _cell(row: SortingResult) -> str:
    """Return a workload's time and how it compares with the best peer's."""
    return f"{row.one_core:.3g} s" + (f", {row.speed_up:.1f} × ({row.best_peer})" if row.speed_up else "")


def _plot(results: list[SortingResult]) -> Figure:
    """Return the time against the number of dyads, ours and the best peer's."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    ax = figure.subplots()
    for color, k in enumerate(sorted({result.n_criteria for result in results})):
        rows = sorted((r for r in results if r.n_criteria == k), key=lambda r: r.n_dyads)
        sizes = [row.n_dyads for row in rows]
        ax.loglog(sizes, [row.one_core for row in rows], "o-", color=f"C{color}", label=f"paretodepth, K = {k}")
        peer = [row.peers[row.best_peer] if row.best_peer else np.nan for row in rows]
        ax.loglog(sizes, peer, "x--", color=f"C{color}", label=f"best peer, K = {k}")
    sorts = sorted({(row.n_dyads, row.numpy_sort) for row in results if row.n_criteria == 2})
    ax.loglog(*zip(*sorts, strict=True), color="0.6", label="numpy.sort of one criterion")
    ax.set(xlabel="dyads", ylabel="seconds, one core", title="Non-dominated sorting of dyads under K criteria")
    ax.grid(which="both", color="0.92")
    figure.legend(fontsize=8, loc="outside right center")
    return figure
