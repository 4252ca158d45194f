"""Checks and phrases that several packages share; each noun's own checks stand beside it."""

from __future__ import annotations

import difflib
import importlib
import math
import numbers
import sys
from collections.abc import Iterable, Sequence
from typing import Any

MAX_CHOICES, MAX_LETTERS = 2000, 200
"""Words that are looked through for a mistyped one, and their letters."""


def listed(words: Iterable[object]) -> str:
    """Return words in quotes, with commas between."""
    return ", ".join(f"'{word}'" for word in words)


def suggestion(word: object, choices: Sequence[str]) -> str:
    """Return ' (did you mean …?)', or nothing if no choice is close."""
    folded = str(word).casefold()
    close = [choice for choice in choices if choice.casefold() == folded and choice != word]
    # Each comparison takes a while, and nobody mistypes a word of a thousand letters.
    likely = [choice for choice in choices[:MAX_CHOICES] if len(choice) < MAX_LETTERS]
    close = close or difflib.get_close_matches(str(word)[:MAX_LETTERS], likely, n=3)
    return f" (did you mean {' or '.join(repr(choice) for choice in close)}?)" if close else ""


def one_line(error: Exception) -> str:
    """Return an error's message as one short line."""
    message = " ".join(str(error).split())
    return message if len(message) <= 200 else f"{message[:200]}…"


def check_positive(value: object, parameter: str, caller: str) -> float:
    """Return a finite number above 0."""
    if not is_real(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise ValueError(f"The '{parameter}' parameter of {caller} must be a number above 0. Got {value!r} instead.")
    return float(value)  # type: ignore[arg-type]


def check_flag(value: object, parameter: str, caller: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"The '{parameter}' parameter of {caller} must be true or false. Got {value!r} instead.")
    return value


def check_extra(module: str, extra: str) -> Any:
    """Return a module that an extra brings."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"This needs '{module.split('.')[0]}', which is not installed; run: pip install \"paretodepth[{extra}]\""
        ) from error


def shortened(value: object) -> str:
    """Return a value as a message shows it."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def check_choice(value: object, parameter: str, choices: Sequence[str], caller: str) -> Any:
    """Return a value that is one of a few words."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be one of {listed(choices)}. "
            f"Got {value!r} instead{suggestion(value, choices)}."
        )
    return value


def check_count(value: object, parameter: str, caller: str) -> int:
    """Return an integer of at least 1."""
    if not is_integer(value) or value < 1:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer of at least 1. Got {value!r} instead."
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_optional_count(value: object, parameter: str, caller: str) -> int | None:
    """Return an integer of at least 1, or None."""
    return None if value is None else check_count(value, parameter, caller)


def check_row(row: object, n_rows: int, parameter: str, caller: str) -> int:
    """Return the index of one of some rows."""
    if not is_integer(row) or not 0 <= row < n_rows:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be an integer from 0 to {n_rows - 1}. Got {row!r} instead."
        )
    return int(row)  # type: ignore[call-overload, no-any-return]


def check_rate(rate: object, parameter: str, caller: str, meaning: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    if not is_real(rate) or not 0 < rate < 1:  # type: ignore[operator]
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must be a number between 0 and 1, both excluded. Got {rate!r} "
            f"instead; it is {meaning}."
        )
    return float(rate)  # type: ignore[arg-type]


def is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Tell whether a value is a real number that a float can hold."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and not (isinstance(value, int) and abs(value) > sys.float_info.max)
