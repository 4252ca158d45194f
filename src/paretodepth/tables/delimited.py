"""Tables as text with delimiters, CSV and TSV: which type a column has, cells to values, values to cells."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from paretodepth._checks import listed, one_line, shortened
from paretodepth.tables.cells import TEXT, settled_columns, typed_batches
from paretodepth.tables.dialect import DELIMITERS, Dialect, row_cells, sniffed
from paretodepth.tables.expected_columns import Batches, Expected, Write, check_distinct_names
from paretodepth.tables.json_lines import as_json
from paretodepth.tables.source import READ_BYTES, check_lines, place_of, refuse_length, refuse_unreadable

# Bytes that are parsed together. Types do not depend on them, for all cells are looked at.
PARSED_BYTES = 4 << 20
MAX_ROW = 16 << 20
"""Bytes of a row: behind a lone quotation mark a whole file would be one cell."""
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


@contextlib.contextmanager
def writer(dialect: Dialect, file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as lines; the header is written before."""
    # Names are cells and need quotation marks as these do.
    header = pa.table([[name] for name in schema.names], names=schema.names)
    file.writelines(_lines(header, dialect))
    yield lambda table: file.writelines(_lines(table, dialect))


def n_cells(dialect: Dialect, lines: list[str]) -> int:
    """Return how many cells the first row has if it is of a dialect."""
    first, *more = lines
    return len(row_cells(first, iter(more), dialect.delimiter)[0])


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


def _lines(table: pa.Table, dialect: Dialect) -> Iterator[bytes]:
    """Yield rows as lines of text, many at a time."""
    for batch in table.to_batches():
        columns = zip(batch.columns, batch.schema, strict=True)
        cells = [_cells(array, field, dialect.delimiter) for array, field in columns]
        lines = pc.binary_join_element_wise(*cells, dialect.delimiter, null_handling="replace", null_replacement="")
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


def refuse_cells(name: str, type: pa.DataType, error: Exception) -> NoReturn:
    """Raise an error about a column that cannot be written as text."""
    raise ValueError(
        f"The column '{name}' of the type {type} must be writable as text. Got this instead: {one_line(error)}; "
        "drop the column or write Parquet."
    ) from error
