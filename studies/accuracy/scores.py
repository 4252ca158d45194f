"""Every method's scores of the test samples of a task, larger is more unusual."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.detector import ParetoDepthDetector
from paretodepth.fronts.depth_index import Depths
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from paretodepth.scoring.measures import typical_sizes
from studies.accuracy.regimes import Task
from studies.baselines import weight_grid, weighted_scores

N_WEIGHT_VALUES = {1: 2, 2: 11, 3: 5, 4: 4, 5: 3, 6: 2}
"""Values of each criterion's weight in the grid, by the number of criteria."""
PDA, CRITERIA, BLEND = "PDA", "criteria", "blend"
EQUAL = "k-NN sum, equal weights"
PYOD = ("KNN", "ECOD", "GMM", "INNE", "OCSVM")
"""Of PyOD, the methods' class names; their modules have them in small letters."""
Scores = dict[str, NDArray[np.float64]]


def installed_pyod() -> list[str]:
    """Return the methods of PyOD; none where it is not installed."""
    return list(PYOD) if find_spec("pyod") is not None else []


def label_free_scores(task: Task, seed: int, pyod: list[str]) -> Scores:
    """Return the scores of every method that needs no labels, among them some of PyOD."""
    detector = ParetoDepthDetector(task.criteria).fit(task.X_train)
    model = detector.model_
    encodings = model.encode(task.X_test, caller="label_free_scores").encodings
    # What a fit by depth measures for explanations: the surprise of each criterion alone.
    sums = model.new_measures(encodings, ["neighbor_sums"], n_jobs=1)
    blend = ParetoDepthDetector(task.criteria, method="blend").fit(task.X_train)
    found = {
        BLEND: -blend.score_samples(task.X_test),
        CRITERIA: model.calibration.alone_surprise(sums).max(axis=1),
        PDA: detector.mean_depth(task.X_test),
    }
    dyads = detector.nearest_dyads(task.X_test)
    for depth in ("insertion", "mid"):
        depths = Depths(detector.fronts_, depth).of(dyads.reshape(-1, dyads.shape[2]))
        found[f"{PDA}, {depth} depth"] = depths.reshape(dyads.shape[:2]).mean(axis=1)
    equal = weighted_sums(task, np.ones((1, len(task.criteria))))
    return found | {EQUAL: equal[0]} | _scores_of_columns(task, seed, pyod)


def grid_of_weights(task: Task) -> NDArray[np.float64]:
    """Return weights of the criteria, a row each, from which only labels can choose."""
    n_criteria = len(task.criteria)
    return weight_grid(n_criteria, N_WEIGHT_VALUES[n_criteria])


def weighted_sums(task: Task, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of k-NN sum, a row a weight, each criterion in units of its median dyad."""
    criteria, encoded = FittedCriteria.fit(task.criteria, task.X_train, caller="weighted_sums")
    pairs = HeldPairs.of(ComputedPairs(criteria.fitted, encoded.encodings, 1))
    typical = typical_sizes(pairs.dyads)[:, None, None]
    among = pairs.block(slice(0, pairs.n_samples)) / typical
    views = criteria.encode(task.X_test, caller="weighted_sums").encodings
    new = dissimilarity_block(criteria.fitted, views, encoded.encodings, 0, 1) / typical
    return weighted_scores(among, new, weights)["k-NN sum"]


def _scores_of_columns(task: Task, seed: int, pyod: list[str]) -> Scores:
    """Return the scores of methods that know no criteria."""
    train, test = task.columns_train, task.columns_test
    lof = LocalOutlierFactor(novelty=True).fit(train)
    forest = IsolationForest(random_state=seed).fit(train)
    found = {"LOF": -lof.score_samples(test), "IsolationForest": -forest.score_samples(test)}
    for name in pyod:
        detector = getattr(import_module(f"pyod.models.{name.lower()}"), name)()
        if "random_state" in detector.get_params():
            detector.set_params(random_state=seed)
        found[f"PyOD {name}"] = detector.fit(train).decision_function(test)
    return found
