"""How many criteria a table should make: areas and times of groups of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.suggestion import suggest_criteria
from paretodepth.datasets.download import data_folder
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.methods import MethodName
from paretodepth.studies.baselines import areas_under_curves
from paretodepth.studies.measure import seconds
from paretodepth.studies.runs import Experiment, Settings, Values
from paretodepth.studies.tables import Mean, Table

MAX_TRAIN, MAX_NOMINAL, MAX_ANOMALIES = 250, 250, 100
"""Samples that are taken of a table at most."""
MAX_COLUMNS = 10
"""Columns up to which one criterion a column is tried: of more, fits take minutes."""
COLUMNS = "one per column"


def samples_of(path: Path, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return nominal training samples of a labelled table, test samples and which of these are anomalies."""
    rng = np.random.default_rng(seed)
    with np.load(path) as file:
        X, labels = file["X"].astype(np.float64), file["y"]
    nominal, anomalies = (rng.permutation(np.flatnonzero(labels == label)) for label in (0, 1))
    n_train = min(MAX_TRAIN, len(nominal) // 2)
    test = np.concatenate([nominal[n_train : n_train + MAX_NOMINAL], anomalies[:MAX_ANOMALIES]])
    return X[nominal[:n_train]], X[test], labels[test] == 1


def criteria_of(X_train: NDArray[np.float64], n_groups: int | str) -> list[Criterion] | None:
    """Return so many suggested criteria, or one per column that varies; None if these would be too many."""
    if n_groups != COLUMNS:
        return suggest_criteria(X_train, int(n_groups)).criteria
    varying = np.flatnonzero(np.ptp(X_train, axis=0) > 0).tolist()
    if len(varying) > MAX_COLUMNS:
        return None
    return [Criterion(f"x{column}", column, "difference") for column in varying]


def run(seed: int, settings: Settings) -> Values:
    """Return for each table and number of groups the seconds of fit and score, and each method's area."""
    values: dict[str, dict[str, Any]] = {}
    for name in settings["tables"]:
        X_train, X_test, is_anomaly = samples_of(data_folder() / "adbench" / f"{name}.npz", seed)
        values[name] = {}
        for n_groups in settings["groups"]:
            criteria = criteria_of(X_train, n_groups)
            if criteria is None:
                continue
            scores: dict[str, NDArray[np.float64]] = {}
            score = partial(_fit_and_score, criteria, X_train, X_test, settings["methods"], scores)
            values[name][str(n_groups)] = {"seconds": seconds(score)} | {
                method: float(areas_under_curves(is_anomaly, own[None])[0]) for method, own in scores.items()
            }
    return values


def _fit_and_score(
    criteria: list[Criterion],
    X_train: NDArray[np.float64],
    X_test: NDArray[np.float64],
    methods: Sequence[MethodName],
    scores: dict[str, NDArray[np.float64]],
) -> None:
    """Put each method's scores of the test samples into `scores`."""
    for method in methods:
        scores[method] = -ParetoDepthDetector(criteria, method=method).fit(X_train).score_samples(X_test)


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the means over all tables, and every table's."""
    names, methods = settings["tables"], settings["methods"]
    groups = [str(n_groups) for n_groups in settings["groups"]]
    feasible = [name for name in names if COLUMNS in runs[0][name]]

    def means(group: str, figure: str, among: Sequence[str]) -> NDArray[np.float64]:
        return np.array([np.mean([run[name][group][figure] for run in runs]) for name in among])

    def cell(group: str, figure: str, among: Sequence[str], digits: int) -> str:
        has_all = bool(among) and all(group in runs[0][name] for name in among)
        return f"{means(group, figure, among).mean():.{digits}f}" if has_all else "–"

    def geometric(group: str, among: Sequence[str]) -> str:
        has_all = bool(among) and all(group in runs[0][name] for name in among)
        return f"{np.exp(np.log(means(group, 'seconds', among)).mean()):.2f} s" if has_all else "–"

    summary = [
        [
            group,
            *(cell(group, method, among, 4) for among in (names, feasible) for method in methods),
            *(geometric(group, among) for among in (names, feasible)),
        ]
        for group in groups
    ]
    few = f"≤ {MAX_COLUMNS} columns"
    areas = [f"{method}, {which}" for which in ("all tables", few) for method in methods]
    headings = ["criteria at most", *areas, "time", f"time, {few}"]
    caption = (
        f"Mean area under the ROC curve over {len(names)} tables, and over the {len(feasible)} of at most "
        f"{MAX_COLUMNS} columns, each the mean of {len(runs)} runs; geometric mean of the time to fit and to score "
        "by all methods, one thread."
    )
    rows = [
        [f"{name.split('_', 1)[-1]}, {method}"]
        + [
            str(Mean.of([run[name][group][method] for run in runs])) if group in runs[0][name] else "–"
            for group in groups
        ]
        for name in names
        for method in methods
    ]
    every = "Area under the ROC curve by the number of criteria at most, mean ± standard error."
    return [Table("summary", caption, headings, summary), Table("areas", every, ["table, method", *groups], rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw area and time over the number of groups, a line a table."""
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    method = settings["methods"][-1]
    for ax, drawn, scale in zip(figure.subplots(1, 2), (method, "seconds"), ("linear", "log"), strict=True):
        for name in settings["tables"]:
            groups = [group for group in map(str, settings["groups"]) if group in runs[0][name]]
            ax.plot(groups, [np.mean([run[name][group][drawn] for run in runs]) for group in groups], marker=".")
        ax.set(xlabel="criteria at most", ylabel=f"area, {drawn}" if drawn == method else "seconds", yscale=scale)
    return {"groups": figure}


EXPERIMENT = Experiment(
    name="groups",
    title="How many criteria a table should make",
    summary=(
        "Tables of ADBench, found through `PARETODEPTH_DATA`: trained on at most 250 nominal samples, tested on others "
        "and anomalies. `suggest_criteria` groups the columns, at most 1 to 8 criteria; beside it one criterion per "
        "column, where there are few."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {
        "tables": sorted(path.stem for path in (data_folder() / "adbench").glob("*.npz")),
        "groups": [1, 2, 3, 4, 5, 6, 8, COLUMNS],
        "methods": ["depth", "blend"],
    },
    n_runs=10,
    n_full_runs=10,
)
