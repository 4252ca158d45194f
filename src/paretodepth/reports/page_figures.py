"""The figures that the report shows of all samples: the table, reasons, typical ranges, the distribution of scores."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._blocks import evenly_spaced
from paretodepth.criteria.reference_range import ComparedValue, ReferenceRange, shown_number
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.reports.decision import ONE_FILE_FDR
from paretodepth.reports.reasons import Reason
from paretodepth.reports.results import FIRST_ROW, advice_of, headline, label_figures, left_out_remarks
from paretodepth.scoring.advice import is_cut
from paretodepth.scoring.model import Model
from paretodepth.scoring.sample_values import own_text, range_text
from paretodepth.scoring.sentences import COMBINATION
from paretodepth.tables.expected_columns import column_kind

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

Json = dict[str, Any]
MAX_COLUMNS = 16
"""Own columns of the samples that the table shows."""
NAME_LETTERS = 160
"""Letters that a name or a title keeps."""
SENTENCE_LETTERS = 1500
N_SCORE_BINS = 60
EXPLAINED_PAIRS = 40_000
"""Pairs of criteria, times samples, that are explained though not flagged: with many criteria this takes long."""
MAX_NOMINAL = 10_000
"""Normal scores from which the page computes the false-alarm rate of a moved threshold."""
N_KEY_ROWS = 500
"""Samples by which a browser recognizes a table."""
MAX_CATEGORIES = 40
"""Categories of a column that are shown as bars; of more, nothing is shown."""


def page_figures(findings: Findings, title: str, n_samples: int, n_explained: int, cell_letters: int) -> Json:
    """Return what is shown of all samples: counts, distribution, advice, and the table.

    The table holds the `n_samples` most unusual ones, and reasons of the first `n_explained`; the others are only
    counted. Text in cells is cut to `cell_letters` characters.
    """
    model = findings.model
    columns = page_columns(findings)
    names = [short_name(name) for name in model.criteria.names]
    long_names = sorted({*model.criteria.names, *columns} - {*names, *map(short_name, columns)}, key=len, reverse=True)
    rows = findings.most_unusual[:n_samples]
    # Of a single table it is not known which samples are normal, so all are shown.
    nominal = np.sort(findings.scores if findings.is_left_out else model.scores)
    nominal = nominal[~np.isnan(nominal)]
    usual = usual_figures(findings, columns, rows, cell_letters)
    return {
        "title": short_name(title),
        "headline": headline(findings),
        "n_training": len(model.scores) - len(model.dropped),
        "n_samples": findings.n_scored,
        "n_more": findings.n_scored - len(rows),
        "n_anomalies": findings.n_anomalies,
        "left_out": findings.is_left_out,
        "method": model.method,
        "alpha": model.alpha,
        "fdr": findings.fdr,
        "contamination": findings.contamination,
        "n_standing_out": len(findings.clear) if findings.is_left_out else None,
        "stand_out_fdr": ONE_FILE_FDR,
        "fitted_some": findings.fitted_rows is not None,
        "label": label_figures(findings),
        "threshold": findings.threshold,
        "score": score_sentence(model),
        "fronts": fronts_sentence(model),
        "exactness": exactness_sentence(findings),
        "advice": [short_sentence(text, long_names) for text in (*left_out_remarks(findings), *advice_of(findings))],
        "criteria": names,
        "metrics": [str(getattr(c.metric, "__name__", c.metric)) for c in model.criteria.fitted],
        "n_neighbors": model.measurer.n_neighbors.tolist(),
        "together": COMBINATION,
        "bins": _bins(nominal, findings.scores[~np.isnan(findings.scores)]),
        "nominal": nominal[evenly_spaced(len(nominal), MAX_NOMINAL)].tolist(),
        "columns": [short_name(name) for name in columns],
        "has_id": findings.id_column in columns,
        "count_from": FIRST_ROW,
        "criterion_columns": _criterion_columns(findings, columns),
        "usual": usual,
        "fitted": _are_fitted(findings, rows),
        "time": _times(findings, rows),
        "samples_key": _samples_key(findings.samples.select(columns)),
        "samples": _reason_columns(findings.reasons(n_explained), long_names)
        | _own_figures(findings, columns, rows, usual, cell_letters),
    }


def explained_samples(findings: Findings) -> int:
    """Return the number of samples to explain: all flagged ones, and others, the fewer the more criteria there are."""
    n_criteria = len(findings.model.criteria.fitted)
    return max(findings.n_anomalies, EXPLAINED_PAIRS // max(1, n_criteria * (n_criteria - 1) // 2))


def _read_columns(findings: Findings) -> list[list[str]]:
    """Return the columns that each criterion reads."""
    names = _names(findings)
    return [[names[column] for column in fitted.columns] for fitted in findings.model.criteria.fitted]


def _names(findings: Findings) -> list[str]:
    """Return the names of the columns that criteria number."""
    return findings.model.criteria.layout.feature_names or findings.samples.column_names


def page_columns(findings: Findings) -> list[str]:
    """Return the columns that the page shows, the id first."""
    return shown_columns(findings.samples, chain.from_iterable(_read_columns(findings)), findings.id_column)


def _criterion_columns(findings: Findings, columns: Sequence[str]) -> list[list[int]]:
    """Return which of the shown columns each criterion reads."""
    places = {name: place for place, name in enumerate(columns)}
    return [[places[name] for name in read if name in places] for read in _read_columns(findings)]


def _times(findings: Findings, rows: NDArray[np.intp]) -> Json | None:
    """Return the first column of points in time, as a browser counts them, in milliseconds since 1970; None if none."""
    types = pa.types
    moments = (f.name for f in findings.samples.schema if types.is_timestamp(f.type) or types.is_date(f.type))
    if (name := next(moments, None)) is None:
        return None
    column = findings.samples.column(name).take(rows)
    zone = column.type.tz if types.is_timestamp(column.type) else None
    values = column.cast(pa.timestamp("ms", tz=zone), safe=False).cast(pa.int64()).to_pylist()
    return {"column": short_name(name), "values": values}


def score_sentence(model: Model) -> str:
    """Return what the score of a method is."""
    if model.method == "depth":
        return "The score is the mean Pareto depth of a sample's dyads."
    parts = ["of the distances in all criteria together", "of the Pareto depth in pairs of criteria"]
    if len(model.criteria.fitted) == 1:
        parts = ["of the distances to the nearest samples", "of the Pareto depth"]
    else:
        parts = ["of the most unusual criterion, times the number of criteria", *parts]
    number = "three" if len(parts) == 3 else "two"
    return (
        f"The score is minus the natural logarithm of the harmonic mean of {number} p-values with extrapolated tails: "
        f"that {'; that '.join(parts)}."
    )


def fronts_sentence(model: Model) -> str:
    """Return how many fronts there are, and of how many pairs of criteria if of pairs."""
    fronts = model.fronts
    # A single criterion stands for itself, not for a pair.
    n_pairs = 0 if isinstance(fronts, Fronts) or fronts.criteria.shape[1] == 1 else len(fronts.criteria)
    of_pairs = f" of {n_pairs:,} {'pair' if n_pairs == 1 else 'pairs'} of criteria" if n_pairs else ""
    return f"{model.n_fronts:,} fronts{of_pairs}."


def exactness_sentence(findings: Findings) -> str:
    """Return whether scores are exact, or why they are estimates."""
    model, estimates = findings.model, []
    if findings.fitted_rows is not None and findings.training is not None:
        n_rows = len(findings.training)
        estimates.append(f"only {len(findings.fitted_rows):,} random rows of {n_rows:,} were fitted")
    fronts = model.fronts
    if isinstance(fronts, PairFronts) and any(map(is_cut, fronts.fronts)):
        estimates.append("depths beyond the last front kept of a pair are estimated from random dyads")
    elif isinstance(fronts, Fronts) and is_cut(fronts):
        estimates.append(f"dyads beyond front {len(fronts):,}, the last one kept, share one depth")
    n_fitted = len(model.scores) - len(model.dropped)
    exact = f"All scores are exact for the {n_fitted:,} samples fitted."
    return f"Scores are estimates: {'; '.join(estimates)}." if estimates else exact


def _samples_key(samples: pa.Table) -> str:
    """Return a key by which a browser recognizes these samples, so that their review status stays with them."""
    some = samples.take(evenly_spaced(len(samples), N_KEY_ROWS))
    cells = [[str(value) for value in column.to_pylist()] for column in some.columns]
    return hashlib.sha256(json.dumps([len(samples), some.column_names, cells]).encode()).hexdigest()[:16]


def _bins(nominal: NDArray[np.float64], scores: NDArray[np.float64]) -> Json:
    """Return how many scores fall between the same edges, which get wider the larger the score."""
    everything = np.concatenate([nominal, scores])
    low, high = _log_position(everything.min()), _log_position(everything.max())
    edges = np.linspace(low, high if high > low else low + 1, N_SCORE_BINS + 1)
    counts = [np.histogram(_log_position(values), edges)[0].tolist() for values in (nominal, scores)]
    return {"edges": (np.sign(edges) * np.expm1(abs(edges))).tolist(), "nominal": counts[0], "samples": counts[1]}


def _log_position(scores: Any) -> Any:
    """Return log(1 + score), where scores are shown; a blend may score a little below 0."""
    return np.sign(scores) * np.log1p(abs(scores))


def _are_fitted(findings: Findings, rows: NDArray[np.intp]) -> list[bool]:
    """Return which samples are training samples, which are not compared with themselves."""
    if not findings.is_left_out:
        return [False] * len(rows)
    fitted: list[bool] = np.isin(rows, rows if findings.fitted_rows is None else findings.fitted_rows).tolist()
    return fitted


def _own_figures(
    findings: Findings, columns: list[str], rows: NDArray[np.intp], usual: Sequence[Json], cell_letters: int
) -> Json:
    """Return the columns of the table that need no explanation, the most unusual sample first."""
    own = findings.samples.select(columns).take(rows)
    ends = [_ends(usual, place) for place in range(len(columns))]
    return {
        "row": [findings.row_number(row) for row in rows.tolist()],
        "score": findings.scores[rows].tolist(),
        "p": rounded(findings.p_values[rows]),
        "cells": [
            [cell(value, cell_letters, of_column) for value in column.to_pylist()]
            for column, of_column in zip(own.columns, ends, strict=True)
        ],
    }


def _ends(usual: Sequence[Json], column: int) -> list[float]:
    """Return the ends of the usual ranges of a column of numbers."""
    ranges = [entry for entry in usual if entry["column"] == column and entry["kind"] == "number"]
    return [entry[end] for entry in ranges for end in ("low", "high")]


def _reason_columns(reasons: Sequence[Reason], long_names: Sequence[str]) -> Json:
    """Return the columns of the table that an explanation brings, the most unusual sample first."""
    return {
        "because": [reason.suspect for reason in reasons],
        "sentence": [short_sentence(reason.sentence, long_names) for reason in reasons],
        "criterion_p": [rounded(reason.criterion_p_values, 3) for reason in reasons],
        "relief": [rounded(reason.relief, 3) for reason in reasons],
    }


def usual_figures(findings: Findings, shown: Sequence[str], rows: NDArray[np.intp], cell_letters: int) -> list[Json]:
    """Return the typical range of each shown column, one entry for each way that criteria read it.

    Entries of times and categories also hold what the samples have, as numbers to compare and draw; other numbers
    stand in the page's cells.
    """
    found: dict[tuple[str, str], Json] = {}
    names = _names(findings)
    samples = findings.columns_of(rows) if len(rows) else None
    for fitted in findings.model.criteria.fitted:
        for usual in fitted.typical:
            column, spread = names[usual.column], _spread(usual, cell_letters)
            if samples is None or column not in shown or spread is None or (column, usual.kind) in found:
                continue
            entry = {"column": shown.index(column), "name": short_name(usual.name), "kind": usual.kind, **spread}
            if usual.kind not in ("number", "phase"):
                entry |= _own(usual, fitted.values(usual, samples))
            found[column, usual.kind] = entry
    return list(found.values())


def _spread(usual: ReferenceRange, cell_letters: int) -> Json | None:
    """Return the typical range and the spread of values; None if that cannot be shown."""
    if usual.kind == "category":
        return _categories(usual, cell_letters)
    low, high = usual.ends
    has_range, histogram = not math.isnan(low), usual.histogram()
    return {
        "low": low if has_range else None,
        "high": high if has_range else None,
        "range": range_text(ComparedValue(usual.name, usual.kind, 0.0, low, high)) if has_range else None,
        "period": usual.period,
        "start": histogram.low,
        "end": histogram.high,
        "log": histogram.is_logarithmic,
        "counts": histogram.counts,
    }


def _categories(usual: ReferenceRange, cell_letters: int) -> Json | None:
    ranked = usual.ranked_categories
    values = [cell(category, cell_letters) for category in ranked]
    # Texts with the same first characters look equal on the page.
    if len(ranked) > MAX_CATEGORIES or len(set(values)) < len(values):
        return None
    return {"values": values, "counts": [usual.counts[category] for category in ranked], "n_samples": usual.n_samples}


def _own(usual: ReferenceRange, values: Any) -> Json:
    """Return what samples have: categories by their place, -1 for an unknown one; times as numbers and as text."""
    if usual.kind == "category":
        places = {category: place for place, category in enumerate(usual.ranked_categories)}
        return {"own": [None if value is None else places.get(value, -1) for value in values]}
    compared = [usual.compared(value) for value in values.tolist()]
    return {"own": rounded(values, 17), "texts": [own_text(value) if value.is_known else None for value in compared]}


def shown_columns(table: pa.Table, read: Iterable[str] = (), first: str | None = None) -> list[str]:
    """Return the columns of single values that the table shows, those that criteria read before the others.

    Examples
    --------
    >>> table = pa.table({"id": ["x"], "track": [[1.0]], "a": [1], "b": [2]})
    >>> shown_columns(table), shown_columns(table, first="b")
    (['id', 'a', 'b'], ['b', 'id', 'a'])
    """
    single = [field.name for field in table.schema if column_kind(field.type) != "lists"]
    named = [first] if first in single else []
    wanted = set(read)
    ranked = [*named, *single[:1], *(name for name in single if name in wanted), *single]
    kept = list(dict.fromkeys(ranked))[:MAX_COLUMNS]
    return [*named, *(name for name in single if name in kept and name not in named)]


def cell(value: Any, most: int, ends: Sequence[float] = ()) -> str | int | float | bool | None:
    """Return a value as a cell: a number as sentences show it, given the `ends` of its range, or text cut to `most`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value == value // 1 and abs(value) < 2**53:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return shown_number(value, ends)
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def short_name(name: str, most: int = NAME_LETTERS) -> str:
    """Return a name, cut in its middle if it is long: names often begin alike.

    Examples
    --------
    >>> short_name("temperature in the hall", 9)
    'temp…hall'
    """
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def short_sentence(sentence: str, long_names: Sequence[str]) -> str:
    """Return a sentence with its long names cut, and cut itself if it is still long."""
    for name in long_names:
        sentence = sentence.replace(name, short_name(name))
    return sentence if len(sentence) <= SENTENCE_LETTERS else f"{sentence[:SENTENCE_LETTERS]}…"


def rounded(values: NDArray[np.float64] | Sequence[float], digits: int = 4) -> list[float | None]:
    """Return values with a few significant digits, as JSON can carry them: None for those that are not finite."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]
