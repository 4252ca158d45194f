"""Criteria as a TOML file: `[[criterion]]` tables of name, columns, metric, missing and params."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, NoReturn

from paretodepth._checks import listed, suggestion

MAX_BYTES, MAX_DOTS = 1 << 20, 5000
"""Of a file of criteria."""
KEYS = ("name", "columns", "metric", "missing", "params")


class Entry(NamedTuple):
    """A `[[criterion]]` table and where it stands, for messages."""

    values: dict[str, Any]
    place: str


def read_entries(path: str | PathLike[str]) -> list[Entry]:
    """Return the tables of a file of criteria, their keys checked."""
    text, document = check_document(path)
    entries = []
    lines = text.splitlines()
    headers = [line for line, content in enumerate(lines) if re.match(r"\s*\[\[\s*criterion\s*\]\]", content)]
    for number, values in enumerate(check_entries(document, path), start=1):
        place = _place(lines, headers, number, values, path)
        check_entry(values, KEYS, place)
        entries.append(Entry(values, place))
    return entries


def refuse_entry(entry: Entry, error: Exception) -> NoReturn:
    """Raise an error about a table that makes no criterion."""
    raise ValueError(f"{entry.place}: {error}") from error


def check_document(path: str | PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the text and the content of a TOML file, which is short: parsing a key takes the square of its dots."""
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    try:
        if len(content) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        if (n_dots := content.count(b".")) > MAX_DOTS:
            raise ValueError(f"{n_dots:,} dots, more than {MAX_DOTS:,}")
        text = content.decode()
        return text, tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error


def _place(lines: list[str], headers: list[int], number: int, values: Mapping[str, Any], path: object) -> str:
    """Return file, line and number of a table; the line of its first unknown key if there is one."""
    name = f" ('{values['name']}')" if isinstance(values.get("name"), str) else ""
    if len(headers) < number:
        return f"{path}, criterion {number}{name}"
    start, stop = headers[number - 1], [*headers, len(lines)][number]
    unknown = [key for key in values if key not in KEYS]
    wrong = [line for line in range(start, stop) if lines[line].split("=")[0].strip(" \t\"'") in unknown]
    return f"{path}, line {(wrong or [start])[0] + 1}, criterion {number}{name}"


def format_entries(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a file of criteria."""
    return "\n".join(
        "[[criterion]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in entry.items()) for entry in entries
    )


def _value(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, str):
        # JSON's escapes are TOML's, which wants one more.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(key)} = {_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple | range):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def check_entries(document: Mapping[str, Any], path: object) -> list[dict[str, Any]]:
    """Return the [[criterion]] tables of a file of criteria."""
    for key in document:
        if key != "criterion":
            raise ValueError(
                f"{path}: the file must hold only [[criterion]] tables. Got '{key}' instead"
                f"{suggestion(key, ['criterion'])}."
            )
    entries = document.get("criterion", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path}: the file must hold at least one criterion, written [[criterion]]. Got none.")
    return entries


def check_entry(entry: Mapping[str, Any], keys: Sequence[str], place: str) -> None:
    """Refuse a [[criterion]] table with other keys, or without a name."""
    for key in entry:
        if key not in keys:
            raise ValueError(
                f"{place}: the keys of a criterion must be {listed(keys)}. Got '{key}' instead{suggestion(key, keys)}; "
                "parameters of the metric belong under 'params'."
            )
    if not isinstance(entry.get("name"), str):
        raise ValueError(f"{place}: a criterion must have a name, a string. Got {entry.get('name')!r} instead.")
    params = entry.get("params", {})
    if not isinstance(params, dict):
        raise ValueError(
            f"{place}: the 'params' of a criterion must be a table, such as {{period = 24}}. Got {params!r} instead."
        )
    for key in (*keys, "transform", "pairwise"):
        if key in params:
            raise ValueError(f"{place}: the 'params' of a criterion must be parameters of its metric. Got '{key}'.")


def check_writable(value: object, what: str, name: str) -> None:
    """Refuse to write what a file of criteria cannot carry."""
    plain = value is None or isinstance(value, str | bool | int | float)
    if isinstance(value, Sequence) and not isinstance(value, str):
        for entry in value:
            check_writable(entry, what, name)
    elif not plain:
        raise TypeError(
            f"The {what} of the criterion '{name}' must be text or numbers to be written to a file. Got {value!r} "
            "instead; keep that criterion in Python."
        )
