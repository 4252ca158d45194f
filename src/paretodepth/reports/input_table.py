"""A table as callers give it: a file, a data frame, a dict of columns or an array, typed by the same rules."""

from __future__ import annotations

import os
from datetime import date
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from paretodepth.criteria.values import is_missing
from paretodepth.tables.binary import plain_array
from paretodepth.tables.cells import settled_columns
from paretodepth.tables.delimited import decimal_mark
from paretodepth.tables.expected_columns import Expected, split_text
from paretodepth.tables.files import read_table
from paretodepth.tables.reading import Reading, check_reading

N_SNIFFED = 1000
"""Rows of a data frame that show the decimal mark of its text cells."""


def input_table(
    table: Any, caller: str, *, format: str | Reading | None = None, schema: pa.Schema | None = None
) -> tuple[pa.Table, pa.Table]:
    """Return a table with typed columns, and by column the cells of text that a file has in their place.

    Text in a data frame is typed as the cells of a CSV file are: as numbers, dates or booleans where all cells are.
    With a `schema`, its columns must be there and hold the same kinds of values; others are kept.
    """
    if isinstance(table, str | os.PathLike):
        return split_text(read_table(table, format=format, schema=schema, keep_others=True, keep_text=True))
    expected = Expected(schema, True, check_reading(format))
    typed = _typed_text(_arrow_table(table, caller), expected, caller)
    return typed.cast(expected.resolved(typed.schema, f"The table given to {caller}")), pa.table({})


def source_name(table: Any, caller: str) -> str:
    """Return the name of a table for messages: that of its file, if it is one."""
    return os.fspath(table) if isinstance(table, str | os.PathLike) else f"The table given to {caller}"


def _arrow_table(table: Any, caller: str) -> pa.Table:
    """Return a table of pyarrow with plain types; columns without names are x0, x1 and so on."""
    try:
        if isinstance(table, dict):
            columns = {name: _arrow_array(values) for name, values in table.items()}
        elif nw.dependencies.is_into_dataframe(table):
            frame = nw.from_native(table, eager_only=True)
            columns = {str(series.name): _arrow_array(series.to_native()) for series in frame.iter_columns()}
        else:
            array = np.asarray(table)
            columns = {f"x{place}": pa.array(values) for place, values in enumerate(array.T)} if array.ndim == 2 else {}
        found = pa.table(columns)
    except (pa.ArrowException, TypeError, ValueError) as error:
        refuse_table(table, caller, str(error))
    return found if found.num_columns else refuse_table(table, caller, "there are no columns")


def _arrow_array(values: Any) -> pa.Array:
    """Return a column of plain type, single values of several types as text."""
    try:
        if isinstance(values, pa.ChunkedArray):
            array = values.combine_chunks()
        else:
            array = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        cells = [None if is_missing(value) else value for value in values]
        if not all(value is None or isinstance(value, str | Real | date) for value in cells):
            raise
        array = pa.array([None if value is None else str(value) for value in cells])
    plain = plain_array(array)
    return plain.cast(pa.string()) if pa.types.is_large_string(plain.type) else plain


def _typed_text(table: pa.Table, expected: Expected, caller: str) -> pa.Table:
    """Return a table whose columns of text are typed as those of a file."""
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    if not texts:
        return table
    (batch,) = table.select(texts).combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    some = [cell for column in batch.slice(0, N_SNIFFED).columns for cell in column.drop_null().to_pylist()]
    decimal = expected.reading.decimal or decimal_mark(some, ",") or "."
    source = f"The table given to {caller}"
    columns = settled_columns(iter([batch]), texts, expected, source, decimal=decimal)
    for name, column, cells in zip(texts, columns, batch.columns, strict=True):
        table = table.set_column(table.column_names.index(name), name, column.values(cells))
    return table


def refuse_table(table: Any, caller: str, reason: str) -> pa.Table:
    """Raise an error about a table that cannot be read."""
    raise TypeError(
        f"The table given to {caller} must be a file, a data frame of pandas, polars or pyarrow, a dict of columns or "
        f"an array of two dimensions. Got {type(table).__name__} instead: {reason}."
    )
