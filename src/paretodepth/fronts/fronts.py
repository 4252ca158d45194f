"""Pareto fronts of dyads: their order, the number of each dyad's front, and fronts as a mergeable summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._blocks import stride
from paretodepth._checks import check_optional_count, is_integer
from paretodepth._kernels.grids import N_SEARCHES, append_digits
from paretodepth._kernels.two_criteria import group_by_front, number_pairs
from paretodepth.fronts.numbering import (
    MAX_MOVES,
    dense_ranks,
    distinct_values,
    number_distinct,
    number_few_values,
)

KEY_BITS = 63
"""Bits of an integer key that is not negative."""
FEW_VALUES = 1024
"""Number of values up to which searching is faster than sorting."""
FEW_DYADS = 256
"""Number of dyads up to which one sort by all criteria is faster."""
N_LOOKED_AT = 1000
"""Values that show whether most are tied."""


def front_numbers(dyads: ArrayLike, *, n_jobs: int | None = None) -> NDArray[np.intp]:
    """Return the number of the Pareto front each dyad lies on.

    A dyad dominates another if it is nowhere larger and somewhere smaller. Front 1 holds
    the dyads that no other dominates; a dyad of front f > 1 is dominated by one of front
    f - 1 and by none of its own or a later front. Equal dyads share a front.

    Parameters
    ----------
    dyads : array-like of shape (n_dyads, n_criteria)
        Dissimilarities, smaller is more alike. Infinity is allowed, NaN is not. Nothing
        ties this function to dissimilarities: it sorts any vectors to be minimised.
    n_jobs : int or None, default=None
        Threads for four and more criteria, as in scikit-learn: None is 1, -1 all cores.
        Changes no result.

    Returns
    -------
    numbers : ndarray of shape (n_dyads,)
        Front numbers, starting at 1.

    Notes
    -----
    One and two criteria cost O(n log n). Three are swept along one criterion, with a
    staircase of two others kept per front, and so are more than a million dyads of four, in a
    divide and conquer. More criteria, and sets on which these staircases get long, search
    a k-d tree. Dyads of few values are counted along a grid of all dyads that these values can form.

    References
    ----------
    Section 3 of Hsiao, Xu, Calder, Hero, "Multi-criteria Anomaly Detection using Pareto
    Depth Analysis", NIPS 2012.

    Examples
    --------
    >>> from paretodepth import front_numbers
    >>> front_numbers([[1, 4], [2, 2], [4, 1], [3, 3], [4, 4], [2, 2]])
    array([1, 1, 1, 2, 3, 1])
    """
    dyads = check_dyads(dyads, "front_numbers")
    numbers = _number_by_grid(dyads)
    if numbers is None:
        order, _, numbers_in_order = _number_in_order(dyads, n_jobs, MAX_MOVES, None)
        numbers = np.empty_like(numbers_in_order)
        numbers[order] = numbers_in_order
    return numbers


@dataclass(frozen=True, eq=False)
class Fronts:
    """Fronts 1…L of a set of dyads, a summary that can be merged.

    What lies beyond front L in a part of a set lies beyond it in the whole, and whatever
    dominates a kept dyad is kept. So the fronts 1…L of a union follow exactly from the
    fronts 1…L of its parts, whatever the parts and the order of merging.

    Attributes
    ----------
    dyads : ndarray of shape (n_dyads, n_criteria)
        The dyads of fronts 1…L, front by front, lexicographically within a front. With a cap
        equal dyads are kept once: pairs of many samples with few values have the same over and over.
    starts : ndarray of shape (n_fronts + 1,)
        Front f is ``dyads[starts[f - 1]:starts[f]]``.
    max_depth : int or None
        The cap L: dyads of later fronts were dropped. None: none were.

    Examples
    --------
    >>> from paretodepth import Fronts
    >>> fronts = Fronts.from_dyads([[1, 3], [3, 1], [2, 4], [4, 4]])
    >>> fronts
    <Fronts: 3 fronts of 4 dyads under 2 criteria>
    >>> len(fronts)
    3
    >>> fronts.front(1)
    array([[1., 3.],
           [3., 1.]])
    >>> merged = fronts.merge(Fronts.from_dyads([[0, 2]]))
    >>> merged.front(1)
    array([[0., 2.],
           [3., 1.]])
    """

    dyads: NDArray[np.float64]
    starts: NDArray[np.intp]
    max_depth: int | None = None

    @classmethod
    def from_dyads(cls, dyads: ArrayLike, *, max_depth: int | None = None, n_jobs: int | None = None) -> Fronts:
        """Return fronts 1…max_depth of the dyads, or all fronts.

        Parameters
        ----------
        dyads : array-like of shape (n_dyads, n_criteria)
            Dissimilarities as in :func:`front_numbers`.
        max_depth : int or None, default=None
            The last front to keep.
        n_jobs : int or None, default=None
            Threads, as in :func:`front_numbers`.
        """
        max_depth = check_optional_count(max_depth, "max_depth", "Fronts.from_dyads")
        return cls._of_checked(check_dyads(dyads, "Fronts.from_dyads"), max_depth, n_jobs)

    @classmethod
    def _of_checked(cls, dyads: NDArray[np.float64], max_depth: int | None, n_jobs: int | None) -> Fronts:
        """Return the fronts of dyads that need no check."""
        _, ordered, numbers = number_fronts(dyads, n_jobs, max_depth=max_depth)
        if max_depth is not None:
            kept = (numbers <= max_depth) & is_new(ordered)
            ordered, numbers = ordered[kept], numbers[kept]
        return cls.of_numbered(ordered, numbers, max_depth)

    @classmethod
    def of_numbered(cls, ordered: NDArray[np.float64], numbers: NDArray[np.intp], max_depth: int | None) -> Fronts:
        """Return the fronts of dyads in lexicographic order, all to be kept, with their front numbers."""
        # No dyad has front number 0, so a count of it starts the sums.
        starts = np.cumsum(np.bincount(numbers, minlength=1))
        grouped = np.empty_like(ordered)
        group_by_front(ordered, numbers, starts.copy(), grouped)
        return cls(grouped, starts, max_depth)

    def merge(self, other: Fronts) -> Fronts:
        """Return the fronts of both sets of dyads together, up to the smaller of the two caps."""
        check_mergeable(other, self.dyads.shape[1])
        caps = [fronts.max_depth for fronts in (self, other) if fronts.max_depth is not None]
        dyads = np.concatenate((self.dyads, other.dyads))
        return self._of_checked(dyads, min(caps, default=None), None)

    def __repr__(self) -> str:
        cap = "" if self.max_depth is None else f", max_depth={self.max_depth}"
        n_dyads, n_criteria = self.dyads.shape
        return f"<Fronts: {len(self):,} fronts of {n_dyads:,} dyads under {n_criteria} criteria{cap}>"

    def __len__(self) -> int:
        """Return the number of fronts."""
        return len(self.starts) - 1

    def front(self, number: int) -> NDArray[np.float64]:
        """Return the dyads of one front, 1 for the first."""
        number = check_front_number(number, len(self))
        return self.dyads[self.starts[number - 1] : self.starts[number]]

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The front number of each row of `dyads`."""
        return np.repeat(np.arange(1, len(self) + 1), np.diff(self.starts))


def check_dyads(dyads: ArrayLike, caller: str) -> NDArray[np.float64]:
    """Return dyads as a C-contiguous float64 array of shape (n_dyads, n_criteria) without NaN."""
    array = np.asarray(dyads)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"The 'dyads' parameter of {caller} must hold real numbers. Got dtype {array.dtype} instead; "
            "convert it to float first."
        )
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"The 'dyads' parameter of {caller} must have the shape (n_dyads, n_criteria) with at least one "
            f"criterion. Got the shape {array.shape} instead; use dyads.reshape(-1, 1) for one criterion."
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    is_nan = np.isnan(array)
    if is_nan.any():
        row, criterion = np.argwhere(is_nan)[0]
        raise ValueError(
            f"The 'dyads' parameter of {caller} must hold no NaN. Got one in row {row}, criterion {criterion}; "
            "drop that dyad or impute it."
        )
    return array


def check_front_number(number: object, n_fronts: int) -> int:
    """Return a front number from 1 to `n_fronts`."""
    if not is_integer(number) or not 1 <= number <= n_fronts:  # type: ignore[operator]
        raise ValueError(
            f"The 'number' parameter of Fronts.front must be an integer from 1 to {n_fronts}, the number of fronts. "
            f"Got {number!r} instead."
        )
    return int(number)  # type: ignore[call-overload, no-any-return]


def check_mergeable(other: object, n_criteria: int) -> None:
    """Refuse to merge anything but fronts of dyads of the same criteria."""
    if not isinstance(other, Fronts):
        raise TypeError(f"The 'other' parameter of Fronts.merge must be Fronts. Got {other!r} instead.")
    if other.dyads.shape[1] != n_criteria:
        raise ValueError(
            f"The 'other' parameter of Fronts.merge must hold dyads of {n_criteria} criteria. "
            f"Got {other.dyads.shape[1]} instead."
        )


def number_fronts(
    dyads: NDArray[np.float64], n_jobs: int | None, *, max_moves: int = MAX_MOVES, max_depth: int | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Return the dyads' lexicographic order, the dyads in that order and their front numbers in that order.

    Numbers that exceed `max_depth` are only known to do so.
    """
    numbers = _number_by_grid(dyads)
    if numbers is not None:
        order = lexicographic_order(dyads)
        return order, dyads.take(order, axis=0), numbers[order]
    order, distinct, numbers = _number_in_order(dyads, n_jobs, max_moves, max_depth)
    return order, distinct if len(distinct) == len(dyads) else dyads.take(order, axis=0), numbers


def _number_by_grid(dyads: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the front numbers of dyads with few values in every criterion, otherwise None."""
    is_tied = dyads.shape[1] > 1 and all(_seem_tied(column) for column in dyads.T)
    return number_few_values(dyads) if is_tied else None


def _seem_tied(values: NDArray[np.float64]) -> bool:
    """Return whether most of the values seem to equal others, judging by some of them."""
    some = np.sort(values[stride(len(values), N_LOOKED_AT)])
    return bool(2 * np.count_nonzero(some[1:] == some[:-1]) > len(some))


def _number_in_order(
    dyads: NDArray[np.float64], n_jobs: int | None, max_moves: int, max_depth: int | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Return the dyads' lexicographic order, the distinct dyads in that order and the front numbers of all in it."""
    # In this order no dyad dominates an earlier one, so that one pass can number them.
    order, is_same = _order_and_same(dyads)
    has_same = is_same.any()
    # Of distinct dyads, one that is nowhere larger dominates: half the comparisons.
    distinct = dyads.take(order[~is_same] if has_same else order, axis=0)
    is_pair = dyads.shape[1] == 2
    numbers = number_pairs(distinct) if is_pair else number_distinct(distinct, n_jobs, max_moves, max_depth)
    return order, distinct, numbers[np.cumsum(~is_same) - 1] if has_same else numbers


def is_new(ordered: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of dyads in lexicographic order differ from the one before."""
    is_first: NDArray[np.bool_] = np.arange(len(ordered)) == 0
    for column in ordered.T:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first


def lexicographic_order(dyads: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the stable order by the first criterion, ties by the second, and so on."""
    if len(dyads) <= FEW_DYADS:
        return np.lexsort(dyads.T[::-1])
    return _order_and_same(dyads)[0]


def _order_and_same(dyads: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the lexicographic order and which dyads in this order equal the one before."""
    if _seem_tied(dyads[:, 0]):
        packed = _packed_order(dyads)
        if packed is not None:
            return packed
    order, is_same = value_order(dyads[:, 0])
    for column in dyads.T[1:]:
        # Most often the first criterion has no ties, and one sort is all there is to do.
        if not is_same.any():
            break
        order_ties(column, order, is_same)
    return order, is_same


def _packed_order(dyads: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
    """Return what `_order_and_same` does by one sort of the dyads' ranks as digits; None if keys get too long."""
    n_bits = len(dyads).bit_length()
    keys = np.zeros(len(dyads), np.int64)
    n_keys = 1
    for criterion, column in enumerate(dyads.T):
        values = distinct_values(column)
        if n_keys * (len(values) + 1) >> (KEY_BITS - n_bits):
            # The digits so far become one, which has fewer values than they could have.
            keys = dense_ranks(keys).astype(np.int64)
            n_keys = int(keys.max()) + 1
            if n_keys == len(dyads):
                break
        n_keys *= len(values) + 1
        if n_keys >> (KEY_BITS - n_bits):
            return None
        if len(values) <= FEW_VALUES:
            append_digits(dyads, criterion, values, keys, np.empty(N_SEARCHES, np.intp))
        else:
            keys *= len(values) + 1
            keys += dense_ranks(column)
    return _order_of_keys(keys, n_bits)


def _order_of_keys(keys: NDArray[np.int64], n_bits: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the order of keys, which it uses up, and which in this order equal the one before; rows take `n_bits`."""
    # A plain sort of keys with the row in their last bits is far faster than one of indices.
    keys <<= n_bits
    keys |= np.arange(len(keys))
    keys.sort()
    order = keys & ((1 << n_bits) - 1)
    keys >>= n_bits
    is_same = np.zeros(len(keys), bool)
    is_same[1:] = keys[1:] == keys[:-1]
    return order, is_same


def order_ties(values: NDArray[np.float64], order: NDArray[np.intp], is_same: NDArray[np.bool_]) -> None:
    """Sort the runs of ties of an order by values, in place, and update which are still the same as the one before."""
    places = _tied_places(is_same)
    rows = order[places]
    by_value, _ = value_order(values[rows])
    n_bits = len(rows).bit_length()
    # The run in the first bits, the position by value in the last: a plain sort puts the runs together again.
    keys = np.cumsum(~is_same[places], dtype=np.int64)[by_value]
    keys <<= n_bits
    keys |= np.arange(len(rows))
    keys.sort()
    keys &= (1 << n_bits) - 1
    rows = rows[by_value[keys]]
    order[places] = rows
    in_order = values[rows]
    is_same[places[1:]] &= in_order[1:] == in_order[:-1]


def value_order(values: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the stable order of values, and which in this order equal the one before."""
    n_bits = len(values).bit_length()
    # The bits of a float sort like the float, once those of negative ones are inverted; the row replaces the last ones.
    keys = (values + 0.0).view(np.int64)
    keys ^= (keys >> 63) & np.int64(2**63 - 1)
    keys >>= n_bits
    order, is_same = _order_of_keys(keys, n_bits)
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
    # Runs of equal values are in order already, by the rows in their keys; to sort them again would cost most where
    # most values are tied.
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
    """Return the positions of all that equal the one before or after."""
    is_tied = is_same.copy()
    is_tied[:-1] |= is_same[1:]
    return np.flatnonzero(is_tied)
