"""Rows in blocks of bounded memory, worked on by threads, and telling how far the work is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils import gen_batches

from paretodepth._checks import check_n_jobs

Result = TypeVar("Result")
Part = TypeVar("Part")
Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
BLOCK_VALUES = 2**21
"""Dissimilarities a block holds at most, unless one row is longer: 16 MiB."""


def row_blocks(n_rows: int, values_per_row: int) -> list[slice]:
    """Return slices that cover `n_rows` rows, each of at most `BLOCK_VALUES` values."""
    return list(gen_batches(n_rows, max(1, BLOCK_VALUES // max(1, values_per_row))))


@contextmanager
def threads(n_jobs: int | None) -> Iterator[tuple[int, Mapper]]:
    """Give the number of threads `n_jobs` stands for, and a map over blocks that uses them.

    Threads, because the compiled loops and SciPy's distances let go of the interpreter lock.
    Every result depends on its own block alone, so `n_jobs` changes no bit of it.
    """
    n_threads = effective_n_jobs(check_n_jobs(n_jobs))
    if n_threads == 1:
        yield 1, map
    else:
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield n_threads, pool.map
        finally:
            # After an error or Ctrl-C the blocks that wait are not worked on any more.
            pool.shutdown(cancel_futures=True)


def iterate_blocks(function: Callable[[Part], Result], blocks: Sequence[Part], n_jobs: int | None) -> Iterator[Result]:
    """Give the function's results in the order of the blocks, as they come."""
    with threads(n_jobs) as (_, over):
        yield from told(over(function, blocks), len(blocks))


def map_blocks(function: Callable[[Part], Result], blocks: Iterable[Part], n_jobs: int | None) -> list[Result]:
    """Return the function's results in the order of the blocks."""
    return list(iterate_blocks(function, list(blocks), n_jobs))


Watch = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much; 0 if that is not known."""
SECONDS_BETWEEN = 0.5
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_tell: ContextVar[Callable[[int, int], None] | None] = ContextVar("tell", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Have the phases of what is done meanwhile told to somebody."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def phase(title: str, caller: str, *, verbose: int) -> Iterator[None]:
    """Tell who watches what is being done, and print it if asked to, with how long it took."""
    watch = _watch.get()
    line = _Line(f"[{caller}] {title} …") if verbose else None

    def tell(n_done: int, n_all: int) -> None:
        if watch is not None:
            watch(title, n_done, n_all)
        if line is not None:
            line.tell(n_done, n_all)

    if watch is not None:
        watch(title, 0, 0)
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)
    if line is not None:
        line.end()


class _Line:
    """A printed line, on a terminal with how long it will still take."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self._last = time.perf_counter()
        print(text, end="", flush=True)  # noqa: T201

    def tell(self, n_done: int, n_all: int) -> None:
        """Print how much is done, if it is long enough since the last time."""
        now = time.perf_counter()
        if now - self._last > SECONDS_BETWEEN and sys.stdout.isatty():
            self._last = now
            left = (now - self._start) * (n_all - n_done) / n_done
            print(f"\r{self._text} {n_done / n_all:.0%}, {left:.0f} s left \033[K", end="", flush=True)  # noqa: T201

    def end(self) -> None:
        """Print how long it took."""
        again = f"\r{self._text}\033[K" if self._last > self._start else ""
        print(f"{again} {time.perf_counter() - self._start:.1f} s")  # noqa: T201


def told(results: Iterable[Result], n_results: int) -> Iterator[Result]:
    """Give results on as they come, and tell the present phase how many of them have come."""
    tell = _tell.get()
    for number, result in enumerate(results, 1):
        if tell is not None:
            tell(number, n_results)
        yield result
