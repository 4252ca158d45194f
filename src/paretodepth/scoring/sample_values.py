"""What samples have in the columns that criteria read, beside what is usual there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.reference_range import ComparedValue, ReferenceRange
from paretodepth.criteria.values import Columns, is_missing
from paretodepth.scoring.model import Model
from paretodepth.scoring.value_words import plain

LINE_METRICS = ("dtw", "hausdorff", "frechet")
"""Metrics that compare values or points along series and trajectories as they are."""
N_NEAR = 5
"""Nearest training samples in one criterion whose values in another are told."""


class SampleValues(NamedTuple):
    """What samples have in the columns that criteria read.

    Attributes
    ----------
    columns : tuple
        For each criterion and column whose values can be told: the criterion by index, what is usual, the values.
    texts : dict
        For each criterion of text, by index: the samples' texts, and those of their nearest training samples.
    training : dict
        For each criterion whose metric sees its columns one by one, by index: the criterion, and what it sees of
        the training samples.
    lines : dict
        For each criterion of series and trajectories, by index: what it sees of the samples and of the training
        samples, as points along them.
    near : tuple of ndarray of shape (n_samples, n_near)
        For each criterion the nearest training samples.
    is_own : ndarray of shape (n_samples,)
        Whether each is a training sample itself.
    """

    columns: tuple[tuple[int, ReferenceRange, Any], ...] = ()
    texts: Mapping[int, tuple[Any, Any]] = {}
    training: Mapping[int, tuple[FittedCriterion, Encoding]] = {}
    lines: Mapping[int, tuple[Encoding, Encoding]] = {}
    near: tuple[NDArray[np.intp], ...] = ()
    is_training_sample: NDArray[np.bool_] | None = None

    def of(self, sample: int) -> dict[int, list[ComparedValue]]:
        """Return the values of a sample by criterion, the oddest first."""
        found: dict[int, list[ComparedValue]] = {}
        is_training_sample = self.is_training_sample is not None and bool(self.is_training_sample[sample])
        for criterion, usual, values in self.columns:
            found.setdefault(criterion, []).append(
                usual.compared(values[sample], is_training_sample=is_training_sample)
            )
        return {criterion: sorted(values, key=lambda value: -value.unusualness) for criterion, values in found.items()}

    def to_columns(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the values and what is usual as columns of a data frame, given the criteria's names."""
        columns: dict[str, list[Any]] = {}
        n_columns = Counter(criterion for criterion, _, _ in self.columns)
        for criterion, usual, values in self.columns:
            is_training_sample = (
                np.zeros(len(values), bool) if self.is_training_sample is None else self.is_training_sample
            )
            told = [
                usual.compared(value, is_training_sample=own)
                for value, own in zip(values, is_training_sample.tolist(), strict=True)
            ]
            title = names[criterion] if n_columns[criterion] == 1 else f"{names[criterion]}, {usual.name}"
            columns[f"{title}: value"] = [plain(value.value, value.kind) for value in told]
            if usual.kind == "category":
                columns[f"{title}: n_same"] = [value.n_same for value in told]
                continue
            columns[f"{title}: usual_low"] = [plain(value.low, value.kind) for value in told]
            columns[f"{title}: usual_high"] = [plain(value.high, value.kind) for value in told]
            columns[f"{title}: direction"] = [value.direction for value in told]
            columns[f"{title}: value_percentile"] = [value.percentile for value in told]
        return columns

    def texts_of(self, sample: int) -> dict[int, tuple[str, str]]:
        """Return the text of a sample and that of its nearest training sample, by criterion."""
        return {criterion: (own[sample], nearest[sample]) for criterion, (own, nearest) in self.texts.items()}

    def beside(self, sample: int, kept: int, other: int) -> ComparedValue | None:
        """Return what a sample has in one criterion and none of its nearest in another has, where that is most odd."""
        if other not in self.training:
            return None
        fitted, encoding = self.training[other]
        near = encoding[self.near[kept][sample]]
        odd: list[tuple[float, ComparedValue]] = []
        for _, usual, values in (part for part in self.columns if part[0] == other):
            others = fitted.decoded(usual, near)
            if not is_missing(values[sample]) and not any(map(is_missing, others)):
                value = usual.beside(values[sample], others)
                if value.direction:
                    odd.append((value.beyond(usual.low, usual.high), value))
                elif value.kind == "category" and not value.n_same:
                    odd.append((1.0, value))
        return max(odd, key=lambda part: part[0])[1] if odd else None

    def along(self, sample: int, criterion: int, n_equal: int) -> tuple[int, int] | None:
        """Return at which point, of how many, a series or trajectory is farthest from that of its nearest."""
        if criterion not in self.lines or n_equal:
            return None
        own, training = self.lines[criterion]
        apart = _apart(own[sample], training[self.near[criterion][sample, 0]])
        return None if apart is None else (1 + int(apart.argmax()), len(apart))


def _apart(own: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return how far each point of a line is from the other line.

    Values are compared with those at the same place, if there are as many; points in the plane with the nearest.
    """
    if own.ndim == 1:
        return np.abs(own - other) if len(own) == len(other) else None
    distances: NDArray[np.float64] = np.sqrt(((own[:, None] - other) ** 2).sum(axis=2)).min(axis=1)
    return distances


NO_VALUES = SampleValues()


def sample_values(
    model: Model, columns: Columns, neighbors: list[NDArray[np.intp]], is_training_sample: NDArray[np.bool_]
) -> SampleValues:
    """Return what samples have, given their columns, the rows of their nearest, and which are training samples."""
    near = tuple(np.searchsorted(model.rows, rows[:, :N_NEAR]) for rows in neighbors)
    training: dict[int, tuple[FittedCriterion, Encoding]] = {}
    found: list[tuple[int, ReferenceRange, Any]] = []
    texts: dict[int, tuple[Any, Any]] = {}
    lines: dict[int, tuple[Encoding, Encoding]] = {}
    for place, fitted in enumerate(model.criteria.fitted):
        metric = fitted.criterion.registered
        for usual in fitted.typical:
            found.append((place, usual, fitted.values(usual, columns)))
        encoding = model.training[place]
        if fitted.typical and encoding.ndim == 2 and encoding.shape[1] == len(fitted.columns):
            training[place] = (fitted, encoding)
        if metric is not None and fitted.transform is None and metric.name in LINE_METRICS:
            lines[place] = (fitted.encode(columns), encoding)
        if metric is not None and metric.kind == "text" and fitted.transform is None:
            texts[place] = (columns.arrays[fitted.columns[0]], model.training[place][near[place][:, 0]])
    return SampleValues(tuple(found), texts, training, lines, near, is_training_sample)
