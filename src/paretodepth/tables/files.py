"""Tables of samples as files, whole or in chunks.

Tables are `pyarrow.Table`: its types are explicit, so that an integer column with a missing value stays integer, text
stays text and lists of points stay lists; a schema holds every chunk to the types of the whole; and one library reads
and writes nearly every format. `ParetoDepthDetector` takes such tables as they are.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from paretodepth._checks import check_count, one_line
from paretodepth.pairs.limits import free_bytes
from paretodepth.tables.atomic import replaced
from paretodepth.tables.expected_columns import Batches, Expected, check_distinct_names, column_kind
from paretodepth.tables.formats import check_content, check_format, check_writer
from paretodepth.tables.reading import Reading, check_reading
from paretodepth.tables.sources import MAX_BYTES, MAX_RATIO, as_utf8, matched, opened, unpacked

# Rows with long series or texts must not make a chunk as large as the file.
CHUNK_BYTES = 64 << 20


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | Reading | None = None,
    schema: pa.Schema | None = None,
    keep_others: bool = False,
    keep_text: bool = False,
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
    chunks = read_chunks(path, format=format, schema=schema, keep_others=keep_others, keep_text=keep_text)
    return pa.concat_tables(_sizable(chunks, path))


def _sizable(chunks: Iterator[pa.Table], path: str | os.PathLike[str]) -> Iterator[pa.Table]:
    """Yield chunks that together fit into memory, and are not beyond all measure of their files."""
    source = os.fspath(path)
    n_bytes = most = 0
    for chunk in chunks:
        # Asked when there is a chunk: by then there are files.
        most = most or min(free_bytes(), max(MAX_BYTES, MAX_RATIO * _file_bytes(source)))
        n_bytes += chunk.nbytes
        check_size(n_bytes, most, source)
        yield chunk


def _file_bytes(source: str) -> int:
    """Return how many bytes the files of a path have; nobody knows how long a stream was."""
    if source == "-" or (os.path.exists(source) and not os.path.isfile(source)):
        return sys.maxsize
    return sum(os.path.getsize(name) for name in matched(source))


def read_chunks(
    path: str | os.PathLike[str],
    *,
    format: str | Reading | None = None,
    schema: pa.Schema | None = None,
    keep_others: bool = False,
    keep_text: bool = False,
    n_rows: int = 10_000,
) -> Iterator[pa.Table]:
    """Yield the samples of a file in chunks of bounded memory, all with one schema, that of the whole file.

    The first rows of text show its delimiter (``,`` ``;`` tab ``|``), its decimal mark and comments before its
    header (``paretodepth.tables.delimited.sniffed`` has the rule). A column has the narrowest type that holds all its
    cells: booleans (true, True, TRUE and so on), integers, floats, timestamps, otherwise text. A few cells that are no
    numbers do not make text of numbers: they are read, € 12.30 and 1,234.50 say, or missing, and noted
    (``paretodepth.tables.cells.Tally.settled`` has the rule). An integer with a leading zero or a plus sign, or beyond
    64 bits, is text, for as a number it would lose a part. Timestamps are written 2024-12-31, 2024-12-31 23:59 or
    2024-12-31T23:59:59Z, or with the day first as 31.12.2024, or with slashes where one day is beyond 12; a zone is
    left out, and a time of day alone is text. An empty cell is missing; in a column of text the empty string is
    written ``""``. The words NA, N/A, n/a, #N/A, null, NULL and None are missing values where all other cells of their
    column are numbers, booleans or dates, and text otherwise; NaN is a float. Spreadsheets are read as delimited text
    is. JSON is typed by its values, text of dates and single cells aside; Parquet, Arrow and NumPy files by themselves.
    A column without any value is text.

    Delimited text and JSON are read twice, first for their types. A child process of limited memory reads Parquet,
    Arrow, spreadsheets, NPY and NPZ. Standard input, pipes and compressed files (gzip, bzip2, xz, zstd, lz4) are
    first copied to a temporary file; one that unpacks to more than 1 GB and 200 times its size is refused.

    Parameters
    ----------
    path : str or path-like
        ``-`` is standard input. A pattern, ``data/*.csv`` say, is all its files in sorted order as one table: they have
        the columns of the first, in any order, and of the same kind.
    format : str or Reading, default=None
        A name in ``paretodepth.tables.formats.FORMATS``, ``"csv"`` say, or all that is known about the file,
        ``Reading(sep=";", decimal=",")`` say. None tells the format from the path's ending, and for
        streams, unknown endings and binary files from the content; text that looks like nothing else is CSV.
        ``"arrow"`` is the file and the stream format, and Feather.
    schema : pyarrow.Schema, default=None
        The expected columns, those of the training table say. The file must have these, in any order, and of the
        same kind: numbers (booleans included), text, lists, times. Columns come in the schema's order; of delimited
        text, those that are text in the schema are read as text whatever they look like, and of those that are numbers
        or times up to half of the cells may be something else, and missing. Whether numbers are integers or floats is
        up to the file.
    keep_others : bool, default=False
        Whether the file may have other columns besides; the order is the file's then.
    keep_text : bool, default=False
        Whether to add the cells of CSV and JSON that were read as values, as the file has them;
        `paretodepth.tables.expected_columns.split_text` parts them from the values.
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
    paths = matched(source)
    expected = Expected(schema, keep_others, check_reading(format), keep_text)
    if len(paths) > 1:
        expected = expected._replace(schema=_common_schema(paths, expected), keep_others=False)
    batches = (batch for path in paths for batch in _batches(path, expected))
    if len(paths) > 1:
        batches = (_cast(batch, expected.schema) for batch in batches)
    yield from check_some_rows(sized(batches, n_rows), "standard input" if source == "-" else source)


def _batches(path: str, expected: Expected) -> Batches:
    """Yield the rows of a file, all with the types of the whole."""
    format = expected.reading.format
    asked = check_format(format, path, "the reader")
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(opened(path))
        source = "standard input" if path == "-" else path
        file = stack.enter_context(unpacked(file, source))
        found = check_content(file, asked, expected, source, by_name=format is not None)
        if found.is_text:
            # Here and not in each reader, for none may forget it: what is no UTF-8 would fail far from its cause.
            file = stack.enter_context(as_utf8(file, expected.reading.encoding, source))
        yield from found.read(file, expected, source)


def _common_schema(paths: Sequence[str], expected: Expected) -> pa.Schema:
    """Return the types that hold the columns of all files; the first file says which columns and kinds there are."""
    unheard = expected._replace(reading=expected.reading._replace(note=str), keeps_text=False)
    schema = _schema(paths[0], unheard)
    types = dict(zip(schema.names, schema.types, strict=True))
    for path in paths[1:]:
        for field in _schema(path, unheard._replace(schema=schema, keep_others=False)):
            if column_kind(field.type) == "numbers" and field.type != types[field.name]:
                types[field.name] = pa.float64()
    return pa.schema(list(types.items()))


def _schema(path: str, expected: Expected) -> pa.Schema:
    """Return the columns of a file, which must have a row."""
    return next(check_some_rows(sized(_batches(path, expected), 1), path)).schema


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the types of a schema, and the columns of text behind it."""
    n_columns = len(schema)
    values = batch.select(schema.names).cast(schema, safe=False)
    whole = pa.schema([*schema, *list(batch.schema)[n_columns:]])
    return pa.record_batch([*values.columns, *batch.columns[n_columns:]], schema=whole)


def sized(batches: Batches, n_rows: int, *, n_bytes: int = CHUNK_BYTES) -> Iterator[pa.Table]:
    """Yield batches joined or cut to tables of `n_rows` rows, fewer where they take `n_bytes` bytes; none is empty."""
    held: list[pa.RecordBatch] = []
    n_held = n_held_bytes = 0
    for batch in batches:
        while batch.num_rows:
            n_fitting = (n_bytes - n_held_bytes) * batch.num_rows // max(batch.nbytes, 1)
            # At least a row, for one may be larger than all that a chunk should be.
            part = batch.slice(0, min(n_rows - n_held, max(n_fitting, 1)))
            batch = batch.slice(part.num_rows)
            held.append(part)
            n_held += part.num_rows
            n_held_bytes += part.nbytes
            if n_held == n_rows or n_held_bytes >= n_bytes:
                yield pa.Table.from_batches(held)
                held, n_held, n_held_bytes = [], 0, 0
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
    Import such a file into a spreadsheet with its columns set to text, or write what
    `paretodepth.tables.writing.without_formulas` makes of it (``--escape-formulas``). Text is in quotation marks only
    where it has a delimiter, a quotation mark or a line break, or is empty; a missing value is an empty cell. Lists are
    written as JSON. In JSON lines NaN and infinite numbers are ``NaN`` and ``Infinity``.

    Parameters
    ----------
    chunks : pyarrow.Table or iterable of pyarrow.Table
        All with the columns of the first, and types that can be cast to its types.
    path : str or path-like
        ``-`` is standard output.
    format : str, default=None
        The name of one in ``paretodepth.tables.formats.FORMATS`` that has a writer. None chooses it by the path's
        ending; for standard output it is CSV. Arrow is written in the file format, to standard output and ``.arrows``
        in the stream format.

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
    writer = check_writer(format, place, "write_table")
    rest = iter([chunks] if isinstance(chunks, pa.Table) else chunks)
    # Before the output is opened, so that input which cannot be read leaves pipes and devices untouched.
    first = check_first_chunk(next(rest, None), "write_table")
    check_distinct_names(first.column_names, "standard output" if place == "-" else place)
    with replaced(place) as file, writer(file, first.schema, place) as write:
        for chunk in itertools.chain([first], rest):
            write(check_next_chunk(chunk, first.schema, "write_table"))


def check_size(n_bytes: int, most: int, source: str) -> None:
    """Refuse a table that would take more memory than there is, or than its file can be meant to hold."""
    if n_bytes > most:
        raise ValueError(
            f"{source}: a table must take at most {most / 2**20:,.0f} MB of memory, {MAX_RATIO} times its file or "
            f"1 GB, and what is free. Got {n_bytes / 2**20:,.0f} MB or more instead; if it is what you think it is, "
            "save a part of it, or save it uncompressed."
        )


def check_some_rows(chunks: Iterator[pa.Table], source: str) -> Iterator[pa.Table]:
    """Yield chunks, of which there must be one."""
    first = next(chunks, None)
    if first is None:
        raise ValueError(f"{source}: must hold at least one sample. Got columns without rows instead.")
    yield first
    yield from chunks


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
