"""Theorem 1 of the paper: how many Pareto-optimal points lie near a smooth piece of the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, gamma, pi

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.integrate import nquad

from paretodepth.fronts.fronts import front_numbers
from studies.paper.figure2 import RADIUS
from studies.runs import Experiment, Settings, Values
from studies.tables import Mean, Table

DOMAINS = ("ball", "cube less ball")
"""The unit ball, whose boundary is convex, and the unit cube less a ball around its lower left corner."""
ANGLES = {2: [(pi / 10, 2 * pi / 5)], 3: [(pi / 8, 3 * pi / 8), (pi / 5, 3 * pi / 10)]}
"""The piece T of the boundary: azimuth and, in space, polar angle of its inward normals."""
DEPTH = 0.1
"""h: how far inside T points still count as near."""


def normals(angles: Sequence[NDArray[np.float64]] | Sequence[float]) -> NDArray[np.float64]:
    """Return unit vectors from their azimuth and, in space, their polar angle."""
    plane = np.array([np.cos(angles[0]), np.sin(angles[0])])
    if len(angles) == 1:
        return plane
    return np.array([*(np.sin(angles[1]) * plane), np.cos(angles[1])])


def front_constant(domain: str, n_criteria: int) -> float:
    """Return the theorem's γ for the uniform density, by quadrature over T."""
    d = n_criteria
    ball = pi ** (d / 2) / gamma(d / 2 + 1)
    radius, volume = (1.0, ball) if domain == "ball" else (RADIUS, 1 - ball * RADIUS**d / 2**d)

    def integrand(*angles: float) -> float:
        surface = radius ** (d - 1) * (np.sin(angles[1]) if d == 3 else 1.0)
        return float(np.prod(normals(angles)) ** (1 / d) * surface)

    integral, _ = nquad(integrand, ANGLES[d])
    return float(factorial(d) ** (1 / d) * gamma(1 / d) / d * volume ** (1 / d - 1) * integral)


def draw_points(rng: np.random.Generator, domain: str, n_criteria: int, n_points: int) -> NDArray[np.float64]:
    """Draw points uniformly on a domain and return those within 2 `DEPTH` of the sphere, shape (n_kept, n_criteria).

    Deeper points are neither near T nor dominate one that is.
    """
    kept = []
    n_drawn = 0
    while n_drawn < n_points:
        points = rng.random((min(n_points, 2**20), n_criteria))
        if domain == "ball":
            points = 2 * points - 1
        radii = np.linalg.norm(points, axis=1)
        inside = np.flatnonzero(radii <= 1 if domain == "ball" else radii >= RADIUS)[: n_points - n_drawn]
        n_drawn += len(inside)
        kept.append(points[inside[np.abs(radii[inside] - (1 if domain == "ball" else RADIUS)) <= 2 * DEPTH]])
    return np.concatenate(kept)


def is_near_piece(points: NDArray[np.float64], domain: str) -> NDArray[np.bool_]:
    """Return which points lie in T_h, that is, at most `DEPTH` along a normal from T."""
    radii = np.linalg.norm(points, axis=1)
    directions = (points / radii[:, None]).T * (-1 if domain == "ball" else 1)
    is_near: NDArray[np.bool_] = np.abs(radii - (1 if domain == "ball" else RADIUS)) <= DEPTH
    angles = [np.arctan2(directions[1], directions[0])]
    if points.shape[1] == 3:
        angles.append(np.arccos(directions[2]))
    for angle, (low, high) in zip(angles, ANGLES[points.shape[1]], strict=True):
        is_near &= (low < angle) & (angle < high)
    return is_near


def run(seed: int, settings: Settings) -> Values:
    """Return the number of Pareto-optimal points near T, for each domain, dimension and number of points."""
    values = {}
    for domain in DOMAINS:
        for n_criteria in ANGLES:
            rng = np.random.default_rng([seed, n_criteria, DOMAINS.index(domain)])
            sizes = []
            for count in settings["counts"]:
                points = draw_points(rng, domain, n_criteria, count)
                sizes.append(int(np.count_nonzero(is_near_piece(points[front_numbers(points) == 1], domain))))
            values[f"{domain}, d = {n_criteria}"] = sizes
    return values


def _ratios(runs: Sequence[Values], settings: Settings) -> dict[str, list[Mean]]:
    """Return the mean number near T as a ratio to γ n^((d-1)/d), by domain and dimension."""
    counts = np.array(settings["counts"], dtype=np.float64)
    ratios = {}
    for domain in DOMAINS:
        for d in ANGLES:
            name = f"{domain}, d = {d}"
            predicted = front_constant(domain, d) * counts ** ((d - 1) / d)
            ratios[name] = [Mean.of(column) for column in np.array([run[name] for run in runs]).T / predicted[:, None]]
    return ratios


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return γ and the ratios."""
    ratios = _ratios(runs, settings)
    rows = [
        [domain, str(d), f"{front_constant(domain, d):.4f}", *map(str, ratios[f"{domain}, d = {d}"])]
        for domain in DOMAINS
        for d in ANGLES
    ]
    caption = (
        f"Mean of {len(runs)} runs ± standard error of the number of Pareto-optimal points near T, divided by "
        "γ n^((d−1)/d). The theorem says that the ratio tends to 1, its error falling like n^(−1/d)."
    )
    columns = ["domain", "d", "γ", *(f"n = {count:,}" for count in settings["counts"])]
    return [Table("ratios", caption, columns, rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw the ratios against the number of points."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    for (name, ratios), marker in zip(_ratios(runs, settings).items(), "osD^", strict=True):
        values, errors = [mean.value for mean in ratios], [mean.error for mean in ratios]
        ax.errorbar(settings["counts"], values, yerr=errors, marker=marker, capsize=3, label=name)
    ax.axhline(1, color="black", linewidth=0.9)
    ax.set(xscale="log", xlabel="number of points n", ylabel="number near T ÷ γ n^((d−1)/d)")
    ax.legend()
    return {"ratios": figure}


EXPERIMENT = Experiment(
    name="theorem1",
    title="Theorem 1: Pareto-optimal points near a smooth boundary",
    summary=(
        "Points uniform on the unit ball, whose boundary is convex, and on the unit cube less a ball of radius "
        f"{RADIUS} around its lower left corner, where no linear combination reaches the Pareto-optimal points near "
        "the sphere. T is a piece of the sphere whose normals are bounded away from the axes; γ comes from quadrature."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"counts": [10**power for power in range(3, 8 if full else 7)]},
    n_runs=100,
    n_full_runs=100,
)
