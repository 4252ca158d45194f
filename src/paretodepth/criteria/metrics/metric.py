"""What a named metric is: an entry of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.values import Columns

Encoding = NDArray[Any]
State = dict[str, Any]
"""Parameters and estimates: numbers, strings, lists of these and arrays, so that a file can carry them."""
ValueKind = Literal["number", "phase", "moment", "time_of_day", "weekday", "day_of_year", "category"]
REQUIRED = object()
KINDS = {
    "numeric": "columns of numbers, or one column of equally long arrays of numbers",
    "times": "one column of timestamps, dates or, for `time_of_day`, times of day",
    "categorical": "columns of categories (strings, booleans, numbers) or of booleans",
    "mixed": "columns of numbers and columns of categories together",
    "text": "one column of strings",
    "series": "one column of arrays of numbers, of unequal lengths if need be, or columns of numbers as one series",
    "trajectories": "one column of arrays of points (x, y) or (x, y, t), at least two each",
}
"""The kinds of data, and the columns they come in."""


class Parameter(NamedTuple):
    """A parameter of a metric.

    Attributes
    ----------
    name : str
    default : object
        `REQUIRED` if there is none.
    summary : str
        A phrase for tables.
    check : callable
        Takes a value, the parameter's name and who asks; returns the clean value or raises.
    """

    name: str
    default: object
    summary: str
    check: Callable[[Any, str, str], Any]


@dataclass(frozen=True)
class Metric:
    """A dissimilarity by name.

    Attributes
    ----------
    name : str
    summary : str
        One line that helps to choose it.
    encode : callable
        ``encode(columns, state)`` returns what is compared, one row a sample. Refuses
        columns of another kind.
    block : callable
        ``block(A, B, state)`` returns the dissimilarities of encoded samples, pair by pair. It
        may write them to ``state["out"]``, if that is an array and not None, and return this.
    fit : callable or None
        ``fit(columns, params)`` returns the state: the parameters with what is estimated from
        the training samples. None: the parameters alone.
    kind : str
        The kind of data it compares, a key of `KINDS`.
    values : str or None
        What the values of its columns of numbers or times are; None: they have no typical range.
    decode : callable or None
        ``decode(encoding, state, column)`` returns the values of one column as they were given, from what `encode`
        returned. None: the encoding holds them unchanged.
    source : str
        The library that computes it.
    parameters : tuple of Parameter
    extra : tuple of str
        The module it needs beyond the required ones and the extra that brings it, or empty.
    ignores_missing : bool
        Whether it can compare what both samples have.
    is_threaded : bool
        Whether `block` reads the number of threads from ``state["n_threads"]``.
    is_symmetric : bool
        Whether a pair gives the same bits in either order, as differences do.
    keeps_sequences : bool
        Whether `encode` returns an object array with one sequence per sample, not rows of numbers.
    costly_length : float or None
        The mean length of texts or series at which a pair takes about twice as long as a pair of
        numbers; the time grows with the square of the length. None: it does not.
    """

    name: str
    summary: str
    encode: Callable[[Columns, State], Encoding]
    block: Callable[[Encoding, Encoding, State], NDArray[np.float64]]
    fit: Callable[[Columns, Mapping[str, Any]], State] | None = None
    _: KW_ONLY
    kind: str
    values: ValueKind | None = None
    decode: Callable[[Encoding, State, int], NDArray[Any]] | None = None
    source: str = "paretodepth"
    parameters: tuple[Parameter, ...] = ()
    extra: tuple[str, ...] = ()
    ignores_missing: bool = False
    is_threaded: bool = False
    is_symmetric: bool = False
    keeps_sequences: bool = False
    costly_length: float | None = None

    def decoded(self, encoding: Encoding, state: State, column: int) -> list[Any]:
        """Return the values of one column of encoded samples as they were given."""
        values = encoding[:, column] if self.decode is None else self.decode(encoding, state, column)
        return list(values.tolist())
