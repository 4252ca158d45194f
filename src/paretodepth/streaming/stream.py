"""A stream at work: samples are read, scored and learned, and now and then the model is fitted again."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_choice, check_rate, one_line
from paretodepth.criteria.criterion import resolve_criteria
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.criteria.samples import MIN_SAMPLES
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Encodings, HeldPairs
from paretodepth.scoring.explanation import Explanation, explain_encoded
from paretodepth.scoring.fitting import Settings, fitted_model
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import Model
from paretodepth.streaming.drift import DriftMonitor
from paretodepth.streaming.window import (
    NUMBERS,
    FirstReader,
    SampleReader,
    Window,
    as_columns,
    check_window,
    copied_sample,
    refuse_precomputed,
)

GROWTH_SHARE = 4
"""While the window fills, the model is fitted again when the window has grown by one sample in this many."""
N_DRIFTS = 100
"""Drifts that are remembered."""
BATCH_PARAMETERS: dict[str, Any] = {
    "depth": "paper",
    "calibration": "leave-one-out",
    "n_neighbors": "connected",
    "threshold": None,
    "max_depth": None,
    "memory_limit": None,
    "random_state": 0,
}
"""Parameters of the batch detector that a stream leaves as they are; its fits use no random numbers."""


class Observation(NamedTuple):
    """The result of a sample when it comes.

    Attributes
    ----------
    number : int
        The number of the sample in the stream, from 0 on.
    score : float
        Larger is more unusual. NaN while there is no model, and if a criterion drops the sample because of a missing
        value.
    p_value : float
        The share of samples in the window that are at least as unusual; NaN as the score.
    is_anomaly : bool
        Whether the score is above the threshold, that is, the p-value at most `alpha`.
    is_learnt : bool
        Whether it is in the window now.
    is_drift : bool
        Whether there is drift at this sample: small p-values have become too many.
    """

    number: int
    score: float = math.nan
    p_value: float = math.nan
    is_anomaly: bool = False
    is_learnt: bool = False
    is_drift: bool = False


class StreamSettings(NamedTuple):
    """The parameters of a stream, checked.

    The window holds `size` samples, and `n_later` are learned between two fits, the first of which needs `n_needed`.
    Of the last `size` samples at most `max_unlearnt` may be skipped, that is, not learned.
    """

    size: int = 0
    n_later: int = 0
    n_needed: int = 0
    max_unlearnt: int = 0
    fit: Settings | None = None

    @classmethod
    def checked(cls, parameters: Mapping[str, Any], caller: str) -> StreamSettings:
        """Return the parameters of a streaming detector, if they are valid."""
        criteria = resolve_criteria(parameters["criteria"], caller)
        refuse_precomputed(criteria or [], caller)
        alpha = check_rate(parameters["alpha"], "alpha", caller, "the false-alarm rate, for example 0.01")
        n_needed = max(MIN_SAMPLES, math.ceil(1 / alpha - 1e-9) - 1)
        n_criteria = len(criteria or [None])
        size, n_later = check_window(parameters["window"], parameters["refresh"], n_needed, n_criteria, caller)
        share = alpha if parameters["max_unlearnt"] is None else parameters["max_unlearnt"]
        check_rate(share, "max_unlearnt", caller, "the share of samples that may be skipped")
        if check_choice(parameters["learn"], "learn", ("nominal", "all"), caller) == "all":
            share = 0.0
        fit = Settings.checked(BATCH_PARAMETERS | dict(parameters), caller)._replace(is_advised=False)
        return cls(size, n_later, n_needed, math.floor(share * size + 1e-9), fit)


class _Look(NamedTuple):
    """A sample with its score and its rows of the window's arrays, as of when `n_learnt` samples had been learned."""

    sample: Any
    score: float
    rows: list[NDArray[Any]]
    n_learnt: int


class Stream:
    """A window, the model fitted to it, and the counts that go with them.

    `report` is called with a sentence when fits begin to fail, and when samples in the window are forgotten.
    """

    def __init__(self, criteria: Any, settings: StreamSettings, caller: str, report: Callable[[str], object]) -> None:
        self.settings = settings
        self.is_fixed = settings.fit is None
        self.window = Window(settings.size, settings.n_later)
        # Samples that have come, that were learned, and that were refused in a row as not comparable with the window.
        self.n_seen = self.n_learnt = self.n_incomparable = 0
        self.model: Model | None = None
        self.reader: SampleReader
        self.drift = DriftMonitor()
        self.drifts: deque[int] = deque(maxlen=N_DRIFTS)
        # Samples that were skipped lately, by number, with their scores.
        self.unlearnt: deque[tuple[int, float]] = deque()
        self._criteria = criteria
        self._caller = caller
        self._report = report
        self._n_jobs = settings.fit.n_jobs if settings.fit else None
        self._first = FirstReader(criteria, caller, self._n_jobs)
        self._last: _Look | None = None
        self._is_failing = False
        self._news = ""

    @classmethod
    def fixed(cls, model: Model, caller: str) -> Stream:
        """Return a stream that scores samples with a model and learns nothing."""
        criteria = [fitted.criterion for fitted in model.criteria.fitted]
        refuse_precomputed(criteria, caller)
        stream = cls(criteria, StreamSettings(), caller, str)
        stream.model, stream.reader = model, SampleReader(model.criteria, caller)
        return stream

    def update(self, x: Any) -> Observation:
        """Score a sample, and learn it if the settings say so; a sample that is refused is not learned."""
        sample = copied_sample(x, self._caller)
        try:
            observation = self._first_observation(sample) if self.model is None else self._observation(sample)
        except Exception:
            if not self._gives_way(sample):
                raise
            observation = self._first_observation(sample)
        if observation.is_learnt or not math.isnan(observation.score):
            self.n_incomparable = 0
        if self._news:
            # Last, for a warning may be an error.
            news, self._news = self._news, ""
            self._report(news)
        return observation

    def _first_observation(self, sample: Any) -> Observation:
        """Learn a sample while there is no model."""
        kept = self._first.admitted(self.window.samples, sample, self.n_seen)
        if kept is not None:
            self._learn(kept, None)
        self.n_seen += 1
        return Observation(self.n_seen - 1, is_learnt=kept is not None)

    def _observation(self, sample: Any) -> Observation:
        """Score a sample by the model, and learn it if the settings say so."""
        number = self.n_seen
        look = self._look(sample)
        if look is None:
            self.n_seen += 1
            return Observation(number)
        model = self.current
        p_value = float(model.calibration.p_values(np.array([look.score]))[0])
        is_anomaly = look.score > model.threshold
        while self.unlearnt and self.unlearnt[0][0] <= number - self.settings.size:
            self.unlearnt.popleft()
        p_value_of_all = self._p_value_of_all(look.score)
        is_learnt = self._learn_or_skip(sample, look, is_anomaly=is_anomaly)
        self.n_seen += 1
        is_drift = self.drift.update(p_value_of_all)
        if is_drift:
            self.drifts.append(number)
        return Observation(number, look.score, p_value, is_anomaly, is_learnt, is_drift)

    def _learn_or_skip(self, sample: Any, look: _Look, *, is_anomaly: bool) -> bool:
        """Learn a sample unless it is an anomaly and few were skipped lately; return whether it is learned."""
        if self.is_fixed:
            return False
        if is_anomaly and len(self.unlearnt) < self.settings.max_unlearnt:
            self.unlearnt.append((self.n_seen, look.score))
            return False
        self._learn(self.reader.kept(sample), look)
        return True

    def score(self, x: Any) -> float:
        """Return the score of a sample against the window; NaN if it is dropped or there is no model yet."""
        sample = copied_sample(x, self._caller)
        if self.model is None:
            self._first.admitted(self.window.samples, sample, self.n_seen)
            return math.nan
        look = self._look(sample)
        return math.nan if look is None else look.score

    def explain(self, x: Any, n_jobs: int | None) -> Explanation:
        """Return why a sample is unusual or not, compared with the samples of the last fit."""
        model: Model = self.model  # type: ignore[assignment]
        sample = self.reader.kept(copied_sample(x, self._caller))
        return explain_encoded(model, model.encode(as_columns([sample]), caller=self._caller), n_jobs=n_jobs)

    def fit(self) -> None:
        """Fit the model to the samples in the window."""
        window, samples = self.window, self.window.samples
        settings: Settings = self.settings.fit  # type: ignore[assignment]
        model = fitted_model(self._criteria, as_columns(samples), settings, held_pairs, self._caller)
        self._begin([*model.training, *model.measurer.per_sample])
        window.fitted, window.later, window.age = samples, [], 0
        self.model, self._is_failing = model, False
        self.reader = SampleReader(model.criteria, self._caller)

    def _begin(self, arrays: list[Encoding]) -> None:
        """Take what is known of the samples in the window."""
        self.window.begin(arrays)
        self._last = None
        self._forget_current()

    def replay(self, fitted: list[Any], later: list[Any], age: int) -> None:
        """Learn samples again that were kept: those of the last fit, by a fit, and those learned since then."""
        window = self.window
        window.later = fitted or later
        if fitted:
            self.fit()
        self.check_samples([*fitted, *later])
        if fitted and age > len(later):
            # Those between are forgotten, so that the first of these are known only as neighbors of the others.
            first, later = later[: window.size], later[window.size :]
            encodings = self.reader.criteria.encode(as_columns(first), caller=self._caller).encodings
            forgotten = [np.zeros((len(first), *array.shape[1:])) for array in window.arrays[len(encodings) :]]
            window.later = first
            self._begin([*encodings, *forgotten])
        for sample in later if fitted else ():
            self._append(sample, self._look(sample))
        window.age = age

    def check_samples(self, samples: Sequence[Any]) -> None:
        """Refuse kept samples that cannot have been learned."""
        if samples:
            reader = self._first.reader(samples, samples[0], 0) if self.model is None else self.reader
            check_learnable(reader is not None)
            criteria = reader.criteria  # type: ignore[union-attr]
            if criteria.fitted:
                check_learnable(len(criteria.encode(as_columns(samples), caller=self._caller).rows) == len(samples))

    @cached_property
    def current(self) -> Model:
        """The model, once there is one, with the samples that are in the window now."""
        model: Model = self.model  # type: ignore[assignment]
        if self.window.age == 0:
            return model
        arrays, n_criteria = self.window.arrays, len(model.training)
        training, measurer = arrays[:n_criteria], model.measurer.for_training(arrays[n_criteria:])
        n_samples = self.window.n_samples
        rows, scores = np.arange(n_samples), np.zeros(n_samples)
        return replace(model, training=training, rows=rows, scores=scores, measurer=measurer)

    def _forget_current(self) -> None:
        vars(self).pop("current", None)

    def _gives_way(self, sample: Any) -> bool:
        """Forget samples that a refused one cannot be compared with, if more were refused in a row than there are.

        So neither what the window holds nor a lasting change can hold up a stream for good.
        """
        samples, first = self.window.samples, self._first
        if not samples or not first.admits([], sample):
            return False
        self.n_incomparable += 1
        if self.n_incomparable <= len(samples):
            return False
        rest = [other for other in samples if first.admits([other], sample)]
        self.window, self.model, self._last = Window(self.settings.size, self.settings.n_later), None, None
        self.window.later = rest if first.admits(rest, sample) else []
        self.window.age = len(self.window.later)
        self._forget_current()
        self._news = (
            f"The last {self.n_incomparable:,} samples could not be compared with the window, so "
            f"{len(samples) - self.window.age:,} of its {len(samples):,} samples are forgotten."
        )
        return True

    def _look(self, sample: Any) -> _Look | None:
        """Return what is known of a sample, None if it is dropped."""
        last = self._last
        if last is not None and last.n_learnt == self.n_learnt and _are_same(sample, last.sample):
            return last
        model = self.current
        encodings = self.reader.encodings(sample, self.n_seen, model.training)
        if encodings is None:
            return None
        if self.is_fixed:
            return _Look(sample, float(model.new_scores(encodings, n_jobs=None, first_row=self.n_seen)[0]), [], 0)
        block = dissimilarity_block(model.criteria.fitted, encodings, model.training, self.n_seen, self._n_jobs)
        measures, per_sample = model.measurer.with_per_sample(block, METHODS[model.method].measures)
        score = float(model.calibration.score(measures)[0])
        self._last = _Look(sample, score, [row[0] for row in (*encodings, *per_sample)], self.n_learnt)
        return self._last

    def _p_value_of_all(self, score: float) -> float:
        """Return the p-value among the samples in the window and those skipped, by their scores at the time.

        Without these the p-values of an unchanged stream, whose tail is left out, would be too small.
        """
        model = self.current
        scores = model.calibration.scores
        n_as_unusual = len(scores) - int(np.searchsorted(scores, score))
        n_as_unusual += sum(other >= score for _, other in self.unlearnt)
        return (1 + n_as_unusual) / (1 + len(scores) + len(self.unlearnt))

    def _learn(self, kept: Any, look: _Look | None) -> None:
        """Put a sample into the window, and fit if it is time.

        What makes a fit fail need not be the last sample, so that one stays. The last model stays in use.
        """
        self._append(kept, look)
        try:
            # What overflows is found by the checks of a fit.
            with np.errstate(over="ignore", invalid="ignore"):
                if self._is_due:
                    self.fit()
        except Exception as error:
            if not self._is_failing:
                age = f"The model of {self.window.age:,} samples ago is used"
                self._news = (
                    "The window cannot be fitted; the last sample need not be the cause. "
                    f"{'Nothing is scored' if self.model is None else age} until a later fit succeeds. "
                    f"The reason: {one_line(error) or type(error).__name__}"
                )
            self._is_failing = True

    @property
    def _is_due(self) -> bool:
        """Whether it is time to fit; sooner while the window fills."""
        window, (size, n_later, n_needed, *_) = self.window, self.settings
        n_before = len(window.fitted) or n_needed
        every = min(n_later, max(1, n_before // GROWTH_SHARE)) if n_before < size else n_later
        n_since = window.age if window.fitted else window.age - n_needed
        return window.n_samples >= n_needed and n_since % every == 0

    def _append(self, kept: Any, look: _Look | None) -> None:
        self.window.append(kept, [] if look is None else look.rows)
        self.n_learnt += 1
        self._forget_current()


def held_pairs(criteria: Criteria, encodings: Encodings, n_jobs: int | None) -> HeldPairs:
    """Return the pairs of samples, all of whose dissimilarities are in memory."""
    return HeldPairs.of(ComputedPairs(criteria, encodings, n_jobs))


def _are_same(sample: Any, other: Any) -> bool:
    """Return whether two samples of numbers and text are equal; values of other types are not compared."""
    if type(sample) is not type(other) or not isinstance(sample, dict | list):
        return False
    values = sample.values() if isinstance(sample, dict) else sample
    return all(type(value) in (*NUMBERS, str) for value in values) and bool(sample == other)


def check_learnable(is_whole: bool) -> None:
    """Refuse a kept sample that cannot have been learned."""
    if not is_whole:
        raise ValueError("a sample with a missing value")
