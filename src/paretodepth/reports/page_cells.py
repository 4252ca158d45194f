"""Cells and names as the report shows them: numbers with few digits, text cut to a length."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth.criteria.reference_range import shown_number
from paretodepth.tables.expected_columns import column_kind

MAX_COLUMNS = 16
"""Own columns of the samples that the table shows."""
NAME_LETTERS = 160
"""Letters that a name or a title keeps."""
SENTENCE_LETTERS = 1500


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
