"""How well methods tell anomalies from nominal samples, in regimes where anomalies are of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from paretodepth.criteria.fitted import FittedCriteria
from paretodepth.detector import ParetoDepthDetector
from paretodepth.fronts.depth import Depths
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from paretodepth.scoring.measures import usual_sizes
from paretodepth.scoring.methods import MethodName
from paretodepth.studies.accuracy.regimes import Task, regimes
from paretodepth.studies.baselines import areas_under_curves, weight_grid, weighted_scores
from paretodepth.studies.runs import Experiment, Settings, Values
from paretodepth.studies.tables import Mean, Table

N_WEIGHT_VALUES = {1: 2, 2: 11, 3: 5, 4: 4, 5: 3, 6: 2}
"""Values of each criterion's weight in the grid, by the number of criteria."""
PDA, UNION = "PDA", "union"
BEST = "k-NN sum, best weight"
WITH_LABELS = ("k-NN sum, median weight", BEST)
"""Methods that nobody can use without labels, as these choose the weight."""
CLOSE = 0.015
Scores = dict[str, NDArray[np.float64]]


def scores(task: Task, seed: int) -> Scores:
    """Return each method's scores of the test samples, larger is stranger; of the weighted sums one row a weight."""
    detector = ParetoDepthDetector(task.criteria).fit(task.X_train)
    # One fit has what all methods need.
    views = detector.model_.seen(task.X_test, caller="scores").views
    methods: tuple[MethodName, MethodName] = ("criteria", "union")
    criteria, union = (detector.model_.new_scores(views, n_jobs=1, method=method) for method in methods)
    found = {PDA: detector.mean_depth(task.X_test)}
    dyads = detector.nearest_dyads(task.X_test)
    for depth in ("insertion", "mid"):
        depths = Depths(detector.fronts_, depth).of(dyads.reshape(-1, dyads.shape[2]))
        found[f"{PDA}, {depth} depth"] = depths.reshape(dyads.shape[:2]).mean(axis=1)
    return found | {"criteria": criteria, UNION: union} | _weighted(task) | _of_columns(task, seed)


def _weighted(task: Task) -> Scores:
    """Return k-NN sum with equal weights and over a grid of weights, each criterion in units of its median dyad."""
    criteria, seen = FittedCriteria.fit(task.criteria, task.X_train, caller="scores")
    training = seen.views
    pairs = HeldPairs.of(ComputedPairs(criteria.fitted, training, 1))
    usual = usual_sizes(pairs.dyads)
    among = pairs.block(slice(0, len(task.X_train))) / usual[:, None, None]
    views = criteria.views(task.X_test, caller="scores")
    new = dissimilarity_block(criteria.fitted, views, training, 0, 1) / usual[:, None, None]
    n_criteria = len(task.criteria)
    equal = weighted_scores(among, new, np.ones((1, n_criteria)))["k-NN sum"][0]
    grid = weighted_scores(among, new, weight_grid(n_criteria, N_WEIGHT_VALUES[n_criteria]))["k-NN sum"]
    return {"k-NN sum, equal weights": equal} | {name: grid for name in WITH_LABELS}


def _of_columns(task: Task, seed: int) -> Scores:
    """Return the scores of methods that know no criteria."""
    train, test = task.columns_train, task.columns_test
    lof = LocalOutlierFactor(novelty=True).fit(train)
    forest = IsolationForest(random_state=seed).fit(train)
    found = {"LOF": -lof.score_samples(test), "IsolationForest": -forest.score_samples(test)}
    if find_spec("pyod") is not None:
        for name in ("ECOD", "KNN"):
            detector = getattr(import_module(f"pyod.models.{name.lower()}"), name)().fit(train)
            found[f"PyOD {name}"] = detector.decision_function(test)
    return found


def run(seed: int, settings: Settings) -> Values:
    """Return each method's area under the ROC curve in each regime."""
    draws = regimes()
    values = {}
    for regime in settings["regimes"]:
        task = draws[regime](seed)
        found = scores(task, seed)
        areas = {name: areas_under_curves(task.is_anomaly, np.atleast_2d(score)) for name, score in found.items()}
        values[regime] = {name: float(np.median(area)) for name, area in areas.items()}
        values[regime][BEST] = float(areas[BEST].max())
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the summary over all regimes, and the means of all."""
    names = list(runs[0][settings["regimes"][0]])
    areas = np.array([[[run[regime][name] for name in names] for regime in settings["regimes"]] for run in runs])
    means = areas.mean(axis=0)
    label_free = np.array([name not in WITH_LABELS for name in names])
    losses = means[:, label_free].max(axis=1)[:, None] - means
    ranks = rankdata(-means, axis=1).mean(axis=0)
    free_ranks = np.full(len(names), np.nan)
    free_ranks[label_free] = rankdata(-means[:, label_free], axis=1).mean(axis=0)
    summary = [
        [
            name,
            f"{means[:, i].mean():.4f}",
            f"{ranks[i]:.2f}",
            f"{free_ranks[i]:.2f}" if label_free[i] else "needs labels",
            f"{losses[:, i].max():.3f} ({settings['regimes'][int(losses[:, i].argmax())]})",
            f"{np.count_nonzero(losses[:, i] <= CLOSE)} of {len(means)}",
        ]
        for i, name in enumerate(names)
    ]
    columns = ["method", "mean area", "mean rank", "among label-free", "largest loss", f"within {CLOSE}"]
    caption = (
        f"Over {len(means)} regimes, each the mean of {len(runs)} runs. Rank 1 is the best. Losses "
        "are to the best label-free method of a regime. The median and the best "
        "weight are those of each run's areas, which only labels tell."
    )
    rows = [
        [regime, *(str(Mean.of(areas[:, row, i])) for i in range(len(names)))]
        for row, regime in enumerate(settings["regimes"])
    ]
    every = "Area under the ROC curve, mean ± standard error. All methods see the same samples."
    return [Table("summary", caption, columns, summary), Table("areas", every, ["regime", *names], rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw each method's loss to the best label-free one in each regime."""
    names = [name for name in runs[0][settings["regimes"][0]] if name not in WITH_LABELS]
    means = np.mean([[[run[regime][name] for name in names] for regime in settings["regimes"]] for run in runs], axis=0)
    losses = means.max(axis=1)[:, None] - means
    order = losses.mean(axis=0).argsort()
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    ax.boxplot(losses[:, order], orientation="horizontal", whis=(0, 100))
    ax.axvline(CLOSE, color="0.6", linestyle=":", label=f"{CLOSE}")
    ax.set_yticks(range(1, len(names) + 1), [names[i] for i in order])
    ax.invert_yaxis()
    ax.set(xlabel="loss of area to the best label-free method", title=f"{len(losses)} regimes, {len(runs)} runs each")
    ax.legend()
    return {"losses": figure}


EXPERIMENT = Experiment(
    name="accuracy",
    title="Areas under the ROC curve in many regimes",
    summary=(
        "Trained on nominal samples only. Cube: the paper's simulation, anomalies outside one face. Joint band: "
        "nominal samples near the diagonal, anomalies with the same marginals and independent coordinates. Categories: "
        "six groups of categorical columns, one of them disturbed. Pedestrians: the simulated scene. Digits: views of "
        "handwritten digits (UCI Multiple Features), one or three digits nominal. The others are tables of ADBench, "
        "at most 400 training samples, their columns grouped into at most four criteria by average linkage of "
        "1 − |correlation|. Digits and tables are found through `PARETODEPTH_DATA`. k-NN sum takes each criterion in "
        "units of its median nominal dyad; LOF, IsolationForest and PyOD's methods, with their own defaults, take "
        "standardised columns."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"regimes": list(regimes())},
    n_runs=50,
    n_full_runs=50,
)
