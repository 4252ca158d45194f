"""The words of an explanation: sentences and tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

N_NAMED = 2
"""Nearest nominal samples that a sentence names."""
ODDITIES = {
    "far": "far from every {others} sample in {}",
    "sparse": "farther from its nearest {others} samples than usual in {}",
    "local": "close to others in {}, but farther than these are from each other",
}
"""In what way a sample is odd in criteria."""


class Case(NamedTuple):
    """What the sentence about a sample is made of.

    Attributes
    ----------
    criteria : list of str
        The criteria's names.
    p_value : float
        Of the sample.
    is_anomaly : bool
    alpha : float
        Up to which p-value a criterion is unusual.
    p_values : ndarray of shape (n_criteria,)
        Of each criterion alone.
    is_far : ndarray of shape (n_criteria,)
        Whether the sample is far in the criterion alone.
    neighbors : list of ndarray of shape (n_neighbors,)
        For each criterion the nearest training samples, the nearest first.
    oddities : ndarray of shape (n_criteria,)
        In what way the sample is far, a key of `ODDITIES`.
    pair : list of int
        The two of several criteria that are odd together; empty if none stand out.
    is_crowded : bool
        Whether others are near in all criteria at once, and nearer to each other.
    others : str
        What the training samples are to this one: "nominal", or "other" ones of the same file.
    """

    criteria: list[str]
    p_value: float
    is_anomaly: bool
    alpha: float
    p_values: NDArray[np.float64]
    is_far: NDArray[np.bool_]
    neighbors: list[NDArray[np.intp]]
    oddities: NDArray[np.str_]
    pair: list[int]
    is_crowded: bool
    others: str = "nominal"


def sentence(case: Case) -> str:
    """Return why a sample is strange, or that it is not."""
    p_values, p_value = case.p_values, f"p = {shown(case.p_value)}"
    unusual = [i for i in np.argsort(p_values, kind="stable") if p_values[i] <= case.alpha]
    if not case.is_anomaly:
        verdict = f"Ordinary ({p_value})"
        if unusual:
            verdict = f"Not strange enough to be called ({p_value}), though unusual in {_with_p(case, unusual)}"
        return f"{verdict}; {_nearest(case, range(len(p_values)))}."
    far = [i for i in unusual if case.is_far[i]]
    if far:
        return _far_sentence(case, far, [i for i in unusual if not case.is_far[i]])
    if len(p_values) == 1:
        return f"Stranger in {_with_p(case, [0])} than {case.others} samples may be; {_nearest(case, [0])}."
    alone = "ordinary in each criterion alone"
    if unusual:
        alone = f"far in no criterion alone, though unusual in {_with_p(case, unusual)}"
    return f"{alone.capitalize()}, but {_joint_oddity(case)} ({p_value})."


def _joint_oddity(case: Case) -> str:
    """Return what is odd about an anomaly that is far in no criterion alone."""
    if case.is_crowded:
        return "farther from the samples near in all of them at once than these are from each other"
    if case.pair:
        return f"no {case.others} sample is near in {_enumerated([case.criteria[i] for i in case.pair])} at once"
    return f"no {case.others} sample is near in all of them at once"


def _far_sentence(case: Case, far: Sequence[int], between: Sequence[int]) -> str:
    """Return the sentence about an anomaly that is far in some criteria, and unusual in others."""
    groups = {name: [i for i in far if case.oddities[i] == name] for name in ODDITIES}
    parts = [ODDITIES[name].format(_with_p(case, group), others=case.others) for name, group in groups.items() if group]
    parts[0] = parts[0][0].upper() + parts[0][1:]
    if between:
        parts.append(f"unusual in {_with_p(case, between)}")
    ordinary = [i for i in range(len(case.p_values)) if case.p_values[i] > case.alpha]
    if ordinary:
        names = _enumerated([case.criteria[i] for i in ordinary])
        parts.append(f"{names} {'is' if len(ordinary) == 1 else 'are'} ordinary")
    closest = ordinary or [int(np.argmax(case.p_values))]
    return f"{'; '.join(parts)}; {_nearest(case, closest)}."


def _with_p(case: Case, criteria: Sequence[int]) -> str:
    """Return criteria's names with their p-values."""
    return _enumerated([f"{case.criteria[i]} (p = {shown(case.p_values[i])})" for i in criteria])


def _nearest(case: Case, criteria: Sequence[int]) -> str:
    """Return the nearest nominal samples in some criteria."""
    named = (f"by {case.criteria[i]}: {', '.join(map(str, case.neighbors[i][:N_NAMED]))}" for i in criteria)
    return f"nearest {'; '.join(named)}"


def shown(p_value: float) -> str:
    """Return a p-value with the digits that matter."""
    return f"{p_value:.2f}" if p_value >= 0.1 else f"{p_value:.1g}"


def _enumerated(words: Sequence[str]) -> str:
    """Return 'a', 'a and b' or 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for notebooks, its text escaped."""
    lines = [_html_row("th", headings), *(_html_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
