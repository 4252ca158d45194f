"""A filter that drops dyads which points of a front dominate: the points themselves, or tables made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import stride
from paretodepth._kernels.filters import (
    Cells,
    choose_points,
    new_staircase,
    pass_cells,
    pass_points,
    pass_staircase,
)
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.numbering import distinct_values

Block = NDArray[np.float64] | Sequence[NDArray[np.float64]]
"""Dissimilarities of shape (n_criteria, n_rows, n_columns), or a list of those of each criterion."""
N_BINS = 1024
"""Bins, over the bits of numbers, that find the cell of a number in one step; they stay in the nearest cache."""
N_CODES = 64
"""Dyads whose cells are found side by side."""


class SummarySizes(NamedTuple):
    """Sizes of a summary's parts, which change its time and memory and not the fronts."""

    n_stairs: int = 4096
    """Cells of the table over a staircase: 32 KiB, so that it stays in the nearest cache."""
    n_cells: int = 2**20
    """Most cells, a bit each, of the table over a front of three or four criteria: 64³ or 32⁴. More drop few more."""
    n_points: int = 256
    """Points that stand for a front of one or five and more criteria. More drop few more and cost the survivors."""
    n_candidates: int = 1024
    """Points of a front that these are chosen from."""
    n_probes: int = 2**14
    """Dyads that they are chosen by."""
    batch_values: int = 3 * 2**23
    """Dissimilarities that are sorted at once, as long as the summary is smaller: at the peak some 1.2 GiB."""


USUAL_SIZES = SummarySizes()


class DominanceFilter:
    """Drops dyads that some points dominate; those it does not find, its false negatives, survive.

    Two criteria use all points. Three and four move all points to the corners of cells, a little further away, and
    a table of the cells drops a dyad with one look. Others use a few hundred points, chosen by how many of the dyads
    `alike`, and of false negatives before, they drop. `points` are those that dyads are compared with.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        alike: NDArray[np.float64],
        sizes: SummarySizes,
        false_negatives: NDArray[np.float64] | None = None,
    ) -> None:
        self._alike = alike
        self._sizes = sizes
        self._staircase = self._cells = None
        n_criteria = points.shape[1]
        # The first of the points' own fronts dominates what all of them do.
        self.points = Fronts.from_dyads(points, max_depth=1).dyads
        if n_criteria == 2 and len(points):
            self._staircase = new_staircase(self.points, sizes.n_stairs)
        elif n_criteria in (3, 4):
            self._cells, self.points = new_cells(self.points, sizes.n_cells)
        else:
            candidates = self.points[stride(len(self.points), sizes.n_candidates)]
            probes = alike if false_negatives is None else np.concatenate((alike, false_negatives))
            self.points = choose_points(candidates, probes, sizes.n_points)

    def survivors(self, block: Block, is_triangle: bool) -> NDArray[np.float64]:
        """Return the dyads of a block that no point dominates, shape (n_dyads, n_criteria)."""
        if self._staircase is not None:
            return pass_staircase(block[0], block[1], is_triangle, self._staircase)
        block = np.ascontiguousarray(block)
        if self._cells is None:
            return pass_points(block, is_triangle, self.points)
        flat = block.reshape(len(block), -1)
        places = np.empty(flat.shape[1] + 1, np.intp)
        n_passed = pass_cells(block, is_triangle, self._cells, np.empty(N_CODES, np.int64), places)
        return np.ascontiguousarray(flat[:, places[:n_passed]].T)

    def rebuilt(self, points: NDArray[np.float64], false_negatives: NDArray[np.float64]) -> DominanceFilter:
        """Return a filter of more points, chosen by dominated dyads that survived this one as well."""
        # The old points stay: foreseen ones may lie nearer to the final front than the front so far.
        points = np.concatenate((self.points, points))
        alike = self._alike if len(self._alike) else false_negatives
        return DominanceFilter(points, alike, self._sizes, false_negatives)


def new_cells(points: NDArray[np.float64], n_cells: int) -> tuple[Cells, NDArray[np.float64]]:
    """Return at most `n_cells` cells over points, and the corners of cells beyond which these lie.

    Each point is moved to the nearest smallest corner of a cell that it dominates. All that is
    nowhere smaller than this corner is dropped.
    """
    n_criteria = points.shape[1]
    # A power of two, and of at most 8 bits.
    width = 1 << max(2, min(8, (n_cells.bit_length() - 1) // n_criteria))
    bounds = np.full((n_criteria, width), np.nan)
    bins = np.zeros((n_criteria, N_BINS), np.uint8)
    first_bins, shifts = np.zeros((2, n_criteria), np.int64)
    for criterion, column in enumerate(points.T):
        if len(column):
            own = np.sort(column)[np.linspace(0, len(column) - 1, width - 2).astype(np.intp)]
            # Right behind the largest one, so that there is a corner that a point at this end dominates.
            own = distinct_values(np.append(own, math.nextafter(own[-1], math.inf)))
            bounds[criterion, : len(own)] = own
            bins[criterion], first_bins[criterion], shifts[criterion] = _bins(own)
    # Each once, and only those that no other one dominates.
    corners = Fronts.from_dyads(_corners(points, bounds), max_depth=1).dyads.astype(np.intp)
    is_beyond = np.zeros((width,) * n_criteria, bool)
    is_beyond[tuple(corners.T)] = True
    for criterion in range(n_criteria):
        np.logical_or.accumulate(is_beyond, axis=criterion, out=is_beyond)
    cells = Cells(bounds, bins, first_bins, shifts, np.packbits(is_beyond.ravel(), bitorder="little"))
    # Cell 0 has no bound, and is no corner.
    return cells, np.take_along_axis(bounds, corners.T - 1, axis=1).T


def _bins(bounds: NDArray[np.float64]) -> tuple[NDArray[np.intp], np.int64, int]:
    """Return how many bounds lie before each bin, the first bin, and the bits that bins do not tell apart."""
    bits = (bounds + 0.0).view(np.int64)
    bits = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    # The smallest and the largest bound may be far from the others in bits, as zero and infinity are.
    low, high = bits[min(1, len(bits) - 1)], bits[max(len(bits) - 2, 0)]
    shift = 2
    while (high >> shift) - (low >> shift) >= N_BINS:
        shift += 1
    first_bin = low >> shift
    bins = np.clip((bits >> shift) - first_bin, 0, N_BINS - 1)
    return np.searchsorted(bins, np.arange(N_BINS)), first_bin, shift


def _corners(points: NDArray[np.float64], bounds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the nearest cells whose smallest corners the points dominate, shape (n_corners, n_criteria)."""
    n_criteria, width = bounds.shape
    parts = zip(bounds, points.T, strict=True)
    # NaN, which stands beyond all bounds, sorts last.
    corners = np.column_stack([1 + np.searchsorted(own, column) for own, column in parts])
    is_same = (points == np.take_along_axis(bounds, corners.T - 1, axis=1).T).all(axis=1)
    # A point dominates no corner that it equals, but the next one in every direction.
    nexts = [corners[is_same] + step for step in np.eye(n_criteria, dtype=np.intp)]
    corners = np.concatenate([corners[~is_same], *nexts])
    has_bound = ~np.isnan(np.take_along_axis(bounds, np.minimum(corners, width).T - 1, axis=1).T)
    found: NDArray[np.intp] = corners[(has_bound & (corners < width)).all(axis=1)]
    return found
