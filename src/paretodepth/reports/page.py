"""The report: one HTML page with everything in it, which opens offline and makes no network requests."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretodepth._blocks import phase
from paretodepth._checks import check_extra
from paretodepth.reports.page_details import first_details, page_details
from paretodepth.reports.page_figures import explained_samples, page_figures, short_name
from paretodepth.tables.atomic import replaced
from paretodepth.tables.sources import matched

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

MAX_SAMPLES = 10_000
"""Samples in the table; of more the others are only counted."""
MAX_DETAILED = 1000
"""Samples of which there are details at most."""
MAX_CALL = 2000
"""Letters that a command keeps."""
FIGURES_BYTES = 1_500_000
DETAILS_BYTES = 1_200_000
"""The most that the compressed data may take, so that a page stays below 6 MB: the plotting library takes 2 MB."""
CUTS = ((200, 1), (40, 1), (12, 1), (12, 2), (12, 4), (12, 8), (12, 16))
"""Letters that a cell of text keeps, and the part of the samples that is explained: the first that fit are taken."""


def write_report(
    findings: Findings,
    path: str,
    *,
    title: str | None = None,
    call: str | None = None,
    max_samples: int = MAX_SAMPLES,
    max_explained: int | None = None,
) -> None:
    """Write findings as a page for a browser, atomically.

    It holds the most unusual samples, and the details of as many of them as fit. Everything from the data is shown as
    text. `max_explained` samples have reasons; None: all flagged ones, and others, the more the fewer criteria there
    are, 10,000 with up to three, some 600 with twelve.
    """
    jinja2 = check_extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("paretodepth.reports", "template"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    if title is None:
        title = f"Anomalies in {display_name(findings.inputs[-1])}" if findings.inputs else "Anomalies"
    with phase("report"):
        most = explained_samples(findings) if max_explained is None else max_explained
        n_explained = min(findings.n_scored, max_samples, most)
        figures, letters, n_explained = _figures(findings, title, call, max_samples, n_explained)
        details = _details(findings, n_explained, letters)
    page = environment.get_template("report.html").render(
        title=short_name(title),
        # Only scripts that carry this number run, so none that data could bring.
        nonce=hashlib.sha256(figures + details).hexdigest()[:32],
        figures=base64.b64encode(figures).decode(),
        details=base64.b64encode(details).decode(),
        plotly=_packed_library(),
    )
    with replaced(path) as file:
        file.write(page.encode("utf-8", "replace"))


def _figures(
    findings: Findings, title: str, call: str | None, n_samples: int, n_explained: int
) -> tuple[bytes, int, int]:
    """Return the packed figures, with cells as long and as many samples explained as fit, and how many that are."""
    foot = provenance_lines(findings, call)
    for letters, part in CUTS:
        n_kept = -(-n_explained // part)
        figures = _packed_json(page_figures(findings, title, n_samples, n_kept, letters) | {"provenance": foot})
        if len(figures) <= FIGURES_BYTES:
            break
    return figures, letters, n_kept


def _details(findings: Findings, n_explained: int, letters: int) -> bytes:
    """Return the packed details of as many of the explained samples as fit."""
    n_detailed = min(n_explained, MAX_DETAILED)
    details = page_details(findings, n_detailed, letters)
    packed = _packed_json(details)
    while len(packed) > DETAILS_BYTES and n_detailed > 1:
        n_detailed = max(1, min(n_detailed * 9 // 10, int(n_detailed * DETAILS_BYTES / len(packed))))
        packed = _packed_json(first_details(details, n_detailed))
    return packed


@functools.cache
def _packed_library() -> str:
    """Return the plotting library, which the page carries along."""
    return base64.b64encode(_packed(check_extra("plotly.offline", "report").get_plotlyjs())).decode()


def _packed_json(data: dict[str, Any]) -> bytes:
    return _packed(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _packed(text: str) -> bytes:
    """Return compressed text, the same whenever it is made."""
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)


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
