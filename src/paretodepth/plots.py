"""Plots; each function draws on the Axes it is given, or on new ones, and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._checks import check_count, check_extra, check_optional_count, is_real, shortened
from paretodepth.fronts.fronts import Fronts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["plot_explanation", "plot_fronts", "plot_new_dyads", "plot_scores"]

MAX_DOTS = 20_000
FAR_BEYOND = 5
"""How many times the threshold scores may reach on a linear axis."""


def new_axes(height: float) -> Axes:
    """Return the axes of a new figure of pyplot, which a notebook shows."""
    ax: Axes = check_extra("matplotlib.pyplot", "report").subplots(figsize=(8, height), layout="constrained")[1]
    return ax


def plot_scores(
    scores: ArrayLike,
    threshold: float,
    *,
    new_scores: ArrayLike | None = None,
    n_bins: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """Plot the distribution of nominal scores and of new scores, and the threshold above which samples are flagged.

    Larger is more unusual, so the detector's signs are reversed. Heights are shares of the nominal and of the new
    samples; each new one above the threshold is also marked. The dotted line, with the scale at the right, is the
    p-value that a score has among the nominal ones. If scores reach far beyond the threshold, the axis is logarithmic
    from there on.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Of the nominal samples: ``-detector.training_scores_``.
    threshold : float
        Samples above it are flagged: ``-detector.offset_``.
    new_scores : array-like of shape (n_new_samples,) or None, default=None
        Of new samples, if there are any: ``-detector.score_samples(X)``.
    n_bins : int, default=40
        Into how many bins all scores are counted.
    ax : matplotlib Axes or None, default=None
        None for a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from paretodepth import ParetoDepthDetector
    >>> from paretodepth.plots import plot_scores
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> detector = ParetoDepthDetector().fit(X)
    >>> new_scores = -detector.score_samples([[0.5, 0.5], [3.0, 3.0]])
    >>> ax = plot_scores(-detector.training_scores_, -detector.offset_, new_scores=new_scores)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][2:4]
    ['2 new samples', '1 of them flagged']
    """
    nominal, threshold = check_scores(scores, "scores"), check_threshold(threshold)
    new = np.empty(0) if new_scores is None else check_scores(new_scores, "new_scores")
    ax = new_axes(4.0) if ax is None else ax
    edges = _bin_edges(ax, np.concatenate([nominal, new]), threshold, n_bins)
    shares = np.histogram(nominal, edges)[0] / len(nominal)
    ax.stairs(shares, edges, fill=True, color="0.8", label=f"{len(nominal):,} nominal samples")
    ax.axvline(threshold, color="black", linestyle="--", linewidth=1, label=f"threshold {threshold:.4g}")
    if len(new):
        shares = np.histogram(new, edges)[0] / len(new)
        ax.stairs(shares, edges, color="tab:blue", linewidth=1.5, label=f"{len(new):,} new samples")
        flagged = new[new > threshold]
        label = f"{len(flagged):,} of them flagged"
        ax.plot(flagged, 0 * flagged, "^", color="tab:red", markeredgecolor="black", clip_on=False, label=label)
    ax.set(xlabel="score, larger is more unusual", ylabel="share of the samples")
    lines = [*ax.get_legend_handles_labels()[0], _plot_p_values(ax, nominal, edges[-1])]
    ax.legend(handles=lines, fontsize=8)
    return ax


def _plot_p_values(ax: Axes, nominal: NDArray[np.float64], largest: float) -> Line2D:
    """Draw the p-value of each score, up to the largest one, on a scale of its own, and return the line."""
    scores, counts = np.unique(nominal, return_counts=True)
    n_as_unusual = counts[::-1].cumsum()[::-1]
    p_values = (1 + np.append(n_as_unusual, 0)) / (1 + len(nominal))
    scale = ax.twinx()
    # A score between two nominal ones has the p-value of the larger.
    (line,) = scale.step(np.append(scores, largest), p_values, "k:", where="pre", linewidth=1, label="p-value")
    scale.set(yscale="log", ylabel="p-value")
    scale.yaxis.set_major_formatter("{x:g}")
    return line


def _bin_edges(ax: Axes, scores: NDArray[np.float64], threshold: float, n_bins: int) -> NDArray[np.float64]:
    """Return edges of bins that are equally wide on the axis, made logarithmic beyond the threshold if need be.

    Surprises, unlike depths, have no bound: on a linear axis one sample far off would squeeze all others into a bin.
    """
    if 0 < threshold * FAR_BEYOND < scores.max():
        ax.set_xscale("symlog", linthresh=threshold, linscale=2)
        ax.set_xticks(_ticks(scores.min(), threshold, scores.max()))
        ax.xaxis.set_major_formatter("{x:g}")
    scale = ax.xaxis.get_transform()
    edges: NDArray[np.float64] = scale.inverted().transform(np.histogram_bin_edges(scale.transform(scores), n_bins))
    # There and back again is not exact, and no score may fall out.
    edges[0], edges[-1] = min(edges[0], scores.min()), max(edges[-1], scores.max())
    return edges


def _ticks(low: float, threshold: float, high: float) -> list[float]:
    """Return where an axis that is logarithmic beyond the threshold is labelled; by itself it is in decades alone."""
    step = 10.0 ** np.floor(np.log10(threshold))
    step *= 1 if threshold < 5 * step else 2
    near = np.arange(np.ceil(low / step), np.ceil(threshold / step)) * step
    return [*near, *_decade_ticks(threshold, high)]


def _decade_ticks(low: float, high: float) -> NDArray[np.float64]:
    """Return round numbers above `low` up to `high`: powers of ten, and two and five times these if they are few."""
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.outer(decades, [1, 2, 5] if len(decades) <= 3 else [1]).ravel()
    return ticks[(ticks > low) & (ticks <= high)]


def check_scores(scores: ArrayLike, parameter: str) -> NDArray[np.float64]:
    """Return the finite scores of at least one sample."""
    array = np.asarray(scores)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ValueError(
            f"The '{parameter}' parameter of plot_scores must be finite numbers, one a sample. "
            f"Got {shortened(scores)} instead."
        )
    return array.astype(np.float64)


def check_threshold(threshold: float) -> float:
    """Return a finite number."""
    if not is_real(threshold) or not np.isfinite(threshold):
        raise ValueError(
            f"The 'threshold' parameter of plot_scores must be a finite number. Got {threshold!r} instead; "
            "it is -detector.offset_."
        )
    return float(threshold)


def plot_fronts(fronts: Fronts, *, n_lines: int = 20, last: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw two-criteria dyads as dots and some of their fronts as lines.

    Parameters
    ----------
    fronts : Fronts
        Fronts of dyads under two criteria, such as ``detector.fronts_`` of two criteria with ``method="depth"``.
    n_lines : int, default=20
        How many fronts to draw, evenly spaced from the first to `last`.
    last : int or None, default=None
        The last front to draw; None for the deepest, as is any number beyond it.
    ax : matplotlib Axes or None, default=None
        None for a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from paretodepth import Fronts
    >>> from paretodepth.plots import plot_fronts
    >>> ax = plot_fronts(Fronts.from_dyads(np.random.default_rng(0).random((500, 2))), last=10)
    >>> len(ax.lines)
    10
    """
    fronts, n_lines = check_plane_fronts(fronts), check_count(n_lines, "n_lines", "plot_fronts")
    last = min(check_optional_count(last, "last", "plot_fronts") or len(fronts), len(fronts))
    ax = new_axes(5.0) if ax is None else ax
    dots = fronts.dyads
    if len(dots) > MAX_DOTS:
        dots = dots[np.random.default_rng(0).choice(len(dots), MAX_DOTS, replace=False)]
    ax.scatter(dots[:, 0], dots[:, 1], s=2, color="0.75", linewidths=0, rasterized=True, label="nominal dyads")
    numbers = np.unique(np.linspace(1, last, n_lines).astype(int))
    label = f"{'' if len(numbers) == numbers[-1] else f'{len(numbers)} of '}fronts 1 to {numbers[-1]}"
    for number in numbers:
        ax.plot(*fronts.front(number).T, color="tab:green", linewidth=0.8, label=label if number == 1 else None)
    return ax


def check_plane_fronts(fronts: object) -> Fronts:
    """Return fronts of two criteria, which can be plotted."""
    if not isinstance(fronts, Fronts):
        raise TypeError(
            f"The 'fronts' parameter of plot_fronts must be Fronts. Got {shortened(fronts)} instead; "
            "a detector with method='depth' has them as fronts_."
        )
    if fronts.dyads.shape[1] != 2 or len(fronts) == 0:
        raise ValueError(
            f"The 'fronts' parameter of plot_fronts must hold dyads under two criteria. Got {fronts!r} instead."
        )
    return fronts


def plot_new_dyads(dyads: NDArray[np.float64], *, ax: Axes, color: str, marker: str, label: str) -> Axes:
    """Draw the dyads of a new sample, shape (n_dyads, 2), over those of `plot_fronts`.

    Parameters
    ----------
    dyads : ndarray of shape (n_dyads, 2)
        Such as ``detector.nearest_dyads([sample])[0]``.
    ax : matplotlib Axes
        Those that `plot_fronts` has drawn on.
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
    *,
    names: Sequence[str],
    distances: NDArray[np.float64],
    usual_distances: NDArray[np.float64],
    notes: Sequence[str],
    is_far: NDArray[np.bool_],
    ax: Axes | None = None,
) -> Axes:
    """Plot how far a sample is from the nominal ones in each criterion, over the typical range.

    ``detector.explain(X).plot(sample)`` fills in all of these and writes the sentence above.

    Parameters
    ----------
    names : sequence of str
        Of the criteria.
    distances : ndarray of shape (n_criteria,)
        Multiples of the nominal median.
    usual_distances : ndarray of shape (2, n_criteria)
        Between these are most nominal samples.
    notes : sequence of str
        Written at the right of each criterion.
    is_far : ndarray of shape (n_criteria,)
        Which criteria to mark.
    ax : matplotlib Axes or None, default=None
        None for a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = new_axes(2.2 + 0.5 * len(names)) if ax is None else ax
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
    linear = max(positive[positive > 0].min(), 1e-3)
    ax.set_xscale("symlog", linthresh=linear)
    ax.set_xticks([*([0.0] if (positive == 0).any() else []), *_decade_ticks(linear, max(*distances, *high, 1.0))])
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("distance to the nearest nominal samples, 1 is typical")
    ax.xaxis.set_major_formatter("{x:g}")
    # Below the label of the axis, however high the axes are.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5, ncols=4, fontsize=8, frameon=False)
    return ax
