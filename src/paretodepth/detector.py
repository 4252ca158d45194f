"""The detector: Pareto depth analysis as a scikit-learn outlier detector."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from paretodepth._blocks import print_progress
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.encoding import EncodedSamples
from paretodepth.criteria.samples import note_features
from paretodepth.fronts.depth_index import DepthKind
from paretodepth.models.model_file import load_model, save_model
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Encodings, Pairs
from paretodepth.scoring.advice import AdviceWarning, clear_outlier_advice
from paretodepth.scoring.calibration import check_fdr, discoveries, labels
from paretodepth.scoring.explanation import Explanation, explain_encoded
from paretodepth.scoring.fitting import Settings, fitted_model
from paretodepth.scoring.methods import MethodName
from paretodepth.scoring.model import Model

NAME = "ParetoDepthDetector"
Samples = ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike]


class ParetoDepthDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Anomaly detection under several dissimilarities at once, without weights.

    The dissimilarities of a pair of training samples under K criteria form a dyad. The dyads of all pairs are peeled
    into Pareto fronts. A new sample is joined to its nearest training samples under each criterion; the mean depth
    of these dyads below the fronts is its anomaly score. It does not change if a criterion is rescaled.

    By default ``method="depth"``, the paper's; `detect` and the command line use ``"blend"``, which finds more.

    Parameters
    ----------
    criteria : list of Criterion or None, default=None
        None: one criterion per column, the absolute difference.
    n_neighbors : "connected", int or sequence of int, default="connected"
        How many nearest training samples a sample is joined to, in each criterion. ``"connected"``: the smallest
        number for which the symmetric nearest-neighbor graph of the training samples is connected. Without effect on
        ``method="blend"``, which has numbers of its own, 1 to 20.
    depth : {"paper", "insertion", "mid"}, default="paper"
        Which depth of a new dyad is taken: the first front it dominates a dyad of, the front it would lie on, or
        their mean, which ``method="blend"`` takes in any case.
    method : {"depth", "blend"}, default="depth"
        What scores, labels and p-values follow. ``"depth"``: the mean depth, as in the paper. ``"blend"``: the
        harmonic mean of the p-values of the most surprising criterion, of the sum of all criteria, and of the depth
        in pairs of criteria; the best without labels, for any number of criteria.
    alpha : float or None, default=None
        The share of nominal samples that may be called anomalies: `predict` tells whether p-values are at most
        alpha. None: 0.05, or the smallest p-value that can be had if there are fewer than 19 calibrating samples.
    threshold : float or None, default=None
        Score above which a sample is an anomaly, with ``method="depth"`` the paper's sigma. Overrides `alpha`.
    calibration : {"leave-one-out", "split"}, default="leave-one-out"
        Which samples calibrate. ``"leave-one-out"``: all training samples, each compared with the others.
        ``"split"``: a random third, which the fronts are then made without; fewer samples for either purpose, but
        p-values that are exactly valid.
    max_depth : int, "auto" or None, default=None
        The last front L to keep; fronts 1…L are exact, what lies deeper has the depth L + 1 or, with
        ``method="blend"``, a depth below random dyads. Memory then no longer grows with the number of pairs.
        ``"auto"``: an L that some 0.1 % of the nearest dyads of nominal samples exceed. None: all fronts.
    memory_limit : int or None, default=None
        Bytes that `fit` may take, by an estimate; it refuses to start if it needs more. None: half of what is free.
    n_jobs : int or None, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 all cores. Changes no result.
    random_state : int, RandomState instance or None, default=None
        Chooses the third of ``calibration="split"``.
    verbose : int, default=0
        1 prints what `fit` is doing, how long it took and, on a terminal, will still take.

    Attributes
    ----------
    criteria_ : list of FittedCriterion
        The criteria, with their columns as indices and what was estimated from the training samples.
    model_ : Model
        All that was found, as `save` writes it; the other attributes are parts of it.
    advice_ : list of str
        What had better be changed about the criteria; `fit` warns of it.
    n_neighbors_ : ndarray of shape (n_criteria,)
        The number of neighbors in each criterion; with ``method="blend"`` 10.
    fronts_ : Fronts or PairFronts
        The Pareto fronts of the training dyads; with ``method="blend"`` those of pairs of criteria.
    n_fronts_ : int
        Their number M, of all pairs together; depths below M fronts are from 1 to M + 1.
    exact_ : bool
        Whether the fronts, up to the last one asked for, are those of all training dyads.
    training_scores_ : ndarray of shape (n_samples,)
        Of the training samples, as `score_samples`, each compared with the others.
    training_labels_ : ndarray of shape (n_samples,)
        By `training_scores_`, 1 within the threshold and -1 beyond it; 0 for samples in `dropped_`.
    dropped_ : ndarray of int
        Training samples that lack a value in a criterion with ``missing="drop"``; their `training_scores_` are NaN.
    alpha_ : float or None
        The rate that set the threshold; None if a threshold was given.
    offset_ : float
        Minus the threshold: ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
        Number of columns seen at fit; of precomputed criteria, of training samples.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    Notes
    -----
    N samples make N (N - 1) / 2 dyads, held during `fit` unless `max_depth` is given; see
    ``docs/scaling.md``. Where neighbors are tied, the other criteria decide in their order; no score depends on the
    order of the samples. With ``method="blend"``, rescaling a criterion changes no score while sums
    of its dissimilarities stay below 1e300; larger sums count as 1e300. A new sample with a missing value in a
    criterion with ``missing="drop"`` has the score NaN and the label 0. Data frames and dicts need only the columns
    that criteria name.

    References
    ----------
    Hsiao, Xu, Calder, Hero, "Multi-criteria Anomaly Detection using Pareto Depth Analysis", NIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from paretodepth import ParetoDepthDetector
    >>> nominal = np.random.default_rng(0).random((200, 2))
    >>> detector = ParetoDepthDetector().fit(nominal)
    >>> detector.predict([[0.5, 0.5], [1.6, 0.5]])
    array([ 1, -1])
    """

    def __init__(
        self,
        criteria: Sequence[Criterion] | None = None,
        *,
        n_neighbors: Literal["connected"] | int | Sequence[int] = "connected",
        depth: DepthKind = "paper",
        method: MethodName = "depth",
        alpha: float | None = None,
        threshold: float | None = None,
        calibration: Literal["leave-one-out", "split"] = "leave-one-out",
        max_depth: int | Literal["auto"] | None = None,
        memory_limit: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.criteria = criteria
        self.n_neighbors = n_neighbors
        self.depth = depth
        self.method = method
        self.alpha = alpha
        self.threshold = threshold
        self.calibration = calibration
        self.max_depth = max_depth
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Samples, y: object = None) -> Self:
        """Learn the fronts of the training samples, which should be nominal.

        Parameters
        ----------
        X : array-like, data frame, dict of columns or list of objects
            The training samples: a table of shape (n_samples, n_features), whose columns may hold objects such as
            strings, arrays and lists of points, or a plain list of such objects. For precomputed criteria a sequence
            of matrices of shape (n_samples, n_samples), one per criterion, or a dict of them by criterion name;
            beside other criteria, a dict of columns that holds the matrices too.
        y : ignored

        Returns
        -------
        self : ParetoDepthDetector
        """
        return fit_by_pairs(self, X, ComputedPairs)

    def fit_predict(self, X: Samples, y: object = None) -> NDArray[np.intp]:
        """Return ``fit(X).predict(X)``, as scikit-learn's checks demand; `training_labels_` are the better answer.

        In `predict` each training sample meets itself; for `training_labels_` it is compared with the others alone.
        """
        return self.fit(X).predict(X)

    def mean_depth(self, X: Samples) -> NDArray[np.float64]:
        """Return the paper's anomaly score v, the mean depth of each sample's dyads; not with ``method="blend"``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples. For precomputed criteria a sequence, or a dict by criterion name, of matrices of shape
            (n_samples, n_training_samples).

        Returns
        -------
        mean_depth : ndarray of shape (n_samples,)
            From 1 to ``n_fronts_ + 1``, larger is stranger.
        """
        check_has_depth(self._model.method)
        return self._scores(X)

    def nearest_dyads(self, X: Samples) -> NDArray[np.float64]:
        """Return the dyads whose mean depth is the score: those of each sample with its nearest training samples.

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        dyads : ndarray of shape (n_samples, s, n_criteria)
            Of the ``n_neighbors_[0]`` nearest in the first criterion, then of those nearest in the second, …
        """
        return self._model.encoded_dyads(self._seen(X), n_jobs=self.n_jobs)

    def score_samples(self, X: Samples) -> NDArray[np.float64]:
        """Return minus the score of each sample, with ``method="depth"`` minus its mean depth; smaller is stranger.

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self._scores(X)

    def decision_function(self, X: Samples) -> NDArray[np.float64]:
        """Return the score of each sample less the offset, negative for anomalies.

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        decision : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> NDArray[np.intp]:
        """Return -1 for anomalies, whose score is above the threshold, 1 for other samples, 0 for those not scored.

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return labels(self.decision_function(X))

    def p_values(self, X: Samples) -> NDArray[np.float64]:
        """Return how often a nominal sample would score at least as high as each of these.

        That is (1 + number of calibrating samples with at least this score) / (1 + their number).

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        p_values : ndarray of shape (n_samples,)

        Examples
        --------
        >>> nominal = np.random.default_rng(0).random((199, 2))
        >>> ParetoDepthDetector(method="blend").fit(nominal).p_values([[0.5, 0.5], [1.6, 0.5]])
        array([0.525, 0.005])
        """
        return self._model.calibration.p_values(self._scores(X))

    def select(self, X: Samples, *, fdr: float = 0.1) -> NDArray[np.bool_]:
        """Tell which samples to call anomalies so that few of those called are nominal.

        The more anomalies a batch holds, the more samples are called; single ones need many calibrating samples.

        Parameters
        ----------
        X : new samples, as in `mean_depth`
        fdr : float, default=0.1
            The false discovery rate: the expected share of nominal samples among those called.

        Returns
        -------
        is_selected : ndarray of shape (n_samples,)
        """
        fdr = check_fdr(fdr, f"{NAME}.select")
        return discoveries(self.p_values(X), fdr)

    def explain(self, X: Samples) -> Explanation:
        """Return why each sample is unusual or not: by which criteria, how much, and what it is nearest to.

        Parameters
        ----------
        X : new samples, as in `mean_depth`

        Returns
        -------
        explanation : Explanation

        Examples
        --------
        >>> detector = ParetoDepthDetector().fit(np.random.default_rng(0).random((300, 2)))
        >>> print(detector.explain([[0.5, 0.4], [1.6, 0.5]]).sentences[1])
        x0 1.6 is above the typical 0.0726–0.96; no reference record is this far from its 7 closest.
        """
        return explain_encoded(self._model, self._seen(X), n_jobs=self.n_jobs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted detector to a file that `load` reads; it appears whole or not at all.

        What a file cannot carry is a TypeError: a transformer of scikit-learn, a `RandomState`, objects of other
        libraries. Functions as metrics are asked for by `load`.

        Parameters
        ----------
        path : str or path
            Any name; the ending ``.model`` is customary.

        Examples
        --------
        >>> import os, tempfile
        >>> detector = ParetoDepthDetector().fit(np.random.default_rng(0).random((200, 2)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     detector.save(os.path.join(folder, "nominal.model"))
        ...     loaded = ParetoDepthDetector.load(os.path.join(folder, "nominal.model"))
        >>> loaded.predict([[0.5, 0.5], [1.6, 0.5]])
        array([ 1, -1])
        """
        save_model(path, self.get_params(deep=False), self._model)

    @classmethod
    def load(cls, path: str | os.PathLike[str], criteria: Mapping[str, Callable[..., Any]] | None = None) -> Self:
        """Return the detector that `save` wrote to a file.

        Its scores are the same to the last bit. Nothing that the file holds is executed, and a damaged file refused.

        Parameters
        ----------
        path : str or path
        criteria : dict of callable or None, default=None
            By the criterion's name, the functions that criteria were fitted with as metrics.

        Returns
        -------
        detector : ParetoDepthDetector
        """
        parameters, model = load_model(path, cls().get_params(deep=False), criteria or {})
        return cls(**parameters)._adopt(model)

    def _scores(self, X: Samples) -> NDArray[np.float64]:
        """Return the scores of new samples, larger is more unusual."""
        return self._model.encoded_scores(self._seen(X), n_jobs=self.n_jobs)

    def _seen(self, X: Samples) -> EncodedSamples:
        return self._model.encode(X, caller=NAME)

    @property
    def _model(self) -> Model:
        if not hasattr(self, "model_"):  # check_is_fitted alone takes longer than to score a sample
            check_is_fitted(self)
        return self.model_

    def _adopt(self, model: Model) -> Self:
        """Take over what a fit has found."""
        note_features(self, model.criteria.layout)
        self.model_, self.criteria_, self.dropped_ = model, model.criteria.fitted, model.dropped
        self.advice_, self.fronts_ = [*model.advice, *clear_outlier_advice(model.scores)], cast(Any, model.fronts)
        self.n_neighbors_, self.n_fronts_, self.exact_ = model.measurer.n_neighbors, model.n_fronts, model.is_exact
        self.training_scores_, self.offset_, self.alpha_ = -model.scores, -model.threshold, model.alpha
        self.training_labels_ = labels(self.training_scores_ - self.offset_)
        return self


def fit_by_pairs(
    detector: ParetoDepthDetector, X: Samples, pairs_of: Callable[[Criteria, Encodings, int | None], Pairs]
) -> ParetoDepthDetector:
    """Fit a detector to training samples whose pairs a function makes: here, or on a cluster."""
    settings = Settings.checked(detector.get_params(deep=False), NAME)
    with print_progress(NAME) if detector.verbose else nullcontext():
        model = fitted_model(detector.criteria, X, settings, pairs_of, NAME)
    for advice in detector._adopt(model).advice_:
        warnings.warn(advice, AdviceWarning, stacklevel=3)
    return detector


def check_has_depth(method: MethodName) -> None:
    """Refuse to return mean depths that a fit has not measured."""
    if method != "depth":
        raise ValueError(f"{NAME}.mean_depth must follow a fit with method='depth'. Got a fit with '{method}' instead.")
