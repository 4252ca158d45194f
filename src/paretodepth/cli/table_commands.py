"""The commands that read a table: `detect` and `suggest`."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_places, column_list, command_line
from paretodepth.cli.terminal import app, console, notes, print_json, print_lines, printable, progress

if TYPE_CHECKING:
    from paretodepth.criteria.suggestion import Suggestion
    from paretodepth.reports.findings import Findings

N_SHOWN = 10
"""Records that are listed by default."""
N_LEFT_OUT = 8
"""Columns that are named as not used; more are counted."""


@app.command()
@options.reads_files
def detect(
    file: Annotated[str, typer.Argument(help="Records to check: CSV, Parquet, JSON lines, …; - for stdin.")],
    reference: Annotated[str | None, typer.Option(help="File of records that are known to be normal.")] = None,
    criteria: options.CriteriaFile = None,
    columns: options.ColumnNames = None,
    id: options.IdColumn = None,
    alpha: options.Alpha = None,
    fdr: Annotated[
        float | None, typer.Option(help="False discovery rate: share of normal records among those flagged.")
    ] = None,
    contamination: Annotated[
        float | None, typer.Option(help="Share of records to flag, without --reference. \\[default: 0.05]")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of records to list.")] = N_SHOWN,
    label: options.Label = None,
    method: options.Method = "blend",
    out: Annotated[str | None, options.output("File for the scores; - for stdout.")] = None,
    report: Annotated[str | None, options.output("File for the report, one HTML page; - for stdout.")] = None,
    escape_formulas: options.EscapeFormulas = False,
    format: options.Format = None,
    missing: options.MissingRule = "drop",
    dask: Annotated[str | None, typer.Option(help="Fit on a Dask cluster: local, or tcp://host:port.")] = None,
    train_rows: options.TrainRows = None,
    exact: Annotated[bool, typer.Option("--exact", help="Fit on all rows, however long it takes.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Find the most unusual records of a file, with the reason for each.

    Without --reference, every record is compared with all others and the most unusual 5 % are flagged (change with
    --contamination). With it, records are compared with those of the reference, and --alpha is the false-alarm rate.

    Without --criteria or --columns, criteria are chosen automatically; `paretodepth suggest` shows them.

    Large files: with K criteria, at most min(5,000, 10,000 / √K) rows are fitted, a fixed random sample; fewer if
    texts or series are long, or very many rows are scored. Every row is scored.

    Rows are numbered as a spreadsheet shows them: row 1 is the header.

    Example: paretodepth detect invoices.csv --id invoice --report report.html

    Example: paretodepth detect new.csv --reference normal.csv --criteria criteria.toml --out scores.csv
    """
    import paretodepth

    inputs = [name for name in (reference, file) if name is not None]
    outputs = [place for place in (out, report, "-" if as_json else None) if place is not None]
    check_places(inputs, outputs, out, criteria)
    given: dict[str, Any] = {
        "criteria": criteria, "columns": column_list(columns), "id": id, "alpha": alpha, "fdr": fdr,
        "contamination": contamination, "label": label, "method": method, "missing": missing,
        "train_rows": train_rows, "exact": exact, "dask": dask, "format": format,
    }  # fmt: skip
    # Imports its libraries, before the progress begins.
    function = paretodepth.detect
    with progress("reading", quiet=quiet):
        found = function(file, reference, **given)
        if out is not None:
            found.write(out, escape_formulas=escape_formulas)
        if report is not None:
            found.report(report, call=command_line())
    if as_json:
        from paretodepth.reports.results import summary

        print_json(summary(found, n_shown=top))
    elif not quiet:
        _print_found(notes if "-" in outputs else console, found, top, inputs[0], outputs)
    if fail_on_anomaly and found.n_anomalies:
        raise typer.Exit(3)


def _print_found(screen: Console, found: "Findings", n_shown: int, source: str, outputs: list[str]) -> None:
    """Print the most unusual records with their reasons, and what else there is to say."""
    from paretodepth.reports.results import advice_of, label_remarks, left_out_remarks

    if found.suggestion is not None:
        print_lines(screen, [suggestion_remark(found.suggestion, source)], "dim")
    if found.fitted_rows is not None and found.training is not None:
        n_rows = f"{len(found.fitted_rows):,} of {len(found.training):,}"
        sentence = f"{n_rows} rows are fitted, a fixed random sample; every row is scored. Use --exact to fit all rows."
        print_lines(screen, [sentence], "dim")
    screen.print(_findings_table(found, n_shown))
    print_lines(screen, [f"Advice: {sentence}" for sentence in advice_of(found)], "yellow")
    print_lines(screen, left_out_remarks(found), "yellow")
    print_lines(screen, label_remarks(found))
    print_lines(screen, [f"Written: {place}" for place in outputs if place != "-"])


def _findings_table(found: "Findings", n_shown: int) -> Table:
    """Return the most unusual records with their reasons."""
    from paretodepth.reports.results import headline

    rows, id_column = found.most_unusual[:n_shown], found.id_column
    title = headline(found)
    if len(rows) < found.n_anomalies:
        title += f"; {len(rows):,} of {found.n_anomalies:,} shown, --top shows more"
    names = found.samples.column(id_column).take(rows).to_pylist() if id_column else [None] * len(rows)
    table = Table(title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD)
    for heading in ("row", *([printable(id_column, 30)] if id_column else []), "score", "p-value", "main reason"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("explanation", ratio=1)
    for row, name, reason in zip(rows.tolist(), names, found.reasons(n_shown), strict=True):
        cells = [str(found.row_number(row)), *([printable(str(name), 30)] if id_column else [])]
        cells += [f"{found.scores[row]:.1f}", f"{found.p_values[row]:.2g}"]
        is_flagged = bool(found.is_anomaly[row])
        table.add_row(
            *map(Text, cells),
            Text(printable(reason.because or "–", 30), style="bold red" if is_flagged else ""),
            Text(printable(reason.sentence, 400)),
            style="" if is_flagged else "dim",
        )
    return table


def suggestion_remark(found: "Suggestion", source: str) -> str:
    """Return the criteria that were chosen automatically, and how to change them."""
    left_out = [f"{column.name} ({column.reason})" for column in found.columns if not column.criteria]
    remark = f"Criteria chosen automatically: {'; '.join(criterion.name for criterion in found.criteria)}."
    if left_out:
        more = f" and {len(left_out) - N_LEFT_OUT} more" if len(left_out) > N_LEFT_OUT else ""
        remark += f" Not used: {', '.join(left_out[:N_LEFT_OUT])}{more}."
    name = options.quoted_name(source)
    return f"{remark} To change them, run paretodepth suggest {name} > criteria.toml, edit it, pass it by --criteria."


@app.command()
@options.reads_files
def suggest(
    file: Annotated[str, typer.Argument(help="Records: CSV, Parquet, JSON lines, …; - for stdin.")],
    max_criteria: Annotated[int, typer.Option(min=1, help="Number of criteria at most.")] = 6,
    id: options.IdColumn = None,
    label: options.Label = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Suggest criteria as a TOML file on stdout, and show how each column is interpreted and used.

    Example: paretodepth suggest data.csv > criteria.toml

    Example: paretodepth suggest data.csv --id invoice --max-criteria 4
    """
    import paretodepth

    with progress("reading"):
        found = paretodepth.suggest(file, max_criteria=max_criteria, id=id, label=label, format=format)
    sys.stdout.write(found.to_toml())
    if quiet:
        return
    shown = Table(box=SIMPLE_HEAD)
    for heading in ("column", "kind", "criterion", "why"):
        shown.add_column(heading)
    for column in found.columns:
        cells = (column.name, column.kind, "; ".join(column.criteria) or "–", column.reason)
        shown.add_row(*(Text(printable(cell, 200)) for cell in cells), style="" if column.criteria else "dim")
    notes.print(shown, soft_wrap=False, width=None if notes.is_terminal else 140)
