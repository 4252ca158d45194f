"""Checks of model files: what can be written, and that what is read fits together.

The compiled loops trust the sizes of arrays, so a file that anybody may have written is checked for them here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line, suggestion
from paretodepth.criteria.criterion import MAX_CRITERIA
from paretodepth.criteria.fitted import FittedCriteria
from paretodepth.criteria.usual import usual_kind, usual_period
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.scoring.blend_measures import BlendMeasurer, blend_counts
from paretodepth.scoring.calibration import Calibration
from paretodepth.scoring.methods import METHODS, Measure, MethodName, answered_methods
from paretodepth.scoring.model import Model

DTYPES = re.compile(r"[<|](b1|[iu][1248]|f[248]|[mM]8(\[\d{0,9}[a-zA-Zμ]{1,2}\])?)")
MAX_DIMENSIONS = 32
LAST_MOMENT = 6e16
"""Microseconds from 1970 to moments that a calendar shows, both ways."""
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


def check_kind_of_file(is_right: bool, path: str) -> None:
    """Refuse a model file where the state of a stream is wanted."""
    if not is_right:
        raise ValueError(
            f"{path}: must be the state of a stream. Got the file of a fitted detector instead; choose another place, "
            "or give it as a model."
        )


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


def check_whole(is_whole: bool, what: str) -> None:
    """Refuse arrays that end before or after the file does."""
    if not is_whole:
        raise ValueError(what)


def check_part(is_right: bool, owner: str, name: str) -> None:
    """Refuse a part of another type than it must have."""
    if not is_right:
        raise ValueError(f"'{name}' of another type in {owner}")


def check_known(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of a parameter that detectors have."""
    if name not in parameters:
        raise ValueError(f"a parameter {name!r}")
    return name


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that scoring would stumble over."""
    _refuse_unless(isinstance(parameters["n_jobs"], Integral | None), "number of threads")


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together."""
    _refuse_unless(isinstance(model, Model), "model")
    criteria, training, measurer = model.criteria.fitted, model.training, model.measurer
    n_criteria, n_training = len(criteria), len(training[0])
    _refuse_unless(MAX_CRITERIA >= n_criteria == len(training) >= 1 and n_training >= 2, "samples")
    _check_columns(model.criteria)
    for fitted, view in zip(criteria, training, strict=True):
        check_known_state(fitted)
        _check_view(fitted, view, n_training)
        _check_usual(fitted)
    _refuse_unless(isinstance(measurer, BlendMeasurer) == (model.method == "blend"), "measures")
    n_pairs = 0
    if isinstance(measurer, BlendMeasurer):
        _check_pair_fronts(measurer.fronts, n_criteria)
        _check_blend(measurer, n_criteria, n_training)
        n_pairs = len(measurer.fronts.criteria)
    else:
        check_fronts(measurer.fronts)
        _refuse_unless(measurer.fronts.dyads.shape[1] == n_criteria, "fronts")
    for counts in (measurer.n_neighbors, measurer.n_summed):
        _refuse_unless(counts.shape == (n_criteria,), "numbers of neighbors")
        _refuse_unless(bool(np.all((counts >= 1) & (counts <= n_training))), "numbers of neighbors")
    _refuse_unless(bool(np.all(measurer.n_neighbors <= measurer.n_summed)), "numbers of neighbors")
    _check_numbers(measurer.weights, (n_criteria,), "weights")
    _check_calibration(model.calibration, model.method, n_criteria, n_pairs)
    _check_numbers(model.profiles, (n_criteria, n_training), "profiles")
    _check_numbers(model.places, (len(model.places), n_criteria), "places")
    _check_rows(model.rows, len(model.scores), n_training)
    # Of samples that were dropped there are none.
    _check_numbers(model.scores[model.rows], (n_training,), "scores")
    _refuse_unless(model.scores.ndim == 1, "scores")


def _refuse_unless(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")


def _check_numbers(array: Any, shape: tuple[int, ...], what: str) -> None:
    """Refuse what is not an array of numbers of some shape, not empty."""
    _refuse_unless(isinstance(array, np.ndarray) and array.dtype == np.float64, what)
    _refuse_unless(array.shape == shape and array.size > 0 and not np.isnan(array).any(), what)


def _check_columns(criteria: FittedCriteria) -> None:
    """Refuse columns that the samples do not have."""
    n_features, names, kinds = criteria.layout.n_features, criteria.layout.feature_names, criteria.layout.kinds
    _refuse_unless(names is None or len(names) == n_features, "names")
    are_precomputed = all(fitted.is_precomputed for fitted in criteria.fitted)
    _refuse_unless(len(kinds) == (0 if are_precomputed else n_features), "kinds of columns")
    for fitted in criteria.fitted:
        _refuse_unless(all(0 <= column < n_features for column in fitted.columns), "columns")
        _refuse_unless(fitted.transform is None, "criteria")


def check_known_state(fitted: Any) -> None:
    """Refuse a state with what a criterion's metric neither has as a parameter nor says that it estimates."""
    metric = fitted.criterion.registered
    known = {"n_training"} if fitted.is_precomputed else {"missing"}
    if metric is not None:
        known |= {parameter.name for parameter in metric.parameters} | {estimate.name for estimate in metric.estimates}
    _refuse_unless(set(fitted.state) <= known, "estimates")


def _check_view(fitted: Any, view: Any, n_training: int) -> None:
    """Refuse training samples that are not what a criterion compares."""
    metric = fitted.criterion.registered
    _refuse_unless(isinstance(view, np.ndarray) and view.ndim > 0 and len(view) == n_training, "samples")
    if fitted.is_precomputed:
        _refuse_unless(view.shape == (n_training, n_training) and view.dtype.kind in "fiub", "matrices")
        _refuse_unless(
            isinstance(fitted.state["n_training"], int) and fitted.state["n_training"] >= n_training, "matrices"
        )
    elif metric is None:
        return
    elif metric.kind == "text":
        _refuse_unless(view.ndim == 1 and all(isinstance(value, str) for value in view), "text")
    elif metric.kind == "series" or (metric.kind == "trajectories" and view.dtype == object):
        for value in view:
            _check_numbers(value, (len(value),) if metric.kind == "series" else (len(value), 2), "sequences")
    else:
        _refuse_unless(view.ndim == 2 and view.dtype == np.float64, "samples")
    if metric is not None:
        for name, fits in metric.estimates:
            is_right = fits(fitted.state[name], fitted.criterion.params, len(fitted.columns), view)
            _refuse_unless(is_right, f"{name.replace('_', ' ')} of the metric {metric.name}")


def _check_usual(fitted: Any) -> None:
    """Refuse columns that a criterion does not read, values of another kind, and numbers not in rising order."""
    for usual in fitted.usual:
        _refuse_unless(usual.column in fitted.columns and usual.n_samples >= 1, "usual values")
        place = fitted.columns.index(usual.column)
        _refuse_unless(usual.kind == usual_kind(fitted.criterion, fitted.state, place), "usual values")
        if usual.kind == "category":
            is_right = all(1 <= count <= usual.n_samples for count in usual.counts.values())
            _refuse_unless(is_right and usual.values.shape == (0,), "usual values")
            continue
        _check_numbers(usual.values, (len(usual.values),), "usual values")
        first, last = usual.values[0], usual.values[-1]
        _refuse_unless(bool(np.all(usual.values[1:] >= usual.values[:-1])), "usual values")
        _refuse_unless(first <= min(usual.low, usual.high) and max(usual.low, usual.high) <= last, "usual values")
        _refuse_unless(usual.period == usual_period(usual.kind, fitted.state), "usual values")
        # A calendar ends; numbers do not.
        _refuse_unless(usual.kind != "moment" or max(abs(first), abs(last)) <= LAST_MOMENT, "usual values")


def check_fronts(fronts: Any) -> None:
    """Refuse fronts that the index of depths cannot be built from."""
    dyads, starts = fronts.dyads, fronts.starts
    _refuse_unless(dyads.ndim == 2, "fronts")
    _check_numbers(dyads, dyads.shape, "fronts")
    _refuse_unless(starts.ndim == 1 and len(starts) >= 2 and starts[0] == 0 and starts[-1] == len(dyads), "fronts")
    # Compared, not subtracted: a difference of int64 wraps, and a file could make falling starts seem to rise.
    _refuse_unless(bool(np.all(starts[1:] > starts[:-1])), "fronts")


def _check_pair_fronts(pairs: PairFronts, n_criteria: int) -> None:
    """Refuse pairs of criteria that are not there, and fronts of another number of criteria."""
    n_pairs = len(pairs.fronts)
    width = min(2, n_criteria)
    _refuse_unless(n_pairs >= 1 and pairs.criteria.shape == (n_pairs, width), "pairs of criteria")
    _refuse_unless(bool(np.all((pairs.criteria >= 0) & (pairs.criteria < n_criteria))), "pairs of criteria")
    _refuse_unless(len(pairs.rough) in (0, n_pairs), "fronts")
    for fronts in (*pairs.fronts, *pairs.rough):
        check_fronts(fronts)
        _refuse_unless(fronts.dyads.shape[1] == width, "fronts")


def _check_blend(measurer: BlendMeasurer, n_criteria: int, n_training: int) -> None:
    """Refuse numbers of neighbors other than a fit has, and means that ratios cannot be made of."""
    n_neighbors, n_summed = measurer.n_neighbors, measurer.n_summed
    _refuse_unless(n_neighbors.ndim == n_summed.ndim == 1 and len(n_neighbors) > 0, "numbers of neighbors")
    expected = blend_counts(n_training)
    is_right = bool(np.all(n_neighbors == expected[0]) and np.all(n_summed == expected[1]))
    _refuse_unless(is_right, "numbers of neighbors")
    _check_numbers(measurer.softening, (n_criteria + 1,), "local means")
    _check_numbers(measurer.local_means, (n_training, n_criteria + 1), "local means")
    for values in (measurer.softening, measurer.local_means):
        _refuse_unless(bool(np.isfinite(values).all() and np.all(values >= 0)), "local means")
    _refuse_unless(bool(np.all(measurer.softening > 0)), "local means")


def _check_calibration(calibration: Calibration, method: MethodName, n_criteria: int, n_pairs: int) -> None:
    """Refuse a calibration that lacks a measure or a method, or whose parts differ in size."""
    measures = METHODS[method].fitted
    columns: dict[Measure, int] = {
        "neighbor_sums": n_criteria,
        "neighbor_means": 3 * n_criteria,
        "local_ratios": n_criteria,
        "pair_depths": n_pairs,
    }
    _refuse_unless(set(calibration.surprises) == set(calibration.nominal) == set(measures), "measures")
    n_nominal = len(calibration.alone)
    _check_numbers(calibration.alone, (n_nominal, n_criteria), "calibration")
    for name in measures:
        width = (columns[name],) if name in columns else ()
        _check_numbers(calibration.nominal[name], (n_nominal, *width), "calibration")
        _refuse_unless(len(calibration.surprises[name]) == (width or (1,))[0], "surprises")
        for surprise in calibration.surprises[name]:
            _check_numbers(surprise.nominal, (len(surprise.nominal),), "surprises")
    _refuse_unless(set(calibration.scores) == set(answered_methods(method)), "calibration")
    for scores in calibration.scores.values():
        _check_numbers(scores, (n_nominal,), "calibration")


def _check_rows(rows: NDArray[np.intp], n_samples: int, n_training: int) -> None:
    """Refuse rows of training samples that are not so many, or not in rising order."""
    _refuse_unless(rows.shape == (n_training,) and rows[0] >= 0 and rows[-1] < n_samples, "training samples")
    # Compared, not subtracted: a difference of int64 wraps.
    _refuse_unless(bool(np.all(rows[1:] > rows[:-1])), "training samples")
