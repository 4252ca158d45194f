"""The entries of one list in JSON, one at a time: the list need not be in memory as a whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

from paretodepth._checks import shortened
from paretodepth.tables.source import MAX_LINE, READ_BYTES

BLANKS = re.compile(r"[ \t\n\r]*")
LONGEST_WORD = 16
"""An error so near to the end of a block may come from it: within a number, -Infinity or an escape."""
Decode = Callable[[str, int], tuple[Any, int]]


def entries(file: BinaryIO, decode: Decode, source: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries of the list that a file holds, with their numbers, counted from 1."""
    utf8 = codecs.getincrementaldecoder("utf-8")()
    text, at, number, is_whole = "", 0, 1, False
    while True:
        begin = _begin(text, at, number, source)
        found = None if begin is None else check_entry(text, begin, number, decode, is_whole, source)
        if found is None:
            check_entry_size(text, at, number, is_whole, source)
            # As much again, so that a long entry is not looked at over and over.
            block = file.read(max(READ_BYTES, len(text) - at))
            text, at, is_whole = text[at:] + utf8.decode(block, final=not block), 0, not block
        elif found[1] < 0:
            return
        else:
            yield number, found[0]
            number, at = number + 1, found[1]


def _begin(text: str, at: int, number: int, source: str) -> int | None:
    """Return where the next entry, or the end of the list, begins; None if that is not yet to be seen."""
    mark = _behind_blanks(text, at)
    if mark == len(text):
        return None
    if text[mark] == "]" and number > 1:
        return mark
    if text[mark] != ("[" if number == 1 else ","):
        refuse_entry(text[mark:], number, "a comma is missing", source)
    begin = _behind_blanks(text, mark + 1)
    return None if begin == len(text) else begin


def _behind_blanks(text: str, at: int) -> int:
    blanks = BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def check_entry(
    text: str, begin: int, number: int, decode: Decode, is_whole: bool, source: str
) -> tuple[Any, int] | None:
    """Return an entry and where it ends, below 0 at the end of the list; None if the text does not reach so far."""
    if text[begin] == "]":
        return None, -1
    try:
        value, end = decode(text, begin)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text) - LONGEST_WORD or error.msg.startswith("Unterminated")
        if is_cut and not is_whole:
            return None
        refuse_entry(text[begin:], number, error.msg, source)
    except (ValueError, RecursionError) as error:
        refuse_entry(text[begin:], number, str(error), source)
    # A number at the end of the text may go on.
    return (value, end) if end < len(text) or is_whole else None


def check_entry_size(text: str, at: int, number: int, is_whole: bool, source: str, *, most: int = MAX_LINE) -> None:
    """Refuse a list that is cut off, and an entry that has no end."""
    if is_whole:
        refuse_entry(text[at:], number, "the list has no end", source)
    if len(text) - at > most:
        refuse_entry(text[at:], number, f"longer than {most >> 20} MB", source)


def refuse_entry(text: str, number: int, reason: str, source: str) -> NoReturn:
    """Raise an error about an entry that is no JSON."""
    raise ValueError(
        f"{source}, entry {number}: must be an object in JSON. Got {shortened(text[:80].strip())} instead ({reason}); "
        "mend or drop that entry."
    )
