"""Depth queries, whole fits and the first fit of a fresh process."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import gen_even_slices

from paretodepth.benchmarks.sorting import seconds
from paretodepth.benchmarks.workloads import Dyads, Workload, draw
from paretodepth.blocks import map_blocks
from paretodepth.criteria import Criterion
from paretodepth.depth import Depths
from paretodepth.detector import ParetoDepthDetector
from paretodepth.dyads import pairwise_dyads
from paretodepth.fitted_criteria import fit_criteria
from paretodepth.fronts import Fronts, front_numbers

FRESH_PROCESS = """
import numpy as np
from paretodepth import ParetoDepthDetector
X = np.random.default_rng(0).random((300, 4))
ParetoDepthDetector().fit(X).score_samples(X)
"""


def depth_ratios(*, full: bool) -> dict[str, float]:
    """Return the time of 100,000 depth queries as a share of that of sorting the training dyads, on all cores."""
    ratios = {}
    for k in (2, 3, 4, 5, 6):
        n_dyads = 1_000_000 if k <= 4 or full else 200_000
        dyads = draw(Workload("dyads", k, n_dyads))
        depths = Depths(Fronts.from_dyads(dyads, n_jobs=-1), "paper")
        new = draw(Workload("dyads", k, 300_000))[-100_000:]
        ratios[f"K = {k}, {n_dyads:,} dyads"] = seconds(partial(_ask, depths, new)) / seconds(
            partial(front_numbers, dyads, n_jobs=-1)
        )
    return ratios


def _ask(depths: Depths, new: Dyads) -> None:
    """Ask for depths with all cores."""
    map_blocks(lambda rows: depths.of(new[rows]), gen_even_slices(len(new), effective_n_jobs(-1)), -1)


def fit_ratios() -> dict[str, float]:
    """Return the time of a fit on 1000 samples, Euclidean criteria, as a multiple of sorting its dyads."""
    ratios = {}
    for k in (2, 3, 4):
        X = np.random.default_rng(0).random((1000, 2 * k))
        detector = ParetoDepthDetector([Criterion(f"c{i}", [2 * i, 2 * i + 1]) for i in range(k)])
        dyads = pairwise_dyads(*fit_criteria(detector, X), None)
        fitting = seconds(partial(detector.fit, X))
        ratios[f"K = {k}"] = fitting / seconds(partial(front_numbers, dyads))
    return ratios


def startup_seconds() -> dict[str, float]:
    """Return the time of import, fit and score on 300 samples in a fresh process, with a cold and a warm cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        times = []
        for _ in range(2):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", FRESH_PROCESS], env=environment, check=True)
            times.append(time.perf_counter() - start)
    return {"cold cache": times[0], "warm cache": times[1]}
