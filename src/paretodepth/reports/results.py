"""What is told of a detection: a table of results, figures and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._checks import listed, suggestion
from paretodepth.criteria.reference_range import ComparedValue
from paretodepth.reports.decision import ONE_FILE_FDR, n_clear_outliers
from paretodepth.reports.detection import Detection
from paretodepth.reports.reasons import Reason, training_names
from paretodepth.scoring.advice import clear_outlier_advice
from paretodepth.scoring.value_words import plain

N_NAMED = 5
"""Samples without a value that a sentence names."""
VALUE_COLUMNS = ("value", "usual_low", "usual_high", "direction", "percentile")
"""What is told of the blamed value."""
N_LISTED = 1000
"""Those that JSON lists."""


def results_table(detection: Detection, *, id_column: str | None = None) -> pa.Table:
    """Return the samples' own columns, or the id alone, with score, p-value and decision, and why those called are.

    That is the criterion to blame, its value, what is usual, and a sentence.

    A column of ours that the samples have too gets an underscore.
    """
    check_id_column(id_column, detection.samples.column_names)
    own = detection.samples if id_column is None else detection.samples.select([id_column])
    n_called = detection.n_anomalies
    told = {name: np.full(len(own), None, dtype=object) for name in ("because", *VALUE_COLUMNS, "why")}
    for row, reason in zip(detection.strangest[:n_called].tolist(), detection.reasons(n_called), strict=True):
        figures = {} if reason.blamed is None else value_figures(reason.blamed)
        # Numbers, times and categories in one column: as text.
        known = {name: str(figures[name]) for name in VALUE_COLUMNS if figures.get(name) is not None}
        for name, entry in (known | {"because": reason.because, "why": reason.sentence}).items():
            told[name][row] = entry
    columns = {
        "score": pa.array(detection.scores, from_pandas=True),
        "p_value": pa.array(detection.p_values, from_pandas=True),
        "decision": pa.array(_decisions(detection)),
        **{name: pa.array(entries, pa.string()) for name, entries in told.items()},
    }
    for name, values in columns.items():
        own = own.append_column(_free_name(name, own.column_names), values)
    return own


def _decisions(detection: Detection) -> NDArray[np.str_]:
    decisions = np.where(detection.is_anomaly, "anomaly", "nominal").astype("U8")
    decisions[detection.unscored] = "unscored"
    return decisions


def left_out_remarks(detection: Detection) -> list[str]:
    """Return what is to be said of samples that lack a value, a sentence each, if there are any."""
    remarks = []
    if len(detection.unscored):
        remarks.append(unscored_remark(len(detection.unscored), unscored_figures(detection, N_NAMED)))
    if len(detection.model.dropped) and not detection.is_left_out:
        remarks.append(dropped_remark(_fitted_rows(detection)[detection.model.dropped] + detection.count_from))
    return remarks


def advice_of(detection: Detection) -> list[str]:
    """Return advice about the fit, with training samples named as sentences name them.

    Of one file the scores themselves show who is unusual, and a model's file does not hold the rows of its fit.
    """
    if detection.is_left_out or detection.training is None:
        return detection.model.advice
    rows, count_from = _fitted_rows(detection), detection.count_from
    names = training_names(detection.training, detection.id_column, count_from) or range(len(detection.training))
    return [*detection.model.advice, *clear_outlier_advice(detection.model.scores, lambda row: names[rows[row]])]


def _fitted_rows(detection: Detection) -> NDArray[np.intp]:
    """Return which row of its table each fitted sample is."""
    return np.arange(len(detection.model.scores)) if detection.fitted_rows is None else detection.fitted_rows


def unscored_figures(detection: Detection, n_samples: int) -> list[dict[str, Any]]:
    """Return the first samples that are not scored, by row, and the columns in which they lack a value."""
    return [
        {"row": shown_row(detection, row), "columns": detection.lacking(row)}
        for row in detection.unscored[:n_samples].tolist()
    ]


def unscored_remark(n_samples: int, figures: Sequence[Mapping[str, Any]]) -> str:
    """Return how many samples are not scored, and which are the first.

    Examples
    --------
    >>> unscored_remark(2, [{"row": 7, "columns": ["size"]}, {"row": 9, "columns": ["size", "hour"]}])
    'Not scored, for lack of a value: 2 samples, row 7 (size), row 9 (size, hour).'
    """
    named = [f"row {entry['row']} ({', '.join(entry['columns'])})" for entry in figures[:N_NAMED]]
    return f"Not scored, for lack of a value: {_counted(n_samples, named)}."


def dropped_remark(rows: NDArray[np.intp]) -> str:
    """Return how many training samples were left out, and which are the first.

    Examples
    --------
    >>> dropped_remark(np.array([3]))
    'Not learned from, for lack of a value: 1 sample, row 3.'
    """
    return f"Not learned from, for lack of a value: {_counted(len(rows), [f'row {row}' for row in rows[:N_NAMED]])}."


def _counted(n_samples: int, named: Sequence[str]) -> str:
    more = ["and so on"] if n_samples > len(named) else []
    return ", ".join([f"{n_samples:,} {'sample' if n_samples == 1 else 'samples'}", *named, *more])


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other column has."""
    while name in taken:
        name += "_"
    return name


def nth_sample(chunks: Iterable[pa.Table], row: int, source: str, count_from: int = 0) -> pa.Table:
    """Return one row, counted from 0, of the samples that come in chunks, as a table; messages count otherwise."""
    n_before = 0
    for chunk in chunks:
        if n_before <= row < n_before + len(chunk):
            return chunk.slice(row - n_before, 1)
        n_before += len(chunk)
    refuse_row(n_before, row, source, count_from)


def named_sample(chunks: Iterable[pa.Table], id_column: str, name: str, source: str) -> tuple[int, pa.Table]:
    """Return the number and the row, as a table, of the first sample that a column calls by a name."""
    n_before = 0
    for chunk in chunks:
        check_id_column(id_column, chunk.column_names)
        names = [str(value) for value in chunk.column(id_column).to_pylist()]
        if name in names:
            return n_before + names.index(name), chunk.slice(names.index(name), 1)
        n_before += len(chunk)
    refuse_name(name, id_column, source)


def criterion_figures(reason: Reason, names: Sequence[str], count_from: int = 0) -> list[dict[str, Any]]:
    """Return the figures of one sample in each criterion, as JSON can carry them; rows are counted from a number."""
    return [
        {
            "criterion": name,
            "p_value": float(reason.criterion_p_values[criterion]),
            "relief": float(reason.relief[criterion]),
            "distance": float(reason.distances[criterion]),
            "nearest": (reason.neighbors[criterion] + count_from).tolist(),
            "values": [value_figures(value) for value in reason.values.get(criterion, ())],
        }
        for criterion, name in enumerate(names)
    ]


def value_figures(value: ComparedValue) -> dict[str, Any]:
    """Return a value beside what is usual, as JSON can carry it.

    Examples
    --------
    >>> value_figures(ComparedValue("shop", "category", "Q", n_same=2, n_samples=900))
    {'column': 'shop', 'value': 'Q', 'n_same': 2, 'n_samples': 900}
    """
    if value.kind == "category":
        return {"column": value.name, "value": value.value, "n_same": value.n_same, "n_samples": value.n_samples}
    own, low, high = (plain(number, value.kind) for number in (value.value, value.low, value.high))
    percentile = plain(value.percentile, "number")
    figures = {"column": value.name, "value": own, "usual_low": low, "usual_high": high}
    return figures | {"direction": value.direction or None, "percentile": percentile}


def headline(detection: Detection) -> str:
    """Return how many samples are called, and what that promises.

    Examples
    --------
    >>> from paretodepth import ParetoDepthDetector
    >>> from paretodepth.reports import detect
    >>> nominal = pa.table({"size": np.random.default_rng(0).random(99)})
    >>> headline(detect(ParetoDepthDetector(), nominal, pa.table({"size": [0.5, 3.0]})))
    '1 of 2 samples called anomalies, at a false-alarm rate of 5%'
    """
    n_samples = detection.n_scored
    if detection.is_left_out:
        return _one_file_headline(detection)
    text = f"{detection.n_anomalies:,} of {n_samples:,} samples called {'anomaly' if n_samples == 1 else 'anomalies'}"
    if detection.fdr is not None:
        text += f", at a false discovery rate of {detection.fdr:.3g}"
    elif detection.model.alpha is not None:
        text += f", at a false-alarm rate of {100 * detection.model.alpha:.3g}%"
    return text


def _one_file_headline(detection: Detection) -> str:
    """Return how many samples of one file are called, and by what; nobody knows which of them are nominal."""
    n_called = detection.n_anomalies
    whom = "all the others"
    if detection.fitted_rows is not None:
        whom = f"{len(detection.fitted_rows):,} random ones"
    text = f"The strangest of {detection.n_scored:,} samples, each compared with {whom}: "
    if detection.fdr is not None:
        return text + _standing_out(n_called, detection.fdr)
    if detection.contamination is not None:
        rest = _standing_out(n_clear_outliers(detection.tail_p_values), ONE_FILE_FDR)
        return f"{text}{n_called:,} called, {100 * detection.contamination:.3g}%; {rest}"
    if detection.model.alpha is not None:
        return f"{text}{n_called:,} called, those with a p-value of at most {detection.model.alpha:.3g}"
    return f"{text}{n_called:,} called, beyond the threshold that was given"


def _standing_out(n_samples: int, fdr: float) -> str:
    who = f"{n_samples:,} stand" if n_samples > 1 else "one stands" if n_samples else "none stands"
    return f"{who} out beyond what the rest suggests (estimated false discovery rate of {100 * fdr:.3g}%)"


def summary(detection: Detection, *, n_shown: int = 10) -> dict[str, Any]:
    """Return the figures of a detection, the called samples and the strangest, as JSON can carry them.

    The strangest come first, `n_shown` of them whether they are called or not.
    """
    model, n_called = detection.model, detection.n_anomalies
    n_told = max(n_called, min(n_shown, len(detection.scores)))
    told = [
        sample_figures(detection, row)
        | {"because": reason.because, "why": reason.sentence}
        | {"values": [value_figures(value) for values in reason.values.values() for value in values]}
        for row, reason in zip(detection.strangest[:n_told].tolist(), detection.reasons(n_told), strict=True)
    ]
    rated = detection.fdr is not None or detection.contamination is not None
    return {
        "mode": "one file" if detection.is_left_out else "new samples",
        "n_standing_out": n_clear_outliers(detection.tail_p_values) if detection.is_left_out else None,
        "headline": headline(detection),
        "n_training": len(model.scores) - len(model.dropped),
        "n_training_dropped": len(model.dropped),
        "n_samples": len(detection.scores),
        "n_unscored": len(detection.unscored),
        "unscored": unscored_figures(detection, N_LISTED),
        "n_anomalies": n_called,
        "leave_one_out": detection.is_left_out,
        "method": model.method,
        "alpha": None if rated else model.alpha,
        "fdr": detection.fdr,
        "contamination": detection.contamination,
        "threshold": detection.threshold,
        "criteria": model.criteria.names,
        "advice": advice_of(detection),
        "label": label_figures(detection),
        "strangest": told[:n_shown],
        "anomalies": told[:n_called],
    }


def label_figures(detection: Detection) -> dict[str, Any] | None:
    """Return how well the scores agree with the labels, if there are any."""
    return None if detection.labels is None else detection.labels.figures(detection.scores)


def sample_figures(detection: Detection, row: int) -> dict[str, Any]:
    """Return the score and the p-value of one sample, as JSON can carry them."""
    figures = {"score": float(detection.scores[row]), "p_value": float(detection.p_values[row])}
    return {"row": shown_row(detection, row), **figures}


def shown_row(detection: Detection, row: int) -> int:
    """Return what a row of the samples is called."""
    return detection.count_from + detection.first_row + row


def check_id_column(name: str | None, names: Sequence[str]) -> str | None:
    """Return a column of the samples, or None."""
    if name is not None and name not in names:
        raise ValueError(
            f"The id must be a column of the samples. Got '{name}' instead{suggestion(name, names)}; there are "
            f"{listed(names[:20])}."
        )
    return name


def check_row_number(row: str, source: str, count_from: int = 0) -> int:
    """Return a row that is given as text, as counted from 0."""
    if not row.removeprefix("-").isdecimal():
        raise ValueError(
            f"{source}: the row must be a number, counted from {count_from}. Got '{row}' instead; to name a sample, "
            "give --id too."
        )
    return int(row) - count_from


def refuse_name(name: str, id_column: str, source: str) -> NoReturn:
    """Raise an error about a sample that is not there."""
    raise ValueError(f"{source}: '{id_column}' must be '{name}' in some row. Got none; leave out --id to count rows.")


def refuse_row(n_rows: int, row: int, source: str, count_from: int = 0) -> NoReturn:
    """Raise an error about a row, counted from 0, that is not there."""
    first, last = count_from, count_from + n_rows - 1
    raise ValueError(f"{source}: the row must be from {first} to {last}. Got {count_from + row} instead.")
