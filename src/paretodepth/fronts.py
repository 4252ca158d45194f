"""Pareto fronts of dyads: the number of each dyad's front, and fronts as a mergeable summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretodepth._kernels.staircases import number_pairs
from paretodepth._kernels.trees import number_sorted
from paretodepth.validation import check_count, check_dyads

LEAF_SIZE = 8


def front_numbers(dyads: ArrayLike) -> NDArray[np.intp]:
    """Return the number of the Pareto front each dyad lies on.

    A dyad dominates another if it is nowhere larger and somewhere smaller. Front 1 holds
    the dyads that no other dominates; a dyad of front f > 1 is dominated by one of front
    f - 1 and by none of its own or a later front. Equal dyads share a front.

    Parameters
    ----------
    dyads : array-like of shape (n_dyads, n_criteria)
        Dissimilarities, smaller is more alike. Infinity is allowed, NaN is not. Nothing
        ties this function to dissimilarities: it sorts any vectors to be minimised.

    Returns
    -------
    numbers : ndarray of shape (n_dyads,)
        Front numbers, starting at 1.

    Notes
    -----
    One and two criteria cost O(n log n); more criteria search a k-d tree, well below
    O(n²) on everything but contrived sets.

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
    return number_fronts(check_dyads(dyads, "front_numbers"))[1]


@dataclass(frozen=True, eq=False)
class Fronts:
    """Fronts 1…L of a set of dyads, a summary that can be merged.

    What lies beyond front L in a part of a set lies beyond it in the whole, and whatever
    dominates a kept dyad is kept. So the fronts 1…L of a union follow exactly from the
    fronts 1…L of its parts, whatever the parts and the order of merging.

    Attributes
    ----------
    dyads : ndarray of shape (n_dyads, n_criteria)
        The dyads of fronts 1…L, front by front, lexicographically within a front.
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
    def from_dyads(cls, dyads: ArrayLike, *, max_depth: int | None = None) -> Fronts:
        """Return fronts 1…max_depth of the dyads, or all fronts.

        Parameters
        ----------
        dyads : array-like of shape (n_dyads, n_criteria)
            Dissimilarities as in :func:`front_numbers`.
        max_depth : int or None, default=None
            The last front to keep.
        """
        max_depth = max_depth and check_count(max_depth, "max_depth", "Fronts.from_dyads")
        return cls._of_checked(check_dyads(dyads, "Fronts.from_dyads"), max_depth)

    @classmethod
    def _of_checked(cls, dyads: NDArray[np.float64], max_depth: int | None) -> Fronts:
        """Return the fronts of dyads that need no check."""
        order, numbers = number_fronts(dyads)
        numbers = numbers[order]
        if max_depth is not None:
            kept = numbers <= max_depth
            order, numbers = order[kept], numbers[kept]
        by_front = np.argsort(numbers, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(numbers)[1:], dtype=np.intp)))
        return cls(dyads[order[by_front]], starts, max_depth)

    def merge(self, other: Fronts) -> Fronts:
        """Return the fronts of both sets of dyads together, up to the smaller of the two caps."""
        caps = [fronts.max_depth for fronts in (self, other) if fronts.max_depth is not None]
        dyads = np.concatenate((self.dyads, other.dyads))
        return self._of_checked(dyads, min(caps, default=None))

    def __len__(self) -> int:
        """Return the number of fronts."""
        return len(self.starts) - 1

    def front(self, number: int) -> NDArray[np.float64]:
        """Return the dyads of one front, 1 for the first."""
        return self.dyads[self.starts[number - 1] : self.starts[number]]

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The front number of each row of `dyads`."""
        return np.repeat(np.arange(1, len(self) + 1), np.diff(self.starts))


def number_fronts(dyads: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the dyads' lexicographic order and, in their given order, their front numbers."""
    order = lexicographic_order(dyads)
    if len(dyads) == 0:
        return order, np.empty(0, np.intp)
    if dyads.shape[1] == 2:
        return order, number_pairs(dyads, order)
    ordered = dyads[order]
    is_new = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    group = np.cumsum(is_new) - 1
    numbers = np.empty(len(dyads), np.intp)
    if dyads.shape[1] == 1:
        numbers[order] = group + 1
    else:
        numbers[order] = number_sorted(ordered[is_new], LEAF_SIZE)[group]
    return order, numbers


def lexicographic_order(dyads: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order that sorts by the first criterion, ties by the second, and so on."""
    order = np.argsort(dyads[:, 0])
    first = dyads[order, 0]
    ties = first[1:] == first[:-1]
    # Ties are rare: only the tied rows are sorted by all criteria, back into their places.
    is_tied = np.zeros(len(order), bool)
    is_tied[1:] |= ties
    is_tied[:-1] |= ties
    if is_tied.any():
        tied = order[is_tied]
        order[is_tied] = tied[np.lexsort(dyads[tied].T[::-1])]
    return order
