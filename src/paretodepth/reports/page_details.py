"""The details that the report shows of a selected sample: its nearest samples, its dyads over fronts, its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paretodepth._blocks import evenly_spaced, stride
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.reports.page_figures import cell, page_columns, rounded, short_name
from paretodepth.tables.expected_columns import column_kind

if TYPE_CHECKING:
    from paretodepth.reports.findings import Findings

Json = dict[str, Any]
N_DOTS = 1500
"""Normal dyads shown as dots."""
N_DOT_SAMPLES = 60
"""Normal samples whose dyads these are, if the fronts hold none of all criteria."""
N_LINES = 9
"""Fronts shown for a pair of criteria."""
MAX_LINE_POINTS = 60
MAX_PAIRED_CRITERIA = 8
"""Criteria for whose pairs fronts are shown; with more of them only dots."""
MAX_SORTED = 500_000
"""Normal dyads that are sorted again for the fronts of a pair among three and more criteria."""
MAX_DYADS = 120
"""Dyads shown of one sample."""
N_NEIGHBORS = 3
"""Nearest samples shown for each criterion."""
N_CROWD = 500
"""Normal samples that a sample's values are shown among."""
N_BACKGROUND = 60
"""Normal lines behind a sample's own."""
MAX_POINTS = 80
"""Points of a line."""


def page_details(findings: Findings, n_detailed: int, cell_letters: int) -> Json:
    """Return what is shown of a selected sample beyond the table, for the `n_detailed` most unusual.

    That is their dyads over fronts of normal dyads and, if the training samples are known, the nearest of these, some
    others to compare with, and lines.
    """
    rows = findings.most_unusual[:n_detailed]
    neighbors = [
        [nearest[:N_NEIGHBORS].tolist() for nearest in reason.neighbors] for reason in findings.reasons(n_detailed)
    ]
    details = {"n": len(rows), "neighbors": neighbors, "dyads": _dyads(findings, rows)}
    training = findings.training
    if training is None:
        return details | {"training_columns": [], "training": None, "crowd": [], "drawings": []}
    near = _near(neighbors)
    some = np.random.default_rng(0).permutation(len(training))[:N_CROWD].tolist()
    shown = page_columns(findings)
    own = training.select([name for name in shown if name in training.column_names])
    return details | {
        # By their place among the columns of the table: names may be cut alike.
        "training_columns": [shown.index(name) for name in own.column_names],
        "training": dict(zip(near, _rows_of_cells(own, near, cell_letters), strict=True)),
        "crowd": _rows_of_cells(own, some, cell_letters),
        "drawings": [
            {
                "name": short_name(drawing.name),
                "kind": drawing.kind,
                "samples": [drawing.line(findings.samples, row) for row in rows.tolist()],
                "nominal": {row: drawing.line(training, row) for row in {*some[:N_BACKGROUND], *near}},
                "background": some[:N_BACKGROUND],
            }
            for drawing in drawings(findings.model.criteria, findings.samples)
            if set(drawing.columns) <= set(training.column_names)
        ],
    }


def first_details(details: Json, n_detailed: int) -> Json:
    """Return the details of the first samples alone."""
    neighbors, training = details["neighbors"][:n_detailed], details["training"]
    near = set(_near(neighbors))
    dyads = {name: part[:n_detailed] if name == "samples" else part for name, part in details["dyads"].items()}
    lines = []
    for drawing in details["drawings"]:
        nominal = {row: line for row, line in drawing["nominal"].items() if row in near | set(drawing["background"])}
        lines.append(drawing | {"samples": drawing["samples"][:n_detailed], "nominal": nominal})
    return details | {
        "n": len(neighbors),
        "neighbors": neighbors,
        "dyads": dyads,
        "training": training and {row: cells for row, cells in training.items() if row in near},
        "drawings": lines,
    }


def _near(neighbors: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """Return the training samples that are near to some sample."""
    return sorted({row for sample in neighbors for nearest in sample for row in nearest})


def _rows_of_cells(table: pa.Table, rows: Sequence[int], cell_letters: int) -> list[list[Any]]:
    taken = table.take(np.asarray(rows, dtype=np.intp))
    columns = [[cell(value, cell_letters) for value in column.to_pylist()] for column in taken.columns]
    return [list(cells) for cells in zip(*columns, strict=True)] if columns else [[] for _ in rows]


def _dyads(findings: Findings, rows: NDArray[np.intp]) -> Json:
    """Return the samples' dyads, and nominal dyads and fronts to draw them over, for two and more criteria."""
    model = findings.model
    n_criteria = len(model.criteria.fitted)
    if n_criteria == 1:
        return {"pairs": []}
    fronts = model.fronts
    nominal = fronts.dyads if isinstance(fronts, Fronts) else model.some_dyads(N_DOT_SAMPLES)
    # Axes are logarithmic, so that zero is drawn where the smallest dissimilarity is.
    floor = np.full(n_criteria, np.inf)
    for criterion, values in _nominal_columns(fronts):
        floor[criterion] = values[values > 0].min(initial=floor[criterion])
    floor[np.isinf(floor)] = 1.0
    dots = nominal[np.random.default_rng(0).permutation(len(nominal))[:N_DOTS]]
    samples = findings.nearest_dyads(rows) if len(rows) else np.empty((0, 0, n_criteria))
    kept = evenly_spaced(samples.shape[1], MAX_DYADS)
    return {
        "dots": [rounded(column, 3) for column in np.maximum(dots, floor).T],
        "samples": [[rounded(column, 3) for column in np.maximum(sample[kept], floor).T] for sample in samples],
        "pairs": [
            {"first": first, "second": second, "fronts": _front_lines(fronts, first, second, floor)}
            for first, second in combinations(range(n_criteria), 2)
        ],
    }


def _nominal_columns(fronts: Fronts | PairFronts) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Give criteria, some more than once, with dissimilarities of nominal samples in them."""
    if isinstance(fronts, Fronts):
        yield from enumerate(fronts.dyads.T)
    else:
        for criteria, of_pair in zip(fronts.criteria.tolist(), fronts.fronts, strict=True):
            yield from zip(criteria, of_pair.dyads.T, strict=True)


def _front_lines(fronts: Fronts | PairFronts, first: int, second: int, floor: NDArray[np.float64]) -> list[Json]:
    """Return some fronts under two criteria, from the first to the last; of more criteria, of these two alone."""
    of_pair = _fronts_of_pair(fronts, first, second, len(floor))
    if of_pair is None:
        return []
    numbers = np.unique(np.geomspace(1, len(of_pair), N_LINES).astype(int))
    lines = []
    for number in numbers.tolist():
        points = of_pair.front(number)
        x, y = np.maximum(points[evenly_spaced(len(points), MAX_LINE_POINTS)], floor[[first, second]]).T
        lines.append({"number": number, "x": rounded(x, 3), "y": rounded(y, 3)})
    return lines


def _fronts_of_pair(fronts: Fronts | PairFronts, first: int, second: int, n_criteria: int) -> Fronts | None:
    """Return the fronts of two criteria; None if the page would get too long, or they were not made."""
    if n_criteria > MAX_PAIRED_CRITERIA:
        return None
    if isinstance(fronts, Fronts):
        dyads = fronts.dyads
        if n_criteria == 2:
            return fronts
        return Fronts.from_dyads(dyads[stride(len(dyads), MAX_SORTED)][:, [first, second]])
    made = {(int(a), int(b)): of_pair for (a, b), of_pair in zip(fronts.criteria, fronts.fronts, strict=True)}
    return made.get((first, second))


@dataclass(frozen=True)
class Drawing:
    """A line of each sample: a path of points, or values one after another.

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
        kept = points[evenly_spaced(len(points), MAX_POINTS)]
        return {"x": rounded(kept[:, 0]), "y": rounded(kept[:, 1])}


def drawings(criteria: FittedCriteria, samples: pa.Table) -> list[Drawing]:
    """Return the lines of samples: columns of lists, and series that a criterion reads from several columns."""
    found = [Drawing(field.name, kind, [field.name]) for field in samples.schema if (kind := _kind(field.type))]
    names = criteria.layout.feature_names or []
    for criterion in criteria.fitted:
        metric = criterion.criterion.registered
        if metric is not None and metric.kind == "series" and len(criterion.columns) > 1:
            found.append(Drawing(criterion.name, "series", [names[column] for column in criterion.columns]))
    return found


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
