"""Criteria for a table that nobody has described, with a reason for every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paretodepth._checks import check_count, listed, suggestion
from paretodepth.criteria.candidates import candidates
from paretodepth.criteria.column_kinds import column_kinds
from paretodepth.criteria.criterion import Criterion, criteria_to_toml
from paretodepth.criteria.samples import table_columns
from paretodepth.criteria.values import Column, array_kind

MAX_CRITERIA = 6
"""As good as any more in the study of groups, and faster."""


class ColumnUse(NamedTuple):
    """What a column holds and what it is used for.

    Attributes
    ----------
    name : str
    kind : str
        "number", "amount", "category", "flag", "text", "time", "series", "trajectory" or "set"; or "id", "label",
        "constant", "empty" or "other", which are not used.
    criteria : tuple of str
        The names of the criteria that read it; empty if none does.
    reason : str
        Why it is of this kind, and how it is compared or why it is skipped.
    """

    name: str
    kind: str
    criteria: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Suggestion:
    """Criteria, and a reason for every column.

    Attributes
    ----------
    criteria : list of Criterion
    columns : list of ColumnUse
    """

    criteria: list[Criterion]
    columns: list[ColumnUse]

    def __repr__(self) -> str:
        return self.to_toml()

    def to_toml(self) -> str:
        """Return the criteria as the text of a TOML file, every column explained in a comment."""
        parts = [
            "# Two samples are compared by each criterion on its own; no criterion outweighs another.\n"
            "# Join columns that belong together, take some out, name other metrics: `paretodepth criteria` lists them."
        ]
        for criterion in self.criteria:
            read = [column for column in self.columns if criterion.name in column.criteria]
            parts.append("\n".join(map(_comment, read)) + "\n" + criteria_to_toml([criterion]).rstrip())
        skipped = [column for column in self.columns if not column.criteria]
        if skipped:
            parts.append("\n".join(["# Left out:", *map(_comment, skipped)]))
        return "\n\n".join(parts) + "\n"


def _comment(column: ColumnUse) -> str:
    """Return a column in one line of comment."""
    text = f"{column.name} ({column.kind}): {column.reason}"
    return "# " + "".join(letter if letter.isprintable() else "�" for letter in text)


def column_criteria(training: Any, columns: Sequence[str], criteria: object = None) -> list[Criterion]:
    """Return a criterion for each named column of numbers, the absolute difference; other `criteria` are refused.

    Examples
    --------
    >>> column_criteria({"name": ["a", "b", "c"], "size": [1.0, 7.0, 4.0]}, ["size"])
    [Criterion(name='size', columns=['size'], metric='cityblock')]
    """
    check_one_source(criteria)
    names, arrays = table_columns(training, "column_criteria")
    taken = check_named_columns(columns, dict(zip(map(str, names), arrays, strict=True)))
    return [Criterion(name, [name], "cityblock") for name in taken]


def suggest_criteria(
    X: Any, max_criteria: int = MAX_CRITERIA, *, id_column: str | None = None, label: str | None = None
) -> Suggestion:
    """Return criteria for a table as it comes, and for every column what it is and why it is used or not.

    Kinds. Numbers are compared by difference; *amounts*, which span a factor of three and more, whose upper tail is
    twice as long as the lower and whose logarithms are even, by ratio, below their median by difference; *categories*
    and *flags* (two values) by whether they are equal; *text* (two words or more, mostly different) by letters to
    change; *times* by time of day where it varies, by weekday where some are rare, and by the days between them unless
    they go on with the rows, for then all new samples would be later; series and trajectories by their shape. Left out
    are *ids* (whole numbers that count on or number the rows in any order, long ones that are spread evenly, single
    words that are nearly all different), *labels* (two values and a name such as label, class, target, y, or with
    fraud, anomaly or outlier in it), columns that are constant or empty.

    Whole numbers that are names, such as zip codes, are taken for categories if the column's name says so (zip,
    postcode, plz, code, id); their values look like quantities.

    Groups. Categories and flags form one criterion, each text, series and time its own. Numbers that vary together
    form one: average linkage of 1 − the absolute Spearman correlation, down to the number of groups left;
    nearly equal columns (a mean of 0.1 or less) are joined in any case. A column of which nine in ten values are
    equal makes no criterion of its own: it goes with the group it varies with most, a category with the other
    categories if there are any. Columns of a criterion count alike.

    If there are too many, what costs least goes first: numbers are joined down to one group, the nearest first;
    weekdays and then days elapsed are left out, then the speed of trajectories; categories join the numbers; times of
    day are left out, then the texts of the fewest words, then series and trajectories.

    Parameters
    ----------
    X : data frame, dict of columns, pyarrow table or array of shape (n_samples, n_columns)
        At most 5,000 rows, spread evenly, are looked at for most of this.
    max_criteria : int, default=6
    id_column : str or None, default=None
        A column that names the samples.
    label : str or None, default=None
        A column that holds the answer.

    Returns
    -------
    suggestion : Suggestion
        Its `criteria` are for `ParetoDepthDetector`; `columns` has a line for each column; `to_toml()` is the text of
        a file for ``paretodepth detect --criteria``. There may be no criterion, if no column can be used.

    Examples
    --------
    >>> import numpy as np
    >>> from paretodepth.criteria.suggestion import suggest_criteria
    >>> rng = np.random.default_rng(0)
    >>> length = rng.normal(30, 5, 100)
    >>> table = {"nr": np.arange(100), "length": length, "width": length / 2 + rng.normal(0, 0.1, 100),
    ...          "price": rng.lognormal(3, 1, 100), "color": rng.choice(["red", "blue", "green"], 100)}
    >>> suggestion = suggest_criteria(table)
    >>> for criterion in suggestion.criteria:
    ...     print(criterion)
    Criterion(name='length + width', columns=['length', 'width'], metric='scaled')
    Criterion(name='price', columns=['price'], metric='scaled', ratio=['price'])
    Criterion(name='color', columns=['color'], metric='scaled')
    >>> suggestion.columns[0]
    ColumnUse(name='nr', kind='id', criteria=(), reason='numbers the rows')
    """
    max_criteria = check_count(max_criteria, "max_criteria", "suggest_criteria")
    given, arrays = table_columns(X, "suggest_criteria")
    keys = {key if isinstance(key, str) else f"x{key}": key for key in given}
    found = column_kinds(dict(zip(keys, arrays, strict=True)), id_column=id_column, label=label)
    kept, skipped = candidates(found, keys, max_criteria)
    uses = []
    for column in found:
        own = [candidate for candidate in kept if column.name in candidate.columns]
        how = [candidate.how[column.name] for candidate in own] or [skipped.get(column.name, "")]
        reason = "; ".join(filter(None, [column.reason, *how]))
        names = tuple(candidate.criterion.name for candidate in own)
        uses.append(ColumnUse(column.name, column.kind, names, reason))
    return Suggestion([candidate.criterion for candidate in kept], uses)


def check_one_source(criteria: object) -> None:
    """Refuse criteria where columns are named too."""
    if criteria is not None:
        raise ValueError("Give either criteria or columns. Got both; the file of criteria names its own columns.")


def check_suggested(found: Suggestion) -> Suggestion:
    """Return what a table suggests, if that is anything."""
    if not found.criteria:
        got = ", ".join(f"'{name}' ({reason})" for name, _, _, reason in found.columns[:20])
        raise ValueError(
            f"Without criteria there must be a column to compare. Got {got} instead; write a file of criteria "
            "(`paretodepth criteria` lists the metrics)."
        )
    return found


def check_named_columns(columns: Sequence[str], table: Mapping[str, Column]) -> list[str]:
    """Return columns of numbers that are named one by one."""
    for name in columns:
        if name not in table:
            raise ValueError(
                f"The columns must be some of the training samples. Got '{name}' instead"
                f"{suggestion(name, list(table))}; there are {listed(list(table)[:20])}."
            )
        if (kind := array_kind(table[name])) != "numbers":
            raise ValueError(
                f"A column without a metric must hold numbers. Got {kind or 'none'} in '{name}' instead; name a metric "
                "for it in a file of criteria (`paretodepth criteria` lists them)."
            )
        if columns.count(name) > 1:
            raise ValueError(f"The columns must be different. Got '{name}' {columns.count(name)} times instead.")
    return list(columns)
