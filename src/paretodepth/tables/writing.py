"""Tables written as Parquet, Arrow and workbooks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from paretodepth._checks import check_extra, shortened
from paretodepth.tables.expected_columns import Write
from paretodepth.tables.json_lines import as_json

ARROW_ROWS = 1024
STREAM_ENDING = ".arrows"
MAX_ROWS = 1_048_576
"""Rows that a sheet of Excel has, the header included."""
MAX_TEXT = 32_767
"""Characters of a cell of Excel."""
MAX_EXACT = 1 << 53
FIRST_YEAR = 1900


@contextlib.contextmanager
def parquet_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes a table to a Parquet file."""
    with pq.ParquetWriter(file, schema) as parquet:
        yield parquet.write_table


@contextlib.contextmanager
def arrow_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes a table in the file format, to standard output and ``.arrows`` as a stream."""
    # The file format has its index at the end, for which who reads a pipe would have to wait.
    is_stream = path == "-" or path.lower().endswith(STREAM_ENDING)
    with pa.ipc.new_stream(file, schema) if is_stream else pa.ipc.new_file(file, schema) as arrow:
        yield lambda table: arrow.write_table(table, ARROW_ROWS)


@contextlib.contextmanager
def workbook_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table to the only sheet of a workbook, below a header."""
    xlsxwriter = check_extra("xlsxwriter", "excel")
    # Row by row, for a workbook in memory takes some hundred bytes a cell.
    book = xlsxwriter.Workbook(file, {"constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss"})
    sheet = book.add_worksheet()
    for column, name in enumerate(schema.names):
        sheet.write_string(0, column, name)
    n_rows = 1

    def write(table: pa.Table) -> None:
        nonlocal n_rows
        check_sheet_rows(n_rows + len(table), path)
        for row in table.to_pylist():
            for column, value in enumerate(row.values()):
                _write_cell(sheet, n_rows, column, value)
            n_rows += 1

    try:
        yield write
    except BaseException:
        # What was written goes nowhere; only by closing does it delete its temporary files.
        book.filename = io.BytesIO()
        raise
    finally:
        book.close()


def _write_cell(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write a value; what a sheet's numbers cannot hold, and text that looks like a formula, as text."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and abs(value) < MAX_EXACT:
        sheet.write_number(row, column, value)
    elif isinstance(value, datetime) and value.tzinfo is None and value.year >= FIRST_YEAR:
        sheet.write_datetime(row, column, value)
    else:
        text = as_json(value) if isinstance(value, list | dict) else str(value)
        sheet.write_string(row, column, check_cell_text(text))


def check_sheet_rows(n_rows: int, path: str) -> None:
    """Refuse more rows than a sheet has."""
    if n_rows > MAX_ROWS:
        raise ValueError(f"{path}: must hold at most {MAX_ROWS:,} rows. Got more; write CSV or Parquet instead.")


def check_cell_text(text: str) -> str:
    """Return text that fits into a cell."""
    if len(text) > MAX_TEXT:
        raise ValueError(
            f"A cell of a spreadsheet must hold at most {MAX_TEXT:,} characters. Got {len(text):,} in "
            f"{shortened(text)}; write CSV or Parquet instead."
        )
    return text
