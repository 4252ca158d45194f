"""A simulated square that pedestrians cross, and trajectories as the paper compares them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_count
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.metrics.paths import (
    N_SHAPE_POINTS,
    Trajectory,
    check_trajectories,
    shape_points,
    speed_histogram,
)

Kind = Literal["nominal", "speed", "shape", "both"]
FRAMES_PER_SECOND = 9
"""As the camera of the paper's data set."""
SPEED_EDGES = np.linspace(0.0, 4.0, 21)
"""Speed histogram, metres a second: bins of 0.2, the last one open.

The paper does not state its bins. A pixel a frame of its camera is 0.22 metres a second, so
finer bins would count the camera's grid; from 4 metres a second on everybody runs.
"""
# An oval square of 16 by 12 metres with six gates; lanes lead across, bending a little.
SEMI_AXES = np.array([8.0, 6.0])
N_GATES = 6


class Pedestrians(NamedTuple):
    """Trajectories and what is wrong with them.

    Attributes
    ----------
    trajectories : list of ndarray of shape (n_points, 3)
        x and y in metres and the time in seconds, nine points a second.
    kinds : ndarray of shape (n_trajectories,)
        "nominal", or where the anomaly lies: "speed", "shape" or "both".
    """

    trajectories: list[Trajectory]
    kinds: NDArray[np.str_]

    @property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Whether each trajectory is an anomaly."""
        return np.asarray(self.kinds != "nominal")


def make_pedestrians(n_nominal: int = 300, n_anomalies: int = 0, *, random_state: int | None = None) -> Pedestrians:
    """Simulate people who cross a square.

    Nominal people come through one of six gates and walk a curved lane across at 1.3
    metres a second or so. Anomalies in speed run, or stop on the way; anomalies in shape
    make a detour, or a loop; the rest do both.

    Parameters
    ----------
    n_nominal, n_anomalies : int, default=300 and 0
        Number of trajectories; the three kinds of anomaly take turns.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    pedestrians : Pedestrians
        The nominal ones first.

    Examples
    --------
    >>> from paretodepth.datasets import make_pedestrians
    >>> pedestrians = make_pedestrians(2, 3, random_state=0)
    >>> pedestrians.kinds.tolist()
    ['nominal', 'nominal', 'speed', 'shape', 'both']
    """
    n_nominal = check_count(n_nominal, "n_nominal", "make_pedestrians")
    n_anomalies = n_anomalies and check_count(n_anomalies, "n_anomalies", "make_pedestrians")
    rng = np.random.default_rng(random_state)
    anomalies: tuple[Kind, ...] = ("speed", "shape", "both")
    kinds: list[Kind] = ["nominal" for _ in range(n_nominal)]
    kinds += [anomalies[i % 3] for i in range(n_anomalies)]
    return Pedestrians([_walk(kind, rng) for kind in kinds], np.array(kinds))


def _walk(kind: Kind, rng: np.random.Generator) -> Trajectory:
    """Return the trajectory of one person."""
    path = _path(rng)
    if kind in ("shape", "both"):
        path = _detour(path, rng) if rng.random() < 0.5 else _loop(path, rng)
    steps = np.hypot(*np.diff(path, axis=0).T)
    length = np.concatenate(([0.0], np.cumsum(steps)))
    speed = max(rng.normal(1.3, 0.12), 0.9)
    n_frames = int(3 * FRAMES_PER_SECOND * length[-1] / speed)
    pace = np.exp(0.06 * np.convolve(rng.standard_normal(n_frames), np.ones(9) / 3, mode="same"))
    if kind in ("speed", "both"):
        pace = _run(pace, rng) if rng.random() < 0.5 else _stop(pace, rng)
    walked = np.cumsum(speed * pace) / FRAMES_PER_SECOND
    walked = walked[walked < length[-1]]
    positions = np.column_stack([np.interp(walked, length, coordinate) for coordinate in path.T])
    noise = rng.normal(0, 0.004, positions.shape)
    return np.column_stack([positions + noise, np.arange(len(positions)) / FRAMES_PER_SECOND])


def _path(rng: np.random.Generator) -> Trajectory:
    """Return a lane's curve as one person takes it, 400 points from gate to gate."""
    entrance = 2 * np.pi * rng.integers(N_GATES) / N_GATES + rng.normal(0, 0.2)
    exit_ = entrance + np.pi + rng.normal(0, 0.25)
    first, last = (SEMI_AXES * [np.cos(angle), np.sin(angle)] for angle in (entrance, exit_))
    across = np.array([first[1] - last[1], last[0] - first[0]])
    bend = (first + last) / 2 + across * rng.normal(0.12, 0.03)
    t = np.linspace(0, 1, 400)[:, None]
    curve: Trajectory = (1 - t) ** 2 * first + 2 * t * (1 - t) * bend + t**2 * last
    return curve


def _detour(path: Trajectory, rng: np.random.Generator) -> Trajectory:
    """Return the path with a wide bulge to one side."""
    t = np.linspace(0, 1, len(path))
    along = path[-1] - path[0]
    across = np.array([-along[1], along[0]]) / np.hypot(*along)
    reach = rng.choice([-1.0, 1.0]) * rng.uniform(2.2, 3.2)
    bulge = reach * np.exp(-(((t - rng.uniform(0.35, 0.65)) / 0.12) ** 2))
    detour: Trajectory = path + bulge[:, None] * across
    return detour


def _loop(path: Trajectory, rng: np.random.Generator) -> Trajectory:
    """Return the path with a full circle walked on the way."""
    place = int(rng.uniform(0.3, 0.7) * len(path))
    heading = path[place] - path[place - 1]
    centre = path[place] + np.array([-heading[1], heading[0]]) / np.hypot(*heading) * (radius := rng.uniform(1.2, 1.8))
    start = np.arctan2(*(path[place] - centre)[::-1])
    angles = start + np.linspace(0, 2 * np.pi, 200)
    circle = centre + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate((path[:place], circle, path[place:]))


def _run(pace: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the pace of somebody who runs all the way."""
    return pace * rng.uniform(1.5, 2.2)


def _stop(pace: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the pace of somebody who stands still for two to six seconds."""
    pace = pace.copy()
    start = int(rng.uniform(0.1, 0.25) * len(pace))
    pace[start : start + int(rng.uniform(2, 6) * FRAMES_PER_SECOND)] *= 0.02
    return pace


def trajectory_table(trajectories: Sequence[Trajectory]) -> NDArray[np.float64]:
    """Return what the paper compares of each trajectory: its speed histogram and its shape.

    The paper takes both from a cubic spline: `trajectory_table(smoothed(trajectories))`, with
    `smoothed` of `studies/paper/splines.py`.

    Parameters
    ----------
    trajectories : sequence of ndarray of shape (n_points, 3)
        x and y in metres and the time in seconds; at least two points each.

    Returns
    -------
    table : ndarray of shape (n_trajectories, 220)
        The share of time in each of 20 speed bins, then the coordinates of 100 points
        spaced evenly along the path, all x before all y.

    References
    ----------
    Section 5.2 of the paper.

    Examples
    --------
    >>> from paretodepth.datasets import make_pedestrians, trajectory_table
    >>> trajectory_table(make_pedestrians(5, random_state=0).trajectories).shape
    (5, 220)
    """
    trajectories = check_trajectories(trajectories, 2, "trajectory_table")
    return np.array([_row(trajectory) for trajectory in trajectories])


def _row(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the speed histogram and the shape of one trajectory."""
    return np.concatenate((speed_histogram(trajectory, SPEED_EDGES), shape_points(trajectory).T.ravel()))


def trajectory_criteria() -> list[Criterion]:
    """Return the paper's two criteria on the columns of `trajectory_table`.

    Squared Euclidean distance of the speed histograms, and sum of the squared distances of
    the 100 points.
    """
    n_bins = len(SPEED_EDGES) - 1
    return [
        Criterion("speed", range(n_bins), "sqeuclidean"),
        Criterion("shape", range(n_bins, n_bins + 2 * N_SHAPE_POINTS), "sqeuclidean"),
    ]
