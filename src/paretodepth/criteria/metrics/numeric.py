"""Metrics of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from paretodepth._checks import check_positive
from paretodepth._kernels.columns import sum_columns
from paretodepth.criteria.metrics.metric import REQUIRED, Encoding, Metric, Parameter, State
from paretodepth.criteria.values import Columns, check_numbers, check_single

DIFFERENCE, SQUARE, MISMATCH, CYCLE = range(4)
"""How `sum_columns` compares a column."""
EARTH_RADIUS = 6371.0088
"""Mean radius in kilometres."""


def summed(
    A: Encoding,
    B: Encoding,
    comparisons: int | NDArray[np.intp],
    weights: float | NDArray[np.float64] = 1.0,
    periods: float = 0.0,
) -> NDArray[np.float64]:
    """Return weighted sums of how columns differ, over the columns that both samples have."""
    n_columns = A.shape[1]
    return sum_columns(
        A,
        B,
        np.broadcast_to(comparisons, n_columns).astype(np.intp),
        np.broadcast_to(weights, n_columns).astype(np.float64),
        np.broadcast_to(periods, n_columns).astype(np.float64),
    )


def numbers(columns: Columns, state: State) -> Encoding:
    """Return columns of numbers as they are."""
    return check_numbers(columns)


def scipy_block(
    A: Encoding, B: Encoding, metric: str, out: NDArray[np.float64] | None = None, **params: Any
) -> NDArray[np.float64]:
    """Return a block of a metric of SciPy, in `out` if that is given.

    It computes pair by pair; a product of whole matrices would round differently in another batch.
    """
    block: NDArray[np.float64] = cdist(A, B, metric, out=out, **params)
    return block


_numeric = partial(Metric, kind="numeric", values="number", source="SciPy")


def _cdist(
    name: str,
    summary: str,
    *parameters: Parameter,
    part: Callable[[Encoding, Encoding], NDArray[np.float64]] | None = None,
    is_symmetric: bool = False,
) -> Metric:
    """Return a metric of `cdist` that estimates nothing; `part` compares the columns that both samples have."""
    names = [parameter.name for parameter in parameters]

    def block(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
        if part is not None and state["missing"] == "ignore":
            return part(A, B)
        return scipy_block(A, B, name, state.get("out"), **{key: state[key] for key in names})

    return _numeric(
        name,
        summary,
        numbers,
        block,
        parameters=parameters,
        ignores_missing=part is not None,
        is_symmetric=is_symmetric,
    )


def _cityblock(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    if A.shape[1] == 1 and state["missing"] != "ignore":
        # As SciPy's to the last bit, in a third of the time.
        with np.errstate(over="ignore"):
            differences: NDArray[np.float64] = np.subtract(A, B.T, out=state.get("out"))
        np.abs(differences, out=differences)
        return differences
    if state["missing"] == "ignore":
        return summed(A, B, DIFFERENCE)
    return scipy_block(A, B, "cityblock", state.get("out"))


def _variances(columns: Columns, params: Mapping[str, Any]) -> State:
    variances = np.nanvar(check_numbers(columns), axis=0, ddof=1)
    # A constant column has no scale of its own.
    return {**params, "variances": np.where(variances > 0, variances, 1.0)}


def _seuclidean(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    if state["missing"] == "ignore":
        return np.sqrt(summed(A, B, SQUARE, 1 / state["variances"]))
    return scipy_block(A, B, "seuclidean", state.get("out"), V=state["variances"])


def _inverse_covariance(columns: Columns, params: Mapping[str, Any]) -> State:
    covariance = np.atleast_2d(np.cov(check_numbers(columns), rowvar=False))
    return {**params, "inverse_covariance": check_covariance(covariance, columns.reader)}


def _mahalanobis(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return scipy_block(A, B, "mahalanobis", state.get("out"), VI=state["inverse_covariance"])


def _cosine(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    block = scipy_block(A, B, "cosine", state.get("out"))
    # A row of zeros, such as a text without a known word, has no direction: dissimilar to all that have one.
    is_zero_in_A, is_zero_in_B = (np.all(rows == 0, axis=1) for rows in (A, B))
    if is_zero_in_A.any() or is_zero_in_B.any():
        block[np.logical_or.outer(is_zero_in_A, is_zero_in_B)] = 1.0
        block[np.logical_and.outer(is_zero_in_A, is_zero_in_B)] = 0.0
    return block


def _one_number(columns: Columns, state: State) -> Encoding:
    return check_numbers(replace(columns, arrays=[check_single(columns).reshape(len(columns))]))


def _logarithms(columns: Columns, state: State) -> Encoding:
    return np.log(check_positive_numbers(columns))


def _phases(columns: Columns, state: State) -> Encoding:
    return np.mod(check_numbers(columns), state["period"])


def _cyclic(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    return summed(A, B, CYCLE, periods=state["period"])


def _radians(columns: Columns, state: State) -> Encoding:
    return np.radians(check_places(columns))


def _haversine(A: Encoding, B: Encoding, state: State) -> NDArray[np.float64]:
    # Only here, because it takes long to import.
    from sklearn.metrics import DistanceMetric

    # scikit-learn computes this metric pair by pair, in scalar arithmetic.
    angles: NDArray[np.float64] = DistanceMetric.get_metric("haversine").pairwise(A, B)
    return EARTH_RADIUS * angles


def check_positive_numbers(columns: Columns) -> NDArray[np.float64]:
    """Return columns of numbers above 0."""
    table = check_numbers(columns)
    if np.any(table <= 0):
        sample, column = np.argwhere(table <= 0)[0]
        raise ValueError(
            f"The columns of {columns.reader} must hold numbers above 0 for their ratio. Got "
            f"{table[sample, column]} in sample {columns.numbers[sample]} instead; take 'difference', or add a "
            "constant."
        )
    return table


def check_places(columns: Columns) -> NDArray[np.float64]:
    """Return columns of latitude and longitude in degrees."""
    table = check_numbers(columns)
    if table.shape[1] != 2:
        raise ValueError(
            f"The columns of {columns.reader} must be two, latitude and longitude in degrees. "
            f"Got {table.shape[1]} instead."
        )
    wrong = np.flatnonzero((np.abs(table[:, 0]) > 90) | (np.abs(table[:, 1]) > 360))
    if len(wrong):
        raise ValueError(
            f"The columns of {columns.reader} must be latitude, from -90 to 90 degrees, and longitude, from -360 to "
            f"360. Got {table[wrong[0]].tolist()} in sample {columns.numbers[wrong[0]]} instead; is longitude first?"
        )
    return table


def check_covariance(covariance: NDArray[np.float64], reader: str) -> NDArray[np.float64]:
    """Return the inverse of a covariance matrix that has one."""
    rank = np.linalg.matrix_rank(covariance)
    if rank < len(covariance):
        raise ValueError(
            f"The columns of {reader} must not determine each other, for 'mahalanobis' inverts their covariance. Got "
            f"{len(covariance)} columns of rank {rank} instead; drop columns, add samples or take 'seuclidean'."
        )
    inverse = np.linalg.inv(covariance).astype(np.float64)
    return (inverse + inverse.T) / 2


METRICS = (
    _numeric("difference", "absolute difference of one number", _one_number, _cityblock, is_symmetric=True),
    _numeric(
        "log_ratio",
        "absolute logarithm of the ratio, summed over columns: amounts, counts, durations above 0",
        _logarithms,
        _cityblock,
        decode=lambda encoding, state, column: np.exp(encoding[:, column]),
        ignores_missing=True,
    ),
    _numeric(
        "cyclic",
        "the shorter way round a circle, summed over columns: hours, weekdays, angles",
        _phases,
        _cyclic,
        values="phase",
        source="paretodepth",
        parameters=(
            Parameter("period", REQUIRED, "length of the circle: 24 for hours, 360 for degrees", check_positive),
        ),
        ignores_missing=True,
    ),
    _numeric(
        "haversine",
        "kilometres on the globe between places given as latitude and longitude in degrees",
        _radians,
        _haversine,
        decode=lambda encoding, state, column: np.degrees(encoding[:, column]),
        source="scikit-learn",
    ),
    _cdist(
        "euclidean",
        "straight-line distance: columns of one unit, or series of equal lengths",
        part=lambda A, B: np.sqrt(summed(A, B, SQUARE)),
        is_symmetric=True,
    ),
    _cdist(
        "sqeuclidean",
        "squared straight-line distance; ranks pairs as euclidean does",
        part=lambda A, B: summed(A, B, SQUARE),
        is_symmetric=True,
    ),
    _numeric(
        "seuclidean",
        "straight-line distance, each column scaled by its standard deviation among the training samples",
        numbers,
        _seuclidean,
        _variances,
        ignores_missing=True,
    ),
    _numeric(
        "mahalanobis",
        "straight-line distance after undoing the correlations of the training samples' columns",
        numbers,
        _mahalanobis,
        _inverse_covariance,
    ),
    _numeric(
        "cityblock",
        "sum of absolute differences; less moved by one far column than euclidean",
        numbers,
        _cityblock,
        ignores_missing=True,
        is_symmetric=True,
    ),
    _cdist(
        "hamming",
        "share of columns whose numbers are not equal",
        part=lambda A, B: summed(A, B, MISMATCH) / int(A.shape[1]),
    ),
    _cdist("chebyshev", "largest absolute difference of any column", is_symmetric=True),
    _cdist(
        "minkowski",
        "between cityblock (p = 1), euclidean (p = 2) and chebyshev (p large)",
        Parameter("p", 2.0, "the power", check_positive),
    ),
    _cdist("braycurtis", "share of the total that differs: counts of species, words, events"),
    _cdist("canberra", "sum of differences relative to the sizes of the numbers compared"),
    _cdist("correlation", "one less the correlation of two rows: same profile, whatever level and scale"),
    _numeric(
        "cosine", "one less the cosine of the angle between two rows: same direction, whatever length", numbers, _cosine
    ),
    _cdist("jensenshannon", "distance of two rows as probability distributions, such as histograms"),
)
