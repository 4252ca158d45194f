"""The formats of files of samples: one row each."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import BinaryIO, NoReturn

from paretodepth._checks import check_choice, listed, one_line

# Each format with the endings of its files.
EXTENSIONS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson"),
    "npy": (".npy",),
    "npz": (".npz",),
}
TEXT_FORMATS = ("csv", "tsv", "jsonl")
WRITABLE = ("csv", "tsv", "parquet", "arrow", "jsonl")
BLOCK_BYTES = 1 << 20


def check_format(format: object, path: str, known: Sequence[str], caller: str) -> str | None:
    """Return the format that is asked for or that the path's ending tells, or None for a stream without ending."""
    if format is not None:
        return str(check_choice(format, "format", known, caller))
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        return None
    ending = os.path.splitext(path)[1].lower()
    for name in known:
        if ending in EXTENSIONS[name]:
            return name
    raise ValueError(
        f"{path}: the ending of a file given to {caller} must be one of "
        f"{', '.join(end for name in known for end in EXTENSIONS[name])}. Got {repr(ending) if ending else 'none'} "
        f"instead; rename the file or give its format, one of {listed(known)}."
    )


def check_output_format(path: str | None) -> None:
    """Refuse an output whose ending tells no format that can be written."""
    if path is not None:
        check_format(None, path, WRITABLE, "--out")


def check_content(format: str | None, sniffed: str | None, source: str) -> str:
    """Return the format of a file whose first bytes do not speak against it."""
    if sniffed is None:
        raise ValueError(f"{source}: must hold samples. Got an empty file instead.")
    if format is None or format == sniffed or (format in TEXT_FORMATS and sniffed in TEXT_FORMATS):
        return format or sniffed
    found = "text" if sniffed in TEXT_FORMATS else f"the first bytes of '{sniffed}'"
    raise ValueError(f"{source}: must be of the format '{format}'. Got {found} instead; name its true format.")


def refuse_unreadable(source: str, format: str, error: Exception) -> NoReturn:
    """Raise an error about a file that its library cannot read."""
    raise ValueError(
        f"{source}: must be a readable file of the format '{format}'. Got this instead: {one_line(error)}"
    ) from error


DELIMITERS = {"csv": ",", "tsv": "\t"}
FIRST_BYTES = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
}


def _sniffed(file: BinaryIO) -> str | None:
    """Return the format that the first bytes of a file tell, or None if there are none."""
    start = file.read(4096)
    file.seek(0)
    for first_bytes, format in FIRST_BYTES.items():
        if start.startswith(first_bytes):
            return format
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return None
    if text[:1] in (b"{", b"["):
        return "jsonl"
    lines = text.decode(errors="replace").splitlines(keepends=True)
    n_cells = {name: len(next(csv.reader(lines, delimiter=delimiter))) for name, delimiter in DELIMITERS.items()}
    return max(n_cells, key=n_cells.__getitem__)
