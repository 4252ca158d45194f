"""How many rows of a table are fitted: a rule that follows from the table alone, never from a clock or the machine."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paretodepth.criteria.criterion import Criterion, resolve_criteria
from paretodepth.criteria.encoding import read_columns
from paretodepth.detector import NAME, ParetoDepthDetector

MIN_ROWS, MAX_ROWS = 500, 5000
"""Rows that a random subset has at least and at most."""
MAX_FIT_WORK = 100e6
"""Pairs of rows times criteria of a fit, some 20 s of one core."""
MAX_SCORE_WORK = 2.5e9
"""The same of the scores of all rows, some 90 s of one core."""
DEPTH_FACTOR = 2
"""The work of the method "depth", which sorts the dyads of all criteria at once, compared with the others."""
MAX_UNCAPPED = 5000
"""Rows of which all fronts are kept; the deepest fronts of more rows are counted as one."""


def choose_rows(detector: ParetoDepthDetector, training: pa.Table, n_scores: int) -> NDArray[np.intp] | None:
    """Return the rows of a table to fit, in ascending order; None for all.

    With K criteria of numbers, times or categories, a table is fitted whole up to
    min(5,000, 10,000 / √K) rows. A larger table is fitted on a random subset of that many rows,
    fewer if that many rows times K times the number of scores exceeds 2.5 · 10⁹, and at least 500.
    A criterion that compares texts, series or trajectories counts as 1 + (mean length / L)²
    criteria, where L is `Metric.costly_length`: 50 characters or 10 points. Every criterion counts
    twice for the method "depth". The number of rows is rounded down to hundreds.

    Parameters
    ----------
    detector : ParetoDepthDetector
        With the criteria and the method; is not fitted.
    training : pyarrow.Table
    n_scores : int
        Number of rows to score with a fit of a random subset.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pa.table({name: rng.random(20_000) for name in "abcdefgh"})
    >>> detector = ParetoDepthDetector(method="blend")
    >>> len(choose_rows(detector, table, 20_000))
    3500
    >>> len(choose_rows(detector, table, 1_000_000))
    500
    >>> choose_rows(detector, table.slice(0, 3500), 1_000_000) is None
    True
    """
    n_criteria = _work_per_pair(detector, training)
    n_fitted = min(MAX_ROWS, math.sqrt(MAX_FIT_WORK / n_criteria))
    if len(training) <= max(MIN_ROWS, n_fitted):
        return None
    n_fitted = min(n_fitted, MAX_SCORE_WORK / n_criteria / max(1, n_scores))
    return random_rows(len(training), max(MIN_ROWS, int(n_fitted) // 100 * 100))


def random_rows(n_all: int, n_rows: int) -> NDArray[np.intp] | None:
    """Return random rows in ascending order, always the same ones; None if that is all."""
    return None if n_rows >= n_all else np.sort(np.random.default_rng(0).choice(n_all, n_rows, replace=False))


def max_depth_of(n_rows: int) -> Literal["auto"] | None:
    """Return the `max_depth` of a fit of this many rows."""
    return "auto" if n_rows > MAX_UNCAPPED else None


def _work_per_pair(detector: ParetoDepthDetector, training: pa.Table) -> float:
    """Return the work for a pair of rows, in criteria of numbers."""
    criteria = resolve_criteria(detector.criteria, NAME)
    if criteria is None:
        works = [1.0] * training.num_columns
    else:
        works = [_criterion_work(criterion, training) for criterion in criteria]
    return sum(works) * (DEPTH_FACTOR if detector.method == "depth" else 1)


def _criterion_work(criterion: Criterion, training: pa.Table) -> float:
    """Return the work for a pair of rows in one criterion; edit distances and alignments take length squared."""
    metric = criterion.registered
    if metric is None or metric.costly_length is None:
        return 1.0
    columns = training.select(read_columns([criterion], training.column_names)).columns
    return 1.0 + (sum(map(_mean_length, columns)) / metric.costly_length) ** 2


def _mean_length(column: pa.ChunkedArray) -> float:
    """Return the mean number of characters or points of a column's values; 1 for a column of single values."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return float(pc.mean(pc.utf8_length(column)).as_py() or 0)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return float(pc.mean(pc.list_value_length(column)).as_py() or 0)
    return 1.0
