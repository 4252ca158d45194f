"""The report: one HTML page with everything in it, which opens offline and makes no network requests."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

from paretodepth._blocks import phase
from paretodepth._checks import check_extra
from paretodepth.reports.page_cells import short_name
from paretodepth.reports.page_details import first_details, page_details
from paretodepth.reports.page_figures import explained_samples, page_figures
from paretodepth.reports.provenance import display_name, provenance_lines
from paretodepth.tables.atomic import replaced

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

MAX_SAMPLES = 10_000
"""Samples in the table; of more the others are only counted."""
MAX_DETAILED = 1000
"""Samples of which there are details at most."""
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
