"""How much memory a workbook takes, told from its parts before the library that reads it takes any.

That library makes a grid of all places from the first cell to the last, and gives every cell a copy of the text that it
shares with others. Where it cannot get the memory, the process ends.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO
from xml.parsers import expat

from paretodepth.tables.opendocument_sizes import tables
from paretodepth.tables.sheet_sizes import Extent, looked_through, shared_bytes
from paretodepth.tables.sizes import MAX_RATIO, check_size, most_bytes
from paretodepth.tables.source import READ_BYTES, refuse_unreadable

MAX_CELLS = 30_000_000
"""Those between the first cell and the last, empty or not."""
MAX_UNPACKED = 1 << 28
"""Of all parts of a small workbook; XML takes some four times as much once it is read."""
CELL_BYTES = 100
"""Of memory that a cell takes, even an empty one."""
N_COPIES = 3
"""Of a cell's text that are held at a time."""
END = b"PK\x05\x06"
END_RECORD = struct.Struct("<12xIIH")
BINARY = "workbook.bin"


def check_workbook_size(
    file: BinaryIO, source: str, *, max_cells: int = MAX_CELLS, max_unpacked: int = MAX_UNPACKED
) -> None:
    """Refuse a workbook that would take all memory: one cell far down and far right makes billions of empty ones."""
    n_bytes = file.seek(0, 2)
    most, most_unpacked = most_bytes(n_bytes), max(max_unpacked, MAX_RATIO * n_bytes)
    try:
        check_directory(file)
        with zipfile.ZipFile(file) as archive:
            n_unpacked = sum(part.file_size for part in archive.infolist())
            sizes = list(_sizes(archive, most)) if n_unpacked <= most_unpacked else []
    except (zipfile.BadZipFile, zlib.error, expat.ExpatError, RuntimeError, OSError, EOFError, ValueError) as error:
        refuse_unreadable(source, "excel", error)
    if n_unpacked > most_unpacked:
        raise ValueError(
            f"{source}: a workbook must unpack to at most {most_unpacked / 2**20:,.0f} MB, {MAX_RATIO} times its size. "
            f"Got {n_unpacked / 2**20:,.0f} MB instead; save the sheet as CSV."
        )
    for extent, n_text in sizes:
        check_cells(extent, min(max_cells, most // CELL_BYTES), source)
        check_size(CELL_BYTES * extent.n_values + N_COPIES * n_text, most, source)


def _sizes(archive: zipfile.ZipFile, most: int) -> Iterator[tuple[Extent, int]]:
    """Yield of each part how far its cells reach, and the bytes of text that these will hold."""
    parts = archive.infolist()
    check_only_xml([part.filename for part in parts])
    # Which part is a sheet, and which the list of texts that sheets share, is up to other parts: all are looked at.
    looked = [(part, *looked_through(partial(_blocks, archive, part))) for part in parts if not _is_document(part)]
    longest = max((int(lengths.max(initial=0)) for _, _, lengths in looked), default=0)
    for part, extent, _ in looked:
        n_text = extent.n_shared * longest
        if n_text > most // N_COPIES:
            n_text = max(shared_bytes(partial(_blocks, archive, part), lengths) for _, _, lengths in looked)
        yield extent, n_text
    for part in filter(_is_document, parts):
        height, width, n_values, n_text = tables(_blocks(archive, part))
        yield Extent(height, width, n_values), n_text


def _is_document(part: zipfile.ZipInfo) -> bool:
    return part.filename == "content.xml"


def _blocks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what is in a part, a block at a time."""
    n_left = part.file_size
    # Others read on where a part is longer than it says.
    part.file_size += 1
    try:
        with archive.open(part) as content:
            while block := content.read(READ_BYTES):
                n_left -= len(block)
                check_part_length(n_left)
                yield block
    finally:
        part.file_size -= 1


def check_part_length(n_left: int) -> None:
    """Refuse a part that is longer than it says."""
    if n_left < 0:
        raise ValueError("a part that is longer than it says")


def check_cells(extent: Extent, max_cells: int, source: str) -> None:
    """Refuse a sheet whose cells lie too far apart."""
    if extent.height * extent.width > max_cells:
        raise ValueError(
            f"{source}: a sheet must have at most {max_cells:,} cells. Got {extent.height:,} rows and "
            f"{extent.width:,} columns instead; delete the cells far away from the table, or save the sheet as CSV."
        )


def check_directory(file: BinaryIO) -> None:
    """Refuse an archive whose list of parts is not at its end, for another program may then find another list."""
    n_bytes = file.seek(0, 2)
    start = max(0, n_bytes - (1 << 16) - END_RECORD.size)
    file.seek(start)
    tail = file.read()
    place = tail.rfind(END)
    if place < 0 or len(tail) - place < END_RECORD.size:
        raise ValueError("an archive without a list of its parts")
    size, offset, n_comment = END_RECORD.unpack_from(tail, place)
    if offset + size != start + place or start + place + END_RECORD.size + n_comment != n_bytes:
        raise ValueError("an archive whose list of parts is not at its end")


def check_only_xml(names: list[str]) -> None:
    """Refuse sheets that are not XML: how far these reach is not known."""
    if any(name.lower().endswith(BINARY) for name in names):
        raise ValueError(f"a binary workbook, {BINARY}; save it as .xlsx")
