"""What lies between the cells of delimited text, what its decimal mark is, and which lines stand before its header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from paretodepth.tables.reading import Reading
from paretodepth.tables.source import check_lines

DELIMITERS = (",", ";", "\t", "|")
# Enough for some hundred rows; a file is read through anyway, so that this costs nothing.
SNIFFED_BYTES = 1 << 16
MAX_COMMENTS = 100
HINT = re.compile(r"sep=(.)\s*$", re.IGNORECASE)
# The rest of a cell in quotation marks, up to its end in the same line; two marks are one that is part of the text.
QUOTED = re.compile(r'[^"]*+(?:""[^"]*+)*+"')
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


def sniffed(file: BinaryIO, dialect: Dialect, reading: Reading, source: str) -> Dialect:
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
    n_skipped = check_n_before(file, reading.skip_rows, source)
    found = dialect_of(_lines(file, start, n_skipped), dialect, reading)
    file.seek(start)
    for _ in range(n_skipped + found.n_skipped):
        file.readline()
    return found._replace(n_skipped=n_skipped + found.n_skipped)


def dialect_of(lines: list[str], own: Dialect, reading: Reading) -> Dialect:
    """Return the dialect of the first lines of a text."""
    hint = HINT.match(lines[0]) if lines else None
    is_hint = hint is not None and hint[1] in DELIMITERS
    lines = lines[is_hint:]
    delimiter = reading.sep or (hint[1] if hint and is_hint else None)
    n_comments = 0 if reading.skip_rows else _n_comments(lines)
    found = delimiter or _delimiter(lines[n_comments:], own.delimiter)
    if n_comments and _n_cells(lines[0], found) == _n_cells(lines[n_comments], found):
        n_comments, found = 0, delimiter or _delimiter(lines, own.delimiter)
    cells = [cell for row in _rows(lines[n_comments:], found) for cell in row if cell]
    decimal = reading.decimal or decimal_mark(cells, found) or "."
    return Dialect(own.name, found, decimal, is_hint + n_comments)


def check_n_before(file: BinaryIO, n_skipped: int, source: str) -> int:
    """Return how many lines come before the first that is not blank, at least those that are to be skipped."""
    n_lines = 0
    for line in check_lines(file, source):
        if n_lines >= n_skipped and not line.isspace():
            return n_lines
        n_lines += 1
    raise ValueError(
        f"{source}: must have a header after the lines to skip (--skip-rows). Got {n_skipped:,} to skip of "
        f"{n_lines:,}; skip fewer."
    )


def _lines(file: BinaryIO, start: int, n_skipped: int) -> list[str]:
    """Return the first whole lines, or the only one, behind some that are skipped."""
    file.seek(start)
    for _ in range(n_skipped):
        file.readline()
    block = file.read(SNIFFED_BYTES)
    end = block.rfind(b"\n") if len(block) == SNIFFED_BYTES else len(block)
    # Not splitlines, for which some characters within cells end a line.
    return (block[:end] if end > 0 else block).decode(errors="replace").removesuffix("\n").split("\n")


def _n_comments(lines: list[str]) -> int:
    """Return how many lines at the start begin with #; none if all do."""
    first = next((number for number, line in enumerate(lines[: MAX_COMMENTS + 1]) if not line.startswith("#")), 0)
    return first if first <= MAX_COMMENTS else 0


def row_cells(line: str, more: Iterator[str], delimiter: str) -> tuple[list[str | None], bool]:
    """Return the cells of a row, and whether each quotation mark at the start of a cell has a twin at its end.

    A cell in quotation marks may continue in lines of `more`, which are taken as they are needed. Other marks are text,
    but behind a cell of several lines text shows that its marks are no twins. An empty cell without marks is None.
    """
    if '"' not in line:
        return [cell or None for cell in line.removesuffix("\r").split(delimiter)], True
    cells: list[str | None] = []
    at = 0
    while at >= 0:
        quoted: list[str] = []
        if line.startswith('"', at):
            at += 1
            while (closed := QUOTED.match(line, at)) is None:
                quoted.append(line[at:])
                following = next(more, None)
                if following is None:
                    return [*cells, "\n".join(quoted)], False
                line, at = following, 0
            quoted.append(line[at : closed.end() - 1])
            at = closed.end()
        end = line.find(delimiter, at)
        rest = line[at:end] if end >= 0 else line[at:].removesuffix("\r")
        cells.append("\n".join(quoted).replace('""', '"') + rest if quoted else rest or None)
        if len(quoted) > 1 and rest.strip():
            return cells, False
        at = end + 1 if end >= 0 else -1
    return cells, True


def _n_cells(line: str, delimiter: str) -> int:
    return len(row_cells(line, iter(()), delimiter)[0])


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str | None]]:
    """Yield rows that are not blank."""
    more = iter(lines)
    return (row_cells(line, more, delimiter)[0] for line in more if line.rstrip("\r"))


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


def decimal_mark(cells: Sequence[str], delimiter: str) -> str | None:
    """Return the decimal mark of cells, None if no cell shows it."""
    marked = [cell for cell in cells if "," in cell or "." in cell]
    clear = [cell for cell in marked if not _GROUPED.fullmatch(cell)]
    n_commas = sum(bool(_COMMA.fullmatch(cell)) for cell in clear)
    n_points = sum(bool(_POINT.fullmatch(cell)) for cell in clear)
    if n_commas == n_points == 0:
        is_grouped = any("," in cell for cell in marked if _GROUPED.fullmatch(cell))
        return "," if delimiter == ";" and is_grouped else None
    return "," if n_commas > n_points else "."
