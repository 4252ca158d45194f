"""What is usual in each column of the training samples, as the report draws it beside a sample's own value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paretodepth.criteria.kinds import column_kind
from paretodepth.reports.cells import cell
from paretodepth.reports.lines import rounded

Json = dict[str, Any]
N_BINS = 32
N_QUANTILES = 201
MAX_CATEGORIES = 40
"""Texts of a column that are drawn as bars; with more of them it is text, and nothing is drawn."""
DRAWN_SHARE = 0.005
"""Of the smallest and of the largest values so many are drawn at the edge: one of them could flatten all others."""
LOG_RATIO = 50.0
"""Positive values of such a range, from the median to the largest drawn, stand on a logarithmic axis."""


def usual_column(column: pa.ChunkedArray, cell_letters: int) -> Json | None:
    """Return how the values of a column are spread; None if that cannot be drawn.

    Numbers come with a histogram and quantiles, texts and truth values with their counts, times with the hours of
    the day.
    """
    column = column.drop_null()
    kind = column_kind(column.type)
    if not len(column):
        return None
    if kind == "text" or pa.types.is_boolean(column.type):
        return _categories(column, cell_letters)
    if kind == "numbers":
        values = np.asarray(column.cast(pa.float64(), safe=False))
        values = values[np.isfinite(values)]
        return _numbers(values) if len(values) else None
    return _hours(column) if pa.types.is_timestamp(column.type) else None


def _numbers(values: NDArray[np.float64]) -> Json:
    quantiles = np.quantile(values, np.linspace(0, 1, N_QUANTILES), method="nearest")
    low, middle, high = np.quantile(values, [DRAWN_SHARE, 0.5, 1 - DRAWN_SHARE], method="nearest")
    is_logarithmic = low > 0 and high > LOG_RATIO * middle
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.geomspace(low, high, N_BINS + 1) if is_logarithmic else np.linspace(low, high, N_BINS + 1)
    counts = np.histogram(np.clip(values, low, high), np.maximum.accumulate(edges))[0]
    return {
        "kind": "numbers",
        "low": float(low),
        "high": float(high),
        "log": bool(is_logarithmic),
        "counts": counts.tolist(),
        "quantiles": rounded(quantiles, 6),
    }


def _categories(column: pa.ChunkedArray, cell_letters: int) -> Json | None:
    found = pc.value_counts(column.combine_chunks())
    counts = np.asarray(found.field("counts"))
    if len(counts) > MAX_CATEGORIES:
        return None
    order = np.argsort(-counts, kind="stable")
    values = [cell(found.field("values")[int(place)].as_py(), cell_letters) for place in order]
    # Texts that are cut alike cannot be told apart on the page.
    return (
        {"kind": "categories", "values": values, "counts": counts[order].tolist()}
        if len(set(values)) == len(values)
        else None
    )


def _hours(column: pa.ChunkedArray) -> Json | None:
    seconds = np.asarray(
        pc.add(pc.multiply(pc.hour(column), 3600), pc.add(pc.multiply(pc.minute(column), 60), pc.second(column)))
    )
    if not seconds.any():
        return None
    return {"kind": "hours", "counts": np.bincount(seconds // 3600, minlength=24).tolist()}


def time_column(table: pa.Table) -> str | None:
    """Return the first column of points in time, if there is one."""
    types = pa.types
    return next((f.name for f in table.schema if types.is_timestamp(f.type) or types.is_date(f.type)), None)


def milliseconds(column: pa.ChunkedArray) -> list[int | None]:
    """Return points in time as a browser counts them, since 1970."""
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    values: list[int | None] = column.cast(pa.timestamp("ms", tz=zone), safe=False).cast(pa.int64()).to_pylist()
    return values
