"""Rows in blocks of bounded memory, worked on by threads."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from joblib import Parallel, delayed
from sklearn.utils import gen_batches

Result = TypeVar("Result")

BLOCK_VALUES = 2**21
"""Dissimilarities a block holds at most, unless one row is longer: 16 MiB."""


def row_blocks(n_rows: int, values_per_row: int) -> list[slice]:
    """Return slices that cover `n_rows` rows, each of at most `BLOCK_VALUES` values."""
    return list(gen_batches(n_rows, max(1, BLOCK_VALUES // max(1, values_per_row))))


def map_blocks(function: Callable[[slice], Result], blocks: Iterable[slice], n_jobs: int | None) -> list[Result]:
    """Return the function's results in the order of the blocks.

    Threads, because the compiled loops and SciPy's distances let go of the interpreter lock.
    Every result depends on its own block alone, so `n_jobs` changes no bit of it.
    """
    return list(Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(block) for block in blocks))
