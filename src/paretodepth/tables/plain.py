"""Columns of any Arrow type as plain ones: numbers, strings, times, lists of these.

Categories, runs and views hold a value once however often it occurs, and many functions do not take them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROW_BYTES = 64 << 20
"""What the rows may take that are made plain together."""
MAX_ROWS = 1 << 16
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# What Python's calendar shows: from the year 1 to 9999, and differences of up to 999,999,999 days.
FIRST_SECOND, LAST_SECOND, MOST_SECONDS = -62_135_596_800, 253_402_300_799, 86_399_999_913_600


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
    type, types = plain_type(array.type), pa.types
    if isinstance(array.type, pa.BaseExtensionType):
        return plain_array(array.storage)
    if types.is_dictionary(array.type):
        return plain_array(array.dictionary).take(array.indices)
    if types.is_run_end_encoded(array.type):
        ends = array.run_ends.to_numpy()
        runs = np.searchsorted(ends, np.arange(array.offset, array.offset + len(array)), side="right")
        return plain_array(array.values).take(pa.array(runs))
    if array.type == type:
        return array
    if types.is_list(array.type):
        # A cast would take the values of all rows, not only of those that are asked for.
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        return pa.ListArray.from_arrays(offsets, plain_array(array.flatten()), type, mask=array.is_null())
    if types.is_list_view(array.type) or types.is_large_list_view(array.type):
        return pa.array(array.to_pylist(), type)
    try:
        return array.cast(type)
    except pa.ArrowNotImplementedError:
        return pa.array(array.to_pylist(), type)


def widest_row(batch: pa.RecordBatch) -> int:
    """Return the bytes of the largest row, or more, once it is made plain."""
    return sum(widest_value(column) for column in batch.columns)


def n_rows_at_once(widest: int) -> int:
    """Return how many rows can be made plain together without taking much more memory than they should."""
    return max(1, min(MAX_ROWS, ROW_BYTES // max(widest, 1)))


def widest_value(array: pa.Array) -> int:
    """Return the bytes of the largest value of a column that holds values once however often they occur."""
    types = pa.types
    if not len(array):
        return 0
    if isinstance(array.type, pa.BaseExtensionType):
        return widest_value(array.storage)
    if types.is_dictionary(array.type):
        return widest_value(array.dictionary)
    if types.is_run_end_encoded(array.type):
        return widest_value(array.values)
    if types.is_string_view(array.type) or types.is_binary_view(array.type):
        # A view is 16 bytes, of which the first four are the length.
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4]
        return int(lengths[array.offset : array.offset + len(array)].max())
    if types.is_string(array.type) or types.is_large_string(array.type) or types.is_binary(array.type):
        return int(pc.max(pc.binary_length(array)).as_py() or 0)
    if not types.is_nested(array.type):
        return 8
    # Of views within it pyarrow 16 cannot tell nbytes.
    n_bytes = int(array.get_total_buffer_size())
    if not types.is_list(array.type):
        return n_bytes
    # The longest list, as if it held the largest only; what is plain already is no larger than it is.
    widest = int(pc.max(pc.list_value_length(array)).as_py() or 0) * widest_value(array.flatten())
    return min(widest, n_bytes) if array.type == plain_type(array.type) else widest


def within_calendar(array: pa.Array, note: Callable[[int], Any]) -> pa.Array:
    """Return times without those that no calendar shows; `note` is told how many there are."""
    limits = _limits(array.type)
    if limits is None:
        return array
    numbers = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    is_shown = pc.and_(pc.greater_equal(numbers, limits[0]), pc.less_equal(numbers, limits[1]))
    n_beyond = len(array) - array.null_count - (pc.sum(is_shown).as_py() or 0)
    if not n_beyond:
        return array
    note(n_beyond)
    return pc.if_else(is_shown, array, pa.scalar(None, array.type))


def _limits(type: pa.DataType) -> tuple[int, int] | None:
    """Return between which numbers times of a type are that Python can show."""
    types = pa.types
    if types.is_date32(type):
        return FIRST_SECOND // 86_400, LAST_SECOND // 86_400
    if types.is_date64(type):
        return FIRST_SECOND * 1000, LAST_SECOND * 1000
    if not (types.is_timestamp(type) or types.is_duration(type) or types.is_time(type)):
        return None
    unit = SECONDS[type.unit]
    if types.is_time(type):
        return 0, 86_400 * unit - 1
    first, last = (FIRST_SECOND, LAST_SECOND) if types.is_timestamp(type) else (-MOST_SECONDS, MOST_SECONDS)
    return max(first * unit, -(2**63)), min(last * unit, 2**63 - 1)
