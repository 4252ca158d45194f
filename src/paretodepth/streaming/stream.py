"""A stream at work: samples are read, scored, judged and learnt, and now and then the model is fitted anew."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_choice, check_rate
from paretodepth.criteria.criterion import Criterion, resolve_criteria
from paretodepth.criteria.metrics.metric import View
from paretodepth.criteria.samples import MIN_SAMPLES
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.scoring.blend_measures import BlendMeasurer
from paretodepth.scoring.fitting import Settings, fitted_model
from paretodepth.scoring.measures import Measurer
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.model import Model
from paretodepth.streaming.drift import DriftMonitor
from paretodepth.streaming.samples import PLAIN, FirstReader, SampleReader, plain_sample, together
from paretodepth.streaming.window import Window, check_window, refuse_precomputed

LEARN = ("nominal", "all")
GROWTH_SHARE = 4
"""While the window fills, the model is fitted anew when it has grown by one sample of so many."""
N_DRIFTS = 100
"""Drifts that are remembered."""
BATCH_PARAMETERS: dict[str, Any] = {
    "depth": "paper",
    "calibration": "leave-one-out",
    "n_neighbors": "connected",
    "threshold": None,
    "max_depth": None,
    "max_dyads": None,
    "memory_limit": None,
    "random_state": 0,
}
"""Parameters of the batch detector that a stream leaves as they are; its fits draw nothing at random."""


class Observation(NamedTuple):
    """What is found of a sample when it comes.

    Attributes
    ----------
    number : int
        Of the sample in the stream, from 0 on.
    score : float
        Larger is stranger. NaN while the window holds too few samples, and of a sample that lacks a value.
    p_value : float
        How often a sample of the window is at least as strange; NaN as the score.
    is_anomaly : bool
        Whether the score is above the threshold, that is, the p-value at most `alpha`.
    is_learnt : bool
        Whether it is in the window now.
    is_drift : bool
        Whether, with this one, p-values have ceased to be uniform.
    """

    number: int
    score: float = math.nan
    p_value: float = math.nan
    is_anomaly: bool = False
    is_learnt: bool = False
    is_drift: bool = False


class Rules(NamedTuple):
    """The parameters of a stream, checked.

    Attributes
    ----------
    size, n_later : int
        Of the window: how many samples it holds, and how many are learnt between two fits.
    n_needed : int
        Samples in the window before any is scored.
    max_unlearnt : int
        How many of the last `size` samples may be left out of the window.
    settings : Settings
        Of the fits.
    """

    size: int
    n_later: int
    n_needed: int
    max_unlearnt: int
    settings: Settings

    @classmethod
    def checked(cls, parameters: dict[str, Any], caller: str) -> Rules:
        """Return the parameters of a streaming detector, refusing what cannot be."""
        criteria = resolve_criteria(parameters["criteria"], caller)
        refuse_precomputed(criteria, caller)
        alpha = check_rate(parameters["alpha"], "alpha", caller, "the share of samples that may be called, 0.01 say")
        n_needed = max(MIN_SAMPLES, math.ceil(1 / alpha - 1e-9) - 1)
        size, n_later = check_window(
            parameters["window"], parameters["refresh"], n_needed, len(criteria or [None]), caller
        )
        share = parameters["max_unlearnt"]
        if share is None:
            share = alpha
        else:
            check_rate(share, "max_unlearnt", caller, "the share of samples that may be left out of the window")
        is_picky = check_choice(parameters["learn"], "learn", LEARN, caller) == "nominal"
        settings = Settings.checked(BATCH_PARAMETERS | parameters, caller)._replace(is_advised=False)
        return cls(size, n_later, n_needed, math.floor(share * size + 1e-9) if is_picky else 0, settings)


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
    views: list[View]
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

    Attributes
    ----------
    n_seen, n_learnt : int
        How many samples have come, and how many were learnt.
    model : Model or None
        Of the last fit.
    drift : DriftMonitor
    drifts : deque of int
        At which samples there was drift.
    unlearnt : deque of tuple of int and float
        The samples, by number, that were left out of the window lately, with their scores.
    """

    def __init__(self, criteria: Sequence[Criterion] | None, rules: Rules, caller: str) -> None:
        self.rules = rules
        self.window = Window(rules.size, rules.n_later)
        self.n_seen = self.n_learnt = 0
        self.model: Model | None = None
        self.drift = DriftMonitor()
        self.drifts: deque[int] = deque(maxlen=N_DRIFTS)
        self.unlearnt: deque[tuple[int, float]] = deque()
        self._criteria = criteria
        self._caller = caller
        self._first = FirstReader(criteria, caller)
        self._last: _Look | None = None

    def update(self, x: Any) -> Observation:
        """Score a sample, judge it, and learn it if the rules say so; a sample that is refused changes nothing.

        Parameters
        ----------
        x : dict, row or object
        """
        sample, number = plain_sample(x, self._caller), self.n_seen
        if self.model is None:
            is_learnt = self._first.is_whole(sample, number)
            if is_learnt:
                self._learn(sample, None)
            self.n_seen += 1
            return Observation(number, is_learnt=is_learnt)
        look = self._look(sample)
        if look is None:
            self.n_seen += 1
            return Observation(number)
        p_value = float(self.model.p_values(np.array([look.score]))[0])
        is_anomaly = look.score > self.model.threshold
        while self.unlearnt and self.unlearnt[0][0] <= number - self.rules.size:
            self.unlearnt.popleft()
        p_value_of_all = self._p_value_of_all(look.score)
        is_left_out = is_anomaly and len(self.unlearnt) < self.rules.max_unlearnt
        if is_left_out:
            self.unlearnt.append((number, look.score))
        else:
            self._learn(sample, look)
        self.n_seen += 1
        is_drift = self.drift.update(p_value_of_all)
        if is_drift:
            self.drifts.append(number)
        return Observation(number, look.score, p_value, is_anomaly, not is_left_out, is_drift)

    def score(self, x: Any) -> float:
        """Return the score of a sample against the window; NaN if it lacks a value or the window too many samples."""
        sample = plain_sample(x, self._caller)
        if self.model is None:
            self._first.is_whole(sample, self.n_seen)
            return math.nan
        look = self._look(sample)
        return math.nan if look is None else look.score

    def fit(self) -> None:
        """Fit the model to the samples in the window."""
        window = self.window
        samples = together(window.samples[window.start :])
        self.model = fitted_model(self._criteria, samples, self.rules.settings, window.pairs, self._caller)
        measurer = self.model.measurer
        window.adopt(self.model.training, measurer.local_means if isinstance(measurer, BlendMeasurer) else None)
        # The last look was by the fronts of before.
        self._last = None
        self._reader = SampleReader(self.model.criteria, self._caller)
        self._moved()

    def replay(self, samples: Sequence[Any], n_fitted: int) -> None:
        """Learn samples again that were kept: those of the last fit, by a fit, and those learnt since then."""
        for sample in samples[:n_fitted] if n_fitted else samples:
            check_learnable(self._first.is_whole(sample, self.n_seen))
            self.window.append(sample)
        if n_fitted:
            self.fit()
            for sample in samples[n_fitted:]:
                look = self._look(sample)
                check_learnable(look is not None)
                self._append(sample, look)

    @cached_property
    def current(self) -> Model:
        """The model, once there is one, with the samples that are in the window now."""
        window = self.window
        model: Model = self.model  # type: ignore[assignment]
        if window.age == 0:
            return model
        n_samples = window.n_samples
        rows, scores = np.arange(n_samples), np.zeros(n_samples)
        return replace(model, training=window.views, rows=rows, scores=scores, measurer=self._measurer)

    @cached_property
    def _measurer(self) -> Measurer | BlendMeasurer:
        """What measures samples against those in the window now."""
        measurer: Measurer | BlendMeasurer = self.model.measurer  # type: ignore[union-attr]
        local_means = self.window.local_means
        if isinstance(measurer, BlendMeasurer) and local_means is not None:
            return replace(measurer, local_means=local_means)
        return measurer

    @cached_property
    def _views(self) -> list[View]:
        return self.window.views

    def _moved(self) -> None:
        """Forget what was true of the window before it moved."""
        for name in ("current", "_measurer", "_views"):
            vars(self).pop(name, None)

    def _look(self, sample: Any) -> _Look | None:
        """Return what is known of a sample, None if it lacks a value."""
        last = self._last
        if last is not None and last.n_learnt == self.n_learnt and _are_same(sample, last.sample):
            return last
        model: Model = self.model  # type: ignore[assignment]
        views = self._reader.views(sample, self.n_seen, self._views)
        if views is None:
            return None
        block = dissimilarity_block(model.criteria.fitted, views, self._views, self.n_seen, self.rules.settings.n_jobs)
        measurer, needed, local_means = self._measurer, METHODS[model.method].measures, None
        if isinstance(measurer, BlendMeasurer):
            measures, local_means = measurer.with_local_means(block, needed)
        else:
            measures = measurer.of(block, needed)
        score = float(model.calibration.score(measures, model.method)[0])
        self._last = _Look(sample, views, block, score, local_means, self.n_learnt)
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

    def _learn(self, sample: Any, look: _Look | None) -> None:
        """Put a sample into the window, and fit if it is time; if that fails, the sample is not learnt."""
        self._append(sample, look)
        window = self.window
        is_due = window.n_samples >= self.rules.n_needed if self.model is None else window.age >= self._longest_age
        if is_due:
            try:
                self.fit()
            except Exception:
                window.samples.pop()
                self.n_learnt -= 1
                self._moved()
                raise

    @property
    def _longest_age(self) -> int:
        """After how many learnt samples the model is fitted anew; sooner while the window fills."""
        n_fitted, rules = self.window.n_fitted, self.rules
        is_filling = n_fitted < rules.size
        return min(rules.n_later, max(1, n_fitted // GROWTH_SHARE)) if is_filling else rules.n_later

    def _append(self, sample: Any, look: _Look | None) -> None:
        if isinstance(sample, dict) and self.window.samples:
            # All have the names of the first, in its order; what is beyond them no criterion reads.
            sample = {name: sample.get(name) for name in self.window.samples[0]}
        if look is None:
            self.window.append(sample)
        else:
            self.window.append(sample, look.views, self._to(look), look.local_means)
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
                view = self._views[place]
                block = criterion.dissimilarities(view, look.views[place], origin, self.rules.settings.n_jobs)
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
