"""Files that cannot execute code: plain values and arrays, whole or refused.

A prefix (magic bytes, format version, length of the header), a header in JSON, the arrays one after another, raw and
little-endian, and the SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from importlib.metadata import version
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.models.model_checks import (
    check_dtype,
    check_prefix,
    check_shape,
    check_whole,
    refuse_model,
)
from paretodepth.models.model_state import Encoder, asked_metrics
from paretodepth.tables.atomic import replaced

# The bytes beyond ASCII and the line ends show a transfer as text, as in PNG files.
MAGIC = b"\x89PDM\r\n\x1a\n"
VERSION = 3
PREFIX = struct.Struct("<8sQQ")
CHUNK = 2**20
CHECKSUM_SIZE = hashlib.sha256().digest_size
# What ill-formed contents raise on their way.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Header(NamedTuple):
    """The header of a file.

    Attributes
    ----------
    package : str
        The version of the package that wrote it.
    arrays : list of dict
        Data type, shape and order of each array.
    objects : list
        Nodes of `model_state`.
    state : dict
        The nodes of what is kept, by name: of a detector its "model" and "parameters", of a stream its "stream".
    """

    package: str
    arrays: list[dict[str, Any]]
    objects: list[Any]
    state: dict[str, Any]


def write_nodes(path: str | os.PathLike[str], encoder: Encoder, state: dict[str, Any]) -> None:
    """Write nodes, and the arrays and objects that they refer to, to a file that appears whole or not at all."""
    descriptions = [_description(array) for array in encoder.arrays]
    header = Header(version("paretodepth"), descriptions, encoder.objects, state)
    _write(os.fspath(path), json.dumps(header._asdict(), allow_nan=False).encode("ascii"), encoder.arrays)


def _description(array: NDArray[Any]) -> dict[str, Any]:
    """Return what the header says of an array."""
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    dtype = array.dtype.newbyteorder("<").str
    # The order of the memory is kept: sums along an axis may round differently in another.
    return {"dtype": dtype, "shape": list(array.shape), "order": "F" if is_fortran else "C"}


def _write(path: str, header: bytes, arrays: list[NDArray[Any]]) -> None:
    """Write prefix, header, arrays and checksum."""
    checksum = hashlib.sha256()
    with replaced(path) as file:

        def write(part: Any) -> None:
            checksum.update(part)
            file.write(part)

        write(PREFIX.pack(MAGIC, VERSION, len(header)))
        write(header)
        for array in arrays:
            little = array.astype(array.dtype.newbyteorder("<"), order="A", copy=False)
            rows = little.T if _description(array)["order"] == "F" else little
            write(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
        file.write(checksum.digest())


def read_nodes(path: str) -> tuple[Header, dict[str, str], list[NDArray[Any]]]:
    """Return header, the functions it asks for, and arrays of a file whose checksum is right."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size - CHECKSUM_SIZE
        if size < PREFIX.size:
            refuse_model(path, f"Got {max(0, size + CHECKSUM_SIZE)} bytes instead; copy it again.")
        magic, number, length = PREFIX.unpack(file.read(PREFIX.size))
        check_prefix(magic, number, (MAGIC, VERSION), path)
        if _checksum(file, size) != file.read() or length > size - PREFIX.size:
            refuse_model(path, "Got one that is damaged or not complete (its checksum differs); copy it again.")
        file.seek(PREFIX.size)
        try:
            header = Header(**json.loads(file.read(length)))
            asked = asked_metrics(header.objects)
            arrays = _read_arrays(file, header.arrays, size - PREFIX.size - length)
        except UNREADABLE as error:
            refuse_model(path, f"Got a header that cannot be read instead ({error}).")
    return header, asked, arrays


def _checksum(file: BinaryIO, size: int) -> bytes:
    """Return the checksum of the first `size` bytes, and leave the file after them."""
    checksum = hashlib.sha256()
    file.seek(0)
    left = size
    while left > 0 and (chunk := file.read(min(left, CHUNK))):
        checksum.update(chunk)
        left -= len(chunk)
    return checksum.digest()


def _read_arrays(file: BinaryIO, descriptions: list[dict[str, Any]], n_bytes: int) -> list[NDArray[Any]]:
    """Return the arrays, which together are as long as the file has bytes left."""
    arrays = []
    for description in descriptions:
        dtype = check_dtype(description["dtype"])
        shape = check_shape(description["shape"], dtype.itemsize, n_bytes)
        array = np.empty(shape, dtype, order="F" if description["order"] == "F" else "C")
        n_bytes -= array.nbytes
        flat = array.reshape(-1, order="A").view(np.uint8)
        n_read = file.readinto(flat)  # type: ignore[attr-defined]
        check_whole(n_read == array.nbytes, "an array that ends before the file does")
        arrays.append(array.astype(dtype.newbyteorder("="), copy=False))
    check_whole(n_bytes == 0, "bytes after the arrays")
    return arrays
