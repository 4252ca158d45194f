"""Samples that can be drawn as lines: trajectories and series, thinned for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.tables.expected_columns import column_kind

MAX_POINTS = 80
"""Points that a drawn line has at most."""


@dataclass(frozen=True)
class Drawing:
    """What can be drawn of each sample: a path of points, or values one after another.

    Attributes
    ----------
    name : str
        The column or, for a series that is spread over columns, the criterion.
    kind : {"trajectory", "series"}
    columns : list of str
        One column of lists, or the columns of a series.
    """

    name: str
    kind: Literal["trajectory", "series"]
    columns: list[str]

    def line(self, table: pa.Table, row: int) -> dict[str, list[float | None]]:
        """Return the line of a sample as x and y, without points where the sample has none."""
        values = [table.column(column)[row].as_py() for column in self.columns]
        value = values[0] if len(values) == 1 else values
        points = _trajectory_points(value) if self.kind == "trajectory" else _series_points(value)
        kept = points[np.unique(np.linspace(0, len(points) - 1, min(MAX_POINTS, len(points))).astype(int))]
        return {"x": rounded(kept[:, 0]), "y": rounded(kept[:, 1])}


def drawings(criteria: FittedCriteria, samples: pa.Table) -> list[Drawing]:
    """Return what can be drawn: columns of lists, and series that a criterion reads from several columns."""
    found = [Drawing(field.name, kind, [field.name]) for field in samples.schema if (kind := _kind(field.type))]
    names = criteria.layout.feature_names or []
    for criterion in criteria.fitted:
        metric = criterion.criterion.registered
        if metric is not None and metric.kind == "series" and len(criterion.columns) > 1:
            found.append(Drawing(criterion.name, "series", [names[column] for column in criterion.columns]))
    return found


def rounded(values: NDArray[np.float64] | Sequence[float], digits: int = 4) -> list[float | None]:
    """Return values with a few significant digits, as JSON can carry them: None for those that are not finite."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]


def _kind(type: pa.DataType) -> Literal["trajectory", "series"] | None:
    """Return what a column of lists holds; None if it is no such column."""
    if column_kind(type) != "lists":
        return None
    inner = type.value_type
    if column_kind(inner) == "lists":
        return "trajectory" if column_kind(inner.value_type) == "numbers" else None
    return "series" if column_kind(inner) == "numbers" else None


def _trajectory_points(value: Any) -> NDArray[np.float64]:
    """Return a trajectory's points as x and y, shape (n_points, 2), without those that are missing."""
    points = [point[:2] for point in value or [] if point is not None and len(point) > 1]
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def _series_points(value: Any) -> NDArray[np.float64]:
    """Return a series' values as y over their position as x, shape (n_values, 2)."""
    heights = np.array(value or [], dtype=np.float64)
    return np.column_stack([np.arange(len(heights)), heights])
