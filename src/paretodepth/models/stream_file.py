"""The state of a stream as a file that cannot execute code: samples, parameters and counts, but nothing fitted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from paretodepth.models.container import read_container, understood, write_container
from paretodepth.models.plain_values import Decoder, encoded

KIND = "stream"


def save_stream(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Write the state of a stream to a file atomically."""
    nodes = {name: encoded(value, "state of a stream") for name, value in state.items()}
    write_container(path, KIND, {"state": nodes}, {})


def load_stream(
    path: str | os.PathLike[str],
    functions: Mapping[str, Callable[..., Any]],
    checked: Callable[[dict[str, Any]], Any],
) -> Any:
    """Return what a function makes of the state that `save_stream` wrote, after it has checked it.

    Parameters
    ----------
    path : str or path
    functions : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    checked : callable
        Given the state by name, it refuses what cannot be by a ValueError or TypeError.
    """
    settings, _ = read_container(os.fspath(path), KIND)
    decoder = Decoder(functions)
    with understood(path, settings):
        state = {name: decoder.value(node) for name, node in settings["state"].items()}
    decoder.check_functions()
    with understood(path, settings):
        return checked(state)
