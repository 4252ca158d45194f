"""The command `detect`: fit on one file, score another, say who is called and why."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli.options import (
    Alpha,
    AsJson,
    ColumnNames,
    CriteriaFile,
    Dask,
    FailOnAnomaly,
    Format,
    IdColumn,
    Quiet,
    Score,
    Train,
    column_list,
    criteria_of,
)
from paretodepth.cli.terminal import app, console, notes, printable, progress

if TYPE_CHECKING:
    from paretodepth.reports.detection import Detection

N_WORST = 10
"""Samples that the summary shows."""


@app.command(name="detect")
def detect_command(
    train: Train,
    test: Annotated[str | None, typer.Argument(help="Samples to score; left out: TRAIN itself.")] = None,
    criteria: CriteriaFile = None,
    columns: ColumnNames = None,
    id_column: IdColumn = None,
    alpha: Alpha = None,
    fdr: Annotated[float | None, typer.Option(help="Share of nominal samples among those called, instead.")] = None,
    score: Score = "union",
    out: Annotated[str | None, typer.Option(help="File for the scores; - for stdout.")] = None,
    report: Annotated[Path | None, typer.Option(help="File for the report, one HTML page.")] = None,
    format: Format = None,
    dask: Dask = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    fail_on_anomaly: FailOnAnomaly = False,
) -> None:
    """Learn from nominal samples, score others, and say which are anomalies and why.

    Without --criteria or --columns, each numeric column is a criterion.

    Without TEST, each sample of TRAIN is compared with all others. Rows are counted from 0.

    Example: paretodepth detect nominal.csv new.csv --criteria criteria.toml --out scores.csv --report report.html
    """
    from paretodepth.cli.options import check_outputs, check_single_stream
    from paretodepth.criteria.suggestion import chosen_criteria
    from paretodepth.distributed import connected
    from paretodepth.files.formats import check_output_format
    from paretodepth.files.tables import read_table, write_table
    from paretodepth.reports.detection import detect
    from paretodepth.reports.results import check_id_column, results_table

    inputs = [name for name in (train, test) if name is not None]
    check_single_stream(inputs)
    outputs = [str(place) for place in (out, report, "-" if as_json else None) if place is not None]
    check_outputs(outputs, [*inputs, *([str(criteria)] if criteria else [])])
    check_output_format(out)
    with progress("reading and fitting") as advance:
        training = read_table(train, format=format)
        choice = chosen_criteria(
            training,
            criteria=criteria_of(criteria),
            columns=column_list(columns),
            id_column=id_column,
        )
        schema = training.select(choice.columns).schema
        samples = None if test is None else read_table(test, format=format, schema=schema, keep_others=True)
        check_id_column(id_column, (training if samples is None else samples).column_names)
        with connected(dask) as client:
            found = detect(
                training, samples, choice, method=score, alpha=alpha, fdr=fdr, client=client, progress=advance
            )
    if out is not None:
        write_table(results_table(found, id_column=id_column), out)
    if report is not None:
        from paretodepth.reports.page import write_report

        with progress("explaining") as advance:
            write_report(found, report, title=f"Anomalies in {_spoken(test or train)}", progress=advance)
    written = [str(place) for place in (out, report) if place is not None and str(place) != "-"]
    if as_json:
        print_json(found)
    elif not quiet:
        show_summary(found, choice.remark, id_column, written, to_stderr="-" in outputs)
    if fail_on_anomaly and found.is_anomaly.any():
        raise typer.Exit(3)


def _spoken(source: str) -> str:
    """Return how a file is named in a title."""
    return "standard input" if source == "-" else Path(source).name


def print_json(found: "Detection") -> None:
    """Print the figures and the called samples as one JSON object."""
    from paretodepth.reports.results import summary

    typer.echo(json.dumps(summary(found), ensure_ascii=False, indent=2))


def show_summary(
    found: "Detection", remark: str, id_column: str | None, written: list[str], *, to_stderr: bool = False
) -> None:
    """Print how many are called, the strangest samples with their reasons, and advice."""
    screen = notes if to_stderr else console
    if remark:
        screen.print(Text(printable(remark), style="dim"))
    screen.print(_worst_table(found, id_column))
    for advice in found.detector.advice_:
        screen.print(Text(f"Advice: {printable(advice)}", style="yellow"))
    for place in written:
        screen.print(Text(f"Written: {printable(place)}"))


def _worst_table(found: "Detection", id_column: str | None) -> Table:
    """Return the strangest samples with their reasons."""
    from paretodepth.reports.results import blamed_criteria, headline

    worst = found.strangest[:N_WORST]
    explanation = found.explanation(worst)
    names = found.samples.column(id_column).take(worst).to_pylist() if id_column else [None] * len(worst)
    table = Table(title=Text(headline(found), style="bold"), title_justify="left", box=SIMPLE_HEAD)
    for heading in ("row", *([printable(id_column, 30)] if id_column else []), "score", "p-value", "because"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("why", ratio=1)
    reasons = zip(worst.tolist(), names, blamed_criteria(explanation), explanation.sentences, strict=True)
    for row, name, because, sentence in reasons:
        cells = [str(row), *([printable(str(name), 30)] if id_column else [])]
        cells += [f"{found.scores[row]:.1f}", f"{found.p_values[row]:.2g}"]
        called = bool(found.is_anomaly[row])
        table.add_row(
            *map(Text, cells),
            Text(printable(because or "–", 30), style="bold red" if called else ""),
            Text(printable(sentence, 400)),
            style="" if called else "dim",
        )
    return table
