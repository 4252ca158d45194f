"""What is refused about model files: values that cannot be written, and files that are damaged or do not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import listed, one_line, suggestion

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


def check_fitting(is_right: bool, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")
