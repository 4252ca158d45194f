"""Values as JSON holds them: numbers, text, dates, collections and criteria, to the last bit; nothing that executes."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from numbers import Real
from typing import Any

import numpy as np

from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.values import is_missing
from paretodepth.models.model_checks import (
    check_dtype,
    check_functions,
    check_integer,
    check_no_transform,
    refuse_value,
)

TIMES: dict[str, Any] = {"datetime": datetime, "date": date, "time": time}
COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}
TAGGED = [*TIMES.items(), *COLLECTIONS.items()]
Node = Any


def encoded(value: Any, where: str) -> Node:
    """Return a value as JSON holds it; `where` names it in messages."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, int):
        return check_integer(int(value), where)
    for tag, kind in TAGGED:
        if type(value) is kind:
            return {tag: value.isoformat() if tag in TIMES else _all_encoded(value, where)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return {"scalar" if isinstance(value, np.generic) else "array": _encoded_array(np.asarray(value), where)}
    if isinstance(value, list | range):
        return _all_encoded(value, where)
    if isinstance(value, dict):
        return {"dict": [_all_encoded(item, where) for item in value.items()]}
    if isinstance(value, Criterion):
        return {"criterion": _encoded_criterion(value)}
    refuse_value(value, where)


def _all_encoded(values: Iterable[Any], where: str) -> list[Node]:
    return [encoded(value, where) for value in values]


def _encoded_array(array: np.ndarray[Any, Any], where: str) -> list[Node]:
    """Return the type, the shape and the bytes of an array."""
    dtype = array.dtype.newbyteorder("<")
    check_dtype(dtype, TypeError, where)
    return [dtype.str, list(array.shape), b64encode(array.astype(dtype).tobytes()).decode("ascii")]


def _encoded_criterion(criterion: Criterion) -> dict[str, Node]:
    """Return a criterion as its parts; of a function only what it is called."""
    check_no_transform(criterion.transform, criterion.name)
    where, metric = f"criterion '{criterion.name}'", criterion.metric
    is_function = callable(metric)
    return {
        "name": criterion.name,
        "columns": encoded(criterion.columns, f"columns of the {where}"),
        "metric": str(getattr(metric, "__qualname__", type(metric).__qualname__)) if is_function else metric,
        "is_function": is_function,
        "missing": criterion.missing,
        "pairwise": criterion.pairwise,
        "params": encoded(criterion.params, f"params of the {where}"),
    }


def read_by_named_metrics(value: Any) -> Any:
    """Return a cell of a type of its own as the plain one that named metrics read in its place.

    Missing values of pandas, its timestamps, fractions, and collections of other libraries are such cells.
    """
    if is_missing(value):
        return None
    if isinstance(value, str | bool | int | float | np.generic):
        return value
    for kind in TIMES.values():
        if isinstance(value, kind):
            return kind.fromisoformat(kind.isoformat(value))
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, AbstractSet):
        return frozenset(map(read_by_named_metrics, value))
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        array = np.asarray(value)
        return array if array.dtype.kind in "fiub" else [read_by_named_metrics(entry) for entry in value]
    return value


class Decoder:
    """Makes values of what `encoded` returned.

    Parameters
    ----------
    functions : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = functions
        self._titles: dict[str, str] = {}

    def check_functions(self) -> None:
        """Refuse functions other than those that the criteria read so far ask for."""
        check_functions(self._functions, self._titles)

    def value(self, node: Node) -> Any:
        """Return the value that `encoded` was given."""
        if isinstance(node, list):
            return [self.value(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        ((tag, content),) = node.items()
        if tag in TIMES:
            return TIMES[tag].fromisoformat(content)
        if tag in COLLECTIONS:
            return COLLECTIONS[tag](self.value(content))
        if tag == "criterion":
            return self._criterion(content)
        if tag == "dict":
            return dict(self.value(content))
        if tag == "float":
            return float(content)
        return {"array": _array, "scalar": _scalar}[tag](content)

    def _criterion(self, parts: dict[str, Node]) -> Criterion:
        name, metric = parts["name"], parts["metric"]
        if parts["is_function"]:
            self._titles[name] = str(metric)
            metric = self._functions.get(name, "")
        keywords = {**self.value(parts["params"]), "missing": parts["missing"], "pairwise": parts["pairwise"]}
        return Criterion(name, self.value(parts["columns"]), metric, **keywords)


def _array(content: list[Any]) -> np.ndarray[Any, Any]:
    """Return an array of its type, shape and bytes."""
    name, shape, text = content
    dtype = np.dtype(str(name))
    check_dtype(dtype, ValueError, "an array")
    flat = np.frombuffer(b64decode(text, validate=True), dtype)
    return flat.reshape(shape).astype(dtype.newbyteorder("="))


def _scalar(content: list[Any]) -> Any:
    return _array(content)[()]
