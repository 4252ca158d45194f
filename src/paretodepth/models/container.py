"""Files that cannot execute code: a stored zip of `settings.json` and arrays in NumPy's format."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from paretodepth.models.model_checks import (
    check_archive,
    check_dtype,
    check_kind,
    check_version,
    check_whole,
    refuse_contents,
    refuse_model,
)
from paretodepth.tables.atomic import replaced

VERSION = 4
SETTINGS = "settings.json"
MAX_HEADER = 10_000
"""Bytes of the header of an array; NumPy's own limit."""
CHUNK = 2**20
NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of each part, so that one detector always gives the same bytes."""
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that ill-formed contents raise."""
DAMAGED = (*UNREADABLE, EOFError, OSError, RuntimeError, struct.error, zipfile.BadZipFile)
"""Errors that an ill-formed archive raises."""
Arrays = dict[str, NDArray[Any]]


def write_container(
    path: str | os.PathLike[str], kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write settings and arrays to a file atomically; `kind` says whether they are of a detector or of a stream."""
    head = {"version": VERSION, "kind": kind, "package": version("paretodepth")}
    text = json.dumps({**head, **settings}, allow_nan=False).encode("ascii")
    little = {name: _little_endian(array, name) for name, array in arrays.items()}
    with replaced(os.fspath(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(SETTINGS, NO_TIME), text)
        for name, array in little.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", NO_TIME), "w", force_zip64=True) as part:
                npy.write_array(part, array, allow_pickle=False)


def _little_endian(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array as it is written, if it holds numbers, booleans or dates."""
    dtype = array.dtype.newbyteorder("<")
    check_dtype(dtype, TypeError, name)
    return array.astype(dtype, order="K", copy=False)


def read_container(path: str, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Return the settings and the arrays that `write_container` wrote, none of which executes code."""
    with open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                parts = archive.infolist()
                check_archive(parts, n_bytes)
                settings = json.loads(archive.read(SETTINGS))
                check_whole(isinstance(settings, dict), "settings that are none")
                arrays = {part.filename.removesuffix(".npy"): _read_array(archive, part) for part in parts[1:]}
        except DAMAGED as error:
            refuse_model(path, error)
    check_version(settings.get("version"), VERSION, path)
    check_kind(settings.get("kind"), kind, path)
    return settings, arrays


def _read_array(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array of a part, which takes no more memory than the part has bytes."""
    with cast(zipfile.ZipExtFile, archive.open(part)) as file:
        shape, is_fortran, dtype = _read_header(file)
        check_dtype(dtype, ValueError, part.filename)
        size = dtype.itemsize
        for length in shape:
            size *= length
        # NumPy multiplies the lengths of an empty array too.
        check_whole(size + file.tell() == part.file_size and max(shape, default=0) < 2**31, "another size of an array")
        array = np.empty(shape, dtype, order="F" if is_fortran else "C")
        buffer = memoryview(array.reshape(-1, order="A").view(np.uint8).data)
        place = 0
        while place < size:
            n_read = file.readinto(buffer[place : place + CHUNK])
            check_whole(n_read > 0, "an array that ends too early")
            place += n_read
        # The end of the part is where its checksum is compared.
        check_whole(not file.read(1), "bytes after an array")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _read_header(file: zipfile.ZipExtFile) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an array."""
    read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(file, max_header_size=MAX_HEADER)
    check_whole(all(type(length) is int and length >= 0 for length in shape), "an array without a shape")
    return shape, is_fortran, dtype


@contextlib.contextmanager
def understood(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> Iterator[None]:
    """Refuse contents of a file that raise an error within."""
    try:
        yield
    except UNREADABLE as error:
        refuse_contents(os.fspath(path), settings.get("package"), error)
