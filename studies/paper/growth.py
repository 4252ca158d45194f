"""First fronts of more dyads than fit the memory, one after the other, and what of them scalarization reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from studies.hull import GrowingFront, insert_pairs, insert_points, lower_left_hull

N_FRONT_CELLS = 2**16
BLOCK_POINTS = 2**16


def point_front_sizes(points: NDArray[np.float64], counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give |F| and |L| of the first n points in the unit square, for each n of the rising `counts`.

    Parameters
    ----------
    points : ndarray of shape (2, n_points)
    counts : sequence of int
    """
    front = _empty_front(1.0)
    start = 0
    for count in counts:
        for first in range(start, count, BLOCK_POINTS):
            block = points[:, first : min(first + BLOCK_POINTS, count)]
            front = _with_space(front, block.shape[1])
            insert_points(front, block[0], block[1])
        start = count
        yield _sizes(front)


def dyad_front_sizes(
    samples: NDArray[np.float64], counts: Sequence[int], *, rotated: bool
) -> Iterator[tuple[int, int]]:
    """Give |F| and |L| of the dyads of the first N samples in the unit square, for each N of the rising `counts`.

    Parameters
    ----------
    samples : ndarray of shape (2, n_samples)
    counts : sequence of int
    rotated : bool
        Whether the criteria are |Δx| + |Δy| and |Δx| - |Δy|, in place of |Δx| and |Δy|.
    """
    front = _empty_front(2.0 if rotated else 1.0)
    start = 0
    for count in counts:
        for sample in range(start, count):
            front = _with_space(front, sample)
            insert_pairs(front, samples, sample, rotated)
        start = count
        yield _sizes(front)


def _empty_front(largest_x: float) -> GrowingFront:
    """Return a front without dyads for x from 0 to `largest_x`."""
    return GrowingFront(
        np.empty(0), np.empty(0), np.zeros(1, np.intp), np.full(N_FRONT_CELLS + 1, np.inf), N_FRONT_CELLS / largest_x
    )


def _with_space(front: GrowingFront, n_dyads: int) -> GrowingFront:
    """Return the front with space for more dyads."""
    needed = front.size[0] + n_dyads
    if needed <= len(front.x):
        return front
    return front._replace(x=np.resize(front.x, 2 * needed), y=np.resize(front.y, 2 * needed))


def _sizes(front: GrowingFront) -> tuple[int, int]:
    size = int(front.size[0])
    return size, len(lower_left_hull(front.x[:size], front.y[:size]))
