"""Dissimilarities that add up over columns, of what both samples have."""

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled


@compiled
def sum_columns(
    A: NDArray[np.float64],
    B: NDArray[np.float64],
    comparisons: NDArray[np.intp],
    weights: NDArray[np.float64],
    periods: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each row of `A` and of `B` the weighted sum of how their columns differ, shape (a, b).

    A column's comparison is 0 for the absolute difference, 1 for its square, 2 for
    whether the values differ, 3 for the difference on a circle of the column's period.
    NaN stands for a missing value. The sum over the columns that both rows have is scaled
    up to all columns; it is NaN if they have none in common.
    """
    n_columns = A.shape[1]
    sums = np.empty((A.shape[0], B.shape[0]))
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            n_present = 0
            for column in range(n_columns):
                a, b = A[i, column], B[j, column]
                # Left out pair by pair: a value filled in for all would bring the sample nearer to some of them.
                if np.isnan(a) or np.isnan(b):
                    continue
                n_present += 1
                difference = abs(a - b)
                if comparisons[column] == 1:
                    difference *= difference
                elif comparisons[column] == 2:
                    difference = 0.0 if a == b else 1.0
                elif comparisons[column] == 3:
                    difference = min(difference, periods[column] - difference)
                total += weights[column] * difference
            if n_present == 0:
                total = np.nan
            elif n_present < n_columns:
                total *= n_columns / n_present
            sums[i, j] = total
    return sums
