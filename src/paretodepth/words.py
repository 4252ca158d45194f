"""Phrases for messages."""

import difflib
from collections.abc import Iterable, Sequence


def listed(words: Iterable[object]) -> str:
    """Return words in quotes, with commas between."""
    return ", ".join(f"'{word}'" for word in words)


def suggestion(word: object, choices: Sequence[str]) -> str:
    """Return ' (did you mean …?)', or nothing if no choice is close."""
    close = difflib.get_close_matches(str(word), choices, n=3)
    return f" (did you mean {' or '.join(repr(choice) for choice in close)}?)" if close else ""


def one_line(error: Exception) -> str:
    """Return an error's message as one short line."""
    message = " ".join(str(error).split())
    return message if len(message) <= 200 else f"{message[:200]}…"
