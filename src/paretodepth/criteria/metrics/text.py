"""Metrics of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_extra, check_flag
from paretodepth.criteria.metrics.metric import Encoding, Metric, Parameter, State
from paretodepth.criteria.values import Columns, check_single, refuse_value

RAPIDFUZZ = ("rapidfuzz", "text")


def _cdist(A: Encoding, B: Encoding, scorer: Any, state: State) -> NDArray[np.float64]:
    process = check_extra("rapidfuzz.process", "text")
    block: NDArray[np.float64] = process.cdist(A, B, scorer=scorer, dtype=np.float64, workers=state["n_threads"])
    return block


def _levenshtein(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    levenshtein = check_extra("rapidfuzz.distance", "text").Levenshtein
    return _cdist(A, B, levenshtein.normalized_distance if state["normalized"] else levenshtein.distance, state)


def _jaro_winkler(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return _cdist(A, B, check_extra("rapidfuzz.distance", "text").JaroWinkler.distance, state)


def _token_set(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    block = 1 - _cdist(A, B, check_extra("rapidfuzz.fuzz", "text").token_set_ratio, state) / 100
    # rapidfuzz takes strings without words for dissimilar.
    is_blank_a, is_blank_b = (np.array([not text.split() for text in texts]) for texts in (A, B))
    block[np.outer(is_blank_a, is_blank_b)] = 0.0
    return block


def check_texts(columns: Columns, state: State) -> Encoding:
    """Return a column of strings."""
    array = check_single(columns)
    for sample, value in columns.entries:
        if not isinstance(value, str):
            refuse_value(value, sample, columns, "strings")
    return array.astype(object)


def _rapidfuzz(name: str, summary: str, block: Any, *parameters: Parameter) -> Metric:
    return Metric(
        name,
        summary,
        check_texts,
        block,
        kind="text",
        source="rapidfuzz",
        parameters=parameters,
        extra=RAPIDFUZZ,
        is_threaded=True,
        costly_length=50,
    )


METRICS = (
    _rapidfuzz(
        "levenshtein",
        "number of letters to insert, delete or replace: codes, names, typing errors",
        _levenshtein,
        Parameter("normalized", False, "divide by the length of the longer string: fewer ties", check_flag),
    ),
    _rapidfuzz(
        "jaro_winkler",
        "one less the share of letters in common and in order, beginnings first: short names",
        _jaro_winkler,
    ),
    _rapidfuzz(
        "token_set",
        "share of words not in common, whatever their order and repetition: descriptions, addresses",
        _token_set,
    ),
)
