"""The command `watch`: a stream from standard input, a line of JSON for every sample."""

import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_outputs
from paretodepth.cli.terminal import app, console, print_note, printable
from paretodepth.scoring.methods import MethodName

N_RECENT = 1000
"""Number of latest samples that the rate and the latency shown cover."""
N_SHOWN = 10
"""Anomalies that the view shows."""
SECONDS_BETWEEN = 0.25
"""Between two pictures of the view."""


@app.command()
def watch(
    criteria: options.CriteriaFile = None,
    window: Annotated[int | None, typer.Option(help="Number of records to compare with. \\[default: 1000]")] = None,
    refresh: Annotated[
        int | None, typer.Option(help="Refit after this many records. \\[default: half of the window]")
    ] = None,
    method: Annotated[MethodName | None, typer.Option(help="Scoring method. \\[default: blend]")] = None,
    alpha: Annotated[float | None, typer.Option(help="False-alarm rate. \\[default: 0.01]")] = None,
    learn: Annotated[
        Literal["nominal", "all"] | None,
        typer.Option(help="nominal: learn only normal records (skip at most --max-unlearnt); all: learn everything."),
    ] = None,
    max_unlearnt: Annotated[
        float | None, typer.Option(help="Share of records that may be skipped. \\[default: alpha]")
    ] = None,
    state: Annotated[str | None, typer.Option(help="File for the window; if it exists, the stream resumes.")] = None,
    save_every: Annotated[int, typer.Option(min=1, help="Write --state after this many records.")] = 100,
    replay: Annotated[
        bool, typer.Option("--replay", help="The input starts again: skip what --state has read.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="Model file: score with it and learn nothing.")] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that identifies records.")] = None,
    on_error: Annotated[
        Literal["skip", "stop"], typer.Option(help="How to treat a record that cannot be read.")
    ] = "skip",
    quiet: options.Quiet = False,
) -> None:
    """Score records as they arrive, JSON lines or CSV on standard input, and learn from them.

    One JSON line a record goes to standard output at once; on a terminal a view of rate, latency and anomalies instead.
    With --state the window is written every --save-every records, at the end and on SIGTERM. After a kill the stream
    resumes from there: if you replay the input, lines since the last save are emitted again with the same numbers.

    Example: tail -f sensors.jsonl | paretodepth watch --criteria criteria.toml --state sensors.state

    Example: paretodepth watch --replay --state run.state < measured.csv > scores.jsonl
    """
    from paretodepth.reports.detect import criteria_of
    from paretodepth.streaming.records import SignalSafeLines
    from paretodepth.streaming.watch import watch as results_of

    check_outputs([] if state is None else [state], [], criteria)
    lines = SignalSafeLines()
    results = results_of(
        lines,
        None if criteria is None else criteria_of(criteria, "fail"),
        window=window,
        refresh=refresh,
        method=method,
        alpha=alpha,
        learn=learn,
        max_unlearnt=max_unlearnt,
        state=state,
        save_every=save_every,
        replay=replay,
        model=model,
        id=id_column,
        on_error=on_error,
        note=str if quiet else print_note,
        warn=print_note,
    )
    # While the state is written too, signals wait, so that it holds all that was shown.
    with lines, _view() if sys.stdout.isatty() else _json_lines() as show:
        for result in results:
            show(result, time.perf_counter() - lines.came_at)
            if "error" in result:
                print_note(f"Record {result['record']:,} was skipped: {result['error']}")
    if lines.signal:
        raise typer.Exit(128 + lines.signal)


@contextmanager
def _json_lines() -> Iterator[Any]:
    """Give a function that writes a result as a line, at once."""

    def show(result: dict[str, Any], seconds: float) -> None:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()

    yield show


@contextmanager
def _view() -> Iterator[Any]:
    """Give a function that notes a result in a view of rate, latency and recent anomalies."""
    encoding = _View()
    with Live(console=console, get_renderable=encoding.picture, refresh_per_second=1 / SECONDS_BETWEEN):
        yield encoding.note


class _View:
    """What a terminal shows of a stream."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._n_samples = self._n_anomalies = self._n_errors = self._n_drifts = 0
        self._seconds: deque[float] = deque(maxlen=N_RECENT)
        self._moments: deque[float] = deque(maxlen=N_RECENT)
        self._anomalies: deque[dict[str, Any]] = deque(maxlen=N_SHOWN)
        self._last_drift = 0

    def note(self, result: dict[str, Any], seconds: float) -> None:
        """Note a result, and how long it took."""
        self._seconds.append(seconds)
        self._moments.append(time.perf_counter())
        if "error" in result:
            self._n_errors += 1
            return
        self._n_samples += 1
        self._n_anomalies += result["call"] == "anomaly"
        if result["drift"]:
            self._n_drifts += 1
            self._last_drift = result["record"]
        if result["call"] == "anomaly":
            self._anomalies.appendleft(result)

    def picture(self) -> Group:
        """Return the view as it is now."""
        ordered = sorted(self._seconds) or [0.0]
        middle, late = ordered[len(ordered) // 2], ordered[int(0.99 * (len(ordered) - 1))]
        since = time.perf_counter() - (self._moments[0] if self._moments else self._start)
        rate = len(self._moments) / since if since > 0 else 0.0
        figures = (
            f"{self._n_samples:,} samples, {self._n_anomalies:,} anomalies, {self._n_errors:,} left out. "
            f"{rate:,.0f} a second; {1000 * middle:.1f} ms each, {1000 * late:.1f} ms at most for 99 %."
        )
        drift = (
            f"Drift {self._n_drifts:,} times, last at record {self._last_drift:,}." if self._n_drifts else "No drift."
        )
        table = Table(box=SIMPLE_HEAD)
        for heading in ("record", "score", "p", "because"):
            table.add_column(heading, justify="left" if heading == "because" else "right")
        for anomaly in self._anomalies:
            name = str(anomaly.get("id") or f"{anomaly['record']:,}")
            numbers = (f"{anomaly['score']:.4g}", f"{anomaly['p']:.2g}")
            table.add_row(Text(printable(name, 30)), *numbers, Text(printable(anomaly["because"] or "", 200)))
        return Group(Text(figures), Text(drift if self._n_drifts else "No drift.", style="yellow"), table)
