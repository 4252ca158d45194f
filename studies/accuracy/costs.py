"""The cost of p-values and explanations compared with scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.methods import METHODS
from studies.measure import seconds
from studies.runs import Experiment, Settings, Values
from studies.tables import Table

N_TIMED = 1000
"""Training samples, and as many new ones."""
ODD_SHARE = 0.05


def run(seed: int, settings: Settings) -> Values:
    """Return the times of `score_samples`, `p_values` and `explain` for 1,000 samples, by method and criteria."""
    rng = np.random.default_rng(seed)
    values = {}
    for n_criteria in settings["n_criteria"]:
        new = rng.random((N_TIMED, n_criteria))
        new[: int(ODD_SHARE * N_TIMED), 0] += 0.5
        for method in METHODS:
            detector = ParetoDepthDetector(method=method).fit(rng.random((N_TIMED, n_criteria)))
            calls = (detector.score_samples, detector.p_values, detector.explain)
            # The first of two calls may have to compile.
            values[f"{method}, K = {n_criteria}"] = [
                min(seconds(partial(call, new)) for _ in range(2)) for call in calls
            ]
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the medians of the runs."""
    rows = []
    for name in runs[0]:
        scores, *others = np.median([run[name] for run in runs], axis=0)
        rows.append([name, f"{1000 * scores:.1f} ms", *(f"{other / scores:.2f}" for other in others)])
    caption = (
        f"{N_TIMED:,} samples, {ODD_SHARE:.0%} of them anomalies, against {N_TIMED:,} training samples: median time "
        f"of `score_samples` over {len(runs)} runs, and those of the others as multiples of it. Run it with `--jobs 1`."
    )
    return [Table("times", caption, ["method, criteria", "score_samples", "p_values", "explain"], rows)]


EXPERIMENT = Experiment(
    name="speed",
    title="Time of p-values and explanations",
    summary="One thread. An explanation includes all p-values, neighbors and counterfactuals.",
    run=run,
    tables=tables,
    settings=lambda full: {"n_criteria": [2, 4, 8]},
    n_runs=9,
    n_full_runs=9,
)
