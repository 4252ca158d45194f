"""Cells of text as dates and timestamps: the notations, and the moments that cells mean."""

from __future__ import annotations

import contextlib
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

MOMENT = pa.timestamp("us")
# Python's calendar starts with the year 1. A year 0 is a placeholder, such as 0000-00-00 of MySQL.
_YEAR = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_CLOCK = r"((?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?)"
_BEHIND = rf"(?:[T ]+{_CLOCK}\s?(?:Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$"
# Each as a pattern, and as what makes ISO text of it. With points the day comes first wherever such dates are written.
NOTATIONS = {
    "year first": (rf"^{_YEAR}([-/])([0-9]{{1,2}})[-/]([0-9]{{1,2}}){_BEHIND}", r"\1-\3-\4 \5"),
    "day first, with points": (rf"^([0-9]{{1,2}})\.([0-9]{{1,2}})\.{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "day first": (rf"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "month first": (rf"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]{_YEAR}{_BEHIND}", r"\3-\1-\2 \4"),
}
"""How dates are written. A clock may follow. A zone behind it is dropped: the hour that the clock shows matters."""
YEAR_ZERO = rf"^0000[-/][0-9]{{1,2}}[-/][0-9]{{1,2}}{_BEHIND}|^[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-]0000{_BEHIND}"


def moments(cells: pa.Array, notation: str) -> pa.Array:
    """Return the moments of cells, missing where a cell is no date in the notation."""
    pattern, iso = NOTATIONS[notation]
    is_one = pc.match_substring_regex(cells, pattern)
    texts = pc.replace_substring_regex(pc.if_else(is_one, cells, pa.scalar(None, pa.string())), pattern, iso)
    # Months, days and hours of one digit, of which two may be neighbors.
    for _ in range(2):
        texts = pc.replace_substring_regex(texts, "([- ])([0-9])([- :]|$)", r"\10\2\3")
    # Arrow takes microseconds, and no more digits than these have.
    texts = pc.replace_substring_regex(pc.utf8_rtrim_whitespace(texts), r"(\.[0-9]{6})[0-9]+$", r"\1")
    try:
        return texts.cast(MOMENT)
    except pa.ArrowInvalid:
        # One of them is a 30th of February: Arrow does not say which.
        return pa.array([None if text is None else _moment(text) for text in texts.to_pylist()], MOMENT)


def _moment(text: str) -> datetime | None:
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(text)
    return None
