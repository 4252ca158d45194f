"""Groups of columns that vary together, word for word: two groups are joined at a time."""

import math
from functools import cache
from itertools import combinations


@cache
def ranks(values):
    """Ranks from 1, ties in the middle of theirs; missing values have none."""
    present = [value for value in values if not math.isnan(value)]
    return [
        None
        if math.isnan(value)
        else sum(other < value for other in present) + (1 + sum(other == value for other in present)) / 2
        for value in values
    ]


def likeness(first, second):
    """|Spearman's correlation|; a missing value counts as a middle one, a constant column varies with none."""
    centred = []
    for values in (first, second):
        own = ranks(values)
        present = [rank for rank in own if rank is not None]
        middle = sum(present) / len(present) if present else 0.0
        centred.append([0.0 if rank is None else rank - middle for rank in own])
    lengths = [math.sqrt(sum(value**2 for value in column)) for column in centred]
    if not all(lengths):
        return 0.0
    return abs(sum(a * b for a, b in zip(*centred, strict=True))) / math.prod(lengths)


def number_groups(columns, max_groups, is_loose=None, alike=0.1):
    columns = [tuple(column) for column in zip(*columns, strict=True)]
    is_loose = is_loose or [False] * len(columns)
    groups = [[column] for column in range(len(columns)) if not is_loose[column]]

    alikeness = [[likeness(one, other) for other in columns] for one in columns]

    def distance(one, other):
        return sum(1 - alikeness[a][b] for a in one for b in other) / (len(one) * len(other))

    while len(groups) > 1:
        one, other = min(combinations(groups, 2), key=lambda pair: distance(*pair))
        if len(groups) <= max_groups and distance(one, other) > alike:
            break
        groups = [group for group in groups if group not in (one, other)] + [one + other]
    groups = sorted(sorted(group) for group in groups)
    joined = [list(group) for group in groups]
    for column in range(len(columns)):
        if is_loose[column]:
            nearest = min(range(len(groups)), key=lambda number: distance([column], groups[number]))
            joined[nearest].append(column)
    return sorted(sorted(group) for group in joined)
