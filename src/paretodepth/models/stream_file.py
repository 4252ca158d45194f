"""The state of a stream as a file that cannot execute code: samples, parameters and counts, but nothing fitted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from paretodepth.models.container import UNREADABLE, read_nodes, write_nodes
from paretodepth.models.model_checks import check_asked, check_kind_of_file, refuse_contents
from paretodepth.models.model_state import Decoder, Encoder


def save_stream(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Write the state of a stream to a file that appears whole or not at all."""
    encoder = Encoder()
    nodes = {name: encoder.node(value, "state of a stream") for name, value in state.items()}
    write_nodes(path, encoder, {"stream": nodes})


def load_stream(
    path: str | os.PathLike[str],
    callables: Mapping[str, Callable[..., Any]],
    checked: Callable[[dict[str, Any]], Any],
) -> Any:
    """Return what a function makes of the state that `save_stream` wrote, after it has checked it.

    Parameters
    ----------
    path : str or path
    callables : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    checked : callable
        Given the state by name, it refuses what cannot be by a ValueError or TypeError.
    """
    path = os.fspath(path)
    header, asked, arrays = read_nodes(path)
    check_kind_of_file("stream" in header.state, path)
    check_asked(callables, asked)
    decoder = Decoder(arrays, callables)
    try:
        for node in header.objects:
            decoder.add_object(node)
        return checked({str(name): decoder.value(node) for name, node in header.state["stream"].items()})
    except UNREADABLE as error:
        refuse_contents(path, header.package, version("paretodepth"), error)
