"""The report from Python: of a fitted detector and samples as they are at hand, a data frame or an array."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.reports.cells import short_name
from paretodepth.reports.detection import Detection
from paretodepth.reports.page import write_report
from paretodepth.reports.provenance import Provenance, now
from paretodepth.reports.results import check_id_column


def report(
    detector: ParetoDepthDetector,
    X: Any,
    path: str | PathLike[str],
    *,
    training: Any = None,
    title: str = "Anomalies",
    id_column: str | None = None,
) -> Detection:
    """Score samples with a fitted detector and write the report, one HTML page, of them.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Fitted.
    X : data frame, pyarrow.Table, dict of columns or array-like of shape (n_samples, n_features)
        The samples, as `score_samples` takes them; columns that no criterion reads are shown as well.
    path : str or path-like
        ``-`` is standard output.
    training : as X, or None, default=None
        The samples that the detector was fitted on. With them the page shows the nearest ones beside each sample.
    title : str, default="Anomalies"
    id_column : str or None, default=None
        The column that names the samples.

    Returns
    -------
    detection : Detection
        With scores, p-values and reasons.

    Examples
    --------
    >>> import os
    >>> import numpy as np
    >>> import pandas as pd
    >>> from paretodepth import ParetoDepthDetector
    >>> from paretodepth.reports import report
    >>> nominal = pd.DataFrame({"size": np.random.default_rng(0).random(99)})
    >>> detector = ParetoDepthDetector().fit(nominal)
    >>> report(detector, pd.DataFrame({"size": [0.5, 3.0]}), os.devnull, training=nominal).is_anomaly
    array([False,  True])
    """
    check_is_fitted(detector)
    samples = check_frame(X, "X")
    check_id_column(id_column, samples.column_names)
    model = detector.model_
    nominal = None if training is None else check_same_length(check_frame(training, "training"), len(model.scores))
    # Of what was given, not of the table made of it: the detector knows how to read more than arrow does.
    encoded = model.encode(X, caller=NAME)
    scores = model.encoded_scores(encoded, n_jobs=detector.n_jobs)
    detection = Detection(detector, nominal, samples, encoded, scores, None)
    call = f"paretodepth.reports.report({short_name(repr(detector), 400)}, X) with {len(samples):,} samples"
    write_report(detection, path, title=title, id_column=id_column, provenance=Provenance(call, now()))
    return detection


def check_frame(X: Any, parameter: str) -> pa.Table:
    """Return samples as a table; columns without names are x0, x1 and so on."""
    try:
        if isinstance(X, pa.Table):
            table = X
        elif hasattr(X, "iloc"):
            table = pa.Table.from_pandas(X, preserve_index=False)
        elif isinstance(X, dict) or hasattr(X, "__arrow_c_stream__"):
            table = pa.table(X)
        else:
            array = np.atleast_2d(np.asarray(X))
            table = pa.table({f"x{place}": values for place, values in enumerate(array.T)})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TypeError(
            f"The '{parameter}' parameter of report must be a data frame, a pyarrow.Table, a dict of columns or an "
            f"array. Got {type(X).__name__} instead, of which pyarrow makes no table: {error}"
        ) from error
    # Categories of pandas and polars are shown by their names.
    plain = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, plain, strict=True))))


def check_same_length(training: pa.Table, n_rows: int) -> pa.Table:
    """Return the training samples, which must be as many as were fitted."""
    if len(training) != n_rows:
        raise ValueError(
            f"The 'training' parameter of report must hold the samples that the detector was fitted on, {n_rows:,} "
            f"rows. Got {len(training):,} instead; leave it out, or give the same."
        )
    return training
