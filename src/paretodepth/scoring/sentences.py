"""Sentences about samples: facts that were counted, the most important first, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paretodepth.scoring.sample_values import own_text, range_text, shortened, value_text

if TYPE_CHECKING:
    from paretodepth.scoring.explanation import Explanation

COMBINATION = "unusual combination"
"""The main reason for a flagged sample that no criterion alone explains."""
RECORDS = {"nominal": "reference record", "other": "other record", "fitted": "fitted record"}
"""The samples that a sample is compared with."""
MAX_LETTERS = 180
"""Of a sentence, two lines of a terminal; the least important phrases are dropped beyond."""
TEXT_LETTERS = 24
"""Of a text that is quoted."""
N_LISTED = 3
"""Criteria that are named; of more, the rest is counted."""
N_VALUES = 2
"""Columns of a criterion whose values are shown."""
N_EXPLAINED = 2
"""Criteria whose reasons are explained; more are listed."""
FEW = 0.1
"""Share of samples up to which a count reads "only"."""
LEADING = ("value", "text")


class Phrase(NamedTuple):
    """One fact about a sample.

    Attributes
    ----------
    kind : str
        ``"verdict"`` (p, is_anomaly)
            the sample's p-value, and whether it is flagged;
        ``"value"`` (a `ComparedValue`)
            what the sample has in a column, and what is typical there;
        ``"text"`` (text, text)
            what the sample has, and what a training sample has than which none is nearer;
        ``"far"`` (k, n, of, n_match)
            n other samples are at least as far, on average, from their k nearest, of all criteria by their sum, each
            divided by its median; `n_match` are at dissimilarity 0;
        ``"local"`` (k)
            the mean dissimilarity to the k nearest is larger than theirs to their k nearest;
        ``"rare"`` (n, of)
            n other samples are at least as unusual in a criterion or two or, of all criteria, score at least as high;
        ``"joint"`` (`ComparedValue` or None, …)
            the next phrase is about these criteria together, and these are the sample's values in them;
        ``"contrast"`` (a `ComparedValue`)
            what the sample has in a column of the second criterion, and what its nearest in the first have there;
        ``"also"``
            the p-value of each criterion alone is at most alpha.
    criteria : tuple of int
    numbers : tuple
    """

    kind: str
    criteria: tuple[int, ...]
    numbers: tuple[Any, ...] = ()


def phrases_of(explanation: Explanation, sample: int) -> list[Phrase]:
    """Return what is to be said of a sample, the most important first.

    Of a criterion that is unusual and a combination that is too, the rarer goes first.
    """
    p_values = explanation.criterion_p_values[sample]
    by_p_value = np.lexsort((-explanation.distances[sample], p_values)).tolist()
    unusual = [criterion for criterion in by_p_value if p_values[criterion] <= explanation.alpha]
    is_anomaly = bool(explanation.is_anomaly[sample])
    verdict = Phrase("verdict", (), (float(explanation.p_values[sample]), is_anomaly))
    if not is_anomaly:
        values = [phrase for criterion in unusual[:1] for phrase in _values(explanation, sample, criterion)]
        values = [phrase for phrase in values if not _is_idle(phrase)]
        return [*values, *_also(unusual[bool(values) :]), verdict]
    far = [criterion for criterion in unusual if explanation.is_far[sample, criterion]]
    if far:
        reasons = [phrase for criterion in far[:N_EXPLAINED] for phrase in _far_reason(explanation, sample, criterion)]
        return [*reasons, *_also([c for c in unusual if c not in far[:N_EXPLAINED]])]
    if len(p_values) == 1:
        return [*_values(explanation, sample, 0), verdict._replace(criteria=(0,))]
    joint = _joint_reason(explanation, sample)
    if not unusual:
        return joint
    n_rarer = int(explanation.counts.n_odd[sample, unusual[0]])
    rare = Phrase("rare", (unusual[0],), (n_rarer, int(explanation.counts.n_nominal[sample])))
    alone = [*_values(explanation, sample, unusual[0]), rare, *_also(unusual[1:])]
    return [*alone, *joint] if joint[1].kind != "local" and n_rarer <= joint[1].numbers[1] else [*joint, *alone]


def main_criterion(phrases: Sequence[Phrase], n_criteria: int) -> int:
    """Return the criterion that phrases open with, the main reason, by index; -1 if that is a combination of several.

    Examples
    --------
    >>> main_criterion([Phrase("joint", (0, 1), (None, None)), Phrase("rare", (0, 1), (2, 900))], 2)
    -1
    >>> main_criterion([Phrase("also", (1, 0)), Phrase("verdict", (), (0.06, False))], 2)
    1
    """
    if n_criteria == 1:
        return 0
    return -1 if phrases[0].kind in ("joint", "verdict") else phrases[0].criteria[0]


def _also(criteria: Sequence[int]) -> list[Phrase]:
    return [Phrase("also", tuple(criteria))] if criteria else []


def _far_reason(explanation: Explanation, sample: int, criterion: int) -> list[Phrase]:
    """Return what a sample has in a criterion in which it is far, and how far that is."""
    values, contrast = _values(explanation, sample, criterion), []
    if not values:
        # Each of several columns is typical: those that are near have something else in one of them.
        contrast = _contrast(explanation, sample, criterion, criterion)
    return [*values, _distance_reason(explanation, sample, criterion), *contrast]


def _values(explanation: Explanation, sample: int, criterion: int) -> list[Phrase]:
    """Return what a sample has in a criterion: in its only column, or beyond the typical in several."""
    values = explanation.values.of(sample).get(criterion, [])
    chosen = values if len(values) == 1 else [value for value in values if value.unusualness > 0][:N_VALUES]
    texts = explanation.values.texts_of(sample)
    phrases = [Phrase("value", (criterion,), (value,)) for value in chosen if value.is_known]
    return phrases + ([Phrase("text", (criterion,), texts[criterion])] if criterion in texts else [])


def _distance_reason(explanation: Explanation, sample: int, criterion: int) -> Phrase:
    """Return what is unusual about a sample in one criterion."""
    counts, about = explanation.counts.of(sample), (criterion,)
    # Of several as few, the smallest number of nearest.
    fewest = int(counts.n_far[:, criterion].argmin())
    n_far, k = int(counts.n_far[fewest, criterion]), int(explanation.n_near[fewest, criterion])
    if _is_rare(explanation, sample, n_far):
        return Phrase("far", about, (k, n_far, int(counts.n_nominal), int(counts.n_match[criterion])))
    if counts.is_local[criterion]:
        return Phrase("local", about, (explanation.n_local,))
    return Phrase("rare", about, (int(counts.n_odd[criterion]), int(counts.n_nominal)))


def _joint_reason(explanation: Explanation, sample: int) -> list[Phrase]:
    """Return what is unusual about an anomaly that is far in no criterion alone."""
    counts, every = explanation.counts.of(sample), tuple(range(len(explanation.criteria)))
    of, pair, about = int(counts.n_nominal), _suspected_pair(explanation, sample), every
    if explanation.is_crowded[sample]:
        reason = Phrase("local", every, (explanation.n_local,))
    elif pair >= 0:
        about = tuple(explanation.pairs[pair].tolist())
        reason = Phrase("rare", about, (int(counts.n_pair_odd[pair]), of))
    elif _is_rare(explanation, sample, int(counts.n_far_in_all)):
        reason = Phrase("far", every, (explanation.n_near_in_all, int(counts.n_far_in_all), of, 0))
    else:
        reason = Phrase("rare", every, (int(counts.n_strange), of))
    values = explanation.values.of(sample)
    first = tuple(next((value for value in values.get(c, []) if value.is_known), None) for c in about)
    contrast: list[Phrase] = []
    if len(about) == 2 and reason.kind != "local":
        contrast = _contrast(explanation, sample, *about) or _contrast(explanation, sample, *about[::-1])
    return [Phrase("joint", about, first), reason, *contrast]


def _suspected_pair(explanation: Explanation, sample: int) -> int:
    """Return which two of three and more criteria are an unusual combination, -1 if no pair is more so than others."""
    p_values = explanation.pair_p_values[sample]
    if len(p_values) < 2:
        return -1
    first = int(p_values.argmin())
    return first if p_values[first] <= explanation.alpha and p_values[first] < np.median(p_values) else -1


def _contrast(explanation: Explanation, sample: int, kept: int, other: int) -> list[Phrase]:
    """Return what a sample has in one criterion if its nearest in another have something else there."""
    value = explanation.values.beside(sample, kept, other)
    return [] if value is None else [Phrase("contrast", (kept, other), (value,))]


def _is_rare(explanation: Explanation, sample: int, n_samples: int) -> bool:
    return (1 + n_samples) / (1 + int(explanation.counts.n_nominal[sample])) <= explanation.alpha


def _is_idle(phrase: Phrase) -> bool:
    """Tell whether a phrase says no more than that a value is typical, or nothing but the value."""
    return phrase.kind == "value" and phrase.numbers[0].kind != "category" and not phrase.numbers[0].direction


def sentence(phrases: Sequence[Phrase], names: Sequence[str], others: str) -> str:
    """Return phrases as one sentence, which opens with the main reason.

    Parameters
    ----------
    phrases : list of Phrase
    names : list of str
        The criteria's names.
    others : str
        What the training samples are to this one: "nominal", "other" ones of the same file, or those "fitted" of it.
    """
    short = [shortened(name) for name in names]
    kept = list(phrases)
    text = _joined(kept, short, others)
    while len(text) > MAX_LETTERS and len(kept) > 1:
        place = max(range(len(kept)), key=lambda place: (_dispensability(kept, place), place))
        # What is said of a combination goes with its name.
        del kept[place - (place > 1 and kept[place - 1].kind == "joint") : place + 1]
        text = _joined(kept, short, others)
    if len(text) > MAX_LETTERS:
        text = _joined([kept[0]._replace(numbers=())] if kept[0].kind == "joint" else kept, short, others)
    return text if phrases[0].criteria and phrases[0].kind != "joint" else f"{text[0].upper()}{text[1:]}"


def _dispensability(phrases: Sequence[Phrase], place: int) -> int:
    """Return how soon a phrase is dropped from a long sentence; the main reason is last."""
    phrase = phrases[place]
    if phrase.kind in ("also", "contrast"):
        return 4
    if _is_idle(phrase):
        return 3
    if phrase.kind == "rare" and len(phrase.criteria) == 1 and place > 0:
        return 2
    if phrase.criteria != phrases[0].criteria:
        return 1 if phrase.kind in LEADING or len(phrase.criteria) > 1 else 2
    return int(place > 0 and phrase.kind in LEADING)


def _joined(phrases: Sequence[Phrase], names: Sequence[str], others: str) -> str:
    """Return a sentence that says all phrases in their order."""
    text = ""
    for place, phrase in enumerate(phrases):
        words = _words(phrase, names, others, is_first=place == 0)
        before = phrases[place - 1] if place else None
        is_same = before is not None and before.criteria == phrase.criteria
        if phrase.kind in (*LEADING, "far", "rare", "local") and len(phrase.criteria) == 1 and not is_same:
            words = _opening(phrase, names) + words
        if before is None:
            text = words
        elif is_same and before.kind == "joint":
            text += f": {words}"
        elif is_same and before.kind in LEADING and phrase.kind in LEADING:
            text += f" and {words}"
        else:
            text += f", but {words}" if _is_idle(before) and is_same else f"; {words}"
    return f"{text}."


def _opening(phrase: Phrase, names: Sequence[str]) -> str:
    """Return the name of a phrase's criterion, unless its words start with that name or the column's."""
    name = names[phrase.criteria[0]]
    if phrase.kind == "text":
        return ""
    if phrase.kind == "value":
        column = shortened(phrase.numbers[0].name)
        return "" if column == name or name.startswith(f"{column} (") else f"{name}: "
    return f"{name}: "


def _words(phrase: Phrase, names: Sequence[str], others: str, *, is_first: bool) -> str:
    """Return one phrase in words."""
    kind, numbers = phrase.kind, phrase.numbers
    if kind == "verdict":
        return _verdict(phrase, names, is_first=is_first)
    if kind == "value":
        return value_text(numbers[0], RECORDS[others])
    if kind == "text":
        own, nearest = (repr(shortened(text, TEXT_LETTERS)) for text in numbers)
        closest = "" if numbers[0] == numbers[1] else f" (closest: {nearest})"
        return f"{names[phrase.criteria[0]]} {own}{closest}"
    if kind == "joint":
        return f"{COMBINATION} of {_combined(phrase, names)}"
    if kind == "also":
        listed = _listed([names[criterion] for criterion in phrase.criteria])
        return f"{listed} {'is' if len(phrase.criteria) == 1 else 'are'} unusual" if is_first else f"also {listed}"
    if kind == "contrast":
        return _contrast_words(phrase, names)
    combined = (
        f" in {'both' if len(phrase.criteria) == 2 else 'all criteria'} combined" if len(phrase.criteria) > 1 else ""
    )
    if kind == "local":
        return f"farther from its {numbers[0]} closest{combined} than these are from theirs"
    if kind == "rare" and len(phrase.criteria) > 1:
        n_samples, of = numbers
        whom = f"all {of:,}" if not n_samples else f"{of - n_samples:,} of {of:,}"
        return f"rarer than in {whom} {RECORDS[others]}s"
    return _counted(phrase, RECORDS[others], combined)


def _verdict(phrase: Phrase, names: Sequence[str], *, is_first: bool) -> str:
    """Return whether a sample is flagged, and its p-value."""
    p_value, is_anomaly = phrase.numbers
    if is_anomaly:
        opening = f"{names[phrase.criteria[0]]}: " if phrase.criteria and is_first else ""
        return f"{opening}the score is above the threshold (p = {p_text(p_value)})"
    return f"{'typical' if is_first else 'not flagged'} (p = {p_text(p_value)})"


def _combined(phrase: Phrase, names: Sequence[str]) -> str:
    """Return several criteria, with the sample's values if they are few and known."""
    if len(phrase.criteria) > N_LISTED:
        return f"all {len(names)} criteria"
    named = []
    for criterion, value in zip(phrase.criteria, phrase.numbers or [None] * len(phrase.criteria), strict=True):
        name = names[criterion]
        if value is None:
            named.append(name)
        elif name == shortened(value.name) or name.startswith(f"{shortened(value.name)} ("):
            named.append(f"{shortened(value.name)} ({own_text(value)})")
        else:
            named.append(f"{name} ({shortened(value.name)} {own_text(value)})")
    return _listed(named)


def _contrast_words(phrase: Phrase, names: Sequence[str]) -> str:
    """Return what a sample's nearest in one criterion have in another, unlike the sample."""
    (value,) = phrase.numbers
    closest, column = f"the {value.n_samples} closest in {names[phrase.criteria[0]]}", shortened(value.name)
    if value.kind == "category":
        return f"none of {closest} has {column} {own_text(value)}"
    return f"{closest} have {column} {range_text(value)}, not {own_text(value)}"


def _counted(phrase: Phrase, record: str, combined: str) -> str:
    """Return how many samples are as far or as unusual as this one."""
    *k, n_samples, of = phrase.numbers[:3] if phrase.kind == "far" else phrase.numbers
    adjective = "this far" if k else "as unusual"
    closest = ("closest match" if k[0] == 1 else f"{k[0]} closest") if k else ""
    match = ""
    if phrase.kind == "far" and (n_match := phrase.numbers[3]):
        match = f", though {n_match:,} {'matches' if n_match == 1 else 'match'} exactly"
    if not n_samples:
        return f"no {record} is {adjective}{f' from its {closest}' if k else ''}{combined}{match}"
    only = "only " if n_samples <= FEW * of else ""
    verb, whose = ("is", "its") if n_samples == 1 else ("are", "their")
    from_closest = f" from {whose} {closest}" if k else ""
    return f"{only}{n_samples:,} of {of:,} {record}s {verb} {adjective}{from_closest}{combined}{match}"


def p_text(p_value: float) -> str:
    """Return a p-value with the digits that matter."""
    return f"{p_value:.2g}"


def _listed(words: Sequence[str]) -> str:
    """Return 'a', 'a and b' or 'a, b and c'; of more than three, the rest is counted."""
    if len(words) > N_LISTED:
        words = [*words[: N_LISTED - 1], f"{len(words) - N_LISTED + 1} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
