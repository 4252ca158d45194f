"""Criteria that the columns of a table call for, and which of them stay if there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._blocks import rank_correlations
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.grouping import number_groups
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import Metric
from paretodepth.criteria.profiles import Profile, as_numbers, moments_of
from paretodepth.criteria.values import Column

IN_ORDER = 0.9
"""Rank correlation of times and rows from which on times go on with the rows."""
MIN_WEEKDAYS = 70
"""Times from which on it shows that a weekday is rare."""
MAX_COMMON_SHARE = 0.9
"""Share of equal values from which on a column of numbers or categories makes no criterion of its own."""
N_NAMED = 3
"""Columns of a group that its name lists; of more, the first and the last."""
WEEKDAY, ELAPSED, SPEED, TIME_OF_DAY, TEXT, SEQUENCE = range(6)
"""What costs least if it is left out, in rising order; categories join the numbers before a time of day is."""
TEXT_METRIC, TEXT_PARAMS = "levenshtein", {"normalized": True}
NUMBERS, CATEGORIES = ("number", "amount"), ("category", "flag")
COMPARED = {
    "number": "compared by difference",
    "amount": "compared by ratio, below the median by difference",
    "category": "equal or not, a rare difference counts more",
    "flag": "equal or not, a rare difference counts more",
}
Key = str | int


class Draft(NamedTuple):
    """A criterion that may be suggested.

    Attributes
    ----------
    criterion : Criterion
    columns : list of str
        Their names.
    how : dict of str
        How each of them is compared, in words.
    rank : tuple of float
        If there are too many, those of the lowest rank are left out first.
    """

    criterion: Criterion
    columns: list[str]
    how: dict[str, str]
    rank: tuple[float, float]


def drafts(found: Sequence[Profile], keys: Mapping[str, Key], max_criteria: int) -> tuple[list[Draft], dict[str, str]]:
    """Return at most so many criteria, and why other columns that could be compared are not.

    Parameters
    ----------
    found : sequence of Profile
    keys : mapping
        How a criterion names each column.
    max_criteria : int
    """
    left_out: dict[str, str] = {}
    alone = [draft for profile in found for draft in _alone(profile, keys[profile.name], left_out)]
    numbers, categories = ([p for p in found if p.kind in kinds] for kinds in (NUMBERS, CATEGORIES))
    if numbers and all(map(_is_coarse, categories)):
        numbers, categories = numbers + categories, []
    is_joined = False
    while len(alone) + bool(numbers) + (bool(categories) and not is_joined) > max_criteria:
        lowest = min(alone, key=lambda draft: draft.rank, default=None)
        if numbers and categories and not is_joined and (lowest is None or lowest.rank[0] >= TIME_OF_DAY):
            is_joined = True
        elif lowest is not None:
            alone.remove(lowest)
            (name,) = lowest.columns
            left_out[name] = f"no room for it among {max_criteria} criteria"
    room = max_criteria - len(alone) - (bool(categories) and not is_joined)
    groups = _groups(numbers, room)
    if is_joined:
        groups = [numbers + categories]
    elif categories:
        groups.append(categories)
    kept = alone + [_together(group, keys) for group in groups]
    order = {name: position for position, name in enumerate(keys)}
    return sorted(kept, key=lambda draft: order[draft.columns[0]]), left_out


def _groups(found: Sequence[Profile], max_groups: int) -> list[list[Profile]]:
    """Return columns of numbers, and flags among them, in groups that vary together."""
    if not found:
        return []
    codes = [as_numbers(p.values) if p.kind in NUMBERS else _common(p.values).astype(np.float64) for p in found]
    is_coarse = [_is_coarse(profile) for profile in found]
    groups = number_groups(np.column_stack(codes), max_groups, None if all(is_coarse) else is_coarse)
    return [[found[column] for column in group] for group in groups]


def _is_coarse(profile: Profile) -> bool:
    """Tell whether nearly all values of a column are equal: as a criterion it would be mostly ties."""
    return bool(len(profile.values) and _common(profile.values).mean() > MAX_COMMON_SHARE)


def _common(values: Column) -> NDArray[np.bool_]:
    """Tell which values are the most frequent one."""
    most = Counter(values.tolist()).most_common(1)[0][0]
    return np.array([value == most for value in values.tolist()])


def _together(group: Sequence[Profile], keys: Mapping[str, Key]) -> Draft:
    """Return the criterion of some columns of numbers and categories."""
    names = [profile.name for profile in group]
    by_ratio = [keys[profile.name] for profile in group if profile.kind == "amount"]
    # Text needs no word to be taken for categories.
    as_categories = [keys[p.name] for p in group if p.kind in CATEGORIES and not _holds_text(p)]
    params: dict[str, Any] = {
        key: value for key, value in (("ratio", by_ratio), ("categories", as_categories)) if value
    }
    is_one_number = len(group) == 1 and group[0].kind == "number"
    columns: Any = [keys[name] for name in names]
    criterion = Criterion(group_name(names), columns, "difference" if is_one_number else "scaled", **params)
    return Draft(criterion, names, {profile.name: COMPARED[profile.kind] for profile in group}, (SEQUENCE, 0))


def _holds_text(profile: Profile) -> bool:
    return any(isinstance(value, str) for value in profile.values)


def group_name(names: Sequence[str]) -> str:
    """Return a name for columns together.

    Examples
    --------
    >>> group_name(["width", "height"]), group_name(["v1", "v2", "v3", "v7"])
    ('width + height', 'v1 … v7')
    """
    return " + ".join(names) if len(names) <= N_NAMED else f"{names[0]} … {names[-1]}"


def _alone(profile: Profile, key: Key, left_out: dict[str, str]) -> list[Draft]:
    """Return the criteria of a column that is compared on its own."""
    name = profile.name

    def draft(label: str, metric: str, how: str, rank: float, **params: Any) -> Draft:
        return Draft(Criterion(label, key, metric, **params), [name], {name: how}, (rank, _n_words(profile)))

    if profile.kind == "text":
        if not _is_installed(METRICS[TEXT_METRIC]):
            left_out[name] = 'to compare text needs pip install "paretodepth[text]"'
            return []
        return [draft(name, TEXT_METRIC, "compared by the share of letters to change", TEXT, **TEXT_PARAMS)]
    if profile.kind == "time":
        return _of_times(profile, draft, left_out)
    if profile.kind == "set":
        return [draft(name, "jaccard", "compared by the share of names that only one has", SEQUENCE)]
    if profile.kind == "series":
        if len({len(value) for value in profile.values}) == 1:
            return [draft(name, "euclidean", "compared value by value", SEQUENCE)]
        return [draft(name, "shape_based", "compared by shape, whatever level and scale", SEQUENCE)]
    if profile.kind == "trajectory":
        return [
            draft(f"{name}: shape", "shape", "compared by where the way leads", SEQUENCE),
            draft(f"{name}: speed", "speed", "compared by the time spent at each speed", SPEED),
        ]
    return []


def _n_words(profile: Profile) -> float:
    """Return how many words a column of text has in all, 0 for others."""
    return sum(len(value.split()) for value in profile.values if profile.kind == "text" and isinstance(value, str))


def _is_installed(metric: Metric) -> bool:
    try:
        return not metric.extra or find_spec(metric.extra[0]) is not None
    except ValueError:
        # Blocked by None in sys.modules.
        return False


def _of_times(profile: Profile, draft: Callable[..., Draft], left_out: dict[str, str]) -> list[Draft]:
    """Return the criteria of a column of times: what varies, and not with the rows."""
    name, moments = profile.name, moments_of(profile.values)
    days = moments.astype("datetime64[D]")
    found = []
    if len(np.unique(moments - days)) > 1:
        found.append(draft(f"{name} (time of day)", "time_of_day", "compared by time of day", TIME_OF_DAY))
    if len(np.unique(days)) > 1:
        counts = np.bincount((days.astype(np.int64) + 3) % 7, minlength=7)
        if len(moments) >= MIN_WEEKDAYS and counts.min() < counts.mean() / 2:
            found.append(draft(f"{name} (weekday)", "weekday", "by weekday, of which some are rare", WEEKDAY))
        rows = np.arange(len(moments))
        in_order = abs(rank_correlations(np.column_stack([rows, moments.astype(np.int64)]))[0, 1])
        if in_order < IN_ORDER:
            found.append(draft(f"{name} (date)", "elapsed", "by the days between", ELAPSED))
    if not found:
        left_out[name] = "goes on with the rows, so that all new samples would be later"
    return found
