"""What the blend measures of a sample: how near others are, how near these are to each other, and pair depths."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import row_blocks
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.pairs.nearest import dyads_with, nearest_by_sum, nearest_in_block, weighted_sum
from paretodepth.pairs.pairs import Pairs
from paretodepth.scoring.measures import LARGEST, Measures, joined, row_totals, typical_sizes
from paretodepth.scoring.methods import Measure

N_MEANS = (1, 5, 20)
"""Nearest samples whose dissimilarities are averaged, in each criterion."""
N_BALANCED = 5
"""The same for the sum of all criteria."""
N_LOCAL = 10
"""Nearest samples that a sample is joined to, and that it is compared with."""
BATCH_VALUES = 2**22
"""Dissimilarities of dyads whose depths are found in one go at fit, 32 MiB."""
TIED = 1e-10
"""Relative difference up to which distances count as tied: 0.3 - 0.2 and 0.2 - 0.1 differ in the last bits."""
SOFTENING = 1 / 1000
"""Share of the typical size that is added to both sides of a ratio: samples may be equal."""
NEAR: tuple[Measure, ...] = ("neighbor_means", "local_ratios", "balanced_mean", "balanced_ratio")
"""What is measured without fronts."""


class _Near(NamedTuple):
    """The nearest of the rows of a block in each criterion and, last, under the balanced sum; the nearest first.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_criteria + 1, n_listed)
        Columns of the block.
    distances : ndarray of shape (n_rows, n_criteria + 1, n_listed)
    """

    columns: NDArray[np.intp]
    distances: NDArray[np.float64]

    def means(self, n_nearest: int) -> NDArray[np.float64]:
        """Return the mean of the nearest distances, shape (n_rows, n_criteria + 1)."""
        # Added one after the other, so that no bit depends on how many rows there are.
        with np.errstate(over="ignore"):
            means: NDArray[np.float64] = self.distances[:, :, :n_nearest].cumsum(axis=2)[:, :, -1] / n_nearest
        return means


class _Part(NamedTuple):
    """What is measured of some samples without fronts and their neighbors' means.

    Attributes
    ----------
    measures : Measures
        All but ratios and depths.
    local_means : ndarray of shape (n_rows, n_criteria + 1)
        The mean of the 10 smallest distances.
    near : _Near
        The 10 nearest, and the next.
    dyads : ndarray of shape (n_rows, 10 n_criteria, n_criteria)
        With the 10 nearest in each criterion.
    """

    measures: Measures
    local_means: NDArray[np.float64]
    near: _Near
    dyads: NDArray[np.float64]


@dataclass(frozen=True)
class BlendMeasurer:
    """Takes the blend's measures from blocks of dissimilarities to the training samples.

    ``"neighbor_means"``
        the mean dissimilarity to the 1, 5 and 20 nearest training samples in each criterion, those
        of 1 first, (n_samples, 3 n_criteria);
    ``"local_ratios"``
        the mean dissimilarity to the 10 nearest as a multiple of their own mean dissimilarity to
        their 10 nearest, as in LOF, (n_samples, n_criteria); of training samples that are tied as the
        10th nearest, all share the remaining places evenly;
    ``"balanced_mean"``, ``"balanced_ratio"``
        the mean of 5, and the local ratio, of the sum of all criteria, each divided by its median
        nominal dyad, (n_samples,);
    ``"pair_depth"``
        the mean, over pairs of criteria, of the mid depth of the dyads with the 10 nearest in each of
        all criteria, as a share of the number of the pair's fronts, (n_samples,);
    ``"pair_depths"``
        for each pair of criteria the same of the dyads with the 10 nearest in these two, to find unusual
        combinations, (n_samples, n_pairs);
    ``"pair_shares"``
        for each pair of criteria its part of the mean that is ``"pair_depth"``, (n_samples, n_pairs).

    Attributes
    ----------
    fronts : PairFronts
    n_neighbors : ndarray of shape (n_criteria,)
        The neighbors in each criterion that a sample is joined to: 10, or all other samples.
    n_summed : ndarray of shape (n_criteria,)
        Those that must be known, at least one more.
    weights : ndarray of shape (n_criteria,)
        Of the criteria in the balanced sum.
    softening : ndarray of shape (n_criteria + 1,)
        What is added to both sides of a local ratio.
    local_means : ndarray of shape (n_training, n_criteria + 1)
        The mean dissimilarity of each training sample to its 10 nearest others.
    """

    fronts: PairFronts
    n_neighbors: NDArray[np.intp]
    n_summed: NDArray[np.intp]
    weights: NDArray[np.float64]
    softening: NDArray[np.float64]
    local_means: NDArray[np.float64]

    @classmethod
    def fit(cls, pairs: Pairs, fronts: PairFronts, typical: NDArray[np.float64]) -> tuple[BlendMeasurer, Measures]:
        """Return the measurer, and the measures of the training samples, each left out in turn.

        Parameters
        ----------
        pairs : Pairs
        fronts : PairFronts
        typical : ndarray of shape (n_criteria,)
            The median nominal dyad.
        """
        n_neighbors, n_summed = (np.full(pairs.n_criteria, count) for count in blend_counts(pairs.n_samples))
        unknown = np.empty((pairs.n_samples, pairs.n_criteria + 1))
        draft = cls(fronts, n_neighbors, n_summed, 1 / typical, unknown[0], unknown)
        blocks = row_blocks(pairs.n_samples, draft.values_per_row(pairs.n_samples))
        parts, depths = draft._with_depths(pairs.map(lambda pairs, rows: draft._part(pairs.block(rows)), blocks))
        measures = joined([part.measures for part in parts]) | joined(depths)
        local_means = np.concatenate([part.local_means for part in parts])
        sizes = np.concatenate((typical, typical_sizes(local_means[:, -1:])))
        measurer = replace(draft, softening=SOFTENING * np.minimum(sizes, LARGEST), local_means=local_means)

        def ratios(pairs: Pairs, part: tuple[slice, _Part]) -> NDArray[np.float64]:
            rows, known = part
            # To look at the dissimilarities once more is worth it only where some are tied.
            block = pairs.block(rows) if measurer._are_tied(known.near).any() else None
            return measurer._ratios(known, block, None)

        found = pairs.map(ratios, list(zip(blocks, parts, strict=True)))
        return measurer, measures | _named_ratios(np.concatenate(list(found)))

    @property
    def n_fronts(self) -> int:
        """The number of fronts, of all pairs of criteria together."""
        return sum(map(len, self.fronts.fronts))

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The pairs of criteria that have fronts."""
        return self.fronts.criteria

    @property
    def per_sample(self) -> list[NDArray[np.float64]]:
        """The local means."""
        return [self.local_means]

    @property
    def n_named(self) -> NDArray[np.intp]:
        """An explanation names those that a sample is joined to."""
        return self.n_neighbors

    @property
    def n_near(self) -> NDArray[np.intp]:
        """The nearest in each neighbor mean, shape (3, n_criteria)."""
        n_nearest = np.minimum(N_MEANS, len(self.local_means) - 1)
        return np.repeat(n_nearest[:, None], len(self.weights), axis=1)

    @property
    def n_near_in_all(self) -> int:
        """The nearest in the balanced mean."""
        return min(N_BALANCED, len(self.local_means) - 1)

    def values_per_row(self, n_training: int) -> int:
        """Return the values that a row of a block takes: its nearest dyads may be more than its dissimilarities."""
        return len(self.weights) * max(n_training, int(self.n_summed.sum()))

    def of(
        self, block: NDArray[np.float64], needed: Collection[Measure], numbers: NDArray[np.intp] | None = None
    ) -> Measures:
        """Return what is needed of the rows of a block."""
        return self._measured(block, needed, numbers)[0]

    def with_per_sample(
        self, block: NDArray[np.float64], needed: Collection[Measure]
    ) -> tuple[Measures, list[NDArray[np.float64]]]:
        """Return what `of` does, and the mean of each row's 10 smallest distances."""
        measures, local_means = self._measured(block, needed, None)
        return measures, [local_means]

    def _measured(
        self, block: NDArray[np.float64], needed: Collection[Measure], numbers: NDArray[np.intp] | None
    ) -> tuple[Measures, NDArray[np.float64]]:
        """Return what is needed of the rows of a block, and the mean of each row's 10 smallest distances."""
        part = self._part(block)
        measures = part.measures | _named_ratios(self._ratios(part, block, numbers))
        if not {"pair_depth", "pair_depths", "pair_shares"}.isdisjoint(needed):
            measures |= self._pair_depths(part.dyads)
        return {name: values for name, values in measures.items() if name in needed}, part.local_means

    def for_training(self, per_sample: list[NDArray[np.float64]]) -> BlendMeasurer:
        """Return this measurer for other training samples below the same fronts."""
        return replace(self, local_means=per_sample[0])

    def if_changed(
        self,
        block: NDArray[np.float64],
        dyads: NDArray[np.float64],
        measures: Measures,
        criterion: int,
        nominal: Measures,
    ) -> Measures:
        """Return what the score needs of rows whose dissimilarities in one criterion have been changed.

        The local ratio of that criterion is at most the typical one. Pairs of other criteria stay what they were.
        """
        found = self.of(block, NEAR)
        ratios = found["local_ratios"][:, criterion]
        np.minimum(ratios, np.median(nominal["local_ratios"][:, criterion]), out=ratios)
        changed = np.flatnonzero((self.pairs == criterion).any(axis=1))
        shares = measures["pair_shares"].copy()
        shares[:, changed] = self.pair_shares(dyads, changed.tolist())[1]
        return found | {"pair_depth": _mean_share(shares)}

    def _with_depths(
        self, parts: Iterable[_Part], *, batch_values: int = BATCH_VALUES
    ) -> tuple[list[_Part], list[Measures]]:
        """Return parts without their dyads, and the depths of these, found in large batches: a sweep likes many."""
        kept: list[_Part] = []
        waiting: list[NDArray[np.float64]] = []
        found: list[Measures] = []
        for part in parts:
            kept.append(part._replace(dyads=part.dyads[:0]))
            waiting.append(part.dyads)
            if sum(dyads.size for dyads in waiting) >= batch_values:
                found.append(self._pair_depths(np.concatenate(waiting)))
                waiting.clear()
        if waiting:
            found.append(self._pair_depths(np.concatenate(waiting)))
        return kept, found

    def _part(self, block: NDArray[np.float64]) -> _Part:
        """Return what is measured of the rows of a block without fronts and their neighbors' means."""
        n_listed, n_local, n_others = int(self.n_summed[0]), int(self.n_neighbors[0]), len(self.local_means) - 1
        near = self._near(block, n_listed)
        means = [near.means(min(k, n_others)) for k in N_MEANS]
        joined_to = near.columns[:, :-1, :n_local].reshape(block.shape[1], -1)
        measures: Measures = {
            "neighbor_means": np.concatenate([mean[:, :-1] for mean in means], axis=1),
            "balanced_mean": near.means(min(N_BALANCED, n_others))[:, -1],
        }
        nearest = _Near(near.columns[:, :, : n_local + 1], near.distances[:, :, : n_local + 1])
        return _Part(measures, np.minimum(near.means(n_local), LARGEST), nearest, dyads_with(block, joined_to))

    def _near(self, block: NDArray[np.float64], n_listed: int) -> _Near:
        """Return the nearest of the rows of a block."""
        n_criteria, n_rows, _ = block.shape
        columns = np.empty((n_rows, n_criteria + 1, n_listed), np.intp)
        distances = np.empty(columns.shape)
        columns[:, :-1] = nearest_in_block(block, np.full(n_criteria, n_listed)).reshape(n_rows, n_criteria, n_listed)
        for criterion, part in enumerate(block):
            distances[:, criterion] = np.take_along_axis(part, columns[:, criterion], axis=1)
        distances[:, -1], columns[:, -1] = nearest_by_sum(block, self.weights, n_listed)
        return _Near(columns, distances)

    def _pair_depths(self, dyads: NDArray[np.float64]) -> Measures:
        """Return the depths in pairs of criteria, from dyads of shape (n_rows, n_dyads, n_criteria)."""
        near, every = self.pair_shares(dyads)
        return {"pair_depth": _mean_share(every), "pair_depths": near, "pair_shares": every}

    def pair_shares(
        self, dyads: NDArray[np.float64], pairs: Sequence[int] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean depths as shares of the fronts, of all pairs or of some, each of shape (n_rows, n_pairs).

        First of the dyads with the nearest in a pair's criteria, then of those with the
        nearest in all; `dyads` are of shape (n_rows, n_dyads, n_criteria).
        """
        n_rows, n_dyads, n_criteria = dyads.shape
        n_local = n_dyads // n_criteria
        chosen = self.fronts.criteria if pairs is None else self.fronts.criteria[list(pairs)]
        near, every = np.empty((2, n_rows, len(chosen)))
        of_pairs = zip(chosen, self.fronts.depths(dyads.reshape(-1, n_criteria), pairs), strict=True)
        for pair, (criteria, (depths, n_fronts)) in enumerate(of_pairs):
            sums = row_totals(depths.reshape(-1, n_local)).reshape(n_rows, n_criteria)
            near[:, pair] = row_totals(sums[:, criteria]) / (n_local * len(criteria) * n_fronts)
            every[:, pair] = row_totals(sums) / (n_dyads * n_fronts)
        return near, every

    def _are_tied(self, near: _Near) -> NDArray[np.bool_]:
        """Return where others are as near as the last of the nearest, shape (n_rows, n_criteria + 1)."""
        _, farthest = _tied_range(near.distances[:, :, -2])
        return np.asarray(near.distances[:, :, -1] <= farthest)

    def _ratios(
        self, part: _Part, block: NDArray[np.float64] | None, numbers: NDArray[np.intp] | None
    ) -> NDArray[np.float64]:
        """Return the local ratios, shape (n_rows, n_criteria + 1); without ties no block is needed."""
        columns = part.near.columns[:, :, :-1]
        if numbers is not None:
            columns = np.take_along_axis(numbers[:, None], columns, axis=2)
        are_tied = self._are_tied(part.near)
        ratios = np.empty(are_tied.shape)
        for place, softening in enumerate(self.softening):
            means = self.local_means[columns[:, place], place]
            rows = np.flatnonzero(are_tied[:, place])
            if len(rows) and block is not None:
                of_columns = self.local_means[:, place] if numbers is None else self.local_means[numbers[rows], place]
                distances = part.near.distances[rows, place, :-1]
                nearest, farthest = _tied_range(distances[:, -1:])
                whole = weighted_sum(block[:, rows], self.weights) if place == len(block) else block[place, rows]
                is_tied = (nearest <= whole) & (whole <= farthest)
                if np.isinf(farthest).any():
                    # A sample is infinitely far from itself in every criterion; from others only a sum can be infinite.
                    is_tied &= np.isfinite(block[:, rows]).any(axis=0)
                means[rows] = np.where(distances < nearest, means[rows], _tied_means(is_tied, of_columns))
            # In rising order, so that no bit depends on the order of the training samples.
            means.sort(axis=1)
            expected = row_totals(means) / means.shape[1] + softening
            with np.errstate(over="ignore"):
                ratios[:, place] = np.minimum((part.local_means[:, place] + softening) / expected, LARGEST)
        return ratios


def blend_counts(n_training: int) -> tuple[int, int]:
    """Return (n_neighbors, n_listed) for a training set of this size.

    One more is listed than a sample is joined to, or all others, to see who is as near as the last.
    """
    n_others = n_training - 1
    n_local = min(N_LOCAL, n_others)
    return n_local, max(min(max(N_MEANS), n_others), n_local + 1)


def _mean_share(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the pairs of criteria, added in their order."""
    mean: NDArray[np.float64] = row_totals(shares) / shares.shape[1]
    return mean


def _tied_range(last: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest distance that count as tied with the last of the nearest."""
    with np.errstate(over="ignore"):
        return last * (1 - TIED), last * (1 + TIED)


def _tied_means(is_tied: NDArray[np.bool_], of_columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the tied columns of each row, shape (n_rows, 1).

    Added in rising order, so that no bit depends on the order of the training samples, nor on which others there are.
    """
    tied = np.sort(np.where(is_tied, of_columns, 0.0), axis=1)
    means: NDArray[np.float64] = row_totals(tied) / np.maximum(np.count_nonzero(is_tied, axis=1), 1)
    return means[:, None]


def _named_ratios(ratios: NDArray[np.float64]) -> Measures:
    """Return local ratios by the names of measures."""
    return {"local_ratios": ratios[:, :-1], "balanced_ratio": ratios[:, -1]}
