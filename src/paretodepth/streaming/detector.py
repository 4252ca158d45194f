"""The streaming detector: what comes is compared with what came last, then learnt."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.exceptions import NotFittedError

from paretodepth._checks import is_integer, is_real
from paretodepth.criteria.criterion import Criterion
from paretodepth.models.stream_file import load_stream, save_stream
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import labels
from paretodepth.scoring.explanation import Explanation
from paretodepth.scoring.methods import MethodName
from paretodepth.scoring.model import Model
from paretodepth.streaming.drift import EXPONENTS
from paretodepth.streaming.stream import N_DRIFTS, Observation, Stream, StreamSettings
from paretodepth.streaming.window import samples_of

NAME = "StreamingDetector"


class StreamingDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Anomaly detection in a stream: each sample is compared with those in a window before it is learnt.

    Whenever the fronts are fresh, ``age_ == 0``, scores, p-values and the threshold equal, bit by
    bit, those of a `ParetoDepthDetector` that is fitted to the samples in the window. In between
    the neighbors are those in the present window. Fronts, numbers of neighbors, what metrics
    estimate and what p-values are told from are of the last fit, `age_` learnt samples ago.

    Parameters
    ----------
    criteria : list of Criterion or None, default=None
        None: one criterion per column, the absolute difference. Not precomputed.
    window : int, default=1000
        How many samples are compared with. Memory grows with its square.
    refresh : int or None, default=None
        The fronts are made anew after so many learnt samples. None: half of the window. While the window fills,
        also whenever it has grown by a quarter. 1: after every sample.
    method : {"blend", "depth"}, default="blend"
        As of `ParetoDepthDetector`.
    alpha : float, default=0.01
        The share of nominal samples that may be called anomalies. Until the window holds 1 / alpha - 1 samples
        nothing is scored and everything is learnt.
    learn : {"nominal", "all"}, default="nominal"
        Which samples are learnt. ``"nominal"``: all but anomalies, of which at most `max_unlearnt` are left out.
    max_unlearnt : float or None, default=None
        The share of the last `window` samples that may be left out; further anomalies are learnt, so that a change
        for good is learnt in the end. None: `alpha`. If nothing is odd, what is left out is the tail of the nominal
        samples, so that the share of samples called settles between `alpha` and `alpha` + `max_unlearnt`.
    n_jobs : int or None, default=None
        Threads of a fit, as of `ParetoDepthDetector`.

    Attributes
    ----------
    n_seen_ : int
        How many samples have come.
    age_ : int
        How many samples were learnt since the fronts were made.
    drifts_ : list of int
        The numbers of the samples at which there was drift: at most one false alarm in a million samples on
        average, see `paretodepth.streaming.drift`.
    model_ : Model
        What the last fit has found.
    window_ : list
        The samples in the window, the oldest first, with the columns that criteria read. If a criterion counts
        columns, the others stay in their places and hold NaN.
    threshold_ : float
        The score above which a sample is an anomaly.

    Notes
    -----
    To score a sample takes O(window) dissimilarities, to learn it none besides. A fit takes the time that the batch
    detector's does. Functions as metrics must give a pair the same value whatever else is in the block.

    Examples
    --------
    >>> import numpy as np
    >>> from paretodepth.streaming import StreamingDetector
    >>> rng = np.random.default_rng(0)
    >>> stream = StreamingDetector(window=200, alpha=0.05)
    >>> for x, y in rng.random((300, 2)):
    ...     observation = stream.update_one({"x": x, "y": y})
    >>> stream.update_one({"x": 1.6, "y": 0.5}).is_anomaly
    True
    >>> stream.age_ <= 100
    True
    """

    def __init__(
        self,
        criteria: Sequence[Criterion] | None = None,
        *,
        window: int = 1000,
        refresh: int | None = None,
        method: MethodName = "blend",
        alpha: float = 0.01,
        learn: Literal["nominal", "all"] = "nominal",
        max_unlearnt: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criteria = criteria
        self.window = window
        self.refresh = refresh
        self.method = method
        self.alpha = alpha
        self.learn = learn
        self.max_unlearnt = max_unlearnt
        self.n_jobs = n_jobs

    def update_one(self, x: Any) -> Observation:
        """Score a sample, judge it, then learn it unless it is to be left out.

        Parameters
        ----------
        x : dict, row or object
            A dict of values by column, a sequence of values, or one object such as a string or an array of points: as
            a row of a table that `ParetoDepthDetector` takes. A sample that is refused is not learnt.

        Returns
        -------
        observation : Observation
        """
        return self._stream.update(x)

    def learn_one(self, x: Any) -> None:
        """Do what `update_one` does, and say nothing; a sample that was just scored is not scored again."""
        self.update_one(x)

    def score_one(self, x: Any) -> float:
        """Return the score of a sample, larger is stranger; NaN while the window holds too few samples.

        The sign is that of River; `score_samples` has scikit-learn's.
        """
        return self._stream.score(x)

    def p_value_one(self, x: Any) -> float:
        """Return how often a sample of the window is at least as strange; NaN while it holds too few."""
        score = self._stream.score(x)
        return score if np.isnan(score) else float(self.model_.calibration.p_values(np.array([score]))[0])

    def fit(self, X: Any, y: object = None) -> Self:
        """Begin anew with a stream of samples, of which the window holds the last."""
        self.__dict__.pop("_own", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn samples one after the other, as `learn_one`.

        Parameters
        ----------
        X : array-like, data frame, dict of columns or list of objects
            If one is refused, those before it are learnt.
        y : ignored
        """
        for x in samples_of(X, NAME):
            self.update_one(x)
        return self

    def refresh_fronts(self) -> Self:
        """Fit the model to the present window, so that `age_` is 0."""
        if self._fitted.window.age:
            self._fitted.fit()
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return minus the score of each sample, none of which is learnt; smaller is stranger."""
        current = self._fitted.current
        return -current.encoded_scores(current.encode(X, caller=NAME), n_jobs=self.n_jobs)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return `score_samples` plus the threshold, negative for anomalies."""
        return self.score_samples(X) + self.threshold_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return -1 for anomalies, 1 for other samples, 0 for those that lack a value; none is learnt."""
        return labels(self.decision_function(X))

    def p_values(self, X: Any) -> NDArray[np.float64]:
        """Return how often a sample of the window is at least as strange as each of these, none of which is learnt."""
        return self.model_.calibration.p_values(-self.score_samples(X))

    def explain_one(self, x: Any) -> Explanation:
        """Return why a sample is strange or not, by the window that the fronts were made of."""
        return self._fitted.explain(x, self.n_jobs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the stream to a file that `load` reads; it appears whole or not at all.

        It holds the samples in the window and what was counted, so it is small, and private as they are. What a file
        cannot carry is a TypeError, as of `ParetoDepthDetector.save`.
        """
        write_state(path, self._stream, self.get_params(deep=False))

    @classmethod
    def load(cls, path: str | os.PathLike[str], criteria: Mapping[str, Callable[..., Any]] | None = None) -> Self:
        """Return the stream that `save` wrote to a file, which goes on as if it had never stopped, to the last bit.

        Parameters
        ----------
        path : str or path
            Nothing that the file holds is executed, and a damaged file is refused.
        criteria : dict of callable or None, default=None
            By the criterion's name, the functions that are criteria's metrics.
        """
        saved = check_chosen(read_state(path, criteria or {}, NAME, _warn))
        detector = cls(**saved.parameters)
        detector._own = saved.stream
        return detector

    @property
    def n_seen_(self) -> int:
        """How many samples have come."""
        return self._stream.n_seen

    @property
    def age_(self) -> int:
        """How many samples were learnt since the fronts were made."""
        return self._fitted.window.age

    @property
    def drifts_(self) -> list[int]:
        """The numbers of the samples at which there was drift, the last 100."""
        return list(self._stream.drifts)

    @property
    def model_(self) -> Model:
        """What the last fit has found."""
        return self._fitted.model  # type: ignore[return-value]

    @property
    def window_(self) -> list[Any]:
        """The samples in the window, the oldest first, with the columns that criteria read."""
        return self._stream.window.samples

    @property
    def threshold_(self) -> float:
        """The score above which a sample is an anomaly."""
        return self.model_.threshold

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model yet."""
        return self._stream.model is not None

    @property
    def _stream(self) -> Stream:
        """The stream, which begins when it is first asked for; its parameters are then fixed."""
        if "_own" not in vars(self):
            parameters = self.get_params(deep=False)
            self._own = Stream(self.criteria, StreamSettings.checked(parameters, NAME), NAME, _warn)
        return self._own

    @property
    def _fitted(self) -> Stream:
        return check_warm(self._stream)


def _warn(sentence: str) -> None:
    """Report that fits fail, to whoever called `update_one`."""
    warnings.warn(sentence, AdviceWarning, stacklevel=4)


def check_warm(stream: Stream) -> Stream:
    """Return a stream that has learned enough samples for a model."""
    if stream.model is None:
        raise NotFittedError(
            f"This {NAME} must have learnt {stream.settings.n_needed} samples, what 'alpha' needs. Got "
            f"{stream.window.n_samples} so far; call learn_one or partial_fit with more."
        )
    return stream


class Input(NamedTuple):
    """The number of records that were read, the names of their columns, and samples that wait for criteria."""

    n_read: int
    names: Sequence[str] = ()
    waiting: Sequence[Any] = ()


class Saved(NamedTuple):
    """A saved stream with the detector's parameters and, of `watch`, what `Input` has."""

    parameters: dict[str, Any]
    stream: Stream
    input: Input


def write_state(
    path: str | os.PathLike[str], stream: Stream, parameters: Mapping[str, Any], read: Input | None = None
) -> None:
    """Write a stream to a file atomically, after the checks that `read_state` makes: samples and counts, no model."""
    window, read = stream.window, read or Input(stream.n_seen)
    state = {
        # The number of threads is for the one who resumes to choose.
        "parameters": {name: value for name, value in parameters.items() if name != "n_jobs"},
        "fitted": window.fitted,
        "later": window.later,
        "age": window.age,
        "n_seen": stream.n_seen,
        "n_learnt": stream.n_learnt,
        "n_incomparable": stream.n_incomparable,
        "n_read": read.n_read,
        "names": list(read.names),
        "waiting": list(read.waiting),
        "drifts": list(stream.drifts),
        "e_values": stream.drift.e_values,
        "unlearnt": [list(one) for one in stream.unlearnt],
    }
    check_state(state, stream.settings)
    stream.check_samples([*window.fitted, *window.later])
    save_stream(path, state)


def read_state(
    path: str | os.PathLike[str],
    callables: Mapping[str, Callable[..., Any]],
    caller: str,
    report: Callable[[str], object],
) -> Saved:
    """Return the stream that `write_state` wrote to a file, which is checked like any input."""

    def resumed(state: dict[str, Any]) -> Saved:
        parameters = check_parameters(state["parameters"])
        settings = StreamSettings.checked(parameters, caller)
        check_state(state, settings)
        stream = Stream(parameters["criteria"], settings, caller, report)
        stream.replay(state["fitted"], state["later"], state["age"])
        stream.n_seen, stream.n_learnt = state["n_seen"], state["n_learnt"]
        stream.n_incomparable = state["n_incomparable"]
        stream.drifts.extend(state["drifts"])
        stream.drift.e_values = state["e_values"]
        stream.unlearnt.extend((number, float(score)) for number, score in state["unlearnt"])
        return Saved(parameters, stream, Input(state["n_read"], state["names"], state["waiting"]))

    saved: Saved = load_stream(path, callables, resumed)
    return saved


def check_chosen(saved: Saved) -> Saved:
    """Refuse a stream of `watch` that has not chosen criteria yet."""
    if saved.input.waiting:
        raise ValueError("A saved stream must have criteria. Got one that still waits for records to choose them by.")
    return saved


def check_parameters(parameters: Any) -> dict[str, Any]:
    """Return all parameters of a streaming detector, of which some are given."""
    defaults: dict[str, Any] = StreamingDetector().get_params(deep=False)
    if not isinstance(parameters, dict) or not set(parameters) <= set(defaults) - {"n_jobs"}:
        raise ValueError("parameters of another detector")
    return defaults | parameters


def check_state(state: Mapping[str, Any], settings: StreamSettings) -> None:
    """Refuse counts that no stream can have."""
    for name in ("age", "n_seen", "n_learnt", "n_incomparable", "n_read"):
        _refuse_unless(is_integer(state[name]) and 0 <= state[name] < 2**62, name)
    fitted, later, age, n_seen = (state[name] for name in ("fitted", "later", "age", "n_seen"))
    _refuse_unless(isinstance(fitted, list) and isinstance(later, list), "samples")
    _refuse_unless(len(fitted) + age <= state["n_learnt"] <= n_seen <= state["n_read"], "numbers of samples")
    size = settings.size
    if fitted:
        is_right = settings.n_needed <= len(fitted) <= size and len(later) == min(age, 2 * size)
    else:
        is_right = len(later) <= min(age, size)
    _refuse_unless(is_right, "numbers of samples")
    waiting, drifts, e_values, unlearnt = (state[name] for name in ("waiting", "drifts", "e_values", "unlearnt"))
    is_right = isinstance(waiting, list) and len(waiting) <= (0 if n_seen or state["parameters"]["criteria"] else size)
    _refuse_unless(is_right and all(isinstance(sample, dict) and sample for sample in waiting), "waiting samples")
    names = state["names"]
    _refuse_unless(isinstance(names, list) and all(isinstance(name, str) for name in names), "names of columns")
    _refuse_unless(isinstance(drifts, list) and len(drifts) <= N_DRIFTS and _are_rising(drifts, n_seen), "drifts")
    is_right = isinstance(e_values, np.ndarray) and e_values.dtype == np.float64 and e_values.shape == EXPONENTS.shape
    _refuse_unless(is_right and bool(np.isfinite(e_values).all() and np.all(e_values >= 0)), "e-values")
    is_right = isinstance(unlearnt, list) and len(unlearnt) <= settings.max_unlearnt
    is_right = is_right and all(isinstance(one, list) and len(one) == 2 for one in unlearnt)
    is_right = is_right and all(is_real(score) and score == score for _, score in unlearnt)
    _refuse_unless(is_right and _are_rising([number for number, _ in unlearnt], n_seen), "skipped samples")


def _are_rising(numbers: list[Any], n_seen: int) -> bool:
    """Return whether these are numbers of samples in rising order."""
    ends = [-1, *numbers, n_seen]
    return all(map(is_integer, numbers)) and (not numbers or all(low < high for low, high in pairwise(ends)))


def _refuse_unless(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} that do not fit the rest")
