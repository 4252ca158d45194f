"""Theorem 2 of the paper: how much of the first front of the uniform square linear combinations reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from studies.paper.growth import point_front_sizes
from studies.runs import Experiment, Settings, Values
from studies.tables import Mean, Table


def run(seed: int, settings: Settings) -> Values:
    """Return |F| and |L| of one growing set of points, at each of the counts."""
    counts = settings["counts"]
    sizes = list(point_front_sizes(np.random.default_rng(seed).random((2, counts[-1])), counts))
    return {"optimal": [size for size, _ in sizes], "scalarizable": [size for _, size in sizes]}


def _sizes(runs: Sequence[Values], name: str) -> list[Mean]:
    """Return the mean size at each of the counts."""
    return [Mean.of(column) for column in np.array([run[name] for run in runs]).T]


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the mean sizes, their share, and the slopes against ln n."""
    counts = settings["counts"]
    rows = [
        [f"{count:,}", f"{np.log(count):.3f}", str(optimal), str(reached), f"{reached.value / optimal.value:.3f}"]
        for count, optimal, reached in zip(counts, _sizes(runs, "optimal"), _sizes(runs, "scalarizable"), strict=True)
    ]
    caption = (
        f"Mean of {len(runs)} runs ± standard error. The theorem's bounds ½ and ⅚ are of the slope against ln n; the "
        "paper observed a share of about 0.7. The hull of uniform points in a square has (8/3) ln n vertices to "
        "first order (Rényi and Sulanke 1963), a quarter of them at the lower left: the share tends to 2/3."
    )
    sizes = Table("sizes", caption, ["n", "ln n", "|F|", "|L|", "|L| / |F|"], rows)
    rows = []
    for label, name, bounds in (("|F|", "optimal", "1"), ("|L|", "scalarizable", "½ to ⅚ (2/3 in the limit)")):
        slopes = np.polyfit(np.log(counts), np.array([run[name] for run in runs], dtype=np.float64).T, 1)[0]
        rows.append([label, str(Mean.of(slopes)), bounds])
    return [sizes, Table("slopes", "Slope of the mean size against ln n.", ["size", "ours", "theory"], rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw the mean sizes between the theorem's lines."""
    counts = np.array(settings["counts"])
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = {name: np.array([mean.value for mean in _sizes(runs, name)]) for name in ("optimal", "scalarizable")}
    left.plot(counts, sizes["optimal"], "o-", color="tab:green", label="|F|")
    left.plot(counts, sizes["scalarizable"], "s-", color="tab:orange", label="|L|")
    for factor, name, style in ((1, "ln n", "-"), (5 / 6, "⅚ ln n", "--"), (1 / 2, "½ ln n", ":")):
        left.plot(counts, factor * np.log(counts), color="black", linewidth=0.9, linestyle=style, label=name)
    left.set(xscale="log", xlabel="number of points n", ylabel="mean number of points")
    left.legend()
    right.plot(counts, sizes["scalarizable"] / sizes["optimal"], "s-", color="tab:orange")
    right.axhline(0.7, color="black", linestyle="--", linewidth=0.9, label="0.7, observed in the paper")
    right.axhline(2 / 3, color="black", linestyle=":", linewidth=0.9, label="2/3, the limit")
    right.set(xscale="log", xlabel="number of points n", ylabel="|L| / |F|")
    right.legend()
    return {"sizes": figure}


EXPERIMENT = Experiment(
    name="theorem2",
    title="Theorem 2: scalarization on the uniform square",
    summary=(
        "Points uniform on the unit square. Of the Pareto-optimal points F, about ln n in number, linear combinations "
        "reach only L, between ½ ln n and ⅚ ln n."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"counts": [10**power for power in range(2, 8 if full else 7)]},
    n_runs=1000,
    n_full_runs=1000,
)
