"""Tables as text with delimiters, CSV and TSV: which type a column has, cells to values, values to cells."""

from __future__ import annotations

import contextlib
import csv
import mmap
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from paretodepth._checks import listed, one_line, shortened
from paretodepth.files.cells import TEXT, settled_columns, typed_batches
from paretodepth.files.dialect import DELIMITERS, Dialect, sniffed
from paretodepth.files.json_lines import as_json
from paretodepth.files.schema import Batches, Expected, Write, check_distinct_names
from paretodepth.files.source import READ_BYTES, place_of, refuse_unreadable

# Bytes that are parsed together. Types do not depend on them, for all cells are looked at.
PARSED_BYTES = 4 << 20
MAX_CELL = 1 << 30
"""Letters of a cell: Python's own limit is less than what Arrow takes."""
csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
CSV = Dialect("csv", ",")
TSV = Dialect("tsv", "\t")


def read(own: Dialect, file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of delimited text; read twice, for a type is known only when all cells are."""
    dialect = sniffed(file, own, expected.reading)
    check_quotation_marks(file, dialect, source)
    names = _column_names(file, dialect, source)
    start = file.tell()
    # Without their types first, so that a file with other columns is refused before it is read through.
    expected.resolved(pa.schema([(name, pa.null()) for name in names]), source)
    batches = _text_batches(file, names, dialect, source)
    columns = settled_columns(batches, names, expected, source, decimal=dialect.decimal)
    file.seek(start)
    yield from typed_batches(_text_batches(file, names, dialect, source), names, columns, expected, source)


@contextlib.contextmanager
def writer(dialect: Dialect, file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as lines; the header is written before."""
    # Names are cells and need quotation marks as these do.
    header = pa.table([[name] for name in schema.names], names=schema.names)
    file.writelines(_lines(header, dialect))
    yield lambda table: file.writelines(_lines(table, dialect))


def n_cells(dialect: Dialect, lines: Iterable[str]) -> int:
    """Return how many cells the first row has if it is of a dialect."""
    return len(next(csv.reader(lines, delimiter=dialect.delimiter)))


def _decoded(file: BinaryIO | mmap.mmap, encoding: str = "utf-8") -> Iterator[str]:
    """Yield lines as text. The csv module joins those that quotation marks hold together."""
    return (line.decode(encoding) for line in iter(file.readline, b""))


def _column_names(file: BinaryIO, dialect: Dialect, source: str) -> list[str]:
    """Return the names in the header, and leave the file behind it."""
    rows = csv.reader(_decoded(file), delimiter=dialect.delimiter)
    try:
        header = next((row for row in rows if row), [""])
    except csv.Error as error:
        refuse_line_ends(source, dialect.name, error)
    check_distinct_names(check_header(header, dialect, source), source)
    return header


def _text_batches(file: BinaryIO, names: list[str], dialect: Dialect, source: str) -> Batches:
    """Yield the rows behind the header as text; an empty cell without quotation marks is missing."""
    start = file.tell()
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
    if not file.read(1):
        return
    reading = pa.csv.ReadOptions(column_names=names, block_size=PARSED_BYTES)
    try:
        # Not the Python file, for the threads that read ahead may outlive the interpreter.
        with pa.OSFile(place_of(file)) as rows:
            rows.seek(start)
            yield from pa.csv.open_csv(rows, reading, parsing, conversion)
    except pa.ArrowInvalid as error:
        refuse_delimited(file, len(names), dialect, source, error)


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
    n_marks = sum(block.count(b'"') for block in iter(lambda: file.read(READ_BYTES), b""))
    file.seek(start)
    # Nearly every file ends here; only a lone mark is worth the slow way, row by row.
    if n_marks % 2 == 0:
        return
    first_line = n_before = dialect.n_skipped + 1
    rows = csv.reader(_decoded(file), delimiter=dialect.delimiter, strict=True)
    try:
        for _ in rows:
            first_line = n_before + rows.line_num
    except csv.Error as error:
        # An odd mark within a cell is text.
        if "expected after" not in str(error):
            raise ValueError(
                f"{source}, line {first_line}: every quotation mark at the start of a cell must have a twin at its "
                "end. Got none up to the end of the file; add it, or double the marks that are part of the text."
            ) from error
    file.seek(start)


def refuse_line_ends(source: str, format: str, error: Exception) -> NoReturn:
    """Raise an error about a header that the csv module does not take, most likely for old line ends."""
    if "new-line" in str(error):
        raise ValueError(
            f"{source}: lines must end with a line feed. Got carriage returns alone instead, as of old Macs; convert "
            f"them: tr '\\r' '\\n' < {source} > lines.csv"
        ) from error
    refuse_unreadable(source, format, error)


def check_header(names: list[str], dialect: Dialect, source: str) -> list[str]:
    """Return the cells of a first row that is a header."""
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
    """Raise an error about the first row of delimited text that has too few or too many cells."""
    # The reader that failed may still be reading the file in its own thread.
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for _ in range(dialect.n_skipped):
        content.readline()
    rows = csv.reader(_decoded(content, "utf-8-sig"), delimiter=dialect.delimiter)
    first_line = n_before = dialect.n_skipped + 1
    try:
        for row in rows:
            if row and len(row) != n_columns:
                raise ValueError(
                    f"{source}, line {first_line}: every row must have {n_columns} cells, as the header, separated by "
                    f"{dialect.delimiter!r}. Got {len(row)} instead in {shortened(dialect.delimiter.join(row))}; "
                    f"{_remedy(n_columns, len(row), first_line - dialect.n_skipped)}."
                ) from error
            first_line = n_before + rows.line_num
    except csv.Error:
        pass
    refuse_unreadable(source, dialect.name, error)


def _remedy(n_columns: int, n_cells: int, line: int) -> str:
    """Return what to do about a row that has another number of cells than the header."""
    if n_columns == 1 < n_cells:
        return f"if what stands before line {line} is no header, leave it out: --skip-rows {line - 1}"
    return "look for a lacking or additional delimiter, or for a quotation mark without its twin"


def refuse_cells(name: str, type: pa.DataType, error: Exception) -> NoReturn:
    """Raise an error about a column that cannot be written as text."""
    raise ValueError(
        f"The column '{name}' of the type {type} must be writable as text. Got this instead: {one_line(error)}; "
        "drop the column or write Parquet."
    ) from error
