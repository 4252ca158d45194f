"""The last samples of a stream: how single samples are read, and what is kept of those in the window."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import is_integer, shortened
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.encoding import Bound, bound_criteria, check_common, kept_rows, needed_columns
from paretodepth.criteria.fitted_criteria import FittedCriteria, FittedCriterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import Layout, check_column_names, column_array, is_object_column
from paretodepth.criteria.values import Column, Columns, check_comparable, is_missing, object_column
from paretodepth.pairs.limits import FREE_SHARE, free_bytes, listing_bytes, sorting_bytes
from paretodepth.pairs.pairs import Criteria, Encodings

REFRESHED_SHARE = 2
"""By default the model is fitted again when one of this many samples in the window is new."""
NUMBERS = (float, int, bool, np.float64)
"""Types of numbers that need no closer look."""


def copied_sample(x: Any, caller: str) -> Any:
    """Return a copy to keep: a dict, a list of a row's values, or an object."""
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
    return [copied_sample(x, caller) for x in X]


def as_columns(samples: Sequence[Any]) -> Any:
    """Return kept samples as the batch detector takes them: a dict of columns, or a list."""
    first = samples[0]
    return {name: [sample[name] for sample in samples] for name in first} if isinstance(first, dict) else list(samples)


class SampleReader:
    """Encodes single samples as a table of one row would be, without reading columns that no criterion reads.

    Parameters
    ----------
    criteria : FittedCriteria
    caller : str
        The detector that messages name.
    bound : list of tuple of Criterion and list of int or None, default=None
        All criteria with their columns, if these are more than the fitted ones.
    """

    def __init__(self, criteria: FittedCriteria, caller: str, bound: Bound | None = None) -> None:
        self.criteria = criteria
        self._caller = caller
        self._bound = criteria.bound if bound is None else bound
        self.read = {column for _, columns in self._bound for column in columns}
        self._needed = needed_columns(self._bound, criteria.layout)
        self._checked_names: list[str] | None = None

    def kept(self, sample: Any) -> Any:
        """Return a sample with the columns that criteria read; where columns are counted, the others hold NaN."""
        layout = self.criteria.layout
        names = layout.feature_names
        if isinstance(sample, dict) and names is not None:
            if not all(names[place] in sample for place in self.read):
                return sample
            return {name: sample[name] if place in self.read else math.nan for place, name in enumerate(names)}
        if isinstance(sample, list) and not layout.is_object_column:
            return [value if place in self.read else math.nan for place, value in enumerate(sample)]
        return sample

    def table(self, sample: Any, number: int) -> Columns | None:
        """Return a sample as a table of one row; None if a criterion drops it because of a missing value."""
        layout = self.criteria.layout
        names = layout.feature_names
        who = f"Sample {number} given to {self._caller}"
        check_form(sample, layout, who)
        if names is not None and list(sample) != self._checked_names:
            check_column_names(list(sample), names, self._caller, self._needed)
            self._checked_names = list(sample)
        kept = self.kept(sample)
        if layout.is_object_column:
            arrays = [object_column([kept])]
        else:
            values = list(kept.values()) if names is not None else kept
            check_lists(values, layout, self.read, who)
            arrays = [_column(value) for value in values]
        names = names or [str(place) for place in range(len(arrays))]
        table = Columns(arrays, names, self._caller, first_row=number)
        return table if len(kept_rows(self._bound, table)) else None

    def encodings(self, sample: Any, number: int, others: Encodings) -> list[Encoding] | None:
        """Return a sample as each criterion encodes it, comparable with others; None if a criterion drops it."""
        table = self.table(sample, number)
        if table is None:
            return None
        encodings = [fitted.encode(table) for fitted in self.criteria.fitted]
        for fitted, encoding, other in zip(self.criteria.fitted, encodings, others or encodings, strict=True):
            check_comparable(encoding, other, fitted.name)
        return encodings


class FirstReader:
    """Reads samples while there is no model, by the criteria and the first values that came."""

    def __init__(self, criteria: Sequence[Criterion] | None, caller: str, n_jobs: int | None) -> None:
        self._criteria = criteria
        self._stand_ins = None if criteria is None else _stand_ins(criteria)
        self._caller = caller
        self._n_jobs = n_jobs
        self._values: list[Any] = []
        self._reader: SampleReader | None = None

    def admitted(self, samples: Sequence[Any], sample: Any, number: int) -> Any:
        """Return a sample as it is kept, None if a criterion drops it; refuse one that cannot be compared with others.

        The others are as `SampleReader.kept` returns them.
        """
        reader = self.reader(samples, sample, number)
        if reader is None:
            return None
        criteria = reader.criteria
        others: Encodings = []
        if samples and criteria.fitted:
            others = criteria.encode(as_columns(samples), caller=self._caller).encodings
        encodings = reader.encodings(sample, number, others)
        if encodings and others:
            check_pairs(criteria.fitted, encodings, others, number, self._n_jobs)
        return reader.kept(sample)

    def admits(self, samples: Sequence[Any], sample: Any) -> bool:
        """Return whether a sample is not refused beside others."""
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
        first = _example(samples, draft.kept(sample), layout, draft.read)
        values = list(first.values()) if isinstance(first, dict) else first if isinstance(first, list) else [first]
        is_known = len(values) == len(self._values) and all(map(lambda a, b: a is b, values, self._values))
        if self._reader is None or not is_known:
            fitted = draft.criteria
            if self._stand_ins != []:
                # What it takes to read a sample is known from any that can be read.
                fitted, _ = FittedCriteria.fit(self._stand_ins, as_columns([first] * 3), caller=self._caller)
            self._values, self._reader = values, SampleReader(fitted, self._caller, bound)
        return self._reader


class Window:
    """The samples that the model was fitted to, and those learned since; the window is the last `size` of them.

    Samples that have left the window stay until the next fit, so that a state can be restored from samples alone: by
    a fit to the first, and by learning the others. If fits fail for long, `2 * size` of the others stay, enough for
    all that is known of the window.

    Attributes
    ----------
    fitted, later : list
        The samples of the last fit, empty before the first, and those learned since, as `SampleReader.kept` returns
        them.
    age : int
        Number of samples learned since the last fit.
    """

    def __init__(self, size: int, n_later: int) -> None:
        self.size = size
        self.fitted: list[Any] = []
        self.later: list[Any] = []
        self.age = 0
        self._n_places = size + n_later
        # Arrays with a row for each sample in the window, behind rows of samples that have left it.
        self._buffers: list[NDArray[Any]] = []
        self._end = 0

    @property
    def samples(self) -> list[Any]:
        """The samples in the window, the oldest first."""
        return [*self.fitted, *self.later][-self.size :]

    @property
    def n_samples(self) -> int:
        """Number of samples in the window."""
        return min(self.size, len(self.fitted) + len(self.later))

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The arrays given to `begin`, as of the samples that are in the window now."""
        return [buffer[self._end - self.n_samples : self._end] for buffer in self._buffers]

    def begin(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Take arrays with a row for each sample in the window."""
        buffers = [np.empty((self._n_places, *rows.shape[1:]), rows.dtype) for rows in arrays]
        for buffer, rows in zip(buffers, arrays, strict=True):
            buffer[: len(rows)] = rows
        # Only now that there was memory for all.
        self._buffers, self._end = buffers, len(arrays[0])

    def append(self, sample: Any, rows: Sequence[NDArray[Any]] = ()) -> None:
        """Learn a sample, with its row of each array."""
        if self._buffers and self._end == self._n_places:
            self.begin(self.arrays)
        for buffer, row in zip(self._buffers, rows, strict=True):
            buffer[self._end] = row
        self._end += len(self._buffers) > 0
        self.later.append(sample)
        self.age += 1
        # Before the first fit nothing is known of samples, so none need stay that has left the window.
        del self.later[: -(2 * self.size if self.fitted else self.size)]


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


def _example(samples: Sequence[Any], sample: Any, layout: Layout, read: set[int]) -> Any:
    """Return a sample that shows how to read others: of each column the first text or, if there is none, value."""
    if layout.is_object_column:
        return samples[0] if samples else sample
    keys = layout.feature_names or range(layout.n_features)
    values = [sample[key] for key in keys]
    for place in read:
        present = [other[keys[place]] for other in samples if not is_missing(other[keys[place]])]
        # Numbers can be read as categories too.
        values[place] = next((value for value in present if isinstance(value, str)), [*present, values[place]][0])
    return dict(zip(keys, values, strict=True)) if isinstance(sample, dict) else values


def _stand_ins(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Return criteria that read the same columns and can be fitted to one sample, which transformers cannot."""
    return [
        Criterion(criterion.name, criterion.columns, "seuclidean", missing=criterion.missing)
        if isinstance(criterion.metric, str) and criterion.metric == "mahalanobis"
        else criterion
        for criterion in criteria
        if criterion.transform is None
    ]


def _column(value: Any) -> Column:
    """Return a column of one value, as `column_array` makes it."""
    return np.array([value]) if type(value) in NUMBERS else column_array([value])


def _estimates(criterion: FittedCriterion) -> bool:
    """Return whether a criterion's dissimilarities depend on the samples that it was fitted to."""
    metric = criterion.criterion.registered
    return criterion.criterion.transform is not None or (metric is not None and metric.fit is not None)


def check_pairs(criteria: Criteria, encodings: Encodings, others: Encodings, number: int, n_jobs: int | None) -> None:
    """Refuse a sample that cannot be compared with others, as far as that does not depend on what criteria estimate."""
    for criterion, encoding, other in zip(criteria, encodings, others, strict=True):
        if not _estimates(criterion):
            is_named = criterion.criterion.registered is not None
            # A function takes the earlier sample first, as in a fit.
            A, B, origin = (encoding, other, (number, 0)) if is_named else (other, encoding, (0, number))
            criterion.dissimilarities(A, B, origin, n_jobs)
        elif criterion.criterion.missing == "ignore":
            n_common = (~np.isnan(encoding)).astype(np.float64) @ (~np.isnan(other)).astype(np.float64).T
            check_common(np.where(n_common > 0, 0.0, np.nan), criterion.name, (number, 0), n_columns=encoding.shape[1])


def check_form(sample: Any, layout: Layout, who: str) -> None:
    """Refuse a sample of another form than the first."""
    if layout.is_object_column:
        form, is_right = "an object", not isinstance(sample, dict)
    elif layout.feature_names is None:
        n_values = layout.n_features
        form, is_right = f"a sequence of {n_values} values", isinstance(sample, list) and len(sample) == n_values
    else:
        form, is_right = "a dict of values by column", isinstance(sample, dict)
    if not is_right:
        raise ValueError(f"{who} must be {form}, as the first. Got {shortened(sample)} instead.")


def check_lists(values: Sequence[Any], layout: Layout, read: set[int], who: str) -> None:
    """Refuse a list in place of a single value and the other way round: alone it could be read."""
    for place, (value, kind) in enumerate(zip(values, layout.kinds, strict=False)):
        is_list = isinstance(value, list | tuple | np.ndarray)
        if place in read and kind and is_list != (kind == "lists") and not is_missing(value):
            name = place if layout.feature_names is None else f"'{layout.feature_names[place]}'"
            raise ValueError(
                f"{who} must hold {'a list' if kind == 'lists' else 'a single value'} in {name}, as the first did. "
                f"Got {shortened(value)} instead; leave the sample out, or correct the value."
            )


def check_window(window: object, refresh: object, n_needed: int, n_criteria: int, caller: str) -> tuple[int, int]:
    """Return the sizes of a window that fits into memory, and of the part of it that is learned between two fits."""
    if not is_integer(window) or window < n_needed:  # type: ignore[operator]
        raise ValueError(
            f"The 'window' parameter of {caller} must be an integer of at least {n_needed:,}, what 'alpha' needs. "
            f"Got {window!r} instead; widen the window, or raise alpha."
        )
    size = int(window)  # type: ignore[call-overload]
    n_later: Any = max(1, size // REFRESHED_SHARE) if refresh is None else refresh
    if not is_integer(n_later) or not 1 <= n_later <= size:
        raise ValueError(
            f"The 'refresh' parameter of {caller} must be None or an integer from 1 to the size of the window, "
            f"{size:,}. Got {refresh!r} instead; 1 fits the model again after every sample that is learned."
        )
    n_bytes = sorting_bytes(size * (size - 1) // 2, n_criteria) + listing_bytes(size, n_criteria)
    n_free = int(FREE_SHARE * free_bytes())
    if n_bytes > n_free:
        raise ValueError(
            f"The 'window' parameter of {caller} must be so small that its pairs fit into half of the memory that is "
            f"free, {n_free:,} bytes. Got {size:,}, which takes about {n_bytes:,}; narrow the window."
        )
    return size, int(n_later)


def refuse_precomputed(criteria: Sequence[Criterion], caller: str) -> None:
    """Refuse criteria that read matrices, of which a stream has none."""
    for criterion in criteria:
        if criterion.is_precomputed:
            raise ValueError(
                f"The criteria of {caller} must compare samples. Got metric='precomputed' for '{criterion.name}' "
                "instead; give a function of two samples, with pairwise=True."
            )
