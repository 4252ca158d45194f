"""How a file is to be read where it does not tell by itself. Imports no library: the command line waits for none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple


class Reading(NamedTuple):
    """What a caller knows about a file; None where the file tells by itself.

    Attributes
    ----------
    format : str, default=None
        A name in ``paretodepth.tables.formats.FORMATS``.
    sep : str, default=None
        The character between the cells of delimited text.
    decimal : str, default=None
        The decimal mark of numbers in delimited text, a point or a comma.
    encoding : str, default=None
        That of text, ``"cp1252"`` say. None is UTF-8, or UTF-16 with its mark.
    skip_rows : int, default=0
        Lines or rows before the header.
    sheet : str, default=None
        The name of a spreadsheet's sheet. None is the first.
    note : callable, default=warnings.warn
        Called with a sentence about cells that are read otherwise than they are written.
    """

    format: str | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
    note: Callable[[str], object] = warnings.warn


def check_reading(format: str | Reading | None) -> Reading:
    """Return how to read a file, of which the format's name may be all that is known."""
    reading = format if isinstance(format, Reading) else Reading(format)
    sep = "\t" if reading.sep in ("tab", "\\t") else reading.sep
    if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
        raise ValueError(f"The separator (sep) must be one character, or tab. Got {reading.sep!r} instead.")
    if reading.decimal not in (None, ".", ","):
        raise ValueError(f"The decimal mark (decimal) must be '.' or ','. Got {reading.decimal!r} instead.")
    if sep is not None and sep == reading.decimal:
        raise ValueError(f"The separator and the decimal mark must differ. Got {sep!r} for both.")
    if reading.skip_rows < 0:
        raise ValueError(f"The rows to skip (skip_rows) must be 0 or more. Got {reading.skip_rows} instead.")
    return reading._replace(sep=sep)
