"""The lexicographic order of dyads, and dense ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def lexicographic_order(dyads: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order that sorts by the first criterion, ties by the second, and so on; equal dyads as they come."""
    order, is_same = _value_order(dyads[:, 0])
    for column in dyads.T[1:]:
        # Most often the first criterion has no ties, and one sort is all there is to do.
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
    # The run in the first bits, the place by value in the last: a plain sort puts the runs together again.
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
    # Need not be stable: equal values get one rank.
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.zeros(len(values), np.int32)
    ranks[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return ranks


def _value_order(values: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the order of values, equal ones as they come, and which in this order equal the one before."""
    n_bits = len(values).bit_length()
    # The bits of a float sort like the float, once those of negative ones are turned round. Their
    # last ones make room for the row, and a plain sort, far faster than one of indices, does.
    keys = (values + 0.0).view(np.int64)
    keys ^= (keys >> 63) & np.int64(2**63 - 1)
    keys >>= n_bits
    keys <<= n_bits
    keys |= np.arange(len(values))
    keys.sort()
    order = keys & ((1 << n_bits) - 1)
    keys >>= n_bits
    is_same = np.zeros(len(values), bool)
    is_same[1:] = keys[1:] == keys[:-1]
    if is_same.any():
        _settle_keys(values, order, is_same)
    return order, is_same


def _settle_keys(values: NDArray[np.float64], order: NDArray[np.intp], is_same: NDArray[np.bool_]) -> None:
    """Sort in full, in place, the runs of equal keys that hold different values: the keys lack the last bits."""
    places = _tied_places(is_same)
    in_order = values[order[places]]
    runs = np.cumsum(~is_same[places])
    is_changed = is_same[places]
    is_changed[1:] &= in_order[1:] != in_order[:-1]
    # Runs of equal values are in order already, by the rows in their keys; to sort them again would cost most
    # where values are tied most.
    if not is_changed.any():
        return
    is_mixed = np.zeros(runs[-1] + 1, bool)
    is_mixed[runs[is_changed]] = True
    is_mixed = is_mixed[runs]
    places, runs = places[is_mixed], runs[is_mixed]
    rows = order[places]
    rows = rows[np.lexsort((values[rows], runs))]
    order[places] = rows
    is_same[places[1:]] &= values[rows[1:]] == values[rows[:-1]]


def _tied_places(is_same: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of all that is the same as the one before or after."""
    is_tied = is_same.copy()
    is_tied[:-1] |= is_same[1:]
    return np.flatnonzero(is_tied)
