"""A file to read: opened so that it can be read twice, and refused by its name."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, NoReturn, cast

from paretodepth._checks import one_line, suggestion

# Bytes of text that are taken at a time: little beside a chunk, and enough that the calls cost nothing.
READ_BYTES = 1 << 20


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Yield a file that can be read twice; standard input (``-``) and pipes are copied for that."""
    if path == "-":
        with _copied(sys.stdin.buffer) as copy:
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
    # A file with a name, not one in memory: it may be larger than that, and readers map it or open it again.
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        copy.seek(0)
        yield cast(BinaryIO, copy)


def check_readable(path: str) -> str:
    """Return the path of something that exists and is no folder."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path}: must be a file. Got a folder instead; name a file in it.")
    if not os.path.exists(path):
        folder, name = os.path.split(path)
        neighbors = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        raise FileNotFoundError(f"{path}: there is no such file{suggestion(name, neighbors)}.")
    return path


def check_encoding(file: BinaryIO, source: str) -> None:
    """Refuse text that is not UTF-8; leave the file at its start, behind a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_read = n_lines = 0
    block = b"\n"
    file.seek(0)
    while block:
        block = file.read(READ_BYTES)
        n_pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            position = n_read - n_pending + error.start
            line = n_lines + 1 + error.object[: error.start].count(b"\n")
            _refuse_byte(error.object[error.start], position, line, source, error)
        n_read += len(block)
        n_lines += block.count(b"\n")
    file.seek(0)
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)


def _refuse_byte(byte: int, position: int, line: int, source: str, error: UnicodeDecodeError) -> NoReturn:
    """Raise an error about a byte that is no UTF-8."""
    # A guess, to give a command that can be tried: UTF-16 begins with a mark, and Latin 1 takes any byte.
    encoding = "utf-16" if position == 0 and byte in b"\xff\xfe" else "latin1"
    raise ValueError(
        f"{source}, line {line}: must be text in UTF-8. Got byte 0x{byte:02x} at position {position} instead; "
        f"convert the file, say with: iconv -f {encoding} -t utf-8 (if it is in {encoding})."
    ) from error


def refuse_unreadable(source: str, format: str, error: Exception) -> NoReturn:
    """Raise an error about a file that its library cannot read."""
    raise ValueError(
        f"{source}: must be a readable file of the format '{format}'. Got this instead: {one_line(error)}"
    ) from error
