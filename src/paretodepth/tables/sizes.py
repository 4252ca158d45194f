"""How much a file may hold, told before memory is taken for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from paretodepth.pairs.limits import free_bytes

MAX_BYTES = 1 << 30
MAX_RATIO = 200
"""A table takes some 5 to 50 times as much as its compressed file; one of a billion equal cells some hundred times."""
MAX_COLUMNS = 20_000
"""Of a table: each column costs some tenths of a millisecond before a single row is read."""
MAX_NAME = 1000
"""Letters of a column's name."""


def most_bytes(n_bytes: int | None) -> int:
    """Return how much memory the table of a file of so many bytes may take: 1 GB, or 200 times that, if it is free.

    Of a stream, None, nobody knows how long it was.
    """
    return min(free_bytes(), sys.maxsize if n_bytes is None else meant_bytes(n_bytes))


def meant_bytes(n_bytes: int) -> int:
    """Return how much a file of so many bytes can be meant to hold."""
    return max(MAX_BYTES, MAX_RATIO * n_bytes)


def check_size(n_bytes: int, most: int, source: str) -> None:
    """Refuse a table that would take more memory than there is, or than its file can be meant to hold."""
    if n_bytes > most:
        raise ValueError(
            f"{source}: a table must take at most {most / 2**20:,.0f} MB of memory, {MAX_RATIO} times its file or "
            f"1 GB, and what is free. Got {n_bytes / 2**20:,.0f} MB or more instead; if it is what you think it is, "
            "save a part of it, or save it uncompressed."
        )


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
