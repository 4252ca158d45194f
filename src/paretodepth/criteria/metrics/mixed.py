"""Metrics of numbers and categories together."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import listed, suggestion
from paretodepth.criteria.metrics.categorical import codes, decoded_categories, vocabulary
from paretodepth.criteria.metrics.metric import Encoding, Metric, Parameter, State
from paretodepth.criteria.metrics.numeric import DIFFERENCE, MISMATCH, SQUARE, scipy_block, summed
from paretodepth.criteria.values import Column, Columns, check_categories, check_numbers, is_missing

FLOOR_QUANTILE = 0.5
"""Share of the training amounts below the one under which ratios turn into differences.

A lower one stretches differences among small amounts, and tables of ADBench lose area by it.
"""


def _holds_numbers(array: Column) -> bool:
    """Tell whether a column holds numbers; booleans are categories."""
    if array.dtype.kind == "O":
        return all(
            is_missing(value) or (isinstance(value, numbers.Real) and not isinstance(value, bool)) for value in array
        )
    return array.dtype.kind in "fiu"


def _ranges(columns: Columns, params: Mapping[str, Any]) -> State:
    """Estimate the range of each column of numbers, and the categories of the others.

    A constant column has no range: its values are compared as categories, equal or not.
    """
    vocabularies: list[list[Any] | None] = []
    ranges = np.zeros(len(columns.arrays))
    for position, part in enumerate(columns.parts):
        if not _holds_numbers(part.arrays[0]):
            vocabularies.append(vocabulary(check_categories(part)[0]))
            continue
        vocabularies.append(None)
        values = check_numbers(part)
        if not np.isnan(values).all():
            ranges[position] = np.nanmax(values) - np.nanmin(values)
    return {**params, "vocabularies": vocabularies, "ranges": ranges}


def _encoded(columns: Columns, state: State) -> Encoding:
    return np.column_stack(
        [
            check_numbers(part) if known is None else codes(check_categories(part)[0], known)
            for part, known in zip(columns.parts, state["vocabularies"], strict=True)
        ]
    )


def _gower(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    has_range = state["ranges"] > 0
    comparisons = np.where(has_range, DIFFERENCE, MISMATCH)
    return summed(A, B, comparisons, 1 / np.where(has_range, state["ranges"], 1.0)) / int(A.shape[1])


def _spreads(columns: Columns, params: Mapping[str, Any]) -> State:
    """Estimate what makes columns count alike: the squares of two training samples' differences have the mean 2.

    A column of numbers is divided by its standard deviation, of the logarithms if it is compared by ratio. Two
    categories that differ are as far apart as they are rare.
    """
    by_ratio, as_categories = (set(map(str, params[name] or ())) for name in ("ratio", "categories"))
    check_own_columns(by_ratio | as_categories, columns)
    vocabularies: list[list[Any] | None] = []
    rarities: list[list[float] | None] = []
    floors, scales = [], []
    for part in columns.parts:
        name = part.names[0]
        if name in by_ratio or (name not in as_categories and _holds_numbers(part.arrays[0])):
            values = check_numbers(part)
            floor = np.array([_floor(column) if name in by_ratio else 0.0 for column in values.T])
            spread = np.array([_spread(column) for column in logarithms(values, floor).T])
            known = rarity = None
        else:
            categories = check_categories(part)[0]
            known, floor, spread = vocabulary(categories), np.zeros(1), np.ones(1)
            rarity = _rarities(categories, known)
        vocabularies.append(known)
        rarities.append(rarity)
        floors.append(floor)
        scales.append(spread)
    check_narrow([len(floor) for floor in floors], any(known is not None for known in vocabularies), columns)
    numbers_of = {"floors": np.concatenate(floors), "scales": np.concatenate(scales)}
    return {**params, "vocabularies": vocabularies, "rarities": rarities, **numbers_of}


def _spread(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of what is there, or 1 where there is none."""
    present = values[~np.isnan(values)]
    return float(present.std(ddof=1) if len(present) > 1 else 0.0) or 1.0


def _rarities(categories: Sequence[Any], known: Sequence[Any]) -> list[float]:
    """Return how rare each category is, and last, for an unseen one, what a single sample's would be."""
    counts = Counter(value for value in categories if value is not None)
    unit = (counts.total() - 1) / (len(known) - 1) if len(known) > 1 else 1.0
    return [unit / counts[category] for category in known] + [unit]


def _floor(values: NDArray[np.float64]) -> float:
    """Return the amount under which ratios turn into differences, or 1 if there is none."""
    sizes = np.abs(values[(values != 0) & ~np.isnan(values)])
    return float(np.quantile(sizes, FLOOR_QUANTILE)) if len(sizes) else 1.0


def logarithms(values: NDArray[np.float64], floors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return amounts as logarithms of how many floors they are, softened so that zero and less have one.

    Columns whose floor is 0 stay as they are.
    """
    is_amount = floors > 0
    halves = values / (2 * np.where(is_amount, floors, 1.0))
    result: NDArray[np.float64] = np.where(is_amount, np.arcsinh(halves), values)
    return result


def _decoded(encoding: Encoding, state: State, column: int) -> NDArray[Any]:
    """Return a column as it was given; only under "scaled" there are scales, and floors of amounts."""
    if state["vocabularies"][column] is not None:
        return decoded_categories(encoding, state, column)
    numbers: NDArray[np.float64] = encoding[:, column]
    if "scales" not in state:
        return numbers
    numbers, floor = numbers * state["scales"][column], state["floors"][column]
    return 2 * floor * np.sinh(numbers) if floor > 0 else numbers


def _scaled_encoding(columns: Columns, state: State) -> Encoding:
    table = _encoded(columns, state)
    check_width(table.shape[1], len(state["scales"]), columns.reader)
    encoding: Encoding = logarithms(table, state["floors"]) / state["scales"]
    return encoding


def _scaled(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    ignores_missing = state["missing"] == "ignore"
    rarities = {column: np.array(rarity) for column, rarity in enumerate(state["rarities"]) if rarity is not None}
    if not rarities:
        return np.sqrt(summed(A, B, SQUARE)) if ignores_missing else scipy_block(A, B, "euclidean")
    differences = np.zeros((len(A), len(B)))
    for column, rarity in rarities.items():
        differences += _category_differences(A[:, column], B[:, column], rarity)
    if ignores_missing:
        # As `summed` does: what both have, scaled up to all columns.
        n_present = (~np.isnan(A)).astype(np.float64) @ (~np.isnan(B)).astype(np.float64).T
        differences *= A.shape[1] / np.maximum(n_present, 1)
    is_number = [column not in rarities for column in range(A.shape[1])]
    distances: NDArray[np.float64] = np.sqrt(summed(A, B, SQUARE, np.array(is_number, dtype=np.float64)) + differences)
    return distances


def _category_differences(
    a: NDArray[np.float64], b: NDArray[np.float64], rarity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum of the rarities of two categories that differ; 0 where one is missing."""
    # The last is that of unknown categories; clipped, for a model file may come from anybody.
    places = (np.where(codes < 0, len(rarity) - 1, np.nan_to_num(codes)).astype(np.intp) for codes in (a, b))
    rare_a, rare_b = (rarity.take(place, mode="clip") for place in places)
    is_same = (a[:, None] == b) | np.isnan(a)[:, None] | np.isnan(b)
    return np.where(is_same, 0.0, rare_a[:, None] + rare_b)


def _fits_codes(rarity: Any, codes: NDArray[np.float64]) -> bool:
    """Tell whether there is a finite rarity for each code, and one for unseen categories."""
    are_rarities = isinstance(rarity, list) and all(isinstance(r, float) and 0 < r < np.inf for r in rarity)
    present = codes[~np.isnan(codes)]
    are_codes = np.all((present >= 0) & (present < len(rarity) - 1) & (present == np.floor(present)))
    return are_rarities and len(rarity) > 0 and bool(are_codes)


def check_column_list(value: object, parameter: str, caller: str) -> list[str | int] | None:
    """Return some columns by name or index, or None."""
    if value is None:
        return None
    named: list[Any] = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not all(isinstance(name, str | numbers.Integral) and not isinstance(name, bool) for name in named):
        raise TypeError(
            f"The '{parameter}' parameter of {caller} must be a list of columns of the criterion. Got {value!r} "
            "instead; name them as its columns are."
        )
    return [name if isinstance(name, str) else int(name) for name in named]


def check_own_columns(named: AbstractSet[str], columns: Columns) -> None:
    """Refuse parameters that name columns which a criterion does not read."""
    for name in sorted(named - set(columns.names)):
        raise ValueError(
            f"The parameters 'ratio' and 'categories' of {columns.reader} must name columns that it reads, "
            f"{listed(columns.names[:20])}. Got '{name}' instead{suggestion(name, columns.names)}."
        )


def check_narrow(widths: Sequence[int], has_categories: bool, columns: Columns) -> None:
    """Refuse columns of arrays together with columns of categories."""
    wide = [name for name, width in zip(columns.names, widths, strict=True) if width != 1]
    if has_categories and wide:
        raise ValueError(
            f"The columns of {columns.reader} must hold single values where some hold categories. Got arrays in "
            f"'{wide[0]}' instead; make a criterion of its own of it."
        )


def check_width(n_columns: int, n_training: int, reader: str) -> None:
    """Refuse arrays in a column that are of another length than the training samples' were."""
    if n_columns != n_training:
        raise ValueError(
            f"The columns of {reader} must hold as many numbers as at fit, {n_training}. Got {n_columns} instead."
        )


_mixed = partial(Metric, kind="mixed", values="number", decode=_decoded, ignores_missing=True)

METRICS = (
    _mixed(
        "gower",
        "mean over columns: differences relative to the range of the training samples, and whether categories differ",
        _encoded,
        _gower,
        _ranges,
    ),
    _mixed(
        "scaled",
        "straight-line distance; columns count alike: numbers by their spread, categories by how rare they are",
        _scaled_encoding,
        _scaled,
        _spreads,
        parameters=(
            Parameter(
                "ratio",
                None,
                "columns of amounts, compared by ratio; below their median by difference",
                check_column_list,
            ),
            Parameter("categories", None, "columns of numbers that are only names, such as codes", check_column_list),
        ),
        is_symmetric=True,
    ),
)
