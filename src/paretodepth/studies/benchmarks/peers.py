"""Other sorters that may be installed, each as a function from points to front numbers starting at 1."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

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
    # It takes its points in lexicographic order.
    order = np.lexsort(points.T[::-1])
    fronts = import_module("pyoperon").RankSorter().Sort(points[order].tolist())
    return _numbers([order[front] for front in fronts], len(points))


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


def installed_peers() -> dict[str, Sorter]:
    """Return the peers that can be imported."""
    return {name: sorter for name, sorter in PEERS.items() if find_spec(name) is not None}
