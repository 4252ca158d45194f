"""What the paper compares of trajectories: speeds and shape.

A trajectory is an array of shape (n_points, 3): x, y and time, which increases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Trajectory = NDArray[np.float64]
N_SHAPE_POINTS = 100


def speed_histogram(trajectory: Trajectory, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of its time that a trajectory spends at the speeds of each bin.

    Where the times are evenly spaced, that is the share of its steps.

    Parameters
    ----------
    trajectory : ndarray of shape (n_points, 3)
    edges : ndarray of shape (n_bins + 1,)
        Increasing; the first and the last bin take the speeds beyond them.

    Returns
    -------
    shares : ndarray of shape (n_bins,)
        Their sum is 1.

    Examples
    --------
    >>> from paretodepth.criteria.metrics.paths import speed_histogram
    >>> walk = np.array([[0.0, 0, 0], [1, 0, 1], [1, 0, 4]])
    >>> speed_histogram(walk, np.array([0, 0.5, 1.5])).tolist()
    [0.75, 0.25]
    """
    durations = np.diff(trajectory[:, 2])
    time_spent, _ = np.histogram(np.clip(speeds(trajectory), edges[0], edges[-1]), edges, weights=durations)
    return np.asarray(time_spent / durations.sum())


def speeds(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the speed from each point to the next."""
    return _steps(trajectory) / np.diff(trajectory[:, 2])


def shape_points(trajectory: Trajectory, n_points: int = N_SHAPE_POINTS) -> NDArray[np.float64]:
    """Return points spaced evenly along the path, from its first point to its last.

    Parameters
    ----------
    trajectory : ndarray of shape (n_points, 3)
    n_points : int, default=100

    Returns
    -------
    points : ndarray of shape (n_points, 2)

    Examples
    --------
    >>> from paretodepth.criteria.metrics.paths import shape_points
    >>> shape_points(np.array([[0.0, 0, 0], [3, 0, 1], [4, 0, 2]]), 3).tolist()
    [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]
    """
    walked = path_length(trajectory)
    places = np.linspace(0, walked[-1], n_points)
    return np.column_stack([np.interp(places, walked, coordinate) for coordinate in trajectory[:, :2].T])


def path_length(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the length of the path up to each point."""
    return np.concatenate(([0.0], np.cumsum(_steps(trajectory))))


def _steps(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the distance from each point to the next."""
    steps: NDArray[np.float64] = np.hypot(*np.diff(trajectory[:, :2], axis=0).T)
    return steps


def check_trajectories(
    trajectories: Sequence[ArrayLike], minimum: int, caller: str, must_move: bool = False
) -> list[NDArray[np.float64]]:
    """Return trajectories as finite arrays of at least `minimum` rows of x, y and increasing time."""
    checked = [_check_trajectory(trajectory, which, minimum, caller) for which, trajectory in enumerate(trajectories)]
    for which, array in enumerate(checked):
        if must_move and not np.ptp(array[:, :2], axis=0).any():
            raise ValueError(f"Trajectory {which} given to {caller} must move. Got one that stands still; drop it.")
    return checked


def _check_trajectory(trajectory: ArrayLike, which: int, minimum: int, caller: str) -> NDArray[np.float64]:
    """Return one trajectory of those given to `caller`."""
    expected = f"Trajectory {which} given to {caller} must"
    array = np.asarray(trajectory)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "fiu":
        raise ValueError(
            f"{expected} be an array of numbers of the shape (n_points, 3): x, y and time. "
            f"Got the shape {array.shape} and dtype {array.dtype} instead."
        )
    if len(array) < minimum:
        raise ValueError(f"{expected} have at least {minimum} points. Got {len(array)} instead; drop it.")
    is_wrong = ~np.isfinite(array).all(axis=1) | (np.diff(array[:, 2], prepend=-np.inf) <= 0)
    if is_wrong.any():
        point = int(is_wrong.argmax())
        raise ValueError(
            f"{expected} be finite and go forward in time. Got {array[point].tolist()} as point {point} instead; "
            "drop such points."
        )
    return array.astype(np.float64, copy=False)
