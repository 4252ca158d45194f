"""New samples scored and explained with a fitted detector or a model file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from paretodepth._blocks import phase
from paretodepth.criteria.criterion import Missing
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.reports.findings import Findings
from paretodepth.reports.input_table import input_table, source_name
from paretodepth.reports.labels import Labels, check_own_column
from paretodepth.reports.results import FIRST_ROW
from paretodepth.tables.expected_columns import check_expected_columns, expected_schema, split_text
from paretodepth.tables.files import read_chunks
from paretodepth.tables.reading import Reading
from paretodepth.tables.sources import check_readable


def score(
    model: Any,
    table: Any,
    *,
    reference: Any = None,
    id: str | None = None,
    label: str | None = None,
    missing: Missing = "drop",
    format: str | Reading | None = None,
) -> Findings:
    """Score the records of a table with a fitted detector or a model file.

    Parameters
    ----------
    model : ParetoDepthDetector or path
        Fitted, or the file that its `save` has written.
    table : path, data frame of pandas, polars or pyarrow, dict of columns or array
        With the columns of the fit, among others.
    reference : as `table`, or None, default=None
        The records that the detector was fitted to. With them the report shows the nearest ones.
    id, label : str or None, default=None
        As in :func:`detect`.
    missing : {"drop", "fail"}, default="drop"
        Whether records with missing values are not scored or refused.
    format : str, Reading or None, default=None
        How files are read, as in :func:`paretodepth.tables.read_table`.

    Returns
    -------
    findings : Findings

    Examples
    --------
    >>> from paretodepth import fit
    >>> rng = np.random.default_rng(0)
    >>> detector = fit({"kg": rng.normal(70, 10, 99), "cm": rng.normal(170, 8, 99)})
    >>> score(detector, {"kg": [71.0, 500.0], "cm": [168.0, 171.0]}).is_anomaly
    array([False,  True])
    """
    detector, schema = loaded(model)
    samples, texts = input_table(table, "score", format=format, schema=schema)
    check_own_column(id, samples.column_names)
    labels = None if label is None else Labels.of(samples, label)
    training = None
    if reference is not None:
        training = input_table(reference, "score", format=format, schema=schema)[0]
        check_same_length(training, len(detector.model_.scores))
    found = replace(find_in(detector, samples, missing=missing), training=training, labels=labels, id_column=id)
    inputs = [os.fspath(name) for name in (model, reference, table) if isinstance(name, str | os.PathLike)]
    return replace(found, texts=texts, given=table, inputs=inputs)


def explain(
    model: Any,
    table: Any,
    row: Any,
    *,
    id: str | None = None,
    missing: Missing = "drop",
    format: str | Reading | None = None,
) -> Findings:
    """Explain why one record is unusual or not.

    Parameters
    ----------
    model, table, missing, format
        As in :func:`score`.
    row : int or object
        The record, counted from 0 as data frames do; with an `id`, its value in that column.
    id : str or None, default=None
        The column that identifies records.

    Returns
    -------
    findings : Findings
        Of this record alone.

    Examples
    --------
    >>> from paretodepth import fit
    >>> rng = np.random.default_rng(0)
    >>> detector = fit({"kg": rng.normal(70, 10, 99), "cm": rng.normal(170, 8, 99)})
    >>> explain(detector, {"kg": [71.0, 500.0], "cm": [168.0, 171.0]}, 1).is_anomaly
    array([ True])
    """
    detector, schema = loaded(model)
    is_file = isinstance(table, str | os.PathLike)
    chunks = (
        read_chunks(table, format=format, schema=schema, keep_others=True)
        if is_file
        else [input_table(table, "explain", schema=schema)[0]]
    )
    number, sample = sample_at(chunks, row, id, source_name(table, "explain"))
    inputs = [os.fspath(name) for name in (model, table) if isinstance(name, str | os.PathLike)]
    found = find_in(detector, sample, first_sample=number, missing=missing)
    return replace(found, id_column=id, inputs=inputs)


def score_chunks(
    model: Any, path: str, *, id: str | None = None, missing: Missing = "drop", format: str | Reading | None = None
) -> Iterator[Findings]:
    """Yield what `score` finds in a file, chunk by chunk, so that files of any length need little memory."""
    detector, schema = loaded(model)
    chunks = read_chunks(path, format=format, schema=schema, keep_others=True, keep_text=True)
    n_before = 0
    for samples, texts in map(split_text, chunks):
        check_own_column(id, samples.column_names)
        found = find_in(detector, samples, first_sample=n_before, missing=missing)
        yield replace(found, id_column=id, texts=texts, inputs=[path])
        n_before += len(samples)


def find_in(
    detector: ParetoDepthDetector, samples: pa.Table, *, first_sample: int = 0, missing: Missing | None = None
) -> Findings:
    """Return what a fitted detector finds in a table that has the columns of fit among others.

    `first_sample` numbers the first sample in messages. `missing` is the rule for missing values of criteria that do
    not ignore them, None for their own.
    """
    model, columns = detector.model_, detector.model_.criteria.layout.feature_names
    if columns is not None:
        check_expected_columns(samples.column_names, columns, "samples", keep_others=True)
    with phase(f"scores of samples {first_sample:,} to {first_sample + len(samples) - 1:,}"):
        # Of the whole table at once: messages count all missing values.
        X = np.column_stack(samples.columns) if columns is None else samples.select(columns)
        encoded = model.encode(X, caller=NAME, first_row=first_sample, missing=missing)
        scores = model.encoded_scores(encoded, n_jobs=detector.n_jobs, first_row=first_sample)
    return Findings(detector, None, samples, encoded, scores, first_sample=first_sample)


def loaded(model: Any) -> tuple[ParetoDepthDetector, pa.Schema | None]:
    """Return a fitted detector, and the columns that it expects; None if they have no names."""
    is_file = isinstance(model, str | os.PathLike)
    detector = ParetoDepthDetector.load(check_readable(os.fspath(model))).set_params(n_jobs=-1) if is_file else model
    check_is_fitted(detector)
    layout = detector.model_.criteria.layout
    if layout.feature_names is None and not is_file:
        return detector, None
    return detector, expected_schema(layout.feature_names, layout.kinds, os.fspath(model) if is_file else "score")


def sample_at(chunks: Iterable[pa.Table], row: Any, id_column: str | None, source: str) -> tuple[int, pa.Table]:
    """Return a sample as its number, counted from 0, and a table of one row; `row` is that number or its id."""
    n_before = 0
    for chunk in chunks:
        if id_column is None:
            place = row - n_before if n_before <= row < n_before + len(chunk) else -1
        else:
            check_own_column(id_column, chunk.column_names)
            names = [str(value) for value in chunk.column(id_column).to_pylist()]
            place = names.index(str(row)) if str(row) in names else -1
        if place >= 0:
            return n_before + place, chunk.slice(place, 1)
        n_before += len(chunk)
    refuse_row(n_before, row, id_column, source)


def check_same_length(reference: pa.Table, n_rows: int) -> None:
    """Refuse a reference of another length than the samples that were fitted."""
    if len(reference) != n_rows:
        raise ValueError(
            f"The 'reference' parameter of score must hold the samples that the detector was fitted on, {n_rows:,} "
            f"rows. Got {len(reference):,} instead; leave it out, or give the same."
        )


def refuse_row(n_rows: int, row: Any, id_column: str | None, source: str) -> NoReturn:
    """Raise an error about a sample that is not there."""
    if id_column is not None:
        raise ValueError(f"{source}: no row has '{row}' in the column '{id_column}'; leave out the id to count rows.")
    raise ValueError(
        f"{source}: the row must be from {FIRST_ROW} to {FIRST_ROW + n_rows - 1}, as a spreadsheet numbers them (row 1 "
        f"is the header). Got {FIRST_ROW + row} instead."
    )
