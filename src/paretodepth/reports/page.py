"""The report: one HTML page with everything in it, which opens offline and asks nobody for anything."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from os import PathLike, fspath
from typing import Any

from paretodepth._blocks import phase
from paretodepth._checks import check_count, check_extra
from paretodepth.reports.cells import short_name
from paretodepth.reports.detection import Detection
from paretodepth.reports.page_data import explained_samples, page_details, page_figures
from paretodepth.reports.provenance import Provenance, provenance_lines
from paretodepth.tables.atomic import replaced

MAX_SAMPLES = 10_000
"""Samples in the table."""
FIGURES_BYTES = 1_500_000
DETAILS_BYTES = 1_200_000
"""What the compressed data may take, so that a page stays below 6 MB: the library for pictures takes 2 MB."""
CUTS = ((200, 1), (40, 1), (12, 1), (12, 2), (12, 4), (12, 8), (12, 16))
"""Letters that a cell of text keeps, and the part of the samples that is explained: the first that fit are taken."""
N_TRIED = 100
"""Samples whose details tell how many samples' details will fit."""


def write_report(
    detection: Detection,
    path: str | PathLike[str],
    *,
    title: str = "Anomalies",
    id_column: str | None = None,
    provenance: Provenance | None = None,
    max_samples: int = MAX_SAMPLES,
    max_explained: int | None = None,
    details_bytes: int = DETAILS_BYTES,
) -> None:
    """Write a detection as a page for a browser, there as a whole or not at all.

    It holds the strangest samples, and the details of as many of them as fit: a page is below 6 MB.
    It asks nobody for anything, and everything from the data is shown as text.

    Parameters
    ----------
    detection : Detection
        Of :func:`detect`; without training samples, as of a model's file, no nearest samples are shown.
    path : str or path-like
        ``-`` is standard output.
    title : str, default="Anomalies"
    id_column : str or None, default=None
        The column that names the samples.
    provenance : Provenance or None, default=None
        The call, the files and the date, for the page's foot; version, criteria and parameters stand there anyway.
    max_samples : int, default=10_000
        Samples in the table; of more the others are only counted.
    max_explained : int or None, default=None
        Number of samples to explain. None: all that are flagged, and others, the more the fewer criteria there are:
        10,000 with up to three, some 600 with twelve.
    details_bytes : int, default=1_200_000
        What the compressed details may take: nearest samples, dyads and lines, for a click on a sample.
    """
    check_count(max_samples, "max_samples", "write_report")
    if max_explained is not None:
        check_count(max_explained, "max_explained", "write_report")
    jinja2 = check_extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("paretodepth.reports", "template"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    with phase("report"):
        foot = provenance_lines(detection, provenance)
        most = explained_samples(detection) if max_explained is None else max_explained
        n_explained = min(detection.n_scored, max_samples, most)
        figures, letters, n_explained = _figures(detection, title, (max_samples, n_explained), id_column, foot)
        details = _details(detection, n_explained, letters, details_bytes, id_column)
    page = environment.get_template("report.html").render(
        title=short_name(title),
        # Only scripts that carry this number run, so none that data could bring.
        nonce=hashlib.sha256(figures + details).hexdigest()[:32],
        figures=base64.b64encode(figures).decode(),
        details=base64.b64encode(details).decode(),
        plotly=_packed_library(),
    )
    with replaced(fspath(path)) as file:
        file.write(page.encode("utf-8", "replace"))


def _figures(
    detection: Detection, title: str, sizes: tuple[int, int], id_column: str | None, foot: list[list[str]]
) -> tuple[bytes, int, int]:
    """Return the packed figures, with cells as long and as many samples explained as fit, and how many that are."""
    for letters, part in CUTS:
        n_explained = -(-sizes[1] // part)
        told = page_figures(detection, title, sizes[0], n_explained, letters, id_column=id_column)
        figures = _packed_json(told | {"provenance": foot})
        if len(figures) <= FIGURES_BYTES:
            break
    return figures, letters, n_explained


def _details(detection: Detection, n_detailed: int, letters: int, n_bytes: int, id_column: str | None) -> bytes:
    """Return the packed details of as many samples as fit."""

    def packed(n: int) -> bytes:
        return _packed_json(page_details(detection, n, letters, id_column=id_column))

    if n_detailed > N_TRIED:
        of_one, of_some = (len(packed(n)) for n in (1, N_TRIED))
        per_sample = (of_some - of_one) / (N_TRIED - 1)
        n_detailed = max(1, min(n_detailed, int((n_bytes - of_one) / per_sample)))
    details = packed(n_detailed)
    while len(details) > n_bytes and n_detailed > 1:
        n_detailed = n_detailed * 3 // 4
        details = packed(n_detailed)
    return details


@functools.cache
def _packed_library() -> str:
    """Return the library for pictures, which the page carries along."""
    return base64.b64encode(_packed(check_extra("plotly.offline", "report").get_plotlyjs())).decode()


def _packed_json(data: dict[str, Any]) -> bytes:
    return _packed(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _packed(text: str) -> bytes:
    """Return compressed text, the same whenever it is made."""
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)
