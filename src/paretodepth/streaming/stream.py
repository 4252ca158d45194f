"""A stream at work: samples are read, scored and learnt, and now and then the model is fitted again."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import one_line
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.metrics.metric import Encoding
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.fitting import fitted_model
from paretodepth.scoring.measures import Measurer
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import Model
from paretodepth.streaming.drift import DriftMonitor
from paretodepth.streaming.rules import Rules
from paretodepth.streaming.samples import PLAIN, FirstReader, SampleReader, plain_sample, together
from paretodepth.streaming.window import Window

GROWTH_SHARE = 4
"""While the window fills, the model is fitted again when the window has grown by one sample in this many."""
N_DRIFTS = 100
"""Drifts that are remembered."""


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


class _Look(NamedTuple):
    """What is known of a sample before it is learnt.

    Attributes
    ----------
    sample : dict, list or object
    views : list of ndarray
    block : ndarray of shape (n_criteria, 1, n_samples)
        Its dissimilarities to the samples in the window.
    score : float
    local_means : ndarray of shape (1, n_criteria + 1) or None
        What the blend keeps of it.
    n_learnt : int
        How many samples had been learnt when it was looked at.
    """

    sample: Any
    encodings: list[Encoding]
    block: NDArray[np.float64]
    score: float
    local_means: NDArray[np.float64] | None
    n_learnt: int


class Stream:
    """A window, the model fitted to it, and the counts that go with them.

    Parameters
    ----------
    criteria : list of Criterion or None
    rules : Rules
    caller : str
        The detector that messages name.
    report : callable
        Given a sentence when fits begin to fail, and when samples in the window are forgotten.

    Attributes
    ----------
    n_seen, n_learnt : int
        How many samples have come, and how many were learnt.
    n_incomparable : int
        How many samples in a row were refused because they cannot be compared with the window.
    model : Model or None
        Of the last fit.
    reader : SampleReader
        Of samples, once there is a model.
    drift : DriftMonitor
    drifts : deque of int
        At which samples there was drift.
    unlearnt : deque of tuple of int and float
        The samples, by number, that were left out of the window lately, with their scores.
    """

    def __init__(
        self, criteria: Sequence[Criterion] | None, rules: Rules, caller: str, report: Callable[[str], object]
    ) -> None:
        self.rules = rules
        self.window = Window(rules.size, rules.n_later)
        self.n_seen = self.n_learnt = self.n_incomparable = 0
        self.model: Model | None = None
        self.drift = DriftMonitor()
        self.drifts: deque[int] = deque(maxlen=N_DRIFTS)
        self.unlearnt: deque[tuple[int, float]] = deque()
        self._criteria = criteria
        self._caller = caller
        self._report = report
        self._first = FirstReader(criteria, caller, rules.settings.n_jobs)
        self._last: _Look | None = None
        self._is_failing = False
        self._news = ""

    def update(self, x: Any) -> Observation:
        """Score a sample, and learn it if the rules say so; a sample that is refused is not learnt.

        Parameters
        ----------
        x : dict, row or object
        """
        sample = plain_sample(x, self._caller)
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
        """Score a sample by the model, and learn it if the rules say so."""
        number = self.n_seen
        look = self._look(sample)
        if look is None:
            self.n_seen += 1
            return Observation(number)
        model: Model = self.model  # type: ignore[assignment]
        p_value = float(model.p_values(np.array([look.score]))[0])
        is_anomaly = look.score > model.threshold
        while self.unlearnt and self.unlearnt[0][0] <= number - self.rules.size:
            self.unlearnt.popleft()
        p_value_of_all = self._p_value_of_all(look.score)
        is_left_out = is_anomaly and len(self.unlearnt) < self.rules.max_unlearnt
        if is_left_out:
            self.unlearnt.append((number, look.score))
        else:
            self._learn(self.reader.kept(sample), look)
        self.n_seen += 1
        is_drift = self.drift.update(p_value_of_all)
        if is_drift:
            self.drifts.append(number)
        return Observation(number, look.score, p_value, is_anomaly, not is_left_out, is_drift)

    def score(self, x: Any) -> float:
        """Return the score of a sample against the window; NaN if it is dropped or there is no model yet."""
        sample = plain_sample(x, self._caller)
        if self.model is None:
            self._first.admitted(self.window.samples, sample, self.n_seen)
            return math.nan
        look = self._look(sample)
        return math.nan if look is None else look.score

    def fit(self) -> None:
        """Fit the model to the samples in the window."""
        window = self.window
        samples = together(window.samples)
        model = fitted_model(self._criteria, samples, self.rules.settings, window.pairs, self._caller)
        measurer = model.measurer
        window.adopt(model.training, measurer.local_means if isinstance(measurer, BlendMeasurer) else None)
        self.model, self._is_failing = model, False
        # The last look was by the fronts of before.
        self._last = None
        self.reader = SampleReader(model.criteria, self._caller)
        self._moved()

    def replay(self, fitted: list[Any], later: list[Any], age: int) -> None:
        """Learn samples again that were kept: those of the last fit, by a fit, and those learnt since then."""
        window = self.window
        window.later = fitted or later
        if fitted:
            self.fit()
        self.check_samples([*fitted, *later])
        if fitted and age > len(later):
            # Those between are forgotten, so that the first of these are known only as neighbors of the others.
            first, later = later[: window.size], later[window.size :]
            window.restart(first, self.reader.criteria.encode(together(first), caller=self._caller).encodings)
            self._moved()
        for sample in later if fitted else ():
            self._append(sample, self._look(sample))
        window.age = age

    def check_samples(self, samples: Sequence[Any]) -> None:
        """Refuse kept samples that cannot have been learnt."""
        if samples:
            reader = self._first.reader(samples, samples[0], 0) if self.model is None else self.reader
            check_learnable(reader is not None)
            criteria = reader.criteria  # type: ignore[union-attr]
            if criteria.fitted:
                check_learnable(len(criteria.encode(together(samples), caller=self._caller).rows) == len(samples))

    @cached_property
    def current(self) -> Model:
        """The model, once there is one, with the samples that are in the window now."""
        window = self.window
        model: Model = self.model  # type: ignore[assignment]
        if window.age == 0:
            return model
        n_samples = window.n_samples
        rows, scores = np.arange(n_samples), np.zeros(n_samples)
        return replace(model, training=window.encodings, rows=rows, scores=scores, measurer=self._measurer)

    @cached_property
    def _measurer(self) -> Measurer | BlendMeasurer:
        """What measures samples against those in the window now."""
        measurer: Measurer | BlendMeasurer = self.model.measurer  # type: ignore[union-attr]
        local_means = self.window.local_means
        if isinstance(measurer, BlendMeasurer) and local_means is not None:
            return replace(measurer, local_means=local_means)
        return measurer

    @cached_property
    def _views(self) -> list[Encoding]:
        return self.window.encodings

    def _moved(self) -> None:
        """Forget what was true of the window before it moved."""
        for name in ("current", "_measurer", "_views"):
            vars(self).pop(name, None)

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
        self.window, self.model, self._last = Window(self.rules.size, self.rules.n_later), None, None
        self.window.later = rest if first.admits(rest, sample) else []
        self.window.age = len(self.window.later)
        self._moved()
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
        model: Model = self.model  # type: ignore[assignment]
        encodings = self.reader.encodings(sample, self.n_seen, self._views)
        if encodings is None:
            return None
        block = dissimilarity_block(
            model.criteria.fitted, encodings, self._views, self.n_seen, self.rules.settings.n_jobs
        )
        measurer, needed, local_means = self._measurer, METHODS[model.method].measures, None
        if isinstance(measurer, BlendMeasurer):
            measures, local_means = measurer.with_local_means(block, needed)
        else:
            measures = measurer.of(block, needed)
        score = float(model.calibration.score(measures, model.method)[0])
        self._last = _Look(sample, encodings, block, score, local_means, self.n_learnt)
        return self._last

    def _p_value_of_all(self, score: float) -> float:
        """Return the p-value among the samples in the window and those left out of it, by their scores at the time.

        Without these the p-values of an unchanged stream, whose tail is left out, would be too small.
        """
        model: Model = self.model  # type: ignore[assignment]
        scores = model.calibration.scores[model.method]
        n_as_strange = len(scores) - int(np.searchsorted(scores, score))
        n_as_strange += sum(other >= score for _, other in self.unlearnt)
        return (1 + n_as_strange) / (1 + len(scores) + len(self.unlearnt))

    def _learn(self, kept: Any, look: _Look | None) -> None:
        """Put a sample into the window, and fit if it is time.

        What makes a fit fail need not be the last sample, so that one stays. The last model stays in use.
        """
        window = self.window
        self._append(kept, look)
        if not self._is_due:
            return
        try:
            # What overflows is found by the checks of a fit.
            with np.errstate(over="ignore", invalid="ignore"):
                self.fit()
        except Exception as error:
            if not self._is_failing:
                model = (
                    "Nothing is scored" if self.model is None else f"The model of {window.age:,} samples ago is used"
                )
                self._news = (
                    f"The window cannot be fitted; the last sample need not be the cause. {model} until a later fit "
                    f"succeeds. The reason: {one_line(error) or type(error).__name__}"
                )
            self._is_failing = True

    @property
    def _is_due(self) -> bool:
        """Whether it is time to fit; sooner while the window fills."""
        window, rules = self.window, self.rules
        n_fitted = len(window.fitted)
        n_before = n_fitted or rules.n_needed
        every = min(rules.n_later, max(1, n_before // GROWTH_SHARE)) if n_before < rules.size else rules.n_later
        n_since = window.age if n_fitted else window.age - rules.n_needed
        return window.n_samples >= rules.n_needed and n_since % every == 0

    def _append(self, kept: Any, look: _Look | None) -> None:
        if look is None:
            self.window.append(kept)
        else:
            self.window.append(kept, look.encodings, self._to(look), look.local_means)
        self.n_learnt += 1
        self._moved()

    def _to(self, look: _Look) -> list[NDArray[np.float64] | None]:
        """Return the dissimilarities of the samples in the window to another, for criteria whose are held."""
        model: Model = self.model  # type: ignore[assignment]
        rows: list[NDArray[np.float64] | None] = []
        for place, criterion in enumerate(model.criteria.fitted):
            if not self.window.is_held(place):
                rows.append(None)
            elif criterion.is_symmetric:
                rows.append(look.block[place, 0])
            else:
                origin = (0, self.n_seen)
                encoding = self._views[place]
                block = criterion.dissimilarities(encoding, look.encodings[place], origin, self.rules.settings.n_jobs)
                rows.append(block[:, 0])
        return rows


def check_learnable(is_whole: bool) -> None:
    """Refuse a kept sample that cannot have been learnt."""
    if not is_whole:
        raise ValueError("a sample that lacks a value")


def _are_same(sample: Any, other: Any) -> bool:
    """Tell whether two samples of plain numbers and text are equal; of anything else that is not looked at."""
    if type(sample) is not type(other) or not isinstance(sample, dict | list):
        return False
    values = sample.values() if isinstance(sample, dict) else sample
    return all(type(value) in (*PLAIN, str) for value in values) and bool(sample == other)
