"""Samples that lack a value: which are kept, and what criteria see of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.criterion import Criterion, Missing
from paretodepth.criteria.values import Columns, Origin, check_no_missing, column_number, missing_entries


@dataclass(frozen=True)
class EncodedSamples:
    """What criteria see of samples.

    Attributes
    ----------
    views : list of ndarray
        A view a criterion, of the samples that lack no value; empty if all do.
    rows : ndarray of int
        Which samples these are.
    n_samples : int
        How many there are in all.
    index : pandas.Index or None
        Of the data frame that they came in.
    columns : Columns or None
        Those that lack no value as they came, if that is known.
    """

    encodings: list[NDArray[Any]]
    rows: NDArray[np.intp]
    n_samples: int
    index: Any = None
    columns: Columns | None = None

    @property
    def labels(self) -> Any:
        """What the samples seen are called: by the frame's index or, if some are not seen, by number; None: in turn."""
        if self.index is not None:
            return self.index[self.rows]
        return None if len(self.rows) == self.n_samples else self.rows

    def columns_of(self, rows: NDArray[np.intp]) -> Columns | None:
        """Return some of the samples seen as columns, in the given order, by their rows among all."""
        if self.columns is None:
            return None
        places = np.searchsorted(self.rows, rows)
        return replace(self.columns, arrays=[array[places] for array in self.columns.arrays], rows=rows)

    def with_nan_for_dropped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the samples seen with NaN for the others between them."""
        if len(self.rows) == self.n_samples:
            return values
        spread = np.full((self.n_samples, *values.shape[1:]), np.nan)
        spread[self.rows] = values
        return spread


def frame_index(X: Any) -> Any:
    """Return the index of a data frame or series of pandas, None for anything else."""
    if isinstance(X, np.ndarray):
        return None
    is_pandas = nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pandas_series(X)
    return X.index if is_pandas else None


def kept_rows(
    bound: Sequence[tuple[Criterion, list[int]]], table: Columns, missing: Missing | None = None
) -> NDArray[np.intp]:
    """Return the rows that no criterion drops, and refuse missing values in these where a criterion must not fail."""
    columns: dict[str, set[int]] = {"fail": set(), "drop": set(), "ignore": set()}
    for criterion, indices in bound:
        columns[_missing_rule(criterion, missing)].update(indices)
    is_kept = np.ones(len(table), dtype=bool)
    for index in columns["drop"]:
        is_kept &= ~missing_entries(table.arrays[index])
    rows = np.flatnonzero(is_kept)
    read = sorted(columns["fail"])
    if read and len(rows):
        strict = replace(table, arrays=[table.arrays[i] for i in read], names=[table.names[i] for i in read])
        check_no_missing(part_of(strict, rows))
    return rows


def _missing_rule(criterion: Criterion, missing: Missing | None) -> Missing:
    """Return what becomes of samples that lack a value; a transformer is given them unless they are to be dropped."""
    if criterion.is_precomputed or (criterion.transform is not None and criterion.missing != "drop"):
        return "ignore"
    return criterion.missing if missing is None or criterion.missing == "ignore" else missing


def part_of(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Return some rows of columns, which keep their numbers."""
    if len(rows) == len(columns):
        return columns
    return replace(columns, arrays=[array[rows] for array in columns.arrays], rows=rows)


def check_common(block: NDArray[np.float64], name: str, origin: Origin, *, n_columns: int) -> NDArray[np.float64]:
    """Return a block in which every pair of samples has some column in common."""
    nothing = np.argwhere(np.isnan(block))
    if len(nothing):
        row, column = nothing[0]
        alone = "a criterion of one column cannot ignore its gaps, so " if n_columns == 1 else ""
        raise ValueError(
            f"The criterion '{name}' must find a column that both samples of a pair have. Got none for sample "
            f"{origin[0] + row} and training sample {column_number(origin, column)}; {alone}impute a value, or set "
            "missing='drop' to leave out samples that lack one."
        )
    return block
