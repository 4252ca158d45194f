"""What the report shows, as JSON can carry it: figures of all samples, and details of the strangest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth.criteria.kinds import column_kind
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.reports.decision import ONE_FILE_FDR, n_standing_out
from paretodepth.reports.detection import Detection
from paretodepth.reports.lines import drawings, rounded
from paretodepth.reports.reasons import TOGETHER, Reason
from paretodepth.reports.results import headline, label_figures, left_out_remarks
from paretodepth.scoring.model import Model

Json = dict[str, Any]
MAX_COLUMNS = 12
"""Own columns of the samples that the table shows."""
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
N_NEIGHBORS = 3
"""Nearest nominal samples shown for each criterion."""
N_BACKGROUND = 60
"""Nominal lines that a sample is drawn over."""
MAX_NOMINAL = 10_000
"""Nominal scores that a moved threshold's false-alarm rate is told from."""
N_KEY_ROWS = 500
"""Samples by which a browser knows a table again."""


def page_figures(detection: Detection, title: str, n_samples: int, cell_letters: int) -> Json:
    """Return what is shown of all samples: counts, distribution, advice, and the table.

    Parameters
    ----------
    detection : Detection
    title : str
    n_samples : int
        So many samples, the strangest, are in the table; the others are only counted.
    cell_letters : int
        Text in cells is cut to so many letters.
    """
    model = detection.model
    rows = detection.strangest[:n_samples]
    # Of one file nobody knows who is nominal: all its samples are drawn.
    nominal = np.sort(detection.scores if detection.is_left_out else model.scores)
    nominal = nominal[~np.isnan(nominal)]
    return {
        "title": title,
        "headline": headline(detection),
        "n_training": len(model.scores) - len(model.dropped),
        "n_samples": detection.n_scored,
        "n_more": detection.n_scored - len(rows),
        "left_out": detection.is_left_out,
        "method": model.method,
        "alpha": model.alpha,
        "fdr": detection.fdr,
        "contamination": detection.contamination,
        "n_standing_out": n_standing_out(detection.stand_out_p_values) if detection.is_left_out else None,
        "stand_out_fdr": ONE_FILE_FDR,
        "fitted_some": detection.fitted_rows is not None,
        "label": label_figures(detection),
        "threshold": detection.threshold,
        **_front_figures(model),
        "exact": bool(model.is_exact),
        "advice": [*left_out_remarks(detection), *model.advice],
        "criteria": model.criteria.names,
        "metrics": [str(getattr(c.metric, "__name__", c.metric)) for c in model.criteria.fitted],
        "n_neighbors": model.measurer.n_neighbors.tolist(),
        "together": TOGETHER,
        "bins": _bins(nominal, detection.scores[~np.isnan(detection.scores)]),
        "nominal": nominal.tolist() if len(nominal) <= MAX_NOMINAL else _spread(nominal, MAX_NOMINAL).tolist(),
        "columns": shown_columns(detection.samples),
        "samples_key": _samples_key(detection.samples),
        "samples": _reason_columns(detection.reasons(n_samples)) | _own_figures(detection, rows, cell_letters),
    }


def _front_figures(model: Model) -> Json:
    """Return how many fronts there are, of how many pairs of criteria if of pairs, and whether deeper ones were cut."""
    fronts = model.fronts
    if isinstance(fronts, Fronts):
        max_depth, n_pairs, is_capped = fronts.max_depth, 0, fronts.max_depth is not None
    else:
        # A single criterion stands for itself, not for a pair.
        n_pairs = len(fronts.criteria) if fronts.criteria.shape[1] == 2 else 0
        max_depth, is_capped = None, any(part.max_depth is not None for part in fronts.fronts)
    return {"n_fronts": model.n_fronts, "max_depth": max_depth, "n_pairs": n_pairs, "capped": is_capped}


def _samples_key(samples: pa.Table) -> str:
    """Return by what a browser knows these samples again, so that marks stay with them in another report."""
    rows = np.linspace(0, len(samples) - 1, min(N_KEY_ROWS, len(samples))).astype(int)
    some = samples.select(shown_columns(samples)).take(rows)
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


def _own_figures(detection: Detection, rows: NDArray[np.intp], cell_letters: int) -> Json:
    """Return the columns of the table that need no explanation, the strangest sample first."""
    own = detection.samples.select(shown_columns(detection.samples)).take(rows)
    return {
        "row": rows.tolist(),
        "score": detection.scores[rows].tolist(),
        "p": rounded(detection.p_values[rows]),
        "cells": [[cell(value, cell_letters) for value in column.to_pylist()] for column in own.columns],
    }


def _reason_columns(reasons: Sequence[Reason]) -> Json:
    """Return the columns of the table that an explanation brings, the strangest sample first."""
    return {
        "because": [reason.suspect for reason in reasons],
        "sentence": [reason.sentence for reason in reasons],
        "criterion_p": [rounded(reason.criterion_p_values, 3) for reason in reasons],
        "relief": [rounded(reason.relief, 3) for reason in reasons],
        "distance": [rounded(reason.distances, 3) for reason in reasons],
    }


def shown_columns(table: pa.Table) -> list[str]:
    """Return the columns of single values, as many as the table shows."""
    return [field.name for field in table.schema if column_kind(field.type) != "lists"][:MAX_COLUMNS]


def cell(value: Any, most: int) -> str | int | float | bool | None:
    """Return a value as a cell: a number with six digits, or text of at most so many letters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.6g}")
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def page_details(detection: Detection, n_detailed: int, cell_letters: int) -> Json:
    """Return what is shown of a clicked sample beyond the table, for so many of the strangest.

    Their dyads and nearest nominal samples, the cells and lines of these, and what all samples are drawn over: dots
    and fronts of nominal dyads, and nominal lines.
    """
    rows = detection.strangest[:n_detailed]
    training = check_training(detection.training)
    neighbors = [
        [nearest[:N_NEIGHBORS].tolist() for nearest in reason.neighbors] for reason in detection.reasons(n_detailed)
    ]
    near = sorted({row for sample in neighbors for nearest in sample for row in nearest})
    background = np.random.default_rng(0).permutation(len(training))[:N_BACKGROUND].tolist()
    own = training.select([name for name in shown_columns(detection.samples) if name in training.column_names])
    return {
        "n": len(rows),
        "neighbors": neighbors,
        "training_columns": own.column_names,
        "training": {row: [cell(column[row].as_py(), cell_letters) for column in own.columns] for row in near},
        "dyads": _dyads(detection, rows),
        "drawings": [
            {
                "name": drawing.name,
                "kind": drawing.kind,
                "samples": [drawing.line(detection.samples, row) for row in rows.tolist()],
                "nominal": {row: drawing.line(training, row) for row in {*background, *near}},
                "background": background,
            }
            for drawing in drawings(detection.model.criteria, detection.samples)
            if set(drawing.columns) <= set(training.column_names)
        ],
    }


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
    return {
        "dots": [rounded(column, 3) for column in np.maximum(dots, floor).T],
        "samples": [[rounded(column, 3) for column in np.maximum(sample, floor).T] for sample in samples],
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
        return Fronts.from_dyads(dyads[:: -(-len(dyads) // MAX_SORTED)][:, [first, second]])
    made = {(int(a), int(b)): of_pair for (a, b), of_pair in zip(fronts.criteria, fronts.fronts, strict=True)}
    return made.get((first, second))


def check_training(table: Any) -> Any:
    """Return the training samples of a detection."""
    if table is None:
        raise ValueError("A report must be made of a detection with its training samples. Got none; use `detect`.")
    return table
