"""The command `detect`: fit on one file, score another, say who is called and why."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_outputs, check_single_stream, read_learning
from paretodepth.cli.terminal import app, console, notes, print_outcome, print_written, printable, progress

if TYPE_CHECKING:
    from paretodepth.reports.detection import Detection

N_WORST = 10
"""Samples that the summary shows."""


@app.command(name="detect")
@options.reads_files
def detect_command(
    train: options.Train,
    test: Annotated[str | None, typer.Argument(help="Samples to score; left out: TRAIN itself.")] = None,
    criteria: options.CriteriaFile = None,
    columns: options.ColumnNames = None,
    id_column: options.IdColumn = None,
    alpha: options.Alpha = None,
    fdr: Annotated[float | None, typer.Option(help="Share of nominal samples among those called, instead.")] = None,
    method: options.Method = "union",
    out: Annotated[str | None, typer.Option(help="File for the scores; - for stdout.")] = None,
    report: Annotated[str | None, typer.Option(help="File for the report, one HTML page; - for stdout.")] = None,
    format: options.Format = None,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Learn from nominal samples, score others, and say which are anomalies and why.

    Without --criteria or --columns, the table suggests criteria; `paretodepth suggest` shows them.

    Without TEST, each sample of TRAIN is compared with all others. Rows are counted from 0.

    Example: paretodepth detect nominal.csv new.csv --criteria criteria.toml --out scores.csv --report report.html
    """
    from paretodepth.files.formats import check_output_format

    inputs = [name for name in (train, test) if name is not None]
    outputs = [place for place in (out, report, "-" if as_json else None) if place is not None]
    check_single_stream(inputs)
    check_outputs(outputs, inputs, criteria)
    check_output_format(out)
    with progress("reading"):
        learning = read_learning(
            train, format=format, criteria=criteria, columns=columns, id_column=id_column, method=method, alpha=alpha
        )
        found = _detected(learning, test, format=format, id_column=id_column, fdr=fdr, dask=dask)
    _write(found, out, report, f"Anomalies in {_spoken(test or train)}", id_column)
    if as_json:
        print_json(found)
    elif not quiet:
        screen = notes if "-" in outputs else console
        table = _worst_table(found, id_column)
        print_outcome(screen, remark=learning.remark, advice=found.model.advice, outcome=table)
        print_written(screen, outputs)
    if fail_on_anomaly and found.n_anomalies:
        raise typer.Exit(3)


def _detected(
    learning: options.Learning,
    test: str | None,
    *,
    format: options.Format,
    id_column: str | None,
    fdr: float | None,
    dask: str | None,
) -> "Detection":
    """Return what is found in a file of samples, or in the training samples themselves."""
    from paretodepth.criteria.choice import read_columns
    from paretodepth.distributed import connected
    from paretodepth.files.tables import read_table
    from paretodepth.reports.detection import detect
    from paretodepth.reports.results import check_id_column

    training, detector, _ = learning
    schema = training.select(read_columns(detector.criteria, training.column_names)).schema
    samples = None if test is None else read_table(test, format=format, schema=schema, keep_others=True)
    check_id_column(id_column, (training if samples is None else samples).column_names)
    with connected(dask) as client:
        return detect(detector, training, samples, fdr=fdr, client=client)


def _write(found: "Detection", out: str | None, report: str | None, title: str, id_column: str | None) -> None:
    """Write the scores and the report to the files that are asked for."""
    from paretodepth.files.tables import write_table
    from paretodepth.reports.results import results_table

    if out is not None:
        with progress("explaining"):
            table = results_table(found, id_column=id_column)
        write_table(table, out)
    if report is not None:
        from paretodepth.reports.page import write_report

        with progress("explaining"):
            write_report(found, report, title=title)


def _spoken(source: str) -> str:
    """Return how a file is named in a title."""
    return "standard input" if source == "-" else Path(source).name


def print_json(found: "Detection") -> None:
    """Print the figures and the called samples as one JSON object."""
    from paretodepth.reports.results import summary

    typer.echo(json.dumps(summary(found), ensure_ascii=False, indent=2))


def _worst_table(found: "Detection", id_column: str | None) -> Table:
    """Return the strangest samples with their reasons."""
    from paretodepth.reports.results import headline

    worst = found.strangest[:N_WORST]
    names = found.samples.column(id_column).take(worst).to_pylist() if id_column else [None] * len(worst)
    table = Table(title=Text(headline(found), style="bold"), title_justify="left", box=SIMPLE_HEAD)
    for heading in ("row", *([printable(id_column, 30)] if id_column else []), "score", "p-value", "because"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("why", ratio=1)
    for row, name, reason in zip(worst.tolist(), names, found.reasons(N_WORST), strict=True):
        cells = [str(row), *([printable(str(name), 30)] if id_column else [])]
        cells += [f"{found.scores[row]:.1f}", f"{found.p_values[row]:.2g}"]
        called = bool(found.is_anomaly[row])
        table.add_row(
            *map(Text, cells),
            Text(printable(reason.because or "–", 30), style="bold red" if called else ""),
            Text(printable(reason.sentence, 400)),
            style="" if called else "dim",
        )
    return table
