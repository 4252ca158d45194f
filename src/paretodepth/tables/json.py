"""Tables as JSON, lines or one list of objects: the keys are the columns."""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from paretodepth._checks import one_line, shortened
from paretodepth.tables.cells import TEXT, Column, Tally, check_settled
from paretodepth.tables.expected_columns import TEXT_OF, Batches, Expected, check_n_columns
from paretodepth.tables.sources import MAX_LINE, READ_BYTES, check_lines

KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
# Objects of a list that are taken together, few, because some may hold long series.
LIST_ROWS = 1024
MARK = re.compile(r"[ \t\n\r]*([\[,\]])[ \t\n\r]*")
"""What stands before an entry of a list, or at its end."""
Rows = Iterator[list[tuple[int, dict[str, Any]]]]


class Values:
    """What the values of one key are: the type of those that are no text, and a tally of those that are."""

    def __init__(self, expected: str | None) -> None:
        self.type = pa.null()
        self.tally = Tally(expected=expected)
        self.n_texts = 0

    def add(self, values: list[Any], first_row: int) -> None:
        """Take more values; Arrow refuses those that no type holds together."""
        check_booleans(values)
        texts, others = _split(values)
        found = others.type
        if found != pa.null():
            schemas = [pa.schema([("", self.type)]), pa.schema([("", found)])]
            self.type = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        n_values = len(others) - others.null_count
        self.tally.counts.update(
            whole=n_values * pa.types.is_integer(found), float=n_values * pa.types.is_floating(found)
        )
        self.tally.n_rows = first_row
        self.tally.add(texts)
        self.n_texts += len(texts) - texts.null_count

    def settled(self, name: str, expected: Expected, source: str) -> Column | None:
        """Return how values are read of which some are text, None if all are of their own type."""
        has_numbers = pa.types.is_integer(self.type) or pa.types.is_floating(self.type)
        if self.n_texts == 0 or not (has_numbers or self.type == pa.null()):
            return None
        if self.tally.expected is None and not has_numbers and not self.tally.is_date:
            # JSON knows numbers: what it has as text is meant as text.
            return Column(TEXT)
        return check_settled(self.tally, name, expected, source, "row {}")


def read(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of JSON lines, or of one list; read twice, for a type is known only when all its values are."""
    start = file.tell()
    found, columns = _found(file, expected, source)
    schema = expected.resolved(found, source)
    file.seek(start)
    # Text that is read as times or numbers.
    is_read = {name for name, column in columns.items() if column is not None and column.type != TEXT}
    kept = [name for name in schema.names if name in is_read] if expected.keeps_text else []
    yield from _batches(file, schema, columns, source, kept)


def as_json(value: Any) -> str:
    """Return a value as JSON, which is extended by NaN and Infinity; times and bytes become text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_list(file: BinaryIO) -> bool:
    """Tell whether a file holds one list, and leave it where it is."""
    start = file.tell()
    first = next((line for line in iter(lambda: file.readline(READ_BYTES), b"") if not line.isspace()), b"")
    file.seek(start)
    return first.lstrip().startswith(b"[")


def _rows(file: BinaryIO, source: str) -> Rows:
    """Yield objects with their lines' numbers, or their own numbers in a list, many at a time."""
    return _list_rows(file, source) if _is_list(file) else _line_rows(file, source)


def _line_rows(file: BinaryIO, source: str) -> Rows:
    """Yield the objects of JSON lines; blank lines are skipped."""
    decode = json.JSONDecoder(object_pairs_hook=check_unique_keys).decode
    rows, n_bytes = [], 0
    for number, line in enumerate(check_lines(file, source), 1):
        if not line.isspace():
            rows.append((number, check_json_object(line.decode(), f"line {number}", decode, source)))
        n_bytes += len(line)
        if n_bytes >= READ_BYTES:
            yield rows
            rows, n_bytes = [], 0
    yield rows


def _list_rows(file: BinaryIO, source: str) -> Rows:
    """Yield the objects of a list."""
    decode = json.JSONDecoder(object_pairs_hook=check_unique_keys).raw_decode
    entries = check_entries(file, decode, source)
    numbered = ((number, check_object(value, f"entry {number}", source)) for number, value in entries)
    while rows := list(itertools.islice(numbered, LIST_ROWS)):
        yield rows


def check_entries(
    file: BinaryIO, decode: Callable[[str, int], tuple[Any, int]], source: str, most: int = MAX_LINE
) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a list, with their numbers; the list need not be in memory as a whole."""
    utf8 = codecs.getincrementaldecoder("utf-8")()
    text, at, number, is_whole = "", 0, 1, False
    while True:
        mark = MARK.match(text, at)
        begin = mark.end() if mark else len(text)
        try:
            if mark and ((mark[1] == "]" and number > 1) or text.startswith("]", begin)):
                return
            if text[at:begin].strip() and (mark is None or mark[1] != ("[" if number == 1 else ",")):
                raise ValueError("a comma is missing")
            value, end = decode(text, begin)
        except (ValueError, RecursionError) as error:
            if is_whole or len(text) - at > most:
                refuse_entry(text[begin:], number, getattr(error, "msg", str(error)), source)
            # It may be cut off. As much again, so that a long entry is not decoded over and over.
            n_left = most + 1 - (len(text) - at)
            block = file.read(min(max(READ_BYTES, len(text) - at), n_left))
            text, at, is_whole = text[at:] + utf8.decode(block, final=not block), 0, not block
        else:
            yield number, value
            number, at = number + 1, end


def refuse_entry(text: str, number: int, reason: str, source: str) -> NoReturn:
    """Raise an error about an entry that is no JSON."""
    raise ValueError(
        f"{source}, entry {number}: must be an object in JSON. Got {shortened(text[:80].strip())} instead ({reason}); "
        "mend or drop that entry."
    )


def _found(file: BinaryIO, expected: Expected, source: str) -> tuple[pa.Schema, dict[str, Column | None]]:
    """Return the columns in the order in which they first appear, with the narrowest types, and how text is read."""
    start = file.tell()
    n_rows = 0
    found: dict[str, Values] = {}
    kinds = expected.known_kinds
    for rows in _rows(file, source):
        names = dict.fromkeys(name for _, row in rows for name in row)
        check_n_columns([*(found | names)], source)
        for name in names:
            # Column by column, for Arrow does not say which one it cannot hold.
            if name not in found:
                found[name] = Values(kinds.get(name))
            values = found[name]
            try:
                values.add([row.get(name) for _, row in rows], n_rows)
            except (pa.ArrowException, ValueError, OverflowError) as error:
                file.seek(start)
                _refuse_column(file, name, source, error)
        n_rows += len(rows)
    columns = {name: values.settled(name, expected, source) for name, values in found.items()}
    for name, column in columns.items():
        if found[name].n_texts and (column is None or (column.type == TEXT and found[name].type != pa.null())):
            file.seek(start)
            _refuse_column(file, name, source, None)
    types = {name: found[name].type if column is None else column.type for name, column in columns.items()}
    return pa.schema(list(types.items())), columns


def _refuse_column(file: BinaryIO, name: str, source: str, error: Exception | None) -> NoReturn:
    """Raise an error that names the two first lines whose values differ in kind."""
    unit = "entry" if _is_list(file) else "line"
    first = None
    for rows in _rows(file, source):
        for number, row in rows:
            kind = KINDS.get(type(row.get(name)))
            told = f"{kind} in {unit} {number}"
            if kind and first and kind != first[0]:
                refuse_mixture(name, f"{first[1]} and {told} instead", source, error)
            if kind and not first:
                first = (kind, told)
    refuse_mixture(name, None, source, error)


def _batches(
    file: BinaryIO, schema: pa.Schema, columns: dict[str, Column | None], source: str, kept: list[str]
) -> Batches:
    """Yield the rows with the columns of a schema, and some of them as text too; an absent key is missing."""
    whole = pa.schema([*schema, *((TEXT_OF + name, TEXT) for name in kept)])
    for rows in _rows(file, source):
        arrays = []
        for field in schema:
            values = [row.get(field.name) for _, row in rows]
            try:
                arrays.append(_array(values, columns[field.name], field.type))
            except pa.ArrowInvalid as error:
                # An integer that the floats of other lines cannot hold.
                refuse_mixture(field.name, None, source, error)
        arrays += [pa.array([_text(row.get(name)) for _, row in rows], TEXT) for name in kept]
        yield pa.record_batch(arrays, schema=whole)


def _text(value: Any) -> str | None:
    """Return a value as text."""
    return value if value is None or isinstance(value, str) else as_json(value)


def _array(values: list[Any], column: Column | None, type: pa.DataType) -> pa.Array:
    """Return values, of which some may be text that is read as something else."""
    if column is None or column.type == TEXT:
        return pa.array(values, type)
    texts, others = _split(values)
    return pc.coalesce(others.cast(type), column._replace(type=type).values(texts))


def _split(values: list[Any]) -> tuple[pa.Array, pa.Array]:
    """Return those values that are text, and the others; missing ones in their places."""
    texts = pa.array([value if isinstance(value, str) else None for value in values], TEXT)
    return texts, pa.array([None if isinstance(value, str) else value for value in values])


def _leaf_types(values: Iterable[Any]) -> set[type]:
    """Return the types of values, and of those within lists."""
    held = list(values)
    types = set(map(type, held))
    if list in types:
        types |= _leaf_types(itertools.chain.from_iterable(value for value in held if type(value) is list))
    return types


def check_booleans(values: list[Any]) -> None:
    """Refuse booleans among numbers, of which Arrow would make 0 and 1 if they come in the same block."""
    types = _leaf_types(values)
    if bool in types and types & {int, float}:
        raise ValueError("booleans among numbers")


def check_json_object(line: str, place: str, decode: Callable[[str], Any], source: str) -> dict[str, Any]:
    """Return the object that a line of JSON holds."""
    try:
        value = decode(line)
    except (ValueError, RecursionError) as error:
        reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise ValueError(
            f"{source}, {place}: must be an object in JSON. Got {shortened(line.strip())} instead "
            f"({reason}); mend or drop that line."
        ) from error
    return check_object(value, place, source)


def check_object(value: Any, place: str, source: str) -> dict[str, Any]:
    """Return a row: an object."""
    if not isinstance(value, dict):
        raise ValueError(
            f'{source}, {place}: must be an object in JSON, {{"column": value, …}}. Got {shortened(value)} instead; '
            "write one object a row, in lines or in one list."
        )
    return value


def check_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dict, if no key comes twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r} comes twice")
    return row


def refuse_mixture(name: str, got: str | None, source: str, error: Exception | None) -> NoReturn:
    """Raise an error about a column of JSON whose values are of several kinds."""
    why = f"this: {one_line(error)}" if error else "several"
    raise ValueError(
        f"{source}: the column '{name}' must hold values of one kind, in lists too. Got {got or why}; make them "
        "all text, for example."
    ) from error
