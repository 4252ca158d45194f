"""The detector: Pareto depth analysis as a scikit-learn outlier detector."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from paretodepth.advice import AdviceWarning, criteria_advice
from paretodepth.blocks import map_blocks, row_blocks
from paretodepth.criteria import Criterion
from paretodepth.depth import DepthKind, Depths
from paretodepth.dyads import (
    connected_n_neighbors,
    dissimilarity_block,
    nearest_dyads,
    pairwise_dyads,
    training_block,
)
from paretodepth.fitted_criteria import fit_criteria, view_samples
from paretodepth.fronts import Fronts
from paretodepth.validation import (
    check_alpha,
    check_choice,
    check_n_neighbors,
    check_threshold,
)

NAME = "ParetoDepthDetector"
Samples = ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike]


class ParetoDepthDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
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
    alpha : float, default=0.05
        The share of nominal samples that may be called anomalies. Sets the threshold from
        the leave-one-out scores of the training samples.
    threshold : float or None, default=None
        A mean depth above which a sample is an anomaly (the paper's sigma). Overrides `alpha`.
    n_jobs : int or None, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 all
        cores. Changes no result.
    verbose : int, default=0
        1 prints what `fit` is doing and how long it took.

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
    training_scores_ : ndarray of shape (n_samples,)
        Scores of the training samples on the scale of `score_samples`, leave-one-out: a
        training sample is not its own neighbor.
    training_labels_ : ndarray of shape (n_samples,)
        1 for training samples within the threshold, -1 for those beyond it, by
        `training_scores_`.
    offset_ : float
        Minus the threshold: ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
        Number of columns seen at fit; of precomputed criteria, of training samples.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    Notes
    -----
    N training samples make n = N (N - 1) / 2 dyads, all held in memory during `fit`.
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
        alpha: float = 0.05,
        threshold: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criteria = criteria
        self.n_neighbors = n_neighbors
        self.depth = depth
        self.alpha = alpha
        self.threshold = threshold
        self.n_jobs = n_jobs
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
        depth = check_choice(self.depth, "depth", ("paper", "insertion", "mid"), NAME)
        alpha, threshold = check_alpha(self.alpha, NAME), check_threshold(self.threshold, NAME)
        self.criteria_, self._training = fit_criteria(self, X)
        n_samples = len(self._training[0])
        with self._phase(f"dissimilarities of {n_samples * (n_samples - 1) // 2:,} pairs of samples"):
            dyads = pairwise_dyads(self.criteria_, self._training, self.n_jobs)
        with self._phase("number of neighbors"):
            self.n_neighbors_ = self._fitted_n_neighbors(dyads, n_samples)
        with self._phase("Pareto fronts"):
            self.fronts_ = Fronts.from_dyads(dyads, n_jobs=self.n_jobs)
            self.n_fronts_ = len(self.fronts_)
            self._depths = Depths(self.fronts_, depth)
        with self._phase("advice"):
            self.advice_ = criteria_advice(self.criteria_, dyads, self.n_fronts_)
        with self._phase("leave-one-out scores"):
            rows = row_blocks(n_samples, dyads.shape[1] * n_samples)
            blocks = map_blocks(
                lambda rows: self._mean_depth(training_block(dyads, n_samples, rows)), rows, self.n_jobs
            )
            self.training_scores_ = -np.concatenate(blocks)
        self.offset_ = conformal_offset(self.training_scores_, alpha) if threshold is None else -threshold
        self.training_labels_ = np.where(self.training_scores_ < self.offset_, -1, 1)
        for advice in self.advice_:
            warnings.warn(advice, AdviceWarning, stacklevel=2)
        return self

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
        return self._over_new_blocks(self._mean_depth, X)

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
        return self._over_new_blocks(lambda block: nearest_dyads(block, self.n_neighbors_)[1], X)

    def score_samples(self, X: Samples) -> NDArray[np.float64]:
        """Return minus the mean depth of each sample, smaller is stranger.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self.mean_depth(X)

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
        """Return -1 for anomalies, samples whose mean depth is above the threshold, and 1 for the others.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, as in `mean_depth`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _over_new_blocks(
        self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], X: Samples
    ) -> NDArray[np.float64]:
        """Return the function's results for blocks of dissimilarities of new samples, put together."""
        check_is_fitted(self)
        views = view_samples(self, X)

        def of_rows(rows: slice) -> NDArray[np.float64]:
            new = [view[rows] for view in views]
            return function(dissimilarity_block(self.criteria_, new, self._training, rows.start, self.n_jobs))

        blocks = row_blocks(len(views[0]), len(views) * len(self._training[0]))
        return np.concatenate(map_blocks(of_rows, blocks, self.n_jobs))

    def _mean_depth(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean depths of the rows of a block of dissimilarities to the training samples."""
        _, dyads = nearest_dyads(block, self.n_neighbors_)
        n_rows, n_dyads, n_criteria = dyads.shape
        depths = self._depths.of(dyads.reshape(-1, n_criteria)).reshape(n_rows, n_dyads)
        mean: NDArray[np.float64] = depths.mean(axis=1)
        return mean

    def _fitted_n_neighbors(self, dyads: NDArray[np.float64], n_samples: int) -> NDArray[np.intp]:
        """Return the number of neighbors in each criterion."""
        if isinstance(self.n_neighbors, str):
            check_choice(self.n_neighbors, "n_neighbors", ("connected",), NAME)
            return connected_n_neighbors(lambda rows: training_block(dyads, n_samples, rows), n_samples, dyads.shape[1])
        return check_n_neighbors(self.n_neighbors, [c.name for c in self.criteria_], n_samples, NAME)

    @contextmanager
    def _phase(self, title: str) -> Iterator[None]:
        """Tell what is being done and how long it took, if asked to."""
        if self.verbose:
            print(f"[{NAME}] {title} …", end="", flush=True)  # noqa: T201
        start = time.perf_counter()
        yield
        if self.verbose:
            print(f" {time.perf_counter() - start:.1f} s")  # noqa: T201


def conformal_offset(scores: NDArray[np.float64], alpha: float) -> float:
    """Return the score below which a nominal sample falls with a probability of at most `alpha`.

    A new sample is an anomaly if p = (1 + number of training scores not above its own) /
    (n_samples + 1) is at most `alpha`, that is, if its score is below the returned one.
    """
    # The tiny addition undoes the rounding of, say, 0.05 * 300.
    n_below = int(alpha * (len(scores) + 1) + 1e-9) - 1
    return float(np.sort(scores)[max(n_below, 0)])
