"""Findings as a table, as JSON and as a headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paretodepth.criteria.encoding import read_columns
from paretodepth.criteria.reference_range import ComparedValue
from paretodepth.reports.decision import ONE_FILE_FDR
from paretodepth.reports.labels import label_sentence
from paretodepth.scoring.advice import clear_outlier_advice
from paretodepth.scoring.sample_values import json_value
from paretodepth.tables.formats import writes_cells
from paretodepth.tables.writing import without_formulas

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

FIRST_ROW = 2
"""The number that a spreadsheet shows for the first record; row 1 is the header."""
N_NAMED = 5
"""Samples with missing values that a sentence names."""
VALUE_COLUMNS = ("value", "usual_low", "usual_high", "direction", "percentile")
"""Columns of results about the value of the main reason."""
N_LISTED = 1000
"""Samples with missing values that JSON lists."""


def results_table(findings: Findings) -> pa.Table:
    """Return the samples' own columns, or the id alone, beside `result_columns`."""
    own = findings.samples if findings.id_column is None else findings.samples.select([findings.id_column])
    for name, values in zip(*_named_columns(findings, own.column_names), strict=True):
        own = own.append_column(name, values)
    return own


def written_table(findings: Findings, path: str, *, escape_formulas: bool = False) -> pa.Table:
    """Return the results as they are written to a file, safe for spreadsheets if that is asked for.

    Columns that were read from text are copied as the file has them: all of them to text with delimiters, otherwise
    dates and times, since a type would change how they are written.
    """
    safe = without_formulas if escape_formulas else lambda table: table
    table, texts = results_table(findings), findings.texts or pa.table({})
    written, are_cells = safe(table), writes_cells(path)
    for name, cells in zip(texts.column_names, texts.columns, strict=True):
        values = table.column(name) if name in table.column_names else None
        if values is not None and (are_cells or pa.types.is_timestamp(values.type)):
            # A cell that was read as a value is no formula.
            cells = pc.if_else(values.is_valid(), cells, safe(pa.table({name: cells})).column(0))
            place = table.column_names.index(name)
            written = written.set_column(place, written.column_names[place], cells)
    return written


def result_columns(findings: Findings) -> pa.Table:
    """Return score, p-value and decision of each sample, and of flagged ones the main reason, its value and why.

    A name that the samples have too gets an underscore.
    """
    names, columns = _named_columns(findings, [findings.id_column or "", *findings.samples.column_names])
    return pa.table(columns, names=names)


def _named_columns(findings: Findings, taken: Sequence[str]) -> tuple[list[str], list[pa.Array]]:
    """Return the names, none of which is taken, and the values of the columns of results."""
    n_flagged = findings.n_anomalies
    found = {name: np.full(len(findings.scores), None, dtype=object) for name in ("because", *VALUE_COLUMNS, "why")}
    for row, reason in zip(findings.most_unusual[:n_flagged].tolist(), findings.reasons(n_flagged), strict=True):
        figures = {} if reason.blamed is None else value_figures(reason.blamed)
        # Numbers, times and categories in one column: as text.
        known = {name: str(figures[name]) for name in VALUE_COLUMNS if figures.get(name) is not None}
        for name, entry in (known | {"because": reason.because, "why": reason.sentence}).items():
            found[name][row] = entry
    columns = {
        "score": pa.array(findings.scores, from_pandas=True),
        "p_value": pa.array(findings.p_values, from_pandas=True),
        "decision": pa.array(_decisions(findings)),
        **{name: pa.array(entries, pa.string()) for name, entries in found.items()},
    }
    names = list(taken)
    for name in columns:
        names.append(_free_name(name, names))
    return names[len(taken) :], list(columns.values())


def _decisions(findings: Findings) -> NDArray[np.str_]:
    decisions = np.where(findings.is_anomaly, "anomaly", "nominal").astype("U8")
    decisions[findings.unscored] = "unscored"
    return decisions


def left_out_remarks(findings: Findings) -> list[str]:
    """Return a sentence each on the samples that are not scored and not fitted because of missing values."""
    remarks = []
    if len(findings.unscored):
        remarks.append(unscored_remark(len(findings.unscored), unscored_figures(findings, N_NAMED)))
    if len(findings.model.dropped) and not findings.is_left_out:
        rows = findings.training_rows[findings.model.dropped]
        remarks.append(dropped_remark([findings.row_number(row) for row in rows.tolist()]))
    return remarks


def advice_of(findings: Findings) -> list[str]:
    """Return advice about the fit.

    Of a single table the scores themselves show who is unusual, and a model file does not hold the rows of its fit.
    """
    model = findings.model
    if findings.is_left_out or findings.training is None:
        return model.advice
    names, rows = findings.training_names, findings.training_rows
    return [*model.advice, *clear_outlier_advice(model.scores, lambda row: names[rows[row]])]


def unscored_figures(findings: Findings, n_samples: int) -> list[dict[str, Any]]:
    """Return the first samples that are not scored, by row, and the columns in which a value is missing."""
    return [
        {"row": findings.row_number(row), "columns": findings.missing_in(row)}
        for row in findings.unscored[:n_samples].tolist()
    ]


def unscored_remark(n_samples: int, figures: Sequence[Mapping[str, Any]]) -> str:
    """Return how many samples are not scored, and which are the first.

    Examples
    --------
    >>> unscored_remark(2, [{"row": 7, "columns": ["size"]}, {"row": 9, "columns": ["size", "hour"]}])
    'Not scored because of missing values: 2 samples, row 7 (size), row 9 (size, hour).'
    """
    named = [f"row {entry['row']} ({', '.join(entry['columns'])})" for entry in figures[:N_NAMED]]
    return f"Not scored because of missing values: {_counted(n_samples, named)}."


def dropped_remark(rows: Sequence[int]) -> str:
    """Return how many training samples were left out, and which are the first.

    Examples
    --------
    >>> dropped_remark([3])
    'Not fitted because of missing values: 1 sample, row 3.'
    """
    return f"Not fitted because of missing values: {_counted(len(rows), [f'row {row}' for row in rows[:N_NAMED]])}."


def _counted(n_samples: int, named: Sequence[str]) -> str:
    more = ["…"] if n_samples > len(named) else []
    return ", ".join([f"{n_samples:,} {'sample' if n_samples == 1 else 'samples'}", *named, *more])


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other column has."""
    while name in taken:
        name += "_"
    return name


def criterion_figures(findings: Findings) -> list[dict[str, Any]]:
    """Return the figures of the most unusual sample in each criterion, as JSON can carry them."""
    (reason,) = findings.reasons(1)
    return [
        {
            "criterion": name,
            "p_value": float(reason.criterion_p_values[criterion]),
            "relief": float(reason.relief[criterion]),
            "distance": float(reason.distances[criterion]),
            "nearest": [findings.training_names[row] for row in reason.neighbors[criterion].tolist()],
            "values": [value_figures(value) for value in reason.values.get(criterion, ())],
        }
        for criterion, name in enumerate(findings.model.criteria.names)
    ]


def value_figures(value: ComparedValue) -> dict[str, Any]:
    """Return a value and its typical range, as JSON can carry it.

    Examples
    --------
    >>> value_figures(ComparedValue("shop", "category", "Q", n_same=2, n_samples=900))
    {'column': 'shop', 'value': 'Q', 'n_same': 2, 'n_samples': 900}
    """
    if value.kind == "category":
        return {"column": value.name, "value": value.value, "n_same": value.n_same, "n_samples": value.n_samples}
    own, low, high = (json_value(number, value.kind) for number in (value.value, value.low, value.high))
    percentile = json_value(value.percentile, "number")
    figures = {"column": value.name, "value": own, "usual_low": low, "usual_high": high}
    return figures | {"direction": value.direction or None, "percentile": percentile}


def headline(findings: Findings) -> str:
    """Return how many samples are flagged, and by what.

    Examples
    --------
    >>> from paretodepth import detect
    >>> normal = {"size": np.random.default_rng(0).random(99)}
    >>> headline(detect({"size": [0.5, 3.0]}, normal))
    '1 of 2 records flagged at a false-alarm rate of 5 %'
    """
    flagged = f"{findings.n_anomalies:,} of {_records(findings.n_scored)} flagged"
    if findings.fdr is not None:
        kind = "an estimated" if findings.is_left_out else "a"
        text = f"{flagged} at {kind} false discovery rate of {100 * findings.fdr:.3g} %"
    elif findings.contamination is not None:
        n_clear = len(findings.clear)
        text = (
            f"{n_clear:,} clear {'outlier' if n_clear == 1 else 'outliers'} (estimated false discovery rate "
            f"{100 * ONE_FILE_FDR:.3g} %). The {findings.n_anomalies:,} most unusual of {_records(findings.n_scored)} "
            f"({100 * findings.contamination:.3g} %) are listed for review"
        )
    elif findings.is_left_out and findings.model.alpha is not None:
        text = f"{flagged}, those with a p-value of at most {findings.model.alpha:.3g}"
    elif findings.model.alpha is not None:
        text = f"{flagged} at a false-alarm rate of {100 * findings.model.alpha:.3g} %"
    else:
        text = f"{flagged} above the given threshold"
    if findings.is_left_out and findings.fitted_rows is not None:
        text += f"; each compared with {len(findings.fitted_rows):,} random ones"
    return text


def _records(n_samples: int) -> str:
    return f"{n_samples:,} {'record' if n_samples == 1 else 'records'}"


def summary(findings: Findings, *, n_shown: int = 10) -> dict[str, Any]:
    """Return findings as JSON can carry them, with the flagged samples and the `n_shown` most unusual."""
    model, n_flagged = findings.model, findings.n_anomalies
    n_listed = max(n_flagged, min(n_shown, len(findings.scores)))
    listed_samples = [
        sample_figures(findings, row)
        | {"because": reason.because, "why": reason.sentence}
        | {"values": [value_figures(value) for values in reason.values.values() for value in values]}
        for row, reason in zip(findings.most_unusual[:n_listed].tolist(), findings.reasons(n_listed), strict=True)
    ]
    rated = findings.fdr is not None or findings.contamination is not None
    return {
        "mode": "one file" if findings.is_left_out else "new samples",
        "n_clear": len(findings.clear) if findings.is_left_out else None,
        "headline": headline(findings),
        "n_training": len(model.scores) - len(model.dropped),
        "n_training_dropped": len(model.dropped),
        "n_samples": len(findings.scores),
        "n_unscored": len(findings.unscored),
        "unscored": unscored_figures(findings, N_LISTED),
        "n_anomalies": n_flagged,
        "leave_one_out": findings.is_left_out,
        "method": model.method,
        "alpha": None if rated else model.alpha,
        "fdr": findings.fdr,
        "contamination": findings.contamination,
        "threshold": findings.threshold,
        "criteria": model.criteria.names,
        "advice": advice_of(findings),
        "label": label_figures(findings),
        "most_unusual": listed_samples[:n_shown],
        "anomalies": listed_samples[:n_flagged],
    }


def label_figures(findings: Findings) -> dict[str, Any] | None:
    """Return how well the scores agree with the labels, if there are any."""
    return None if findings.labels is None else findings.labels.figures(findings.scores)


def label_remarks(findings: Findings) -> list[str]:
    """Return how well the scores agree with the labels in words, if there are any."""
    figures = label_figures(findings)
    if figures is None:
        return []
    is_read = figures["column"] in read_columns(findings.detector.criteria, findings.samples.column_names)
    warning = [f"Warning: a criterion reads the label {figures['column']}."] if is_read else []
    return [label_sentence(figures), *warning]


def sample_figures(findings: Findings, row: int) -> dict[str, Any]:
    """Return the score and the p-value of one sample, as JSON can carry them."""
    figures = {"score": float(findings.scores[row]), "p_value": float(findings.p_values[row])}
    return {"row": findings.row_number(row), **figures}
