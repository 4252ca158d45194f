"""Tables as Parquet, Arrow, NPY and NPZ, which know their types."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line
from paretodepth.tables.arrow_sizes import file_sizes, stream_sizes
from paretodepth.tables.expected_columns import Batches, Expected, Write
from paretodepth.tables.plain import n_rows_at_once, plain_array, widest_row, within_calendar
from paretodepth.tables.sizes import check_size, check_width, meant_bytes, most_bytes
from paretodepth.tables.source import place_of, refuse_unreadable

# Rows that are decoded together, few, because some may be long series.
BATCH_ROWS = 1024
TEXT_TYPES = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
ARROW_FILE = b"ARROW1"
ZIP = b"PK"
STREAM_ENDING = ".arrows"


def read_parquet(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a Parquet file."""
    return _checked_rows(file, "parquet", _parquet_rows, expected, source)


def read_arrow(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of an Arrow file or stream."""
    return _checked_rows(file, "arrow", _arrow_rows, expected, source)


def _checked_rows(
    file: BinaryIO,
    format: str,
    rows: Callable[[BinaryIO, str], tuple[pa.Schema, Batches]],
    expected: Expected,
    source: str,
) -> Batches:
    """Yield the rows that `rows` finds in a file; it is not mapped, for who cuts it off would end the process."""
    try:
        yield from _expected_rows(*rows(file, source), expected, source)
    except (pa.ArrowException, OSError, UnicodeDecodeError, struct.error) as error:
        refuse_unreadable(source, format, error)


def _parquet_rows(file: BinaryIO, source: str) -> tuple[pa.Schema, Batches]:
    parquet = pq.ParquetFile(pa.OSFile(place_of(file)))
    # Of text at least where each cell ends.
    widths = [type.bit_width // 8 if pa.types.is_primitive(type) else 4 for type in parquet.schema_arrow.types]
    check_size(parquet.metadata.num_rows * sum(widths), meant_bytes(_n_bytes(file)), source)
    return parquet.schema_arrow, _parquet_batches(parquet, file)


def _parquet_batches(parquet: pq.ParquetFile, file: BinaryIO) -> Batches:
    """Yield the rows of a Parquet file, fewer at a time where texts that are stored but once are long."""
    texts = [
        field.name for field in parquet.schema_arrow if field.type in (pa.string(), pa.large_string(), pa.binary())
    ]
    # Of one row all texts of the group that are stored once come along, each but once.
    as_categories = pq.ParquetFile(pa.OSFile(place_of(file)), read_dictionary=texts)
    for group in range(parquet.num_row_groups):
        first = next(as_categories.iter_batches(1, row_groups=[group], columns=texts), None)
        n_rows = n_rows_at_once(widest_row(first)) if first is not None else 1
        yield from parquet.iter_batches(min(n_rows, BATCH_ROWS), row_groups=[group])


def _arrow_rows(file: BinaryIO, source: str) -> tuple[pa.Schema, Batches]:
    is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
    most, n_unpacked = most_bytes(_n_bytes(file)), 0
    for size in file_sizes(file) if is_file else stream_sizes(file):
        check_size(size, most, source)
        n_unpacked += size
    check_size(n_unpacked, meant_bytes(_n_bytes(file)), source)
    content = pa.OSFile(place_of(file))
    if is_file:
        arrow = pa.ipc.open_file(content)
        return arrow.schema, (arrow.get_batch(batch) for batch in range(arrow.num_record_batches))
    stream = pa.ipc.open_stream(content)
    return stream.schema, iter(stream)


def _n_bytes(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _expected_rows(found: pa.Schema, batches: Batches, expected: Expected, source: str) -> Batches:
    """Yield rows with the expected columns, of plain types."""
    schema = expected.resolved(found, source)
    places = {name: place for place, name in enumerate(found.names)}
    n_beyond: Counter[str] = Counter()
    for batch in batches:
        # Arrow trusts what it reads; a damaged file would end the process.
        batch.validate(full=True)
        widest = widest_row(batch)
        check_size(widest, most_bytes(0), source)
        n_rows = n_rows_at_once(widest)
        for start in range(0, batch.num_rows, n_rows):
            part = batch.slice(start, n_rows)
            columns = []
            for field in schema:
                column = plain_array(part[places[field.name]]).cast(field.type)
                columns.append(within_calendar(column, partial(_count_beyond, n_beyond, field.name)))
            yield pa.record_batch(columns, schema=schema)
    for name, count in n_beyond.items():
        cells = "1 time" if count == 1 else f"{count:,} times"
        expected.reading.note(
            f"{source}: the column '{name}' has {cells} that no calendar shows, counted as missing: before the year 1 "
            "or after 9999."
        )


def _count_beyond(counts: Counter[str], name: str, n_beyond: int) -> None:
    counts[name] += n_beyond


def read_array(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of the array of an NPY file, or of the only one of an NPZ file."""
    is_archive = file.read(len(ZIP)) == ZIP
    file.seek(0)
    if is_archive:
        check_loadable(lambda: _check_member(file, source), source)
    else:
        check_loadable(lambda: check_array_size(file, _n_bytes(file), source), source)
    file.seek(0)
    array = check_loadable(lambda: np.load(file, allow_pickle=False), source)
    if is_archive:
        arrays = array
        array = check_loadable(lambda: arrays[arrays.files[0]], source)
    table = _array_table(check_array(array, source))
    yield from _expected_rows(table.schema, iter(table.to_batches(BATCH_ROWS)), expected, source)


def _array_table(array: NDArray[Any]) -> pa.Table:
    """Return an array with a row a sample as a table: its fields or columns by name, more dimensions as lists."""
    if array.dtype.names:
        columns = {name: array[name] for name in array.dtype.names}
    elif array.ndim == 2:
        columns = {f"x{column}": array[:, column] for column in range(array.shape[1])}
    else:
        columns = {"x0": array}
    return pa.table({name: _arrow_column(values) for name, values in columns.items()})


def _arrow_column(values: NDArray[Any]) -> pa.Array:
    """Return an array with a row a sample; what is left of its dimensions becomes lists."""
    # Arrow takes neither foreign byte orders nor steps over memory.
    flat = pa.array(np.ascontiguousarray(values.reshape(-1), dtype=values.dtype.newbyteorder("=")))
    for length in values.shape[:0:-1]:
        flat = pa.FixedSizeListArray.from_arrays(flat, length).cast(pa.list_(flat.type))
    return flat


@contextlib.contextmanager
def parquet_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes a table to a Parquet file."""
    with pq.ParquetWriter(file, schema) as parquet:
        yield parquet.write_table


@contextlib.contextmanager
def arrow_writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes a table in the file format, to standard output and ``.arrows`` as a stream."""
    # The file format has its index at the end, for which who reads a pipe would have to wait.
    is_stream = path == "-" or path.lower().endswith(STREAM_ENDING)
    with pa.ipc.new_stream(file, schema) if is_stream else pa.ipc.new_file(file, schema) as arrow:
        yield lambda table: arrow.write_table(table, BATCH_ROWS)


def _check_member(file: BinaryIO, source: str) -> None:
    """Refuse an NPZ file of several arrays, or of one that unpacks to more than it should."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        check_single_array([member.filename.removesuffix(".npy") for member in members], source)
        size = members[0].file_size
        check_size(size, most_bytes(_n_bytes(file)), source)
        with archive.open(members[0]) as content:
            check_array_size(content, size, source)


def check_array_size(file: IO[bytes], n_bytes: int, source: str) -> None:
    """Refuse an array whose header tells of more than there is, or of values that take no bytes."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize > n_bytes:
        raise ValueError(f"an array of the dtype {dtype} and the shape {shape}, which is more than the file holds")


def check_loadable(load: Callable[[], Any], source: str) -> Any:
    """Return what NumPy loads: no damaged array, and no Python objects, which could run code when read."""
    try:
        return load()
    except Exception as error:
        if str(error).startswith(f"{source}:"):
            raise
        # NumPy does not say what it raises: damaged files have led to errors of zipfile, zlib, tokenize and more.
        raise ValueError(
            f"{source}: must hold a whole array of numbers or strings; Python objects (pickle) are not read, for they "
            f"can run any code. Got this instead: {one_line(error)}; save the array with another dtype, or a "
            "table as Parquet."
        ) from error


def check_single_array(names: Sequence[str], source: str) -> str:
    """Return the name of the only array of an NPZ file."""
    if len(names) != 1:
        raise ValueError(
            f"{source}: must hold one array. Got {len(names)} instead{', ' if names else ''}{listed(names)}; save the "
            "one to read by itself, as NPY."
        )
    return names[0]


def check_array(array: NDArray[Any], source: str) -> NDArray[Any]:
    """Return an array of samples: numbers, strings, times, or records of them."""
    fields = array.dtype.names or ()
    types = [array.dtype[field] for field in fields] or [array.dtype]
    # Numbers of more than eight bytes are no type of Arrow.
    is_plain = all(dtype.kind in "UmM" or (dtype.kind in "biuf" and dtype.itemsize <= 8) for dtype in types)
    # Of lists without length there are no types either.
    if array.ndim == 0 or not is_plain or (array.ndim > 2 and 0 in array.shape[1:]):
        raise ValueError(
            f"{source}: must hold an array of numbers or strings with a row a sample. Got the dtype {array.dtype} and "
            f"the shape {array.shape} instead; convert it with astype(float) or astype(str)."
        )
    if array.ndim == 2:
        # Without rows it can tell of any number of columns.
        check_width(array.shape[1], source)
    return array
