"""Figure 2 of the paper: Pareto-optimal points that no linear combination reaches, for two reasons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from paretodepth.fronts.fronts import front_numbers
from studies.paper.scalarization import scalarizable
from studies.runs import Experiment, Settings, Values
from studies.tables import Table

RADIUS = 0.7
DISC_RADII = {"non-convex domain": RADIUS, "square": 0.0}
"""The unit square less the disc of this radius around its lower left corner."""


def points_outside_disc(rng: np.random.Generator, n_points: int, radius: float) -> NDArray[np.float64]:
    """Draw points uniformly on the unit square less a disc around the origin, shape (n_points, 2)."""
    points = np.empty((0, 2))
    while len(points) < n_points:
        more = rng.random((n_points, 2))
        points = np.concatenate([points, more[np.hypot(*more.T) >= radius]])
    return points[:n_points]


def run(seed: int, settings: Settings) -> Values:
    """Draw points on both domains and separate F from L."""
    values = {}
    for name, radius in DISC_RADII.items():
        points = points_outside_disc(np.random.default_rng(seed), settings["n_points"][name], radius)
        values[name] = {
            "points": points.tolist(),
            "is_optimal": (front_numbers(points) == 1).tolist(),
            "is_scalarizable": scalarizable(points).tolist(),
        }
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the sizes of F and L."""
    rows = []
    for name, value in runs[0].items():
        n_optimal, n_scalarizable = sum(value["is_optimal"]), sum(value["is_scalarizable"])
        counts = len(value["points"]), n_optimal, n_scalarizable, n_optimal - n_scalarizable
        rows.append([name, *map(str, counts)])
    caption = "F: Pareto-optimal points; L: those among them that minimize a linear combination."
    return [Table("sizes", caption, ["domain", "points", "|F|", "|L|", "|F \\ L|"], rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw both domains: small dots for all points, large ones for F, black where L does not reach."""
    figure = Figure(figsize=(9, 4.3), layout="constrained")
    for ax, (name, value) in zip(figure.subplots(1, 2), runs[0].items(), strict=True):
        points, optimal, reached = (np.array(value[key]) for key in ("points", "is_optimal", "is_scalarizable"))
        ax.scatter(*points[~optimal].T, s=3, color="0.7", linewidths=0, label="dominated")
        ax.scatter(*points[reached].T, s=40, color="tab:orange", edgecolors="black", label="in L")
        ax.scatter(*points[optimal & ~reached].T, s=40, color="black", label="in F \\ L")
        ax.set(title=name, xlabel="first criterion", ylabel="second criterion", aspect="equal")
        ax.legend(loc="upper right", fontsize=8, framealpha=1)
    return {"scalarization": figure}


EXPERIMENT = Experiment(
    name="figure2",
    title="Figure 2: two kinds of non-convexity",
    summary=(
        f"Points uniform on the unit square less a disc of radius {RADIUS} around its lower left corner, and on the "
        "whole square. Black points are Pareto-optimal but minimize no linear combination: on the left because the "
        "domain is not convex (Theorem 1), on the right by chance (Theorem 2)."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"n_points": {"non-convex domain": 1500, "square": 1000}},
    n_runs=1,
    n_full_runs=1,
)
