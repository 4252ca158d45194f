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

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a list of pairs of 64-bit numbers."""
        place = self.place(field)
        if place is None:
            return []
        start = place + self._number("<I", place)
        n_bytes = 16 * self._number("<I", start)
        content = self.buffer[start + 4 : start + 4 + n_bytes]
        return list(struct.iter_unpack("<qq", content[: len(content) - len(content) % 16]))

    def _number(self, format: str, place: int) -> int:
        return int(struct.unpack_from(format, self.buffer, place)[0])


def unpacked_sizes(file: BinaryIO) -> Iterator[int]:
    """Yield what each message of a stream that carries data takes, from where the file stands on.

    Raises
    ------
    struct.error
        If a header is damaged.
    """
    while True:
        length = _header_length(file)
        if length is None:
            return
        header = file.read(length)
        start = file.tell()
        message = Table(header, struct.unpack_from("<I", header)[0])
        n_body = message.number(3, "<q")
        if n_body < 0:
            raise struct.error("a negative length")
        kind = message.number(1, "<B")
        if kind in (DICTIONARY, RECORD_BATCH):
            batch = message.table(2)
            yield _unpacked(file, start, n_body, batch.table(1) if kind == DICTIONARY else batch)
        file.seek(start + n_body)


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
    for offset, length in batch.pairs(2):
        if length > 0 and 0 <= offset <= n_body:
            file.seek(start + offset)
            told = int.from_bytes(file.read(8), "little", signed=True)
            # -1 says that a buffer was left as it is.
            size += length if told < 0 else told
    return size
