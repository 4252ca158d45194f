"""What is told of a detection: the criterion to blame, a table of results, figures and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._checks import listed, suggestion
from paretodepth.detector import ParetoDepthDetector
from paretodepth.reports.detection import Detection, scored
from paretodepth.scoring.explanation import Explanation

TOGETHER = "several together"
"""Who is to blame for a sample that is far in no criterion alone."""


def suspects(explanation: Explanation) -> NDArray[np.intp]:
    """Return the criterion most to blame for each sample, by index; -1 if it is far in none alone.

    That is the one with the smallest p-value, of several the one with the largest distance in multiples of
    the usual.
    """
    first = np.lexsort((-explanation.distances, explanation.criterion_p_values), axis=1)[:, 0]
    return np.where(explanation.is_far.any(axis=1), first, -1)


def blamed_criteria(explanation: Explanation) -> list[str | None]:
    """Return the name of the criterion most to blame for each anomaly, None for the others."""
    names = [*explanation.criteria, TOGETHER]
    blamed = zip(explanation.is_anomaly, suspects(explanation), strict=True)
    return [names[index] if called else None for called, index in blamed]


def results_table(detection: Detection, *, id_column: str | None = None) -> pa.Table:
    """Return the samples' own columns, or the id alone, with score, p-value, decision and the criterion to blame.

    A column of ours that the samples have too gets an underscore.
    """
    check_id_column(id_column, detection.samples.column_names)
    own = detection.samples if id_column is None else detection.samples.select([id_column])
    called = np.flatnonzero(detection.is_anomaly)
    blamed = np.full(len(own), None, dtype=object)
    if len(called):
        blamed[called] = blamed_criteria(detection.explanation(called))
    decision = np.where(detection.is_anomaly, "anomaly", "nominal")
    columns = {"score": detection.scores, "p_value": detection.p_values, "decision": decision}
    for name, values in columns.items():
        own = own.append_column(_free_name(name, own.column_names), pa.array(values))
    return own.append_column(_free_name("because", own.column_names), pa.array(blamed, pa.string()))


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other column has."""
    while name in taken:
        name += "_"
    return name


def result_chunks(
    detector: ParetoDepthDetector, chunks: Iterable[pa.Table], columns: list[str], *, id_column: str | None = None
) -> Iterator[tuple[Detection, pa.Table]]:
    """Yield what is found in one chunk of samples after another, and its table of results."""
    for chunk in chunks:
        found = scored(detector, chunk, columns)
        yield found, results_table(found, id_column=id_column)


def nth_sample(chunks: Iterable[pa.Table], row: int, source: str) -> pa.Table:
    """Return one row of the samples that come in chunks, as a table."""
    n_before = 0
    for chunk in chunks:
        if n_before <= row < n_before + len(chunk):
            return chunk.slice(row - n_before, 1)
        n_before += len(chunk)
    refuse_row(n_before, row, source)


def criterion_figures(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the figures of each criterion for the only sample of an explanation, as JSON can carry them."""
    return [
        {
            "criterion": name,
            "p_value": float(explanation.criterion_p_values[0, criterion]),
            "relief": float(explanation.relief[0, criterion]),
            "distance": float(explanation.distances[0, criterion]),
            "nearest": explanation.neighbors[criterion][0].tolist(),
        }
        for criterion, name in enumerate(explanation.criteria)
    ]


def headline(detection: Detection) -> str:
    """Return how many samples are called, and what that promises.

    Examples
    --------
    >>> from paretodepth.criteria.suggestion import chosen_criteria
    >>> from paretodepth.reports.detection import detect
    >>> nominal = pa.table({"size": np.random.default_rng(0).random(99)})
    >>> headline(detect(nominal, pa.table({"size": [0.5, 3.0]}), chosen_criteria(nominal)))
    '1 of 2 samples called anomalies, at a false-alarm rate of 5%'
    """
    n_called, n_samples = int(detection.is_anomaly.sum()), len(detection.scores)
    text = f"{n_called:,} of {n_samples:,} samples called {'anomaly' if n_samples == 1 else 'anomalies'}"
    if detection.fdr is not None:
        text += f", at a false discovery rate of {detection.fdr:.3g}"
    elif detection.detector.alpha_ is not None:
        text += f", at a false-alarm rate of {100 * detection.detector.alpha_:.3g}%"
    return f"{text}; each compared with all others" if detection.is_left_out else text


def summary(detection: Detection) -> dict[str, Any]:
    """Return the figures of a detection and the called samples, the strangest first, as JSON can carry them."""
    detector = detection.detector
    called = detection.strangest[: int(detection.is_anomaly.sum())]
    samples = []
    if len(called):
        explanation = detection.explanation(called)
        reasons = zip(called.tolist(), blamed_criteria(explanation), explanation.sentences, strict=True)
        samples = [
            {
                "row": row,
                "score": float(detection.scores[row]),
                "p_value": float(detection.p_values[row]),
                "because": because,
                "why": sentence,
            }
            for row, because, sentence in reasons
        ]
    return {
        "n_training": len(detector.training_scores_),
        "n_samples": len(detection.scores),
        "n_anomalies": len(called),
        "leave_one_out": detection.is_left_out,
        "score": detector.method,
        "alpha": None if detection.fdr is not None else detector.alpha_,
        "fdr": detection.fdr,
        "threshold": detection.threshold,
        "criteria": [criterion.name for criterion in detector.criteria_],
        "advice": detector.advice_,
        "anomalies": samples,
    }


def check_id_column(name: str | None, names: Sequence[str]) -> str | None:
    """Return a column of the samples, or None."""
    if name is not None and name not in names:
        raise ValueError(
            f"The id must be a column of the samples. Got '{name}' instead{suggestion(name, names)}; there are "
            f"{listed(names[:20])}."
        )
    return name


def refuse_row(n_rows: int, row: int, source: str) -> NoReturn:
    """Raise an error about a row that is not there; rows are counted from 0."""
    raise ValueError(f"{source}: the row must be from 0 to {n_rows - 1}. Got {row} instead.")
