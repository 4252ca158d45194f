"""A sheet of a workbook (.xlsx or .ods) as CSV, written by a child process. Imports no pyarrow, to start soon.

Old workbooks (.xls, .xlsb) are not read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, BinaryIO

import python_calamine

from paretodepth._checks import listed, suggestion

MAX_EXACT = 1 << 53


def main(file: BinaryIO, output: BinaryIO, source: str, sheet: str, n_skipped: str) -> None:
    """Write the rows of a sheet, without blank rows and without columns that have neither name nor value.

    Parameters
    ----------
    file, output : file
    source : str
        The file's name in messages.
    sheet : str
        The sheet's name; the first sheet if it is empty.
    n_skipped : str
        Number of rows to skip.
    """
    book = python_calamine.CalamineWorkbook.from_filelike(file)
    rows = book.get_sheet_by_name(check_sheet(sheet, book.sheet_names, source)).to_python(skip_empty_area=False)
    filled = [row for row in rows[int(n_skipped) :] if any(cell != "" for cell in row)]
    kept = [column for column in range(len(rows[0]) if rows else 0) if any(row[column] != "" for row in filled)]
    for row in filled:
        output.write(f"{','.join([_text(row[column]) for column in kept])}\n".encode())


def _text(cell: Any) -> str:
    """Return a cell as CSV: sheets know neither integers nor dates without a clock."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < MAX_EXACT else str(cell)
    text = cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if text else ""


def check_sheet(name: str, names: list[str], source: str) -> str:
    """Return the sheet that is asked for, or the first."""
    if not names:
        raise ValueError(f"{source}: must have a sheet. Got none instead.")
    if name and name not in names:
        raise ValueError(
            f"{source}: the sheet must be one of {listed(names[:20])}. Got {name!r} instead{suggestion(name, names)}."
        )
    return name or names[0]
