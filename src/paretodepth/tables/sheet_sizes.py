"""How far the cells of a sheet of Excel reach, and how much text they share, told without taking memory.

The library that reads sheets is lenient about XML. So are the patterns here, which may count what it skips, but never
skip what it counts; what could mislead them is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import gt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.tables.source import READ_BYTES

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
SHEET = b"sheetData"
# Names of elements may stand behind a prefix.
PREFIX = rb"(?:[^\s<>:\"']*:)?"
SHEET_END = re.compile(rb"</" + PREFIX + SHEET)
ATTRIBUTE = rb"[^\s=\"'<>/]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*')"
# Names of cells, r="AB17", but no formula with Quarter="Q4". A pattern that begins with a letter is found faster.
NAME = rb"r(?<=[\s\"']r)\s*=\s*[\"']"
ROWS = re.compile(NAME + rb"[A-Za-z]+([0-9]+)[\"']")
COLUMNS = re.compile(NAME + rb"([A-Za-z]+)[0-9]+[\"']")
# A cell without a name lies next to the one before. Most have no prefix, and are looked through faster without.
NAMELESS, PREFIXED = (
    re.compile(start + rb"c(?=[\s/>])(?!\s+(?:" + ATTRIBUTE + rb"\s+)*?r\s*=\s*[\"'][A-Za-z])")
    for start in (rb"<", rb"<" + PREFIX)
)
# Quotes in the name of an element, comments and instructions hide what follows.
HIDING = re.compile(rb"<[^\s<>/\"']*[\"']|<[!?]|\0")
# Where cells have no names the order of tags counts, so that each must be one.
STRAY = re.compile(rb"<(?!/?[^\s<>/\"'=]+(?:\s+" + ATTRIBUTE + rb")*\s*/?>)")
TAGS = re.compile(rb"<(/?)" + PREFIX + rb"(row|c)(?=[\s/>])([^<>]*)>")
ROW_NAME = re.compile(rb"\sr\s*=\s*[\"'][A-Za-z]*([0-9]+)[\"']")
# Cells with a text of the list that sheets share, and its number; other ways to write them count as the longest text.
SHARED = re.compile(rb"t\s*=\s*[\"']s[\"']")
NUMBERED = re.compile(rb"t\s*=\s*[\"']s[\"'][^<>]*>(?:<(?:\w+:)?v>([0-9]{1,9})</(?:\w+:)?v></(?:\w+:)?c>)?")
TEXTS = re.compile(rb"<" + PREFIX + rb"si(?=[\s/>])")

Blocks = Callable[[], Iterator[bytes]]


class Extent(NamedTuple):
    """How far the cells of a part reach, how many values it holds, and how many texts its cells share with others."""

    height: int = 0
    width: int = 0
    n_values: int = 0
    n_shared: int = 0


def pieces(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a part in pieces that end where a tag begins."""
    rest = b""
    for block in blocks:
        text = rest + block
        cut = max(text.rfind(b"<"), 0)
        rest = text[cut:]
        check_tag_length(rest)
        yield text[:cut]
    yield rest


def sheet_pieces(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a part from where its cells begin; nothing of a part without any."""
    is_sheet = False
    for piece in pieces(blocks):
        if is_sheet:
            yield piece
        elif SHEET in piece:
            is_sheet = True
            yield piece[piece.index(SHEET) :]


def looked_through(blocks: Blocks) -> tuple[Extent, NDArray[np.int64]]:
    """Return how far the cells of a part reach, if it is a sheet, and the bytes of each text that it has for sheets."""
    cells, texts = _Cells(), _Texts()
    is_sheet = False
    for piece in pieces(blocks()):
        is_hiding = HIDING.search(piece) is not None
        texts.read(piece, is_hiding)
        if is_sheet or SHEET in piece:
            cells.read(piece if is_sheet else piece[piece.index(SHEET) :], is_hiding)
            is_sheet = True
    if cells.n_nameless:
        n_rows, n_columns = _nameless_extent(blocks)
        cells.height, cells.width = max(cells.height, n_rows), cells.width + n_columns
    n_values = cells.n_named + cells.n_nameless + texts.n_texts
    return Extent(cells.height, cells.width, n_values, cells.n_shared), texts.lengths()


class _Cells:
    """How far cells reach that have names, and how many have none."""

    def __init__(self) -> None:
        self.height = self.width = self.n_named = self.n_nameless = self.n_shared = 0
        self.is_ended = False

    def read(self, piece: bytes, is_hiding: bool) -> None:
        if is_hiding:
            check_not_hiding(piece)
        rows = list(map(int, ROWS.findall(piece)))
        if not self.is_ended:
            # What lies behind the cells may name them once more.
            end = SHEET_END.search(piece)
            check_order([self.height, *(rows[: len(ROWS.findall(piece, 0, end.start()))] if end else rows)])
            self.is_ended = end is not None
        self.height = check_row(max([self.height, *rows]))
        self.width = max([self.width, *map(check_column, set(COLUMNS.findall(piece)))])
        self.n_named += len(rows)
        self.n_nameless += len((PREFIXED if b":c" in piece else NAMELESS).findall(piece))
        self.n_shared += len(SHARED.findall(piece))


class _Texts:
    """Where the texts begin that sheets share."""

    def __init__(self) -> None:
        self.starts: list[NDArray[np.int64]] = []
        self.n_bytes = self.n_texts = 0
        self.is_plain = True

    def read(self, piece: bytes, is_hiding: bool) -> None:
        if b"si" in piece:
            starts = np.array([match.start() for match in TEXTS.finditer(piece)], np.int64)
            self.n_texts += len(starts)
            self.starts.append(starts + self.n_bytes)
        # What tells the encoding is no comment.
        self.is_plain = self.is_plain and not (is_hiding and HIDING.search(piece.removeprefix(b"<?xml")))
        self.n_bytes += len(piece)

    def lengths(self) -> NDArray[np.int64]:
        """Return how long each is; where others may be hidden, which spoils their numbers, the longest."""
        lengths = np.diff(np.concatenate([*self.starts, np.array([self.n_bytes])]))
        return lengths if self.is_plain else np.full(len(lengths), lengths.max(initial=0))


def _nameless_extent(blocks: Blocks) -> tuple[int, int]:
    """Return the last row that cells without names may lie in, and the most of them in a row."""
    height = n_cells = most = 0
    row = 1
    for piece in sheet_pieces(blocks()):
        check_no_stray(piece)
        for is_end, name, attributes in TAGS.findall(piece):
            if name == b"c" and not is_end:
                height, n_cells = max(height, row), n_cells + 1
                most = max(most, n_cells)
                continue
            if name == b"row" and not is_end and (named := ROW_NAME.search(attributes)):
                row = max(row, int(named[1]))
            if name == b"row" and (is_end or attributes.endswith(b"/")):
                row, n_cells = row + 1, 0
    return height, most


def shared_bytes(blocks: Blocks, lengths: NDArray[np.int64]) -> int:
    """Return how much text the cells of a sheet have of a list that they share, each a copy of its own."""
    if len(lengths) == 0:
        return 0
    n_bytes, of_odd_cells = 0, np.append(lengths, lengths.max())
    for piece in sheet_pieces(blocks()):
        numbers = np.array([int(number or -1) for number in NUMBERED.findall(piece)], np.int64)
        numbers[numbers >= len(lengths)] = -1
        n_bytes += int(of_odd_cells[numbers].sum())
    return n_bytes


def check_tag_length(text: bytes) -> None:
    """Refuse a tag, or text between tags, that no sheet has."""
    if len(text) > READ_BYTES:
        raise ValueError(f"a tag or a text of more than {READ_BYTES:,} bytes")


def check_not_hiding(piece: bytes) -> None:
    """Refuse what could hide cells from a pattern."""
    if found := HIDING.search(piece):
        raise ValueError(f"odd markup among the cells: {found[0][:40]!r}")


def check_no_stray(piece: bytes) -> None:
    """Refuse a tag that is none."""
    if found := STRAY.search(piece):
        raise ValueError(f"odd markup among the cells: {piece[found.start() : found.start() + 40]!r}")


def check_row(row: int) -> int:
    """Return the number of a row that a sheet has."""
    if row > MAX_ROWS:
        raise ValueError(f"a cell in row {str(row)[:20]} of a sheet, which has {MAX_ROWS:,}")
    return row


def check_order(rows: Sequence[int]) -> None:
    """Refuse cells out of order, which some versions of the library take for billions of rows."""
    if any(map(gt, rows, islice(rows, 1, None))):
        raise ValueError("cells that are not in the order of their rows")


def check_column(letters: bytes) -> int:
    """Return the number of a column, 1 for A, 27 for AA."""
    number = 0
    for letter in letters.upper()[:4]:
        number = 26 * number + letter - ord("A") + 1
    if number > MAX_COLUMNS:
        raise ValueError(f"a cell in the column {letters[:20].decode()} of a sheet, which ends at XFD")
    return number
