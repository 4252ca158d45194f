"""Tables as Parquet, Arrow, NPY and NPZ, which know their types."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line
from paretodepth.files.schema import Batches, Expected, Write
from paretodepth.files.source import refuse_unreadable

# Rows that are decoded together, few, because some may be long series.
BATCH_ROWS = 1024
ARROW_FILE = b"ARROW1"
STREAM_ENDING = ".arrows"


def read_parquet(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a Parquet file."""
    return _mapped_rows(file, "parquet", _parquet_rows, expected, source)


def read_arrow(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of an Arrow file or stream."""
    return _mapped_rows(file, "arrow", _arrow_rows, expected, source)


def _mapped_rows(
    file: BinaryIO,
    format: str,
    rows: Callable[[pa.Buffer], tuple[pa.Schema, Batches]],
    expected: Expected,
    source: str,
) -> Batches:
    """Yield the rows that `rows` finds in a file, which is mapped into memory and not loaded."""
    content = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        yield from _expected_rows(*rows(content), expected, source)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        refuse_unreadable(source, format, error)


def _parquet_rows(content: pa.Buffer) -> tuple[pa.Schema, Batches]:
    parquet = pq.ParquetFile(pa.BufferReader(content))
    return parquet.schema_arrow, parquet.iter_batches(BATCH_ROWS)


def _arrow_rows(content: pa.Buffer) -> tuple[pa.Schema, Batches]:
    if content[: len(ARROW_FILE)].to_pybytes() == ARROW_FILE:
        arrow = pa.ipc.open_file(content)
        return arrow.schema, (arrow.get_batch(batch) for batch in range(arrow.num_record_batches))
    stream = pa.ipc.open_stream(content)
    return stream.schema, iter(stream)


def _expected_rows(found: pa.Schema, batches: Batches, expected: Expected, source: str) -> Batches:
    """Yield rows with the expected columns."""
    schema = expected.resolved(found, source)
    for batch in batches:
        # Arrow trusts what it maps into memory; a damaged file would end the process.
        batch.validate(full=True)
        yield batch.select(schema.names).cast(schema)


def read_array(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of the array of an NPY file, or of the only one of an NPZ file."""
    array = check_loadable(lambda: np.load(file, allow_pickle=False), source)
    if not isinstance(array, np.ndarray):
        arrays, name = array, check_single_array(array.files, source)
        array = check_loadable(lambda: arrays[name], source)
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


def check_loadable(load: Callable[[], Any], source: str) -> Any:
    """Return what NumPy loads: no damaged array, and no Python objects, which could run code when read."""
    try:
        return load()
    except Exception as error:
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
    kinds = {array.dtype[field].kind for field in fields} if fields else {array.dtype.kind}
    if array.ndim == 0 or not kinds <= set("biufUmM"):
        raise ValueError(
            f"{source}: must hold an array of numbers or strings with a row a sample. Got the dtype {array.dtype} and "
            f"the shape {array.shape} instead; convert it with astype(float) or astype(str)."
        )
    return array
