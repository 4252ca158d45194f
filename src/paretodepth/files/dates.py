"""Cells of text as dates and timestamps: which notation a column is written in, and the moments it means."""

from __future__ import annotations

import contextlib
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

MOMENT = pa.timestamp("us")
_CLOCK = r"([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
_BEHIND = rf"(?:[T ]+{_CLOCK}\s?(?:Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$"
# Each as a pattern, and as what makes ISO text of it. With points the day comes first wherever such dates are written.
NOTATIONS = {
    "year first": (rf"^([0-9]{{4}})([-/])([0-9]{{1,2}})[-/]([0-9]{{1,2}}){_BEHIND}", r"\1-\3-\4 \5"),
    "day first, with points": (rf"^([0-9]{{1,2}})\.([0-9]{{1,2}})\.([0-9]{{4}}){_BEHIND}", r"\3-\2-\1 \4"),
    "day first": (rf"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]([0-9]{{4}}){_BEHIND}", r"\3-\2-\1 \4"),
    "month first": (rf"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]([0-9]{{4}}){_BEHIND}", r"\3-\1-\2 \4"),
}
"""How dates are written. A clock may follow; a zone behind it is left out, for the hour that a clock shows matters."""


class DateTally:
    """Counts of the cells of a column that are dates, for each notation.

    Parameters
    ----------
    is_strict : bool
        Whether a notation is out as soon as a cell is not written in it.
    """

    def __init__(self, *, is_strict: bool) -> None:
        self.is_strict = is_strict
        self.n_values = 0
        self.counts = dict.fromkeys(NOTATIONS, 0)

    def add(self, values: pa.Array) -> None:
        """Count more cells, none of them missing."""
        self.n_values += len(values)
        for notation in list(self.counts):
            # The first cell rules out most columns.
            if self.is_strict and moments(values[:1], notation).null_count:
                del self.counts[notation]
                continue
            n_found = len(values) - moments(values, notation).null_count
            self.counts[notation] += n_found
            if self.is_strict and n_found < len(values):
                del self.counts[notation]

    @property
    def best(self) -> list[str]:
        """The notations in which the most cells are dates, none if no cell is; several if they cannot be told."""
        most = max(self.counts.values(), default=0)
        return [notation for notation, count in self.counts.items() if count == most > 0]


def moments(cells: pa.Array, notation: str) -> pa.Array:
    """Return the moments of cells, missing where one is no date of a notation."""
    pattern, iso = NOTATIONS[notation]
    is_one = pc.match_substring_regex(cells, pattern)
    texts = pc.replace_substring_regex(pc.if_else(is_one, cells, pa.scalar(None, pa.string())), pattern, iso)
    # Months, days and hours of one digit, of which two may stand side by side.
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
