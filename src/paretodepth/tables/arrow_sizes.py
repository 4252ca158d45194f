"""What the batches of an Arrow stream take once they are unpacked, told by their headers before any is.

The headers are flatbuffers: tables whose fields lie where a table of offsets says. Only the few fields that tell sizes
are read; Arrow's description of its columnar format has their numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

CONTINUATION = b"\xff\xff\xff\xff"
DICTIONARY, RECORD_BATCH = 2, 3
"""Kinds of messages that carry data."""
MAX_HEADER = 1 << 28
MARK_BYTES = 6
"""Of the mark at the end of a file."""


class Table(NamedTuple):
    """A table of a flatbuffer, and where it begins."""

    buffer: bytes
    start: int

    def place(self, field: int) -> int | None:
        """Return where a field is, None if it is left out."""
        vtable = self.start - self._number("<i", self.start)
        if 4 + 2 * field >= self._number("<H", vtable):
            return None
        offset = self._number("<H", vtable + 4 + 2 * field)
        return self.start + offset if offset else None

    def number(self, field: int, format: str) -> int:
        """Return a number, 0 if it is left out."""
        place = self.place(field)
        return 0 if place is None else self._number(format, place)

    def table(self, field: int) -> Table:
        """Return a table within this one."""
        place = self.place(field)
        if place is None:
            raise struct.error("a table is missing")
        return Table(self.buffer, place + self._number("<I", place))

    def structs(self, field: int, format: str) -> list[tuple[int, ...]]:
        """Return a list of numbers in groups."""
        place = self.place(field)
        if place is None:
            return []
        start = place + self._number("<I", place)
        width = struct.calcsize(format)
        content = self.buffer[start + 4 : start + 4 + width * self._number("<I", start)]
        return list(struct.iter_unpack(format, content[: len(content) - len(content) % width]))

    def _number(self, format: str, place: int) -> int:
        return int(struct.unpack_from(format, self.buffer, place)[0])


def stream_sizes(file: BinaryIO) -> Iterator[int]:
    """Yield what each message of a stream takes that carries data.

    Raises
    ------
    struct.error
        If a header is damaged.
    """
    start: int | None = 0
    while start is not None:
        size, start = _message(file, start)
        yield size


def file_sizes(file: BinaryIO) -> Iterator[int]:
    """Yield what each batch takes that the index at the end of a file leads to, as `stream_sizes`."""
    n_bytes = file.seek(0, 2)
    file.seek(n_bytes - MARK_BYTES - 4)
    (n_index,) = struct.unpack("<i", file.read(4))
    if not 0 < n_index <= n_bytes - MARK_BYTES - 4:
        raise struct.error("an index without a length")
    file.seek(n_bytes - MARK_BYTES - 4 - n_index)
    index = file.read(n_index)
    footer = Table(index, struct.unpack_from("<I", index)[0])
    for field in (2, 3):
        for (offset,) in footer.structs(field, "<q16x"):
            if not 0 <= offset < n_bytes:
                raise struct.error("a batch beyond the file")
            yield _message(file, offset)[0]


def _message(file: BinaryIO, start: int) -> tuple[int, int | None]:
    """Return what a message takes, and where the next one begins, None if it is the last."""
    file.seek(start)
    length = _header_length(file)
    if length is None:
        return 0, None
    header = file.read(length)
    body = file.tell()
    message = Table(header, struct.unpack_from("<I", header)[0])
    n_body = message.number(3, "<q")
    if n_body < 0:
        raise struct.error("a negative length")
    kind = message.number(1, "<B")
    size = 0
    if kind in (DICTIONARY, RECORD_BATCH):
        batch = message.table(2)
        size = _unpacked(file, body, n_body, batch.table(1) if kind == DICTIONARY else batch)
    return size, body + n_body


def _header_length(file: BinaryIO) -> int | None:
    """Return how long the next header is, None at the end."""
    prefix = file.read(4)
    # Before version 0.15 there was no such mark.
    if prefix == CONTINUATION:
        prefix = file.read(4)
    length = int.from_bytes(prefix, "little", signed=True)
    if len(prefix) < 4 or length == 0:
        return None
    if not 0 < length <= MAX_HEADER:
        raise struct.error("a header without a length")
    return length


def _unpacked(file: BinaryIO, start: int, n_body: int, batch: Table) -> int:
    """Return what a batch takes: its body or, if that is compressed, what each of its buffers says of itself."""
    if batch.place(3) is None:
        return n_body
    size = 0
    for offset, length in batch.structs(2, "<qq"):
        if length > 0 and 0 <= offset <= n_body:
            file.seek(start + offset)
            told = int.from_bytes(file.read(8), "little", signed=True)
            # -1 says that a buffer was left as it is.
            size += length if told < 0 else told
    return size
