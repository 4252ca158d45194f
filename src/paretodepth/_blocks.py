"""Rows in blocks of bounded memory, worked on by threads; evenly spaced rows; rank correlations; progress."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import get_config

from paretodepth._checks import is_integer

Result = TypeVar("Result")
Part = TypeVar("Part")
Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
Watch = Callable[[str, int, int], None]
"""Receives the title of a phase, how much of it is done, and of how much; 0 if that is not known."""

BLOCK_VALUES = 2**21
"""Dissimilarities a block holds at most, unless one row is longer: 16 MiB."""
SECONDS_BETWEEN = 0.5
"""Between two updates of a line."""

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_title: ContextVar[str] = ContextVar("title", default="")


def row_blocks(n_rows: int, values_per_row: int, max_rows: int | None = None) -> list[slice]:
    """Return slices that cover `n_rows` rows, each of at most `BLOCK_VALUES` values unless one row has more."""
    size = max(1, min(max_rows or n_rows, block_values(BLOCK_VALUES) // max(1, values_per_row)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def evenly_spaced(n_rows: int, n_most: int) -> NDArray[np.intp]:
    """Return at most `n_most` row numbers, evenly spaced from the first to the last."""
    return np.unique(np.linspace(0, max(n_rows - 1, 0), min(n_rows, n_most)).round().astype(np.intp))


def block_values(most: int) -> int:
    """Return how many values a block may hold: `most`, or fewer if scikit-learn's `working_memory` is smaller."""
    return min(most, int(get_config()["working_memory"] * 2**20) // 8)


def stride(n_rows: int, n_most: int) -> slice:
    """Return a slice of every k-th row from the first on, with the smallest k that leaves at most `n_most` rows."""
    return slice(None, None, -(-n_rows // n_most) or 1)


def rank_correlations(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Spearman's correlation of every two columns; of a constant column 0 with others."""
    ranks = rankdata(columns, axis=0, nan_policy="omit") if len(columns) else columns
    with np.errstate(invalid="ignore"):
        centred = np.nan_to_num(ranks - (1 + np.isfinite(ranks).sum(axis=0)) / 2)
    lengths = np.sqrt(np.sum(centred**2, axis=0))
    centred /= np.where(lengths > 0, lengths, 1.0)
    # A product of matrices may leave [-1, 1] by a rounding error.
    correlations: NDArray[np.float64] = np.clip(centred.T @ centred, -1.0, 1.0)
    np.fill_diagonal(correlations, 1.0)
    return correlations


class BufferPool:
    """Memory for blocks, one buffer a thread.

    Some systems take freed memory back at once, as on workers of Dask. To get it again, page by page, takes longer
    than to compute what is written there.
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.float64]] = []

    @contextmanager
    def taken(self, shape: tuple[int, ...]) -> Iterator[NDArray[np.float64]]:
        """Yield a C-contiguous array of a shape, which another thread may get afterwards."""
        n_values = math.prod(shape)
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = np.empty(n_values)
        if buffer.size < n_values:
            buffer = np.empty(n_values)
        yield buffer[:n_values].reshape(shape)
        self._free.append(buffer)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[tuple[int, Mapper]]:
    """Yield the number of threads `n_jobs` stands for, and a map over blocks that uses them.

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
    """Yield the function's results in the order of the blocks, as they come."""
    with threads(n_jobs) as (_, over):
        yield from with_progress(over(function, blocks), len(blocks))


def map_blocks(function: Callable[[Part], Result], blocks: Iterable[Part], n_jobs: int | None) -> list[Result]:
    """Return the function's results in the order of the blocks."""
    return list(iterate_blocks(function, list(blocks), n_jobs))


@contextmanager
def progress_to(watch: Watch) -> Iterator[None]:
    """Report the phases of what is done meanwhile to `watch`."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def print_progress(caller: str, *, seconds_between: float = SECONDS_BETWEEN) -> Iterator[None]:
    """Print the phases of what is done meanwhile, each with its duration, besides reporting them as before."""
    lines, watch = _Lines(caller, seconds_between), _watch.get()

    def both(title: str, n_done: int, n_all: int) -> None:
        if watch is not None:
            watch(title, n_done, n_all)
        lines.update(title, n_done, n_all)

    with progress_to(both):
        yield
    lines.end()


@contextmanager
def phase(title: str) -> Iterator[None]:
    """Report the start of a phase; what is done within it counts as its progress."""
    report_progress(title, 0, 0)
    token = _title.set(title)
    try:
        yield
    finally:
        _title.reset(token)


@contextmanager
def step(title: str, n_done: int = 0, n_all: int = 0) -> Iterator[None]:
    """Report a step, after `n_done` of `n_all` steps, and none of the phases within.

    What is timed within a step must not wait for a terminal.
    """
    report_progress(title, n_done, n_all)
    with progress_to(lambda title, n_done, n_all: None):
        yield


def with_progress(results: Iterable[Result], n_results: int) -> Iterator[Result]:
    """Yield results as they come, and report how many of the present phase have come."""
    for number, result in enumerate(results, 1):
        report_progress(_title.get(), number, n_results)
        yield result


def report_progress(title: str, n_done: int, n_all: int) -> None:
    """Report how much of a phase is done, if there is a phase and somebody watches."""
    watch = _watch.get()
    if watch is not None and title:
        watch(title, n_done, n_all)


class _Lines:
    """Printed lines, one a phase, on a terminal with how long it will still take."""

    def __init__(self, caller: str, seconds_between: float) -> None:
        self._caller = caller
        self._seconds_between = seconds_between
        self._title = self._text = ""
        self._start = self._last = 0.0

    def update(self, title: str, n_done: int, n_all: int) -> None:
        """Print how much is done, if it is long enough since the last time."""
        if title != self._title:
            self.end()
            self._title, self._text = title, f"[{self._caller}] {title} …"
            self._start = self._last = time.perf_counter()
            print(self._text, end="", flush=True)  # noqa: T201
        now = time.perf_counter()
        if n_done and n_all and now - self._last > self._seconds_between and sys.stdout.isatty():
            self._last = now
            left = (now - self._start) * (n_all - n_done) / n_done
            print(f"\r{self._text} {n_done / n_all:.0%}, {left:.0f} s left \033[K", end="", flush=True)  # noqa: T201

    def end(self) -> None:
        """Print how long the last phase took."""
        if self._title:
            again = f"\r{self._text}\033[K" if self._last > self._start else ""
            print(f"{again} {time.perf_counter() - self._start:.1f} s")  # noqa: T201
        self._title = ""


def check_n_jobs(n_jobs: object) -> int | None:
    """Return a number of threads: None, or an integer that is not 0."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"The 'n_jobs' parameter must be None or an integer that is not 0. Got {n_jobs!r} instead; "
            "-1 stands for all cores."
        )
    return n_jobs  # type: ignore[return-value]
