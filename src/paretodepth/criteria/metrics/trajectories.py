"""Metrics of trajectories: the paper's speed and shape, Hausdorff and Fréchet."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_count, check_positive
from paretodepth._kernels.sequences import frechet_distances, hausdorff_distances
from paretodepth.criteria.metrics.metric import Encoding, Metric, Parameter, State
from paretodepth.criteria.metrics.numeric import scipy_block
from paretodepth.criteria.metrics.paths import N_SHAPE_POINTS, Trajectory, shape_points, speed_histogram, speeds
from paretodepth.criteria.metrics.series import joined
from paretodepth.criteria.values import Column, Columns, check_sequences, check_single, object_column

N_SPEED_BINS = 20
MAX_SIZE = 100_000
"""Values that a metric computes for each sample at most."""
MAX_FLOAT = sys.float_info.max


def _timed(columns: Columns, rate: float) -> list[Trajectory]:
    """Return trajectories of x, y and time; without times, `rate` points come a unit of time."""
    return [
        trajectory if trajectory.shape[1] == 3 else np.column_stack([trajectory, np.arange(len(trajectory)) / rate])
        for trajectory in check_trajectory_column(columns)
    ]


def _edges(columns: Columns, params: Mapping[str, Any]) -> State:
    """Fix the bins: as given, or of equal width from 0 to the speed that 1 % of the training steps exceed."""
    edges = params["edges"]
    if edges is None:
        steps = np.concatenate([speeds(trajectory) for trajectory in _timed(columns, params["rate"])])
        edges = np.linspace(0.0, float(np.quantile(steps, 0.99)) or 1.0, params["bins"] + 1)
    return {**params, "edges": np.asarray(edges, dtype=np.float64)}


def _speed_histograms(columns: Columns, state: State) -> Encoding:
    return np.array([speed_histogram(trajectory, state["edges"]) for trajectory in _timed(columns, state["rate"])])


def _path_rows(columns: Columns, state: State) -> Encoding:
    paths = check_trajectory_column(columns)
    return np.array([shape_points(trajectory, state["points"]).T.ravel() for trajectory in paths])


def _sqeuclidean(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return scipy_block(A, B, "sqeuclidean")


def _positions(columns: Columns, state: State) -> Encoding:
    return object_column(np.ascontiguousarray(t[:, :2]) for t in check_trajectory_column(columns))


def _of_positions(
    distances: Callable[..., NDArray[np.float64]],
) -> Callable[[Encoding, Encoding, State], NDArray[np.float64]]:
    def block(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
        return distances(*joined(A), *joined(B))

    return block


def check_trajectory_column(columns: Columns) -> Column:
    """Return a column of trajectories, arrays of at least two points x, y or x, y, t with increasing t."""
    check_single(columns)
    trajectories = check_sequences(columns, 2)
    expected = f"The column '{columns.names[0]}' of {columns.reader} must hold points"
    for sample, points in zip(columns.numbers, trajectories, strict=True):
        if points.shape[1] not in (2, 3):
            raise ValueError(
                f"{expected} of two or three numbers, x, y and perhaps t. Got {points.shape[1]} in sample {sample} "
                "instead."
            )
        if points.shape[1] == 3 and not np.all(np.diff(points[:, 2]) > 0):
            raise ValueError(
                f"{expected} at increasing times. Got a time that does not increase in sample {sample}; sort its "
                "points and drop repeated times."
            )
    return trajectories


def check_size(value: object, parameter: str, caller: str) -> int:
    """Return a number of values to compute for each sample, small enough for memory."""
    count = check_count(value, parameter, caller)
    if count > MAX_SIZE:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at most {MAX_SIZE:,}. "
            f"Got {value!r} instead."
        )
    return count


def check_edges(value: object, parameter: str, caller: str) -> list[float] | None:
    """Return at least two increasing numbers, or None."""
    if value is None:
        return None
    edges = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else []
    are_numbers = len(edges) > 1 and all(isinstance(edge, numbers.Real) for edge in edges)
    # Compared as the floats they become: differences of large integers wrap, and larger ones are no floats.
    are_finite = are_numbers and all(abs(edge) <= MAX_FLOAT for edge in edges)
    if not are_finite or not all(float(low) < float(high) for low, high in pairwise(edges)):
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be at least two increasing numbers. Got {value!r} instead."
        )
    return [float(edge) for edge in edges]


_of_paths = partial(Metric, kind="trajectories")
_of_points = partial(_of_paths, encode=_positions, keeps_sequences=True, costly_length=10)

METRICS = (
    _of_paths(
        "speed",
        "squared distance of the shares of time spent at each speed, the paper's",
        _speed_histograms,
        _sqeuclidean,
        _edges,
        parameters=(
            Parameter("rate", 1.0, "points per unit of time, for trajectories without t", check_positive),
            Parameter("bins", N_SPEED_BINS, "number of bins from 0 to the training steps' 99 % quantile", check_size),
            Parameter("edges", None, "edges of the bins instead, increasing; the outer bins are open", check_edges),
        ),
    ),
    _of_paths(
        "shape",
        "sum of squared distances of points spaced evenly along the path, the paper's; blind to speed",
        _path_rows,
        _sqeuclidean,
        parameters=(Parameter("points", N_SHAPE_POINTS, "number of points along the path", check_size),),
    ),
    _of_points(
        "hausdorff",
        "how far a point of one may be from the nearest of the other; blind to order and direction",
        block=_of_positions(hausdorff_distances),
    ),
    _of_points(
        "frechet",
        "the shortest leash for a walk along both, forwards only, from point to point",
        block=_of_positions(frechet_distances),
    ),
)
