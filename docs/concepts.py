"""Make the figures of docs/concepts.md.

Run with ``python -m docs.concepts``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paretodepth import Fronts
from paretodepth.fronts.depth_index import Depths
from studies.paper.figure2 import points_outside_disc
from studies.paper.scalarization import scalarizable

FOLDER = Path(__file__).with_suffix("")
NEW = {"color": "tab:red", "edgecolors": "black", "zorder": 4, "s": 70}


def draw_dyads(walks: Axes, dyads: Axes) -> None:
    """Draw five samples with two pairs marked, and all ten pairs as dyads."""
    samples = np.array([[1.0, 1.2], [1.6, 3.4], [2.4, 1.9], [4.2, 2.6], [3.6, 0.8]])
    first, second = np.triu_indices(5, 1)
    unlike = np.abs(samples[first] - samples[second])
    walks.scatter(*samples.T, s=60, color="tab:blue", zorder=3)
    for number, sample in enumerate(samples):
        walks.annotate("ABCDE"[number], sample, xytext=(7, 5), textcoords="offset points", weight="bold")
    dyads.scatter(*unlike.T, s=40, color="0.7")
    for one, other, color in ((0, 1, "tab:orange"), (0, 2, "tab:green")):
        (a, b), place = samples[[one, other]], np.abs(samples[one] - samples[other])
        walks.plot([a[0], b[0], b[0]], [a[1], a[1], b[1]], color=color, linestyle=":", linewidth=1.5)
        walks.plot([a[0], b[0]], [a[1], b[1]], color=color, linewidth=2)
        dyads.scatter(*place, s=90, color=color, edgecolors="black", zorder=3)
        dyads.annotate("A" + "ABCDE"[other], place, xytext=(9, 5), textcoords="offset points", weight="bold")
    # The letters stand within the axes.
    walks.margins(0.12)
    walks.set(title="Five samples, two criteria", xlabel="x", ylabel="y", aspect="equal")
    dyads.set(title="Ten pairs are ten dyads", xlabel="unlike in x", ylabel="unlike in y")


def draw_fronts(ax: Axes) -> None:
    """Draw dyads in the colors of their fronts, and the corner that one of them dominates."""
    points = np.random.default_rng(6).random((36, 2))
    fronts = Fronts.from_dyads(points)
    for number in range(1, len(fronts) + 1):
        front = fronts.front(number)
        ax.plot(*front.T, color="tab:green", alpha=0.35 + 0.65 / number, linewidth=1.5, marker="o", markersize=6)
        ax.annotate(str(number), front[0], xytext=(-4, 8), textcoords="offset points", weight="bold", color="0.2")
    corner = fronts.front(1)[len(fronts.front(1)) // 2]
    ax.fill_between([corner[0], 1.05], corner[1], 1.05, color="tab:green", alpha=0.08)
    ax.set(title="Dyads on their fronts", xlabel="unlike in x", ylabel="unlike in y")
    ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.12))


def draw_depths(ax: Axes) -> None:
    """Draw a new dyad between fronts, and its three depths."""
    x = np.linspace(0, 1, 60)
    levels = (0.12, 0.22, 0.34, 0.48, 0.64, 0.82)
    curves = [np.column_stack([x, level**2 / np.maximum(x, 1e-3)]) for level in levels]
    curves = [curve[(curve <= 1).all(axis=1)] for curve in curves]
    # Each curve is thinned to a few dyads, so that a new one falls between them.
    fronts = [curve[np.linspace(0, len(curve) - 1, 5).astype(int)] for curve in curves]
    starts = np.cumsum([0, *map(len, fronts)])
    known = Fronts(np.concatenate(fronts), starts)
    new = np.array([[0.5, 0.33]])
    for number, front in enumerate(fronts, start=1):
        ax.plot(*front.T, color="tab:green", linewidth=1.2, marker="o", markersize=5)
        ax.annotate(str(number), front[-1], xytext=(6, -3), textcoords="offset points", weight="bold", color="0.2")
    ax.scatter(*new.T, **NEW)
    ax.fill_between([new[0, 0], 1.05], new[0, 1], 1.05, color="tab:red", alpha=0.08)
    ax.fill_between([0, new[0, 0]], 0, new[0, 1], color="tab:blue", alpha=0.08)
    ax.text(1.04, 0.95, "what it dominates", color="tab:red", fontsize=9, ha="right")
    ax.text(0.01, 0.02, "what dominates it", color="tab:blue", fontsize=8)
    named = [f"{kind} {Depths(known, kind).of(new)[0]:g}" for kind in ("paper", "insertion", "mid")]
    # Between the two fronts, so that it hides no dyad.
    ax.annotate(
        "\n".join(named), new[0], xytext=(-4, 8), textcoords="offset points", weight="bold", fontsize=8, ha="right"
    )
    ax.set(title="The three depths of a new dyad", xlabel="unlike in x", ylabel="unlike in y")
    ax.set(xlim=(0, 1.05), ylim=(0, 1.0))


def draw_weights(ax: Axes) -> None:
    """Draw a hollow front, what weights reach of it, and three weighings as lines."""
    points = points_outside_disc(np.random.default_rng(0), 400, 0.7)
    front = Fronts.from_dyads(points).front(1)
    is_reached = scalarizable(front)
    ax.scatter(*points.T, s=6, color="0.8")
    ax.plot(*front.T, color="tab:green", linewidth=1, label="first front")
    ax.scatter(
        *front[is_reached].T, s=70, color="tab:blue", edgecolors="black", zorder=3, label="best for some weights"
    )
    ax.scatter(*front[~is_reached].T, marker="^", label="best for none", **NEW)
    for weight in (0.25, 0.5, 0.75):
        lowest = (front @ [weight, 1 - weight]).min()
        ax.axline((lowest / weight, 0), (0, lowest / (1 - weight)), color="tab:blue", linewidth=0.8, linestyle="--")
    ax.set(title="What weights cannot reach", xlabel="unlike in x", ylabel="unlike in y", xlim=(0, 1), ylim=(0, 1))
    ax.legend(fontsize=8, loc="upper right")


def main() -> None:
    """Write the figures."""
    FOLDER.mkdir(exist_ok=True)
    dyads = Figure(figsize=(9, 3.8), layout="constrained")
    draw_dyads(*dyads.subplots(1, 2))
    single = {"dyads": dyads}
    for name, draw in (("fronts", draw_fronts), ("depths", draw_depths), ("weights", draw_weights)):
        single[name] = Figure(figsize=(6, 4.6), layout="constrained")
        draw(single[name].subplots())
    for name, figure in single.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=100)


if __name__ == "__main__":
    main()
