"""The rival methods as a scikit-learn outlier detector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from paretodepth._checks import check_choice, listed
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.criteria.samples import note_features
from paretodepth.detector import Samples
from paretodepth.pairs.nearest import check_n_neighbors, map_new_blocks, nearest_by_sum
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from paretodepth.scoring.calibration import check_alpha, largest_nominal_score
from studies.baselines.scores import RIVALS, Neighbors, training_neighbors

CALLER = "WeightedDetector"


class WeightedDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest-neighbor anomaly detection on a weighted sum of the criteria.

    What one does without Pareto depths, to compare: the criteria are added up with weights
    that somebody has to choose, and a method for one dissimilarity does the rest.

    Parameters
    ----------
    criteria : list of Criterion or None, default=None
        None: one criterion per column, the absolute difference.
    method : {"k-NN", "k-NN sum", "k-LPE", "LOF"}, default="k-NN sum"
        The score: see :func:`knn`, :func:`knn_sum`, :func:`klpe` and :func:`lof`.
    weights : "balanced" or sequence of float, default="balanced"
        One weight per criterion, not negative. ``"balanced"``: one over the criterion's median
        dissimilarity of two training samples.
    n_neighbors : "connected" or int, default="connected"
        k. ``"connected"``: the smallest with a connected symmetric nearest-neighbor graph.
    alpha : float or None, default=None
        The false-alarm rate, as in
        :class:`ParetoDepthDetector`.
    n_jobs : int or None, default=None
        Threads, as in :class:`ParetoDepthDetector`.

    Attributes
    ----------
    criteria_ : list of FittedCriterion
    weights_ : ndarray of shape (n_criteria,)
    n_neighbors_ : int
    training_scores_ : ndarray of shape (n_samples,)
        Scores of the training samples, leave-one-out, on the scale of `score_samples`.
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If the training samples had column names.

    Notes
    -----
    `fit` holds the sums of all pairs of training samples, N x N numbers: this is for
    comparisons, not for large sets.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.baselines import WeightedDetector
    >>> nominal = np.random.default_rng(0).random((200, 2))
    >>> WeightedDetector(method="LOF").fit(nominal).predict([[0.5, 0.5], [1.6, 0.5]])
    array([ 1, -1])
    """

    def __init__(
        self,
        criteria: Sequence[Criterion] | None = None,
        *,
        method: Literal["k-NN", "k-NN sum", "k-LPE", "LOF"] = "k-NN sum",
        weights: Literal["balanced"] | ArrayLike = "balanced",
        n_neighbors: Literal["connected"] | int = "connected",
        alpha: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criteria = criteria
        self.method = method
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_jobs = n_jobs

    def fit(self, X: Samples, y: object = None) -> Self:
        """Find the neighbors of the training samples, which should be nominal.

        Parameters
        ----------
        X : array-like, data frame, dict of columns or list of objects
            The training samples, as for :class:`ParetoDepthDetector`.
        y : ignored

        Returns
        -------
        self : WeightedDetector
        """
        method = RIVALS[check_choice(self.method, "method", list(RIVALS), CALLER)]
        self._criteria, encoded = FittedCriteria.fit(self.criteria, X, caller=CALLER)
        self._training = encoded.encodings
        note_features(self, self._criteria.layout)
        self.criteria_ = self._criteria.fitted
        pairs = HeldPairs.of(ComputedPairs(self.criteria_, self._training, self.n_jobs))
        self.weights_ = (
            _balanced_weights(pairs.dyads)
            if _is(self.weights, "balanced")
            else check_weights(self.weights, self._criteria.names)
        )
        n_samples = pairs.n_samples
        alpha = check_alpha(self.alpha, n_samples, CALLER)
        k = None
        if not _is(self.n_neighbors, "connected"):
            k = int(check_n_neighbors(self.n_neighbors, ["the weighted sum"], n_samples, CALLER)[0])
        block = pairs.block(slice(0, n_samples))
        neighbors, self.n_neighbors_ = training_neighbors(block, self.weights_, k)
        self._neighbors = neighbors.first(self.n_neighbors_)
        scores = method(self._neighbors, self._neighbors)
        self.training_scores_, self.offset_ = -scores, -largest_nominal_score(np.sort(scores), alpha)
        return self

    def score_samples(self, X: Samples) -> NDArray[np.float64]:
        """Return minus the method's score of each sample, smaller is more unusual.

        Parameters
        ----------
        X : array-like, data frame, dict of columns or list of objects
            New samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        views = self._criteria.encode(X, caller=CALLER).encodings

        def scores(block: NDArray[np.float64]) -> NDArray[np.float64]:
            nearest = Neighbors(*nearest_by_sum(block, self.weights_, self.n_neighbors_))
            return RIVALS[self.method](self._neighbors, nearest)

        n_values = len(views) * len(self._training[0])
        return -np.concatenate(map_new_blocks(scores, self.criteria_, views, self._training, n_values, self.n_jobs))

    def decision_function(self, X: Samples) -> NDArray[np.float64]:
        """Return the score of each sample less the offset, negative for anomalies. `X` is as in `score_samples`."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> NDArray[np.intp]:
        """Return -1 for anomalies and 1 for the others. `X` is as in `score_samples`."""
        return np.where(self.decision_function(X) < 0, -1, 1)


def _balanced_weights(dyads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one over the median dyad of each criterion; 1 where that is zero."""
    medians = np.median(dyads, axis=0)
    return 1.0 / np.where(medians > 0, medians, 1.0)


def _is(parameter: object, word: str) -> bool:
    """Tell whether a parameter is this word rather than numbers."""
    return isinstance(parameter, str) and parameter == word


def check_weights(weights: object, names: Sequence[str]) -> NDArray[np.float64]:
    """Return one non-negative, finite weight a criterion, not all zero."""
    array = np.asarray(weights)
    if (
        array.shape != (len(names),)
        or array.dtype.kind not in "fiu"
        or not np.all((array >= 0) & (array < np.inf))
        or not array.any()
    ):
        raise ValueError(
            "The 'weights' parameter of WeightedDetector must be 'balanced' or one number per criterion, "
            f"{listed(names)}, none negative and not all zero. Got {weights!r} instead."
        )
    return array.astype(np.float64)
