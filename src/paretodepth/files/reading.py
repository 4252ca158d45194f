"""How a file is to be read where it does not tell by itself. Imports nothing: the command line waits for no library."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """What a caller knows about a file; None where the file tells by itself.

    Attributes
    ----------
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
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
