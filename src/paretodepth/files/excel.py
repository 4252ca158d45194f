"""Tables as spreadsheets: .xlsx and .ods read, .xlsx written. The extra 'excel' brings what it takes.

Old workbooks (.xls, .xlsb) are not read: how far their cells reach cannot be told before they take the memory.
"""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO, NoReturn
from xml.etree import ElementTree

import pyarrow as pa

from paretodepth._checks import check_extra, listed, shortened, suggestion
from paretodepth.files.cells import TEXT, settled_columns, typed_batches
from paretodepth.files.json_lines import as_json
from paretodepth.files.schema import Batches, Expected, Write, check_distinct_names
from paretodepth.files.source import READ_BYTES, refuse_unreadable

BATCH_ROWS = 10_000
MAX_ROWS = 1_048_576
"""Rows that a sheet of Excel has, the header included."""
MAX_CELLS = 30_000_000
"""Cells that are held in memory, some 50 bytes each: those between the first cell and the last, empty or not."""
MAX_BYTES = 1 << 30
"""Of one part of a workbook, unpacked."""
MAX_TEXT = 32_767
"""Characters of a cell of Excel."""
MAX_EXACT = 1 << 53
FIRST_YEAR = 1900
# The names of rows and cells in a sheet of Excel, r="17" and r="AB17".
ROW = rb"""\br\s*=\s*["'][A-Z]{0,3}([0-9]{1,9})["']"""
COLUMN = rb"""\br\s*=\s*["']([A-Z]{1,3})[0-9]"""
ODS = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


def read(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a sheet, below its first row that is not blank."""
    calamine = check_extra("python_calamine", "excel")
    if zipfile.is_zipfile(file):
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
    yield from typed_batches(iter(batches), names, columns, expected, source)


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
        book.close()
    finally:
        # After an error there is nothing to write, which it would try when it is collected.
        book.fileclosed = True


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


def check_workbook_size(file: BinaryIO, source: str, *, max_cells: int = MAX_CELLS, max_bytes: int = MAX_BYTES) -> None:
    """Refuse a workbook that would take all memory: one cell far down and far right makes billions of empty ones."""
    try:
        with zipfile.ZipFile(file) as archive:
            for part in archive.infolist():
                if part.file_size > max_bytes:
                    refuse_large(source)
                if re.match(r"xl/(?!sharedStrings|styles|theme).*\.xml$", part.filename):
                    _check_extent(*_excel_extent(archive, part), max_cells, source)
                elif part.filename == "content.xml":
                    _check_extent(*_ods_extent(archive, part), max_cells, source)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ElementTree.ParseError) as error:
        refuse_unreadable(source, "excel", error)


def _excel_extent(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the last row and column that a sheet names."""
    height = width = 0
    rest = b""
    with archive.open(part) as content:
        while block := content.read(READ_BYTES):
            # Where a block ends within a name, the next one has it whole.
            text = rest + block
            height = max([height, *map(int, set(re.findall(ROW, text)))])
            width = max([width, *map(_column_number, set(re.findall(COLUMN, text)))])
            rest = block[-64:]
    return height, width


def _column_number(letters: bytes) -> int:
    """Return the number of a column, 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _ods_extent(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the last row and column with a value of any sheet; rows and cells may say that they stand for many."""
    height = width = n_rows = n_cells = n_filled = 0
    with archive.open(part) as content:
        for event, element in ElementTree.iterparse(content, ("start", "end")):
            if event == "start":
                n_rows = 0 if element.tag == f"{ODS}table" else n_rows
                n_cells, n_filled = (0, 0) if element.tag == f"{ODS}table-row" else (n_cells, n_filled)
            elif element.tag == f"{ODS}table-cell":
                n_cells += int(element.get(f"{ODS}number-columns-repeated", 1))
                n_filled = n_cells if len(element) else n_filled
            elif element.tag == f"{ODS}table-row":
                n_rows += int(element.get(f"{ODS}number-rows-repeated", 1))
                height, width = (max(height, n_rows), max(width, n_filled)) if n_filled else (height, width)
                element.clear()
    return height, width


def _check_extent(height: int, width: int, most: int, source: str) -> None:
    if height * width > most:
        raise ValueError(
            f"{source}: a sheet must have at most {most:,} cells. Got {height:,} rows and {width:,} columns instead; "
            "delete the cells far away from the table, or save the sheet as CSV."
        )


def refuse_large(source: str) -> NoReturn:
    """Raise an error about a workbook with a part too large for the memory."""
    raise ValueError(f"{source}: a sheet must take at most 1 GB. Got more; save the sheet as CSV.")
