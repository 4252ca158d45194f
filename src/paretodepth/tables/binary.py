"""Parquet, Arrow, NPY and NPZ files as an Arrow stream of plain types, written by a child process.

Plain are numbers, strings, times and lists of these. Categories, runs and views hold a value once however often it
occurs, and many functions do not take them; a small file of these may become a large table, which is why they are
made plain within the limits of the child process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line
from paretodepth.tables.expected_columns import check_width

# Few rows are read together where some may be long series or texts.
MANY_ROWS, FEW_ROWS = 1 << 16, 1 << 12
ARROW_FILE = b"ARROW1"


def main(file: BinaryIO, output: BinaryIO, source: str, format: str) -> None:
    """Write the rows of a file; `source` is its name in messages."""
    pa.set_cpu_count(1)
    schema, batches = _array(file, source) if format in ("npy", "npz") else READERS[format](file)
    check_width(len(schema), source)
    plain = pa.schema([(field.name, plain_type(field.type)) for field in schema])
    n_rows = MANY_ROWS if all(map(_is_narrow, plain.types)) else FEW_ROWS
    with pa.ipc.new_stream(output, plain) as stream:
        for batch in batches:
            # Arrow trusts what it reads.
            batch.validate(full=True)
            for start in range(0, batch.num_rows, n_rows):
                columns = [plain_array(column) for column in batch.slice(start, n_rows).columns]
                stream.write_batch(pa.record_batch(columns, schema=plain))


def _parquet(file: BinaryIO) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    parquet = pq.ParquetFile(file)
    n_rows = MANY_ROWS if all(map(_is_narrow, parquet.schema_arrow.types)) else FEW_ROWS
    return parquet.schema_arrow, parquet.iter_batches(n_rows, use_threads=False)


def _arrow(file: BinaryIO) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
    file.seek(0)
    if not is_file:
        stream = pa.ipc.open_stream(file)
        return stream.schema, iter(stream)
    arrow = pa.ipc.open_file(file)
    return arrow.schema, (arrow.get_batch(batch) for batch in range(arrow.num_record_batches))


def _is_narrow(type: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(type) or pa.types.is_null(type))


READERS = {"parquet": _parquet, "arrow": _arrow}


def plain_type(type: pa.DataType) -> pa.DataType:
    """Return the plain type of a column's values."""
    types = pa.types
    if isinstance(type, pa.BaseExtensionType):
        return plain_type(type.storage_type)
    if types.is_dictionary(type) or types.is_run_end_encoded(type):
        return plain_type(type.value_type)
    if types.is_string_view(type):
        return pa.string()
    if types.is_binary_view(type):
        return pa.binary()
    if types.is_float16(type):
        return pa.float32()
    if types.is_list(type) or types.is_list_view(type):
        return pa.list_(plain_type(type.value_type))
    if types.is_large_list(type) or types.is_large_list_view(type):
        return pa.large_list(plain_type(type.value_type))
    return type


def plain_array(array: pa.Array) -> pa.Array:
    """Return a column as one of its plain type."""
    type = plain_type(array.type)
    if isinstance(array.type, pa.BaseExtensionType):
        return plain_array(array.storage)
    if pa.types.is_dictionary(array.type):
        return plain_array(array.dictionary).take(array.indices)
    if pa.types.is_run_end_encoded(array.type):
        runs = np.searchsorted(array.run_ends.to_numpy(), array.offset + np.arange(len(array)), side="right")
        return plain_array(array.values).take(pa.array(runs))
    if array.type == type:
        return array
    # Arrow casts views of lists to lists without their last offset.
    is_view = pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type)
    with contextlib.suppress(pa.ArrowNotImplementedError):
        return pa.array(array.to_pylist(), type) if is_view else array.cast(type)
    return pa.array(array.to_pylist(), type)


def _array(file: BinaryIO, source: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return an array with a row a sample as rows: its fields or columns by name, more dimensions as lists."""
    array = check_array(check_loaded(file, source), source)
    if array.dtype.names:
        columns = {name: array[name] for name in array.dtype.names}
    elif array.ndim == 2:
        columns = {f"x{column}": array[:, column] for column in range(array.shape[1])}
    else:
        columns = {"x0": array}
    table = pa.table({name: _arrow_column(values) for name, values in columns.items()})
    return table.schema, iter(table.to_batches())


def _arrow_column(values: NDArray[Any]) -> pa.Array:
    """Return an array with a row a sample; what is left of its dimensions becomes lists."""
    # Arrow takes neither foreign byte orders nor steps over memory.
    flat = pa.array(np.ascontiguousarray(values.reshape(-1), dtype=values.dtype.newbyteorder("=")))
    for length in values.shape[:0:-1]:
        flat = pa.FixedSizeListArray.from_arrays(flat, length).cast(pa.list_(flat.type))
    return flat


def check_loaded(file: BinaryIO, source: str) -> NDArray[Any]:
    """Return the only array of a file: no damaged one, and no Python objects, which could run code when read."""
    try:
        loaded = np.load(file, allow_pickle=False)
        names = getattr(loaded, "files", None)
        if names is None or len(names) == 1:
            return np.asarray(loaded if names is None else loaded[names[0]])
    except MemoryError:
        raise
    except Exception as error:
        # NumPy does not say what it raises: damaged files have led to errors of zipfile, zlib, tokenize and more.
        raise ValueError(
            f"{source}: must hold a whole array of numbers or strings; Python objects (pickle) are not read, for they "
            f"can run any code. Got this instead: {one_line(error)}; save the array with another dtype, or a "
            "table as Parquet."
        ) from error
    raise ValueError(
        f"{source}: must hold one array. Got {len(names)} instead{', ' if names else ''}{listed(names)}; save the "
        "one to read by itself, as NPY."
    )


def check_array(array: NDArray[Any], source: str) -> NDArray[Any]:
    """Return an array of samples: numbers, strings, times, or records of them."""
    fields = array.dtype.names or ()
    types = [array.dtype[field] for field in fields] or [array.dtype]
    # Numbers of more than eight bytes are no type of Arrow, nor are strings without letters or lists without length.
    is_plain = all(
        (dtype.kind in "UmM" or (dtype.kind in "biuf" and dtype.itemsize <= 8)) and dtype.itemsize for dtype in types
    )
    if array.ndim == 0 or not is_plain or (array.ndim > 2 and 0 in array.shape[1:]):
        raise ValueError(
            f"{source}: must hold an array of numbers or strings with a row a sample. Got the dtype {array.dtype} and "
            f"the shape {array.shape} instead; convert it with astype(float) or astype(str)."
        )
    if array.ndim == 2:
        # An array without rows may have any number of columns.
        check_width(array.shape[1], source)
    return array
