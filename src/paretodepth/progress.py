"""Telling what is being done, and on a terminal how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")

SECONDS_BETWEEN = 0.5
_tell: ContextVar[Callable[[int, int], None] | None] = ContextVar("tell", default=None)


@contextmanager
def phase(title: str, caller: str, *, verbose: int) -> Iterator[None]:
    """Print what is being done and how long it took, if asked to; what `told` counts meanwhile is told too."""
    if not verbose:
        yield
        return
    line = f"[{caller}] {title} …"
    print(line, end="", flush=True)  # noqa: T201
    start = last = time.perf_counter()

    def tell(n_done: int, n_all: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last > SECONDS_BETWEEN and sys.stdout.isatty():
            last = now
            left = (now - start) * (n_all - n_done) / n_done
            print(f"\r{line} {n_done / n_all:.0%}, {left:.0f} s left \033[K", end="", flush=True)  # noqa: T201

    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)
    again = f"\r{line}\033[K" if last > start else ""
    print(f"{again} {time.perf_counter() - start:.1f} s")  # noqa: T201


def told(results: Iterable[Result], n_results: int) -> Iterator[Result]:
    """Give results on as they come, and tell the present phase how many of them have come."""
    tell = _tell.get()
    for number, result in enumerate(results, 1):
        if tell is not None:
            tell(number, n_results)
        yield result
