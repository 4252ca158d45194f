"""Capped fronts of many samples: time as a multiple of the dissimilarities' own, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from paretodepth.benchmarks.sorting import peak_bytes
from paretodepth.blocks import map_blocks
from paretodepth.capping import FEW_SAMPLES, Criteria, auto_max_depth, capped_fronts, pair_block, pair_blocks
from paretodepth.detector import ParetoDepthDetector
from paretodepth.dyads import Views
from paretodepth.fitted_criteria import fit_criteria

N_NEIGHBORS = 8
SIZES = ((2, 5_000), (2, 20_000), (3, 20_000), (4, 20_000))
"""Criteria and samples; uniform samples, the absolute difference in each column."""


@dataclass
class ScaleResult:
    """What capped fronts of all pairs took, on all cores.

    Attributes
    ----------
    max_depth, n_kept : int
        The automatic cap L, and the dyads of fronts 1…L.
    dissimilarities, choice, fronts : float
        Seconds to compute the dissimilarities block by block and drop them, to choose L, and
        to compute the fronts with the dissimilarities they need.
    extra_bytes : int or None
        Memory at the peak of the fronts above that before.
    """

    n_criteria: int
    n_samples: int
    max_depth: int
    n_kept: int
    dissimilarities: float
    choice: float
    fronts: float
    extra_bytes: int | None

    @property
    def ratio(self) -> float:
        """Choice of L and fronts as a multiple of the dissimilarities alone."""
        return (self.choice + self.fronts) / self.dissimilarities


def time_capped_fronts(sizes: Iterable[tuple[int, int]], report: Callable[[str], None]) -> list[ScaleResult]:
    """Measure each number of criteria and of samples, the dissimilarities before and after the fronts."""
    results = []
    for n_criteria, n_samples in sizes:
        report(f"{n_criteria} criteria, {n_samples:,} samples")
        # The first calls compile.
        _measured(*_uniform(n_criteria, FEW_SAMPLES + 1))
        results.append(_measured(*_uniform(n_criteria, n_samples)))
    return results


def _uniform(n_criteria: int, n_samples: int) -> tuple[Criteria, Views]:
    """Return the criteria and views of uniform samples."""
    return fit_criteria(ParetoDepthDetector(), np.random.default_rng(0).random((n_samples, n_criteria)))


def _measured(criteria: Criteria, views: Views) -> ScaleResult:
    n_criteria, n_samples = len(criteria), len(views[0])
    blocks = pair_blocks(n_samples, n_criteria)

    def compute() -> None:
        map_blocks(lambda rows: pair_block(criteria, views, rows).shape, blocks, -1)

    before = _seconds(compute)
    depths, fronts = [], []
    neighbors = np.full(n_criteria, N_NEIGHBORS)
    choice = _seconds(lambda: depths.append(auto_max_depth(criteria, views, neighbors, n_jobs=-1)))
    n_bytes = []
    fitting = _seconds(
        lambda: n_bytes.append(peak_bytes(lambda: fronts.append(capped_fronts(criteria, views, depths[0], n_jobs=-1))))
    )
    return ScaleResult(
        n_criteria,
        n_samples,
        depths[0],
        len(fronts[0].dyads),
        min(before, _seconds(compute)),
        choice,
        fitting,
        n_bytes[0],
    )


def _seconds(function: Callable[[], object]) -> float:
    """Return the time of one call, which is long enough."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
