"""Appendix B of the paper: how many Pareto-optimal dyads linear combinations miss, as the dyads grow in number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from studies.paper.growth import dyad_front_sizes
from studies.runs import Experiment, Settings, Values
from studies.tables import Mean, Table

CRITERIA = {"square": ("|Δx|", "|Δy|"), "diamond": ("|Δx| + |Δy|", "|Δx| − |Δy|")}
PAPER_COEFFICIENTS = {"square": (0.3142,), "diamond": (1.1642, 0.5007)}


def sample_counts(settings: Settings) -> NDArray[np.intp]:
    """Return the smallest numbers of samples N with at least 1, 2, 3, … steps of dyads."""
    n_dyads = np.arange(settings["step"], settings["n_dyads"] + 1, settings["step"], dtype=np.float64)
    counts: NDArray[np.intp] = np.ceil((1 + np.sqrt(1 + 8 * n_dyads)) / 2).astype(np.intp)
    return counts


def run(seed: int, settings: Settings) -> Values:
    """Return |F| and |L| at every step of one growing set of dyads, of either kind."""
    counts = sample_counts(settings)
    samples = np.random.default_rng(seed).random((2, counts[-1]))
    values = {}
    for name in CRITERIA:
        sizes = np.array(list(dyad_front_sizes(samples, counts.tolist(), rotated=name == "diamond")))
        values[name] = {"optimal": sizes[:, 0].tolist(), "scalarizable": sizes[:, 1].tolist()}
    return values


def n_missed(runs: Sequence[Values], name: str) -> NDArray[np.float64]:
    """Return the size of F less L, one row a run and one column a step."""
    return np.array([np.subtract(run[name]["optimal"], run[name]["scalarizable"]) for run in runs], dtype=np.float64)


def fit(name: str, n_dyads: NDArray[np.float64], missed: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the paper's coefficients: α of α ln n for the square, α and β of α n^β for the diamond."""
    logarithms = np.log(n_dyads)
    if name == "square":
        return (float(logarithms @ missed / (logarithms @ logarithms)),)
    slope, intercept = np.polyfit(logarithms, np.log(missed), 1)
    return float(np.exp(intercept)), float(slope)


def _numbers_of_dyads(settings: Settings) -> NDArray[np.float64]:
    counts = sample_counts(settings).astype(np.float64)
    return counts * (counts - 1) / 2


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the fitted coefficients next to the paper's; the error by leaving out one run at a time."""
    n_dyads = _numbers_of_dyads(settings)
    rows = []
    for name, paper in PAPER_COEFFICIENTS.items():
        missed = n_missed(runs, name)
        ours = fit(name, n_dyads, missed.mean(axis=0))
        errors = _jackknife_errors(name, n_dyads, missed)
        for symbol, value, error, theirs in zip("αβ", ours, errors, paper, strict=False):
            distance = Mean(value, error).distance(Mean(theirs, 0.0))
            model = "α ln n" if name == "square" else "α n^β"
            shown = f"{value:.4f}" if np.isnan(error) else f"{value:.4f} ± {error:.4f}"
            rows.append([name, model, symbol, shown, f"{theirs:.4f}", distance])
    caption = (
        f"Fits of the mean of |F \\ L| over {len(runs)} runs to {n_dyads[-1]:.3g} dyads, at steps of "
        f"{settings['step']:,}. ± is the standard error by leaving out one run at a time. The paper gives no error: "
        "the last column is the difference in ours. The square's α is least squares through the origin; that of the "
        "diamond is least squares of ln |F \\ L| on ln n."
    )
    columns = ["criteria", "model", "coefficient", "ours", "paper", "difference, in SE"]
    return [Table("fits", caption, columns, rows)]


def _jackknife_errors(name: str, n_dyads: NDArray[np.float64], missed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard errors of the coefficients; NaN for a single run."""
    n_runs = len(missed)
    if n_runs == 1:
        return np.full(2, np.nan)
    others = (missed.sum(axis=0) - missed) / (n_runs - 1)
    coefficients = np.array([fit(name, n_dyads, other) for other in others])
    errors: NDArray[np.float64] = coefficients.std(axis=0) * (n_runs - 1) ** 0.5
    return errors


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw Figure 4, some dyads of either kind, and Figure 5, how many of F linear combinations miss."""
    n_dyads = _numbers_of_dyads(settings)
    growth = Figure(figsize=(10, 4), layout="constrained")
    for ax, name in zip(growth.subplots(1, 2), CRITERIA, strict=True):
        missed = n_missed(runs, name)
        mean, error = missed.mean(axis=0), missed.std(axis=0) / max(len(runs) - 1, 1) ** 0.5
        coefficients = fit(name, n_dyads, mean)
        if name == "square":
            fitted, label = coefficients[0] * np.log(n_dyads), f"{coefficients[0]:.4f} ln n"
        else:
            fitted, label = coefficients[0] * n_dyads ** coefficients[1], "{:.4f} n^{:.4f}".format(*coefficients)
        ax.fill_between(n_dyads, mean - error, mean + error, color="tab:blue", alpha=0.3, label="± standard error")
        ax.plot(n_dyads, mean, color="tab:blue", label=f"mean of {len(runs)} runs")
        ax.plot(n_dyads, fitted, color="black", linestyle=":", label=label)
        ax.set(title=", ".join(CRITERIA[name]), xlabel="number of dyads n", ylabel="|F \\ L|", xscale="log")
        ax.legend()
    return {"samples": _sample_figure(), "growth": growth}


def _sample_figure() -> Figure:
    """Draw the 990 dyads of 45 samples under either pair of criteria."""
    samples = np.random.default_rng(0).random((2, 45))
    first, second = np.triu_indices(45, k=1)
    x, y = np.abs(samples[:, first] - samples[:, second])
    figure = Figure(figsize=(9, 4.3), layout="constrained")
    for ax, name, dyads in zip(figure.subplots(1, 2), CRITERIA, ((x, y), (x + y, x - y)), strict=True):
        ax.scatter(*dyads, s=6, color="black", linewidths=0)
        ax.set(title=f"990 dyads, {name}", xlabel=CRITERIA[name][0], ylabel=CRITERIA[name][1], aspect="equal")
    return figure


EXPERIMENT = Experiment(
    name="dyads",
    title="Appendix B, Figures 4 and 5: Pareto-optimal dyads that linear combinations miss",
    summary=(
        "Samples uniform on the unit square are added one by one; their dyads stream past the first front and are "
        "never held. With |Δx| and |Δy| the dyads fill a square and F \\ L grows like ln n; with |Δx| + |Δy| and "
        "|Δx| − |Δy| they fill a diamond and it grows like the square root of n. The sizes are taken at the first "
        "number of samples with at least 1, 2, 3, … steps of dyads."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"n_dyads": 10**9 if full else 10**8, "step": 10**6},
    n_runs=100,
    n_full_runs=1000,
)
