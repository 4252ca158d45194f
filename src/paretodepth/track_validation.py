"""Checks of trajectories, of splits of them, and of the files they come in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray


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


def check_split(n_train: int, n_test: int, n_samples: int, minimum: int, caller: str) -> tuple[int, int]:
    """Return numbers of training and test samples, scaled down alike to the samples there are."""
    scale = min(1.0, n_samples / (n_train + n_test))
    n_train, n_test = int(scale * n_train), int(scale * n_test)
    if n_train < 1 or n_test < minimum:
        raise ValueError(
            f"The split of {caller} must leave at least {minimum} test samples. Got {n_test} and {n_train} training "
            f"samples of {n_samples} in all instead; give more samples or a larger 'n_test'."
        )
    return n_train, n_test


def check_files(path: str | os.PathLike[str], pattern: str, caller: str) -> list[Path]:
    """Return a file that exists, or those of a folder whose names match, in order."""
    files: list[Path] = []
    if isinstance(path, str | os.PathLike):
        files = sorted(Path(path).glob(pattern)) if Path(path).is_dir() else [Path(path)]
    if not files or not files[0].exists():
        raise ValueError(
            f"The 'path' parameter of {caller} must be a file, or a folder of files named {pattern}. Got {path!r} "
            "instead, where there is none."
        )
    return files


def check_line(match: re.Match[str] | None, expected: str, line: str, place: str) -> re.Match[str]:
    """Return the match of a line of a file with a pattern; `place` names the file and the line."""
    if match is None:
        raise ValueError(f"{place} must be {expected}. Got {line[:60].strip()!r} instead; get the file anew.")
    return match


def check_n_tracks(n_tracks: int, announced: int | None, path: object) -> None:
    """Refuse a track file that holds another number of tracks than its first line says."""
    if announced is not None and n_tracks != announced:
        raise ValueError(
            f"{path} must hold the {announced} tracks that its first line announces. Got {n_tracks} instead; "
            "get the file anew, or delete the line if the file is whole."
        )
