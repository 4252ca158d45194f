"""Watch a stream of records: a result for each, and a state that is written now and then."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

from paretodepth._checks import check_choice, check_count, one_line
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.suggestion import check_suggested, suggest_criteria
from paretodepth.criteria.values import LARGEST
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.methods import MethodName
from paretodepth.streaming.detector import Input, check_parameters, read_state, write_state
from paretodepth.streaming.records import Record, Records, SignalSafeLines, Values
from paretodepth.streaming.stream import Observation, Stream, StreamSettings
from paretodepth.tables.sources import check_readable

CALLER = "watch"
REFUSED = (ValueError, TypeError, RecursionError)
N_JUDGED = 100
"""Records after which it is reported that none was used; refused in a row at the end, they make a stream fail."""


def _warn(sentence: str) -> None:
    warnings.warn(sentence, AdviceWarning, stacklevel=2)


def watch(
    source: str | os.PathLike[str] | Iterable[Any],
    criteria: Sequence[Criterion] | None = None,
    *,
    window: int | None = None,
    refresh: int | None = None,
    method: MethodName | None = None,
    alpha: float | None = None,
    learn: Literal["nominal", "all"] | None = None,
    max_unlearnt: float | None = None,
    state: str | os.PathLike[str] | None = None,
    save_every: int = 100,
    replay: bool = False,
    model: str | os.PathLike[str] | None = None,
    id: str | None = None,
    on_error: Literal["skip", "stop"] = "skip",
    note: Callable[[str], object] = str,
    warn: Callable[[str], object] = _warn,
) -> Iterator[dict[str, Any]]:
    """Score records as they come, and learn them; the function of the command ``paretodepth watch``.

    Parameters
    ----------
    source : str, path or iterable
        A file of JSON lines, or of CSV with a header; ``-`` for standard input; or an iterable of dicts, or of the
        lines of such a file as bytes. Text in records is read as the cells of files are.
    criteria : list of Criterion or None, default=None
        None: criteria are chosen from the first records, as many as the first fit needs, as `detect` chooses them.
    window, refresh, method, alpha, learn, max_unlearnt
        As of `StreamingDetector`. None: its default, or the value in the state.
    state : str, path or None, default=None
        File for the window. If it exists, the stream resumes from there. It is written every `save_every` records, and
        when the iterator ends or is closed.
    save_every : int, default=100
    replay : bool, default=False
        Whether the source starts again from the beginning: records that the state has read are skipped.
    model : str, path or None, default=None
        File of a saved detector: score with it, and learn nothing.
    id : str or None, default=None
        Column that identifies records; not used for scoring.
    on_error : {"skip", "stop"}, default="skip"
        Whether a record that is refused gives a result with the key ``"error"``, or ends the stream by a ValueError.
    note : callable, default=str
        Called with a sentence about what was chosen, and where the stream resumes.
    warn : callable
        Called with a sentence when fits begin to fail, and when no record is used. Default: an `AdviceWarning`.

    Yields
    ------
    result : dict
        ``"record"``, its number from 1 on; ``"id"`` if `id` is given; ``"score"`` and ``"p"``, the p-value;
        ``"call"``, "anomaly" or "nominal"; ``"learnt"``, ``"drift"``; ``"because"``, why it is an anomaly. What does
        not apply is None. A record that is refused has ``"error"`` in place of all these but the first two.

    Examples
    --------
    >>> import numpy as np
    >>> import paretodepth
    >>> records = [{"x": x, "y": y} for x, y in np.random.default_rng(0).normal(size=(200, 2)).tolist()]
    >>> results = list(paretodepth.watch([*records, {"x": 9.0, "y": 0.0}], alpha=0.05))
    >>> results[-1]["call"]
    'anomaly'
    """
    given: dict[str, Any] = {
        "criteria": criteria,
        "window": window,
        "refresh": refresh,
        "method": method,
        "alpha": alpha,
    }
    given |= {"learn": learn, "max_unlearnt": max_unlearnt}
    given = {name: value for name, value in given.items() if value is not None}
    check_choice(on_error, "on_error", ("skip", "stop"), CALLER)
    save_every = check_count(save_every, "save_every", CALLER)
    if model is not None:
        check_model_alone(given, state)
    watcher = Watcher(given, state, model, id, note, warn)
    return _results(source, watcher, save_every, replay=replay, is_strict=on_error == "stop")


def _results(source: Any, watcher: Watcher, save_every: int, *, replay: bool, is_strict: bool) -> Iterator[Any]:
    """Yield the results of records, and write the state when it is time: what is in it has been yielded."""
    n_known = n_saved = watcher.n_read if replay else 0
    n_saved = watcher.n_read
    with contextlib.ExitStack() as stack:
        lines = _lines(source, stack)
        for record in _records(lines, watcher, watcher.n_read - n_known):
            if record.number <= n_known:
                continue
            result = watcher.result(record)
            if is_strict and "error" in result:
                watcher.n_read -= 1
                watcher.save()
                refuse_record(result)
            try:
                yield result
            except GeneratorExit:
                watcher.save()
                raise
            if watcher.n_read >= n_saved + save_every:
                watcher.save()
                n_saved = watcher.n_read
        watcher.save()
    if not getattr(lines, "signal", 0):
        watcher.check_end()


def _lines(source: Any, stack: contextlib.ExitStack) -> Any:
    """Return the lines of a file, or anything else as it is."""
    if isinstance(source, str) and source == "-":
        return SignalSafeLines()
    if isinstance(source, str | os.PathLike):
        return SignalSafeLines(stack.enter_context(open(check_readable(os.fspath(source)), "rb")).fileno())
    return source


def _records(source: Any, watcher: Watcher, n_read: int) -> Iterable[Record]:
    """Return the records of lines or samples."""
    if isinstance(source, SignalSafeLines):
        return Records(source, watcher.values, watcher.names, n_read)
    items = iter(source)
    first = list(itertools.islice(items, 1))
    items = itertools.chain(first, items)
    if first and isinstance(first[0], bytes):
        return Records((line.removesuffix(b"\n") for line in items), watcher.values, watcher.names, n_read)
    return (Record(number, watcher.values.read(sample)) for number, sample in enumerate(items, n_read + 1))


class Watcher:
    """Makes a result of each record; `n_read` is the number of records, `names` are the columns of the first."""

    def __init__(
        self,
        given: Mapping[str, Any],
        state: str | os.PathLike[str] | None,
        model: str | os.PathLike[str] | None,
        id_column: str | None,
        note: Callable[[str], object],
        warn: Callable[[str], object],
    ) -> None:
        self.n_read = 0
        self.names: list[str] = []
        self._parameters = check_parameters(dict(given))
        self._state = None if state is None else os.fspath(state)
        self._id_column, self._note, self._warn = id_column, note, warn
        self._n_results = self._n_refused = 0
        self._is_any_used = False
        self._error = ""
        waiting: Sequence[Any] = ()
        if model is not None:
            self._stream = Stream.fixed(ParetoDepthDetector.load(model).model_, CALLER)
        elif self._state is not None and os.path.exists(self._state):
            waiting = self._resume(self._state, given)
        else:
            # Refused at the start, before any sample has come.
            self._stream = self._new_stream()
        fitted = self._stream.model
        criteria = [one.criterion for one in fitted.criteria.fitted] if fitted else self._parameters["criteria"]
        layout = fitted.criteria.layout if fitted else None
        kinds = dict(zip(layout.feature_names or [], layout.kinds, strict=False)) if layout else {}
        self.values = Values(criteria, kinds)
        self._is_chosen = criteria is not None
        # Samples that criteria will be chosen by.
        self._waiting = [self.values.read(sample) for sample in waiting]

    def _new_stream(self) -> Stream:
        settings = StreamSettings.checked(self._parameters, CALLER)
        return Stream(self._parameters["criteria"], settings, CALLER, self._report)

    def _resume(self, state: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """Continue from a saved state, and return the samples that wait."""
        kept, self._stream, (self.n_read, names, waiting) = read_state(state, {}, CALLER, self._report)
        check_same_parameters(given, kept, state)
        self._parameters, self.names = kept, list(names)
        self._note(
            f"{state}: resumes after record {self.n_read:,}, with {self._stream.window.n_samples + len(waiting):,} "
            "samples in the window. Records that came later, before the stream was stopped, are not in it."
        )
        return waiting

    def result(self, record: Record) -> dict[str, Any]:
        """Return the result of a record, as JSON writes it; one that is refused is not learned."""
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
                f"None of {self._n_results:,} records was learned or scored: in each, a value is missing in a column "
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
            if self._stream.is_fixed:
                # A model may have been fitted to all columns of its table, of which this is none.
                sample = {name: value for name, value in sample.items() if name != self._id_column}
        try:
            observation = self._stream.update(sample) if self._is_chosen else self._wait(sample)
        except REFUSED as error:
            return own | {"error": one_line(error)}
        if not self._is_chosen:
            self._choose_if_due()
        call = "anomaly" if observation.is_anomaly else "nominal"
        return own | {
            "score": _json_number(observation.score),
            "p": _json_number(observation.p_value),
            "call": None if math.isnan(observation.score) else call,
            "learnt": observation.is_learnt,
            "drift": observation.is_drift,
            "because": self._stream.explain(sample, None).sentences[0] if observation.is_anomaly else None,
        }

    def _wait(self, sample: Any) -> Observation:
        """Keep a sample until there are enough to choose criteria by."""
        self._waiting.append({name: _kept_value(value) for name, value in check_named(sample).items()})
        return Observation(len(self._waiting) - 1, is_learnt=True)

    def _choose_if_due(self) -> None:
        """Choose criteria as soon as there are enough samples; where no value varies, later ones may."""
        settings = self._stream.settings
        if len(self._waiting) % settings.n_needed == 0:
            try:
                self._choose_criteria()
            except ValueError:
                if len(self._waiting) + settings.n_needed > settings.size:
                    raise

    def _choose_criteria(self) -> None:
        """Choose criteria by the samples that wait, and learn these."""
        names = dict.fromkeys(name for sample in self._waiting for name in sample)
        columns = {name: self.values.column(name, [one.get(name) for one in self._waiting]) for name in names}
        suggestion = check_suggested(suggest_criteria(columns, id_column=self._id_column))
        unused = ", ".join(f"{column.name} ({column.reason})" for column in suggestion.columns if not column.criteria)
        self._note(
            f"Criteria chosen automatically from the first {len(self._waiting):,} records: "
            f"{'; '.join(criterion.name for criterion in suggestion.criteria)}. Not used: {unused or 'none'}. To "
            "change them, run paretodepth suggest FILE > criteria.toml, edit it, and pass --criteria criteria.toml."
        )
        self._parameters["criteria"] = suggestion.criteria
        self._stream, self._is_chosen = self._new_stream(), True
        errors = []
        for sample in self._waiting:
            try:
                self._stream.update(self.values.read(sample))
            except REFUSED as error:
                errors.append(one_line(error))
        if errors:
            self._report(
                f"{len(errors):,} of the first {len(self._waiting):,} samples are skipped. The first: {errors[0]}"
            )
        self._waiting = []

    def save(self) -> None:
        """Write the state, if there is a file for it and a record has come."""
        if self._state is not None and self.n_read and (self._waiting or self._is_chosen):
            read = Input(self.n_read, self.names, self._waiting)
            write_state(self._state, self._stream, self._parameters, read)


def _json_number(value: float) -> float | None:
    """Return a number as JSON can write it."""
    return value if math.isfinite(value) else None


def _kept_value(value: Any, depth: int = 2) -> Any:
    """Return a value that a criterion may be chosen by, otherwise None: no objects, deep lists or huge integers."""
    if isinstance(value, list):
        kept = [_kept_value(entry, depth - 1) for entry in value] if depth else [None]
        return None if None in kept else kept
    is_huge = isinstance(value, int) and abs(value) > LARGEST
    return None if is_huge or isinstance(value, dict) else value


def check_named(sample: Any) -> dict[str, Any]:
    """Return a sample whose columns have names, or refuse to choose criteria."""
    if not isinstance(sample, dict) or not sample:
        raise ValueError(
            "A sample without names of columns must come with --criteria, which name columns by number. Got none; "
            "give --criteria, or JSON objects."
        )
    return sample


def check_same_parameters(given: Mapping[str, Any], kept: Mapping[str, Any], path: str) -> None:
    """Refuse options that differ from those that a stream was begun with."""
    for name, value in given.items():
        if value != kept[name]:
            raise ValueError(
                f"{path}: a stream that resumes must keep its options. Got another '--{name.replace('_', '-')}', "
                f"{_short(value)} in place of {_short(kept[name])}; leave it out, or choose another --state."
            )


def _short(value: Any) -> str:
    return f"{len(value)} criteria" if isinstance(value, list) else repr(value)


def check_model_alone(given: Mapping[str, Any], state: object) -> None:
    """Refuse options of learning beside a model, which learns nothing."""
    wrong = [*given] + ([] if state is None else ["state"])
    if wrong:
        raise ValueError(
            f"--model scores with a saved model, so nothing is learned. Got '--{wrong[0].replace('_', '-')}' besides; "
            "leave one of them out."
        )


def refuse_record(result: Mapping[str, Any]) -> NoReturn:
    """End the stream at a record that is refused."""
    raise ValueError(f"Record {result['record']:,}: {result['error']}")
