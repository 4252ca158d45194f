"""Tables written as text, JSON, Parquet, Arrow and workbooks."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from paretodepth._checks import check_extra, one_line, shortened
from paretodepth.tables.cells import TEXT
from paretodepth.tables.expected_columns import Write
from paretodepth.tables.json import as_json

ARROW_ROWS = 1024
STREAM_ENDING = ".arrows"
MAX_ROWS = 1_048_576
"""Rows that a sheet of Excel has, the header included."""
MAX_TEXT = 32_767
"""Characters of a cell of Excel."""
MAX_EXACT = 1 << 53
FIRST_YEAR = 1900
FORMULA = r"^[=+\-@\t\r]"
MARK = "'"


@contextlib.contextmanager
def delimited_writer(delimiter: str, file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as lines; the header is written before."""
    # Names are cells and need quotation marks as these do.
    header = pa.table([[name] for name in schema.names], names=schema.names)
    file.writelines(_lines(header, delimiter))
    yield lambda table: file.writelines(_lines(table, delimiter))


def _lines(table: pa.Table, delimiter: str) -> Iterator[bytes]:
    """Yield rows as lines of text, many at a time."""
    for batch in table.to_batches():
        columns = zip(batch.columns, batch.schema, strict=True)
        cells = [_cells(array, field, delimiter) for array, field in columns]
        lines = pc.binary_join_element_wise(*cells, delimiter, null_handling="replace", null_replacement="")
        yield "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _cells(array: pa.Array, field: pa.Field, delimiter: str) -> pa.Array:
    """Return values as cells, in quotation marks where the text needs them; lists as JSON."""
    try:
        cells = _nested_cells(array) if pa.types.is_nested(field.type) else array.cast(TEXT)
    except pa.ArrowException as error:
        refuse_cells(field.name, field.type, error)
    if pa.types.is_floating(field.type):
        # 2 would come back as an integer.
        return pc.replace_substring_regex(cells, "^(-?[0-9]+)$", r"\1.0")
    needs_quotes = pc.match_substring_regex(cells, f'["\r\n{delimiter}]|^$')
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
    return pc.if_else(needs_quotes, quoted, cells)


def _nested_cells(array: pa.Array) -> pa.Array:
    return pa.array([None if value is None else as_json(value) for value in array.to_pylist()], TEXT)


@contextlib.contextmanager
def json_lines_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as JSON lines."""
    yield lambda table: file.writelines(f"{as_json(row)}\n".encode() for row in table.to_pylist())


@contextlib.contextmanager
def json_list_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as objects of one list, a line each."""
    before = itertools.chain(["[\n"], itertools.repeat(",\n"))
    yield lambda table: file.writelines(f"{next(before)}{as_json(row)}".encode() for row in table.to_pylist())
    file.write(b"\n]\n" if next(before) == ",\n" else b"[]\n")


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


def without_formulas(table: pa.Table) -> pa.Table:
    """Return a table with an apostrophe before every text, names of columns too, that may begin a formula.

    Examples
    --------
    >>> without_formulas(pa.table({"name": ["=1+1", "a=b", None], "-x": [-1, 2, 3]})).to_pydict()
    {'name': ["'=1+1", 'a=b', None], "'-x": [-1, 2, 3]}
    """
    names = [f"{MARK}{name}" if name[0] in "=+-@\t\r" else name for name in table.column_names]
    return pa.table([_marked(column) for column in table.columns], names=names)


def _marked(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    marked = pc.binary_join_element_wise(pa.scalar(MARK, column.type), column, pa.scalar("", column.type))
    return pc.if_else(pc.match_substring_regex(column, FORMULA), marked, column)


def refuse_cells(name: str, type: pa.DataType, error: Exception) -> NoReturn:
    """Raise an error about a column that cannot be written as text."""
    raise ValueError(
        f"The column '{name}' of the type {type} must be writable as text. Got this instead: {one_line(error)}; "
        "drop the column or write Parquet."
    ) from error
