"""The commands with model files: `fit`, `score` and `explain`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli.options import (
    Alpha,
    AsJson,
    ColumnNames,
    CriteriaFile,
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
    from paretodepth.detector import ParetoDepthDetector

Model = Annotated[Path, typer.Argument(help="Model file, written by fit.")]
Test = Annotated[str, typer.Argument(help="Samples to score; - for stdin.")]


@app.command()
def fit(
    train: Train,
    model: Annotated[Path, typer.Option(help="File for the model.")],
    criteria: CriteriaFile = None,
    columns: ColumnNames = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the samples: no criterion.")] = None,
    alpha: Alpha = None,
    score: Score = "union",
    format: Format = None,
    quiet: Quiet = False,
) -> None:
    """Learn from nominal samples and write what was learned to a file.

    Example: paretodepth fit nominal.csv --criteria criteria.toml --model nominal.model
    """
    from paretodepth.cli.options import check_outputs
    from paretodepth.criteria.suggestion import chosen_criteria
    from paretodepth.files.tables import read_table
    from paretodepth.reports.detection import fitted_detector

    check_outputs([str(model)], [train, *([str(criteria)] if criteria else [])])
    with progress("reading and fitting"):
        training = read_table(train, format=format)
        choice = chosen_criteria(
            training, criteria=criteria_of(criteria), columns=column_list(columns), id_column=id_column
        )
        detector = fitted_detector(training, choice, method=score, alpha=alpha)
        detector.save(model)
    if quiet:
        return
    is_stream = str(model) == "-"
    screen = notes if is_stream else console
    if choice.remark:
        screen.print(Text(printable(choice.remark), style="dim"))
    for advice in detector.advice_:
        screen.print(Text(f"Advice: {printable(advice)}", style="yellow"))
    screen.print(
        f"{len(training):,} nominal samples, {detector.n_fronts_:,} fronts, threshold {-detector.offset_:.4g}."
    )
    if not is_stream:
        screen.print(Text(f"Written: {printable(str(model))}"))


@app.command()
def score(
    model: Model,
    test: Test,
    out: Annotated[str, typer.Option(help="File for the scores; - for stdout.")] = "-",
    id_column: IdColumn = None,
    format: Format = None,
    quiet: Quiet = False,
    fail_on_anomaly: FailOnAnomaly = False,
) -> None:
    """Score samples with a model, in chunks, so that files of any length need little memory.

    Example: paretodepth score nominal.model new.csv --out scores.csv
    """
    from paretodepth.cli.options import check_outputs
    from paretodepth.files.formats import check_output_format
    from paretodepth.files.tables import read_chunks, write_table
    from paretodepth.reports.results import result_chunks

    check_outputs([out], [str(model), test])
    check_output_format(out)
    detector, schema = _loaded(model)
    n_scored = n_called = 0
    with progress("scoring") as advance:

        def counted() -> Iterator[Any]:
            nonlocal n_scored, n_called
            chunks = read_chunks(test, format=format, schema=schema, keep_others=True)
            for found, table in result_chunks(detector, chunks, schema.names, id_column=id_column):
                n_scored += len(found.scores)
                n_called += int(found.is_anomaly.sum())
                advance(n_scored, 0)
                yield table

        write_table(counted(), out)
    if not quiet:
        notes.print(f"{n_called:,} of {n_scored:,} samples called anomalies.")
    if fail_on_anomaly and n_called:
        raise typer.Exit(3)


@app.command()
def explain(
    model: Model,
    test: Test,
    row: Annotated[int, typer.Option(help="The sample, counted from 0.")],
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Say why one sample is strange or not.

    Example: paretodepth explain nominal.model new.csv --row 17
    """
    from paretodepth.files.tables import read_chunks
    from paretodepth.reports.detection import scored
    from paretodepth.reports.results import criterion_figures, nth_sample

    detector, schema = _loaded(model)
    sample = nth_sample(read_chunks(test, format=format, schema=schema, keep_others=True), row, test)
    found = scored(detector, sample, schema.names)
    explanation = found.explanation(found.strangest)
    figures = criterion_figures(explanation)
    if as_json:
        own: dict[str, Any] = {"row": row, "score": float(found.scores[0]), "p_value": float(found.p_values[0])}
        own |= {"is_anomaly": bool(found.is_anomaly[0]), "why": explanation.sentences[0], "criteria": figures}
        typer.echo(json.dumps(own, ensure_ascii=False, indent=2))
        return
    console.print(Text(f"Row {row}: {printable(explanation.sentences[0])}", style="bold"))
    console.print(f"Score {found.scores[0]:.4g}, threshold {found.threshold:.4g}, p-value {found.p_values[0]:.2g}.")
    table = Table(box=SIMPLE_HEAD)
    for heading in ("criterion", "p-value alone", "p-value without it", "distance, 1 is usual", "nearest nominal rows"):
        table.add_column(heading, justify="left" if heading == "criterion" else "right")
    for entry in figures:
        numbers = (f"{entry['p_value']:.2g}", f"{entry['relief']:.2g}", f"{entry['distance']:.3g}")
        table.add_row(Text(printable(entry["criterion"], 40)), *numbers, ", ".join(map(str, entry["nearest"])))
    console.print(table)


def _loaded(model: Path) -> "tuple[ParetoDepthDetector, Any]":
    """Return the detector of a file, and the columns it expects."""
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.files.source import check_readable
    from paretodepth.reports.detection import expected_schema

    detector = ParetoDepthDetector.load(check_readable(str(model)))
    return detector, expected_schema(detector, str(model))
