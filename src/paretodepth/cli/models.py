"""The commands with model files: `fit`, `score` and `explain`."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.detect import spoken, write_page
from paretodepth.cli.options import check_outputs, read_learning
from paretodepth.cli.terminal import (
    app,
    console,
    notes,
    print_json,
    print_left_out,
    print_outcome,
    print_written,
    printable,
    progress,
)

if TYPE_CHECKING:
    from paretodepth.criteria.reference_range import ComparedValue
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.reports.detection import Detection
    from paretodepth.reports.reasons import Reason

Model = Annotated[str, typer.Argument(help="Model file, written by fit.")]
N_NEAREST = 3
"""Nearest nominal samples that are listed for each criterion."""
Test = Annotated[str, typer.Argument(help="Samples to score; - for stdin.")]


@app.command()
@options.reads_files
def fit(
    train: options.Train,
    model: Annotated[str, options.output("File for the model; - for stdout.")],
    criteria: options.CriteriaFile = None,
    columns: options.ColumnNames = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the samples: no criterion.")] = None,
    alpha: options.Alpha = None,
    method: options.Method = "blend",
    missing: options.MissingRule = "drop",
    label: options.Label = None,
    train_rows: options.TrainRows = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Learn from nominal samples and write what was learned to a file.

    Example: paretodepth fit nominal.csv --criteria criteria.toml --model nominal.model
    """
    from paretodepth.reports.detection import fit_to_table
    from paretodepth.reports.results import dropped_remark
    from paretodepth.reports.row_limit import max_depth_of, random_rows
    from paretodepth.scoring.advice import clear_outlier_advice

    check_outputs([model], [train], criteria)
    with progress("reading", quiet=quiet):
        training, detector, remark, _ = read_learning(
            train,
            format=format,
            criteria=criteria,
            columns=columns,
            id_column=id_column,
            method=method,
            alpha=alpha,
            missing=missing,
            label=label,
        )
        rows = None if train_rows is None else random_rows(len(training), train_rows)
        if rows is not None:
            detector.set_params(max_depth=max_depth_of(len(rows)))
        fit_to_table(detector, training, rows=rows)
        detector.save(model)
    if not quiet:
        screen = notes if model == "-" else console
        dropped = detector.dropped_ if rows is None else rows[detector.dropped_]
        n_learned = (len(training) if rows is None else len(rows)) - len(dropped)
        learned = f"{n_learned:,} nominal samples, {detector.n_fronts_:,} fronts, threshold"
        named = int if rows is None else rows.item
        advice = [*detector.model_.advice, *clear_outlier_advice(detector.model_.scores, named)]
        print_outcome(screen, remark=remark, advice=advice, outcome=f"{learned} {-detector.offset_:.4g}.")
        if len(dropped):
            print_left_out(screen, [dropped_remark(dropped)])
        print_written(screen, [model])


@app.command()
@options.reads_files
def score(
    model: Model,
    test: Test,
    out: Annotated[str, options.output("File for the scores; - for stdout.")] = "-",
    report: Annotated[str | None, options.output("File for the report, one HTML page.")] = None,
    id_column: options.IdColumn = None,
    escape_formulas: options.EscapeFormulas = False,
    first_row: options.FirstRow = 0,
    missing: options.NewMissing = "drop",
    label: options.Label = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    fail_on_anomaly: options.FailOnAnomaly = False,
) -> None:
    """Score samples with a model, in chunks, so that files of any length need little memory.

    A report needs all samples at once. It shows usual ranges, but not the nearest samples.

    A model file holds the training samples: send it only to those who may see them.

    Example: paretodepth score nominal.model new.csv --out scores.csv
    """
    from paretodepth.reports.labels import check_label_column
    from paretodepth.reports.results import N_NAMED, results_table, unscored_figures, unscored_remark
    from paretodepth.tables.formats import check_output_format
    from paretodepth.tables.tables import read_chunks, read_table, write_table

    check_outputs([out, *([] if report is None else [report])], [model, test])
    check_output_format(out)
    detector, schema = _loaded(model)
    n_scored = n_called = n_unscored = 0
    first_unscored: list[dict[str, Any]] = []
    judged: list[Any] = []
    whole: list[Any] = []
    agreement = ""

    def tables() -> Iterator[Any]:
        nonlocal n_scored, n_called, n_unscored, agreement
        read = read_chunks if report is None else lambda *names, **rest: [read_table(*names, **rest)]
        chunks = read(test, format=format, schema=schema, keep_others=True, keep_text=True)
        for found, texts in _scored(detector, chunks, missing, first_row):
            whole[:] = [found]
            n_scored += found.n_scored
            n_called += found.n_anomalies
            n_unscored += len(found.unscored)
            first_unscored.extend(unscored_figures(found, N_NAMED - len(first_unscored)))
            if label is not None:
                column = check_label_column(label, found.samples.column_names)
                judged.append((found.samples.select([column]), found.scores))
            table = results_table(found, id_column=id_column)
            yield options.written_table(table, texts, out, escape_formulas)
        if label is not None:
            # Before the file is there as a whole: a column that is no label leaves nothing behind.
            agreement = _agreement(judged, label)

    with progress("reading", quiet=quiet):
        write_table(tables(), out)
        if report is not None:
            write_page(whole[0], report, spoken(test), id_column, [model, test])
    if agreement and not quiet:
        notes.print(Text(printable(agreement)))
    if not quiet:
        notes.print(f"{n_called:,} of {n_scored:,} samples called anomalies.")
        if n_unscored:
            print_left_out(notes, [unscored_remark(n_unscored, first_unscored)])
    if fail_on_anomaly and n_called:
        raise typer.Exit(3)


def _scored(
    detector: "ParetoDepthDetector", chunks: Iterable[Any], missing: Any, first_row: int
) -> "Iterator[tuple[Detection, Any]]":
    """Yield what is found in each chunk, and its cells of text."""
    from paretodepth.reports.detection import scored_chunks
    from paretodepth.tables.expected_columns import split_text

    values, copies = itertools.tee(map(split_text, chunks))
    parts = scored_chunks(detector, (chunk for chunk, _ in values), missing=missing)
    for part, (_, texts) in zip(parts, copies, strict=True):
        yield replace(part, count_from=first_row), texts


def _agreement(judged: list[Any], label: str) -> str:
    """Return how well scores agree with labels, given tables of these and the scores, chunk by chunk."""
    import numpy as np
    import pyarrow as pa

    from paretodepth.reports.labels import Labels, label_sentence

    tables, scores = zip(*judged, strict=True)
    whole = pa.concat_tables(tables, promote_options="permissive")
    return label_sentence(Labels.of(whole, label).figures(np.concatenate(scores)))


@app.command()
@options.reads_files
def explain(
    model: Model,
    test: Test,
    row: Annotated[str, typer.Option(help="The sample, counted from --first-row; with --id, what it is called.")],
    id_column: options.IdColumn = None,
    first_row: options.FirstRow = 0,
    report: Annotated[str | None, options.output("File for the report, one HTML page of this sample.")] = None,
    missing: options.NewMissing = "drop",
    format: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Say why one sample is strange or not.

    Example: paretodepth explain nominal.model new.csv --row 17

    Example: paretodepth explain nominal.model new.csv --id invoice --row 20017
    """
    from paretodepth.reports.detection import scored
    from paretodepth.reports.results import (
        check_row_number,
        criterion_figures,
        named_sample,
        nth_sample,
        sample_figures,
    )
    from paretodepth.tables.tables import read_chunks

    check_outputs([] if report is None else [report], [model, test])
    detector, schema = _loaded(model)
    chunks = read_chunks(test, format=format, schema=schema, keep_others=True)
    if id_column is None:
        number = check_row_number(row, test, first_row)
        sample = nth_sample(chunks, number, test, first_row)
    else:
        number, sample = named_sample(chunks, id_column, row, test)
    found = replace(scored(detector, sample, first_row=number, missing=missing), count_from=first_row)
    number += first_row
    title = f"Row {number}" if id_column is None else f"{printable(row, 60)} (row {number})"
    if not found.n_scored:
        _say_unscored(number, title, found.lacking(0), as_json=as_json)
        return
    if report is not None:
        named = f"row {number}" if id_column is None else title
        write_page(found, report, f"{named} of {spoken(test)}", id_column, [model, test])
    (reason,) = found.reasons(1)
    figures = criterion_figures(reason, found.model.criteria.names, first_row)
    if as_json:
        own = sample_figures(found, 0) | {"is_anomaly": bool(found.is_anomaly[0])}
        print_json(own | {"why": reason.sentence, "criteria": figures})
        return
    console.print(Text(f"{title}: {printable(reason.sentence)}", style="bold"))
    console.print(f"Score {found.scores[0]:.4g}, threshold {found.threshold:.4g}, p-value {found.p_values[0]:.2g}.")
    console.print(_criteria_table(figures, reason))


def _say_unscored(row: int, title: str, columns: list[str], *, as_json: bool) -> None:
    """Print that a sample cannot be explained, for it lacks values."""
    if as_json:
        print_json({"row": row, "score": None, "lacks": columns})
    else:
        console.print(Text(f"{title}: not scored, for it lacks a value in {printable(', '.join(columns))}."))


def _criteria_table(figures: list[dict[str, Any]], reason: "Reason") -> Table:
    """Return the figures of one sample, a row a criterion."""
    table = Table(box=SIMPLE_HEAD)
    for heading in ("criterion", "value", "usual", "p-value alone", "p-value without it", "distance, 1 is usual"):
        table.add_column(heading, justify="left" if heading == "criterion" else "right")
    table.add_column("nearest nominal rows", justify="right")
    for criterion, entry in enumerate(figures):
        numbers = (f"{entry['p_value']:.2g}", f"{entry['relief']:.2g}", f"{entry['distance']:.3g}")
        nearest = ", ".join(map(str, entry["nearest"][:N_NEAREST]))
        table.add_row(
            Text(printable(entry["criterion"], 40)), *_value_cells(reason.values.get(criterion, ())), *numbers, nearest
        )
    return table


def _value_cells(values: "Sequence[ComparedValue]") -> tuple[Text, Text]:
    """Return the oddest value of a criterion and what is usual, nothing if none can be told."""
    if not values:
        return Text(""), Text("")
    from paretodepth.scoring.value_words import own_text, range_text

    first = values[0]
    if first.kind == "category":
        own, usual = str(first.value), f"{first.n_same:,} of {first.n_samples:,}"
    else:
        own, usual = own_text(first) if first.is_known else "", range_text(first) if first.has_range else ""
    prefix = f"{first.name} " if len(values) > 1 else ""
    return Text(printable(f"{prefix}{own}", 40)), Text(printable(usual, 40))


def _loaded(model: str) -> "tuple[ParetoDepthDetector, Any]":
    """Return the detector of a file, and the columns it expects."""
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.tables.expected_columns import expected_schema
    from paretodepth.tables.source import check_readable

    detector = ParetoDepthDetector.load(check_readable(model)).set_params(n_jobs=-1)
    layout = detector.model_.criteria.layout
    return detector, expected_schema(layout.feature_names, layout.kinds, model)
