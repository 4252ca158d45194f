"""Where a report comes from: the call, the files with their checksums, the date; what the detector was told."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any, NamedTuple

from paretodepth.reports.cells import short_name
from paretodepth.reports.detection import Detection
from paretodepth.tables.source import matched

MAX_CALL = 2000
"""Letters that a command keeps."""


class SourceFile(NamedTuple):
    """A file that was read.

    Attributes
    ----------
    name : str
        As it was given; ``-`` is standard input.
    sha256 : str or None
        Of its bytes; None if they cannot be read once more.
    n_rows : int or None
    """

    name: str
    sha256: str | None
    n_rows: int | None = None


class Provenance(NamedTuple):
    """Where a report comes from, beside what the detection itself knows.

    Attributes
    ----------
    call : str
        The command or the call in Python.
    date : str
        When it was made.
    files : sequence of SourceFile
    """

    call: str
    date: str
    files: Sequence[SourceFile] = ()


def source_files(path: str, n_rows: int | None = None) -> list[SourceFile]:
    """Return the files that a path or a pattern names, with their checksums; several share the number of rows."""
    if path == "-":
        return [SourceFile("standard input", None, n_rows)]
    names = matched(path)
    return [SourceFile(name, _sha256(name), n_rows if len(names) == 1 else None) for name in names]


def _sha256(path: str) -> str | None:
    """Return the checksum of a file; None if it is a pipe, which has been read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if file.seekable() else None


def now() -> str:
    """Return the present date, as a report tells it."""
    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")


def provenance_lines(detection: Detection, provenance: Provenance | None) -> list[list[str]]:
    """Return what the foot of a report tells, as pairs of a heading and a text."""
    lines = []
    if provenance is not None:
        lines += [["Made by", short_name(provenance.call, MAX_CALL)], ["Date", provenance.date]]
        lines += [["File", _file_text(file)] for file in provenance.files]
    lines.append(["Version", f"paretodepth {version('paretodepth')}"])
    for fitted in detection.model.criteria.fitted:
        lines.append(["Criterion", short_name(repr(fitted.criterion), MAX_CALL)])
    parameters = {key: value for key, value in detection.detector.get_params().items() if key != "criteria"}
    parameters |= {"fdr": detection.fdr, "contamination": detection.contamination}
    seed = parameters.pop("random_state", None)
    told = ", ".join(f"{key}={value!r}" for key, value in parameters.items() if value is not None)
    return [*lines, ["Parameters", short_name(told, MAX_CALL)], ["Seed", _seed_text(seed)]]


def _file_text(file: SourceFile) -> str:
    rows = "" if file.n_rows is None else f", {file.n_rows:,} rows"
    return f"{short_name(file.name, MAX_CALL)}{rows}, SHA-256 {file.sha256 or 'not known: it was a stream'}"


def _seed_text(seed: Any) -> str:
    return "none given" if seed is None else str(seed)
