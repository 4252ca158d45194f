"""The commands with model files: `fit`, `score` and `explain`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_outputs, column_list, command_line
from paretodepth.cli.table_commands import suggestion_remark
from paretodepth.cli.terminal import app, console, notes, print_json, print_lines, printable, progress

if TYPE_CHECKING:
    from paretodepth.criteria.reference_range import ComparedValue
    from paretodepth.reports.findings import Findings

Model = Annotated[str, typer.Argument(help="Model file, written by fit.")]
New = Annotated[str, typer.Argument(help="Records to score; - for stdin.")]
N_NEAREST = 3
"""Nearest records that are listed for each criterion."""


@app.command()
@options.reads_files
def fit(
    file: Annotated[str, typer.Argument(help="Normal records: CSV, Parquet, JSON lines, …; - for stdin.")],
    model: Annotated[str, options.output("File for the model; - for stdout.")],
    criteria: options.CriteriaFile = None,
    columns: options.ColumnNames = None,
    id: options.IdColumn = None,
    alpha: options.Alpha = None,
    method: options.Method = "blend",
    missing: options.MissingRule = "drop",
    label: options.Label = None,
    train_rows: options.TrainRows = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a detector to normal records and write it to a model file.

    Example: paretodepth fit normal.csv --model normal.model

    Example: paretodepth fit normal.csv --criteria criteria.toml --alpha 0.01 --model normal.model
    """
    from paretodepth.reports.detect import learn
    from paretodepth.reports.results import advice_of, left_out_remarks

    check_outputs([model], [file], criteria)
    with progress("reading", quiet=quiet):
        learning = learn(file, "fit", criteria, column_list(columns), id, alpha, method, missing, label, format)
        learning = learning.sampled(train_rows)
        detector = learning.fitted()
        detector.save(model)
    if quiet:
        return
    screen = notes if model == "-" else console
    if learning.suggestion is not None:
        print_lines(screen, [suggestion_remark(learning.suggestion, file)], "dim")
    n_fitted = len(detector.training_scores_) - len(detector.dropped_)
    fronts = f"{detector.n_fronts_:,} fronts, threshold {-detector.offset_:.4g}"
    print_lines(screen, [f"Fitted to {n_fitted:,} normal records: {fronts}."])
    print_lines(screen, [f"Advice: {sentence}" for sentence in advice_of(learning.findings())], "yellow")
    print_lines(screen, left_out_remarks(learning.findings()), "yellow")
    print_lines(screen, [f"Written: {model}"] if model != "-" else [])


@app.command()
@options.reads_files
def score(
    model: Model,
    file: New,
    out: Annotated[str, options.output("File for the scores; - for stdout.")] = "-",
    report: Annotated[str | None, options.output("File for the report, one HTML page.")] = None,
    reference: Annotated[
        str | None, typer.Option(help="Fitted records, for --report: shows the nearest of each.")
    ] = None,
    id: options.IdColumn = None,
    escape_formulas: options.EscapeFormulas = False,
    missing: options.NewMissing = "drop",
    label: options.Label = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Score records with a model file, in chunks, so that files of any length need little memory.

    With --report, all records are in memory at once.

    A model file holds the training samples: send it only to those who may see them.

    Example: paretodepth score normal.model new.csv --out scores.csv

    Example: paretodepth score normal.model new.csv --id invoice --out scores.csv --report report.html
    """
    import paretodepth
    from paretodepth.reports.labels import agreement, check_own_column
    from paretodepth.reports.results import N_NAMED, unscored_figures, unscored_remark, written_table
    from paretodepth.reports.score import score_chunks
    from paretodepth.tables.files import write_table
    from paretodepth.tables.formats import check_output_format

    check_outputs([out, *([] if report is None else [report])], [model, file])
    check_output_format(out)
    n_scored = n_flagged = n_unscored = 0
    first_unscored: list[dict[str, Any]] = []
    sentences: list[str] = []
    labelled: list[Any] = []

    def tables(parts: "Iterator[Findings]") -> Iterator[Any]:
        nonlocal n_scored, n_flagged, n_unscored
        for found in parts:
            n_scored += found.n_scored
            n_flagged += found.n_anomalies
            n_unscored += len(found.unscored)
            first_unscored.extend(unscored_figures(found, N_NAMED - len(first_unscored)))
            if label is not None:
                column = check_own_column(label, found.samples.column_names, "label")
                labelled.append((found.samples.select([column]), found.scores))
            yield written_table(found, out, escape_formulas=escape_formulas)
        if label is not None:
            # Before the file is written as a whole: a column that is no label leaves nothing behind.
            sentences.append(agreement(label, labelled))

    with progress("reading", quiet=quiet):
        if report is None:
            write_table(tables(score_chunks(model, file, id=id, missing=missing, format=format)), out)
        else:
            found = paretodepth.score(model, file, reference=reference, id=id, missing=missing, format=format)
            write_table(tables(iter([found])), out)
            found.report(report, call=command_line())
    if not quiet:
        if n_unscored:
            sentences.append(unscored_remark(n_unscored, first_unscored))
        print_lines(notes, [f"{n_flagged:,} of {n_scored:,} records flagged.", *sentences])
    if fail_on_anomaly and n_flagged:
        raise typer.Exit(3)


@app.command()
@options.reads_files
def explain(
    model: Model,
    file: New,
    row: Annotated[str, typer.Option(help="Row as a spreadsheet numbers it; with --id, the record's id.")],
    id: options.IdColumn = None,
    report: Annotated[str | None, options.output("File for the report, one HTML page of this record.")] = None,
    missing: options.NewMissing = "drop",
    format: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Explain why one record is unusual or not.

    Rows are numbered as a spreadsheet shows them: row 1 is the header.

    Example: paretodepth explain normal.model new.csv --row 17

    Example: paretodepth explain normal.model new.csv --id invoice --row 20017
    """
    import paretodepth
    from paretodepth.reports.page import display_name
    from paretodepth.reports.results import criterion_figures, sample_figures

    check_outputs([] if report is None else [report], [model, file])
    place = row if id is not None else check_row_number(row, file)
    found = paretodepth.explain(model, file, place, id=id, missing=missing, format=format)
    number = found.row_number(0)
    title = f"Row {number}" if id is None else f"{printable(row, 60)} (row {number})"
    if not found.n_scored:
        columns = found.missing_in(0)
        if as_json:
            print_json({"row": number, "score": None, "missing": columns})
        else:
            print_lines(console, [f"{title}: not scored because of a missing value in {', '.join(columns)}."])
        return
    if report is not None:
        name = f"row {number}" if id is None else title
        found.report(report, title=f"Anomalies in {name} of {display_name(file)}", call=command_line())
    (reason,) = found.reasons(1)
    figures = criterion_figures(found)
    if as_json:
        own = sample_figures(found, 0) | {"is_anomaly": bool(found.is_anomaly[0])}
        print_json(own | {"why": reason.sentence, "criteria": figures})
        return
    print_lines(console, [f"{title}: {reason.sentence}"], "bold")
    console.print(f"Score {found.scores[0]:.4g}, threshold {found.threshold:.4g}, p-value {found.p_values[0]:.2g}.")
    console.print(_criteria_table(figures, [reason.values.get(place, ()) for place in range(len(figures))]))


def _criteria_table(figures: list[dict[str, Any]], values: "Sequence[Sequence[ComparedValue]]") -> Table:
    """Return the figures of one record, a row a criterion."""
    table = Table(box=SIMPLE_HEAD)
    for heading in ("criterion", "value", "typical", "p-value alone", "p-value without it", "distance, 1 is typical"):
        table.add_column(heading, justify="left" if heading == "criterion" else "right")
    table.add_column("nearest rows", justify="right")
    for entry, own in zip(figures, values, strict=True):
        numbers = (f"{entry['p_value']:.2g}", f"{entry['relief']:.2g}", f"{entry['distance']:.3g}")
        nearest = ", ".join(map(str, entry["nearest"][:N_NEAREST]))
        table.add_row(Text(printable(entry["criterion"], 40)), *_value_cells(own), *numbers, nearest)
    return table


def _value_cells(values: "Sequence[ComparedValue]") -> tuple[Text, Text]:
    """Return the most unusual value of a criterion and its typical range, nothing if none is known."""
    if not values:
        return Text(""), Text("")
    from paretodepth.scoring.sample_values import own_text, range_text

    first = values[0]
    if first.kind == "category":
        own, typical = str(first.value), f"{first.n_same:,} of {first.n_samples:,}"
    else:
        own, typical = own_text(first) if first.is_known else "", range_text(first) if first.has_range else ""
    prefix = f"{first.name} " if len(values) > 1 else ""
    return Text(printable(f"{prefix}{own}", 40)), Text(printable(typical, 40))


def check_row_number(row: str, source: str) -> int:
    """Return the index of a row that is given as text."""
    from paretodepth.reports.results import FIRST_ROW

    if not row.removeprefix("-").isdecimal():
        raise ValueError(f"{source}: the row must be a number. Got '{row}' instead; to name a record, give --id too.")
    return int(row) - FIRST_ROW
