"""The command `detect`: fit on one file, score another, say who is called and why."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.options import check_outputs, check_single_stream, read_learning
from paretodepth.cli.terminal import (
    app,
    console,
    notes,
    print_json,
    print_left_out,
    print_note,
    print_outcome,
    print_written,
    printable,
    progress,
)

if TYPE_CHECKING:
    from paretodepth.reports.detection import Detection
    from paretodepth.reports.labels import Labels

N_SHOWN = 10
"""Samples that are shown if nobody says how many."""


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
    contamination: Annotated[
        float | None, typer.Option(help="Of one file, the share of its samples to call, instead.")
    ] = None,
    first_row: options.FirstRow = 0,
    top: Annotated[int, typer.Option(min=1, help="How many of the strangest are shown.")] = N_SHOWN,
    label: options.Label = None,
    method: options.Method = "blend",
    out: Annotated[str | None, options.output("File for the scores; - for stdout.")] = None,
    report: Annotated[str | None, options.output("File for the report, one HTML page; - for stdout.")] = None,
    escape_formulas: options.EscapeFormulas = False,
    format: options.Format = None,
    missing: options.MissingRule = "drop",
    dask: options.Dask = None,
    train_rows: options.TrainRows = None,
    exact: Annotated[bool, typer.Option("--exact", help="Fit on all rows, however long it takes.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Learn from nominal samples, score others, and say which are anomalies and why.

    Without --criteria or --columns, the table suggests criteria; `paretodepth suggest` shows them.

    Without TEST, the strangest of TRAIN are told: each sample is compared with all the others, and those are called
    that are among the strangest 5 %, or the share that --contamination names. Rows are counted from 0, or as
    --first-row says.

    Large files are fitted on random rows, always the same, and every row is scored. With K criteria, all rows are
    fitted up to min(5,000, 10,000 / √K) of them; fewer for long texts and series, and to score very many rows.

    Example: paretodepth detect nominal.csv new.csv --criteria criteria.toml --out scores.csv --report report.html
    """
    from paretodepth.tables.formats import check_output_format

    inputs = [name for name in (train, test) if name is not None]
    outputs = [place for place in (out, report, "-" if as_json else None) if place is not None]
    check_single_stream(inputs)
    check_outputs(outputs, inputs, criteria)
    check_output_format(out)
    with progress("reading", quiet=quiet):
        learning = read_learning(
            train,
            format=format,
            criteria=criteria,
            columns=columns,
            id_column=id_column,
            method=method,
            alpha=alpha,
            missing=missing,
            label=label,
            keep_text=out is not None and test is None,
        )
        samples, texts = _samples(learning, test, format, id_column, keep_text=out is not None)
        chosen = Choice(fdr, contamination, label, train_rows, exact, dask, id_column, first_row)
        found = _detected(learning, samples, chosen, quiet=quiet)
    _write_scores(found, texts, out, id_column, quiet=quiet, escape_formulas=escape_formulas)
    _write_report(found, report, id_column, inputs, quiet=quiet)
    if as_json:
        print_summary(found, top)
    elif not quiet:
        _print_found(found, learning.remark, top, outputs)
    if fail_on_anomaly and found.n_anomalies:
        raise typer.Exit(3)


class Choice(NamedTuple):
    """What is asked for beside criteria: whom to call, what to judge by, how much to fit and where, names of rows."""

    fdr: float | None
    contamination: float | None
    label: str | None
    train_rows: int | None
    is_exact: bool
    dask: str | None
    id_column: str | None
    first_row: int


def _samples(
    learning: options.Learning, test: str | None, format: options.Format, id_column: str | None, *, keep_text: bool
) -> tuple[Any, Any]:
    """Return the samples of a file with the columns of the training samples, None for these, and their text."""
    from paretodepth.criteria.encoding import read_columns
    from paretodepth.reports.results import check_id_column
    from paretodepth.tables.expected_columns import split_text
    from paretodepth.tables.tables import read_table

    training, detector, _, texts = learning
    schema = training.select(read_columns(detector.criteria, training.column_names)).schema
    samples = None
    if test is not None:
        whole = read_table(test, format=format, schema=schema, keep_others=True, keep_text=keep_text)
        samples, texts = split_text(whole)
    check_id_column(id_column, (training if samples is None else samples).column_names)
    return samples, texts


def _detected(learning: options.Learning, samples: Any, chosen: Choice, *, quiet: bool) -> "Detection":
    """Return what is found in samples, or in the training samples themselves."""
    from paretodepth.distributed.cluster import connected
    from paretodepth.reports.detection import detect
    from paretodepth.reports.row_limit import max_depth_of

    training, detector, _, _ = learning
    tested = training if samples is None else samples
    labels = _labels(tested, chosen.label)
    rows = _rows_to_fit(learning, len(tested), chosen)
    if rows is not None:
        detector.set_params(max_depth=max_depth_of(len(rows)))
        if not quiet:
            print_note(
                f"{len(rows):,} of {len(training):,} rows are fitted, a random subset that is always the same; every "
                "row is scored. Use --exact to fit all rows."
            )
    with connected(chosen.dask) as client:
        found = detect(
            detector,
            training,
            samples,
            fdr=chosen.fdr,
            contamination=chosen.contamination,
            rows=rows,
            client=client,
        )
    return replace(found, labels=labels, id_column=chosen.id_column, count_from=chosen.first_row)


def _rows_to_fit(learning: options.Learning, n_scores: int, chosen: Choice) -> Any:
    """Return the rows to fit, None for all: this many random ones if asked for, otherwise by the rule.

    A cluster fits all rows.
    """
    from paretodepth.reports.row_limit import choose_rows, random_rows

    options.check_one_size(chosen.train_rows, chosen.is_exact)
    if chosen.train_rows is not None:
        return random_rows(len(learning.training), chosen.train_rows)
    if chosen.is_exact or chosen.dask is not None:
        return None
    return choose_rows(learning.detector, learning.training, n_scores)


def _labels(samples: Any, label: str | None) -> "Labels | None":
    """Return the labels of samples, before anything is computed: they may be no labels."""
    if label is None:
        return None
    from paretodepth.reports.labels import Labels

    return Labels.of(samples, label)


def _print_found(found: "Detection", remark: str, n_shown: int, outputs: list[str]) -> None:
    """Print who is strangest and why, and what else there is to say; on standard error if the output is a stream."""
    from paretodepth.reports.results import advice_of, left_out_remarks

    screen = notes if "-" in outputs else console
    table = _worst_table(found, found.id_column, n_shown)
    print_outcome(screen, remark=remark, advice=advice_of(found), outcome=table)
    print_left_out(screen, left_out_remarks(found))
    _print_label(screen, found)
    print_written(screen, outputs)


def _print_label(screen: Console, found: "Detection") -> None:
    """Print how well the scores agree with the labels, if there are any."""
    from paretodepth.criteria.encoding import read_columns
    from paretodepth.reports.results import label_figures

    figures = label_figures(found)
    if figures is None:
        return
    from paretodepth.reports.labels import label_sentence

    screen.print(Text(printable(label_sentence(figures))))
    if figures["column"] in read_columns(found.detector.criteria, found.samples.column_names):
        screen.print(Text(f"A criterion reads {printable(figures['column'])}, which it should not know.", "yellow"))


def _write_scores(
    found: "Detection", texts: Any, out: str | None, id_column: str | None, *, quiet: bool, escape_formulas: bool
) -> None:
    """Write the scores to the file that is asked for, with the samples' own cells of text."""
    from paretodepth.reports.results import results_table
    from paretodepth.tables.tables import write_table

    if out is not None:
        with progress("explaining", quiet=quiet):
            table = results_table(found, id_column=id_column)
        write_table(options.written_table(table, texts, out, escape_formulas), out)


def _write_report(
    found: "Detection", report: str | None, id_column: str | None, inputs: list[str], *, quiet: bool
) -> None:
    """Write the report to the file that is asked for."""
    if report is not None:
        with progress("explaining", quiet=quiet):
            write_page(found, report, spoken(inputs[-1]), id_column, inputs)


def write_page(found: "Detection", report: str, name: str, id_column: str | None, inputs: list[str]) -> None:
    """Write the report, with the command and the files that were read at its foot: the samples' file is the last."""
    from paretodepth.reports.page import write_report
    from paretodepth.reports.provenance import Provenance, now, source_files

    tables = [None if found.training is None else len(found.training), len(found.samples)][-len(inputs) :]
    files = [file for path, n_rows in zip(inputs, tables, strict=True) for file in source_files(path, n_rows)]
    provenance = Provenance(f"paretodepth {shlex.join(sys.argv[1:])}", now(), files)
    write_report(found, report, title=f"Anomalies in {name}", id_column=id_column, provenance=provenance)


def spoken(source: str) -> str:
    """Return how a file is named in a title."""
    return "standard input" if source == "-" else Path(source).name


def print_summary(found: "Detection", n_shown: int) -> None:
    """Print the figures and the called samples as one JSON object."""
    from paretodepth.reports.results import summary

    print_json(summary(found, n_shown=n_shown))


def _worst_table(found: "Detection", id_column: str | None, n_shown: int) -> Table:
    """Return the strangest samples with their reasons."""
    from paretodepth.reports.results import headline, shown_row

    worst = found.strangest[:n_shown]
    names = found.samples.column(id_column).take(worst).to_pylist() if id_column else [None] * len(worst)
    title = headline(found)
    if len(worst) < found.n_anomalies:
        title += f"; {len(worst):,} of {found.n_anomalies:,} shown, --top shows more"
    elif len(worst) > found.n_anomalies:
        title += f"; the {len(worst):,} strangest shown"
    table = Table(title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD)
    for heading in ("row", *([printable(id_column, 30)] if id_column else []), "score", "p-value", "because"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("why", ratio=1)
    for row, name, reason in zip(worst.tolist(), names, found.reasons(n_shown), strict=True):
        cells = [str(shown_row(found, row)), *([printable(str(name), 30)] if id_column else [])]
        cells += [f"{found.scores[row]:.1f}", f"{found.p_values[row]:.2g}"]
        called = bool(found.is_anomaly[row])
        table.add_row(
            *map(Text, cells),
            Text(printable(reason.because or "–", 30), style="bold red" if called else ""),
            Text(printable(reason.sentence, 400)),
            style="" if called else "dim",
        )
    return table
