"""Compiled loops stay within their arrays, whatever numbers these hold: NaN compares false with everything.

The loops run as plain Python, which notices an index beyond the end; here one before the start is refused too.
"""

import importlib
import pkgutil
import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from paretodepth import Criterion, _kernels
from paretodepth._kernels import columns, filters, sequences
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.fronts.depth_index import Depths, FirstLevels, Staircases
from paretodepth.fronts.dominance_filter import DominanceFilter, SummarySizes
from paretodepth.fronts.fronts import Fronts, lexicographic_order, number_fronts
from paretodepth.fronts.numbering import number_by_layers
from paretodepth.pairs.nearest import connecting_rank, nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from studies.paper import growth
from tests.draws import DRAWS

LOOPS = {}
"""All compiled loops, by module and name."""
for _info in pkgutil.iter_modules(_kernels.__path__):
    _module = importlib.import_module(f"{_kernels.__name__}.{_info.name}")
    for _name in re.findall(r"^@compiled\ndef (\w+)", Path(_module.__file__).read_text(), re.MULTILINE):
        LOOPS[_info.name, _name] = getattr(_module, _name)


class Guarded(np.ndarray):
    """An array that has no places before its start."""

    def __getitem__(self, key):
        return super().__getitem__(checked(key))

    def __setitem__(self, key, value):
        super().__setitem__(checked(key), value)


def checked(key):
    """Return the key of an array, or raise if one of its numbers is negative."""
    for part in key if isinstance(key, tuple) else (key,):
        if ((part.start or 0) if isinstance(part, slice) else part) < 0:
            raise IndexError(f"index {key} before the start")
    return key


def guarded(value):
    """Return a value with all its arrays guarded."""
    if isinstance(value, np.ndarray):
        return value.view(Guarded)
    if isinstance(value, tuple):
        parts = map(guarded, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


@pytest.fixture
def called(monkeypatch):
    """Have all loops run as plain Python; the set of those that were called."""
    found = set()

    def interpreted(key, loop):
        def run(*arguments):
            found.add(key)
            return getattr(loop, "py_func", loop)(*map(guarded, arguments))

        return run

    runs = {id(loop): interpreted(key, loop) for key, loop in LOOPS.items()}
    for module in [module for name, module in sys.modules.items() if name.startswith("paretodepth")]:
        for name, value in list(vars(module).items()):
            if id(value) in runs:
                monkeypatch.setattr(module, name, runs[id(value)])
    return found


def with_nan(values, rng, share):
    return np.where(rng.random(values.shape) < share, np.nan, values)


def dyads_of(rng, n_criteria, n_dyads):
    """Yield dyads of several kinds, with some NaN and with nothing else."""
    for draw, share in product(("distinct", "tied", "partly tied", "infinite"), (0.2, 1.0)):
        yield with_nan(DRAWS[draw](rng, n_dyads, n_criteria), rng, share)


def sort_dyads(rng, n_criteria):
    # Two blocks of four criteria, by halves; three are given up on as soon as staircases get long.
    for dyads, max_depth in product(dyads_of(rng, n_criteria, 150), (None, 3)):
        number_fronts(dyads, 1, max_depth=max_depth, max_moves=1)
        if n_criteria > 2:
            number_by_layers(dyads[lexicographic_order(dyads)])


def find_depths(rng, n_criteria):
    fronts = Fronts.from_dyads(DRAWS["distinct"](rng, 70, n_criteria))
    broken = Fronts(with_nan(fronts.dyads, rng, 0.3), fronts.starts)
    for dyads, of in product(dyads_of(rng, n_criteria, 12), (fronts, broken)):
        assert np.isfinite(Depths(of, "mid").of(dyads)).all()
        ordered = dyads[lexicographic_order(dyads)]
        FirstLevels(of.dyads, of.starts, first_share=0.2).of(ordered)
        for swept_points in (0.0, 1e9) if n_criteria == 2 else ():
            assert np.isfinite(Staircases(of, swept_points=swept_points).both(ordered)).all()


def sift_dyads(rng, n_criteria):
    points = DRAWS["distinct"](rng, 40, n_criteria)
    dominance_filter = DominanceFilter(points, with_nan(points, rng, 0.3), SummarySizes(n_points=5, n_cells=256))
    for dyads in dyads_of(rng, n_criteria, 36):
        block = np.ascontiguousarray(dyads.T.reshape(n_criteria, 6, 6))
        for is_triangle in (False, True):
            dominance_filter.survivors(block, is_triangle)
        filters.are_reached(dyads, points)
        filters.choose_points(dyads, points, 5)
        if n_criteria == 2:
            filters.pass_staircase(*block, True, filters.new_staircase(dyads, 8))


def find_nearest(rng, n_criteria):
    criteria = [FittedCriterion(Criterion(str(i), metric="precomputed"), [], {}) for i in range(n_criteria)]
    for dyads in dyads_of(rng, n_criteria, 64):
        pairs = ComputedPairs(criteria, list(dyads.T.reshape(n_criteria, 8, 8)), 1)
        block = pairs.block(slice(0, 8))
        for same in (block, HeldPairs.of(pairs).block(slice(3, 5))):
            nearest_dyads(same, np.full(n_criteria, 3))
        neighbors = np.argsort(block[0], axis=1)[:, :5]
        connecting_rank(np.take_along_axis(block[0], neighbors, axis=1), neighbors)
        _kernels.neighbors.rank_components(block[0], np.arange(8) % 3, 3)


def compare_samples(rng):
    starts = np.array([0, 1, 4, 9])
    for points in dyads_of(rng, 2, 9):
        sequences.hausdorff_distances(points, starts, points, starts)
        sequences.frechet_distances(points, starts, points, starts)
        sequences.shape_based_distances(points[:, 0], starts, points[:, 0], starts)
        columns.sum_columns(points.T[:, :4], points.T[:, 4:8], np.arange(4), np.ones(4), np.ones(4))


def grow_fronts(rng, monkeypatch):
    monkeypatch.setattr(growth, "N_FRONT_CELLS", 16)
    for points in dyads_of(rng, 2, 30):
        list(growth.point_front_sizes(points.T.copy(), [10, 30]))
        for rotated in (False, True):
            list(growth.dyad_front_sizes(points.T.copy(), [5, 15], rotated=rotated))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_loop_leaves_its_arrays_whatever_numbers_they_hold(called, monkeypatch):
    rng = np.random.default_rng(0)
    for n_criteria, use in product((1, 2, 3, 4, 6), (sort_dyads, find_depths, sift_dyads, find_nearest)):
        use(rng, n_criteria)
    compare_samples(rng)
    grow_fronts(rng, monkeypatch)
    assert called == LOOPS.keys()
