"""Tables of an experiment, as rows to print, as CSV and as Markdown; the page that shows them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Table:
    """A table of an experiment.

    Attributes
    ----------
    name : str
        Names the CSV file.
    caption : str
    columns : sequence of str
    rows : sequence of sequences of str
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_csv(self, path: Path) -> None:
        """Write the table to a file."""
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.columns, *self.rows])

    def to_markdown(self) -> str:
        """Return the table with its caption."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(["| " + " | ".join(line) + " |" for line in lines]) + f"\n\n{self.caption}\n"


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: ArrayLike) -> Mean:
        """Return the mean of the values of independent runs; its error is NaN for a single run."""
        array = np.asarray(values, dtype=np.float64)
        error = array.std(ddof=1) / len(array) ** 0.5 if len(array) > 1 else np.nan
        return cls(float(array.mean()), float(error))

    def __str__(self) -> str:
        """Return the mean and, where known, its error."""
        return f"{self.value:.3f}" if np.isnan(self.error) else f"{self.value:.3f} ± {self.error:.3f}"

    def distance(self, other: Mean) -> str:
        """Return how far this mean is above the other one, in standard errors of the difference."""
        error = float(np.hypot(self.error, other.error))
        return f"{(self.value - other.value) / error:+.1f}" if error > 0 else "–"
