"""Whether p-values hold what they promise: false alarms and false discoveries on nominal data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.calibration import CALIBRATIONS
from paretodepth.scoring.methods import METHODS
from studies.runs import Experiment, Settings, Values
from studies.tables import Mean, Table

ALPHAS = (0.01, 0.05, 0.1)
FDRS = (0.1, 0.2)
N_FITTED, N_FRESH, N_SHIFTED = 300, 200, 20
SHIFT = 6.0
"""How far anomalies are moved in one column, in standard deviations."""
GRID = np.linspace(0, 1, 101)


def run(seed: int, settings: Settings) -> Values:
    """Return the false alarms among fresh nominal samples, and their share among those that `select` flags."""
    rng = np.random.default_rng(seed)
    # Three columns, the second depending on the first; the number of samples allows alpha = 0.01 by a split too.
    nominal = rng.standard_normal((N_FITTED + N_FRESH, 3))
    nominal[:, 1] += nominal[:, 0]
    anomalies = nominal[-N_SHIFTED:].copy()
    anomalies[np.arange(N_SHIFTED), rng.integers(3, size=N_SHIFTED)] += SHIFT
    batch = np.concatenate([nominal[N_FITTED:-N_SHIFTED], anomalies])
    is_nominal = np.arange(N_FRESH) < N_FRESH - N_SHIFTED
    values = {}
    for calibration in CALIBRATIONS:
        for method in METHODS:
            detector = ParetoDepthDetector(method=method, calibration=calibration, random_state=seed)
            p_values = detector.fit(nominal[:N_FITTED]).p_values(nominal[N_FITTED:])
            selected = [detector.select(batch, fdr=fdr) for fdr in FDRS]
            values[f"{method}, {calibration}"] = {
                "alarms": [float(np.mean(p_values <= alpha)) for alpha in ALPHAS],
                "false": [float(np.mean(is_nominal[s])) if s.any() else 0.0 for s in selected],
                "found": [float(np.mean(s[~is_nominal])) for s in selected],
                "distribution": np.searchsorted(np.sort(p_values), GRID, side="right").tolist(),
            }
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the false-alarm rates and the false discovery rates."""
    alarms, discoveries = [], []
    for name in runs[0]:
        rates = np.array([run[name]["alarms"] for run in runs])
        means = [Mean.of(rate) for rate in rates.T]
        excess = [mean.distance(Mean(alpha, 0.0)) for mean, alpha in zip(means, ALPHAS, strict=True)]
        alarms.append([name, *(f"{mean.value:.4f} ± {mean.error:.4f}" for mean in means), ", ".join(excess)])
        false, found = (np.array([run[name][key] for run in runs]).T for key in ("false", "found"))
        discoveries.append([name, *map(str, map(Mean.of, false)), *(f"{share.mean():.3f}" for share in found)])
    caption = (
        f"Share of fresh nominal samples with a p-value of at most alpha, over {len(runs)} data sets of {N_FITTED} "
        f"training and {N_FRESH} test samples, ± standard error; the last column is the excess over each alpha "
        "in standard errors."
    )
    columns = ["method, calibration", *(f"alpha = {alpha}" for alpha in ALPHAS), "excess, in SE"]
    fdr_caption = (
        f"`select` on batches of {N_FRESH} samples with {N_SHIFTED} anomalies: mean share of nominal samples among "
        "those selected, ± standard error, and mean share of the anomalies that are selected."
    )
    fdr_columns = ["method, calibration", *(f"fdr = {f}" for f in FDRS), *(f"found at {f}" for f in FDRS)]
    return [
        Table("alarms", caption, columns, alarms),
        Table("discoveries", fdr_caption, fdr_columns, discoveries),
    ]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw the distribution of nominal p-values, which should nowhere be above the diagonal."""
    figure = Figure(figsize=(5, 4.5), layout="constrained")
    ax = figure.subplots()
    for number, name in enumerate(runs[0]):
        shares = np.mean([run[name]["distribution"] for run in runs], axis=0) / N_FRESH
        ax.plot(GRID, shares, color=f"C{number % 3}", linestyle="-" if number < 3 else "--", label=name)
    ax.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    ax.set(xlabel="t", ylabel="share of nominal samples with p ≤ t", aspect="equal")
    ax.legend(fontsize=8)
    return {"p_values": figure}


EXPERIMENT = Experiment(
    name="validity",
    title="False alarms and false discoveries",
    summary=(
        "Normal samples in three columns, the second depending on the first; the criteria are the absolute "
        "differences. Every run draws new training and test samples."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"alphas": list(ALPHAS)},
    n_runs=300,
    n_full_runs=300,
)
