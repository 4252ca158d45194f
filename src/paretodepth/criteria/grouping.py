"""Columns of numbers that vary together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from paretodepth._blocks import rank_correlations

ALIKE = 0.1
"""Mean of 1 − |Spearman| up to which columns are nearly the same, and are joined in any case."""


def number_groups(
    columns: NDArray[np.float64], max_groups: int, is_loose: Sequence[bool] | None = None
) -> list[list[int]]:
    """Return groups of columns that vary together.

    Every column starts as a group of its own. The two groups are joined whose columns have the smallest mean of
    1 − |Spearman's correlation| (average linkage), until there are at most `max_groups` and none within `ALIKE`.
    Loose columns form no group; in the end each goes to the one with which its mean |correlation| is the largest.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
        NaN where a value is missing: it counts as a middle one.
    max_groups : int
    is_loose : sequence of bool or None
        Not of all columns.

    Returns
    -------
    groups : list of lists of int
        In the order of their first columns.

    Examples
    --------
    >>> from paretodepth.criteria.grouping import number_groups
    >>> height = np.array([1.0, 5, 2, 4, 3])
    >>> number_groups(np.column_stack([height, [3, 1, 2, 5, 4], -2 * height]), 2)
    [[0, 2], [1]]
    """
    likeness = np.abs(rank_correlations(columns))
    loose = np.zeros(columns.shape[1], dtype=bool) if is_loose is None else np.asarray(is_loose)
    firm = np.flatnonzero(~loose)
    groups = {number: [int(column)] for number, column in enumerate(firm)}
    if len(firm) > 1:
        tree = linkage(squareform(1 - likeness[np.ix_(firm, firm)], checks=False), "average")
        for number, (first, second, distance, _) in enumerate(tree, start=len(firm)):
            if len(groups) <= max_groups and distance > ALIKE:
                break
            groups[number] = groups.pop(int(first)) + groups.pop(int(second))
    found = sorted(sorted(group) for group in groups.values())
    nearest = [int(np.argmax([likeness[column, group].mean() for group in found])) for column in np.flatnonzero(loose)]
    for column, group in zip(np.flatnonzero(loose), nearest, strict=True):
        found[group].append(int(column))
    return sorted(sorted(group) for group in found)
