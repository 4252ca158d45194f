"""Schemas of tables of samples: what a column holds, and the types to read a file with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, NoReturn

import pyarrow as pa

from paretodepth._checks import listed, suggestion
from paretodepth.tables.reading import Reading

KIND_TYPES = {
    "numbers": pa.float64(),
    "text": pa.string(),
    "lists": pa.list_(pa.float64()),
    "times": pa.timestamp("us"),
}
"""A type of each kind, for schemas that tell kinds alone."""

MAX_COLUMNS = 20_000
"""Columns of a table: each costs some tenths of a millisecond before a single row is read."""
MAX_NAME = 1000
"""Letters of a column's name."""
TEXT_OF = "\0"
"""Begins the name of a column that holds the cells of another as the file has them."""
Batches = Iterator[pa.RecordBatch]
Write = Callable[[pa.Table], None]


class Expected(NamedTuple):
    """The columns that a file must have, if any, whether it may have others, and how to read it.

    A column of the null type may hold anything. If text is kept, the cells of text that were read as values come in
    further columns, see `split_text`.
    """

    schema: pa.Schema | None = None
    keep_others: bool = False
    reading: Reading = Reading()
    keeps_text: bool = False

    def resolved(self, found: pa.Schema, source: str) -> pa.Schema:
        """Return the schema to read a file with: the file's types in the order of the expected columns.

        If other columns are kept, the order is the file's.
        """
        check_distinct_names(found.names, source)
        if self.schema is None:
            return pa.schema([(field.name, _typed(field.type, pa.string())) for field in found])
        check_expected_columns(found.names, self.schema.names, source, keep_others=self.keep_others)
        fields = []
        known = dict(zip(self.schema.names, self.schema.types, strict=True))
        types = dict(zip(found.names, found.types, strict=True))
        for name in found.names if self.keep_others else self.schema.names:
            wanted = known.get(name, pa.null())
            is_free = pa.types.is_null(wanted)
            type = _typed(types[name], pa.string() if is_free else wanted)
            if not is_free:
                # Kinds, not types: whether numbers are integers is an accident of the rows that a file has.
                check_kind(column_kind(type), column_kind(wanted), name, source)
            fields.append((name, type))
        return pa.schema(fields)

    @property
    def known_kinds(self) -> dict[str, str]:
        """What each column must hold, without those that may hold anything."""
        fields = [] if self.schema is None else [field for field in self.schema if not pa.types.is_null(field.type)]
        return {field.name: column_kind(field.type) for field in fields}


def split_text(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    r"""Return the values of a table, and by column the cells of text that were read as values.

    Examples
    --------
    >>> values, texts = split_text(pa.table({"size": [1.5], "\0size": ["1,50"]}))
    >>> values.column_names, texts.to_pydict()
    (['size'], {'size': ['1,50']})
    """
    kept = [name for name in table.column_names if name.startswith(TEXT_OF)]
    texts = table.select(kept).rename_columns([name.removeprefix(TEXT_OF) for name in kept])
    return table.drop_columns(kept) if kept else table, texts


def _typed(type: pa.DataType, if_null: pa.DataType) -> pa.DataType:
    """Return the type of a column, or another for one without any value."""
    return if_null if pa.types.is_null(type) else type


def check_width(n_columns: int, source: str) -> None:
    """Refuse more columns than can be read in seconds."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"{source}: a table must have at most {MAX_COLUMNS:,} columns. Got {n_columns:,} instead; leave out those "
            "that no criterion reads, or join them to one column of lists."
        )


def check_n_columns(names: Sequence[str], source: str) -> None:
    """Refuse more columns than can be read in seconds, and names that are none."""
    check_width(len(names), source)
    longest = max(names, key=len, default="")
    if len(longest) > MAX_NAME:
        raise ValueError(
            f"{source}: the name of a column must have at most {MAX_NAME:,} letters. Got {len(longest):,} instead in "
            f"'{longest[:40]}…'; rename it, or look for a missing line break."
        )


def check_distinct_names(names: Sequence[str], source: str) -> None:
    """Refuse columns without a name or with the name of another."""
    check_n_columns(names, source)
    places: dict[str, int] = {}
    for position, name in enumerate(names):
        if not name:
            raise ValueError(
                f"{source}: every column must have a name. Got none for column {position + 1}; give it one, or leave "
                "the column out (pandas: to_csv(index=False))."
            )
        if places.setdefault(name, position) != position:
            raise ValueError(
                f"{source}: columns must have different names. Got '{name}' for column {places[name] + 1} and "
                f"column {position + 1}; rename one of them."
            )


def check_expected_columns(names: Sequence[str], expected: Sequence[str], source: str, *, keep_others: bool) -> None:
    """Refuse the lack of an expected column and, unless they are kept, others; their order does not matter."""
    found, wanted = set(names), set(expected)
    missing = [name for name in expected if name not in found]
    others = [name for name in names if name not in wanted]
    refused = [] if keep_others else others
    if not missing and not refused:
        return
    got = [f"no {''.join((repr(name), suggestion(name, others)))}" for name in missing[:5]]
    got += [f"{name!r} besides" for name in refused[:5]]
    more = max(len(missing) - 5, 0) + max(len(refused) - 5, 0)
    raise ValueError(
        f"{source}: the columns must be the expected ones, {listed(expected[:20])}"
        f"{' and so on' if len(expected) > 20 else ''}. Got {', '.join(got)}"
        f"{f' and {more} more differences' if more else ''}; rename, add or drop columns."
    )


def check_kind(found: str, expected: str, name: str, source: str) -> None:
    """Refuse a column that holds something else than expected."""
    if found != expected:
        refuse_kind(found, expected, name, source)


def refuse_kind(found: str, expected: str, name: str, source: str, example: str = "") -> NoReturn:
    """Raise an error about a column that holds something else than expected."""
    raise ValueError(
        f"{source}: the column '{name}' must hold {expected}, as in the expected columns. Got {found} instead"
        f"{example}; mend or convert the column."
    )


def expected_schema(names: Iterable[str] | None, kinds: Sequence[str], source: str) -> pa.Schema:
    """Return the columns that a model was fitted on, of the kinds that these had as far as that is known."""
    known = check_column_names_known(names, source)
    return pa.schema([(name, KIND_TYPES.get(kind, pa.null())) for name, kind in zip(known, kinds, strict=True)])


def check_column_names_known(names: Iterable[str] | None, source: str) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    if names is None:
        raise ValueError(
            f"{source}: the model must have been fitted on columns with names. Got one fitted on an array; fit it on a "
            "data frame, or with `paretodepth fit`."
        )
    return [str(name) for name in names]


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
