"""Pictures; each function draws on an Axes and returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paretodepth.fronts.fronts import Fronts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_DOTS = 20_000


def plot_fronts(ax: Axes, fronts: Fronts, *, n_lines: int = 20, last: int | None = None) -> Axes:
    """Draw two-criteria dyads as dots and some of their fronts as lines.

    Parameters
    ----------
    ax : matplotlib Axes
    fronts : Fronts
        Fronts of dyads under two criteria.
    n_lines : int, default=20
        How many fronts to draw, evenly spaced from the first to `last`.
    last : int or None, default=None
        The last front to draw; None for the deepest.

    Returns
    -------
    ax : matplotlib Axes
    """
    dots = fronts.dyads
    if len(dots) > MAX_DOTS:
        dots = dots[np.random.default_rng(0).choice(len(dots), MAX_DOTS, replace=False)]
    ax.scatter(dots[:, 0], dots[:, 1], s=2, color="0.75", linewidths=0, rasterized=True, label="nominal dyads")
    numbers = np.unique(np.linspace(1, last or len(fronts), n_lines).astype(int))
    label = f"{'' if len(numbers) == numbers[-1] else f'{len(numbers)} of '}fronts 1 to {numbers[-1]}"
    for number in numbers:
        ax.plot(*fronts.front(number).T, color="tab:green", linewidth=0.8, label=label if number == 1 else None)
    return ax


def plot_new_dyads(ax: Axes, dyads: NDArray[np.float64], *, color: str, marker: str, label: str) -> Axes:
    """Draw the dyads of a new sample, shape (n_dyads, 2), over those of `plot_fronts`.

    Parameters
    ----------
    ax : matplotlib Axes
    dyads : ndarray of shape (n_dyads, 2)
    color, marker, label : str
        As in matplotlib.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax.scatter(
        dyads[:, 0],
        dyads[:, 1],
        s=45,
        color=color,
        marker=marker,
        edgecolors="black",
        linewidths=0.6,
        zorder=3,
        label=label,
    )
    return ax


def plot_explanation(
    ax: Axes,
    *,
    names: Sequence[str],
    distances: NDArray[np.float64],
    usual_distances: NDArray[np.float64],
    notes: Sequence[str],
    is_far: NDArray[np.bool_],
) -> Axes:
    """Draw how far a sample is from the nominal ones in each criterion, over the range that is usual.

    Parameters
    ----------
    ax : matplotlib Axes
    names : sequence of str
        Of the criteria.
    distances : ndarray of shape (n_criteria,)
        Multiples of the nominal median.
    usual_distances : ndarray of shape (2, n_criteria)
        Between these are most nominal samples.
    notes : sequence of str
        Written at the right of each criterion.
    is_far : ndarray of shape (n_criteria,)

    Returns
    -------
    ax : matplotlib Axes
    """
    rows = np.arange(len(names))
    low, high = usual_distances
    ax.barh(rows, high - low, left=low, height=0.5, color="0.85", label="nine tenths of the nominal samples")
    ax.axvline(1.0, color="0.5", linewidth=0.8, label="their median")
    for shown, color, marker, label in ((~is_far, "tab:blue", "o", "this sample"), (is_far, "tab:red", "^", "far")):
        if shown.any():
            ax.scatter(
                distances[shown], rows[shown], color=color, marker=marker, edgecolors="black", zorder=3, label=label
            )
    for row, note in zip(rows, notes, strict=True):
        ax.annotate(note, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    positive = np.concatenate([distances, low, [1.0]])
    ax.set_xscale("symlog", linthresh=max(positive[positive > 0].min(), 1e-3))
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("distance to the nearest nominal samples, 1 is usual")
    ax.xaxis.set_major_formatter("{x:g}")
    # Below the label of the axis, however high the axes are.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5, ncols=4, fontsize=8, frameon=False)
    return ax
