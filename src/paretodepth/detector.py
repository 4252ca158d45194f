"""The detector: Pareto depth analysis as a scikit-learn outlier detector."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paretodepth._blocks import Result, phase, printed
from paretodepth._checks import check_choice
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted import fit_criteria, view_rows, view_samples
from paretodepth.criteria.metrics.metric import View
from paretodepth.files.model_file import ModelFileMixin
from paretodepth.fronts.depth import DepthKind
from paretodepth.pairs.limits import Limits
from paretodepth.pairs.nearest import map_new_blocks, nearest_dyads
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Pairs, Views
from paretodepth.pairs.shortlist import Nearby
from paretodepth.scoring.advice import AdviceWarning, criteria_advice
from paretodepth.scoring.calibration import (
    CALIBRATIONS,
    METHODS,
    Calibration,
    check_alpha,
    check_fdr,
    check_threshold,
    discoveries,
    kept_rows,
    largest_nominal_score,
)
from paretodepth.scoring.explanation import Explanation, Reasoning, explained
from paretodepth.scoring.measures import Method, joined
from paretodepth.scoring.model import Trained, train

NAME = "ParetoDepthDetector"
Samples = ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike]


class ParetoDepthDetector(ModelFileMixin, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Anomaly detection under several dissimilarities at once, without weights.

    The dissimilarities of a pair of training samples under K criteria form a dyad. The
    dyads of all pairs are peeled into Pareto fronts. A new sample is joined to its nearest
    training samples under each criterion; the mean depth of these new dyads below the
    fronts is its anomaly score v. Only comparisons within a criterion enter, so the scores
    do not change if a criterion is rescaled or otherwise transformed increasingly.

    Parameters
    ----------
    criteria : list of Criterion or None, default=None
        None: one criterion per column, the absolute difference.
    n_neighbors : "connected", int or sequence of int, default="connected"
        How many nearest training samples a sample is joined to, in each criterion.
        ``"connected"``: in each criterion the smallest number for which the symmetric
        nearest-neighbor graph of the training samples is connected.
    depth : {"paper", "insertion", "mid"}, default="paper"
        Which depth of a new dyad is taken: the first front it dominates a dyad of, the
        front it would lie on, or their mean.
    method : {"depth", "criteria", "union"}, default="depth"
        What scores, labels and p-values follow. ``"depth"``: the mean depth, as in the paper.
        ``"criteria"``: the most surprising criterion, by the sum of its nearest dissimilarities;
        blind to samples that are odd only in combination. ``"union"``: the most surprising of
        the mean depth, the criteria, and the nearest under the sum of all criteria.
    alpha : float or None, default=None
        The share of nominal samples that may be called anomalies: `predict` tells whether
        p-values are at most alpha. None: 0.05, or the smallest p-value that can be had if there
        are fewer than 19 calibrating samples.
    threshold : float or None, default=None
        The score above which a sample is an anomaly, a mean depth (the paper's sigma) for
        ``method="depth"``. Overrides `alpha`.
    calibration : {"leave-one-out", "split"}, default="leave-one-out"
        Which samples calibrate. ``"leave-one-out"``: all training samples, each compared with
        the others. ``"split"``: a random third, which the fronts are then made without; fewer
        samples for either purpose, but p-values that are exactly valid.
    max_depth : int, "auto" or None, default=None
        The last front L to keep; fronts 1…L are exact, what lies deeper has the depth L + 1,
        and memory no longer grows with the number of pairs. ``"auto"``: an L that some 0.1 %
        of the nearest dyads of nominal samples exceed. None: all fronts.
    max_dyads : int or None, default=None
        Make the fronts of so many random dyads: faster, of many criteria above all, and
        approximate. Neighbors and scores still regard all training samples.
    memory_limit : int or None, default=None
        Bytes that `fit` may take, by an estimate; it refuses to start if it needs more. None:
        half of what is free.
    n_jobs : int or None, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 all
        cores. Changes no result.
    random_state : int, RandomState instance or None, default=None
        Draws the third of ``calibration="split"`` and the dyads of `max_dyads`.
    verbose : int, default=0
        1 prints what `fit` is doing, how long it took and, on a terminal, will still take.

    Attributes
    ----------
    criteria_ : list of FittedCriterion
        The criteria, with their columns as indices and what was estimated from the
        training samples.
    advice_ : list of str
        What had better be changed about the criteria; `fit` warns of it.
    n_neighbors_ : ndarray of shape (n_criteria,)
        The number of neighbors in each criterion.
    fronts_ : Fronts
        The Pareto fronts of the training dyads.
    n_fronts_ : int
        Their number M; a new dyad's depth is from 1 to M + 1.
    exact_ : bool
        Whether the fronts, up to the last one kept, are those of all training dyads.
    training_scores_ : ndarray of shape (n_samples,)
        Scores of the training samples on the scale of `score_samples`, leave-one-out: a
        training sample is not its own neighbor. Those that a split holds out are compared
        with the others.
    training_labels_ : ndarray of shape (n_samples,)
        1 for training samples within the threshold, -1 for those beyond it, by
        `training_scores_`.
    alpha_ : float or None
        The rate that set the threshold; None if a threshold was given.
    offset_ : float
        Minus the threshold: ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
        Number of columns seen at fit; of precomputed criteria, of training samples.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    Notes
    -----
    N training samples make n = N (N - 1) / 2 dyads, all held in memory during `fit` unless
    `max_depth` or `max_dyads` is given; see ``docs/scaling.md``.
    Where neighbors are tied, the other criteria decide in their order; no score depends
    on the order of the samples. `predict` compares new samples with all training samples:
    a training sample given to it meets itself; for these see `training_labels_`.

    References
    ----------
    Hsiao, Xu, Calder, Hero, "Multi-criteria Anomaly Detection using Pareto Depth
    Analysis", NIPS 2012.

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
        method: Method = "depth",
        alpha: float | None = None,
        threshold: float | None = None,
        calibration: Literal["leave-one-out", "split"] = "leave-one-out",
        max_depth: int | Literal["auto"] | None = None,
        max_dyads: int | None = None,
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
        self.max_dyads = max_dyads
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Samples, y: object = None) -> Self:
        """Learn the fronts of the training samples, which should be nominal.

        Parameters
        ----------
        X : array-like, data frame, dict of columns or list of objects
            The training samples: a table of shape (n_samples, n_features), whose columns
            may hold objects such as strings, arrays and lists of points, or a plain list of
            such objects. For precomputed criteria a sequence of matrices of shape
            (n_samples, n_samples), one per criterion, or a dict of them by criterion name;
            beside other criteria, a dict of columns that holds the matrices too.
        y : ignored

        Returns
        -------
        self : ParetoDepthDetector
        """
        with printed(NAME) if self.verbose else nullcontext():
            return self._fit(X, ComputedPairs)

    def _fit(self, X: Samples, pairs_of: Callable[[Criteria, Views, int | None], Pairs]) -> Self:
        """Learn the fronts from pairs of training samples that a function makes: here, or on a cluster."""
        depth = check_choice(self.depth, "depth", ("paper", "insertion", "mid"), NAME)
        check_choice(self.method, "method", METHODS, NAME)
        limits = Limits.checked(self.max_depth, self.max_dyads, self.memory_limit, NAME)
        views = self._fit_criteria(X)
        names = [criterion.name for criterion in self.criteria_]
        pairs = pairs_of(self.criteria_, self._training, self.n_jobs)
        trained = train(pairs, names, self.n_neighbors, depth, limits, self._seed, NAME)
        self.n_neighbors_, self.fronts_, self._measurement = trained.n_neighbors, trained.fronts, trained.measurement
        self.n_fronts_ = len(self.fronts_)
        self.exact_ = trained.n_dyads == pairs.n_pairs
        measurement = self._measurement
        self._nearby = Nearby(self.criteria_, self._training, measurement.n_summed, measurement.weights)
        self._calibrate(trained, views)
        with phase("advice"):
            self.advice_ = criteria_advice(self.criteria_, trained.dyads, self.n_fronts_, trained.n_dyads)
        self.advice_ += trained.advice
        for advice in self.advice_:
            warnings.warn(advice, AdviceWarning, stacklevel=3)
        return self

    def _fit_criteria(self, X: Samples) -> list[View]:
        """Fit the criteria, choose the samples that make the fronts, and return what the criteria see of all."""
        calibration = check_choice(self.calibration, "calibration", CALIBRATIONS, NAME)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        rows_of = partial(kept_rows, calibration=calibration, seed=self._seed)
        self.criteria_, views = fit_criteria(self, X, rows_of)
        self._kept = rows_of(len(views[0]))
        self._training = view_rows(self.criteria_, views, self._kept, self._kept)
        n_calibrating = len(views[0]) - (len(self._training[0]) if calibration == "split" else 0)
        threshold = check_threshold(self.threshold, NAME)
        self.alpha_ = check_alpha(self.alpha, n_calibrating, NAME) if threshold is None else None
        return views

    def _calibrate(self, trained: Trained, views: list[View]) -> None:
        """Score the training samples, each left out in turn, and those held out; set the threshold."""
        training = calibrating = trained.statistics
        held_out = np.delete(np.arange(len(views[0])), self._kept)
        if len(held_out):
            measure = partial(self._measurement.statistics, method="union")
            calibrating = joined(self._over_blocks(measure, view_rows(self.criteria_, views, held_out, self._kept)))
        self._calibration = Calibration.fit(training, calibrating)
        self._reasoning = Reasoning.fit(self._measurement, self._calibration, self.method, trained.pairs, trained.dyads)
        self.training_scores_ = np.empty(len(views[0]))
        if len(held_out):
            self.training_scores_[held_out] = -self._calibration.score(calibrating, self.method)
        self.training_scores_[self._kept] = -self._calibration.score(training, self.method)
        if self.alpha_ is None:
            self.offset_ = -float(self.threshold)  # type: ignore[arg-type]
        else:
            self.offset_ = -largest_nominal_score(self._calibration.scores[self.method], self.alpha_)
        self.training_labels_ = np.where(self.training_scores_ < self.offset_, -1, 1)

    def mean_depth(self, X: Samples) -> NDArray[np.float64]:
        """Return the paper's anomaly score v: the mean depth of each sample's dyads, larger is stranger.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples. For precomputed criteria a sequence, or a dict by criterion name,
            of matrices of shape (n_samples, n_training_samples).

        Returns
        -------
        mean_depth : ndarray of shape (n_samples,)
            From 1 to ``n_fronts_ + 1``.
        """
        return self._scores(X, "depth")

    def nearest_dyads(self, X: Samples) -> NDArray[np.float64]:
        """Return the dyads whose mean depth is the score: those of each sample with its nearest training samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        dyads : ndarray of shape (n_samples, s, n_criteria)
            Of the ``n_neighbors_[0]`` nearest in the first criterion, of those nearest in
            the second, and so on; s is the sum of `n_neighbors_`.
        """
        dyads = self._over_blocks(lambda block: nearest_dyads(block, self.n_neighbors_)[1], self._new_views(X))
        return np.concatenate(dyads)

    def score_samples(self, X: Samples) -> NDArray[np.float64]:
        """Return minus the score of each sample, with ``method="depth"`` minus its mean depth; smaller is stranger.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self._scores(X, None)

    def decision_function(self, X: Samples) -> NDArray[np.float64]:
        """Return the score of each sample less the offset, negative for anomalies.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> NDArray[np.intp]:
        """Return -1 for anomalies, samples whose score is above the threshold, and 1 for the others.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: Samples, *, method: Method | None = None) -> NDArray[np.float64]:
        """Return how often a nominal sample would be at least as strange as each of these.

        That is (1 + number of calibrating samples at least as strange) / (1 + their number). A
        nominal sample has a p-value of at most t with a probability of at most t.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.
        method : {"depth", "criteria", "union"} or None, default=None
            The score to go by, as in the parameter `method`, which None stands for.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)

        Examples
        --------
        >>> import numpy as np
        >>> from paretodepth import ParetoDepthDetector
        >>> nominal = np.random.default_rng(0).random((199, 2))
        >>> ParetoDepthDetector(method="union").fit(nominal).p_values([[0.5, 0.5], [1.6, 0.5]])
        array([0.37 , 0.005])
        """
        scores = self._scores(X, method)
        return self._calibration.p_values(scores, method or self.method)

    def select(self, X: Samples, *, fdr: float = 0.1) -> NDArray[np.bool_]:
        """Tell which samples to call anomalies so that few of those called are nominal.

        The more anomalies a batch holds, the more samples are called. Since no p-value is below
        1 / (1 + number of calibrating samples), single anomalies in a large batch need many.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.
        fdr : float, default=0.1
            The false discovery rate: the expected share of nominal samples among those called.

        Returns
        -------
        is_selected : ndarray of shape (n_samples,)
        """
        fdr = check_fdr(fdr, f"{NAME}.select")
        return discoveries(self.p_values(X), fdr)

    def explain(self, X: Samples) -> Explanation:
        """Return why each sample is strange or not: by which criteria, how much, and what it is nearest to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        explanation : Explanation

        Examples
        --------
        >>> import numpy as np
        >>> from paretodepth import ParetoDepthDetector
        >>> detector = ParetoDepthDetector().fit(np.random.default_rng(0).random((300, 2)))
        >>> detector.explain([[0.5, 0.4], [1.6, 0.5]])
        Explanation of 2 samples by depth
        0: Ordinary (p = 0.92); nearest by x0: 104, 37; by x1: 238, 199.
        1: Far from every nominal sample in x0 (p = 0.003); x1 is ordinary; nearest by x1: 40, 84.
        """
        views = self._new_views(X)
        reasons = self._over_blocks(self._reasoning.reasons, views)
        names = [criterion.name for criterion in self.criteria_]
        kept = np.arange(len(self.training_scores_))[self._kept]
        return explained(self._reasoning, reasons, names, kept, -self.offset_, self.alpha_)

    def _scores(self, X: Samples, method: Method | None) -> NDArray[np.float64]:
        """Return the scores of new samples under one of the tests, larger is stranger."""
        views = self._new_views(X)
        chosen: Method = self.method if method is None else check_choice(method, "method", METHODS, f"{NAME}.p_values")
        if self._nearby.is_worthwhile(with_sum=chosen == "union"):
            parts = self._measurement.nearby_statistics(self._nearby, views, chosen, self.n_jobs)
        else:
            parts = self._over_blocks(partial(self._measurement.statistics, method=chosen), views)
        return self._calibration.score(joined(parts), chosen)

    def _new_views(self, X: Samples) -> list[View]:
        """Return what the criteria see of new samples."""
        check_is_fitted(self)
        return view_rows(self.criteria_, view_samples(self, X), slice(None), self._kept)

    def _over_blocks(self, function: Callable[[NDArray[np.float64]], Result], views: Sequence[View]) -> list[Result]:
        """Return the function's results for blocks of dissimilarities of new samples to the training samples."""
        return map_new_blocks(function, self.criteria_, views, self._training, self.n_jobs)
