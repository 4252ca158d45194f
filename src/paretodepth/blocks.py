"""Rows in blocks of bounded memory, worked on by threads."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils import gen_batches

from paretodepth.progress import told
from paretodepth.validation import check_n_jobs

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
