"""Checks of criteria: parameters of metrics, transformers, files of criteria."""

from __future__ import annotations

import importlib
import numbers
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paretodepth.validation import check_count
from paretodepth.words import listed, suggestion

MAX_SIZE = 100_000
"""Values that a metric computes for each sample at most."""
MAX_FLOAT = sys.float_info.max


def check_positive(value: object, parameter: str, caller: str) -> float:
    """Return a finite number above 0."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"The '{parameter}' parameter of {caller} must be a number above 0. Got {value!r} instead.")
    return float(value)


def check_flag(value: object, parameter: str, caller: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"The '{parameter}' parameter of {caller} must be true or false. Got {value!r} instead.")
    return value


def check_window(value: object, parameter: str, caller: str) -> int | None:
    """Return an integer of at least 0, or None."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if value is not None and (not is_integer or not 0 <= value < 2**31):  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at least 0, below 2³¹. Got {value!r} "
            "instead; leave it out for none."
        )
    return value if value is None else int(value)  # type: ignore[call-overload]


def check_size(value: object, parameter: str, caller: str) -> int:
    """Return a number of values to compute for each sample, which all must have room for."""
    count = check_count(value, parameter, caller)
    if count > MAX_SIZE:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at most {MAX_SIZE:,}. "
            f"Got {value!r} instead."
        )
    return count


def check_edges(value: object, parameter: str, caller: str) -> list[float] | None:
    """Return at least two increasing numbers, or None."""
    if value is None:
        return None
    edges = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else []
    are_numbers = len(edges) > 1 and all(isinstance(edge, numbers.Real) for edge in edges)
    # Compared as the floats they become: differences of large integers wrap, and larger ones are no floats.
    are_finite = are_numbers and all(abs(edge) <= MAX_FLOAT for edge in edges)
    if not are_finite or not all(float(low) < float(high) for low, high in pairwise(edges)):
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be at least two increasing numbers. Got {value!r} instead."
        )
    return [float(edge) for edge in edges]


def check_extra(module: str, extra: str) -> Any:
    """Return a module that an extra brings."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"This needs '{module.split('.')[0]}', which is not installed; run: pip install \"paretodepth[{extra}]\""
        ) from error


def check_params(params: Mapping[str, object], known: Mapping[str, bool], caller: str) -> None:
    """Refuse parameters that a metric does not have, and the lack of one that it requires.

    `known` tells for each parameter whether it is required.
    """
    for parameter in params:
        if parameter not in known:
            has = f"its parameters are {listed(known)}" if known else "it has none"
            raise TypeError(
                f"The parameters of {caller} must be known. Got '{parameter}' instead"
                f"{suggestion(parameter, list(known))}; {has}."
            )
    for parameter, is_required in known.items():
        if is_required and parameter not in params:
            raise TypeError(f"{caller[0].upper()}{caller[1:]} must be given the parameter '{parameter}'. Got none.")


def check_can_ignore_missing(metric: str, can_ignore: bool, name: str) -> None:
    """Refuse to ignore missing values under a metric that cannot compare the rest."""
    if not can_ignore:
        raise ValueError(
            f"The 'missing' parameter of the criterion '{name}' must be 'error' for the metric '{metric}', which "
            "cannot compare a part of its columns. Got 'ignore' instead; impute by a transform, or take another "
            "metric (`paretodepth criteria` tells which can)."
        )


def check_elementwise(pairwise: object, metric: object, name: str) -> bool:
    """Return whether a metric compares two samples at a time, which only a callable may."""
    is_elementwise = check_flag(pairwise, "pairwise", f"the criterion '{name}'")
    if is_elementwise and not callable(metric):
        raise ValueError(
            f"The 'pairwise' parameter of the criterion '{name}' must be False unless the metric is a callable "
            f"f(a, b) of two samples. Got the metric {metric!r} instead."
        )
    return is_elementwise


def check_transformer(transform: object, name: str) -> Any:
    """Return None, or a transformer that can be cloned and fitted."""
    needed = ("fit", "transform", "get_params")
    if transform is not None and (isinstance(transform, type) or not all(hasattr(transform, m) for m in needed)):
        raise TypeError(
            f"The 'transform' parameter of the criterion '{name}' must be a scikit-learn transformer or pipeline. "
            f"Got {transform!r} instead; sklearn.preprocessing.FunctionTransformer(f) makes one of a function."
        )
    return transform


def check_transformed(output: Any, n_samples: int, name: str) -> Any:
    """Return a transformer's output, a dense array with one row a sample."""
    array = np.asarray(output.toarray() if hasattr(output, "toarray") else output)
    if array.ndim not in (1, 2) or len(array) != n_samples:
        raise ValueError(
            f"The transform of the criterion '{name}' must return one row a sample, {n_samples} in all. "
            f"Got the shape {array.shape} instead."
        )
    return array.reshape(n_samples, -1)


def check_mapping(X: object, names: Sequence[str], caller: str) -> None:
    """Refuse anything but a dict of columns where some criteria are precomputed and others are not."""
    if not isinstance(X, Mapping):
        raise TypeError(
            f"The samples given to {caller} must be a dict of columns when only some criteria are precomputed; it "
            f"holds the matrices of {listed(names)} beside the columns of the others. Got {type(X).__name__} instead."
        )


def check_entries(document: Mapping[str, Any], path: object) -> list[dict[str, Any]]:
    """Return the [[criterion]] tables of a file of criteria."""
    for key in document:
        if key != "criterion":
            raise ValueError(
                f"{path}: the file must hold only [[criterion]] tables. Got '{key}' instead"
                f"{suggestion(key, ['criterion'])}."
            )
    entries = document.get("criterion", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path}: the file must hold at least one criterion, written [[criterion]]. Got none.")
    return entries


def check_entry(entry: Mapping[str, Any], keys: Sequence[str], place: str) -> None:
    """Refuse a [[criterion]] table with other keys, or without a name."""
    for key in entry:
        if key not in keys:
            raise ValueError(
                f"{place}: the keys of a criterion must be {listed(keys)}. Got '{key}' instead{suggestion(key, keys)}; "
                "parameters of the metric belong under 'params'."
            )
    if not isinstance(entry.get("name"), str):
        raise ValueError(f"{place}: a criterion must have a name, a string. Got {entry.get('name')!r} instead.")
    params = entry.get("params", {})
    if not isinstance(params, dict):
        raise ValueError(
            f"{place}: the 'params' of a criterion must be a table, such as {{period = 24}}. Got {params!r} instead."
        )
    for key in (*keys, "transform", "pairwise"):
        if key in params:
            raise ValueError(f"{place}: the 'params' of a criterion must be parameters of its metric. Got '{key}'.")


def check_writable(value: object, what: str, name: str) -> None:
    """Refuse to write what a file of criteria cannot carry."""
    plain = value is None or isinstance(value, str | bool | int | float)
    if isinstance(value, Sequence) and not isinstance(value, str):
        for entry in value:
            check_writable(entry, what, name)
    elif not plain:
        raise TypeError(
            f"The {what} of the criterion '{name}' must be text or numbers to be written to a file. Got {value!r} "
            "instead; keep that criterion in Python."
        )
