"""A file to read: found, opened so that it can be read twice, unpacked, as text in UTF-8, and refused by its name."""

from __future__ import annotations

import bz2
import codecs
import collections
import contextlib
import glob
import gzip
import lzma
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn, TextIO, cast

import pyarrow as pa

from paretodepth._checks import one_line, suggestion

# Bytes of text that are taken at a time: little beside a chunk, and enough that the calls cost nothing.
READ_BYTES = 1 << 20
MAX_BYTES, MAX_RATIO = 10**9, 200
"""What a file may unpack to: this many bytes, or this many times its size. A table takes some 5 to 50 times as much as
its compressed file; one of a billion equal cells some hundred times."""
MAX_LINE = 32 << 20
"""Bytes of a line of text: one without an end must not take all memory, of which JSON may take 30 times as much."""
OPEN_FILES = "/proc/self/fd"


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Yield a file that can be read twice; standard input (``-``) and pipes are copied for that."""
    if path == "-":
        with _copied(check_standard_input().buffer) as copy:
            yield copy
    else:
        with open(check_readable(path), "rb") as file:
            if file.seekable():
                yield file
            else:
                with _copied(file) as copy:
                    yield copy


@contextlib.contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a temporary file with the content of a stream."""
    with temporary() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        copy.seek(0)
        yield copy


@contextlib.contextmanager
def temporary() -> Iterator[BinaryIO]:
    """Yield a temporary file, on the disk, for it may be larger than memory.

    Where open files can be opened again by their numbers it has no name, so that nothing remains whatever ends us.
    """
    with tempfile.TemporaryFile() if os.path.isdir(OPEN_FILES) else tempfile.NamedTemporaryFile() as file:
        yield cast(BinaryIO, file)


def place_of(file: BinaryIO) -> str:
    """Return a path by which an open file can be opened once more, with a position of its own."""
    numbered = os.path.join(OPEN_FILES, str(file.fileno()))
    return numbered if os.path.exists(numbered) else file.name


def matched(path: str) -> list[str]:
    """Return the files that a path names: itself, or all that a pattern with ``*`` or ``?`` matches, sorted."""
    # Not brackets, which names have as well.
    if os.path.exists(path) or not any(mark in path for mark in "*?") or is_url(path):
        return [path]
    return check_some_match(sorted(filter(os.path.isfile, glob.glob(path, recursive=True))), path)


def is_url(path: str) -> bool:
    """Tell whether a path is an address in the web."""
    return re.match("[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


@contextlib.contextmanager
def as_utf8(file: BinaryIO, encoding: str | None, source: str) -> Iterator[BinaryIO]:
    """Yield text in UTF-8, behind its byte order mark: the file itself, or a copy of one in another encoding.

    Without `encoding` it is UTF-8, or UTF-16 if it begins with the mark of that.
    """
    start = file.read(2)
    file.seek(0)
    if encoding is None and start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    if encoding is None or check_codec(encoding) == "utf-8":
        check_encoding(file, source)
        yield file
        return
    with temporary() as copy:
        for text in _decoded(file, encoding, source):
            copy.write(text.encode())
        copy.flush()
        copy.seek(0)
        check_encoding(copy, source)
        yield copy


def _decoded(file: BinaryIO, encoding: str, source: str) -> Iterator[str]:
    """Yield the text of a file, a block at a time; an error names the first byte that is not of the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    n_read = n_lines = 0
    block = b"\n"
    while block:
        block = file.read(READ_BYTES)
        n_pending = len(decoder.getstate()[0])
        try:
            yield decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            position = n_read - n_pending + error.start
            line = n_lines + 1 + error.object[: error.start].count(b"\n")
            _refuse_byte(error.object[error.start], position, line, encoding, source, error)
        n_read += len(block)
        n_lines += block.count(b"\n")


def check_lines(file: BinaryIO, source: str, *, first: int = 1, most: int = MAX_LINE) -> Iterator[bytes]:
    """Yield the lines of a file, of which none may be longer than `most` bytes; `first` is the number of the next."""
    for number, line in enumerate(iter(lambda: file.readline(most + 1), b""), first):
        if len(line) > most:
            refuse_length(f"{source}, line {number}", most)
        yield line


def refuse_length(place: str, most: int) -> NoReturn:
    """Raise an error about text without an end."""
    raise ValueError(
        f"{place}: must be at most {most >> 20} MB long. Got more; check for a missing line end or an unclosed "
        "quotation mark."
    )


def check_standard_input() -> TextIO:
    """Return standard input, which a parent process may have closed."""
    if sys.stdin is None:
        raise OSError("Standard input is closed; name a file, or redirect it: < FILE")
    return sys.stdin


def check_some_match(paths: list[str], pattern: str) -> list[str]:
    """Return the files that match a pattern, of which there must be one."""
    if not paths:
        raise FileNotFoundError(f"{pattern}: there is no file that matches this pattern.")
    return paths


def check_readable(path: str) -> str:
    """Return the path of something that exists and is no folder."""
    if is_url(path):
        raise FileNotFoundError(f"{path}: must be a file. Got a URL instead; download it first: curl -O {path}")
    if os.path.isdir(path):
        endings = collections.Counter(os.path.splitext(name)[1] for name in sorted(os.listdir(path)))
        usual = next((ending for ending, _ in endings.most_common() if ending), ".csv")
        raise IsADirectoryError(
            f"{path}: must be a file. Got a folder instead; name a file in it, or all of a kind as one table: "
            f"'{os.path.join(path, '*' + usual)}'."
        )
    if not os.path.exists(path):
        folder, name = os.path.split(path)
        neighbors = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        raise FileNotFoundError(f"{path}: there is no such file{suggestion(name, neighbors)}.")
    return path


def check_codec(encoding: str) -> str:
    """Return the usual name of an encoding of text."""
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)
    except (LookupError, TypeError) as error:
        raise ValueError(
            f"The encoding must be one that Python knows, such as utf-8, cp1252 or utf-16. Got {encoding!r} instead."
        ) from error
    return codec.name


def check_encoding(file: BinaryIO, source: str) -> None:
    """Refuse text that is not UTF-8; leave the file at its start, behind a byte order mark."""
    file.seek(0)
    collections.deque(_decoded(file, "utf-8", source), maxlen=0)
    file.seek(0)
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)


def _refuse_byte(
    byte: int, position: int, line: int, encoding: str, source: str, error: UnicodeDecodeError
) -> NoReturn:
    """Raise an error about a byte that is not of an encoding."""
    # What text in Western Europe is in if it is not in UTF-8.
    remedy = "name its encoding, most likely: --encoding cp1252" if encoding == "utf-8" else "name another encoding"
    raise ValueError(
        f"{source}, line {line}: must be text in {encoding.upper()}. Got byte 0x{byte:02x} at position {position} "
        f"instead; {remedy}."
    ) from error


def refuse_unreadable(source: str, format: str, error: Exception) -> NoReturn:
    """Raise an error about a file that its library cannot read."""
    raise ValueError(
        f"{source}: must be a readable file of the format '{format}'. Got this instead: {one_line(error)}"
    ) from error


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
