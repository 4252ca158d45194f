"""Tables as JSON lines: one object a line, its keys the columns."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

import pyarrow as pa

from paretodepth._checks import one_line, shortened
from paretodepth.files.schema import Batches, Expected, Write
from paretodepth.files.source import READ_BYTES

KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}


def read(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of JSON lines; read twice, for a type is known only when all its values are."""
    start = file.tell()
    schema = expected.resolved(_schema(file, source), source)
    file.seek(start)
    yield from _batches(file, schema, source)


@contextlib.contextmanager
def writer(file: BinaryIO, schema: pa.Schema, path: str) -> Iterator[Write]:
    """Yield a function that writes the rows of a table as JSON lines."""
    yield lambda table: file.writelines(f"{as_json(row)}\n".encode() for row in table.to_pylist())


def as_json(value: Any) -> str:
    """Return a value as JSON, which is extended by NaN and Infinity; times and bytes become text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _rows(file: BinaryIO, source: str) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Yield objects with their lines' numbers, many at a time; blank lines are skipped."""
    decode = json.JSONDecoder(object_pairs_hook=check_unique_keys).decode
    n_lines = 0
    while lines := file.readlines(READ_BYTES):
        yield [
            (number, check_json_object(line.decode(), number, decode, source))
            for number, line in enumerate(lines, n_lines + 1)
            if not line.isspace()
        ]
        n_lines += len(lines)


def _schema(file: BinaryIO, source: str) -> pa.Schema:
    """Return the columns in the order in which they first appear, each of the narrowest type that holds all values."""
    start = file.tell()
    schema = pa.schema([])
    for rows in _rows(file, source):
        for name in dict.fromkeys(name for _, row in rows for name in row):
            # Column by column, for Arrow does not say which one it cannot hold.
            try:
                found = pa.schema([(name, pa.array([row.get(name) for _, row in rows]).type)])
                schema = pa.unify_schemas([schema, found], promote_options="permissive")
            except (pa.ArrowException, ValueError, OverflowError) as error:
                file.seek(start)
                _refuse_column(file, name, source, error)
    return schema


def _refuse_column(file: BinaryIO, name: str, source: str, error: Exception) -> NoReturn:
    """Raise an error that names the two first lines whose values differ in kind."""
    first = None
    for rows in _rows(file, source):
        for line, row in rows:
            kind = KINDS.get(type(row.get(name)))
            if kind and first and kind != first[1]:
                refuse_mixture(name, first, (line, kind), source, error)
            if kind and not first:
                first = (line, kind)
    refuse_mixture(name, None, None, source, error)


def _batches(file: BinaryIO, schema: pa.Schema, source: str) -> Batches:
    """Yield the rows with the columns of a schema; a key that an object lacks is missing."""
    for rows in _rows(file, source):
        arrays = []
        for field in schema:
            try:
                arrays.append(pa.array([row.get(field.name) for _, row in rows], field.type))
            except pa.ArrowInvalid as error:
                # An integer that the floats of other lines cannot hold.
                refuse_mixture(field.name, None, None, source, error)
        yield pa.record_batch(arrays, schema=schema)


def check_json_object(line: str, number: int, decode: Callable[[str], Any], source: str) -> dict[str, Any]:
    """Return the object that a line of JSON holds."""
    try:
        value = decode(line)
    except (ValueError, RecursionError) as error:
        reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise ValueError(
            f"{source}, line {number}: must be an object in JSON. Got {shortened(line.strip())} instead "
            f"({reason}); mend or drop that line."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(
            f'{source}, line {number}: must be an object in JSON, {{"column": value, …}}. Got '
            f"{shortened(value)} instead; write one object a line (jq -c '.[]' makes such lines of one long list)."
        )
    return value


def check_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dict, if no key comes twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} comes twice")
    return row


def refuse_mixture(
    name: str, first: tuple[int, str] | None, other: tuple[int, str] | None, source: str, error: Exception
) -> NoReturn:
    """Raise an error about a column of JSON lines whose values are of several kinds; each of two has line and kind."""
    got = (
        f"{first[1]} in line {first[0]} and {other[1]} in line {other[0]} instead"
        if first and other
        else f"this: {one_line(error)}"
    )
    raise ValueError(
        f"{source}: the column '{name}' must hold values of one kind, in lists too. Got {got}; make them all text, say."
    ) from error
