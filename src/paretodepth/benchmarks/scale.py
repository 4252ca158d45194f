"""Fits of many samples: time as a multiple of the dissimilarities' own, and memory."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from paretodepth.advice import AdviceWarning
from paretodepth.benchmarks.sorting import peak_bytes
from paretodepth.capping import pair_blocks
from paretodepth.detector import ParetoDepthDetector
from paretodepth.fitted_criteria import fit_criteria
from paretodepth.pairs import ComputedPairs

SIZES = ((2, 5_000), (2, 20_000), (3, 20_000), (4, 20_000))
"""Criteria and samples; uniform samples, the absolute difference in each column."""


@dataclass
class ScaleResult:
    """What a fit with ``max_depth="auto"`` took, on all cores.

    Attributes
    ----------
    max_depth, n_kept : int
        The automatic cap L, and the dyads of fronts 1…L.
    dissimilarities, fitting : float
        Seconds to compute the dissimilarities of all pairs block by block and drop them, and of the fit.
    extra_bytes : int or None
        Memory at the peak of the fit above that before.
    """

    n_criteria: int
    n_samples: int
    max_depth: int
    n_kept: int
    dissimilarities: float
    fitting: float
    extra_bytes: int | None

    @property
    def ratio(self) -> float:
        """The fit as a multiple of the dissimilarities alone."""
        return self.fitting / self.dissimilarities


def time_fits(sizes: Iterable[tuple[int, int]], report: Callable[[str], None]) -> list[ScaleResult]:
    """Measure each number of criteria and of samples, the dissimilarities before and after the fit."""
    results = []
    for n_criteria, n_samples in sizes:
        report(f"{n_criteria} criteria, {n_samples:,} samples")
        # The first calls compile.
        _measured(n_criteria, 2100)
        results.append(_measured(n_criteria, n_samples))
    return results


def _measured(n_criteria: int, n_samples: int) -> ScaleResult:
    X = np.random.default_rng(0).random((n_samples, n_criteria))
    # Little enough that nothing is held.
    detector = ParetoDepthDetector(max_depth="auto", memory_limit=2**30, n_jobs=-1)
    pairs = ComputedPairs(*fit_criteria(detector, X), -1)
    blocks = pair_blocks(n_samples, n_criteria)

    def compute() -> None:
        deque(pairs.map(lambda pairs, rows: pairs.later(rows).shape, blocks), maxlen=0)

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdviceWarning)
            detector.fit(X)

    before = _seconds(compute)
    n_bytes: list[int | None] = []
    fitting = _seconds(lambda: n_bytes.append(peak_bytes(fit)))
    fronts = detector.fronts_
    return ScaleResult(
        n_criteria,
        n_samples,
        len(fronts),
        len(fronts.dyads),
        min(before, _seconds(compute)),
        fitting,
        n_bytes[0],
    )


def _seconds(function: Callable[[], object]) -> float:
    """Return the time of one call, which is long enough."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
