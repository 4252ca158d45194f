"""The streaming detector: what comes is compared with what came last, then learnt."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.exceptions import NotFittedError

from paretodepth.criteria.criterion import Criterion
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.scoring.calibration import labels
from paretodepth.scoring.explanation import Explanation, explain_encoded
from paretodepth.scoring.methods import MethodName
from paretodepth.scoring.model import Model
from paretodepth.streaming.rules import Rules
from paretodepth.streaming.samples import plain_sample, samples_of, together
from paretodepth.streaming.state import read_state, write_state
from paretodepth.streaming.stream import Observation, Stream

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
    method : {"depth", "criteria", "blend"}, default="depth"
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
    detector's does, less the dissimilarities of metrics that estimate nothing: these are held. Functions as metrics
    must give a pair the same value whatever else is in the block.

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
        method: MethodName = "depth",
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
        return score if np.isnan(score) else float(self.model_.p_values(np.array([score]))[0])

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
        return self.model_.p_values(-self.score_samples(X))

    def explain_one(self, x: Any) -> Explanation:
        """Return why a sample is strange or not, by the window that the fronts were made of."""
        model, sample = self.model_, self._fitted.reader.kept(plain_sample(x, NAME))
        return explain_encoded(model, model.encode(together([sample]), caller=NAME), n_jobs=self.n_jobs)

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
        resumed = read_state(path, cls().get_params(deep=False), criteria or {}, NAME, _warn)
        detector = cls(**resumed.parameters)
        detector._own = resumed.stream
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
            self._own = Stream(self.criteria, Rules.checked(parameters, NAME), NAME, _warn)
        return self._own

    @property
    def _fitted(self) -> Stream:
        stream = self._stream
        check_warm(stream)
        return stream


def _warn(sentence: str) -> None:
    """Report that fits fail, to whoever called `update_one`."""
    warnings.warn(sentence, AdviceWarning, stacklevel=4)


def check_warm(stream: Stream) -> None:
    """Refuse to tell what only a model can, before there are enough samples for one."""
    if stream.model is None:
        raise NotFittedError(
            f"This {NAME} must have learnt {stream.rules.n_needed} samples, what 'alpha' needs. Got "
            f"{stream.window.n_samples} so far; call learn_one or partial_fit with more."
        )
