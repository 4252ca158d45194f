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

    It is written beside its place, flushed to the disk and renamed, and keeps the permissions of the file that was
    there. After an exception nothing of it remains. Standard output (``-``), pipes and devices are written directly.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Behind a link is the file to be replaced; renaming onto the link would leave that file as it was.
    place = os.path.realpath(path)
    is_regular = os.path.isfile(place) or not os.path.exists(place)
    part = os.path.join(os.path.dirname(place), f".paretodepth-{secrets.token_hex(8)}.part") if is_regular else place
    try:
        # Closed below; opened here, so that no error of whoever writes is taken for one of opening.
        file = open(part, "xb" if is_regular else "wb")  # noqa: SIM115
    except OSError as error:
        refuse_output(path, error)
    try:
        with file:
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


def _rename(part: str, place: str) -> None:
    """Put a complete file in its place, with the permissions of the one that is there, and make that last."""
    if os.path.exists(place):
        shutil.copymode(place, part)
    os.replace(part, place)
    if hasattr(os, "O_DIRECTORY"):
        # Only POSIX systems can flush a folder, and need to.
        folder = os.open(os.path.dirname(place), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def refuse_output(path: str, error: OSError) -> NoReturn:
    """Raise an error about an output that cannot be written."""
    raise OSError(
        f"{path}: the output must be a file in a folder that can be written. Got this instead: "
        f"{error.strerror or error}; choose another place."
    ) from error
