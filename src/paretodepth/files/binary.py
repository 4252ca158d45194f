"""Tables as Parquet, Arrow, NPY and NPZ."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line
from paretodepth.files.formats import refuse_unreadable
from paretodepth.files.schema import Batches, Expected


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
    kinds = (
        {field: array.dtype[field].kind for field in array.dtype.names} if array.dtype.names else {"": array.dtype.kind}
    )
    if array.ndim == 0 or not set(kinds.values()) <= set("biufUmM"):
        raise ValueError(
            f"{source}: must hold an array of numbers or strings with a row a sample. Got the dtype {array.dtype} and "
            f"the shape {array.shape} instead; convert it with astype(float) or astype(str)."
        )
    return array


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


BATCH_ROWS = 1024


def _binary_rows(file: BinaryIO, format: str, expected: Expected, source: str) -> Batches:
    """Yield the rows of Parquet or Arrow."""
    content = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        if format == "parquet":
            parquet = pq.ParquetFile(pa.BufferReader(content))
            schema, batches = parquet.schema_arrow, parquet.iter_batches(BATCH_ROWS)
        elif content[:6].to_pybytes() == b"ARROW1":
            arrow = pa.ipc.open_file(content)
            schema, batches = arrow.schema, (arrow.get_batch(batch) for batch in range(arrow.num_record_batches))
        else:
            stream = pa.ipc.open_stream(content)
            schema, batches = stream.schema, iter(stream)
        yield from _typed(schema, batches, expected, source)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        refuse_unreadable(source, format, error)


def _typed(found: pa.Schema, batches: Batches, expected: Expected, source: str) -> Batches:
    """Yield the rows of a typed file with the expected columns."""
    schema = expected.resolved(found, source)
    for batch in batches:
        # Arrow trusts what it maps into memory; a damaged file would end the process.
        batch.validate(full=True)
        yield batch.select(schema.names).cast(schema)


def _array_table(file: BinaryIO, source: str) -> pa.Table:
    """Return the array of an NPY file, or the only one of an NPZ file, as a table."""
    array = check_loadable(lambda: np.load(file, allow_pickle=False), source)
    if not isinstance(array, np.ndarray):
        arrays, name = array, check_single_array(array.files, source)
        array = check_loadable(lambda: arrays[name], source)
    array = check_array(array, source)
    if array.dtype.names:
        columns = {name: array[name] for name in array.dtype.names}
    elif array.ndim == 2:
        columns = {f"x{column}": array[:, column] for column in range(array.shape[1])}
    else:
        columns = {"x0": array}
    return pa.table({name: _arrow_column(values) for name, values in columns.items()})


def _arrow_column(values: np.ndarray[Any, Any]) -> pa.Array:
    """Return an array with a row a sample; what is left of its dimensions becomes lists."""
    flat = pa.array(np.ascontiguousarray(values.reshape(-1), dtype=values.dtype.newbyteorder("=")))
    for length in values.shape[:0:-1]:
        flat = pa.FixedSizeListArray.from_arrays(flat, length).cast(pa.list_(flat.type))
    return flat
