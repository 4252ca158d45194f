"""Transformers of scikit-learn between a criterion's columns and its metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.samples import table_rows
from paretodepth.criteria.values import Columns

N_PROBES = 16


def transformer_input(columns: Columns, *, is_single: bool) -> NDArray[Any]:
    """Return what a transformer is given: a table, or the values of a single column of objects.

    As with scikit-learn's ColumnTransformer, a column of strings named alone (not in a
    list) comes as an array of shape (n_samples,), which text vectorizers expect.
    """
    if is_single and len(columns.arrays) == 1 and columns.arrays[0].dtype.kind == "O":
        return columns.arrays[0]
    return table_rows(columns)


def transformed(transformer: Any, samples: NDArray[Any], name: str, *, alone: bool) -> Columns:
    """Return a fitted transformer's output as columns, each sample transformed on its own if `alone`."""
    if alone:
        rows = [_output(transformer, samples[i : i + 1], name) for i in range(len(samples))]
        output = np.concatenate(rows)
    else:
        output = _output(transformer, samples, name)
    reader = f"the criterion '{name}', transformed,"
    if output.dtype.kind in "fiub":
        return Columns([output], ["output"], reader)
    return Columns(list(output.T.astype(object)), [str(column) for column in range(output.shape[1])], reader)


def _output(transformer: Any, samples: NDArray[Any], name: str) -> NDArray[Any]:
    output: NDArray[Any] = check_transformed(transformer.transform(samples), len(samples), name)
    return output


def is_batch_stable(transformer: Any, samples: NDArray[Any], name: str) -> bool:
    """Tell whether a transformer gives some training samples the same bits alone and in their batch.

    Products of matrices, as in PCA, do not; such a transformer is given one sample at a time.
    """
    probes = np.linspace(0, len(samples) - 1, min(N_PROBES, len(samples)), dtype=int)
    together = _output(transformer, samples, name)[probes]
    alone = np.concatenate([_output(transformer, samples[i : i + 1], name) for i in probes])
    return np.array_equal(alone, together, equal_nan=together.dtype.kind == "f")


def check_transformed(output: Any, n_samples: int, name: str) -> Any:
    """Return a transformer's output, a dense array with one row a sample."""
    array = np.asarray(output.toarray() if hasattr(output, "toarray") else output)
    if array.ndim not in (1, 2) or len(array) != n_samples:
        raise ValueError(
            f"The transform of the criterion '{name}' must return one row a sample, {n_samples} in all. "
            f"Got the shape {array.shape} instead."
        )
    return array.reshape(n_samples, -1)
