"""How depths below the fronts of some of the dyads come close to those of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from paretodepth.datasets import make_hypercube
from paretodepth.detector import ParetoDepthDetector
from studies.runs import Experiment, Settings, Values
from studies.tables import Mean, Table

N_TEST = 400


def run(seed: int, settings: Settings) -> Values:
    """Return the area and the rank correlation with exact scores, by number of criteria and share of the dyads."""
    values = {}
    n_dyads = settings["n_samples"] * (settings["n_samples"] - 1) // 2
    for n_criteria in settings["n_criteria"]:
        data = make_hypercube(settings["n_samples"], N_TEST, n_criteria=n_criteria, random_state=seed)
        exact = ParetoDepthDetector(data.criteria).fit(data.X_train).mean_depth(data.X_test)
        for share in settings["shares"]:
            detector = ParetoDepthDetector(data.criteria, max_dyads=max(1, round(share * n_dyads)), random_state=seed)
            depths = detector.fit(data.X_train).mean_depth(data.X_test)
            values[f"{n_criteria}, {share:g}"] = [
                float(roc_auc_score(data.is_anomaly, depths)),
                float(spearmanr(depths, exact)[0]) if np.ptp(depths) > 0 else 0.0,
            ]
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the means over the runs."""
    n_dyads = settings["n_samples"] * (settings["n_samples"] - 1) // 2
    rows = []
    for share in settings["shares"]:
        row = [f"{share:g}", f"{round(share * n_dyads):,}"]
        for n_criteria in settings["n_criteria"]:
            areas, correlations = zip(*(run[f"{n_criteria}, {share:g}"] for run in runs), strict=True)
            row += [str(Mean.of(areas)), str(Mean.of(correlations))]
        rows.append(row)
    columns = ["share", "dyads"]
    for n_criteria in settings["n_criteria"]:
        columns += [f"K = {n_criteria}: area", f"K = {n_criteria}: rank correlation"]
    caption = (
        f"{settings['n_samples']:,} training samples of the paper's simulation, {len(runs)} runs: area under the ROC "
        "curve and Spearman correlation with the exact mean depths, mean ± standard error."
    )
    return [Table("shares", caption, columns, rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw the rank correlation against the share."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    for n_criteria, marker in zip(settings["n_criteria"], "os^D", strict=False):
        means = [np.mean([run[f"{n_criteria}, {share:g}"][1] for run in runs]) for share in settings["shares"]]
        ax.semilogx(settings["shares"], means, f"{marker}-", label=f"K = {n_criteria}")
    ax.set(xlabel="share of the dyads", ylabel="rank correlation with exact mean depths")
    ax.legend()
    return {"correlation": figure}


EXPERIMENT = Experiment(
    name="subsets",
    title="Depths from some of the dyads",
    summary="The fronts are made of random dyads (`max_dyads`); neighbors are sought among all training samples.",
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {
        "n_samples": 500,
        "n_criteria": [2, 4, 6],
        "shares": [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001],
    },
    n_runs=20,
    n_full_runs=100,
)
