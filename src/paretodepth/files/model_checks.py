"""Checks of model files: what can be written, and that what is read fits together.

The compiled loops trust the sizes of arrays, so a file that anybody may have written is checked for them here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line, suggestion
from paretodepth.criteria.criterion import MAX_CRITERIA

DTYPES = re.compile(r"[<|](b1|[iu][1248]|f[248]|[mM]8(\[\d{0,9}[a-zA-Zμ]{1,2}\])?)")
MAX_DIMENSIONS = 32
MAX_INTEGER = 2**4096
PICKLE = "keep the detector with pickle or joblib instead, and open such a file only if you trust it"


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


def check_array(array: NDArray[Any], where: str) -> None:
    """Refuse to write an array of anything but numbers, booleans and dates."""
    if not DTYPES.fullmatch(array.dtype.newbyteorder("<").str):
        raise TypeError(f"The {where} must hold numbers or dates to be saved. Got dtype {array.dtype} instead.")


def check_asked(callables: Mapping[str, Any], asked: Mapping[str, str]) -> None:
    """Refuse to load without the functions that criteria were fitted with as metrics, or with others."""
    for name, title in asked.items():
        if name not in callables:
            raise ValueError(
                f"The 'criteria' parameter of load must hold the metric of the criterion '{name}', a function that was "
                f"called '{title}' and that a file cannot carry. Got none; give criteria={{{name!r}: …}}."
            )
        if not callable(callables[name]):
            raise TypeError(
                f"The 'criteria' parameter of load must hold functions. Got {callables[name]!r} for '{name}' instead."
            )
    for name in callables:
        if name not in asked:
            raise ValueError(
                f"The 'criteria' parameter of load must hold the functions that the file asks for, "
                f"{listed(asked) or 'none'}. Got '{name}' instead{suggestion(name, list(asked))}; leave it out."
            )


def refuse_model(path: str, reason: object) -> NoReturn:
    """Raise an error about a file that is not a whole model file."""
    raise ValueError(f"{path}: must be a whole model file, as written by save. {reason}")


def refuse_contents(path: str, package: object, own: str, error: Exception) -> NoReturn:
    """Raise an error about contents that this version does not understand."""
    refuse_model(
        path,
        f"Got contents that paretodepth {own} does not understand ({one_line(error)}), from paretodepth "
        f"{str(package)[:40]}; open it with that version, or fit again.",
    )


def check_prefix(magic: bytes, version: int, expected: tuple[bytes, int], path: str) -> None:
    """Refuse files of other kinds and versions."""
    if magic != expected[0]:
        refuse_model(path, "Got a file of another kind instead, or one that was changed on its way.")
    if version != expected[1]:
        raise ValueError(
            f"{path}: must be a model file of version {expected[1]}, which this paretodepth reads. Got version "
            f"{version} instead; open it with the paretodepth that wrote it, or fit again."
        )


def check_dtype(text: object) -> np.dtype[Any]:
    """Return the dtype of an array in a file: numbers, booleans or dates."""
    if not isinstance(text, str) or not DTYPES.fullmatch(text):
        raise ValueError("an array that holds neither numbers nor dates")
    return np.dtype(text)


def check_shape(shape: object, itemsize: int, n_bytes: int) -> tuple[int, ...]:
    """Return the shape of an array that fits into the bytes that are left."""
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ValueError("an array without a shape")
    size = itemsize
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**62:
            raise ValueError("an array without a shape")
        size *= length
    # numpy wants the product of the lengths that are not 0 to be small even if there is nothing in the array.
    if size > n_bytes or (0 in shape and max(shape) > 2**31):
        raise ValueError("an array larger than the file")
    return tuple(shape)


def check_part(is_right: bool, owner: str, name: str) -> None:
    """Refuse a part of another type than it must have."""
    if not is_right:
        raise ValueError(f"'{name}' of another type in {owner}")


def check_attribute(name: object, cls: type, parameters: Sequence[str]) -> str:
    """Return the name of a parameter or of what fit sets, which hides nothing that the class defines."""
    is_fitted = isinstance(name, str) and re.fullmatch(r"[a-z][a-z_]*[a-z]_|_[a-z][a-z_]*[a-z]", name)
    if name not in parameters and (not is_fitted or hasattr(cls, str(name))):
        raise ValueError(f"an attribute {name!r}")
    return str(name)


def check_model(state: Mapping[str, Any]) -> None:
    """Refuse the state of a detector whose parts do not fit together."""
    criteria, training = state["criteria_"], state["_training"]
    n_criteria, n_training = len(criteria), len(training[0])
    _require(MAX_CRITERIA >= n_criteria == len(training) >= 1 and n_training >= 2, "samples")
    _check_columns(state)
    for fitted, view in zip(criteria, training, strict=True):
        check_known_state(fitted)
        _check_view(fitted, view, n_training)
    fronts, measurement, reasoning = state["fronts_"], state["_measurement"], state["_reasoning"]
    check_fronts(fronts)
    _require(fronts.dyads.shape[1] == n_criteria and state["n_fronts_"] == len(fronts), "fronts")
    _require(measurement.depths.fronts is fronts and reasoning.measurement is measurement, "fronts")
    _require(reasoning.calibration is state["_calibration"], "calibration")
    _check_nearby(state["_nearby"], criteria, training, measurement)
    for counts in (state["n_neighbors_"], measurement.n_summed):
        _require(counts.dtype == np.intp and counts.shape == (n_criteria,), "numbers of neighbors")
        _require(bool(np.all((counts >= 1) & (counts <= n_training))), "numbers of neighbors")
    _require(measurement.is_joined.shape == (measurement.n_summed.sum(),), "neighbors")
    _require(measurement.is_joined.any(), "neighbors")
    _check_numbers(measurement.weights, (n_criteria,), "weights")
    _check_calibration(state["_calibration"], n_criteria)
    _check_numbers(reasoning.profiles, (n_criteria, n_training), "profiles")
    _check_numbers(reasoning.places, (len(reasoning.places), n_criteria), "places")
    scores = state["training_scores_"]
    _check_numbers(scores, (len(scores),), "scores")
    _check_kept(state["_kept"], len(scores), n_training)
    _require(isinstance(state["offset_"], float) and isinstance(state["alpha_"], float | None), "threshold")
    _require(isinstance(state["n_jobs"], Integral | None), "number of threads")


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")


def _check_numbers(array: Any, shape: tuple[int, ...], what: str) -> None:
    """Refuse what is not an array of numbers of some shape, not empty."""
    _require(isinstance(array, np.ndarray) and array.dtype == np.float64, what)
    _require(array.shape == shape and array.size > 0 and not np.isnan(array).any(), what)


def _check_columns(state: Mapping[str, Any]) -> None:
    """Refuse columns that the samples do not have."""
    n_features, names = state["n_features_in_"], state.get("feature_names_in_")
    _require(isinstance(n_features, int) and isinstance(state.get("_is_object_column", False), bool), "columns")
    _require(names is None or (len(names) == n_features and all(isinstance(name, str) for name in names)), "names")
    for fitted in state["criteria_"]:
        _require(all(0 <= column < n_features for column in fitted.columns), "columns")
        _require(fitted.transform is None, "criteria")


def check_known_state(fitted: Any) -> None:
    """Refuse a state with what a criterion's metric neither has as a parameter nor says that it estimates."""
    metric = fitted.criterion.registered
    known = {"n_training"} if fitted.is_precomputed else {"missing"}
    if metric is not None:
        known |= {parameter.name for parameter in metric.parameters} | {estimate.name for estimate in metric.estimates}
    _require(set(fitted.state) <= known, "estimates")


def _check_view(fitted: Any, view: Any, n_training: int) -> None:
    """Refuse training samples that are not what a criterion compares."""
    metric = fitted.criterion.registered
    _require(isinstance(view, np.ndarray) and view.ndim > 0 and len(view) == n_training, "samples")
    if fitted.is_precomputed:
        _require(view.shape == (n_training, n_training) and view.dtype.kind in "fiub", "matrices")
        _require(isinstance(fitted.state["n_training"], int) and fitted.state["n_training"] >= n_training, "matrices")
    elif metric is None:
        return
    elif metric.kind == "text":
        _require(view.ndim == 1 and all(isinstance(value, str) for value in view), "text")
    elif metric.kind == "series" or (metric.kind == "trajectories" and view.dtype == object):
        for value in view:
            _check_numbers(value, (len(value),) if metric.kind == "series" else (len(value), 2), "sequences")
    else:
        _require(view.ndim == 2 and view.dtype == np.float64, "samples")
    if metric is not None:
        for name, fits in metric.estimates:
            is_right = fits(fitted.state[name], fitted.criterion.params, len(fitted.columns), view)
            _require(is_right, f"{name.replace('_', ' ')} of the metric {metric.name}")


def check_fronts(fronts: Any) -> None:
    """Refuse fronts that the index of depths cannot be built from."""
    dyads, starts = fronts.dyads, fronts.starts
    _require(dyads.ndim == 2, "fronts")
    _check_numbers(dyads, dyads.shape, "fronts")
    _require(starts.ndim == 1 and len(starts) >= 2 and starts[0] == 0 and starts[-1] == len(dyads), "fronts")
    # Compared, not subtracted: a difference of int64 wraps, and a file could make falling starts seem to rise.
    _require(bool(np.all(starts[1:] > starts[:-1])), "fronts")


def _check_nearby(nearby: Any, criteria: Sequence[Any], training: Sequence[Any], measurement: Any) -> None:
    """Refuse other criteria and samples to find the nearest with than those that are compared."""
    found = [*nearby.criteria, *nearby.training, nearby.n_nearest, nearby.weights]
    expected = [*criteria, *training, measurement.n_summed, measurement.weights]
    _require(len(found) == len(expected) and all(map(operator.is_, found, expected)), "nearest samples")


def _check_calibration(calibration: Any, n_criteria: int) -> None:
    _require(len(calibration.surprises) == n_criteria + 2, "surprises")
    for surprise in calibration.surprises:
        _check_numbers(surprise.nominal, (len(surprise.nominal),), "surprises")
    n_nominal = len(calibration.nominal.mean_depth)
    for values, shape in zip(calibration.nominal, ((), (n_criteria,), ()), strict=True):
        _check_numbers(values, (n_nominal, *shape), "calibration")
    _require(set(calibration.scores) == {"depth", "criteria", "union"}, "calibration")
    for scores in calibration.scores.values():
        _check_numbers(scores, (n_nominal,), "calibration")


def _check_kept(kept: Any, n_samples: int, n_training: int) -> None:
    """Refuse rows of training samples that are not so many."""
    if isinstance(kept, slice):
        _require(kept == slice(None) and n_samples == n_training, "training samples")
    else:
        _require(isinstance(kept, np.ndarray) and kept.dtype == np.intp and kept.shape == (n_training,), "samples")
        _require(bool(np.all(kept[1:] > kept[:-1])) and kept[0] >= 0 and kept[-1] < n_samples, "training samples")
