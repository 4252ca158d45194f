"""Tables as text with delimiters: the dialect of a file, its header and rows, and what is refused."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.csv

from paretodepth._checks import listed, shortened
from paretodepth.tables.cells import TEXT, settled_columns, typed_batches
from paretodepth.tables.expected_columns import Batches, Expected, check_distinct_names
from paretodepth.tables.reading import Reading
from paretodepth.tables.sources import READ_BYTES, check_lines, place_of, refuse_length, refuse_unreadable

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
# Bytes that are parsed together. Types do not depend on them, for all cells are looked at.
PARSED_BYTES = 4 << 20
MAX_ROW = 16 << 20
"""Bytes of a row: behind a lone quotation mark a whole file would be one cell."""


class Dialect(NamedTuple):
    """Text with a delimiter between cells: the format's name, the delimiter, the decimal mark, lines before."""

    name: str
    delimiter: str
    decimal: str = "."
    n_skipped: int = 0


CSV = Dialect("csv", ",")
TSV = Dialect("tsv", "\t")


def read(own: Dialect, file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of delimited text; read twice, for a type is known only when all cells are."""
    dialect = sniffed(file, own, expected.reading, source)
    check_quotation_marks(file, dialect, source)
    yield from read_rows(file, dialect, expected, source, check_header=check_header)


def read_rows(
    file: BinaryIO,
    dialect: Dialect,
    expected: Expected,
    source: str,
    check_header: Callable[[list[str], Dialect, str], object] | None = None,
) -> Batches:
    """Yield the rows of a file that stands at its header, with the expected columns."""
    header = file.tell()
    if not file.read(1):
        return
    file.seek(header)
    names = _column_names(file, dialect, source)
    if check_header:
        check_header(names, dialect, source)
    check_distinct_names(names, source)
    start = file.tell()
    # Without their types first, so that a file with other columns is refused before it is read through.
    expected.resolved(pa.schema([(name, pa.null()) for name in names]), source)
    # Arrow refuses a row that reaches over more than two blocks, of whatever size they are.
    for n_bytes in (PARSED_BYTES, MAX_ROW):
        try:
            batches = _text_batches(file, start, names, dialect, n_bytes)
            columns = settled_columns(batches, names, expected, source, decimal=dialect.decimal)
            break
        except pa.ArrowInvalid as error:
            file.seek(header)
            if n_bytes == MAX_ROW or "straddling" not in str(error):
                refuse_delimited(file, len(names), dialect, source, error)
            check_rows(file, dialect, source)
    yield from typed_batches(_text_batches(file, start, names, dialect, n_bytes), names, columns, expected, source)


def first_cells(lines: Iterable[str], delimiter: str) -> list[str | None]:
    """Return the cells of the first row."""
    more = iter(lines)
    return row_cells(next(more), more, delimiter)[0]


def _rows(file: BinaryIO, dialect: Dialect, source: str) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the rows of a file from its header on that are not blank, with the numbers of their first lines."""
    n_bytes, row_line = 0, dialect.n_skipped + 1

    def decoded() -> Iterator[tuple[int, str]]:
        nonlocal n_bytes
        for number, line in enumerate(check_lines(file, source, first=row_line, most=MAX_ROW), row_line):
            n_bytes += len(line)
            if n_bytes > MAX_ROW:
                refuse_length(f"{source}, line {row_line}", MAX_ROW)
            yield number, line.decode().removesuffix("\n")

    lines = decoded()
    more = (line for _, line in lines)
    for row_line, line in lines:
        cells, is_closed = row_cells(line, more, dialect.delimiter)
        if not is_closed:
            refuse_unclosed(row_line, source)
        if line.strip("\r"):
            yield row_line, cells
        n_bytes = 0


def _column_names(file: BinaryIO, dialect: Dialect, source: str) -> list[str]:
    """Return the names in the header, and leave the file behind it."""
    _, header = next(_rows(file, dialect, source), (0, [None]))
    return [name or "" for name in header]


def _text_batches(file: BinaryIO, start: int, names: list[str], dialect: Dialect, n_bytes: int) -> Batches:
    """Yield the rows behind the header as text; an empty cell without quotation marks is missing."""
    # A blank line of a file with one column is a missing value.
    parsing = pa.csv.ParseOptions(
        delimiter=dialect.delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
    )
    # All text, for Arrow takes the types of a column from its first block; and UTF-8 has been checked.
    conversion = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, TEXT),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,
    )
    # Arrow refuses to read nothing; a header without rows is refused where rows are counted.
    file.seek(start)
    if not file.read(1):
        return
    reading = pa.csv.ReadOptions(column_names=names, block_size=n_bytes)
    # Not the Python file, for the threads that read ahead may outlive the interpreter.
    with pa.OSFile(place_of(file)) as rows:
        rows.seek(start)
        yield from pa.csv.open_csv(rows, reading, parsing, conversion)


def check_quotation_marks(file: BinaryIO, dialect: Dialect, source: str) -> None:
    """Refuse a quotation mark that makes one cell of all the rest of the file."""
    start = file.tell()
    has_marks = any(b'"' in block for block in iter(lambda: file.read(READ_BYTES), b""))
    file.seek(start)
    # Only where the marks of a line are not pairs can a cell reach over lines, which is worth the slow way, row by row.
    if has_marks and any(line.count(b'"') % 2 for line in check_lines(file, source, first=dialect.n_skipped + 1)):
        file.seek(start)
        check_rows(file, dialect, source)
    file.seek(start)


def check_rows(file: BinaryIO, dialect: Dialect, source: str) -> None:
    """Refuse a row that is too long, or whose quotation marks are no pairs."""
    collections.deque(_rows(file, dialect, source), maxlen=0)


def refuse_unclosed(line: int, source: str) -> NoReturn:
    """Raise an error about a quotation mark that makes one cell of all the rest."""
    raise ValueError(
        f"{source}, line {line}: every quotation mark at the start of a cell must have a twin at its end. Got none; "
        "add it, or double the marks that are part of the text."
    )


def check_header(names: list[str], dialect: Dialect, source: str) -> list[str]:
    """Return the cells of a first row that is a header."""
    if any("\r" in name.replace("\r\n", "") for name in names):
        raise ValueError(
            f"{source}: lines must end with a line feed. Got carriage returns alone instead, as of old Macs; convert "
            f"them: tr '\\r' '\\n' < {source} > lines.csv"
        )
    own = dialect.delimiter
    other = next((mark for mark in DELIMITERS if mark != own and mark in names[0]), None) if len(names) == 1 else None
    if other:
        raise ValueError(
            f"{source}, line {dialect.n_skipped + 1}: cells must be separated by {own!r}. Got {other!r} and no {own!r} "
            f"in the header instead; name the separator {other!r} (--sep), or leave that to the file."
        )
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{source}, line {dialect.n_skipped + 1}: must be a header with the names of the columns. Got only numbers "
            f"instead, {listed(names[:3])}{' and so on' if len(names) > 3 else ''}; put a line of names before it."
        )
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def refuse_delimited(file: BinaryIO, n_columns: int, dialect: Dialect, source: str, error: Exception) -> NoReturn:
    """Raise an error about the first row, from the header on, that is too long, or has too few or too many cells."""
    for line, row in _rows(file, dialect, source):
        if len(row) != n_columns:
            raise ValueError(
                f"{source}, line {line}: every row must have {n_columns} cells, as the header, separated by "
                f"{dialect.delimiter!r}. Got {len(row)} instead in "
                f"{shortened(dialect.delimiter.join(cell or '' for cell in row))}; "
                f"{_remedy(n_columns, len(row), line - dialect.n_skipped)}."
            ) from error
    refuse_unreadable(source, dialect.name, error)


def _remedy(n_columns: int, n_cells: int, line: int) -> str:
    """Return what to do about a row that has another number of cells than the header."""
    if n_columns == 1 < n_cells:
        return f"if what stands before line {line} is no header, leave it out: --skip-rows {line - 1}"
    return "check for a missing or extra delimiter or an unclosed quotation mark"


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
    found = dialect_of(_first_lines(file, start, n_skipped), dialect, reading)
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
    if n_comments and len(first_cells(lines[:1], found)) == len(first_cells(lines[n_comments:][:1], found)):
        n_comments, found = 0, delimiter or _delimiter(lines, own.delimiter)
    cells = [cell for row in _first_rows(lines[n_comments:], found) for cell in row if cell]
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


def _first_lines(file: BinaryIO, start: int, n_skipped: int) -> list[str]:
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


def _first_rows(lines: list[str], delimiter: str) -> Iterator[list[str | None]]:
    """Yield rows that are not blank."""
    more = iter(lines)
    return (row_cells(line, more, delimiter)[0] for line in more if line.rstrip("\r"))


def _delimiter(lines: list[str], own: str) -> str:
    """Return the delimiter that makes a table of lines."""
    n_cells = {}
    for delimiter in (own, *(other for other in DELIMITERS if other != own)):
        widths = [len(row) for row in _first_rows(lines, delimiter)]
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
