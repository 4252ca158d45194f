"""A simulated square that pedestrians cross, and trajectories as the paper compares them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria import Criterion
from paretodepth.metrics.trajectories import N_SHAPE_POINTS, N_SPEED_BINS, path_points, speed_shares
from paretodepth.validation import check_count

Kind = Literal["nominal", "speed", "shape", "both"]
Trajectory = NDArray[np.float64]

FRAMES_PER_SECOND = 9
SPEED_EDGES = np.linspace(0.0, 4.0, N_SPEED_BINS + 1)
"""Speed histogram, metres a second: bins of 0.2, the last one open."""

# An oval square of 16 by 12 metres with six gates; lanes lead across, bending a little.
SEMI_AXES = np.array([8.0, 6.0])
N_GATES = 6


class Pedestrians(NamedTuple):
    """Trajectories and what is wrong with them.

    Attributes
    ----------
    trajectories : list of ndarray of shape (n_points, 2)
        Positions in metres, one a frame, nine frames a second.
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
    noise: Trajectory = rng.normal(0, 0.004, positions.shape)
    return positions + noise


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

    Parameters
    ----------
    trajectories : sequence of ndarray of shape (n_points, 2)
        Positions in metres, nine a second.

    Returns
    -------
    table : ndarray of shape (n_trajectories, 220)
        The share of steps in each of 20 speed bins, then the coordinates of 100 points
        spaced evenly along the path.

    References
    ----------
    Section 5.2 of the paper.
    """
    return np.array(
        [
            np.concatenate(
                (speed_shares(trajectory, SPEED_EDGES, FRAMES_PER_SECOND), path_points(trajectory, N_SHAPE_POINTS))
            )
            for trajectory in trajectories
        ]
    )


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
