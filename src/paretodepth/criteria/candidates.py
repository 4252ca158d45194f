"""Criteria that the columns of a table call for, and which of them stay if there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import rank_correlations
from paretodepth.criteria.column_kinds import ColumnKind, as_numbers, moments_of
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.grouping import number_groups
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.values import Column

IN_ORDER = 0.9
"""Rank correlation of times and rows from which on times increase with the rows."""
MIN_WEEKDAYS = 70
"""Times from which on it shows that a weekday is rare."""
MAX_COMMON_SHARE = 0.9
"""Share of equal values from which on a column of numbers or categories makes no criterion of its own."""
N_NAMED = 3
"""Columns of a group that its name lists; of more, the first and the last."""
WEEKDAY, ELAPSED, SPEED, TIME_OF_DAY, TEXT, SEQUENCE = range(6)
"""The order in which criteria are dropped if there are too many; categories join the numbers before `TIME_OF_DAY`."""
TEXT_METRIC, TEXT_PARAMS = "levenshtein", {"normalized": True}
NUMBERS, CATEGORIES = ("number", "amount"), ("category", "flag")
COMPARED = {
    "number": "compared by difference",
    "amount": "compared by ratio, below the median by difference",
    "category": "equal or not, a rare difference counts more",
    "flag": "equal or not, a rare difference counts more",
}
Key = str | int


class CandidateCriterion(NamedTuple):
    """A criterion that may be suggested.

    Attributes
    ----------
    criterion : Criterion
    columns : list of str
        The names of its columns.
    how : dict of str
        How each of them is compared, in words.
    rank : tuple of float
        If there are too many, those of the lowest rank are dropped first.
    """

    criterion: Criterion
    columns: list[str]
    how: dict[str, str]
    rank: tuple[float, float]


def candidates(
    found: Sequence[ColumnKind], keys: Mapping[str, Key], max_criteria: int
) -> tuple[list[CandidateCriterion], dict[str, str]]:
    """Return at most `max_criteria` criteria, and why other columns that could be compared are not."""
    skipped: dict[str, str] = {}
    alone = [candidate for column in found for candidate in _alone(column, keys[column.name], skipped)]
    numbers, categories = ([column for column in found if column.kind in kinds] for kinds in (NUMBERS, CATEGORIES))
    if numbers and all(map(_is_coarse, categories)):
        numbers, categories = numbers + categories, []
    is_joined = False
    while len(alone) + bool(numbers) + (bool(categories) and not is_joined) > max_criteria:
        lowest = min(alone, key=lambda candidate: candidate.rank, default=None)
        if numbers and categories and not is_joined and (lowest is None or lowest.rank[0] >= TIME_OF_DAY):
            is_joined = True
        elif lowest is not None:
            alone.remove(lowest)
            skipped[lowest.columns[0]] = f"no room for it among {max_criteria} criteria"
    n_free = max_criteria - len(alone) - (bool(categories) and not is_joined)
    if is_joined:
        groups = [numbers + categories]
    else:
        groups = _number_groups(numbers, n_free) + ([categories] if categories else [])
    kept = alone + [_of_group(group, keys) for group in groups]
    order = {name: position for position, name in enumerate(keys)}
    return sorted(kept, key=lambda candidate: order[candidate.columns[0]]), skipped


def _number_groups(found: Sequence[ColumnKind], max_groups: int) -> list[list[ColumnKind]]:
    """Return columns of numbers, and flags among them, in groups that vary together."""
    if not found:
        return []
    codes = [as_numbers(c.values) if c.kind in NUMBERS else _is_common(c.values).astype(np.float64) for c in found]
    is_coarse = [_is_coarse(column) for column in found]
    groups = number_groups(np.column_stack(codes), max_groups, None if all(is_coarse) else is_coarse)
    return [[found[column] for column in group] for group in groups]


def _is_coarse(column: ColumnKind) -> bool:
    """Tell whether nearly all values of a column are equal: as a criterion it would be mostly ties."""
    return bool(len(column.values) and _is_common(column.values).mean() > MAX_COMMON_SHARE)


def _is_common(values: Column) -> NDArray[np.bool_]:
    """Tell which values are the most frequent one."""
    most = Counter(values.tolist()).most_common(1)[0][0]
    return np.array([value == most for value in values.tolist()])


def _of_group(group: Sequence[ColumnKind], keys: Mapping[str, Key]) -> CandidateCriterion:
    """Return the criterion of some columns of numbers and categories."""
    names = [column.name for column in group]
    by_ratio = [keys[column.name] for column in group if column.kind == "amount"]
    # Text needs no word to be taken for categories.
    as_categories = [
        keys[column.name]
        for column in group
        if column.kind in CATEGORIES and not any(isinstance(value, str) for value in column.values)
    ]
    params: dict[str, Any] = {"ratio": by_ratio, "categories": as_categories}
    params = {name: columns for name, columns in params.items() if columns}
    metric = "difference" if [column.kind for column in group] == ["number"] else "scaled"
    columns: Any = [keys[name] for name in names]
    criterion = Criterion(group_name(names), columns, metric, **params)
    how = {column.name: COMPARED[column.kind] for column in group}
    return CandidateCriterion(criterion, names, how, (SEQUENCE, 0))


def group_name(names: Sequence[str]) -> str:
    """Return a name for a group of columns.

    Examples
    --------
    >>> group_name(["width", "height"]), group_name(["v1", "v2", "v3", "v7"])
    ('width + height', 'v1 … v7')
    """
    return " + ".join(names) if len(names) <= N_NAMED else f"{names[0]} … {names[-1]}"


def _alone(column: ColumnKind, key: Key, skipped: dict[str, str]) -> list[CandidateCriterion]:
    """Return the criteria of a column that is compared on its own; a column without one is explained in `skipped`."""
    of_kind = {"text": _of_text, "time": _of_times, "set": _of_set, "series": _of_series, "trajectory": _of_paths}
    if column.kind not in of_kind:
        return []
    found = of_kind[column.kind](column)
    if isinstance(found, str):
        skipped[column.name] = found
        return []
    # Of two texts the one with more words stays.
    n_words = sum(len(text.split()) for text in column.values if isinstance(text, str))
    return [
        CandidateCriterion(Criterion(name, key, metric, **params), [column.name], {column.name: how}, (rank, n_words))
        for name, metric, params, how, rank in found
    ]


Alone = list[tuple[str, str, dict[str, Any], str, int]] | str
"""Of each criterion of a column: its name, metric, parameters, how it compares and its rank; or why there is none."""


def _of_text(column: ColumnKind) -> Alone:
    if not _is_installed(METRICS[TEXT_METRIC].extra):
        return 'to compare text needs pip install "paretodepth[text]"'
    return [(column.name, TEXT_METRIC, TEXT_PARAMS, "compared by the share of letters to change", TEXT)]


def _is_installed(extra: tuple[str, ...]) -> bool:
    try:
        return not extra or find_spec(extra[0]) is not None
    except ValueError:
        # Blocked by None in sys.modules.
        return False


def _of_set(column: ColumnKind) -> Alone:
    return [(column.name, "jaccard", {}, "compared by the share of names that only one has", SEQUENCE)]


def _of_series(column: ColumnKind) -> Alone:
    if len({len(value) for value in column.values}) == 1:
        return [(column.name, "euclidean", {}, "compared value by value", SEQUENCE)]
    return [(column.name, "shape_based", {}, "compared by shape, whatever level and scale", SEQUENCE)]


def _of_paths(column: ColumnKind) -> Alone:
    return [
        (f"{column.name}: shape", "shape", {}, "compared by where the way leads", SEQUENCE),
        (f"{column.name}: speed", "speed", {}, "compared by the time spent at each speed", SPEED),
    ]


def _of_times(column: ColumnKind) -> Alone:
    """Return criteria for what varies in times, and not with the rows."""
    name, moments = column.name, moments_of(column.values)
    days = moments.astype("datetime64[D]")
    found: list[tuple[str, str, dict[str, Any], str, int]] = []
    if len(np.unique(moments - days)) > 1:
        found.append((f"{name} (time of day)", "time_of_day", {}, "compared by time of day", TIME_OF_DAY))
    if len(np.unique(days)) > 1:
        counts = np.bincount((days.astype(np.int64) + 3) % 7, minlength=7)
        if len(moments) >= MIN_WEEKDAYS and counts.min() < counts.mean() / 2:
            found.append((f"{name} (weekday)", "weekday", {}, "by weekday, of which some are rare", WEEKDAY))
        rows = np.arange(len(moments))
        in_order = abs(rank_correlations(np.column_stack([rows, moments.astype(np.int64)]))[0, 1])
        if in_order < IN_ORDER:
            found.append((f"{name} (date)", "elapsed", {}, "by the days between", ELAPSED))
    return found or "goes on with the rows, so that all new samples would be later"
