"""What the report shows, as JSON can carry it: figures of all samples, and details of the strangest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._blocks import stride
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.reports.cells import cell, short_name, short_sentence, shown_columns
from paretodepth.reports.decision import ONE_FILE_FDR, n_clear_outliers
from paretodepth.reports.detection import Detection
from paretodepth.reports.lines import drawings, rounded
from paretodepth.reports.reasons import TOGETHER, Reason
from paretodepth.reports.results import advice_of, headline, label_figures, left_out_remarks, shown_row
from paretodepth.reports.usual import milliseconds, time_column, usual_figures
from paretodepth.scoring.advice import is_cut
from paretodepth.scoring.model import Model

Json = dict[str, Any]
N_BINS = 60
N_DOTS = 1500
"""Nominal dyads drawn as dots."""
N_DOT_SAMPLES = 60
"""Nominal samples whose dyads these are, if the fronts hold none of all criteria."""
N_LINES = 9
"""Fronts drawn for a pair of criteria."""
MAX_LINE_POINTS = 60
MAX_PAIRED_CRITERIA = 8
"""Criteria for whose pairs fronts are drawn; with more of them only dots."""
MAX_SORTED = 500_000
"""Nominal dyads that are sorted anew for the fronts of a pair among three and more criteria."""
MAX_DYADS = 120
"""Dyads drawn of one sample."""
EXPLAINED_PAIRS = 40_000
"""Pairs of criteria, times samples, that are explained though not flagged: with many criteria this takes long."""
N_NEIGHBORS = 3
"""Nearest nominal samples shown for each criterion."""
N_CROWD = 500
"""Nominal samples that a sample's values are drawn among."""
N_BACKGROUND = 60
"""Nominal lines that a sample is drawn over."""
MAX_NOMINAL = 10_000
"""Nominal scores that a moved threshold's false-alarm rate is told from."""
N_KEY_ROWS = 500
"""Samples by which a browser knows a table again."""


def page_figures(
    detection: Detection,
    title: str,
    n_samples: int,
    n_explained: int,
    cell_letters: int,
    *,
    id_column: str | None = None,
) -> Json:
    """Return what is shown of all samples: counts, distribution, advice, and the table.

    Parameters
    ----------
    detection : Detection
    title : str
    n_samples : int
        So many samples, the strangest, are in the table; the others are only counted.
    n_explained : int
        Of so many, the strangest, it is told why.
    cell_letters : int
        Text in cells is cut to so many letters.
    id_column : str or None, default=None
        Names the samples, and comes first.
    """
    model = detection.model
    columns = _page_columns(detection, id_column)
    names = [short_name(name) for name in model.criteria.names]
    long_names = sorted({*model.criteria.names, *columns} - {*names, *map(short_name, columns)}, key=len, reverse=True)
    rows = detection.strangest[:n_samples]
    # Of one file nobody knows who is nominal: all its samples are drawn.
    nominal = np.sort(detection.scores if detection.is_left_out else model.scores)
    nominal = nominal[~np.isnan(nominal)]
    usual = _usual(detection, columns, rows, cell_letters)
    return {
        "title": short_name(title),
        "headline": headline(detection),
        "n_training": len(model.scores) - len(model.dropped),
        "n_samples": detection.n_scored,
        "n_more": detection.n_scored - len(rows),
        "n_anomalies": detection.n_anomalies,
        "left_out": detection.is_left_out,
        "method": model.method,
        "alpha": model.alpha,
        "fdr": detection.fdr,
        "contamination": detection.contamination,
        "n_standing_out": n_clear_outliers(detection.tail_p_values) if detection.is_left_out else None,
        "stand_out_fdr": ONE_FILE_FDR,
        "fitted_some": detection.fitted_rows is not None,
        "label": label_figures(detection),
        "threshold": detection.threshold,
        "score": score_sentence(model),
        "fronts": fronts_sentence(model),
        "exactness": exactness_sentence(detection),
        "advice": [short_sentence(text, long_names) for text in (*left_out_remarks(detection), *advice_of(detection))],
        "criteria": names,
        "metrics": [str(getattr(c.metric, "__name__", c.metric)) for c in model.criteria.fitted],
        "n_neighbors": model.measurer.n_neighbors.tolist(),
        "together": TOGETHER,
        "bins": _bins(nominal, detection.scores[~np.isnan(detection.scores)]),
        "nominal": nominal.tolist() if len(nominal) <= MAX_NOMINAL else _spread(nominal, MAX_NOMINAL).tolist(),
        "columns": [short_name(name) for name in columns],
        "has_id": id_column in columns,
        "count_from": detection.count_from,
        "criterion_columns": _criterion_columns(detection, columns),
        "usual": usual,
        "fitted": _are_fitted(detection, rows),
        "time": _times(detection, rows),
        "samples_key": _samples_key(detection.samples.select(columns)),
        "samples": _reason_columns(detection.reasons(n_explained), long_names)
        | _own_figures(detection, columns, rows, usual, cell_letters),
    }


def explained_samples(detection: Detection) -> int:
    """Return the number of samples to explain: all flagged ones, and others, the fewer the more criteria there are."""
    n_criteria = len(detection.model.criteria.fitted)
    return max(detection.n_anomalies, EXPLAINED_PAIRS // max(1, n_criteria * (n_criteria - 1) // 2))


def _read_columns(detection: Detection) -> list[list[str]]:
    """Return the columns that each criterion reads."""
    names = _names(detection)
    return [[names[column] for column in fitted.columns] for fitted in detection.model.criteria.fitted]


def _names(detection: Detection) -> list[str]:
    """Return the names of the columns that criteria number."""
    return detection.model.criteria.layout.feature_names or detection.samples.column_names


def _page_columns(detection: Detection, id_column: str | None) -> list[str]:
    """Return the columns that the page shows, the id first."""
    return shown_columns(detection.samples, chain.from_iterable(_read_columns(detection)), id_column)


def _criterion_columns(detection: Detection, columns: Sequence[str]) -> list[list[int]]:
    """Return which of the shown columns each criterion reads."""
    places = {name: place for place, name in enumerate(columns)}
    return [[places[name] for name in read if name in places] for read in _read_columns(detection)]


def _usual(detection: Detection, columns: Sequence[str], rows: NDArray[np.intp], cell_letters: int) -> list[Json]:
    """Return what is usual in the shown columns that criteria read."""
    if not len(rows):
        return []
    return usual_figures(detection.model, detection.columns_of(rows), _names(detection), columns, cell_letters)


def _times(detection: Detection, rows: NDArray[np.intp]) -> Json | None:
    """Return when the samples were, if a column tells."""
    name = time_column(detection.samples)
    if name is None:
        return None
    return {"column": short_name(name), "values": milliseconds(detection.samples.column(name).take(rows))}


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


def exactness_sentence(detection: Detection) -> str:
    """Return whether scores are exact, or why they are estimates."""
    model, estimates = detection.model, []
    if detection.fitted_rows is not None and detection.training is not None:
        n_rows = len(detection.training)
        estimates.append(f"only {len(detection.fitted_rows):,} random rows of {n_rows:,} were fitted")
    fronts = model.fronts
    if isinstance(fronts, PairFronts) and any(map(is_cut, fronts.fronts)):
        estimates.append("depths beyond the last front kept of a pair are estimated from random dyads")
    elif isinstance(fronts, Fronts) and is_cut(fronts):
        estimates.append(f"dyads beyond front {len(fronts):,}, the last one kept, share one depth")
    n_fitted = len(model.scores) - len(model.dropped)
    exact = f"All scores are exact for the {n_fitted:,} samples fitted."
    return f"Scores are estimates: {'; '.join(estimates)}." if estimates else exact


def _samples_key(samples: pa.Table) -> str:
    """Return by what a browser knows these samples again, so that marks stay with them in another report."""
    rows = np.linspace(0, len(samples) - 1, min(N_KEY_ROWS, len(samples))).astype(int)
    some = samples.take(rows)
    cells = [[str(value) for value in column.to_pylist()] for column in some.columns]
    return hashlib.sha256(json.dumps([len(samples), some.column_names, cells]).encode()).hexdigest()[:16]


def _spread(values: NDArray[np.float64], n_kept: int) -> NDArray[np.float64]:
    """Return some values spread evenly over all, the first and the last among them."""
    spread: NDArray[np.float64] = values[np.linspace(0, len(values) - 1, n_kept).astype(int)]
    return spread


def _bins(nominal: NDArray[np.float64], scores: NDArray[np.float64]) -> Json:
    """Return how many scores fall between the same edges, which get wider the larger the score."""
    everything = np.concatenate([nominal, scores])
    low, high = _places(everything.min()), _places(everything.max())
    edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    counts = [np.histogram(_places(values), edges)[0].tolist() for values in (nominal, scores)]
    return {"edges": (np.sign(edges) * np.expm1(abs(edges))).tolist(), "nominal": counts[0], "samples": counts[1]}


def _places(scores: Any) -> Any:
    """Return where scores are drawn, as log(1 + score); a blend may score a little below 0."""
    return np.sign(scores) * np.log1p(abs(scores))


def _are_fitted(detection: Detection, rows: NDArray[np.intp]) -> list[bool]:
    """Tell which samples are training samples, who are not counted among those that they are compared with."""
    if not detection.is_left_out:
        return [False] * len(rows)
    fitted: list[bool] = np.isin(rows, rows if detection.fitted_rows is None else detection.fitted_rows).tolist()
    return fitted


def _own_figures(
    detection: Detection, columns: list[str], rows: NDArray[np.intp], usual: Sequence[Json], cell_letters: int
) -> Json:
    """Return the columns of the table that need no explanation, the strangest sample first."""
    own = detection.samples.select(columns).take(rows)
    ends = [_ends(usual, place) for place in range(len(columns))]
    return {
        "row": [shown_row(detection, row) for row in rows.tolist()],
        "score": detection.scores[rows].tolist(),
        "p": rounded(detection.p_values[rows]),
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
    """Return the columns of the table that an explanation brings, the strangest sample first."""
    return {
        "because": [reason.suspect for reason in reasons],
        "sentence": [short_sentence(reason.sentence, long_names) for reason in reasons],
        "criterion_p": [rounded(reason.criterion_p_values, 3) for reason in reasons],
        "relief": [rounded(reason.relief, 3) for reason in reasons],
    }


def page_details(detection: Detection, n_detailed: int, cell_letters: int, *, id_column: str | None = None) -> Json:
    """Return what is shown of a clicked sample beyond the table, for so many of the strangest.

    Their dyads, dots and fronts of nominal dyads to draw these over, and of training samples, if they are there,
    those nearest to each sample, some to draw it among, and lines to draw its own over.
    """
    rows = detection.strangest[:n_detailed]
    neighbors = [
        [nearest[:N_NEIGHBORS].tolist() for nearest in reason.neighbors] for reason in detection.reasons(n_detailed)
    ]
    details = {"n": len(rows), "neighbors": neighbors, "dyads": _dyads(detection, rows)}
    training = detection.training
    if training is None:
        return details | {"training_columns": [], "training": None, "crowd": [], "drawings": []}
    near = sorted({row for sample in neighbors for nearest in sample for row in nearest})
    some = np.random.default_rng(0).permutation(len(training))[:N_CROWD].tolist()
    shown = _page_columns(detection, id_column)
    own = training.select([name for name in shown if name in training.column_names])
    return details | {
        # By their place among the columns of the table: names may be cut alike.
        "training_columns": [shown.index(name) for name in own.column_names],
        "training": dict(zip(near, _rows_of_cells(own, near, cell_letters), strict=True)),
        "crowd": _rows_of_cells(own, some, cell_letters),
        "drawings": [
            {
                "name": short_name(drawing.name),
                "kind": drawing.kind,
                "samples": [drawing.line(detection.samples, row) for row in rows.tolist()],
                "nominal": {row: drawing.line(training, row) for row in {*some[:N_BACKGROUND], *near}},
                "background": some[:N_BACKGROUND],
            }
            for drawing in drawings(detection.model.criteria, detection.samples)
            if set(drawing.columns) <= set(training.column_names)
        ],
    }


def _rows_of_cells(table: pa.Table, rows: Sequence[int], cell_letters: int) -> list[list[Any]]:
    taken = table.take(np.asarray(rows, dtype=np.intp))
    columns = [[cell(value, cell_letters) for value in column.to_pylist()] for column in taken.columns]
    return [list(cells) for cells in zip(*columns, strict=True)] if columns else [[] for _ in rows]


def _dyads(detection: Detection, rows: NDArray[np.intp]) -> Json:
    """Return the samples' dyads, and nominal dyads and fronts to draw them over, for two and more criteria."""
    model = detection.model
    n_criteria = len(model.criteria.fitted)
    if n_criteria == 1:
        return {"pairs": []}
    fronts = model.fronts
    nominal = fronts.dyads if isinstance(fronts, Fronts) else model.some_dyads(N_DOT_SAMPLES)
    # Axes are logarithmic, so that zero is drawn where the smallest dissimilarity is.
    floor = np.full(n_criteria, np.inf)
    for criterion, values in _nominal_columns(fronts):
        floor[criterion] = values[values > 0].min(initial=floor[criterion])
    floor[np.isinf(floor)] = 1.0
    dots = nominal[np.random.default_rng(0).permutation(len(nominal))[:N_DOTS]]
    samples = detection.nearest_dyads(rows) if len(rows) else np.empty((0, 0, n_criteria))
    kept = np.unique(np.linspace(0, samples.shape[1] - 1, min(MAX_DYADS, samples.shape[1])).astype(int))
    return {
        "dots": [rounded(column, 3) for column in np.maximum(dots, floor).T],
        "samples": [[rounded(column, 3) for column in np.maximum(sample[kept], floor).T] for sample in samples],
        "pairs": [
            {"first": first, "second": second, "fronts": _front_lines(fronts, first, second, floor)}
            for first, second in combinations(range(n_criteria), 2)
        ],
    }


def _nominal_columns(fronts: Fronts | PairFronts) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Give criteria, some more than once, with dissimilarities of nominal samples in them."""
    if isinstance(fronts, Fronts):
        yield from enumerate(fronts.dyads.T)
    else:
        for criteria, of_pair in zip(fronts.criteria.tolist(), fronts.fronts, strict=True):
            yield from zip(criteria, of_pair.dyads.T, strict=True)


def _front_lines(fronts: Fronts | PairFronts, first: int, second: int, floor: NDArray[np.float64]) -> list[Json]:
    """Return some fronts under two criteria, from the first to the last; of more criteria, of these two alone."""
    of_pair = _fronts_of_pair(fronts, first, second, len(floor))
    if of_pair is None:
        return []
    numbers = np.unique(np.geomspace(1, len(of_pair), N_LINES).astype(int))
    lines = []
    for number in numbers.tolist():
        points = of_pair.front(number)
        kept = np.unique(np.linspace(0, len(points) - 1, min(MAX_LINE_POINTS, len(points))).astype(int))
        x, y = np.maximum(points[kept], floor[[first, second]]).T
        lines.append({"number": number, "x": rounded(x, 3), "y": rounded(y, 3)})
    return lines


def _fronts_of_pair(fronts: Fronts | PairFronts, first: int, second: int, n_criteria: int) -> Fronts | None:
    """Return the fronts of two criteria; None if the page would get too long, or they were not made."""
    if n_criteria > MAX_PAIRED_CRITERIA:
        return None
    if isinstance(fronts, Fronts):
        dyads = fronts.dyads
        if n_criteria == 2:
            return fronts
        return Fronts.from_dyads(dyads[stride(len(dyads), MAX_SORTED)][:, [first, second]])
    made = {(int(a), int(b)): of_pair for (a, b), of_pair in zip(fronts.criteria, fronts.fronts, strict=True)}
    return made.get((first, second))
