"""Anomalies put into trajectories by a rule fixed before any injected one was scored.

`docs/pedestrians.md` gives the reason for every number below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._checks import check_choice, check_count
from paretodepth.criteria.metrics.paths import Trajectory, check_trajectories, path_length
from paretodepth.datasets.pedestrians import FRAMES_PER_SECOND
from studies.paper.splines import N_CONTROL_POINTS, smoothed

STRENGTHS = ("weak", "medium", "strong")
SIZES = {
    "stopping": (5.0, 10.0, 20.0),  # seconds of standing
    "running": (1.5, 2.0, 3.0),  # times the speed
    "loop": (0.5, 1.0, 1.5),  # metres of radius
    "detour": (1.0, 2.0, 3.0),  # metres to the side
    "reversal": (2.0, 4.0, 6.0),  # metres walked back
}
ANOMALY_KINDS = tuple(SIZES)
ANOMALY_SHARE = 0.2
SECONDS_PER_POINT = 1 / FRAMES_PER_SECOND
DETOUR_SHARE = 0.6  # of the path's length
Scene = NDArray[np.float64]


class InjectedSplit(NamedTuple):
    """Training trajectories as they were, and test trajectories of which a fifth was changed.

    Attributes
    ----------
    train, test : list of ndarray of shape (n_points, 3)
    kinds : ndarray of shape (n_test,)
        "nominal" for the test trajectories left as they were, or what was put in: "stopping",
        "running", "loop", "detour" or "reversal".
    train_indices, test_indices : ndarray
        Which of the given trajectories each one is, or was made from.
    """

    train: list[Trajectory]
    test: list[Trajectory]
    kinds: NDArray[np.str_]
    train_indices: NDArray[np.intp]
    test_indices: NDArray[np.intp]

    @property
    def is_anomaly(self) -> NDArray[np.bool_]:
        """Whether each test trajectory is an anomaly."""
        return np.asarray(self.kinds != "nominal")


def make_injected_split(
    trajectories: Sequence[ArrayLike],
    *,
    strength: str = "medium",
    n_train: int = 500,
    n_test: int = 200,
    random_state: int | None = None,
) -> InjectedSplit:
    """Draw training and test trajectories and put anomalies into a fifth of the test ones.

    The five kinds of anomaly take turns. With the same seed, the chosen trajectories,
    the kinds, places and sides are the same for every strength.

    Parameters
    ----------
    trajectories : sequence of array-like of shape (n_points, 3)
        x and y in metres and the time in seconds; at least seven points each. Simulated or
        real, taken as nominal.
    strength : {"weak", "medium", "strong"}, default="medium"
        How large the anomalies are.
    n_train, n_test : int, default=500 and 200
        Both are scaled down by the same factor if there are fewer trajectories.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    split : InjectedSplit

    Examples
    --------
    >>> from paretodepth.datasets import make_pedestrians
    >>> from studies.paper.injection import make_injected_split
    >>> split = make_injected_split(make_pedestrians(140, random_state=0).trajectories, random_state=0)
    >>> len(split.train), len(split.test), int(split.is_anomaly.sum())
    (100, 40, 8)
    """
    caller = "make_injected_split"
    check_choice(strength, "strength", STRENGTHS, caller)
    n_train, n_test = check_count(n_train, "n_train", caller), check_count(n_test, "n_test", caller)
    nominal = check_trajectories(trajectories, N_CONTROL_POINTS, caller, must_move=True)
    n_train, n_test = check_split(n_train, n_test, len(nominal), round(len(ANOMALY_KINDS) / ANOMALY_SHARE), caller)
    rng = np.random.default_rng(random_state)
    chosen = rng.permutation(len(nominal))[: n_train + n_test]
    train_indices, test_indices = np.sort(chosen[:n_train]), chosen[n_train:]
    n_anomalies = round(ANOMALY_SHARE * n_test)
    kinds = np.array([ANOMALY_KINDS[i % len(ANOMALY_KINDS)] if i < n_anomalies else "nominal" for i in range(n_test)])
    scene = _scene(nominal)
    test = [
        nominal[index] if kind == "nominal" else _injected(nominal[index], kind, strength, scene, generator)
        for index, kind, generator in zip(test_indices, kinds, rng.spawn(n_test), strict=True)
    ]
    return InjectedSplit([nominal[index] for index in train_indices], test, kinds, train_indices, test_indices)


def inject(
    trajectory: ArrayLike, kind: str, *, strength: str = "medium", scene: ArrayLike, rng: np.random.Generator
) -> Trajectory:
    """Return a trajectory with an anomaly put into it.

    Stopping and running change the times and leave every point where it is. A loop, a detour
    and a reversal change the path and keep the walking speed.

    Parameters
    ----------
    trajectory : array-like of shape (n_points, 3)
        x and y in metres and the time in seconds; at least seven points.
    kind : {"stopping", "running", "loop", "detour", "reversal"}
    strength : {"weak", "medium", "strong"}, default="medium"
    scene : array-like of shape (2, 2)
        The lowest and the highest x and y of the scene. A loop or detour takes the side that
        leaves it less, a random one if both are equal.
    rng : numpy.random.Generator
        Chooses the place and the side.

    Returns
    -------
    trajectory : ndarray of shape (n_new_points, 3)

    Examples
    --------
    >>> import numpy as np
    >>> from studies.paper.injection import inject
    >>> walk = np.column_stack([np.arange(20.0), np.zeros(20), np.arange(20.0)])
    >>> fast = inject(walk, "running", scene=[[0, -5], [20, 5]], rng=np.random.default_rng(0))
    >>> fast[-1].tolist()
    [19.0, 0.0, 9.5]
    """
    check_choice(kind, "kind", ANOMALY_KINDS, "inject")
    check_choice(strength, "strength", STRENGTHS, "inject")
    (trajectory,) = check_trajectories([trajectory], N_CONTROL_POINTS, "inject", must_move=True)
    return _injected(trajectory, kind, strength, np.asarray(scene, dtype=np.float64), rng)


def _injected(trajectory: Trajectory, kind: str, strength: str, scene: Scene, rng: np.random.Generator) -> Trajectory:
    """Return a trajectory with an anomaly; place and side are the same for every kind and strength."""
    size = SIZES[kind][STRENGTHS.index(strength)]
    place, sides = rng.uniform(0.3, 0.7), rng.permutation([-1.0, 1.0])
    if kind == "stopping":
        return _with_stop(trajectory, size, place)
    if kind == "running":
        return _run(trajectory, size)
    if kind == "reversal":
        return _with_reversal(trajectory, size, place + 0.2)
    bend = _with_loop if kind == "loop" else _with_detour
    return min((bend(trajectory, size, place, side) for side in sides), key=lambda new: _outside(new, scene))


def _with_stop(trajectory: Trajectory, duration: float, place: float) -> Trajectory:
    """Return the trajectory of somebody who stands still at a share `place` of the path."""
    at = _point_at(trajectory, place)
    waits = np.full(round(duration / SECONDS_PER_POINT), SECONDS_PER_POINT)
    return _spliced(trajectory, at, np.repeat(trajectory[[at], :2], len(waits), axis=0), waits)


def _run(trajectory: Trajectory, factor: float) -> Trajectory:
    """Return the trajectory of somebody faster all the way."""
    start = trajectory[0, 2]
    return np.column_stack([trajectory[:, :2], start + (trajectory[:, 2] - start) / factor])


def _with_loop(trajectory: Trajectory, radius: float, place: float, side: float) -> Trajectory:
    """Return the trajectory of somebody who walks a circle on the way, at the pace of the steps that follow."""
    at, circumference = _point_at(trajectory, place), 2 * np.pi * radius
    # The tracker's jitter lengthens raw steps, so the pace is that of the smooth curve.
    (curve,) = smoothed([trajectory])
    n_rounds = int(circumference / path_length(curve)[-1]) + 2
    walked = np.cumsum(np.tile(np.roll(np.diff(path_length(curve)), -at), n_rounds))
    durations = np.tile(np.roll(np.diff(curve[:, 2]), -at), n_rounds)
    n_steps = int(np.abs(walked - circumference).argmin()) + 1
    closing = circumference / walked[n_steps - 1]
    angle = closing * walked[:n_steps, None] / radius
    forward = _unit((curve[min(at + 3, len(curve) - 1)] - curve[max(at - 3, 0)])[:2])
    circle = radius * (np.sin(angle) * forward + (1 - np.cos(angle)) * side * _left_of(forward))
    return _spliced(trajectory, at, trajectory[at, :2] + circle, closing * durations[:n_steps])


def _with_detour(trajectory: Trajectory, reach: float, place: float, side: float) -> Trajectory:
    """Return the trajectory of somebody who bulges out to one side, each step as fast as before."""
    (curve,) = smoothed([trajectory])
    walked = path_length(curve)
    along = np.clip((walked / walked[-1] - place) / DETOUR_SHARE, -0.5, 0.5)
    outward = side * _left_of(_unit((trajectory[-1] - trajectory[0])[:2]))
    bulge = (reach * np.cos(np.pi * along) ** 2)[:, None] * outward
    steps, new_steps = np.diff(walked), np.diff(path_length(curve[:, :2] + bulge))
    stretch = np.divide(new_steps, steps, out=np.ones_like(steps), where=steps > 0)
    elapsed = np.concatenate(([0.0], np.cumsum(np.diff(trajectory[:, 2]) * stretch)))
    return np.column_stack([trajectory[:, :2] + bulge, trajectory[0, 2] + elapsed])


def _with_reversal(trajectory: Trajectory, distance: float, place: float) -> Trajectory:
    """Return the trajectory of somebody who turns, walks back some way, and turns again."""
    at, walked = _point_at(trajectory, place), path_length(trajectory)
    turn = max(int(np.searchsorted(walked, walked[at] - distance, side="right")) - 1, 0)
    there_and_back = np.concatenate((np.arange(at - 1, turn - 1, -1), np.arange(turn + 1, at + 1)))
    durations = np.diff(trajectory[turn : at + 1, 2])
    return _spliced(trajectory, at, trajectory[there_and_back, :2], np.concatenate((durations[::-1], durations)))


def _spliced(
    trajectory: Trajectory, at: int, positions: NDArray[np.float64], durations: NDArray[np.float64]
) -> Trajectory:
    """Return a trajectory with positions put in after the point `at`, each reached after its duration."""
    inserted = np.column_stack([positions, trajectory[at, 2] + np.cumsum(durations)])
    later = np.column_stack([trajectory[at + 1 :, :2], trajectory[at + 1 :, 2] + durations.sum()])
    return np.concatenate((trajectory[: at + 1], inserted, later))


def _point_at(trajectory: Trajectory, place: float) -> int:
    """Return the point at a share of the path's length; neither the first nor the last."""
    walked = path_length(trajectory)
    return int(np.clip(np.searchsorted(walked, place * walked[-1]), 1, len(walked) - 2))


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction of a vector; that of x for one without."""
    length = np.hypot(*vector)
    return vector / length if length > 0 else np.array([1.0, 0.0])


def _left_of(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a direction turned by a right angle."""
    return np.array([-direction[1], direction[0]])


def _scene(trajectories: Sequence[Trajectory]) -> Scene:
    """Return the corners of the box that trajectories fill."""
    positions = np.concatenate(trajectories)[:, :2]
    return np.array([positions.min(axis=0), positions.max(axis=0)])


def _outside(trajectory: Trajectory, scene: Scene) -> float:
    """Return how far a trajectory leaves the scene, at most and summed over its two coordinates."""
    beyond = np.maximum(scene[0] - trajectory[:, :2], trajectory[:, :2] - scene[1])
    return float(np.maximum(beyond, 0).max(axis=0).sum())


def check_split(n_train: int, n_test: int, n_samples: int, minimum: int, caller: str) -> tuple[int, int]:
    """Return numbers of training and test samples, scaled down by the same factor to the available samples."""
    scale = min(1.0, n_samples / (n_train + n_test))
    n_train, n_test = int(scale * n_train), int(scale * n_test)
    if n_train < 1 or n_test < minimum:
        raise ValueError(
            f"The split of {caller} must leave at least {minimum} test samples. Got {n_test} and {n_train} training "
            f"samples of {n_samples} in all instead; give more samples or a larger 'n_test'."
        )
    return n_train, n_test
