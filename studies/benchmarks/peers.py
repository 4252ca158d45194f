"""Other sorters that may be installed, each as a function from points to front numbers starting at 1."""

import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Sorter = Callable[[NDArray[np.float64]], NDArray[np.intp]]


def _moocore(points: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.asarray(import_module("moocore").pareto_rank(points), np.intp) + 1


def _pymoo(points: NDArray[np.float64]) -> NDArray[np.intp]:
    sorting = import_module("pymoo.util.nds.non_dominated_sorting").NonDominatedSorting()
    return np.asarray(sorting.do(points, return_rank=True)[1], np.intp) + 1


def _pygmo(points: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.asarray(import_module("pygmo").fast_non_dominated_sorting(points)[3], np.intp) + 1


def _paretoset(points: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.asarray(import_module("paretoset").paretorank(points, distinct=False), np.intp)


def _pyoperon(points: NDArray[np.float64]) -> NDArray[np.intp]:
    return _numbers(import_module("pyoperon").RankSorter().Sort(points), len(points))


def _deap(points: NDArray[np.float64]) -> NDArray[np.intp]:
    base, tools = import_module("deap.base"), import_module("deap.tools")
    fitness = type("Minimise", (base.Fitness,), {"weights": (-1.0,) * points.shape[1]})
    individuals = []
    for row, values in enumerate(points.tolist()):
        individual = type("Individual", (), {"row": row})()
        individual.fitness = fitness(values)
        individuals.append(individual)
    fronts = tools.sortNondominated(individuals, len(points))
    return _numbers([[individual.row for individual in front] for front in fronts], len(points))


def _numbers(fronts: Sequence[Sequence[int] | NDArray[np.intp]], n_points: int) -> NDArray[np.intp]:
    """Return front numbers from lists of rows."""
    numbers = np.zeros(n_points, np.intp)
    for number, rows in enumerate(fronts, start=1):
        numbers[np.asarray(rows)] = number
    return numbers


PEERS: dict[str, Sorter] = {
    "moocore": _moocore,
    "pymoo": _pymoo,
    "pygmo": _pygmo,
    "paretoset": _paretoset,
    "pyoperon": _pyoperon,
    "deap": _deap,
}


PREPARED: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "pyoperon": lambda points: np.unique(points.astype(np.float32), axis=0).astype(np.float64),
}
"""What peers want their points to be, if not as they come. It takes no time of theirs."""
INPUTS = {"pyoperon": "sorted, distinct, single precision"}
"""The same in words."""


@dataclass
class Rival:
    """A sorter of any language: a command that is given two files, the number of points and that of criteria.

    The first file holds the points as doubles, row by row; into the second the command writes a
    32-bit integer a point, the rank of its front, from 0 or 1 on. If the last word it prints is a
    number, it is taken for the seconds that the sort took; else they are those of the process
    less what it takes for one point.
    """

    command: str
    seconds: float = 0.0
    start_seconds: float | None = None

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the front numbers that the command gives, and note the seconds."""
        if self.start_seconds is None:
            _, _, self.start_seconds = self._run(points[:1])
        ranks, printed, process_seconds = self._run(points)
        try:
            self.seconds = float(printed.split()[-1])
        except (IndexError, ValueError):
            self.seconds = max(0.0, process_seconds - self.start_seconds)
        return ranks + 1 - min(ranks, default=1)

    def _run(self, points: NDArray[np.float64]) -> tuple[NDArray[np.intp], str, float]:
        """Return the ranks, what the command prints and how long it runs."""
        with tempfile.TemporaryDirectory() as folder:
            given, answer = Path(folder) / "points.bin", Path(folder) / "ranks.bin"
            np.ascontiguousarray(points, np.float64).tofile(given)
            command = [*shlex.split(self.command), str(given), str(answer), *map(str, points.shape)]
            start = time.perf_counter()
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            took = time.perf_counter() - start
            return np.fromfile(answer, np.int32).astype(np.intp), done.stdout, took


def installed_peers() -> dict[str, Sorter]:
    """Return the peers that can be imported."""
    return {name: sorter for name, sorter in PEERS.items() if find_spec(name) is not None}
