"""The lexicographic order of dyads, and dense ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paretodepth.fronts.fronts import _tied_places, _value_order


def lexicographic_order(dyads: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order that sorts by the first criterion, ties by the second, and so on; equal dyads as they come."""
    order, is_same = _value_order(dyads[:, 0])
    for column in dyads.T[1:]:
        if not is_same.any():
            break
        _order_ties(column, order, is_same)
    return order


def _order_ties(values: NDArray[np.float64], order: NDArray[np.intp], is_same: NDArray[np.bool_]) -> None:
    """Sort the runs of ties of an order by values, in place, and note what is still the same as the one before."""
    places = _tied_places(is_same)
    rows = order[places]
    by_value, _ = _value_order(values[rows])
    n_bits = len(rows).bit_length()
    keys = np.cumsum(~is_same[places], dtype=np.int64)[by_value]
    keys <<= n_bits
    keys |= np.arange(len(rows))
    keys.sort()
    keys &= (1 << n_bits) - 1
    rows = rows[by_value[keys]]
    order[places] = rows
    in_order = values[rows]
    is_same[places[1:]] &= in_order[1:] == in_order[:-1]


def dense_ranks(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the rank of each value among the distinct values."""
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.zeros(len(values), np.int32)
    ranks[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return ranks
