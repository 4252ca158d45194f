"""What each part of a model must be: the table that model files are written, read, checked and fuzzed by.

A class that a file may hold has an entry in `SCHEMA`, and each of its parts a row there. Its type is that of the class
itself; the row adds shape, range and relation. A part without a row can be neither written nor read.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_choice, check_rate, is_integer, is_real
from paretodepth.criteria.criterion import Criterion, resolve_criteria
from paretodepth.criteria.fitted_criteria import FittedCriteria, FittedCriterion
from paretodepth.criteria.reference_range import ReferenceRange
from paretodepth.criteria.samples import Layout
from paretodepth.fronts.depth_index import DEPTHS, Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.models import model_relations as relations
from paretodepth.models.model_checks import check_fitting, check_part
from paretodepth.pairs.limits import check_cap
from paretodepth.pairs.nearest import given_n_neighbors
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.calibration import CALIBRATIONS, Calibration, Surprise, check_threshold
from paretodepth.scoring.measures import DepthMeasurer, Measurer
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import Model

Sizes = Mapping[str, int]
TINY = float(np.finfo(np.float64).tiny)


class Part(NamedTuple):
    """What a part must be beyond its type.

    Attributes
    ----------
    shape : tuple of str, int and None
        The length along each axis of an array, or of a list: the name of a size, a number, or None for any but 0.
        Empty: the length does not matter, or there is none.
    low, high : float or str
        Between which its numbers are, both included; `high` may be the name of a size.
    is_finite, may_be_nan : bool
        Whether infinite numbers are refused, and whether NaN is accepted.
    relation : callable or None
        Takes the value, its owner and all sizes; tells whether they fit together. Comparisons only, for differences of
        64-bit integers wrap.
    """

    shape: tuple[str | int | None, ...] = ()
    low: float = -math.inf
    high: float | str = math.inf
    is_finite: bool = False
    may_be_nan: bool = False
    relation: Callable[[Any, Any, Sizes], bool] | None = None

    def fits(self, value: Any, owner: Any, sizes: Sizes) -> bool:
        """Tell whether a value of the right type is what it must be."""
        if value is None:
            return self.relation is None or self.relation(value, owner, sizes)
        return (
            (not self.shape or self._has_shape(value, sizes))
            and all(self._are_within(entries, sizes) for entries in _numbers(value))
            and (self.relation is None or self.relation(value, owner, sizes))
        )

    def _has_shape(self, value: Any, sizes: Sizes) -> bool:
        shape = value.shape if isinstance(value, np.ndarray) else (len(value),)
        expected = [sizes[length] if isinstance(length, str) else length for length in self.shape]
        return len(shape) == len(expected) and all(
            found == length if length is not None else found > 0 for found, length in zip(shape, expected, strict=True)
        )

    def _are_within(self, entries: Any, sizes: Sizes) -> bool:
        high = sizes[self.high] if isinstance(self.high, str) else self.high
        found = entries[~np.isnan(entries)] if self.may_be_nan and entries.dtype.kind == "f" else entries
        # What is NaN is within nothing.
        is_within = bool(np.all((found >= self.low) & (found <= high)))
        return is_within and (not self.is_finite or bool(np.isfinite(found).all()))


ANY = Part()
COUNT = Part(low=0, high=2**53)
PER_CRITERION = Part(("criteria",), low=0, is_finite=True)
NEIGHBORS = Part(("criteria",), low=1, high="training")

SCHEMA: dict[type, dict[str, Part]] = {
    Criterion: {
        "name": ANY,
        "columns": ANY,
        "metric": ANY,
        "transform": Part(relation=relations.is_none),
        "missing": ANY,
        "pairwise": ANY,
        "params": Part(may_be_nan=True, relation=relations.is_right_criterion),
    },
    ReferenceRange: {
        "column": COUNT,
        "name": ANY,
        "kind": ANY,
        "n_samples": Part(low=1, high=2**53),
        "values": Part(relation=relations.is_sorted),
        "low": Part(may_be_nan=True),
        "high": Part(may_be_nan=True),
        "period": Part(low=0, is_finite=True),
        "counts": ANY,
    },
    FittedCriterion: {
        "criterion": ANY,
        "columns": Part(low=0, high="last_feature"),
        "state": Part(may_be_nan=True, relation=relations.is_known_state),
        "transform": Part(relation=relations.is_none),
        # Compared with the views, by which the estimates that tell the kinds of columns are checked.
        "typical": ANY,
    },
    FittedCriteria: {
        "fitted": Part(("criteria",), relation=relations.are_named),
        "layout": Part(relation=relations.is_layout),
    },
    Layout: {
        "n_features": COUNT,
        "feature_names": Part(("features",)),
        "is_object_column": ANY,
        "kinds": Part(relation=relations.are_kinds),
    },
    Fronts: {
        "dyads": Part((None, None)),
        "starts": Part((None,), low=0, high="dyads", relation=relations.are_starts),
        "max_depth": Part(low=1),
    },
    Depths: {"fronts": ANY, "kind": ANY},
    PairFronts: {
        "criteria": Part(("pairs", "pair"), low=0, high="last_criterion"),
        "fronts": Part(("pairs",), relation=relations.have_pair_width),
        "sampled": Part(relation=relations.are_rough),
    },
    DepthMeasurer: {
        "depths": Part(relation=relations.has_width),
        "n_neighbors": NEIGHBORS,
        "n_summed": NEIGHBORS._replace(relation=relations.sums_joined),
        "weights": PER_CRITERION,
    },
    BlendMeasurer: {
        "fronts": ANY,
        "n_neighbors": NEIGHBORS._replace(relation=relations.are_blend_neighbors),
        "n_summed": NEIGHBORS._replace(relation=relations.are_blend_listed),
        "weights": PER_CRITERION,
        "softening": Part(("criteria_and_sum",), low=math.ulp(0.0), is_finite=True),
        "local_means": Part(("training", "criteria_and_sum"), low=0, is_finite=True),
    },
    Surprise: {
        "nominal": Part((None,), is_finite=True, relation=relations.is_sorted),
        "start": Part(is_finite=True),
        "scale": Part(low=TINY, is_finite=True),
    },
    Calibration: {
        "method": ANY,
        "surprises": ANY,
        "nominal": Part(relation=relations.are_sorted),
        "scores": Part(("nominal",), relation=relations.is_sorted),
        "alone": Part(("nominal", "criteria"), relation=relations.is_sorted),
    },
    Model: {
        "criteria": ANY,
        "training": Part(("criteria",), may_be_nan=True, relation=relations.are_views),
        "rows": Part(("training",), low=0, high="last_sample", relation=relations.is_rising),
        "measurer": Part(relation=relations.is_of_method),
        "calibration": Part(relation=relations.is_calibrated),
        "threshold": ANY,
        "alpha": Part(low=0, high=1),
        "scores": Part((None,), is_finite=True, may_be_nan=True, relation=relations.are_scores),
        "profiles": Part(("criteria", "training"), low=0),
        "dyad_quantiles": Part((None, "criteria"), low=0),
        "is_exact": ANY,
        "advice": ANY,
    },
}
CLASSES = {cls.__name__: cls for cls in SCHEMA}


def _hints(cls: Any) -> dict[str, Any]:
    found = get_type_hints(cls.__init__ if cls is Depths else cls)
    return {name: hint for name, hint in found.items() if name != "return"}


TYPES = {cls: _hints(cls) for cls in SCHEMA}
"""The parts of each class by name, and the type of each."""

OWNER = "a detector"
PARAMETERS: dict[str, Callable[[Any, Model], object]] = {
    "criteria": lambda value, model: resolve_criteria(value, OWNER),
    "n_neighbors": lambda value, model: given_n_neighbors(value, model.criteria.names, len(model.rows), OWNER),
    "depth": lambda value, model: check_choice(value, "depth", DEPTHS, OWNER),
    "method": lambda value, model: check_choice(value, "method", tuple(METHODS), OWNER),
    "alpha": lambda value, model: value if value is None else check_rate(value, "alpha", OWNER, "a false-alarm rate"),
    "threshold": lambda value, model: check_threshold(value, OWNER),
    "calibration": lambda value, model: check_choice(value, "calibration", CALIBRATIONS, OWNER),
    "max_depth": lambda value, model: check_cap(value, "max_depth", OWNER),
    "random_state": lambda value, model: check_fitting(_is_seed(value), "seeds"),
}
"""The parameters of a detector that a file carries, each with its check, which raises."""
NOT_CARRIED = ("memory_limit", "n_jobs", "verbose")
"""Those that belong to the machine and its user, not to whoever wrote a file."""


def _is_seed(value: Any) -> bool:
    return value is None or (is_integer(value) and 0 <= value < 2**32)


def check_parameters(parameters: Mapping[str, Any], model: Model) -> None:
    """Refuse a detector's parameters that it could not have been given."""
    for name, value in parameters.items():
        if name not in NOT_CARRIED:
            PARAMETERS[name](value, model)


def check_types(values: Mapping[str, Any], cls: type) -> None:
    """Refuse parts of another type than a class says."""
    for name, hint in TYPES[cls].items():
        check_part(conforms(values[name], hint), cls.__name__, name)


def check_parts(owner: Any, sizes: Sizes) -> None:
    """Refuse an instance of a class of the schema of which a part, or a part of a part, is not what it must be."""
    cls = type(owner)
    sizes = {**sizes, **_own_sizes(owner)}
    rows = SCHEMA[cls]
    for name in TYPES[cls]:
        value = getattr(owner, name)
        for held in _held(value):
            check_parts(held, sizes)
        check_fitting(rows[name].fits(value, owner, sizes), f"{name.replace('_', ' ')} of a {cls.__name__}")


def _own_sizes(owner: Any) -> dict[str, int]:
    """Return the sizes that an instance sets for all that it holds."""
    if isinstance(owner, Model):
        n_criteria = len(owner.criteria.fitted)
        return {
            "criteria": n_criteria,
            "last_criterion": n_criteria - 1,
            "criteria_and_sum": n_criteria + 1,
            "pair": min(2, n_criteria),
            "training": len(owner.training[0]),
            "last_sample": len(owner.scores) - 1,
            "features": owner.criteria.layout.n_features,
            "last_feature": owner.criteria.layout.n_features - 1,
        }
    if isinstance(owner, PairFronts):
        return {"pairs": len(owner.fronts)}
    if isinstance(owner, Calibration):
        return {"nominal": len(owner.alone)}
    return {"dyads": len(owner.dyads)} if isinstance(owner, Fronts) else {}


def _held(value: Any) -> Iterator[Any]:
    """Yield the instances of classes of the schema that a part holds."""
    if type(value) in SCHEMA:
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _held(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _held(entry)


def _numbers(value: Any) -> Iterator[Any]:
    """Yield the numbers of a part as arrays: itself, or those that a list or dict holds."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiu":
            yield value
    elif isinstance(value, numbers.Real) and not isinstance(value, bool):
        # As an object where no integer of 64 bits holds it, which compares as Python does.
        yield np.asarray(value)
    elif isinstance(value, dict):
        yield from (entry for held in value.values() for entry in _numbers(held))
    elif isinstance(value, list | tuple):
        yield from (entry for held in value for entry in _numbers(held))


def conforms(value: Any, hint: Any) -> bool:
    """Tell whether a value is what a type hint says."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(conforms(value, choice) for choice in arguments)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin in (np.ndarray, NDArray):
        # Since NumPy 2.5 `NDArray` is an alias of its own, with the type of the numbers as its argument.
        (dtype,) = arguments if origin is NDArray else get_args(arguments[1])
        return isinstance(value, np.ndarray) and (dtype is Any or value.dtype == dtype)
    if origin is dict:
        return isinstance(value, dict) and all(
            conforms(entry, of) for item in value.items() for entry, of in zip(item, arguments, strict=True)
        )
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return isinstance(value, origin) and all(conforms(entry, arguments[0]) for entry in value)
    if hint in (int, float):
        return is_integer(value) if hint is int else is_real(value)
    if hint is Measurer:
        return isinstance(value, (DepthMeasurer, BlendMeasurer))
    return callable(value) if origin is not None else isinstance(value, NoneType if hint is None else hint)
