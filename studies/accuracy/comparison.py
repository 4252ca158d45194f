"""Methods compared by their areas under the ROC curve: means, ranks, and where the blend loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import rankdata

from studies.accuracy.scores import BLEND
from studies.runs import Values
from studies.tables import Mean, Table

BEST = "k-NN sum, best weight"
WITH_LABELS = ("k-NN sum, median weight", BEST)
"""Methods that nobody can use without labels, as these choose the weight."""
CLOSE = 0.015
NOTABLE = 0.005
"""By how much one method must be better than another to be counted."""
MAX_NAMED = 8
"""Losses that are named at most."""


@dataclass(frozen=True)
class Comparison:
    """Areas of methods in several places.

    Attributes
    ----------
    noun : str
        What a place is, "regime" or "table".
    places, methods : list of str
    areas : ndarray of shape (n_runs, n_places, n_methods)
    """

    noun: str
    places: list[str]
    methods: list[str]
    areas: NDArray[np.float64]

    @classmethod
    def of(cls, runs: Sequence[Values], noun: str, places: Sequence[str]) -> Comparison:
        """Return the comparison of runs, which hold each method's area by place."""
        methods = list(runs[0][places[0]])
        areas = np.array([[[run[place][method] for method in methods] for place in places] for run in runs])
        return cls(noun, list(places), methods, areas)

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Mean areas, a row a place."""
        means: NDArray[np.float64] = self.areas.mean(axis=0)
        return means

    @cached_property
    def is_label_free(self) -> NDArray[np.bool_]:
        """Which methods can be used without labels."""
        return np.array([method not in WITH_LABELS for method in self.methods])

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """By how much each method is behind the best label-free one, a row a place."""
        losses: NDArray[np.float64] = self.means[:, self.is_label_free].max(axis=1)[:, None] - self.means
        return losses

    def tables(self) -> list[Table]:
        """Return the summary over all places, and the areas in each."""
        ranks = rankdata(-self.means, axis=1).mean(axis=0)
        free_ranks = np.full(len(self.methods), np.nan)
        free_ranks[self.is_label_free] = rankdata(-self.means[:, self.is_label_free], axis=1).mean(axis=0)
        gains = self.means[:, [self.methods.index(BLEND)]] - self.means
        n_places = len(self.places)
        summary = [
            [
                method,
                f"{self.means[:, i].mean():.4f}",
                f"{ranks[i]:.2f}",
                f"{free_ranks[i]:.2f}" if self.is_label_free[i] else "needs labels",
                f"{self.losses[:, i].max():.3f} ({self.places[int(self.losses[:, i].argmax())]})",
                f"{np.count_nonzero(self.losses[:, i] <= CLOSE)} of {n_places}",
                "–" if method == BLEND else _gain(gains[:, i]),
            ]
            for i, method in enumerate(self.methods)
        ]
        columns = ["method", "mean area", "mean rank", "among label-free", "largest loss", f"within {CLOSE}"]
        caption = (
            f"Over {n_places} {self.noun}s, each the mean of {len(self.areas)} runs. Rank 1 is the best. Losses are to "
            f"the best label-free method of a {self.noun}. The last column is the mean gain of the blend ± standard "
            f"error over the {self.noun}s, and in how many it is better and worse by more than {NOTABLE}. "
            f"{self.losing()}"
        )
        rows = [
            [place, *(str(Mean.of(self.areas[:, row, i])) for i in range(len(self.methods)))]
            for row, place in enumerate(self.places)
        ]
        every = "Area under the ROC curve, mean ± standard error. All methods see the same samples."
        return [
            Table("summary", caption, [*columns, f"gain of the {BLEND}"], summary),
            Table("areas", every, [self.noun, *self.methods], rows),
        ]

    def losing(self) -> str:
        """Say in words where the blend is behind others, the largest losses first."""
        losses = self.losses[:, self.methods.index(BLEND)]
        free = np.flatnonzero(self.is_label_free)
        order = np.argsort(-losses, kind="stable")
        lost = [place for place in order if losses[place] > CLOSE]
        is_best = losses == 0
        said = (
            f"**Where the blend loses**: it is the best label-free method in {np.count_nonzero(is_best)} of "
            f"{len(losses)} {self.noun}s and within {CLOSE} of the best in {len(losses) - len(lost)}."
        )
        if not lost:
            return f"{said} Nowhere does it lose more."
        named = []
        for place in lost[:MAX_NAMED]:
            winner = self.methods[free[self.means[place, free].argmax()]]
            named.append(f"{self.places[place]} ({losses[place]:.3f} behind {winner})")
        others = f" and {len(lost) - MAX_NAMED} more" if len(lost) > MAX_NAMED else ""
        return f"{said} It loses more in {', '.join(named)}{others}."

    def figure(self) -> Figure:
        """Draw each method's loss to the best label-free one in each place."""
        free = np.flatnonzero(self.is_label_free)
        order = free[self.losses[:, free].mean(axis=0).argsort()]
        figure = Figure(figsize=(8, 5), layout="constrained")
        ax = figure.subplots()
        ax.boxplot(self.losses[:, order], orientation="horizontal", whis=(0, 100))
        ax.axvline(CLOSE, color="0.6", linestyle=":", label=f"{CLOSE}")
        ax.set_yticks(range(1, len(order) + 1), [self.methods[i] for i in order])
        ax.invert_yaxis()
        title = f"{len(self.places)} {self.noun}s, {len(self.areas)} runs each"
        ax.set(xlabel="loss of area to the best label-free method", title=title)
        ax.legend()
        return figure


def _gain(gains: NDArray[np.float64]) -> str:
    """Return the mean of gains, and how many are above and below zero by a notable amount."""
    mean = Mean.of(gains)
    error = "" if np.isnan(mean.error) else f" ± {mean.error:.3f}"
    n_better, n_worse = np.count_nonzero(gains > NOTABLE), np.count_nonzero(gains < -NOTABLE)
    return f"{mean.value:+.3f}{error}, {n_better} and {n_worse}"
