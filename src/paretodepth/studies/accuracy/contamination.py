"""How often a fit says that its training set seems to hold anomalies: where it holds some, and where it holds none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.advice import standing_out_rows
from paretodepth.scoring.methods import MethodName
from paretodepth.studies.accuracy.regimes import Task, regimes
from paretodepth.studies.runs import Experiment, Settings, Values
from paretodepth.studies.tables import Table

ODD_SHARE = 0.03
"""Anomalies put into a training set, a share of its nominal samples."""


def run(seed: int, settings: Settings) -> Values:
    """Return for each regime and method how many training samples are named, of a clean set and of one with anomalies.

    Of the second set the first number counts nominal samples, the second anomalies.
    """
    draws = regimes()
    values = {}
    for regime in settings["regimes"]:
        task = draws[regime](seed)
        n_nominal = len(task.columns_train)
        mixed = _with_anomalies(task, max(1, round(ODD_SHARE * n_nominal)))
        values[regime] = {
            method: [
                len(_named(task, task.X_train, method)),
                *np.bincount(_named(task, mixed, method) >= n_nominal, minlength=2).tolist(),
            ]
            for method in settings["methods"]
        }
    return values


def _named(task: Task, samples: Any, method: MethodName) -> NDArray[np.intp]:
    detector = ParetoDepthDetector(task.criteria, method=method).fit(samples)
    return standing_out_rows(-detector.training_scores_)


def _with_anomalies(task: Task, n_odd: int) -> Any:
    """Return the training samples, and after them some of the anomalies."""
    odd = np.flatnonzero(task.is_anomaly)[:n_odd]
    if isinstance(task.X_train, Mapping):
        return {name: np.concatenate([column, task.X_test[name][odd]]) for name, column in task.X_train.items()}
    return np.concatenate([task.X_train, task.X_test[odd]])


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return how often samples are named, by regime and method."""
    methods = settings["methods"]
    counts = {
        (regime, method): np.array([run[regime][method] for run in runs])
        for regime in settings["regimes"]
        for method in methods
    }

    def cells(of_regime: NDArray[np.int64]) -> list[str]:
        clean, nominal, odd = of_regime.T
        n_named = nominal.sum() + odd.sum()
        right = f"{odd.sum() / n_named:.2f}" if n_named else "–"
        return [f"{np.mean(clean > 0):.2f}", f"{np.mean(nominal + odd > 0):.2f}", right]

    rows = [
        [regime, *(cell for method in methods for cell in cells(counts[regime, method]))]
        for regime in settings["regimes"]
    ]
    every = [np.concatenate([counts[regime, method] for regime in settings["regimes"]]) for method in methods]
    rows.append(["all", *(cell for of_method in every for cell in cells(of_method))])
    caption = (
        f"Share of {len(runs)} runs in which `fit` names training samples: of nominal samples alone, a false alarm, "
        f"and with {ODD_SHARE:.0%} of anomalies beside them; last the share of anomalies among those named."
    )
    headings = [f"{method}, {what}" for method in methods for what in ("clean", "with anomalies", "right")]
    return [Table("advice", caption, ["regime", *headings], rows)]


EXPERIMENT = Experiment(
    name="contamination",
    title="Anomalies in the training set",
    summary=(
        "`fit` advises to look at training samples that score far beyond the rest: by the tail that the rest suggests, "
        "one set in a hundred would hold such a score. The regimes are those of the first section. Where anomalies are "
        "many or near, none stands out: silence proves nothing."
    ),
    run=run,
    tables=tables,
    settings=lambda full: {"regimes": list(regimes()), "methods": ["depth", "blend"]},
    n_runs=20,
    n_full_runs=20,
)
