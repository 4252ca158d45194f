"""Streams: time a sample and areas, next to the streaming detectors of River and PySAD that are installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from paretodepth._blocks import step
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.streaming import StreamingDetector
from studies.download import data_folder
from studies.tables import Table

WINDOW = 1000
N_TIMED = 1500
"""Samples that are timed after the window is full: a whole number of fits falls upon them."""
N_COMPARED = 50
"""New samples by whose scores stream and batch detector are compared."""
N_PLAYED = 3000
"""Samples of a real set that are played as a stream, at most."""
REAL_SETS = ("23_mammography", "38_thyroid")
Vector = NDArray[np.float64]


class Player(Protocol):
    """A streaming detector: scores a sample, larger is more unusual, and learns it."""

    def __call__(self, x: Vector) -> float:
        """Return the score of a sample before it is learnt, then learn it."""


class StreamTimes(NamedTuple):
    """How long a detector took for a sample, in milliseconds of processor time.

    Attributes
    ----------
    name : str
    n_criteria : int
    mean, p99, largest : float
    """

    name: str
    n_criteria: int
    mean: float
    p99: float
    largest: float


def _own(method: MethodName, window: int) -> Player:
    detector = StreamingDetector(window=window, method=method)

    def play(x: Vector) -> float:
        score = detector.score_one(x)
        detector.learn_one(x)
        return score

    return play


def _river(make: Callable[[], Any]) -> Player:
    detector = make()

    def play(x: Vector) -> float:
        named = {f"x{place}": value for place, value in enumerate(x.tolist())}
        score = float(detector.score_one(named))
        detector.learn_one(named)
        return score

    return play


def _lof(window: int) -> Player:
    # Its own way to search is fastest, and always has this window.
    return _river(lambda: import_module("river.anomaly").LocalOutlierFactor(n_neighbors=20))


def _half_space_trees(window: int) -> Player:
    anomaly, preprocessing = import_module("river.anomaly"), import_module("river.preprocessing")
    # The trees want values between 0 and 1.
    trees = anomaly.HalfSpaceTrees(n_trees=25, height=8, window_size=min(window, 250), seed=0)
    return _river(lambda: preprocessing.MinMaxScaler() | trees)


def _xstream(window: int) -> Player:
    detector = import_module("pysad.models").xStream(window_size=min(window, 256), random_state=0)

    def play(x: Vector) -> float:
        detector.fit_partial(x)
        return float(detector.score_partial(x))

    return play


RIVALS: dict[str, tuple[str, Callable[[int], Player]]] = {
    "River LocalOutlierFactor": ("river", _lof),
    "River HalfSpaceTrees": ("river", _half_space_trees),
    "PySAD xStream": ("pysad", _xstream),
}


def players(window: int = WINDOW, methods: Iterable[MethodName] = tuple(METHODS)) -> Mapping[str, Callable[[], Player]]:
    """Return our methods and the rivals that are installed, each as what makes a new detector."""
    own = {f"paretodepth, {method}": partial(_own, method, window) for method in methods}
    found = {name: partial(make, window) for name, (module, make) in RIVALS.items() if find_spec(module) is not None}
    return own | found


def stream_times(
    n_criteria: Sequence[int] = (2, 3), *, window: int = WINDOW, n_timed: int = N_TIMED
) -> list[StreamTimes]:
    """Return how long each detector takes to score and learn a sample, once the window is full; normal samples."""
    results = []
    for k in n_criteria:
        X = np.random.default_rng(0).normal(size=(window + n_timed, k))
        for name, make in players(window).items():
            with step(f"{name}, K = {k}"):
                play = make()
                for x in X[:window]:
                    play(x)
                seconds = np.array([_seconds(play, x) for x in X[window:]]) * 1000
            p99 = float(np.quantile(seconds, 0.99))
            results.append(StreamTimes(name, k, float(seconds.mean()), p99, float(seconds.max())))
    return results


def _seconds(play: Player, x: Vector) -> float:
    # Of the processor: what else the machine does is no part of it.
    start = time.process_time()
    play(x)
    return time.process_time() - start


def wrong_methods(*, window: int = WINDOW, n_criteria: Sequence[int] = (2, 3)) -> list[str]:
    """Return the methods whose scores in a stream, once the fronts are fresh, are not the batch detector's; none."""
    wrong = []
    for method in METHODS:
        for k in n_criteria:
            rng = np.random.default_rng(1)
            with step(f"answers of {method}, K = {k}"):
                stream = StreamingDetector(window=window, method=method)
                stream.partial_fit(rng.normal(size=(window * 3 // 2, k))).refresh_fronts()
                new = 1.5 * rng.normal(size=(N_COMPARED, k))
                expected = ParetoDepthDetector(method=method).fit(stream.window_).score_samples(new)
            if not np.array_equal(stream.score_samples(new), expected):
                wrong.append(f"{method}, K = {k}")
    return wrong


def stream_areas(
    folder: Path | None = None, *, window: int = WINDOW, n_played: int = N_PLAYED, names: Sequence[str] = REAL_SETS
) -> dict[str, dict[str, float]]:
    """Return the areas under the ROC curve of labelled sets that are played as streams; empty where there are none.

    The samples come in random order, standardised by the first `window` of them; what comes
    after these counts. One criterion per column.

    Parameters
    ----------
    folder : Path or None, default=None
        Of the NPZ files; None: `adbench` in the folder of data sets.
    """
    folder = data_folder() / "adbench" if folder is None else folder
    areas: dict[str, dict[str, float]] = {}
    for name in names:
        path = folder / f"{name}.npz"
        if not path.exists():
            continue
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X"].astype(np.float64), file["y"].ravel() > 0
        order = np.random.default_rng(0).permutation(len(X))[:n_played]
        X, y = X[order], y[order]
        n_first = min(window, len(X) // 2)
        sizes = X[:n_first].std(axis=0)
        X = (X - X[:n_first].mean(axis=0)) / np.where(sizes > 0, sizes, 1.0)
        areas[name.split("_", 1)[-1]] = {}
        for player, make in players(n_first, ["blend"]).items():
            with step(f"{player}, {name}"):
                play = make()
                scores = np.array([play(x) for x in X])
                areas[name.split("_", 1)[-1]][player] = float(roc_auc_score(y[n_first:], scores[n_first:]))
    return areas


def stream_tables(times: Sequence[StreamTimes], areas: dict[str, dict[str, float]]) -> list[Table]:
    """Return times and areas as tables, the latter if there are any."""
    columns = ["detector", "K", "ms a sample", "99 %", "longest"]
    rows = [[row.name, str(row.n_criteria), f"{row.mean:.3f}", f"{row.p99:.2f}", f"{row.largest:.0f}"] for row in times]
    caption = (
        f"Milliseconds of processor time to score and learn a sample, window {WINDOW:,}, normal samples; the mean "
        "holds its share of the fits, which are the longest."
    )
    tables = [Table("times", caption, columns, rows)]
    if areas:
        names = list(areas)
        detectors = list(areas[names[0]])
        caption = (
            "Areas under the ROC curve of real sets played as streams, each sample scored before it is learnt; xStream "
            "learns it first, as PySAD does."
        )
        rows = [[detector, *(f"{areas[name][detector]:.3f}" for name in names)] for detector in detectors]
        tables.append(Table("areas", caption, ["detector", *names], rows))
    return tables
