"""Cells of text as dates and timestamps: the notations, and the moments that cells mean."""

from __future__ import annotations

import re
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

MOMENT = pa.timestamp("us")
# Python's calendar starts with the year 1. A year 0 is a placeholder, such as 0000-00-00 of MySQL.
_YEAR = "(?P<year>[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_MONTH, _DAY = "(?P<month>[0-9]{1,2})", "(?P<day>[0-9]{1,2})"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
_BEHIND = rf"(?:[T ]+(?P<clock>{_CLOCK}) ?(?:Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$"
# Each as a pattern, and as what makes ISO text of it. With points the day comes first wherever such dates are written.
NOTATIONS = {
    "year first": (f"^{_YEAR}[-/]{_MONTH}[-/]{_DAY}{_BEHIND}", r"\1-\2-\3 \4"),
    "day first, with points": (rf"^{_DAY}\.{_MONTH}\.{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "day first": (f"^{_DAY}[/-]{_MONTH}[/-]{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "month first": (f"^{_MONTH}[/-]{_DAY}[/-]{_YEAR}{_BEHIND}", r"\3-\1-\2 \4"),
}
"""How dates are written. A clock may follow. A zone behind it is dropped: the hour that the clock shows matters."""
YEAR_ZERO = r"^(0000[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]0000)([T ][T 0-9:.]*)?$"


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
        return pa.array([None if cell is None else moment(cell, notation) for cell in cells.to_pylist()], MOMENT)


def moment(cell: str, notation: str) -> datetime | None:
    """Return the moment of a single cell, None if it is no date in the notation."""
    found = re.fullmatch(NOTATIONS[notation][0], cell)
    if found is None:
        return None
    hour, minute, second = [*(found["clock"] or "0:0").split(":"), "0"][:3]
    whole, _, fraction = second.partition(".")
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    try:
        return datetime(year, month, day, int(hour), int(minute), int(whole), int(fraction[:6].ljust(6, "0")))
    except ValueError:
        return None
