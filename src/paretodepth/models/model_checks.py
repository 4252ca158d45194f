"""Checks of model files: values that cannot be written, and files that are damaged or do not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, NoReturn
from zipfile import ZIP_STORED, ZipInfo

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_rate, is_integer, listed, one_line, suggestion
from paretodepth.criteria.criterion import resolve_criteria
from paretodepth.criteria.samples import Layout
from paretodepth.pairs.nearest import given_n_neighbors
from paretodepth.scoring.calibration import check_threshold
from paretodepth.scoring.fitting import Settings
from paretodepth.scoring.methods import Measure, MethodName

DTYPES = re.compile(r"[<|](b1|[iu][1248]|f[248]|[mM]8(\[\d{0,9}[a-zA-Zμ]{1,2}\])?)")
MAX_INTEGER = 2**4096
LARGEST = float(np.finfo(np.float64).max)
OWNER = "a detector"
KINDS = ("numbers", "text", "lists", "times", "")
"""What a column may hold, as of `Layout`."""
PICKLE = "keep the detector with pickle or joblib instead, and open such a file only if you trust it"
NOT_CARRIED = ("memory_limit", "n_jobs", "verbose")
"""Parameters that belong to the machine and its user, not to whoever wrote a file."""
Sizes = Mapping[str, int]


class Part(NamedTuple):
    """What an array of a file must be.

    Attributes
    ----------
    dtype : type
    shape : tuple of str or None
        The length along each axis: the name of a size, or None for any but 0.
    low, high : float or str
        Between which its numbers are, both included; `high` may be the name of a size.
    sorted_along : int or None
        An axis along which no number is smaller than the one before.
    """

    dtype: type
    shape: tuple[str | None, ...]
    low: float = 0
    high: float | str = LARGEST
    sorted_along: int | None = None


DYADS = Part(np.float64, (None, "width"))
STARTS = Part(np.int64, (None,), high=2**62)
PARTS = {
    "weights": Part(np.float64, ("criteria",)),
    "profiles": Part(np.float64, ("criteria", "training"), high=math.inf, sorted_along=1),
    "dyad_quantiles": Part(np.float64, (None, "criteria"), sorted_along=0),
}
PARTS_OF: dict[MethodName, dict[str, Part]] = {
    "depth": {"n_neighbors": Part(np.int64, ("criteria",), 1, "others")},
    "blend": {
        "pairs": Part(np.int64, ("sets", "width"), 0, "last_criterion"),
        "softening": Part(np.float64, ("criteria_and_sum",), math.ulp(0.0)),
        "local_means": Part(np.float64, ("training", "criteria_and_sum")),
    },
}
MEASURES: dict[Measure, Part] = {
    "mean_depth": Part(np.float64, ("samples",)),
    "neighbor_sums": Part(np.float64, ("samples", "criteria"), high=math.inf),
    "balanced_sum": Part(np.float64, ("samples",), high=math.inf),
    "neighbor_means": Part(np.float64, ("samples", "three_a_criterion"), high=math.inf),
    "local_ratios": Part(np.float64, ("samples", "criteria")),
    "balanced_mean": Part(np.float64, ("samples",), high=math.inf),
    "balanced_ratio": Part(np.float64, ("samples",)),
    "pair_depth": Part(np.float64, ("samples",)),
    "pair_depths": Part(np.float64, ("samples", "sets")),
}


def criteria_sizes(n_criteria: int, n_training: int, method: MethodName, arrays: Mapping[str, NDArray[Any]]) -> Sizes:
    """Return the lengths of arrays that follow from the numbers of criteria and of training samples."""
    is_pairwise = method == "blend"
    return {
        "training": n_training,
        "others": n_training - 1,
        "criteria": n_criteria,
        "last_criterion": n_criteria - 1,
        "criteria_and_sum": n_criteria + 1,
        "three_a_criterion": 3 * n_criteria,
        "width": min(2, n_criteria) if is_pairwise else n_criteria,
        "sets": len(arrays["pairs"]) if is_pairwise else 1,
    }


def checked_array(arrays: Mapping[str, NDArray[Any]], name: str, part: Part, sizes: Sizes) -> NDArray[Any]:
    """Return an array of a file, if it is what it must be; NaN never is.

    Numbers are compared, not subtracted: differences of 64-bit integers wrap.
    """
    array = arrays[name]
    expected = [sizes[length] if length is not None else None for length in part.shape]
    has_shape = array.ndim == len(expected) and all(
        found == length if length is not None else found > 0
        for found, length in zip(array.shape, expected, strict=True)
    )
    high = sizes[part.high] if isinstance(part.high, str) else part.high
    # The smallest of numbers and NaN is NaN, which is in no order to others.
    is_within = not array.size or bool(part.low <= array.min() and array.max() <= high)
    check_fitting(array.dtype == part.dtype and has_shape and is_within, name)
    if part.sorted_along is not None:
        along = np.moveaxis(array, part.sorted_along, 0)
        check_fitting(bool(np.all(along[1:] >= along[:-1])), name)
    # Compiled loops go along rows.
    return np.ascontiguousarray(array)


def check_parameters(parameters: Mapping[str, Any], names: Sequence[str], n_training: int) -> None:
    """Refuse a detector's parameters that it could not have been given."""
    Settings.checked({**parameters, **dict.fromkeys(NOT_CARRIED)}, OWNER)
    resolve_criteria(parameters["criteria"], OWNER)
    given_n_neighbors(parameters["n_neighbors"], names, n_training, OWNER)
    check_threshold(parameters["threshold"], OWNER)
    if parameters["alpha"] is not None:
        check_rate(parameters["alpha"], "alpha", OWNER, "a false-alarm rate")


def check_layout(layout: Layout, n_features: int | None) -> Layout:
    """Return how samples came, if it makes sense; `n_features` is known where all criteria are precomputed."""
    names, kinds = layout.feature_names, layout.kinds
    # As many kinds as columns, so that the file is as long as the table is wide.
    n_columns = len(kinds) if n_features is None else n_features
    check_fitting(is_integer(layout.n_features) and layout.n_features == n_columns, "numbers of columns")
    check_fitting(not kinds if n_features is not None else set(kinds) <= set(KINDS), "kinds of columns")
    are_names = names is None or (len(names) == n_columns and all(isinstance(name, str) for name in names))
    check_fitting(are_names and isinstance(layout.is_object_column, bool), "names of columns")
    return layout


def check_starts(starts: NDArray[np.intp], n_rows: int) -> None:
    """Refuse places where parts begin that do not lead, each beyond the one before, from the first row to the last."""
    is_whole = len(starts) >= 2 and starts[0] == 0 and starts[-1] == n_rows
    check_fitting(is_whole and bool(np.all(starts[1:] > starts[:-1])), "starts")


def check_strings(values: Any, what: str) -> list[str]:
    """Return a list of strings."""
    check_fitting(isinstance(values, list) and all(isinstance(value, str) for value in values), what)
    return list(values)


def check_fitting(is_right: bool, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")


def check_no_transform(transform: object, name: str) -> None:
    """Refuse to write a criterion with a transformer."""
    if transform is not None:
        raise TypeError(
            f"The criterion '{name}' must have no transform to be saved. Got {type(transform).__name__}, whose state "
            f"a model file cannot carry; transform the columns beforehand, or {PICKLE}."
        )


def refuse_value(value: object, where: str) -> NoReturn:
    """Raise an error about something that a model file cannot carry."""
    raise TypeError(
        f"The {where} must be numbers, text, dates, arrays or collections of these to be saved. Got "
        f"{type(value).__name__} instead; convert it, or {PICKLE}."
    )


def check_integer(value: int, where: str) -> int:
    """Return an integer that is short enough to be read again."""
    if abs(value) >= MAX_INTEGER:
        raise ValueError(f"The {where} must be an integer of at most 4096 bits to be saved. Got a longer one.")
    return value


def check_dtype(dtype: np.dtype[Any], error: type[Exception], where: str) -> None:
    """Refuse arrays of anything but numbers, booleans and dates."""
    if not DTYPES.fullmatch(dtype.str):
        raise error(f"The {where} must hold numbers or dates to be saved. Got dtype {dtype} instead.")


def check_functions(functions: Mapping[str, Any], titles: Mapping[str, str]) -> None:
    """Refuse to load without the functions that criteria have as metrics, or with others."""
    for name, title in titles.items():
        if name not in functions:
            raise ValueError(
                f"The 'criteria' parameter of load must hold the metric of the criterion '{name}', the function "
                f"'{title}', which a file cannot carry. Got none; give criteria={{{name!r}: …}}."
            )
        if not callable(functions[name]):
            raise TypeError(
                f"The 'criteria' parameter of load must hold functions. Got {functions[name]!r} for '{name}' instead."
            )
    for name in functions:
        if name not in titles:
            raise ValueError(
                f"The 'criteria' parameter of load must hold the functions that the file asks for, "
                f"{listed(titles) or 'none'}. Got '{name}' instead{suggestion(name, list(titles))}; leave it out."
            )


def refuse_model(path: str, error: Exception) -> NoReturn:
    """Raise an error about a file that is not a whole model file."""
    raise ValueError(
        f"{path}: must be a whole model file, as written by save. Got another file, or a damaged one "
        f"({one_line(error)}); copy it again."
    )


def refuse_contents(path: str, package: object, error: Exception) -> NoReturn:
    """Raise an error about contents that this version does not understand."""
    raise ValueError(
        f"{path}: must be a whole model file, as written by save. Got contents that paretodepth "
        f"{version('paretodepth')} does not understand ({one_line(error)}), from paretodepth {str(package)[:40]}; open "
        "it with that version, or fit again."
    )


def check_version(found: object, expected: int, path: str) -> None:
    """Refuse files of other versions."""
    if found != expected:
        raise ValueError(
            f"{path}: must be a model file of version {expected}, which this paretodepth reads. Got version "
            f"{str(found)[:40]} instead; open it with the paretodepth that wrote it, or fit again."
        )


def check_kind(found: object, expected: str, path: str) -> None:
    """Refuse a detector's file in place of a stream's, and the other way round."""
    if found != expected:
        raise ValueError(
            f"{path}: must be the file of a {expected}. Got that of a {str(found)[:40]} instead; choose another file."
        )


def check_archive(parts: Sequence[ZipInfo], n_bytes: int) -> None:
    """Refuse an archive whose parts are packed, encrypted, or together longer than the file."""
    check_whole(len(parts) > 0 and parts[0].filename == "settings.json", "no settings")
    check_whole(all(part.filename.endswith(".npy") for part in parts[1:]), "a part that is no array")
    check_whole(len({part.filename for part in parts}) == len(parts), "two parts of one name")
    check_whole(all(part.compress_type == ZIP_STORED and not part.flag_bits & 1 for part in parts), "a packed part")
    check_whole(sum(part.file_size for part in parts) <= n_bytes, "parts longer than the file")


def check_whole(is_whole: bool, what: str) -> None:
    """Refuse an archive that `save` has not written so."""
    if not is_whole:
        raise ValueError(what)
