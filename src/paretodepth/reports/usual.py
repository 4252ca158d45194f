"""The usual ranges that the model keeps, as the report draws them beside a record's own value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from paretodepth.criteria.reference_range import ComparedValue, ReferenceRange
from paretodepth.criteria.values import Columns
from paretodepth.reports.cells import cell, short_name
from paretodepth.reports.lines import rounded
from paretodepth.scoring.model import Model
from paretodepth.scoring.value_words import own_text, range_text

Json = dict[str, Any]
MAX_CATEGORIES = 40
"""Categories of a column that are drawn as bars; of more, nothing is drawn."""


def usual_figures(
    model: Model, samples: Columns, names: Sequence[str], shown: Sequence[str], cell_letters: int
) -> list[Json]:
    """Return the typical range of each shown column, one entry for each way that criteria read it.

    `names` are those of the columns of the fit. Entries of times and categories also hold what the samples have, as
    numbers to compare and draw; other numbers stand in the page's cells.
    """
    found: dict[tuple[str, str], Json] = {}
    for fitted in model.criteria.fitted:
        for usual in fitted.typical:
            column, drawn = names[usual.column], _drawn(usual, cell_letters)
            if column not in shown or drawn is None or (column, usual.kind) in found:
                continue
            entry = {"column": shown.index(column), "name": short_name(usual.name), "kind": usual.kind, **drawn}
            if usual.kind not in ("number", "phase"):
                entry |= _own(usual, fitted.values(usual, samples))
            found[column, usual.kind] = entry
    return list(found.values())


def _drawn(usual: ReferenceRange, cell_letters: int) -> Json | None:
    """Return the usual range and how values are spread; None if that cannot be drawn."""
    if usual.kind == "category":
        return _categories(usual, cell_letters)
    low, high = usual.ends
    has_range = not math.isnan(low)
    return {
        "low": low if has_range else None,
        "high": high if has_range else None,
        "range": range_text(ComparedValue(usual.name, usual.kind, 0.0, low, high)) if has_range else None,
        "period": usual.period,
        **_histogram(usual),
    }


def _categories(usual: ReferenceRange, cell_letters: int) -> Json | None:
    ranked = usual.ranked_categories
    values = [cell(category, cell_letters) for category in ranked]
    # Texts that are cut alike cannot be told apart on the page.
    if len(ranked) > MAX_CATEGORIES or len(set(values)) < len(values):
        return None
    return {"values": values, "counts": [usual.counts[category] for category in ranked], "n_samples": usual.n_samples}


def _histogram(usual: ReferenceRange) -> Json:
    low, high, is_logarithmic, counts = usual.histogram()
    return {"start": low, "end": high, "log": is_logarithmic, "counts": counts}


def _own(usual: ReferenceRange, values: Any) -> Json:
    """Return what samples have: categories by their place, -1 for an unknown one; times as numbers and as text."""
    if usual.kind == "category":
        places = {category: place for place, category in enumerate(usual.ranked_categories)}
        return {"own": [None if value is None else places.get(value, -1) for value in values]}
    compared = [usual.compared(value) for value in values.tolist()]
    return {"own": rounded(values, 17), "texts": [own_text(value) if value.is_known else None for value in compared]}


def time_column(table: pa.Table) -> str | None:
    """Return the first column of points in time, if there is one."""
    types = pa.types
    return next((f.name for f in table.schema if types.is_timestamp(f.type) or types.is_date(f.type)), None)


def milliseconds(column: pa.ChunkedArray) -> list[int | None]:
    """Return points in time as a browser counts them, since 1970."""
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    values: list[int | None] = column.cast(pa.timestamp("ms", tz=zone), safe=False).cast(pa.int64()).to_pylist()
    return values
