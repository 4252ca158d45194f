"""A fitted detector's state as nodes of JSON and a list of arrays, and back.

Only the classes of the schema and the types listed here are written and read, so that reading makes plain values and
nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.criterion import Criterion, check_criterion, checked_params
from paretodepth.criteria.fitted_criteria import FittedCriterion
from paretodepth.fronts.fronts import Fronts
from paretodepth.models.model_checks import (
    check_array,
    check_fitting,
    check_integer,
    check_no_transform,
    refuse_value,
)
from paretodepth.models.model_relations import is_known_state
from paretodepth.models.model_schema import CLASSES, TYPES, check_parts, check_types

TIMES: dict[str, Any] = {"date": date, "time": time, "datetime": datetime}
COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}
Node = Any


class Encoder:
    """Makes nodes of values; collects arrays, columns and instances of `CLASSES`, each once however often used."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.objects: list[Node] = []
        # By identity. The values are kept, so that no identity is given away again.
        self._seen: dict[int, tuple[object, Node]] = {}

    def node(self, value: Any, where: str) -> Node:
        """Return a value as a node; `where` names it in messages."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        if isinstance(value, int):
            return check_integer(int(value), where)
        for tag, kind in TIMES.items():
            if type(value) is kind:
                return {tag: value.isoformat()}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.array(value), where)}
        if isinstance(value, list | range):
            return self._nodes(value, where)
        for tag, kind in COLLECTIONS.items():
            if type(value) is kind:
                return {tag: self._nodes(value, where)}
        if isinstance(value, dict):
            return {"dict": [self._nodes(item, where) for item in value.items()]}
        if isinstance(value, slice):
            return {"slice": self._nodes((value.start, value.stop, value.step), where)}
        if id(value) not in self._seen:
            self._seen[id(value)] = (value, self._shared(value, where))
        return self._seen[id(value)][1]

    def _nodes(self, values: Iterable[Any], where: str) -> list[Node]:
        return [self.node(value, where) for value in values]

    def _shared(self, value: Any, where: str) -> Node:
        """Return a reference to an array or object, which is noted."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OU":
                return self._object({"column": [list(value.shape), self._nodes(value.ravel().tolist(), where)]})
            return {"array": self._array(value, where)}
        if CLASSES.get(type(value).__name__) is not type(value):
            refuse_value(value, where)
        if isinstance(value, Criterion):
            where = f"the criterion '{value.name}'"
            check_no_transform(value.transform, value.name)
        parts = {}
        for name in TYPES[type(value)]:
            part = getattr(value, name)
            is_asked = isinstance(value, Criterion) and name == "metric" and callable(part)
            parts[name] = {"asked": _title(part)} if is_asked else self.node(part, f"{name} of {where}")
        return self._object({"class": type(value).__name__, "parts": parts})

    def _object(self, node: Node) -> Node:
        self.objects.append(node)
        return {"object": len(self.objects) - 1}

    def _array(self, array: NDArray[Any], where: str) -> int:
        check_array(array, where)
        self.arrays.append(array)
        return len(self.arrays) - 1


class Decoder:
    """Makes values of nodes.

    Parameters
    ----------
    arrays : list of ndarray
    callables : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]], callables: Mapping[str, Callable[..., Any]]) -> None:
        self._arrays = arrays
        self._callables = callables
        self._objects: list[Any] = []

    def add_object(self, node: Node) -> None:
        """Make the next object, which refers only to those before it."""
        if "column" in node:
            self._objects.append(_column(*self.value(node["column"])))
            return
        cls = CLASSES[node["class"]]
        parts = node["parts"]
        is_asked = bool(asked_metrics([node]))
        values = {name: self.value(part) for name, part in parts.items() if not (is_asked and name == "metric")}
        if is_asked:
            values["metric"] = self._callables[values["name"]]
        expected = TYPES[cls]
        for name in expected:
            if name not in values:
                values[name] = _default(cls, name)
        check_types(values, cls)
        made = _instance(cls, {name: values[name] for name in expected})
        if cls is Fronts:
            # At once: who holds them builds an index that trusts them.
            check_parts(made, {})
        elif cls is Criterion:
            check_criterion(made)
        elif cls is FittedCriterion:
            made = _with_own_params(made)
        self._objects.append(made)

    def value(self, node: Node) -> Any:
        """Return the value of a node."""
        if isinstance(node, list):
            return [self.value(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        ((tag, content),) = node.items()
        if tag in ("array", "scalar"):
            array = _entry(self._arrays, content)
            return array if tag == "array" else array[()]
        if tag == "object":
            return _entry(self._objects, content)
        if tag in TIMES:
            return TIMES[tag].fromisoformat(content)
        if tag == "float":
            return float(content)
        values = self.value(content)
        if tag in COLLECTIONS:
            return COLLECTIONS[tag](values)
        return dict(values) if tag == "dict" else {"slice": slice}[tag](*values)


def _with_own_params(fitted: FittedCriterion) -> FittedCriterion:
    """Return a fitted criterion with its criterion's parameters, which were checked, and of the file the estimates."""
    check_fitting(is_known_state(fitted.state, fitted, {}), "estimates")
    criterion, metric = fitted.criterion, fitted.criterion.registered
    if criterion.is_precomputed:
        return fitted
    state: dict[str, Any] = {"missing": criterion.missing}
    if metric is not None:
        state |= checked_params(criterion, metric)
        state |= {estimate.name: fitted.state[estimate.name] for estimate in metric.estimates}
    return replace(fitted, state=state)


def _entry(values: Sequence[Any], index: int) -> Any:
    """Return an entry by an index, which must not be negative."""
    return values[range(len(values)).index(index)]


def _column(shape: list[int], values: list[Any]) -> NDArray[Any]:
    """Return an array of objects."""
    column = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        column[position] = value
    return column.reshape(shape)


def asked_metrics(objects: Iterable[Node]) -> dict[str, str]:
    """Return what the functions were called that criteria were fitted with as metrics, by the criteria's names."""
    criteria = [node["parts"] for node in objects if node.get("class") == "Criterion"]
    return {parts["name"]: str(parts["metric"]["asked"]) for parts in criteria if isinstance(parts["metric"], dict)}


def _title(function: Callable[..., Any]) -> str:
    """Return how a callable is called."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _default(cls: type, name: str) -> Any:
    """Return the value of a part that a file of an earlier version does not have."""
    default = {field.name: field.default for field in fields(cls)}[name]
    if default is MISSING:
        raise KeyError(name)
    return default


def _instance(cls: type, parts: dict[str, Any]) -> Any:
    """Return an instance without asking its constructor, which may want other arguments than there are parts."""
    if not is_dataclass(cls):
        return cls(**parts)
    made = object.__new__(cls)
    for name, value in parts.items():
        object.__setattr__(made, name, value)
    return made
