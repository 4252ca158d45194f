"""The state of a stream: samples and counts from which the rest is made again, to the last bit."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from paretodepth._checks import is_integer, is_real
from paretodepth.models.stream_file import load_stream, save_stream
from paretodepth.streaming.drift import EXPONENTS
from paretodepth.streaming.rules import Rules
from paretodepth.streaming.stream import N_DRIFTS, Stream

COUNTS = ("age", "n_seen", "n_learnt", "n_incomparable", "n_read")


class Resumed(NamedTuple):
    """A stream that goes on.

    Attributes
    ----------
    parameters : dict
        Of the detector.
    stream : Stream
    n_read : int
        How many records of its input had been read.
    names : list of str
        The names of the columns of its input, if they are known.
    """

    parameters: dict[str, Any]
    stream: Stream
    n_read: int
    names: list[str]


def write_state(
    path: str | os.PathLike[str],
    stream: Stream,
    parameters: Mapping[str, Any],
    n_read: int | None = None,
    names: Sequence[str] = (),
) -> None:
    """Write a stream to a file atomically, after the checks that `read_state` makes.

    No result of a fit is written. `read_state` fits to the samples of the last fit, and learns
    again those that came since.

    Parameters
    ----------
    path : str or path
    stream : Stream
    parameters : mapping
        Of the detector.
    n_read : int or None, default=None
        How many records of its input were read. None: one a sample.
    names : sequence of str
        The names of the columns of its input.
    """
    window = stream.window
    state = {
        # The number of threads is for the one who resumes to choose.
        "parameters": {name: value for name, value in parameters.items() if name != "n_jobs"},
        "fitted": window.fitted,
        "later": window.later,
        "age": window.age,
        "n_seen": stream.n_seen,
        "n_learnt": stream.n_learnt,
        "n_incomparable": stream.n_incomparable,
        "n_read": stream.n_seen if n_read is None else n_read,
        "names": list(names),
        "drifts": list(stream.drifts),
        "stakes": stream.drift.e_values,
        "unlearnt": [list(one) for one in stream.unlearnt],
    }
    check_state(state, stream.rules)
    stream.check_samples([*window.fitted, *window.later])
    save_stream(path, state)


def read_state(
    path: str | os.PathLike[str],
    defaults: Mapping[str, Any],
    callables: Mapping[str, Callable[..., Any]],
    caller: str,
    report: Callable[[str], object],
) -> Resumed:
    """Return the stream that `write_state` wrote to a file, which may be anybody's: it is checked like any input.

    Parameters
    ----------
    path : str or path
    defaults : mapping
        All parameters of the detector; those that the file lacks keep these values.
    callables : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    caller : str
        The detector that messages name.
    report : callable
        As of `Stream`.
    """

    def resumed(state: dict[str, Any]) -> Resumed:
        parameters = dict(defaults) | check_parameters(state["parameters"], defaults)
        rules = Rules.checked(parameters, caller)
        check_state(state, rules)
        stream = Stream(parameters["criteria"], rules, caller, report)
        stream.replay(state["fitted"], state["later"], state["age"])
        stream.n_seen, stream.n_learnt = state["n_seen"], state["n_learnt"]
        stream.n_incomparable = state["n_incomparable"]
        stream.drifts.extend(state["drifts"])
        stream.drift.e_values = state["stakes"]
        stream.unlearnt = deque((number, float(score)) for number, score in state["unlearnt"])
        return Resumed(parameters, stream, state["n_read"], state["names"])

    resumed_stream: Resumed = load_stream(path, callables, resumed)
    return resumed_stream


def check_parameters(parameters: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that a streaming detector has."""
    known = set(defaults) - {"n_jobs"}
    if not isinstance(parameters, dict) or not set(parameters) <= known:
        raise ValueError("parameters of another detector")
    return parameters


def check_state(state: Mapping[str, Any], rules: Rules) -> None:
    """Refuse counts and stakes that no stream can have."""
    for name in COUNTS:
        _refuse_unless(is_integer(state[name]) and 0 <= state[name] < 2**62, name)
    fitted, later, age, n_seen = (state[name] for name in ("fitted", "later", "age", "n_seen"))
    _refuse_unless(isinstance(fitted, list) and isinstance(later, list), "samples")
    _refuse_unless(len(fitted) + age <= state["n_learnt"] <= n_seen <= state["n_read"], "numbers of samples")
    if fitted:
        is_right = rules.n_needed <= len(fitted) <= rules.size and len(later) == min(age, 2 * rules.size)
    else:
        is_right = len(later) <= min(age, rules.size)
    _refuse_unless(is_right, "numbers of samples")
    names = state["names"]
    _refuse_unless(isinstance(names, list) and all(isinstance(name, str) for name in names), "names of columns")
    drifts = state["drifts"]
    _refuse_unless(isinstance(drifts, list) and len(drifts) <= N_DRIFTS and all(map(is_integer, drifts)), "drifts")
    _refuse_unless(_are_rising(drifts, n_seen), "drifts")
    e_values = state["stakes"]
    is_right = isinstance(e_values, np.ndarray) and e_values.dtype == np.float64 and e_values.shape == EXPONENTS.shape
    _refuse_unless(is_right and bool(np.isfinite(e_values).all() and np.all(e_values >= 0)), "stakes")
    unlearnt = state["unlearnt"]
    _refuse_unless(isinstance(unlearnt, list) and len(unlearnt) <= rules.max_unlearnt, "samples left out")
    _refuse_unless(all(isinstance(one, list) and len(one) == 2 for one in unlearnt), "samples left out")
    _refuse_unless(all(is_integer(one[0]) and _is_number(one[1]) for one in unlearnt), "samples left out")
    _refuse_unless(_are_rising([one[0] for one in unlearnt], n_seen), "samples left out")


def _is_number(value: object) -> bool:
    return is_real(value) and value == value


def _are_rising(numbers: list[int], n_seen: int) -> bool:
    """Tell whether numbers of samples are in rising order and below the next one."""
    ends = [-1, *numbers, n_seen]
    return all(low < high for low, high in pairwise(ends)) or (not numbers and n_seen == 0)


def _refuse_unless(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")
