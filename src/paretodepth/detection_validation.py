"""Checks of a whole detection: which columns, which rate, and where results may be written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from paretodepth.words import listed, suggestion


def check_one_source(criteria: object, columns: object) -> None:
    """Refuse criteria from a file and columns at once."""
    if criteria is not None and columns is not None:
        raise ValueError("Give either criteria or columns. Got both; the file of criteria names its own columns.")


def check_one_rate(alpha: object, fdr: object) -> None:
    """Refuse a false-alarm rate and a false discovery rate at once."""
    if alpha is not None and fdr is not None:
        raise ValueError("Give either alpha or fdr. Got both; alpha bounds false alarms, fdr their share of the calls.")


def check_named_columns(columns: Sequence[str], kinds: Mapping[str, str]) -> list[str]:
    """Return columns of numbers that are named one by one."""
    for name in columns:
        if name not in kinds:
            raise ValueError(
                f"The columns must be some of the training samples. Got '{name}' instead"
                f"{suggestion(name, list(kinds))}; there are {listed(list(kinds)[:20])}."
            )
        if kinds[name] != "numbers":
            raise ValueError(
                f"A column without a metric must hold numbers. Got {kinds[name]} in '{name}' instead; name a metric "
                "for it in a file of criteria (`paretodepth criteria` lists them)."
            )
        if columns.count(name) > 1:
            raise ValueError(f"The columns must be different. Got '{name}' {columns.count(name)} times instead.")
    return list(columns)


def check_some_columns(columns: list[str], kinds: Mapping[str, str]) -> list[str]:
    """Return the columns of numbers, of which there must be one."""
    if not columns:
        got = ", ".join(f"'{name}' ({kind})" for name, kind in list(kinds.items())[:20])
        raise ValueError(
            f"Without criteria there must be a column of numbers to compare. Got {got} instead; write a file of "
            "criteria (`paretodepth criteria` lists the metrics)."
        )
    return columns


def check_id_column(name: str | None, names: Sequence[str]) -> str | None:
    """Return a column of the samples, or None."""
    if name is not None and name not in names:
        raise ValueError(
            f"The id must be a column of the samples. Got '{name}' instead{suggestion(name, names)}; there are "
            f"{listed(names[:20])}."
        )
    return name


def check_column_names_known(names: Iterable[str] | None, source: str) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    if names is None:
        raise ValueError(
            f"{source}: the model must have been fitted on columns with names. Got one fitted on an array; fit it on a "
            "data frame, or with `paretodepth fit`."
        )
    return [str(name) for name in names]


def check_training(table: Any) -> Any:
    """Return the training samples of a detection."""
    if table is None:
        raise ValueError("A report must be made of a detection with its training samples. Got none; use `detect`.")
    return table


def refuse_row(n_rows: int, row: int, source: str) -> NoReturn:
    """Raise an error about a row that is not there; rows are counted from 0."""
    raise ValueError(f"{source}: the row must be from 0 to {n_rows - 1}. Got {row} instead.")


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
    for number, place in enumerate(outputs):
        if place in outputs[:number]:
            raise ValueError(f"{place}: each output must have a place of its own. Got this one twice.")
        if place == "-":
            continue
        folder = os.path.dirname(os.path.realpath(place))
        if os.path.isdir(place) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            got = "a folder" if os.path.isdir(place) else "none that can be written"
            raise OSError(
                f"{place}: the output must be a file in a folder that can be written. Got {got} instead; choose "
                "another place, or make the folder."
            )
        if any(os.path.exists(given) and os.path.exists(place) and os.path.samefile(place, given) for given in inputs):
            raise ValueError(f"{place}: the output must not take the place of an input; choose another name.")


def check_single_stream(inputs: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if inputs.count("-") > 1:
        raise ValueError("Only one file can be standard input (-). Got two; save one of them as a file.")
