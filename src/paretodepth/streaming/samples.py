"""Single samples: kept as they came, and read as a table of them would be, without the cost of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from paretodepth._checks import shortened
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted import FittedCriteria
from paretodepth.criteria.metrics.metric import View
from paretodepth.criteria.missing import kept_rows
from paretodepth.criteria.samples import Layout, check_column_names, column_array
from paretodepth.criteria.values import Column, Columns, check_comparable, is_missing, object_column

PLAIN = (float, int, bool, np.float64)
"""Types of numbers that need no closer look."""
NOTHING = np.array([np.nan])
"""In place of a column that no criterion reads."""


def plain_sample(x: Any, caller: str) -> Any:
    """Return a sample to be kept: a dict, a list of a row's values, or an object; what was given may change later."""
    if isinstance(x, Mapping):
        return dict(zip(check_column_names(list(x), None, caller), x.values(), strict=True))
    if isinstance(x, np.ndarray):
        return x.tolist() if x.ndim == 1 else x.copy()
    return list(x) if isinstance(x, tuple | list) else x


def samples_of(X: Any, caller: str) -> list[Any]:
    """Return the samples of a table or a list, each as it would come alone."""
    if isinstance(X, Mapping):
        names = check_column_names(list(X), None, caller)
        return [dict(zip(names, values, strict=True)) for values in zip(*X.values(), strict=True)]
    if nw.dependencies.is_into_dataframe(X):
        return list(nw.from_native(X, eager_only=True).iter_rows(named=True))
    return [plain_sample(x, caller) for x in X]


def together(samples: Sequence[Any]) -> Any:
    """Return kept samples as the batch detector is given them: a dict of columns, or a list."""
    first = samples[0]
    if isinstance(first, dict):
        # What a sample may lack is read by no criterion.
        return {name: [sample.get(name) for sample in samples] for name in first}
    return list(samples)


class FirstReader:
    """Checks samples for which nothing is fitted yet, by the criteria and by the sample that came first.

    Parameters
    ----------
    criteria : list of Criterion or None
    caller : str
        The detector that messages name.
    """

    def __init__(self, criteria: Sequence[Criterion] | None, caller: str) -> None:
        self._criteria = None if criteria is None else _stand_ins(criteria)
        self._caller = caller
        self._first: FittedCriteria | None = None

    def is_whole(self, sample: Any, number: int) -> bool:
        """Tell whether a sample lacks no value, and refuse one that the criteria cannot read."""
        if self._first is not None:
            check_as_first(sample, self._first.layout, number, self._caller)
            return len(self._first.seen(together([sample]), caller=self._caller, first_row=number).rows) > 0
        if self._criteria == []:
            return True
        drops = any(criterion.missing == "drop" for criterion in self._criteria or [])
        if drops and isinstance(sample, dict | list) and any(map(is_missing, _values(sample))):
            return False
        # What it takes to read a sample is known from any that can be read.
        self._first, _ = FittedCriteria.fit(self._criteria, together([sample] * 3), caller=self._caller)
        return True


def _values(sample: dict[str, Any] | list[Any]) -> Sequence[Any]:
    return list(sample.values()) if isinstance(sample, dict) else sample


def _stand_ins(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Return criteria that read the same columns and can be fitted to one sample, as no covariance can.

    What a transformer takes only the transformer knows.
    """
    return [
        Criterion(criterion.name, criterion.columns, missing=criterion.missing)
        if isinstance(criterion.metric, str) and criterion.metric == "mahalanobis"
        else criterion
        for criterion in criteria
        if criterion.transform is None
    ]


class SampleReader:
    """Reads single samples as fitted criteria see them.

    Parameters
    ----------
    criteria : FittedCriteria
    caller : str
        The detector that messages name.
    """

    def __init__(self, criteria: FittedCriteria, caller: str) -> None:
        self._criteria = criteria
        self._caller = caller
        self._bound = [(fitted.criterion, fitted.columns) for fitted in criteria.fitted]
        self._read = {column for _, columns in self._bound for column in columns}
        self._keys: list[str] | None = None

    def views(self, sample: Any, number: int, training: Sequence[View]) -> list[View] | None:
        """Return what each criterion sees of a sample, one row each; None if it is dropped for want of a value.

        Parameters
        ----------
        sample : dict, list or object
            As `plain_sample` returns it.
        number : int
            Of the sample in the stream, for messages.
        training : sequence of ndarray
            What the criteria see of other samples, which these must be comparable with.
        """
        check_as_first(sample, self._criteria.layout, number, self._caller)
        arrays = self._arrays(sample)
        names = self._criteria.layout.feature_names or [str(place) for place in range(len(arrays))]
        table = Columns(arrays, names, self._caller, first_row=number)
        if not len(kept_rows(self._bound, table)):
            return None
        views = [fitted.view(table) for fitted in self._criteria.fitted]
        for fitted, view, others in zip(self._criteria.fitted, views, training, strict=True):
            check_comparable(view, others, fitted.name)
        return views

    def _arrays(self, sample: Any) -> list[Column]:
        """Return a column of one value for each feature."""
        layout = self._criteria.layout
        if layout.feature_names is not None and isinstance(sample, dict):
            names = enumerate(self._checked_names(sample))
            return [_single(sample[name]) if place in self._read else NOTHING for place, name in names]
        is_row = isinstance(sample, list) and not layout.is_object_column and layout.feature_names is None
        if is_row and len(sample) == layout.n_features:
            if all(type(value) in PLAIN for value in sample):
                return [np.array([value]) for value in sample]
            # A table of which a cell is no number is one of objects.
            return [object_column([value]) for value in sample]
        if layout.is_object_column and not isinstance(sample, dict):
            return [object_column([sample])]
        # Refused with the words that a table would be.
        return self._criteria.columns(together([sample]), caller=self._caller).arrays

    def _checked_names(self, sample: dict[str, Any]) -> list[str]:
        """Return the names of all features, after those that are needed were seen to be there."""
        names = self._criteria.layout.feature_names or []
        keys = list(sample)
        if keys != self._keys:
            self._criteria.columns(together([sample]), caller=self._caller)
            self._keys = keys
        return names


def _single(value: Any) -> Column:
    """Return a column of one value, as `column_array` makes it."""
    return np.array([value]) if type(value) in PLAIN else column_array([value])


def check_as_first(sample: Any, layout: Layout, number: int, caller: str) -> None:
    """Refuse a sample of another form, or with a list in place of a single value: it could be read, but only alone."""
    if layout.is_object_column:
        return
    names, who = layout.feature_names, f"Sample {number} given to {caller}"
    if not isinstance(sample, list if names is None else dict):
        form = "a sequence of values" if names is None else "a dict of values by column"
        raise ValueError(f"{who} must be {form}, as the first. Got {shortened(sample)} instead.")
    cells = list(sample) if names is None else [sample.get(name) for name in names]  # type: ignore[union-attr]
    for place, (value, kind) in enumerate(zip(cells, layout.kinds, strict=False)):
        is_list = isinstance(value, list | tuple | np.ndarray)
        if kind and is_list != (kind == "lists") and not is_missing(value):
            name = place if names is None else f"'{names[place]}'"
            expected = "a list" if kind == "lists" else "a single value"
            raise ValueError(
                f"{who} must hold {expected} in {name}, as the first did. Got {shortened(value)} instead; leave it "
                "out, or mend it."
            )
