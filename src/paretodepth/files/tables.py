"""Tables of samples as files: CSV, TSV, Parquet, Arrow, JSON lines, NPY and NPZ; whole or in chunks.

Tables are `pyarrow.Table`: its types are explicit, so that an integer column with a missing value stays integer, text
stays text and lists of points stay lists; a schema holds every chunk to the types of the whole; and one library reads
and writes nearly every format. `ParetoDepthDetector` takes such tables as they are.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from paretodepth._checks import check_count, one_line, suggestion
from paretodepth.files.atomic import replaced
from paretodepth.files.binary import BATCH_ROWS, _array_table, _binary_rows, _typed
from paretodepth.files.delimited import (
    as_json,
    check_quotation_marks,
    column_names,
    column_types,
    column_values,
    delimited_batches,
    delimited_lines,
    delimited_row,
)
from paretodepth.files.formats import (
    BLOCK_BYTES,
    DELIMITERS,
    EXTENSIONS,
    TEXT_FORMATS,
    WRITABLE,
    _sniffed,
    check_content,
    check_format,
)
from paretodepth.files.json_lines import json_batches, json_schema
from paretodepth.files.schema import Batches, Expected, check_distinct_names, expected_kinds

CHUNK_BYTES = 64 << 20


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    schema: pa.Schema | None = None,
    keep_others: bool = False,
) -> pa.Table:
    """Return the samples of a file.

    The rules and parameters are those of :func:`read_chunks`, of which this is all chunks together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "samples.csv")
    ...     write_table(pa.table({"name": ["a", None], "zip": ["01", "02"], "size": [1, None]}), path)
    ...     read_table(path).to_pydict()
    {'name': ['a', None], 'zip': ['01', '02'], 'size': [1, None]}
    """
    return pa.concat_tables(read_chunks(path, format=format, schema=schema, keep_others=keep_others))


def read_chunks(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    schema: pa.Schema | None = None,
    keep_others: bool = False,
    n_rows: int = 10_000,
) -> Iterator[pa.Table]:
    """Yield the samples of a file in chunks of bounded memory, all with one schema, that of the whole file.

    In CSV and TSV a column has the narrowest type that holds all its cells: booleans (true, True, TRUE and so on),
    integers, floats, otherwise text. Nothing is read as a date. An integer with a leading zero or a plus sign, or
    beyond 64 bits, is text, for as a number it would lose a part. An empty cell is missing; in a column of text the
    empty string is written ``""``. The words NA, N/A, n/a, #N/A, null, NULL and None are missing values where all
    other cells of their column are numbers or booleans, and text otherwise; NaN is a float. JSON lines are typed by
    their values, Parquet, Arrow and NumPy files by themselves. A column without any value is text.

    CSV, TSV and JSON lines are read twice, first for their types. Parquet and Arrow are mapped into memory, NPY and
    NPZ are loaded. Standard input and pipes are first copied to a temporary file.

    Parameters
    ----------
    path : str or path-like
        ``-`` is standard input.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "npy", "npz"}, default=None
        None tells it from the path's ending, for standard input and pipes from the content; text that looks like
        nothing else is CSV. ``"arrow"`` is the file and the stream format, and Feather.
    schema : pyarrow.Schema, default=None
        The expected columns, those of the training table say. The file must have these, in any order, and of the
        same kind: numbers (booleans included), text, lists, times. Columns come in the schema's order; of CSV and
        TSV, those that are text in the schema are read as text whatever they look like. Whether numbers are integers
        or floats is up to the file.
    keep_others : bool, default=False
        Whether the file may have other columns besides; the order is the file's then.
    n_rows : int, default=10_000
        The most rows a chunk has; one that would be larger than about 64 MB has fewer.

    Yields
    ------
    chunk : pyarrow.Table
        The columns of NumPy arrays are named ``x0``, ``x1`` and so on, or as the fields of records; an array of
        three dimensions is one column of lists of points.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    ValueError
        If the file is empty, damaged, of an unknown format or not in UTF-8, or has other columns than expected.
    """
    source = os.fspath(path)
    n_rows = check_count(n_rows, "n_rows", "read_chunks")
    asked = check_format(format, source, list(EXTENSIONS), "read_chunks")
    with _opened(source) as file:
        source = "standard input" if source == "-" else source
        found = check_content(asked, _sniffed(file), source)
        n_read = 0
        for chunk in _sized(_batches(file, found, Expected(schema, keep_others), source), n_rows):
            n_read += chunk.num_rows
            yield chunk
        check_some_rows(n_read, source)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Yield a file that can be read twice."""
    if path == "-":
        with _copied(sys.stdin.buffer) as copy:
            yield copy
    else:
        with open(check_readable(path), "rb") as file:
            if file.seekable():
                yield file
            else:
                with _copied(file) as copy:
                    yield copy


@contextlib.contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a temporary file with the content of a stream."""
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        copy.seek(0)
        yield cast(BinaryIO, copy)


def _batches(file: BinaryIO, format: str, expected: Expected, source: str) -> Batches:
    """Return the rows of a file, all with the types of the whole."""
    if format in TEXT_FORMATS:
        check_encoding(file, source)
        if format == "jsonl":
            return _json_rows(file, expected, source)
        return _delimited_rows(file, DELIMITERS[format], expected, source)
    if format in ("npy", "npz"):
        table = _array_table(file, source)
        return _typed(table.schema, iter(table.to_batches(BATCH_ROWS)), expected, source)
    return _binary_rows(file, format, expected, source)


def _delimited_rows(file: BinaryIO, delimiter: str, expected: Expected, source: str) -> Batches:
    check_quotation_marks(file, delimiter, source)
    names = column_names(file, delimiter, source)
    start = file.tell()
    # Without their types first, so that a file with other columns is refused before it is read through.
    expected.resolved(pa.schema([(name, pa.null()) for name in names]), source)
    kinds = expected_kinds(names, expected.schema)
    found = column_types(delimited_batches(file, names, delimiter, source), names, kinds, source)
    schema = expected.resolved(found, source)
    file.seek(start)
    for cells in delimited_batches(file, names, delimiter, source):
        values = [column_values(cells.column(field.name), field.type) for field in schema]
        yield pa.record_batch(values, schema=schema)


def _json_rows(file: BinaryIO, expected: Expected, source: str) -> Batches:
    start = file.tell()
    schema = expected.resolved(json_schema(file, source), source)
    file.seek(start)
    yield from json_batches(file, schema, source)


def _sized(batches: Batches, n_rows: int) -> Iterator[pa.Table]:
    """Yield batches joined or cut to tables of `n_rows` rows, fewer where they take too many bytes."""
    held: list[pa.RecordBatch] = []
    n_held = n_bytes = 0
    for batch in batches:
        while batch.num_rows:
            n_fitting = (CHUNK_BYTES - n_bytes) * batch.num_rows // max(batch.nbytes, 1)
            part = batch.slice(0, min(n_rows - n_held, max(n_fitting, 1)))
            batch = batch.slice(part.num_rows)
            held.append(part)
            n_held += part.num_rows
            n_bytes += part.nbytes
            if n_held == n_rows or n_bytes >= CHUNK_BYTES:
                yield pa.Table.from_batches(held)
                held, n_held, n_bytes = [], 0, 0
    if held:
        yield pa.Table.from_batches(held)


def write_table(
    chunks: pa.Table | Iterable[pa.Table], path: str | os.PathLike[str], *, format: str | None = None
) -> None:
    """Write a table, or tables one after another, to a file that is there as a whole or not at all.

    The file is written beside its place, flushed to the disk and renamed. After an exception or Ctrl-C nothing of it
    remains, and a file that was there before is as it was. The first chunk is taken before anything is written.
    Standard output, pipes and devices are written chunk by chunk as they come.

    Cells are data and written as they are: in CSV and TSV, text that begins with ``=``, ``+``, ``-`` or ``@``, which
    a spreadsheet may take for a formula, is not changed, for a change would not come back when the file is read.
    Import such a file into a spreadsheet with its columns set to text. Text is in quotation marks only where it has a
    delimiter, a quotation mark or a line break, or is empty; a missing value is an empty cell. Lists are written as
    JSON. In JSON lines NaN and infinite numbers are ``NaN`` and ``Infinity``.

    Parameters
    ----------
    chunks : pyarrow.Table or iterable of pyarrow.Table
        All with the columns of the first, and types that can be cast to its types.
    path : str or path-like
        ``-`` is standard output.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl"}, default=None
        None tells it from the path's ending; for standard output it is CSV. Arrow is written in the file format,
        to standard output and ``.arrows`` in the stream format.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If the format is unknown, or chunks differ in their columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "depths.csv")
    ...     write_table(pa.table({"name": ["a,b", "=1+1"], "depth": [2.0, None]}), path)
    ...     with open(path) as file:
    ...         print(file.read())
    name,depth
    "a,b",2.0
    =1+1,
    <BLANKLINE>
    """
    place = os.fspath(path)
    asked = check_format(format, place, WRITABLE, "write_table") or "csv"
    rest = iter([chunks] if isinstance(chunks, pa.Table) else chunks)
    first = check_first_chunk(next(rest, None), "write_table")
    check_distinct_names(first.column_names, "standard output" if place == "-" else place)
    is_stream = place == "-" or place.lower().endswith(".arrows")
    with replaced(place) as file, _writer(file, asked, first.schema, is_stream) as write:
        for chunk in itertools.chain([first], rest):
            write(check_next_chunk(chunk, first.schema, "write_table"))


@contextlib.contextmanager
def _writer(file: BinaryIO, format: str, schema: pa.Schema, is_stream: bool) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes a table to a file."""
    if format == "parquet":
        with pq.ParquetWriter(file, schema) as parquet:
            yield parquet.write_table
    elif format == "arrow":
        with pa.ipc.new_stream(file, schema) if is_stream else pa.ipc.new_file(file, schema) as arrow:
            yield lambda table: arrow.write_table(table, BATCH_ROWS)
    elif format == "jsonl":
        yield lambda table: file.writelines(f"{as_json(row)}\n".encode() for row in table.to_pylist())
    else:
        file.write(delimited_row(schema.names, DELIMITERS[format]))
        yield lambda table: file.writelines(delimited_lines(table, DELIMITERS[format]))


def check_readable(path: str) -> str:
    """Return the path of something that exists and is no folder."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path}: must be a file. Got a folder instead; name a file in it.")
    if not os.path.exists(path):
        folder, name = os.path.split(path)
        neighbors = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        raise FileNotFoundError(f"{path}: there is no such file{suggestion(name, neighbors)}.")
    return path


def check_encoding(file: BinaryIO, source: str) -> None:
    """Refuse text that is not UTF-8; leave the file at its start, behind a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_read = n_lines = 0
    block = b"\n"
    file.seek(0)
    while block:
        block = file.read(BLOCK_BYTES)
        n_pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            position = n_read - n_pending + error.start
            line = n_lines + 1 + error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            encoding = "utf-16" if position == 0 and byte in b"\xff\xfe" else "latin1"
            raise ValueError(
                f"{source}, line {line}: must be text in UTF-8. Got byte 0x{byte:02x} at position {position} instead; "
                f"convert the file, say with: iconv -f {encoding} -t utf-8 (if it is in {encoding})."
            ) from error
        n_read += len(block)
        n_lines += block.count(b"\n")
    file.seek(0)
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)


def check_some_rows(n_rows: int, source: str) -> int:
    """Return a number of rows that is not 0."""
    if n_rows == 0:
        raise ValueError(f"{source}: must hold at least one sample. Got columns without rows instead.")
    return n_rows


def check_first_chunk(chunk: Any, caller: str) -> pa.Table:
    """Return the first of the tables to be written."""
    if chunk is None:
        raise ValueError(f"The 'chunks' parameter of {caller} must hold at least one table. Got none instead.")
    if not isinstance(chunk, pa.Table):
        raise TypeError(
            f"The 'chunks' parameter of {caller} must be a pyarrow.Table or tables one after another. "
            f"Got {type(chunk).__name__} instead; convert it with pyarrow.table."
        )
    return chunk


def check_next_chunk(chunk: pa.Table, schema: pa.Schema, caller: str) -> pa.Table:
    """Return a chunk with the columns and types of the first one."""
    if chunk.schema.equals(schema):
        return chunk
    try:
        return chunk.cast(schema)
    except (pa.ArrowException, ValueError) as error:
        raise ValueError(
            f"The 'chunks' parameter of {caller} must hold tables of one schema. Got this instead: {one_line(error)}"
        ) from error
