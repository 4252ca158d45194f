"""Which criteria are used: those given, one a column, or what the table suggests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paretodepth._checks import listed, suggestion
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted import check_columns
from paretodepth.criteria.kinds import column_kind
from paretodepth.criteria.suggestion import Suggestion, suggest_criteria

EACH_COLUMN = "columns"
"""In place of criteria: one for each column of numbers."""
N_TOLD = 8
"""Columns that are named as left out; more are counted."""


class Choice(NamedTuple):
    """Which criteria are used, and why.

    Attributes
    ----------
    criteria : list of Criterion
    remark : str
        What was chosen, if nobody else has; otherwise empty.
    """

    criteria: list[Criterion]
    remark: str


def chosen_criteria(
    training: pa.Table,
    *,
    criteria: list[Criterion] | Literal["columns"] | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    label: str | None = None,
    source: str = "FILE",
) -> Choice:
    """Return the given criteria, one per named or per numeric column, or those that the table suggests.

    One per column means the absolute difference. Of the numeric columns, booleans, the id and those that only number
    the rows are left out.

    Parameters
    ----------
    training : pyarrow.Table
        The training samples.
    criteria : list of Criterion, "columns" or None
        "columns": one per numeric column.
    columns : sequence of str or None
        In place of criteria.
    id_column, label : str or None
        The columns that name the samples and hold the answer.
    source : str
        The file of the training samples, for the remark.

    Examples
    --------
    >>> table = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"], "size": [1.0, 7.0, 4.0]})
    >>> chosen_criteria(table, criteria="columns").remark
    'One criterion per numeric column: size. Left out: id (numbers the rows), name (text).'
    >>> chosen_criteria(table.select(["id", "size"])).remark.split(" To change them: ")[0]
    'Criteria as the table suggests: size. Left out: id (numbers the rows).'
    """
    check_one_source(criteria, columns)
    if isinstance(criteria, list):
        return Choice(criteria, "")
    kinds = {field.name: column_kind(field.type) for field in training.schema}
    if columns is not None:
        return Choice([_difference(name) for name in check_named_columns(columns, kinds)], "")
    if criteria is None:
        found = check_suggested(suggest_criteria(training, id_column=id_column, label=label))
        return Choice(found.criteria, _remark(found, source))
    reasons = {name: _reason_against(training, name, (id_column, label)) for name in training.column_names}
    taken = check_number_columns([name for name, reason in reasons.items() if reason is None], kinds)
    left_out = [f"{name} ({reason})" for name, reason in reasons.items() if reason is not None]
    remark = f"One criterion per numeric column: {', '.join(taken)}."
    if left_out:
        remark += f" Left out: {', '.join(left_out)}."
    return Choice([_difference(name) for name in taken], remark)


def _remark(found: Suggestion, source: str) -> str:
    """Return what a table has suggested, in two lines."""
    left_out = [f"{column.name} ({column.reason})" for column in found.columns if not column.criteria]
    remark = f"Criteria as the table suggests: {'; '.join(criterion.name for criterion in found.criteria)}."
    if left_out:
        more = f" and {len(left_out) - N_TOLD} more" if len(left_out) > N_TOLD else ""
        remark += f" Left out: {', '.join(left_out[:N_TOLD])}{more}."
    return f"{remark} To change them: paretodepth suggest {source} > criteria.toml, and give it with --criteria."


def check_suggested(found: Suggestion) -> Suggestion:
    """Return what a table suggests, if that is anything."""
    if not found.criteria:
        got = ", ".join(f"'{name}' ({reason})" for name, _, _, reason in found.columns[:20])
        raise ValueError(
            f"Without criteria there must be a column to compare. Got {got} instead; write a file of criteria "
            "(`paretodepth criteria` lists the metrics)."
        )
    return found


def _difference(name: str) -> Criterion:
    """Return the criterion of the absolute difference in one column."""
    return Criterion(name, [name], "cityblock")


def _reason_against(table: pa.Table, name: str, known: tuple[str | None, str | None]) -> str | None:
    """Return why a column is no criterion unless asked for, or None."""
    column = table.column(name)
    if name in known:
        return "the id" if name == known[0] else "the label"
    if pa.types.is_boolean(column.type):
        return "true or false"
    if (kind := column_kind(column.type)) != "numbers":
        return kind
    if pa.types.is_integer(column.type) and len(column) > 1 and column.null_count == 0:
        steps = pc.pairwise_diff(column.combine_chunks().cast(pa.int64(), safe=False))
        if pc.all(pc.equal(steps, 1)).as_py():
            return "numbers the rows"
    return None


def read_columns(criteria: Sequence[Criterion] | None, names: list[str]) -> list[str]:
    """Return the columns of a table that criteria read.

    All of them if there are no criteria, or one of them counts columns by position.

    Examples
    --------
    >>> read_columns([Criterion("size", ["s_*"])], ["name", "s_1", "s_2"])
    ['s_1', 's_2']
    """
    if criteria is None:
        return names
    read: set[int] = set()
    for criterion in criteria:
        columns = criterion.columns
        given = [columns] if isinstance(columns, str | int) or columns is None else list(columns)
        if any(not isinstance(column, str) for column in given):
            return names
        read.update(check_columns(given, criterion.name, len(names), names))
    return [names[column] for column in sorted(read)]


def check_one_source(criteria: object, columns: object) -> None:
    """Refuse criteria from a file and columns at once."""
    if criteria is not None and columns is not None:
        raise ValueError("Give either criteria or columns. Got both; the file of criteria names its own columns.")


def check_named_columns(columns: Sequence[str], kinds: Mapping[str, str]) -> list[str]:
    """Return columns of numbers that are named one by one."""
    for name in columns:
        if name not in kinds:
            raise ValueError(
                f"The columns must be some of the training samples. Got '{name}' instead"
                f"{suggestion(name, list(kinds))}; there are {listed(list(kinds)[:20])}."
            )
        if kinds[name] != "numbers":
            raise ValueError(
                f"A column without a metric must hold numbers. Got {kinds[name]} in '{name}' instead; name a metric "
                "for it in a file of criteria (`paretodepth criteria` lists them)."
            )
        if columns.count(name) > 1:
            raise ValueError(f"The columns must be different. Got '{name}' {columns.count(name)} times instead.")
    return list(columns)


def check_number_columns(columns: list[str], kinds: Mapping[str, str]) -> list[str]:
    """Return the columns of numbers, of which there must be one."""
    if not columns:
        got = ", ".join(f"'{name}' ({kind})" for name, kind in list(kinds.items())[:20])
        raise ValueError(
            f"Without criteria there must be a column of numbers to compare. Got {got} instead; write a file of "
            "criteria (`paretodepth criteria` lists the metrics)."
        )
    return columns
