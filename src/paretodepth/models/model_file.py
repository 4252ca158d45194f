"""A fitted detector as a file that cannot execute code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from paretodepth.models.container import UNREADABLE, read_nodes, write_nodes
from paretodepth.models.model_checks import check_asked, check_known, check_part, refuse_contents
from paretodepth.models.model_schema import NOT_CARRIED, check_parameters, check_parts
from paretodepth.models.model_state import Decoder, Encoder
from paretodepth.scoring.model import Model


def save_model(path: str | os.PathLike[str], parameters: Mapping[str, Any], model: Model) -> None:
    """Write a detector's parameters and model to a file that appears whole or not at all."""
    encoder = Encoder()
    state = {
        "parameters": {
            name: encoder.node(value, f"{name} of the detector")
            for name, value in parameters.items()
            if name not in NOT_CARRIED
        },
        "model": encoder.node(model, "the model"),
    }
    check_parts(model, {})
    check_parameters(parameters, model)
    write_nodes(path, encoder, state)


def load_model(
    path: str | os.PathLike[str], defaults: Mapping[str, Any], callables: Mapping[str, Callable[..., Any]]
) -> tuple[dict[str, Any], Model]:
    """Return the parameters and the model that `save_model` wrote to a file.

    Parameters
    ----------
    path : str or path
    defaults : mapping
        All parameters of the detector; those that a file does not carry keep these values.
    callables : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    """
    path = os.fspath(path)
    header, asked, arrays = read_nodes(path)
    check_asked(callables, asked)
    decoder = Decoder(arrays, callables)
    try:
        for node in header.objects:
            decoder.add_object(node)
        parameters = dict(defaults)
        for name, node in header.state["parameters"].items():
            if check_known(name, defaults) not in NOT_CARRIED:
                parameters[name] = decoder.value(node)
        model = decoder.value(header.state["model"])
        check_part(isinstance(model, Model), "the file", "model")
        check_parts(model, {})
        check_parameters(parameters, model)
    except UNREADABLE as error:
        refuse_contents(path, header.package, version("paretodepth"), error)
    return parameters, model
