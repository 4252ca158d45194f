"""Watching a stream of records: one result each, and a state that is written now and then."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paretodepth._checks import one_line
from paretodepth.criteria.criterion import Criterion
from paretodepth.detector import ParetoDepthDetector
from paretodepth.streaming.detector import StreamingDetector, read_state, write_state
from paretodepth.streaming.records import Record, number_columns
from paretodepth.streaming.stream import Observation, Stream, StreamSettings

CALLER = "watch"
REFUSED = (ValueError, TypeError, RecursionError)
N_JUDGED = 100
"""Records after which it is reported that none was used; refused in a row at the end, they make a stream fail."""


class Watcher:
    """Makes a result of every record.

    Parameters
    ----------
    parameters : dict
        Of the streaming detector. If they have no criteria, the columns of numbers of the first record become
        one each.
    state : str or None, default=None
        The file that the state is written to, and read from if it is there.
    save_every : int, default=100
        After how many records.
    id_column : str or None, default=None
        The column that names samples; no criterion.
    note : callable
        Given a sentence about what was chosen and where the stream resumes.
    warn : callable
        Given a sentence when fits begin to fail, and when no record was learnt or scored.

    Attributes
    ----------
    n_read : int
        How many records were read, those that were refused too.
    names : list of str
        The names of the columns of the first record, if it has names.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        *,
        state: str | None = None,
        save_every: int = 100,
        id_column: str | None = None,
        note: Callable[[str], object] = str,
        warn: Callable[[str], object] = str,
    ) -> None:
        self.n_read = 0
        self.names: list[str] = []
        self.stream: Stream | None = None
        self._parameters = StreamingDetector().get_params(deep=False) | dict(parameters)
        self._state = state
        self._save_every = save_every
        self._id_column = id_column
        self._note = note
        self._warn = warn
        self._n_saved = self._n_results = self._n_refused = 0
        self._is_any_used = False
        self._error = ""
        if state is not None and os.path.exists(state):
            self._resume(state, parameters)
        else:
            # Refused at the start, before any sample has come.
            settings = StreamSettings.checked(self._parameters, CALLER)
            if self._parameters["criteria"] is not None:
                self.stream = Stream(self._parameters["criteria"], settings, CALLER, self._report)

    def _resume(self, state: str, given: Mapping[str, Any]) -> None:
        kept, self.stream, self.n_read, self.names = read_state(state, {}, CALLER, self._report)
        check_same_parameters(given, kept, state)
        self._parameters, self._n_saved = kept, self.n_read
        self._note(
            f"{state}: goes on after record {self.n_read:,}, with {self.stream.window.n_samples:,} samples in the "
            "window. What came after it before the stream was stopped is not known here."
        )

    @classmethod
    def of_model(cls, path: str, id_column: str | None, warn: Callable[[str], object] = str) -> Watcher:
        """Return a watcher that scores with a fitted detector's model, and learns nothing."""
        watcher = cls({}, id_column=id_column, warn=warn)
        detector = ParetoDepthDetector.load(path)
        watcher.stream = Stream.fixed(detector.model_, CALLER)
        return watcher

    @property
    def criteria(self) -> Sequence[Criterion] | None:
        """The criteria, None as long as they are not known."""
        if self.stream is not None and self.stream.is_fixed and self.stream.model is not None:
            return [fitted.criterion for fitted in self.stream.model.criteria.fitted]
        criteria: Sequence[Criterion] | None = self._parameters["criteria"]
        return criteria

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns hold by name, as far as a fitted model knows it."""
        model = self.stream.model if self.stream is not None else None
        layout = None if model is None else model.criteria.layout
        return {} if layout is None else dict(zip(layout.feature_names or [], layout.kinds, strict=False))

    def result(self, record: Record) -> dict[str, Any]:
        """Return the result of a record, as JSON writes it; one that is refused is not learnt."""
        result = self._result(record)
        self._error = result.get("error", "")
        self._n_results += 1
        self._n_refused = self._n_refused + 1 if self._error else 0
        self._is_any_used |= not self._error and (result["learnt"] or result["score"] is not None)
        if self._n_results == N_JUDGED:
            self._warn_if_unused()
        return result

    def _report(self, sentence: str) -> None:
        """Warn of what the present record has brought about."""
        self._warn(f"Record {self.n_read:,}: {sentence}")

    def _warn_if_unused(self) -> None:
        """Warn if records were neither refused nor used."""
        if not self._is_any_used and self._n_refused < self._n_results:
            self._warn(
                f"None of {self._n_results:,} records was learnt or scored: in each, a value is missing in a column "
                'of a criterion with missing = "drop".'
            )

    def check_end(self) -> None:
        """Refuse a stream whose last records were all refused, and warn if no record was used."""
        if self._n_results < N_JUDGED:
            self._warn_if_unused()
        if self._n_refused and self._n_refused >= min(N_JUDGED, self._n_results):
            raise ValueError(
                f"The last records were refused, {self._n_refused:,} in a row. The last one: {self._error}"
            )

    def _result(self, record: Record) -> dict[str, Any]:
        self.n_read = record.number
        own: dict[str, Any] = {"record": record.number}
        if record.error:
            return own | {"error": record.error}
        sample = record.sample
        if not self.names and isinstance(sample, dict):
            self.names = list(sample)
        if self._id_column is not None and isinstance(sample, dict):
            own["id"] = sample.get(self._id_column)
            if self.stream is not None and self.stream.is_fixed:
                # A model may have been fitted to all columns of its table, of which this is none.
                sample = {name: value for name, value in sample.items() if name != self._id_column}
        try:
            observation = self._observed(sample)
        except REFUSED as error:
            return own | {"error": one_line(error)}
        call = "anomaly" if observation.is_anomaly else "nominal"
        return own | {
            "score": _plain(observation.score),
            "p": _plain(observation.p_value),
            "call": None if math.isnan(observation.score) else call,
            "learnt": observation.is_learnt,
            "drift": observation.is_drift,
            "because": self._reason(sample) if observation.is_anomaly else None,
        }

    def _observed(self, sample: Any) -> Observation:
        if self.stream is None:
            self.stream = self._chosen_stream(sample)
        return self.stream.update(sample)

    def _chosen_stream(self, sample: Any) -> Stream:
        """Return a stream with a criterion for each column of numbers of the first sample."""
        names = [name for name in number_columns(check_named(sample)) if name != self._id_column]
        criteria = [Criterion(name, [name], "cityblock") for name in check_some_numbers(names)]
        left_out = [name for name in sample if name not in names]
        remark = f" Left out: {', '.join(left_out)}." if left_out else ""
        self._note(
            f"One criterion per column of numbers: {', '.join(names)}.{remark} To choose: paretodepth suggest FILE "
            "> criteria.toml, then --criteria criteria.toml."
        )
        self._parameters["criteria"] = criteria
        return Stream(criteria, StreamSettings.checked(self._parameters, CALLER), CALLER, self._report)

    def _reason(self, sample: Any) -> str:
        """Return why a sample is unusual, by the samples of the last fit."""
        stream: Stream = self.stream  # type: ignore[assignment]
        sentence: str = stream.explain(sample, None).sentences[0]
        return sentence

    def unread_last(self) -> None:
        """Count the last record, which was refused, as not read."""
        self.n_read -= 1

    def save_if_due(self) -> None:
        """Write the state if enough records came since the last time."""
        if self.n_read >= self._n_saved + self._save_every:
            self.save()

    def save(self) -> None:
        """Write the state, if there is a file for it and a stream."""
        if self._state is not None and self.stream is not None:
            write_state(self._state, self.stream, self._parameters, self.n_read, self.names)
            self._n_saved = self.n_read


def _plain(value: float) -> float | None:
    """Return a number as JSON can write it."""
    return value if math.isfinite(value) else None


def check_named(sample: Any) -> dict[str, Any]:
    """Return a first sample whose columns have names, or refuse to guess criteria."""
    if not isinstance(sample, dict):
        raise ValueError(
            "A sample without names of columns must come with --criteria, which name columns by number. Got none; "
            "give --criteria, or JSON objects."
        )
    return sample


def check_some_numbers(names: list[str]) -> list[str]:
    """Return the columns of numbers, of which there must be one."""
    if not names:
        raise ValueError(
            "The first sample must have a column of numbers, or criteria must be given. Got none; write them with "
            "paretodepth suggest, and give --criteria."
        )
    return names


def check_same_parameters(given: Mapping[str, Any], kept: Mapping[str, Any], path: str) -> None:
    """Refuse options that differ from those that a stream was begun with."""
    for name, value in given.items():
        if value != kept[name]:
            raise ValueError(
                f"{path}: a stream that goes on must keep its options. Got another '--{name.replace('_', '-')}', "
                f"{_short(value)} in place of {_short(kept[name])}; leave it out, or choose another --state."
            )


def _short(value: Any) -> str:
    return f"{len(value)} criteria" if isinstance(value, list) else repr(value)
