"""Telling what is being done."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def phase(title: str, caller: str, *, verbose: int) -> Iterator[None]:
    """Print what is being done and how long it took, if asked to."""
    if verbose:
        print(f"[{caller}] {title} …", end="", flush=True)  # noqa: T201
    start = time.perf_counter()
    yield
    if verbose:
        print(f" {time.perf_counter() - start:.1f} s")  # noqa: T201
