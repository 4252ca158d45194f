"""The commands with model files: `fit`, `score` and `explain`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_outputs, read_learning
from paretodepth.cli.terminal import app, console, notes, print_outcome, print_written, printable, progress

if TYPE_CHECKING:
    from paretodepth.detector import ParetoDepthDetector

Model = Annotated[str, typer.Argument(help="Model file, written by fit.")]
Test = Annotated[str, typer.Argument(help="Samples to score; - for stdin.")]


@app.command()
@options.reads_files
def fit(
    train: options.Train,
    model: Annotated[str, typer.Option(help="File for the model; - for stdout.")],
    criteria: options.CriteriaFile = None,
    columns: options.ColumnNames = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the samples: no criterion.")] = None,
    alpha: options.Alpha = None,
    method: options.Method = "union",
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Learn from nominal samples and write what was learned to a file.

    Example: paretodepth fit nominal.csv --criteria criteria.toml --model nominal.model
    """
    from paretodepth.reports.detection import fit_to_table

    check_outputs([model], [train], criteria)
    with progress("reading"):
        training, detector, remark = read_learning(
            train, format=format, criteria=criteria, columns=columns, id_column=id_column, method=method, alpha=alpha
        )
        fit_to_table(detector, training)
        detector.save(model)
    if not quiet:
        screen = notes if model == "-" else console
        learned = f"{len(training):,} nominal samples, {detector.n_fronts_:,} fronts, threshold"
        print_outcome(screen, remark=remark, advice=detector.advice_, outcome=f"{learned} {-detector.offset_:.4g}.")
        print_written(screen, [model])


@app.command()
@options.reads_files
def score(
    model: Model,
    test: Test,
    out: Annotated[str, typer.Option(help="File for the scores; - for stdout.")] = "-",
    id_column: options.IdColumn = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Score samples with a model, in chunks, so that files of any length need little memory.

    Example: paretodepth score nominal.model new.csv --out scores.csv
    """
    from paretodepth.files.formats import check_output_format
    from paretodepth.files.tables import read_chunks, write_table
    from paretodepth.reports.detection import scored_chunks
    from paretodepth.reports.results import results_table

    check_outputs([out], [model, test])
    check_output_format(out)
    detector, schema = _loaded(model)
    n_scored = n_called = 0

    def tables() -> Iterator[Any]:
        nonlocal n_scored, n_called
        chunks = read_chunks(test, format=format, schema=schema, keep_others=True)
        for found in scored_chunks(detector, chunks):
            n_scored += len(found.scores)
            n_called += found.n_anomalies
            yield results_table(found, id_column=id_column)

    with progress("reading"):
        write_table(tables(), out)
    if not quiet:
        notes.print(f"{n_called:,} of {n_scored:,} samples called anomalies.")
    if fail_on_anomaly and n_called:
        raise typer.Exit(3)


@app.command()
@options.reads_files
def explain(
    model: Model,
    test: Test,
    row: Annotated[int, typer.Option(help="The sample, counted from 0.")],
    format: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Say why one sample is strange or not.

    Example: paretodepth explain nominal.model new.csv --row 17
    """
    from paretodepth.files.tables import read_chunks
    from paretodepth.reports.detection import scored
    from paretodepth.reports.results import criterion_figures, nth_sample, sample_figures

    detector, schema = _loaded(model)
    sample = nth_sample(read_chunks(test, format=format, schema=schema, keep_others=True), row, test)
    found = scored(detector, sample, first_row=row)
    (reason,) = found.reasons(1)
    figures = criterion_figures(reason, found.model.criteria.names)
    if as_json:
        own = sample_figures(found, 0) | {"row": row, "is_anomaly": bool(found.is_anomaly[0])}
        typer.echo(json.dumps(own | {"why": reason.sentence, "criteria": figures}, ensure_ascii=False, indent=2))
        return
    console.print(Text(f"Row {row}: {printable(reason.sentence)}", style="bold"))
    console.print(f"Score {found.scores[0]:.4g}, threshold {found.threshold:.4g}, p-value {found.p_values[0]:.2g}.")
    console.print(_criteria_table(figures))


def _criteria_table(figures: list[dict[str, Any]]) -> Table:
    """Return the figures of one sample, a row a criterion."""
    table = Table(box=SIMPLE_HEAD)
    for heading in ("criterion", "p-value alone", "p-value without it", "distance, 1 is usual", "nearest nominal rows"):
        table.add_column(heading, justify="left" if heading == "criterion" else "right")
    for entry in figures:
        numbers = (f"{entry['p_value']:.2g}", f"{entry['relief']:.2g}", f"{entry['distance']:.3g}")
        table.add_row(Text(printable(entry["criterion"], 40)), *numbers, ", ".join(map(str, entry["nearest"])))
    return table


def _loaded(model: str) -> "tuple[ParetoDepthDetector, Any]":
    """Return the detector of a file, and the columns it expects."""
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.files.source import check_readable
    from paretodepth.reports.detection import expected_schema

    detector = ParetoDepthDetector.load(check_readable(model))
    return detector, expected_schema(detector, model)
