"""What a criterion is: a name, the columns it reads and a dissimilarity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from paretodepth.validation import (
    check_all_or_none,
    check_columns,
    check_dissimilarities,
    check_instances,
    check_metric,
    check_names,
)

BlockMetric = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
Columns = str | int | Iterable[str] | Iterable[int] | None

CDIST_METRICS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "dice",
    "euclidean",
    "hamming",
    "jaccard",
    "jensenshannon",
    "minkowski",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)
"""The metrics of `scipy.spatial.distance.cdist` that estimate nothing from the data."""

PRECOMPUTED = "precomputed"


@dataclass(frozen=True)
class Criterion:
    """One way to say how unlike two samples are.

    Parameters
    ----------
    name : str
        Stands in messages, tables and pictures.
    columns : str, int or iterable of these, default=None
        The columns it reads, by index or, for data frames, by name. None: all columns.
    metric : str or callable, default="euclidean"
        A metric of :func:`scipy.spatial.distance.cdist` that needs no parameter;
        a callable ``f(A, B)`` that takes arrays of shape (a, n_columns) and (b, n_columns)
        and returns the dissimilarities as an array of shape (a, b); or ``"precomputed"``
        if the detector is given dissimilarity matrices in place of samples.

    Notes
    -----
    Front numbers are ranks, so a rounding error can move a sample by a whole front. A
    callable should therefore give a pair the same value, to the last bit, whatever other
    samples are in the block: sums of products of whole matrices do not.

    Examples
    --------
    >>> from paretodepth import Criterion
    >>> Criterion("place", columns=["x", "y"])
    Criterion(name='place', columns=['x', 'y'], metric='euclidean')
    """

    name: str
    columns: Columns = None
    metric: str | BlockMetric = "euclidean"

    @property
    def is_precomputed(self) -> bool:
        """Whether the criterion reads dissimilarity matrices."""
        return isinstance(self.metric, str) and self.metric == PRECOMPUTED

    def dissimilarities(
        self, A: NDArray[np.float64], B: NDArray[np.float64], origin: tuple[int, int] = (0, 0)
    ) -> NDArray[np.float64]:
        """Return the dissimilarities of each row of `A` to each row of `B`, checked.

        Of a precomputed criterion `A` already holds them. `origin` numbers the first
        row and column in messages.
        """
        if self.is_precomputed:
            return A
        # The metric is computed pair by pair: a matrix product would round differently in another batch.
        block = self.metric(A, B) if callable(self.metric) else cdist(A, B, self.metric)
        return check_dissimilarities(block, (len(A), len(B)), self.name, origin)


def resolve_criteria(criteria: object, caller: str) -> list[Criterion] | None:
    """Return the given criteria, checked as far as possible without data, or None for none given."""
    if criteria is None:
        return None
    checked: list[Criterion] = check_instances(criteria, "criteria", Criterion, caller)
    check_names([criterion.name for criterion in checked], caller)
    for criterion in checked:
        check_metric(criterion.metric, criterion.name, (*CDIST_METRICS, PRECOMPUTED))
    check_all_or_none({criterion.name: criterion.is_precomputed for criterion in checked}, PRECOMPUTED, caller)
    return checked


def bind_columns(
    criteria: Sequence[Criterion] | None, n_features: int, feature_names: Sequence[str] | None
) -> list[Criterion]:
    """Return the criteria with columns as indices; by default one per column, the absolute difference."""
    if criteria is None:
        names = feature_names if feature_names is not None else [f"x{column}" for column in range(n_features)]
        return [Criterion(str(name), [column], "cityblock") for column, name in enumerate(names)]
    return [
        replace(criterion, columns=check_columns(criterion.columns, criterion.name, n_features, feature_names))
        for criterion in criteria
    ]


def view_samples(criteria: Sequence[Criterion], X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return what each criterion sees of the samples: its own columns."""
    return [np.ascontiguousarray(X[:, _as_index(criterion.columns)]) for criterion in criteria]


def _as_index(columns: Any) -> list[int]:
    return list(columns)
