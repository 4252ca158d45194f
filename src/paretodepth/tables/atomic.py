"""A file that is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

# Failures to write, which do not come from whoever writes into the file.
DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EIO)


@contextlib.contextmanager
def replaced(path: str) -> Iterator[BinaryIO]:
    """Yield a file to write, which takes its place when it is complete.

    It is written beside its place, readable by its owner alone, flushed to the disk and renamed, with the permissions
    of the file that was there, or those of a new one. After an exception nothing of it remains. Standard output
    (``-``), pipes and devices are written directly.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    is_regular = os.path.isfile(path) or not os.path.exists(path)
    # Behind a link is the file to be replaced; renaming onto the link would leave that file as it was. What a link of
    # /proc to a pipe resolves to is no path.
    place = os.path.realpath(path) if is_regular else path
    part = os.path.join(os.path.dirname(place), f".paretodepth-{secrets.token_hex(8)}.part") if is_regular else place
    try:
        # Within what removes it: a signal may come at once.
        with _opened(part, path, is_regular=is_regular) as file:
            yield file
            if is_regular:
                # Before it is renamed: after a power cut a new name must not stand for lost content.
                file.flush()
                os.fsync(file.fileno())
        if is_regular:
            _rename(part, place)
    except BaseException as error:
        # Ctrl-C included.
        if is_regular:
            with contextlib.suppress(OSError):
                os.unlink(part)
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            refuse_output(path, error)
        raise


def _opened(part: str, path: str, *, is_regular: bool) -> BinaryIO:
    """Return a file to write; no error of whoever writes is taken for one of opening."""
    try:
        return open(part, "xb", opener=_private) if is_regular else open(part, "wb")
    except OSError as error:
        refuse_output(path, error)


def _private(path: str, flags: int) -> int:
    """Open a file that nobody else can read."""
    return os.open(path, flags, 0o600)


def _rename(part: str, place: str) -> None:
    """Put a complete file in its place, with the permissions of the one that is there or of a new one; make it last."""
    if os.path.exists(place):
        shutil.copymode(place, part)
    else:
        os.chmod(part, 0o666 & ~_umask())
    os.replace(part, place)
    if hasattr(os, "O_DIRECTORY"):
        # Only POSIX systems can flush a folder, and need to.
        folder = os.open(os.path.dirname(place), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _umask() -> int:
    """Return which permissions new files do not have."""
    # It can only be read by setting it; a file that another thread makes in between is private, not open to all.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def refuse_output(path: str, error: OSError) -> NoReturn:
    """Raise an error about an output that cannot be written."""
    raise OSError(
        f"{path}: the output must be a file in a folder that can be written. Got this instead: "
        f"{error.strerror or error}; choose another place."
    ) from error
