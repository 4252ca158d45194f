"""The foot of a report: the call, the files with their checksums, the date, the detector's parameters."""

from __future__ import annotations

import hashlib
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from paretodepth.reports.page_cells import short_name
from paretodepth.tables.sources import matched

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

MAX_CALL = 2000
"""Letters that a command keeps."""


def provenance_lines(findings: Findings, call: str | None) -> list[list[str]]:
    """Return the foot of a report as pairs of a heading and a text."""
    lines = []
    if call is not None:
        date = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        lines = [["Made by", short_name(call, MAX_CALL)], ["Date", date]]
    tables = [None if findings.training is None else len(findings.training), len(findings.samples)]
    for path, n_rows in zip(findings.inputs, tables[-len(findings.inputs) :], strict=False):
        lines += [["File", text] for text in file_lines(path, n_rows)]
    lines.append(["Version", f"paretodepth {version('paretodepth')}"])
    for fitted in findings.model.criteria.fitted:
        lines.append(["Criterion", short_name(repr(fitted.criterion), MAX_CALL)])
    parameters = {key: value for key, value in findings.detector.get_params().items() if key != "criteria"}
    parameters |= {"fdr": findings.fdr, "contamination": findings.contamination}
    seed = parameters.pop("random_state", None)
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items() if value is not None)
    return [*lines, ["Parameters", short_name(given, MAX_CALL)], ["Seed", "none given" if seed is None else str(seed)]]


def file_lines(path: str, n_rows: int | None = None) -> list[str]:
    """Return a line for each file that a path or a pattern names, with its checksum; several share the rows."""
    if path == "-":
        return [_file_line("standard input", n_rows, None)]
    names = matched(path)
    return [_file_line(name, n_rows if len(names) == 1 else None, _sha256(name)) for name in names]


def display_name(path: str) -> str:
    """Return the name of a file in a title."""
    return "standard input" if path == "-" else Path(path).name


def _file_line(name: str, n_rows: int | None, sha256: str | None) -> str:
    rows = "" if n_rows is None else f", {n_rows:,} rows"
    return f"{short_name(name, MAX_CALL)}{rows}, SHA-256 {sha256 or 'not known: it was a stream'}"


def _sha256(path: str) -> str | None:
    """Return the checksum of a file; None if it is a pipe, which has been read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if file.seekable() else None
