"""Criteria as a TOML file: `[[criterion]]` tables of name, columns, metric, missing and params."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from paretodepth.criterion_validation import check_entries, check_entry

KEYS = ("name", "columns", "metric", "missing", "params")


class Entry(NamedTuple):
    """A `[[criterion]]` table and where it stands, for messages."""

    values: dict[str, Any]
    place: str


def read_entries(path: str | PathLike[str]) -> list[Entry]:
    """Return the tables of a file of criteria, their keys checked."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error
    entries = []
    for number, values in enumerate(check_entries(document, path), start=1):
        place = _place(text, number, values, path)
        check_entry(values, KEYS, place)
        entries.append(Entry(values, place))
    return entries


def _place(text: str, number: int, values: Mapping[str, Any], path: object) -> str:
    """Return file, line and number of a table; the line of its first unknown key if there is one."""
    lines = text.splitlines()
    headers = [line for line, content in enumerate(lines) if re.match(r"\s*\[\[\s*criterion\s*\]\]", content)]
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
