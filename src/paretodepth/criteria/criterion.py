"""What a criterion is: a name, the columns it reads and a dissimilarity; and what is refused about one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_choice, check_flag, listed, suggestion
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import REQUIRED, Metric
from paretodepth.criteria.toml_file import check_writable, format_entries, read_entries, refuse_entry

BlockMetric = Callable[..., NDArray[np.float64]]
Missing = Literal["fail", "ignore", "drop"]
MISSING: tuple[Missing, ...] = get_args(Missing)
ColumnNames = str | int | Iterable[str] | Iterable[int] | None
PRECOMPUTED = "precomputed"
SEQUENCE_KINDS = ("text", "series", "trajectories")
MAX_CRITERIA = 64
"""Far fewer already leave almost every dyad undominated, while lists of neighbors grow with the square."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Criterion:
    """One respect in which two samples can be dissimilar.

    Parameters
    ----------
    name : str
        Shown in messages, tables and plots.
    columns : str, int or iterable of these, default=None
        The columns it reads, by index or, for data frames and dicts of columns, by name or
        by a glob such as ``"x_*"``. None: all columns.
    metric : str or callable, default="euclidean"
        The name of a metric (``paretodepth criteria`` lists them); a callable ``f(A, B)``
        that takes the columns of two sets of samples, arrays of shape (a, n_columns) and
        (b, n_columns), or (a,) and (b,) for one column of objects, and returns the
        dissimilarities as an array of shape (a, b); or ``"precomputed"``.
    transform : transformer or None, default=None
        A transformer or pipeline of scikit-learn. It is cloned, fitted on the columns of
        the training samples, and the metric compares what it returns. A column of strings
        named alone, not in a list, comes to it as an array of shape (n_samples,), as text
        vectorizers expect.
    missing : {"fail", "ignore", "drop"}, default="fail"
        How to treat samples with a missing value in a column of the criterion. ``"fail"``:
        raise an error. ``"drop"``: skip them in a fit, and do not score them. ``"ignore"``:
        compare two samples by the columns that both have, scaled up to all; a pair with none
        in common is an error, so a criterion of one column cannot ignore its gaps.
    pairwise : bool, default=False
        Whether the metric is a callable ``f(a, b)`` of two samples. Slow: it runs once for each
        pair.
    **params
        Parameters of the metric, such as ``period=24`` of ``"cyclic"``; a callable is given
        them as keywords.

    Notes
    -----
    What a metric or a transformer estimates (ranges, variances, covariances, categories,
    histogram edges) is fixed at `fit` from the training samples and never moves with the
    samples being scored.

    Front numbers are ranks, so a rounding error can move a sample by a whole front. A
    callable should therefore give a pair the same value, to the last bit, whatever other
    samples are in the block: sums of products of whole matrices do not.

    Examples
    --------
    >>> from paretodepth import Criterion
    >>> Criterion("place", columns=["x", "y"])
    Criterion(name='place', columns=['x', 'y'], metric='euclidean')
    >>> Criterion("time", "hour", "cyclic", period=24)
    Criterion(name='time', columns='hour', metric='cyclic', period=24)
    """

    name: str
    columns: ColumnNames
    metric: str | BlockMetric
    transform: Any
    missing: Missing
    pairwise: bool
    params: dict[str, Any]

    def __init__(
        self,
        name: str,
        columns: ColumnNames = None,
        metric: str | BlockMetric = "euclidean",
        transform: Any = None,
        *,
        missing: Missing = "fail",
        pairwise: bool = False,
        **params: Any,
    ) -> None:
        values = {"name": name, "columns": columns, "metric": metric, "transform": transform, "missing": missing}
        for field, value in (values | {"pairwise": pairwise, "params": params}).items():
            object.__setattr__(self, field, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Criterion):
            return NotImplemented
        return _are_equal(vars(self), vars(other))

    def __hash__(self) -> int:
        # Of what has a hash in any case; the rest, arrays and dicts, need not be equal for that.
        return hash((str(self.name), self.metric if isinstance(self.metric, str) else None))

    def __repr__(self) -> str:
        shown = {"name": self.name, "columns": self.columns, "metric": self.metric}
        defaults = {"transform": None, "missing": "fail", "pairwise": False}
        shown |= {field: getattr(self, field) for field, default in defaults.items() if getattr(self, field) != default}
        return f"Criterion({', '.join(f'{field}={value!r}' for field, value in (shown | self.params).items())})"

    @property
    def is_precomputed(self) -> bool:
        """Whether the criterion reads dissimilarity matrices."""
        return isinstance(self.metric, str) and self.metric == PRECOMPUTED

    @property
    def is_by_name(self) -> bool:
        """Whether the columns are given by names or globs."""
        given = [self.columns] if isinstance(self.columns, str) else self.columns
        return isinstance(given, Iterable) and all(isinstance(column, str) for column in given)

    @property
    def registered(self) -> Metric | None:
        """The registry's entry of a metric given by name, except ``"precomputed"``."""
        return METRICS.get(self.metric) if isinstance(self.metric, str) else None

    @property
    def names_one(self) -> bool:
        """Whether its column is named alone rather than in a list."""
        return self.columns is None or isinstance(self.columns, str | int)

    @property
    def reads_list(self) -> bool:
        """Whether it takes a plain list as a column of strings or sequences."""
        metric = self.registered
        return self.columns is None and metric is not None and metric.kind in SEQUENCE_KINDS

    @property
    def reads_numbers(self) -> bool:
        """Whether it can read nothing but numbers."""
        metric = self.registered
        return self.transform is None and metric is not None and metric.kind == "numeric"

    def with_missing(self, missing: Missing) -> Criterion:
        """Return the criterion with another rule for missing values, or itself if it has one already."""
        if self.missing != "fail":
            return self
        return Criterion(
            self.name, self.columns, self.metric, self.transform, missing=missing, pairwise=self.pairwise, **self.params
        )

    @staticmethod
    def from_toml(path: str | PathLike[str], *, missing: Missing = "fail") -> list[Criterion]:
        """Return the criteria of a TOML file.

        Parameters
        ----------
        path : str or path
            A file of tables ``[[criterion]]`` with the keys ``name``, ``columns`` (names,
            globs or indices), ``metric``, ``missing`` and ``params``.
        missing : {"fail", "ignore", "drop"}, default="fail"
            Rule for the criteria without one of their own.

        Returns
        -------
        criteria : list of Criterion
        """
        criteria = []
        entries = read_entries(path)
        check_n_criteria(len(entries), str(path))
        for entry in entries:
            values = {"missing": missing} | {key: value for key, value in entry.values.items() if key != "params"}
            try:
                criteria.append(check_criterion(Criterion(**values, **entry.values.get("params", {}))))
            except (TypeError, ValueError) as error:
                refuse_entry(entry, error)
        check_names([criterion.name for criterion in criteria], str(path))
        return criteria


def criteria_to_toml(criteria: Sequence[Criterion]) -> str:
    """Return criteria as the text of a TOML file that `Criterion.from_toml` reads.

    Parameters
    ----------
    criteria : list of Criterion
        Without callables and transformers, which a file cannot carry.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from paretodepth import Criterion, criteria_to_toml
    >>> print(criteria_to_toml([Criterion("time", "hour", "cyclic", period=24)]))
    [[criterion]]
    name = "time"
    columns = "hour"
    metric = "cyclic"
    params = {"period" = 24}
    <BLANKLINE>
    """
    return format_entries(
        _entry(criterion) for criterion in check_instances(criteria, "criteria", Criterion, "criteria_to_toml")
    )


def _entry(criterion: Criterion) -> dict[str, Any]:
    """Return a criterion as the table of a file."""
    columns: Any = criterion.columns
    if isinstance(columns, Iterable) and not isinstance(columns, str):
        columns = list(columns)
    entry = {"name": criterion.name, "columns": _plain(columns), "metric": criterion.metric}
    given = {key: _plain(value) for key, value in criterion.params.items()}
    for what, value in {**entry, "transform": criterion.transform, **given}.items():
        check_writable(value, what, criterion.name)
    if criterion.missing != "fail":
        entry["missing"] = criterion.missing
    params = {key: value for key, value in given.items() if value is not None}
    if params:
        entry["params"] = params
    return {key: value for key, value in entry.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _are_equal(one: Any, other: Any) -> bool:
    """Tell whether two values are equal, arrays and what holds them too."""
    if one is other:
        return True
    if isinstance(one, np.generic) or isinstance(other, np.generic):
        return bool(np.array_equal(one, other))
    if hasattr(one, "__array__") or hasattr(other, "__array__"):
        return type(one) is type(other) and np.array_equal(np.asarray(one), np.asarray(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(one == other)


def check_criterion(criterion: Criterion) -> Criterion:
    """Return a criterion after all checks that need no data."""
    name, caller = criterion.name, f"the criterion '{criterion.name}'"
    check_metric(criterion.metric, name, (*METRICS, PRECOMPUTED))
    check_elementwise(criterion.pairwise, criterion.metric, name)
    check_transformer(criterion.transform, name)
    check_choice(criterion.missing, "missing", MISSING, caller)
    if criterion.is_precomputed:
        check_params(criterion.params, {}, caller)
    metric = criterion.registered
    if metric is not None:
        known = {parameter.name: parameter.default is REQUIRED for parameter in metric.parameters}
        check_params(criterion.params, known, f"the metric '{metric.name}' of {caller}")
        checked_params(criterion, metric)
        if criterion.missing == "ignore":
            check_can_ignore_missing(metric.name, metric.ignores_missing, name)
    return criterion


def checked_params(criterion: Criterion, metric: Metric) -> dict[str, Any]:
    """Return all parameters of a criterion's metric, with the defaults of those not given."""
    caller = f"the criterion '{criterion.name}'"
    return {
        parameter.name: parameter.check(criterion.params.get(parameter.name, parameter.default), parameter.name, caller)
        for parameter in metric.parameters
    }


def resolve_criteria(criteria: object, caller: str) -> list[Criterion] | None:
    """Return the given criteria, checked as far as possible without data, or None for none given."""
    if criteria is None:
        return None
    checked: list[Criterion] = check_instances(criteria, "criteria", Criterion, caller)
    check_names([criterion.name for criterion in checked], caller)
    return [check_criterion(criterion) for criterion in checked]


def check_params(params: Mapping[str, object], known: Mapping[str, bool], caller: str) -> None:
    """Refuse unknown parameters and missing ones; `known` holds for each parameter whether it is required."""
    for parameter in params:
        if parameter not in known:
            has = f"its parameters are {listed(known)}" if known else "it has none"
            raise TypeError(
                f"The parameters of {caller} must be known. Got '{parameter}' instead"
                f"{suggestion(parameter, list(known))}; {has}."
            )
    for parameter, is_required in known.items():
        if is_required and parameter not in params:
            raise TypeError(f"{caller[0].upper()}{caller[1:]} must be given the parameter '{parameter}'. Got none.")


def check_can_ignore_missing(metric: str, can_ignore: bool, name: str) -> None:
    """Refuse to ignore missing values under a metric that cannot compare the rest."""
    if not can_ignore:
        raise ValueError(
            f"The 'missing' parameter of the criterion '{name}' must be 'fail' or 'drop' for the metric '{metric}', "
            "which cannot compare a part of its columns. Got 'ignore' instead; drop the samples, impute by a "
            "transform, or take another metric (`paretodepth criteria` tells which can)."
        )


def check_elementwise(pairwise: object, metric: object, name: str) -> bool:
    """Return whether a metric compares two samples at a time, which only a callable may."""
    is_elementwise = check_flag(pairwise, "pairwise", f"the criterion '{name}'")
    if is_elementwise and not callable(metric):
        raise ValueError(
            f"The 'pairwise' parameter of the criterion '{name}' must be False unless the metric is a callable "
            f"f(a, b) of two samples. Got the metric {metric!r} instead."
        )
    return is_elementwise


def check_instances(values: object, parameter: str, kind: type, caller: str) -> list[Any]:
    """Return a list of at least one instance of a class."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise TypeError(
            f"The '{parameter}' parameter of {caller} must be a list of {kind.__name__} objects. "
            f"Got {values!r} instead."
        )
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(
                f"The '{parameter}' parameter of {caller} must hold only {kind.__name__} objects. "
                f"Got {value!r} instead; write {kind.__name__}(name, columns=…, metric=…)."
            )
    if not values:
        raise ValueError(
            f"The '{parameter}' parameter of {caller} must hold at least one {kind.__name__}. "
            "Got an empty list instead."
        )
    return list(values)


def check_names(names: Sequence[object], caller: str) -> list[str]:
    """Return criterion names that are strings and all different."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The name of a criterion of {caller} must be a non-empty string. Got {name!r} instead.")
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"The criteria of {caller} must have different names. Got '{name}' {count} times instead.")
    return list(names)  # type: ignore[arg-type]


def check_metric(metric: object, name: str, known: Sequence[str]) -> None:
    """Refuse what is neither a callable nor the name of a known metric."""
    if callable(metric):
        return
    if not isinstance(metric, str):
        raise TypeError(
            f"The 'metric' parameter of the criterion '{name}' must be a metric's name or a callable. "
            f"Got {metric!r} instead."
        )
    if metric not in known:
        raise ValueError(
            f"The 'metric' parameter of the criterion '{name}' must be a known metric or a callable. "
            f"Got '{metric}' instead{suggestion(metric, known)}; the known ones are {listed(known)}."
        )


def check_n_criteria(n_criteria: int, caller: str) -> None:
    """Refuse more criteria than Pareto fronts can order."""
    if n_criteria > MAX_CRITERIA:
        raise ValueError(
            f"{caller} must be given at most {MAX_CRITERIA} criteria. Got {n_criteria:,} instead; join related columns "
            "into criteria, as Criterion(name, columns=[…]) does, or leave some out."
        )


def check_transformer(transform: object, name: str) -> Any:
    """Return None, or a transformer that can be cloned and fitted."""
    needed = ("fit", "transform", "get_params")
    if transform is not None and (isinstance(transform, type) or not all(hasattr(transform, m) for m in needed)):
        raise TypeError(
            f"The 'transform' parameter of the criterion '{name}' must be a scikit-learn transformer or pipeline. "
            f"Got {transform!r} instead; sklearn.preprocessing.FunctionTransformer(f) makes one of a function."
        )
    return transform
