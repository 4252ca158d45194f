"""Labelled tables of others: a folder of files, and a task made of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from paretodepth._checks import listed
from paretodepth.criteria.column_kinds import as_numbers
from paretodepth.criteria.samples import table_columns
from paretodepth.criteria.suggestion import Suggestion, check_suggested, suggest_criteria
from paretodepth.criteria.values import Column, missing_entries
from paretodepth.reports.labels import Labels
from paretodepth.tables.files import read_table
from studies.accuracy.regimes import MAX_ANOMALIES, MAX_NOMINAL, MAX_TRAIN, Task, table_name

MIN_NOMINAL, MIN_ANOMALIES = 60, 5
"""Samples that a table must have at least: half of the nominal ones train."""
N_HELD = 4
"""Tables that are kept in memory, for runs side by side."""
Columns = dict[str, Column]


class LabelledTable(NamedTuple):
    """Samples of which all are known to be anomalies or not.

    Attributes
    ----------
    columns : dict of ndarray
        Without the label.
    is_anomaly : ndarray of shape (n_samples,)
    """

    columns: Columns
    is_anomaly: NDArray[np.bool_]


def table_files(folder: Path) -> dict[str, Path]:
    """Return the NPZ and CSV files of a folder by table name, by file name where table names are equal."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".npz", ".csv"))
    names = [table_name(path) for path in files]
    return {
        name if names.count(name) == 1 else path.name: path
        for name, path in zip(names, check_some_files(files, folder), strict=True)
    }


@lru_cache(maxsize=N_HELD)
def read_labelled(path: Path, label: str | None = None) -> LabelledTable:
    """Return the samples of a file.

    Of an NPZ file they are its array X, and y marks the anomalies. Any other table has a column
    of labels, by default the only one that has two values and is named as labels are. Which value
    marks anomalies is decided as by ``paretodepth detect --label``.
    """
    if path.suffix.lower() == ".npz":
        label = "y"
        with np.load(path, allow_pickle=False) as file:
            X, y = check_arrays({name: file[name] for name in file.files if name in ("X", "y")}, path.name)
        table = pa.table({f"x{column}": values for column, values in enumerate(X.T)} | {label: y})
    else:
        table = read_table(path)
        label = label or check_one_label(suggest_criteria(table), path.name)
    labels = Labels.of(table, label)
    names, arrays = table_columns(table.drop_columns([label]), "read_labelled")
    columns = {str(name): array[labels.is_known] for name, array in zip(names, arrays, strict=True)}
    return LabelledTable(columns, labels.is_anomaly[labels.is_known])


def labelled_task(table: LabelledTable, seed: int, name: str) -> Task:
    """Split a table: half of the nominal samples train, and suggest the criteria; the others and anomalies test.

    A sample with a missing value in a compared column is skipped. Methods without criteria
    read the same columns, numbers as they are and one column a category; of text, times and series
    only criteria know.
    """
    rng = np.random.default_rng(seed)
    nominal, anomalies = (
        rng.permutation(np.flatnonzero(table.is_anomaly == is_anomalous)) for is_anomalous in (False, True)
    )
    n_train = min(MAX_TRAIN, len(nominal) // 2)
    test = np.concatenate([nominal[n_train : n_train + MAX_NOMINAL], anomalies[:MAX_ANOMALIES]])
    found = check_suggested(suggest_criteria(_rows(table.columns, nominal[:n_train])))
    used = {use.name: use.kind for use in found.columns if use.criteria}
    lacks_none = ~np.any([missing_entries(table.columns[column]) for column in used], axis=0)
    train, test = (rows[lacks_none[rows]] for rows in (nominal[:n_train], test))
    check_enough(table.is_anomaly[train], table.is_anomaly[test], name)
    X_train, X_test = (_rows({column: table.columns[column] for column in used}, rows) for rows in (train, test))
    columns = [_as_columns(X_train[column], X_test[column], kind) for column, kind in used.items()]
    columns_train, columns_test = (np.hstack(check_some_columns(part, name)) for part in zip(*columns, strict=True))
    task = Task.of(columns_train, columns_test, table.is_anomaly[test], found.criteria)
    return task._replace(X_train=X_train, X_test=X_test)


def _rows(columns: Mapping[str, Column], rows: NDArray[np.intp]) -> Columns:
    return {name: array[rows] for name, array in columns.items()}


def _as_columns(train: Column, test: Column, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what methods without criteria can read of a column: itself, one column a category, or nothing."""
    if kind in ("number", "amount"):
        return as_numbers(train)[:, None], as_numbers(test)[:, None]
    if kind in ("category", "flag"):
        words = [part.astype(str)[:, None] for part in (train, test)]
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(words[0])
        return encoder.transform(words[0]), encoder.transform(words[1])
    return np.empty((len(train), 0)), np.empty((len(test), 0))


def check_some_files(files: list[Path], folder: Path) -> list[Path]:
    """Return the files of a folder, of which there must be one."""
    if not files:
        raise ValueError(
            f"The folder '{folder}' must hold labelled tables: NPZ files of arrays X and y, or CSV files with a column "
            "of labels. Got none instead."
        )
    return files


def check_arrays(arrays: dict[str, NDArray[np.generic]], source: str) -> tuple[NDArray[np.generic], ...]:
    """Return samples and labels of an NPZ file."""
    if arrays.keys() != {"X", "y"} or arrays["X"].ndim != 2 or arrays["y"].shape != arrays["X"].shape[:1]:
        got = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items()) or "neither"
        raise ValueError(
            f"{source}: must hold arrays X, a row a sample, and y, a label a sample. Got {got} instead; save it with "
            "numpy.savez(file, X=X, y=y)."
        )
    return arrays["X"], arrays["y"]


def check_one_label(found: Suggestion, source: str) -> str:
    """Return the only column that looks like a label."""
    labels = [use.name for use in found.columns if use.kind == "label"]
    if len(labels) != 1:
        raise ValueError(
            f"{source}: must have one column of two values that is named as labels are (label, class, target, y). Got "
            f"{listed(labels) or 'none'} instead; name it with --label."
        )
    return labels[0]


def check_enough(are_anomalies_train: NDArray[np.bool_], are_anomalies_test: NDArray[np.bool_], source: str) -> None:
    """Refuse a table with too few samples to compare methods."""
    n_anomalies = np.count_nonzero(are_anomalies_test)
    n_nominal = len(are_anomalies_train) + len(are_anomalies_test) - n_anomalies
    if n_nominal < MIN_NOMINAL or n_anomalies < MIN_ANOMALIES:
        raise ValueError(
            f"{source}: must have at least {MIN_NOMINAL} nominal samples and {MIN_ANOMALIES} anomalies that lack no "
            f"value. Got {n_nominal} and {n_anomalies} instead."
        )


def check_some_columns(parts: tuple[NDArray[np.float64], ...], source: str) -> tuple[NDArray[np.float64], ...]:
    """Return the columns that methods without criteria read, of which there must be one."""
    if not sum(part.shape[1] for part in parts):
        raise ValueError(
            f"{source}: must have a column of numbers or categories, or other methods can read nothing of it. Got "
            "none instead."
        )
    return parts
