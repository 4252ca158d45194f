"""What the columns of a table hold, by their types. Imports pyarrow alone: to read a file needs no criteria."""

from __future__ import annotations

import pyarrow as pa


def column_kind(type: pa.DataType) -> str:
    """Return what a column holds, in the words of messages; times are timestamps, dates and times of day."""
    types = pa.types
    if types.is_boolean(type) or types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return "numbers"
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return "text"
    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        return "lists"
    # Durations are temporal too, but no point in time.
    return "times" if types.is_temporal(type) and not types.is_duration(type) else str(type)
