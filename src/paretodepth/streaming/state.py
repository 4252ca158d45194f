"""The state of a stream: samples and counts from which the rest is made again, to the last bit."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from paretodepth._checks import is_integer, is_real
from paretodepth.files.stream_file import load_stream, save_stream
from paretodepth.streaming.drift import EXPONENTS
from paretodepth.streaming.stream import N_DRIFTS, Rules, Stream

COUNTS = ("n_fitted", "n_seen", "n_learnt", "n_read")


class Resumed(NamedTuple):
    """A stream that goes on.

    Attributes
    ----------
    parameters : dict
        Of the detector.
    stream : Stream
    n_read : int
        How many records of its input had been read.
    """

    parameters: dict[str, Any]
    stream: Stream
    n_read: int


def write_state(
    path: str | os.PathLike[str], stream: Stream, parameters: Mapping[str, Any], n_read: int | None = None
) -> None:
    """Write a stream to a file that appears whole or not at all; without a number of records, all samples were read.

    Nothing that a fit has found is written. Who reads the file fits anew to the samples that
    the last fit was made of, and learns again those that came since.
    """
    window = stream.window
    state = {
        # How many threads there are is up to who goes on.
        "parameters": {name: value for name, value in parameters.items() if name != "n_jobs"},
        "samples": window.samples,
        "n_fitted": window.n_fitted,
        "n_seen": stream.n_seen,
        "n_learnt": stream.n_learnt,
        "n_read": stream.n_seen if n_read is None else n_read,
        "drifts": list(stream.drifts),
        "stakes": stream.drift.stakes,
        "unlearnt": [list(one) for one in stream.unlearnt],
    }
    save_stream(path, state)


def read_state(
    path: str | os.PathLike[str],
    defaults: Mapping[str, Any],
    callables: Mapping[str, Callable[..., Any]],
    caller: str,
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
    """

    def resumed(state: dict[str, Any]) -> Resumed:
        parameters = dict(defaults) | check_parameters(state["parameters"], defaults)
        rules = Rules.checked(parameters, caller)
        check_state(state, rules)
        stream = Stream(parameters["criteria"], rules, caller)
        stream.replay(state["samples"], state["n_fitted"])
        stream.n_seen, stream.n_learnt = state["n_seen"], state["n_learnt"]
        stream.drifts.extend(state["drifts"])
        stream.drift.stakes = state["stakes"]
        stream.unlearnt = deque((number, float(score)) for number, score in state["unlearnt"])
        return Resumed(parameters, stream, state["n_read"])

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
    samples, n_fitted, n_seen = state["samples"], state["n_fitted"], state["n_seen"]
    _refuse_unless(
        isinstance(samples, list) and len(samples) <= state["n_learnt"] <= n_seen <= state["n_read"], "samples"
    )
    if n_fitted:
        is_right = rules.n_needed <= n_fitted <= rules.size and 0 <= len(samples) - n_fitted <= rules.n_later
    else:
        is_right = len(samples) < rules.n_needed
    _refuse_unless(is_right, "numbers of samples")
    drifts = state["drifts"]
    _refuse_unless(isinstance(drifts, list) and len(drifts) <= N_DRIFTS and all(map(is_integer, drifts)), "drifts")
    _refuse_unless(_are_rising(drifts, n_seen), "drifts")
    stakes = state["stakes"]
    is_right = isinstance(stakes, np.ndarray) and stakes.dtype == np.float64 and stakes.shape == EXPONENTS.shape
    _refuse_unless(is_right and bool(np.isfinite(stakes).all() and np.all(stakes >= 0)), "stakes")
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
