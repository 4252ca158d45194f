"""Schemas of tables of samples: what a column holds, and the types to read a file with."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paretodepth.file_validation import check_distinct_names, check_expected_columns, check_kind

KIND_TYPES = {
    "numbers": pa.float64(),
    "text": pa.string(),
    "lists": pa.list_(pa.float64()),
    "times": pa.timestamp("us"),
}
"""A type of each kind, for schemas that tell kinds alone."""


def column_kind(type: pa.DataType) -> str:
    """Return what a column holds, in the words of messages."""
    types = pa.types
    if types.is_boolean(type) or types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return "numbers"
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return "text"
    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        return "lists"
    return "times" if types.is_temporal(type) else str(type)


def resolved_schema(found: pa.Schema, expected: pa.Schema | None, source: str, *, keep_others: bool) -> pa.Schema:
    """Return the schema to read a file with: the file's types in the order of the expected columns.

    If other columns are kept, the order is the file's. An expected column of the null type may hold anything.
    """
    check_distinct_names(found.names, source)
    if expected is None:
        return pa.schema([(field.name, _plain(field.type, pa.string())) for field in found])
    check_expected_columns(found.names, expected.names, source, keep_others=keep_others)
    fields = []
    for name in found.names if keep_others else expected.names:
        wanted = expected.field(name).type if name in expected.names else pa.null()
        is_free = pa.types.is_null(wanted)
        type = _plain(found.field(name).type, pa.string() if is_free else wanted)
        if not is_free:
            check_kind(column_kind(type), column_kind(wanted), name, source)
        fields.append((name, type))
    return pa.schema(fields)


def expected_kinds(names: Sequence[str], expected: pa.Schema | None) -> list[str | None]:
    """Return what each column must hold, None for those that may hold anything."""
    fields = [] if expected is None else [field for field in expected if not pa.types.is_null(field.type)]
    known = {field.name: column_kind(field.type) for field in fields}
    return [known.get(name) for name in names]


def _plain(type: pa.DataType, if_null: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, whether or not they are encoded as categories."""
    if pa.types.is_dictionary(type):
        type = type.value_type
    return if_null if pa.types.is_null(type) else type
