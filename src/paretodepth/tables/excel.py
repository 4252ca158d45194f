"""Tables as spreadsheets: .xlsx and .ods read, .xlsx written. The extra 'excel' brings what it takes.

Old workbooks (.xls, .xlsb) are not read: how far their cells reach cannot be told before they take the memory.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO

import pyarrow as pa

from paretodepth._checks import check_extra, listed, shortened, suggestion
from paretodepth.tables.cells import TEXT, settled_columns, typed_batches
from paretodepth.tables.expected_columns import Batches, Expected, Write, check_distinct_names
from paretodepth.tables.json_lines import as_json
from paretodepth.tables.source import refuse_unreadable
from paretodepth.tables.workbook_sizes import check_workbook_size

BATCH_ROWS = 10_000
MAX_ROWS = 1_048_576
"""Rows that a sheet of Excel has, the header included."""
MAX_TEXT = 32_767
"""Characters of a cell of Excel."""
MAX_EXACT = 1 << 53
FIRST_YEAR = 1900


def read(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a sheet, below its first row that is not blank."""
    calamine = check_extra("python_calamine", "excel")
    check_workbook_size(file, source)
    file.seek(0)
    try:
        book = calamine.CalamineWorkbook.from_filelike(file)
        sheet = book.get_sheet_by_name(check_sheet(expected.reading.sheet, book.sheet_names, source))
        rows = sheet.to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError) as error:
        refuse_unreadable(source, "excel", error)
    names, cells = _header_and_cells(rows[expected.reading.skip_rows :], source)
    batches = [_text_batch(cells[start : start + BATCH_ROWS], names) for start in range(0, len(cells), BATCH_ROWS)]
    del rows, cells
    columns = settled_columns(iter(batches), names, expected, source)
    # A workbook has values, of which text is only made here.
    yield from typed_batches(iter(batches), names, columns, expected._replace(keeps_text=False), source)


def _header_and_cells(rows: list[list[Any]], source: str) -> tuple[list[str], list[list[Any]]]:
    """Return the names of columns and the rows below, without blank rows and columns without name or value."""
    filled = [row for row in rows if any(cell != "" for cell in row)]
    header, cells = (filled[0], filled[1:]) if filled else ([], [])
    kept = [column for column, name in enumerate(header) if name != "" or any(row[column] != "" for row in cells)]
    names = [_text(header[column]) or "" for column in kept]
    check_distinct_names(names, source)
    return names, [[row[column] for column in kept] for row in cells]


def _text_batch(rows: Sequence[Sequence[Any]], names: list[str]) -> pa.RecordBatch:
    """Return rows as text cells, which tell their types as those of delimited text do."""
    columns = [pa.array([_text(cell) for cell in column], TEXT) for column in zip(*rows, strict=True)]
    return pa.record_batch(columns, names=names)


def _text(cell: Any) -> str | None:
    """Return a cell as text: sheets know neither integers nor dates without a clock."""
    if cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < MAX_EXACT:
        return str(int(cell))
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)


@contextlib.contextmanager
def writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
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


def check_sheet(name: str | None, names: list[str], source: str) -> str:
    """Return the sheet that is asked for, or the first."""
    if not names:
        raise ValueError(f"{source}: must have a sheet. Got none instead.")
    if name is not None and name not in names:
        raise ValueError(
            f"{source}: the sheet must be one of {listed(names[:20])}. Got {name!r} instead{suggestion(name, names)}."
        )
    return names[0] if name is None else name


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
