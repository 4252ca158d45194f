"""Pareto fronts of dyads: the number of each dyad's front, and fronts as a mergeable summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches, gen_even_slices

from paretodepth._kernels.staircases import group_by_front, number_pairs
from paretodepth._kernels.sweeps import MOVES_LEFT, Staircases, number_triples, raise_above, settle_few
from paretodepth._kernels.trees import ask_tree, settle_block
from paretodepth.blocks import threads
from paretodepth.trees import MAX_HEIGHT, build_tree
from paretodepth.validation import check_dyads, check_front_number, check_mergeable, check_optional_count

BLOCK_DYADS = 512
"""Dyads that ask the tree before they settle between themselves, which costs its square."""
FEW_DYADS = 128
"""Dyads that are faster compared with each other than swept."""
MAX_MOVES = 1024
"""Points pushed aside per dyad, on average, before the staircases are held to be too long."""


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
        Threads for five and more criteria, as in scikit-learn: None is 1, -1 all cores.
        Changes no result.

    Returns
    -------
    numbers : ndarray of shape (n_dyads,)
        Front numbers, starting at 1.

    Notes
    -----
    One and two criteria cost O(n log n). Three and four are swept along one criterion,
    with a staircase of two others kept per front; four in a divide and conquer. More
    criteria, and sets on which these staircases get long, search a k-d tree.

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
    order, _, numbers_in_order = number_fronts(check_dyads(dyads, "front_numbers"), n_jobs)
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
        _, ordered, numbers = number_fronts(dyads, n_jobs)
        if max_depth is not None:
            kept = (numbers <= max_depth) & _is_new(ordered)
            ordered, numbers = ordered[kept], numbers[kept]
        # No dyad has front number 0, so a count of it starts the sums.
        starts = np.cumsum(np.bincount(numbers, minlength=1))
        grouped = np.empty_like(ordered)
        group_by_front(ordered, numbers, starts.copy(), grouped)
        return cls(grouped, starts, max_depth)

    def merge(self, other: Fronts) -> Fronts:
        """Return the fronts of both sets of dyads together, up to the smaller of the two caps."""
        check_mergeable(self, other, "Fronts.merge")
        caps = [fronts.max_depth for fronts in (self, other) if fronts.max_depth is not None]
        dyads = np.concatenate((self.dyads, other.dyads))
        return self._of_checked(dyads, min(caps, default=None), None)

    def __len__(self) -> int:
        """Return the number of fronts."""
        return len(self.starts) - 1

    def front(self, number: int) -> NDArray[np.float64]:
        """Return the dyads of one front, 1 for the first."""
        number = check_front_number(number, len(self), "Fronts.front")
        return self.dyads[self.starts[number - 1] : self.starts[number]]

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The front number of each row of `dyads`."""
        return np.repeat(np.arange(1, len(self) + 1), np.diff(self.starts))


def number_fronts(
    dyads: NDArray[np.float64], n_jobs: int | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Return the dyads' lexicographic order, the dyads in that order and their front numbers in that order."""
    order = lexicographic_order(dyads)
    ordered = dyads.take(order, axis=0)
    if dyads.shape[1] == 2:
        return order, ordered, number_pairs(ordered)
    is_new = _is_new(ordered)
    if is_new.all():
        return order, ordered, _number_distinct(ordered, n_jobs)
    return order, ordered, _number_distinct(ordered[is_new], n_jobs)[np.cumsum(is_new) - 1]


def _is_new(ordered: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which of dyads in lexicographic order differ from the one before."""
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return is_new


def _number_distinct(ordered: NDArray[np.float64], n_jobs: int | None) -> NDArray[np.intp]:
    """Return the front numbers of distinct dyads in lexicographic order."""
    n_dyads, n_criteria = ordered.shape
    if n_criteria == 1 or n_dyads == 0:
        return np.arange(1, n_dyads + 1)
    numbers = None
    if n_criteria == 3:
        numbers = _number_by_sweep(ordered)
    elif n_criteria == 4:
        numbers = _number_by_halves(ordered)
    return _number_by_tree(ordered, n_jobs) if numbers is None else numbers


def _number_by_sweep(ordered: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the front numbers of distinct three-criteria dyads in lexicographic order; None if staircases get long."""
    stairs = _new_staircases(len(ordered), MAX_MOVES * len(ordered))
    numbers = np.zeros(len(ordered), np.intp)
    number_triples(ordered, stairs, numbers)
    return None if stairs.totals[MOVES_LEFT] < 0 else numbers


def _number_by_halves(ordered: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the front numbers of distinct four-criteria dyads in lexicographic order; None if staircases get long.

    A half of the dyads is settled, raises the numbers of the other half by a sweep along
    the second criterion, and then that half is settled, each by halves of its own. Unrolled:
    before a block is settled, the longest run of blocks that forms a first half and ends
    there raises the second.
    """
    n_dyads = len(ordered)
    numbers = np.ones(n_dyads, np.intp)
    stairs = _new_staircases(n_dyads, MAX_MOVES * n_dyads)
    keys = np.empty(n_dyads, np.int64)
    by_second = np.argsort(ordered[:, 1], kind="stable")
    keys[by_second] = (np.arange(n_dyads) << 32) | by_second
    for block, rows in enumerate(gen_batches(n_dyads, FEW_DYADS)):
        if block > 0:
            half = (block & -block) * FEW_DYADS
            lower, upper = keys[rows.start - half : rows.start], keys[rows.start : rows.start + half]
            raise_above(ordered, numbers, np.sort(lower), np.sort(upper), stairs)
        if stairs.totals[MOVES_LEFT] < 0:
            return None
        settle_few(ordered, numbers, rows.start, rows.stop)
    return numbers


def _number_by_tree(ordered: NDArray[np.float64], n_jobs: int | None) -> NDArray[np.intp]:
    """Return the front numbers of distinct dyads in lexicographic order, by asking a tree.

    Of the dyads before a dyad, those nowhere larger in the second to last criterion dominate
    it. Blocks of dyads ask for the largest front number among these, then settle between themselves.
    """
    n_dyads = len(ordered)
    # Ranks in place of values: half the memory, and memory is what the searches wait for.
    points = np.column_stack([dense_ranks(column) for column in ordered.T[1:]])
    places, lower, upper = build_tree(points, np.arange(MAX_HEIGHT) % points.shape[1])
    positions = np.empty(n_dyads, np.intp)
    positions[places] = np.arange(n_dyads)
    numbers, found = np.zeros((2, n_dyads), np.int32)
    deepest = np.zeros(len(lower), np.int32)
    near = np.empty(0, np.intp)

    def ask(part: slice) -> None:
        ask_tree(points, (lower, upper), numbers, deepest, near[part], found)

    with threads(n_jobs) as (n_threads, over):
        for block in gen_batches(n_dyads, BLOCK_DYADS):
            # In tree order, so that one search finds in the cache what the one before it read.
            near = np.sort(positions[block])
            list(over(ask, gen_even_slices(len(near), min(n_threads, len(near)))))
            settle_block(points, numbers, deepest, positions[block], found)
    return numbers[positions].astype(np.intp)


def _new_staircases(n_points: int, max_moves: int) -> Staircases:
    """Return empty staircases for at most `n_points` points."""
    return Staircases(
        # Capacities double from two on, so that all a staircase ever used is below four times its length.
        np.empty((4 * n_points, 2)),
        np.zeros((n_points + 2, 3), np.intp),
        np.array([0, max_moves]),
    )


def lexicographic_order(dyads: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order that sorts by the first criterion, ties by the second, and so on; equal dyads as they come."""
    order, is_same = _value_order(dyads[:, 0])
    for column in dyads.T[1:]:
        if not is_same.any():
            break
        _order_ties(column, order, is_same)
    return order


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


def _tied_places(is_same: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of all that is the same as the one before or after."""
    is_tied = is_same.copy()
    is_tied[:-1] |= is_same[1:]
    return np.flatnonzero(is_tied)


def dense_ranks(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the rank of each value among the distinct values."""
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.zeros(len(values), np.int32)
    ranks[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return ranks
