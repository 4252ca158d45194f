"""Single samples: read as a table of them would be, without the cost of one, and kept as far as criteria read them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from paretodepth._checks import shortened
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.encoding import Bound, bound_criteria, kept_rows, needed_columns
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import Layout, check_column_names, column_array, is_object_column
from paretodepth.criteria.values import Column, Columns, check_comparable, is_missing, object_column
from paretodepth.streaming.window import check_pairs

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
    return {name: [sample[name] for sample in samples] for name in first} if isinstance(first, dict) else list(samples)


class SampleReader:
    """Reads single samples as criteria encode them, and looks at no column that criteria do not read.

    Parameters
    ----------
    criteria : FittedCriteria
        The criteria that encode samples.
    caller : str
        The detector that messages name.
    bound : list of tuple of Criterion and list of int or None, default=None
        All criteria with their columns, if there are others than those that encode.
    """

    def __init__(self, criteria: FittedCriteria, caller: str, bound: Bound | None = None) -> None:
        self.criteria = criteria
        self._caller = caller
        self._bound = criteria.bound if bound is None else bound
        self._read = {column for _, columns in self._bound for column in columns}
        self._needed = needed_columns(self._bound, criteria.layout)
        self._keys: list[str] | None = None

    def kept(self, sample: Any) -> Any:
        """Return a sample with the columns that criteria read; where columns are counted, the others hold NaN."""
        layout = self.criteria.layout
        names = layout.feature_names
        if isinstance(sample, dict) and names is not None:
            if not all(names[place] in sample for place in self._read):
                return sample
            return {name: sample[name] if place in self._read else math.nan for place, name in enumerate(names)}
        if isinstance(sample, list) and not layout.is_object_column:
            return [value if place in self._read else math.nan for place, value in enumerate(sample)]
        return sample

    def table(self, sample: Any, number: int) -> Columns | None:
        """Return a sample as a table of one row; None if a criterion drops it because of a missing value.

        Parameters
        ----------
        sample : dict, list or object
            As `plain_sample` returns it.
        number : int
            The number of the sample in the stream, for messages.
        """
        layout = self.criteria.layout
        check_as_first(sample, layout, self._read, f"Sample {number} given to {self._caller}")
        arrays = self._arrays(sample)
        names = layout.feature_names or [str(place) for place in range(len(arrays))]
        table = Columns(arrays, names, self._caller, first_row=number)
        return table if len(kept_rows(self._bound, table)) else None

    def encodings(self, sample: Any, number: int, training: Sequence[Encoding]) -> list[Encoding] | None:
        """Return a sample as each criterion encodes it, one row each; None if a criterion drops it.

        Parameters
        ----------
        sample, number
            As of `table`.
        training : sequence of ndarray
            Other encoded samples, which this one must be comparable with; empty if there are none.
        """
        table = self.table(sample, number)
        if table is None:
            return None
        encodings = [fitted.encode(table) for fitted in self.criteria.fitted]
        for fitted, encoding, others in zip(self.criteria.fitted, encodings, training or encodings, strict=True):
            check_comparable(encoding, others, fitted.name)
        return encodings

    def _arrays(self, sample: Any) -> list[Column]:
        """Return a column of one value for each feature."""
        layout = self.criteria.layout
        if layout.feature_names is not None and isinstance(sample, dict):
            self._check_names(list(sample))
            names = enumerate(layout.feature_names)
            return [_single(sample[name]) if place in self._read else NOTHING for place, name in names]
        is_row = isinstance(sample, list) and not layout.is_object_column and layout.feature_names is None
        if is_row and len(sample) == layout.n_features:
            sample = self.kept(sample)
            if all(type(value) in PLAIN for value in sample):
                return [np.array([value]) for value in sample]
            # A table with a cell that is no number is a table of objects.
            return [object_column([value]) for value in sample]
        if layout.is_object_column and not isinstance(sample, dict):
            return [object_column([sample])]
        # Refused with the words that a table would be.
        return self.criteria.columns(together([sample]), caller=self._caller).arrays

    def _check_names(self, names: list[str]) -> None:
        """Refuse names of columns without those that criteria read."""
        if names != self._keys:
            check_column_names(names, self.criteria.layout.feature_names, self._caller, self._needed)
            self._keys = names


class FirstReader:
    """Reads samples while there is no model, by the criteria and the first values that came.

    Parameters
    ----------
    criteria : list of Criterion or None
    caller : str
        The detector that messages name.
    n_jobs : int or None
    """

    def __init__(self, criteria: Sequence[Criterion] | None, caller: str, n_jobs: int | None) -> None:
        self._criteria = criteria
        self._stand_ins = None if criteria is None else _stand_ins(criteria)
        self._caller = caller
        self._n_jobs = n_jobs
        self._values: list[Any] = []
        self._reader: SampleReader | None = None

    def admitted(self, samples: Sequence[Any], sample: Any, number: int) -> Any:
        """Return a sample as it is kept, None if a criterion drops it because of a missing value.

        A sample is refused if it cannot be read, or not be compared with one of the others.

        Parameters
        ----------
        samples : sequence
            The others, as `SampleReader.kept` returns them.
        sample, number
            As of `SampleReader.table`.
        """
        reader = self.reader(samples, sample, number)
        if reader is None:
            return None
        criteria = reader.criteria
        others: list[Encoding] = []
        if samples and criteria.fitted:
            others = criteria.encode(together(samples), caller=self._caller).encodings
        encodings = reader.encodings(sample, number, others)
        if encodings and others:
            check_pairs(criteria.fitted, encodings, others, number, self._n_jobs)
        return reader.kept(sample)

    def admits(self, samples: Sequence[Any], sample: Any) -> bool:
        """Tell whether a sample is not refused beside others."""
        try:
            self.admitted(samples, sample, 0)
        except Exception:
            return False
        return True

    def reader(self, samples: Sequence[Any], sample: Any, number: int) -> SampleReader | None:
        """Return the reader of a sample beside others, None if a criterion drops it; see `admitted`."""
        layout, bound = _first_layout(self._criteria, samples[0] if samples else sample)
        draft = SampleReader(FittedCriteria([], layout), self._caller, bound)
        if draft.table(sample, number) is None:
            return None
        read = {column for _, columns in bound for column in columns}
        first = _example(samples, draft.kept(sample), layout, read)
        values = _values(first)
        is_known = len(values) == len(self._values) and all(map(lambda a, b: a is b, values, self._values))
        if self._reader is None or not is_known:
            fitted = draft.criteria
            if self._stand_ins != []:
                # What it takes to read a sample is known from any that can be read.
                fitted, _ = FittedCriteria.fit(self._stand_ins, together([first] * 3), caller=self._caller)
            self._values, self._reader = values, SampleReader(fitted, self._caller, bound)
        return self._reader


def _values(sample: Any) -> list[Any]:
    """Return the values of a sample."""
    return list(sample.values()) if isinstance(sample, dict) else sample if isinstance(sample, list) else [sample]


def _first_layout(criteria: Sequence[Criterion] | None, sample: Any) -> tuple[Layout, Bound]:
    """Return the columns of a first sample that are kept, and the criteria with their places among these."""
    names = list(sample) if isinstance(sample, dict) else None
    reads_list = any(criterion.reads_list for criterion in criteria or [])
    is_row = isinstance(sample, list) and not is_object_column([sample] * 3) and not reads_list
    is_object = names is None and not is_row
    layout = Layout(1 if is_object else len(sample), names, is_object)
    bound = bound_criteria(criteria, layout)
    needed = needed_columns(bound, layout)
    if needed is None:
        return layout, bound
    layout = Layout(len(needed), needed)
    return layout, bound_criteria(criteria, layout)


def _example(samples: Sequence[Any], sample: Any, layout: Layout, read: Collection[int]) -> Any:
    """Return a sample that tells how to read a table of others: of each column the first value that is not missing.

    Text comes before numbers, which can be read as categories too. A new sample counts where the others have no value.
    """
    if layout.is_object_column:
        return samples[0] if samples else sample
    keys = layout.feature_names or range(layout.n_features)
    values = [sample[key] for key in keys]
    for place, key in enumerate(keys):
        present = [other[key] for other in samples if not is_missing(other[key])] if place in read else []
        values[place] = next((value for value in present if isinstance(value, str)), [*present, values[place]][0])
    return dict(zip(keys, values, strict=True)) if isinstance(sample, dict) else values


def _stand_ins(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Return criteria that read the same columns and can be fitted to one sample, as no covariance can.

    What a transformer takes only the transformer knows.
    """
    return [
        Criterion(criterion.name, criterion.columns, "seuclidean", missing=criterion.missing)
        if isinstance(criterion.metric, str) and criterion.metric == "mahalanobis"
        else criterion
        for criterion in criteria
        if criterion.transform is None
    ]


def _single(value: Any) -> Column:
    """Return a column of one value, as `column_array` makes it."""
    return np.array([value]) if type(value) in PLAIN else column_array([value])


def check_as_first(sample: Any, layout: Layout, read: Collection[int], who: str) -> None:
    """Refuse a sample of another form, or with a list in place of a single value: it could be read, but only alone."""
    if layout.is_object_column:
        return
    names = layout.feature_names
    if not isinstance(sample, list if names is None else dict):
        form = "a sequence of values" if names is None else "a dict of values by column"
        raise ValueError(f"{who} must be {form}, as the first. Got {shortened(sample)} instead.")
    cells = list(sample) if names is None else [sample.get(name) for name in names]  # type: ignore[union-attr]
    for place, (value, kind) in enumerate(zip(cells, layout.kinds, strict=False)):
        is_list = isinstance(value, list | tuple | np.ndarray)
        if place in read and kind and is_list != (kind == "lists") and not is_missing(value):
            name = place if names is None else f"'{names[place]}'"
            expected = "a list" if kind == "lists" else "a single value"
            raise ValueError(
                f"{who} must hold {expected} in {name}, as the first did. Got {shortened(value)} instead; leave it "
                "out, or mend it."
            )
