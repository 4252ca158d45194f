"""Compressed files, unpacked to a temporary file: by their first bytes, block by block, and not without end."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from paretodepth.tables.source import MAX_BYTES, MAX_RATIO, READ_BYTES, refuse_unreadable, temporary


class Compression(NamedTuple):
    """How files are compressed: the name, the endings, the first bytes, and what unpacks a file."""

    name: str
    endings: tuple[str, ...]
    first_bytes: bytes
    unpack: Callable[[BinaryIO], Any]


def _by_arrow(name: str) -> Callable[[BinaryIO], Any]:
    return lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), name)


COMPRESSIONS = (
    Compression("gzip", (".gz", ".gzip"), b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    Compression("bzip2", (".bz2",), b"BZh", bz2.BZ2File),
    Compression("xz", (".xz",), b"\xfd7zXZ\x00", lzma.LZMAFile),
    Compression("zstd", (".zst", ".zstd"), b"\x28\xb5\x2f\xfd", _by_arrow("zstd")),
    Compression("lz4", (".lz4",), b"\x04\x22\x4d\x18", _by_arrow("lz4")),
)


def without_ending(path: str) -> str:
    """Return a path without the ending of a compressed file."""
    stem, ending = os.path.splitext(path)
    return stem if any(ending.lower() in known.endings for known in COMPRESSIONS) else path


@contextlib.contextmanager
def unpacked(
    file: BinaryIO, source: str, *, max_bytes: int = MAX_BYTES, max_ratio: int = MAX_RATIO
) -> Iterator[BinaryIO]:
    """Yield a file that is not compressed: itself, or a temporary one."""
    start = file.read(8)
    file.seek(0)
    known = next((known for known in COMPRESSIONS if start.startswith(known.first_bytes)), None)
    if known is None:
        yield file
        return
    most = max(max_bytes, max_ratio * os.fstat(file.fileno()).st_size)
    with temporary() as copy:
        for block in _blocks(known, file, source):
            copy.write(block)
            check_unpacked_size(copy.tell(), most, known.name, source)
        copy.flush()
        copy.seek(0)
        yield copy


def _blocks(known: Compression, file: BinaryIO, source: str) -> Iterator[bytes]:
    """Yield what is in a compressed file, a block at a time."""
    try:
        stream = known.unpack(file)
        while block := stream.read(READ_BYTES):
            yield bytes(block)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        refuse_unreadable(source, known.name, error)


def check_unpacked_size(n_bytes: int, most: int, name: str, source: str) -> None:
    """Refuse a compressed file that grows beyond all measure."""
    if n_bytes > most:
        raise ValueError(
            f"{source}: must unpack to at most {most / 2**20:,.0f} MB, {MAX_RATIO} times its size or 1 GB. Got more "
            f"from {name} instead; if it is what you think it is, unpack it yourself."
        )
