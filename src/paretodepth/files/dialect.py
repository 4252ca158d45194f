"""What lies between the cells of delimited text, what its decimal mark is, and which lines stand before its header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from paretodepth.files.reading import Reading

DELIMITERS = (",", ";", "\t", "|")
# Enough for some hundred rows; a file is read through anyway, so that this costs nothing.
SNIFFED_BYTES = 1 << 16
MAX_COMMENTS = 100
HINT = re.compile(r"sep=(.)\s*$", re.IGNORECASE)
_MARKS = "[-−+€$£¥%\\s]*"
_COMMA = re.compile(rf"{_MARKS}(?:\d{{1,3}}(?:\.\d{{3}})+|\d+)?,\d+{_MARKS}")
_POINT = re.compile(rf"{_MARKS}(?:\d{{1,3}}(?:,\d{{3}})+|\d+)?\.\d+{_MARKS}")
_GROUPED = re.compile(rf"{_MARKS}\d{{1,3}}(?:,\d{{3}})+{_MARKS}|{_MARKS}\d{{1,3}}(?:\.\d{{3}})+{_MARKS}")


class Dialect(NamedTuple):
    """Text with a delimiter between cells: the format's name, the delimiter, the decimal mark, lines before."""

    name: str
    delimiter: str
    decimal: str = "."
    n_skipped: int = 0


def sniffed(file: BinaryIO, dialect: Dialect, reading: Reading) -> Dialect:
    """Return the dialect of a file, by its first 64 kB, and leave the file at its header.

    The format's own delimiter is taken if the header has two cells or more with it, and every row as many. Otherwise
    it is the one of ``,`` ``;`` tab and ``|`` with which that is so, of several the one with the most cells; if there
    is none, the one with which the header has the most. So a decimal comma does not pass for a delimiter: it stands
    in rows, not in the header. A first line ``sep=;``, as spreadsheets write it, is believed.

    The decimal mark is the comma if more cells are written like 1,5 or 1.234,5 than like 1.5 or 1,234.5. What may be
    both, 1,234, counts only if nothing else does and the delimiter is a semicolon, which is there for such commas.

    Lines that begin with # stand before the header if the first that does not has another number of cells.
    """
    start = file.tell()
    n_skipped = _n_before(file, reading.skip_rows)
    lines = list(_lines(file, start, n_skipped))
    hint = HINT.match(lines[0]) if lines else None
    if hint and hint[1] in DELIMITERS:
        lines, n_skipped = lines[1:], n_skipped + 1
    delimiter = reading.sep or (hint[1] if hint and hint[1] in DELIMITERS else None)
    n_comments = 0 if reading.skip_rows else _n_comments(lines)
    found = delimiter or _delimiter(lines[n_comments:], dialect.delimiter)
    if n_comments and _n_cells(lines[0], found) == _n_cells(lines[n_comments], found):
        n_comments, found = 0, delimiter or _delimiter(lines, dialect.delimiter)
    lines, n_skipped = lines[n_comments:], n_skipped + n_comments
    decimal = reading.decimal or _decimal(lines, found)
    file.seek(start)
    for _ in range(n_skipped):
        file.readline()
    return Dialect(dialect.name, found, decimal, n_skipped)


def _n_before(file: BinaryIO, n_skipped: int) -> int:
    """Return how many lines stand before the first that is not blank, at least those that are to be skipped."""
    for number, line in enumerate(iter(file.readline, b"")):
        if number >= n_skipped and not line.isspace():
            return number
    return n_skipped


def _lines(file: BinaryIO, start: int, n_skipped: int) -> Iterator[str]:
    """Yield the first whole lines, or the only one, behind some that are skipped."""
    file.seek(start)
    for _ in range(n_skipped):
        file.readline()
    block = file.read(SNIFFED_BYTES)
    end = block.rfind(b"\n") + 1 if len(block) == SNIFFED_BYTES else len(block)
    # Not splitlines, for which some characters within cells end a line.
    yield from io.StringIO(block[: end or len(block)].decode(errors="replace"), newline="\n")


def _n_comments(lines: list[str]) -> int:
    """Return how many lines at the start begin with #; none if all do."""
    first = next((number for number, line in enumerate(lines[: MAX_COMMENTS + 1]) if not line.startswith("#")), 0)
    return first if first <= MAX_COMMENTS else 0


def _n_cells(line: str, delimiter: str) -> int:
    return len(next(_rows([line], delimiter), []))


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """Yield rows that are not blank, up to one that the csv module does not take."""
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        yield from (row for row in rows if row)
    except csv.Error:
        return


def _delimiter(lines: list[str], own: str) -> str:
    """Return the delimiter that makes a table of lines."""
    n_cells = {}
    for delimiter in (own, *(other for other in DELIMITERS if other != own)):
        widths = [len(row) for row in _rows(lines, delimiter)]
        # The last row may be cut off within quotation marks.
        is_table = len(widths) > 1 and widths[0] > 1 and all(width == widths[0] for width in widths[1:-1] or widths)
        if is_table and delimiter == own:
            return own
        n_cells[delimiter] = (is_table, widths[0] if widths else 0)
    return max(n_cells, key=n_cells.__getitem__)


def _decimal(lines: list[str], delimiter: str) -> str:
    """Return the decimal mark of the cells of lines."""
    cells = [cell for row in _rows(lines, delimiter) for cell in row]
    n_grouped = sum(bool(_GROUPED.fullmatch(cell)) for cell in cells if "," in cell)
    clear = [cell for cell in cells if not _GROUPED.fullmatch(cell)]
    n_commas = sum(bool(_COMMA.fullmatch(cell)) for cell in clear)
    n_points = sum(bool(_POINT.fullmatch(cell)) for cell in clear)
    if n_commas == n_points == 0 and delimiter == ";":
        return "," if n_grouped else "."
    return "," if n_commas > n_points else "."
