"""Dissimilarities: precomputed matrices, and the blocks that metrics return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import listed
from paretodepth.criteria.values import check_dissimilarities

MATRIX_ROWS = 256
"""Rows of a precomputed matrix that are checked at a time."""


def check_matrices(
    X: object, names: Sequence[str], n_samples: int | None, caller: str, first_row: int = 0
) -> list[NDArray[Any]]:
    """Return one dissimilarity matrix per precomputed criterion.

    The matrices are square, with as many rows as there are training samples, at fit
    (`n_samples` None) and have one column per training sample afterwards.
    """
    if isinstance(X, Mapping):
        if set(X) != set(names):
            raise ValueError(
                f"The matrices given to {caller} must be one per criterion, {listed(names)}. "
                f"Got {listed(sorted(map(str, X)))} instead."
            )
        X = [X[name] for name in names]
    if not isinstance(X, Sequence | np.ndarray) or (isinstance(X, np.ndarray) and X.ndim != 3):
        got = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
        raise TypeError(
            f"The precomputed criteria of {caller} need a sequence or a dict of matrices, one per criterion. "
            f"Got {got} instead; wrap a single matrix in a list."
        )
    if len(X) != len(names):
        raise ValueError(
            f"The matrices given to {caller} must be one per criterion, {listed(names)}. Got {len(X)} instead."
        )
    matrices = [check_matrix(matrix, name, n_samples, first_row) for matrix, name in zip(X, names, strict=True)]
    for matrix, name in zip(matrices, names, strict=True):
        if matrix.shape != matrices[0].shape:
            raise ValueError(
                f"The matrices given to {caller} must all have one shape. Got {matrices[0].shape} for '{names[0]}' "
                f"and {matrix.shape} for '{name}'."
            )
    return matrices


def check_matrix(matrix: object, name: str, n_samples: int | None, first_row: int = 0) -> NDArray[Any]:
    """Return one matrix of finite, non-negative dissimilarities of the right shape, with the dtype it has."""
    expected = f"The matrix of the precomputed criterion '{name}' must"
    if np.ma.is_masked(matrix):
        raise TypeError(f"{expected} have no masked entries. Got some; fill them in, or drop their samples.")
    array = np.asarray(matrix)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise TypeError(
            f"{expected} be a two-dimensional array of numbers. Got the shape {array.shape} and dtype {array.dtype}."
        )
    # Row by row, so that a matrix on disk is never held in memory.
    blocks = [slice(start, start + MATRIX_ROWS) for start in range(0, len(array), MATRIX_ROWS)]
    for rows in blocks:
        check_dissimilarities(array[rows], array[rows].shape, name, (first_row + rows.start, 0))
    if n_samples is not None:
        if array.shape[1] != n_samples:
            raise ValueError(
                f"{expected} have one column per training sample, {n_samples}. Got the shape {array.shape} instead; "
                "row i holds the dissimilarities of new sample i to the training samples."
            )
        return array
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{expected} be square at fit, one row and one column per training sample. "
            f"Got the shape {array.shape} instead."
        )
    if np.any(np.diagonal(array) != 0):
        sample = int(np.flatnonzero(np.diagonal(array))[0])
        raise ValueError(
            f"{expected} have a zero diagonal. Got {array[sample, sample]} for sample {sample} instead; "
            "is it a similarity?"
        )
    for rows in blocks:
        unequal = np.argwhere(~np.isclose(array[rows], array[:, rows].T, rtol=1e-8, atol=0.0))
        if len(unequal):
            i, j = unequal[0] + [rows.start, 0]
            raise ValueError(
                f"{expected} be symmetric. Got {array[i, j]} for the pair ({i}, {j}) and {array[j, i]} for "
                f"({j}, {i}); average the matrix with its transpose if that is meant."
            )
    return array
