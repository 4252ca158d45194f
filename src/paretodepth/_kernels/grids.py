"""Any number of criteria, few values in each: a grid with a cell for every dyad there can be."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._kernels import compiled

N_SEARCHES = 64
"""Searches that go side by side."""


@compiled
def append_digits(
    dyads: NDArray[np.float64],
    criterion: int,
    values: NDArray[np.float64],
    codes: NDArray[np.int64],
    places: NDArray[np.intp],
) -> None:
    """Append to each dyad's code, as a digit, the place, 1 for the first, of its value among the sorted values.

    Searches find room in `places` and go side by side, so that none waits for another.
    """
    for start in range(0, dyads.shape[0], places.shape[0]):
        n_searches = min(places.shape[0], dyads.shape[0] - start)
        for search in range(n_searches):
            places[search] = 0
        length = values.shape[0]
        while length > 1:
            half = length >> 1
            for search in range(n_searches):
                places[search] += half * (values[places[search] + half] <= dyads[start + search, criterion])
            length -= half
        for search in range(n_searches):
            codes[start + search] = codes[start + search] * (values.shape[0] + 1) + places[search] + 1


@compiled
def number_cells(cells: NDArray[np.int32], steps: NDArray[np.intp]) -> None:
    """Set each cell to the length of the longest row of dyads, in it and below, of which each dominates the next.

    A cell is 1 if it holds dyads, 0 if none, and -1 if it is at the edge, where the place in some
    criterion is 0. To the cell before in a criterion it is so many steps.
    """
    for cell in range(cells.shape[0]):
        if cells[cell] < 0:
            cells[cell] = 0
        else:
            longest = np.int32(0)
            for criterion in range(steps.shape[0]):
                longest = max(longest, cells[cell - steps[criterion]])
            cells[cell] += longest


class Layer(NamedTuple):
    """A grid of all criteria but the first.

    Attributes
    ----------
    cells : ndarray of shape (n_cells,)
        The deepest front met so far, in a cell and below.
    rows : ndarray of shape (n_rows,)
        Where the rows of cells along the last criterion start, but those at an edge, where the place in some
        criterion is 0.
    steps : ndarray of shape (n_criteria - 2,)
        From a row to the one before it, in each of the other criteria.
    width : int
        Cells of a row.
    """

    cells: NDArray[np.int16]
    rows: NDArray[np.intp]
    steps: NDArray[np.intp]
    width: int


@compiled
def number_layers(
    firsts: NDArray[np.int64], places: NDArray[np.int64], layer: Layer, numbers: NDArray[np.intp]
) -> None:
    """Write the front numbers of distinct dyads in lexicographic order, one value of the first criterion at a time.

    `firsts` are the places of the dyads in the first criterion, `places` their cells in the layer, which starts with
    zeros and holds what all values so far have brought.
    """
    cells, rows, steps, width = layer
    dyad = 0
    while dyad < firsts.shape[0]:
        first = firsts[dyad]
        for start in rows:
            row = cells[start : start + width]
            # Most rows hold no dyad, and to take the larger of two rows is a matter of a few vectors.
            for step in steps:
                before = cells[start - step : start - step + width]
                for place in range(width):
                    row[place] = max(row[place], before[place])
            number = np.int16(0)
            while dyad < firsts.shape[0] and firsts[dyad] == first and places[dyad] < start + width:
                # Never before the row, even if NaN has put dyads out of order.
                place = max(places[dyad] - start, 0)
                number = max(number, row[place]) + np.int16(1)
                numbers[dyad] = number
                dyad += 1
                end = width
                if dyad < firsts.shape[0] and firsts[dyad] == first:
                    end = min(end, places[dyad] - start)
                # A row rises: what is as deep ends what feels the dyad, if not the next dyad of the row does.
                while place < end and row[place] < number:
                    row[place] = number
                    place += 1
