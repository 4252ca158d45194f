"""What is said of a sample: phrases, each a fact that was counted, chosen from what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.reference_range import ComparedValue

N_NAMED = 3
"""Nearest samples that are named at most."""
N_VALUES = 2
"""Columns of a criterion whose values are told."""
N_TOLD = 2
"""Criteria of which is told what is odd about them; more are listed."""
UNREASONED = ("typical", "uncalled", "called", "ordinary", "nearest")
"""Kinds of phrases that give no reason why a sample is unusual."""


class Phrase(NamedTuple):
    """One fact about a sample.

    Attributes
    ----------
    kind : str
        ``"typical"`` (p)
            not called, and no criterion alone is unusual; p is the sample's p-value;
        ``"uncalled"``, ``"called"`` (p)
            not called, though a criterion is unusual; called, by the threshold alone;
        ``"far"`` (k, n, of)
            so many other samples are at least as far, on average, from their k nearest; of all criteria, by
            their sum, each divided by its median;
        ``"match"`` (n)
            this many other samples are at dissimilarity 0;
        ``"local"`` (k)
            the mean dissimilarity to the k nearest is larger than theirs to their k nearest;
        ``"odd"`` (n, of)
            so many other samples are at least as odd in a criterion or two, or of all criteria, as strange;
        ``"unusual"``, ``"ordinary"``
            the p-value of each criterion alone is at most alpha, or above;
        ``"value"`` (a `Value`)
            what the sample has in a column, and what is usual there;
        ``"least"`` (a `Value`)
            the same of the criterion with the smallest p-value, though that is above alpha;
        ``"text"`` (text, text)
            what the sample has, and what a training sample has than which none is nearer;
        ``"along"`` (place, n_places)
            at which point a series or trajectory is farthest from that of a training sample than which none is
            nearer;
        ``"together"`` (a `Value`)
            what the sample has in a column of the second criterion, and what its nearest in the first have there;
        ``"nearest"`` (numbers of samples)
            none but those at dissimilarity 0 is nearer.
    criteria : tuple of int
        Which it is about.
    numbers : tuple
    """

    kind: str
    criteria: tuple[int, ...]
    numbers: tuple[Any, ...] = ()


class Counts(NamedTuple):
    """How many nominal samples reach what a sample does; of a block of samples a row more, here called s.

    A training sample is not counted among those that it is compared with.

    Attributes
    ----------
    n_nominal : ndarray of shape (s,)
        The samples that calibrate.
    n_strange : ndarray of shape (s,)
        Those of them that have at least the same score.
    n_odd : ndarray of shape (s, n_criteria)
        At least as odd in a criterion alone.
    n_far : ndarray of shape (s, n_counts, n_criteria)
        At least as far from their nearest in a criterion.
    n_nearest : ndarray of shape (s, n_counts, n_criteria)
        How many nearest that are.
    n_far_in_all : ndarray of shape (s,)
        At least as far from their nearest by the sum of all criteria.
    n_nearest_in_all : ndarray of shape (s,)
        How many nearest that are.
    n_pair_odd : ndarray of shape (s, n_pairs)
        At least as deep in a pair of criteria.
    n_equal : ndarray of shape (s, n_criteria)
        Training samples at dissimilarity 0.
    n_match : ndarray of shape (s, n_criteria)
        The same, but 0 for a new sample that equals a training sample in every criterion: it may be that sample.
    is_local : ndarray of shape (s, n_criteria)
        Whether the sample is unusually far from its nearest for what these are from theirs.
    """

    n_nominal: NDArray[np.intp]
    n_strange: NDArray[np.intp]
    n_odd: NDArray[np.intp]
    n_far: NDArray[np.intp]
    n_nearest: NDArray[np.intp]
    n_far_in_all: NDArray[np.intp]
    n_nearest_in_all: NDArray[np.intp]
    n_pair_odd: NDArray[np.intp]
    n_equal: NDArray[np.intp]
    n_match: NDArray[np.intp]
    is_local: NDArray[np.bool_]

    def of(self, sample: int) -> Counts:
        """Return what is counted for one sample."""
        return Counts(*(part[sample] for part in self))


class Case(NamedTuple):
    """What is known of a sample.

    Attributes
    ----------
    p_value : float
    is_anomaly : bool
    alpha : float
        Up to which p-value a criterion is unusual.
    p_values : ndarray of shape (n_criteria,)
        Of each criterion alone.
    distances : ndarray of shape (n_criteria,)
        How many times as far as usual the nearest are; of equal p-values the larger goes first.
    is_far : ndarray of shape (n_criteria,)
        Whether the sample is far in the criterion alone.
    neighbors : list of ndarray of shape (n_neighbors,)
        For each criterion the nearest training samples, the nearest first.
    pair : int
        Which pair of several criteria is odd; -1 if none stands out.
    pair_criteria : tuple of int
        The two.
    is_crowded : bool
        Whether others are near in all criteria at once, and nearer to each other.
    n_local : int
        How many nearest are compared with theirs.
    counts : Counts
        Of the sample.
    values : dict of list of Value
        By criterion, what it has in columns, the oddest first.
    texts : dict of tuple of str
        By criterion of text, what it has and what the nearest has.
    beside : callable
        Tells, of two criteria, what it has in the second and what its nearest in the first have there, or None.
    along : callable
        Tells, of a criterion and the number of equal samples, where along it is farthest from the nearest, or None.
    """

    p_value: float
    is_anomaly: bool
    alpha: float
    p_values: NDArray[np.float64]
    distances: NDArray[np.float64]
    is_far: NDArray[np.bool_]
    neighbors: list[NDArray[np.intp]]
    pair: int
    pair_criteria: tuple[int, ...]
    is_crowded: bool
    n_local: int
    counts: Counts
    values: Mapping[int, Sequence[ComparedValue]] = {}
    texts: Mapping[int, tuple[str, str]] = {}
    beside: Callable[[int, int], ComparedValue | None] = lambda kept, other: None
    along: Callable[[int, int], tuple[int, int] | None] = lambda criterion, n_equal: None


def phrases_of(case: Case) -> list[Phrase]:
    """Return what is to be said of a sample, the most important first.

    Of a criterion that is unusual and a combination that is too, the rarer goes first.
    """
    p_values = case.p_values
    by_oddity = np.lexsort((-case.distances, p_values)).tolist()
    unusual = [i for i in by_oddity if p_values[i] <= case.alpha]
    ordinary = [Phrase("ordinary", rest)] if (rest := _without(unusual, len(p_values))) else []
    if not case.is_anomaly:
        if not unusual:
            return [Phrase("typical", (), (case.p_value,)), *_nearest(case, by_oddity[:N_NAMED], 1)]
        values = [phrase for phrase in _values(case, unusual[0]) if _is_telling(phrase)]
        verdict = [Phrase("uncalled", (), (case.p_value,)), Phrase("unusual", tuple(unusual))]
        return [*verdict, *(values or _nearest(case, unusual[:1], N_NAMED))]
    far = [i for i in unusual if case.is_far[i]]
    if not far:
        if len(p_values) == 1:
            return [Phrase("called", (), (case.p_value,)), *_nearest(case, [0], N_NAMED)]
        joint = _joint(case)
        if not unusual:
            return [*ordinary, *joint, *([] if joint[-1].kind == "together" else _least(case, by_oddity[0]))]
        alone = _told_unusual(case, unusual)
        is_alone = joint[0].kind != "local" and case.counts.n_odd[unusual[0]] <= joint[0].numbers[-2]
        return [*alone, *ordinary, *joint] if is_alone else [*joint, *alone, *ordinary]
    told = [phrase for criterion in far[:N_TOLD] for phrase in _told(case, criterion)]
    rest = tuple(far[N_TOLD:] + [i for i in unusual if not case.is_far[i]])
    also = [Phrase("unusual", rest)] if rest else []
    return [*told, *also, *ordinary, *_nearest(case, far[:1], N_NAMED)]


def main_criterion(phrases: Sequence[Phrase], n_criteria: int) -> int:
    """Return the criterion that phrases open with, the main reason, by index; -1 if that is a combination of several.

    Examples
    --------
    >>> main_criterion([Phrase("ordinary", (0, 1)), Phrase("odd", (0, 1), (2, 900))], 2)
    -1
    >>> main_criterion([Phrase("uncalled", (), (0.06,)), Phrase("unusual", (1, 0))], 2)
    1
    """
    if n_criteria == 1:
        return 0
    first = next((phrase for phrase in phrases if phrase.kind not in UNREASONED), None)
    is_one = first is not None and (len(first.criteria) == 1 or first.kind == "unusual")
    return first.criteria[0] if first is not None and is_one else -1


def _told(case: Case, criterion: int) -> list[Phrase]:
    """Return what a sample has in a criterion in which it is far, and how far that is."""
    values, within = _values(case, criterion), []
    if not values and (value := case.beside(criterion, criterion)) is not None:
        # Each of several columns is as usual: those that are near have something else in one of them.
        within = [Phrase("together", (criterion, criterion), (value,))]
    return [*values, *_oddity(case, criterion), *within]


def _is_telling(phrase: Phrase) -> bool:
    """Tell whether a value is beyond the usual, or of a kind that has no such range."""
    return phrase.kind != "value" or phrase.numbers[0].unusualness > 0


def _without(criteria: Sequence[int], n_criteria: int) -> tuple[int, ...]:
    return tuple(i for i in range(n_criteria) if i not in criteria)


def _values(case: Case, criterion: int) -> list[Phrase]:
    """Return what a sample has in a criterion: in its only column, or where it is odd in several."""
    values = case.values.get(criterion, ())
    told = values if len(values) == 1 else [value for value in values if value.unusualness > 0][:N_VALUES]
    phrases = [Phrase("value", (criterion,), (value,)) for value in told if value.is_known]
    if criterion in case.texts:
        phrases.append(Phrase("text", (criterion,), case.texts[criterion]))
    place = case.along(criterion, int(case.counts.n_equal[criterion]))
    return phrases if place is None else [*phrases, Phrase("along", (criterion,), place)]


def _least(case: Case, criterion: int) -> list[Phrase]:
    """Return what a sample has beyond the usual in the criterion that is odder than the others."""
    return [
        Phrase("least", (criterion,), (value,)) for value in case.values.get(criterion, ())[:1] if value.unusualness
    ]


def _oddity(case: Case, criterion: int) -> list[Phrase]:
    """Return what is odd about a sample in one criterion."""
    counts, of, about = case.counts, int(case.counts.n_nominal), (criterion,)
    # Of several as few, the smallest number of nearest.
    fewest = int(counts.n_far[:, criterion].argmin())
    n_far, k = int(counts.n_far[fewest, criterion]), int(counts.n_nearest[fewest, criterion])
    if _is_rare(case, n_far):
        n_match = int(counts.n_match[criterion])
        match = [Phrase("match", about, (n_match,))] if n_match else []
        return [Phrase("far", about, (k, n_far, of)), *match]
    if counts.is_local[criterion]:
        return [Phrase("local", about, (case.n_local,))]
    return [Phrase("odd", about, (int(counts.n_odd[criterion]), of))]


def _joint(case: Case) -> list[Phrase]:
    """Return what is odd about an anomaly that is far in no criterion alone."""
    counts, of, every = case.counts, int(case.counts.n_nominal), tuple(range(len(case.p_values)))
    if case.is_crowded:
        return [Phrase("local", every, (case.n_local,))]
    if case.pair >= 0:
        odd = Phrase("odd", case.pair_criteria, (int(counts.n_pair_odd[case.pair]), of))
        return [odd, *(_together(case, case.pair_criteria) or _nearest(case, case.pair_criteria, 1))]
    together = _together(case, every) if len(every) == 2 else []
    if _is_rare(case, int(counts.n_far_in_all)):
        return [Phrase("far", every, (int(counts.n_nearest_in_all), int(counts.n_far_in_all), of)), *together]
    return [Phrase("odd", every, (int(counts.n_strange), of)), *together]


def _told_unusual(case: Case, unusual: Sequence[int]) -> list[Phrase]:
    """Return which criteria are unusual though not far, the first of them with its values and how rare it is."""
    first, *rest = unusual
    odd = Phrase("odd", (first,), (int(case.counts.n_odd[first]), int(case.counts.n_nominal)))
    return [*_values(case, first), odd, *([Phrase("unusual", tuple(rest))] if rest else [])]


def _together(case: Case, pair: Sequence[int]) -> list[Phrase]:
    """Return what a sample has in one of two criteria if its nearest in the other have something else."""
    for kept, other in (tuple(pair), tuple(pair)[::-1]):
        value = case.beside(kept, other)
        if value is not None:
            return [Phrase("together", (kept, other), (value,))]
    return []


def _is_rare(case: Case, n_samples: int) -> bool:
    return (1 + n_samples) / (1 + int(case.counts.n_nominal)) <= case.alpha


def _nearest(case: Case, criteria: Sequence[int] | NDArray[np.intp], n_named: int) -> list[Phrase]:
    """Return the nearest training samples in some criteria, without those at dissimilarity 0.

    Samples that are equal are at dissimilarity 0 from each other, and have the same nearest beyond.
    """
    phrases = []
    for criterion in map(int, criteria):
        first = int(case.counts.n_equal[criterion])
        named = case.neighbors[criterion][first : first + n_named].tolist()
        if named:
            phrases.append(Phrase("nearest", (criterion,), tuple(named)))
    return phrases
