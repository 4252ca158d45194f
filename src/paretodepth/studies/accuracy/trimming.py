"""Whether leaving out the strangest samples and fitting again helps where anomalies are among the training samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from paretodepth.datasets.download import data_folder
from paretodepth.detector import ParetoDepthDetector
from paretodepth.scoring.methods import METHODS
from paretodepth.studies.accuracy.regimes import column_groups, table_name
from paretodepth.studies.runs import Experiment, Settings, Values
from paretodepth.studies.tables import Mean, Table

SIMULATED = "simulated"
"""The table if there are no files of others."""
SHIFT = 5.0
MAX_NOMINAL = 400
"""Nominal samples that are taken of a table at most."""
TRIMS = {
    "nothing left out": (),
    "5 %": (0.05,),
    "10 %": (0.1,),
    "20 %": (0.2,),
    "5 %, twice": (0.05, 0.05),
    "10 %, twice": (0.1, 0.1),
    "20 %, twice": (0.2, 0.2),
}
"""Shares of the samples that are left out, one after each fit but the last."""
NONE = "nothing left out"
FOREST, KNN = "IsolationForest", "k-NN distance"
N_NEIGHBORS = 5
FIGURES = ("area", "average precision")
FEWEST_ERRORS = 2.0
"""Standard errors that a gain must be above zero to count."""


class Mixture(NamedTuple):
    """Samples of one file: mostly nominal, some anomalies.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Columns that vary, of mean 0 and variance 1.
    is_anomaly : ndarray of shape (n_samples,)
    """

    X: NDArray[np.float64]
    is_anomaly: NDArray[np.bool_]


def mixture(name: str, contamination: float, seed: int) -> Mixture:
    """Draw samples of a labelled table, so that a share of them are anomalies."""
    rng = np.random.default_rng(seed)
    X, labels = _simulated(rng) if name == SIMULATED else _table(_paths()[name])
    nominal, anomalies = (rng.permutation(np.flatnonzero(labels == label)) for label in (0, 1))
    odds = contamination / (1 - contamination)
    n_nominal = min(len(nominal), MAX_NOMINAL, round(min(len(anomalies), round(odds * MAX_NOMINAL)) / odds))
    n_anomalies = max(1, round(odds * n_nominal))
    rows = np.concatenate([nominal[:n_nominal], anomalies[:n_anomalies]])
    varying = X[rows][:, X[rows].std(axis=0) > 0]
    return Mixture(StandardScaler().fit_transform(varying), np.arange(len(rows)) >= n_nominal)


def _table(path: Path) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the samples of a file and their labels, 1 for anomalies."""
    with np.load(path) as file:
        return file["X"].astype(float), file["y"].astype(np.intp)


def _simulated(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw normal samples, and some that are moved in one of three columns."""
    X, labels = rng.standard_normal((MAX_NOMINAL, 3)), np.arange(MAX_NOMINAL) >= 0.9 * MAX_NOMINAL
    X[labels, rng.integers(3, size=labels.sum())] += SHIFT
    return X, labels.astype(np.intp)


def _paths() -> dict[str, Path]:
    """Return the files of tables by name."""
    return {table_name(path): path for path in sorted((data_folder() / "adbench").glob("*.npz"))}


def trimmed_scores(
    detector: ParetoDepthDetector, X: NDArray[np.float64], shares: Sequence[float]
) -> NDArray[np.float64]:
    """Return the scores of samples, larger is stranger, by a fit to those that the fits before did not find strangest.

    Samples that the last fit is made of are left out in turn, the others are scored as new ones.
    """
    kept = np.arange(len(X))
    scores = -detector.fit(X).training_scores_
    for share in shares:
        # Of all samples, so that twice is no more than once, with a second look at whom to leave out.
        kept = np.sort(scores.argsort(kind="stable")[: len(X) - round(share * len(X))])
        others = np.delete(np.arange(len(X)), kept)
        detector.fit(X[kept])
        scores = np.empty(len(X))
        scores[kept] = -detector.training_scores_
        scores[others] = -detector.score_samples(X[others])
    return scores


def run(seed: int, settings: Settings) -> Values:
    """Return area and average precision by table and contamination, of every trim and of the rivals."""
    values: dict[str, dict[str, list[float]]] = {}
    for name in settings["tables"]:
        for contamination in settings["contaminations"]:
            drawn = mixture(name, contamination, seed)
            criteria = column_groups(drawn.X)
            found = {
                trim: trimmed_scores(ParetoDepthDetector(criteria, method=settings["method"]), drawn.X, shares)
                for trim, shares in TRIMS.items()
            }
            found[FOREST] = -IsolationForest(random_state=seed).fit(drawn.X).score_samples(drawn.X)
            distances, _ = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(drawn.X).kneighbors()
            found[KNN] = distances[:, -1]
            values[f"{name}, {contamination:.0%}"] = {
                method: [
                    float(roc_auc_score(drawn.is_anomaly, score)),
                    float(average_precision_score(drawn.is_anomaly, score)),
                ]
                for method, score in found.items()
            }
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the means over all tables with the gain over no trimming, and the means of each table."""
    names, methods = list(runs[0]), [*TRIMS, FOREST, KNN]
    # By table, method and figure: the mean of the runs.
    means = np.array([[[run[name][method] for method in methods] for name in names] for run in runs]).mean(axis=0)
    rows, rules = [], []
    for share in settings["contaminations"]:
        part = means[[name.endswith(f", {share:.0%}") for name in names]]
        gains = part - part[:, [methods.index(NONE)]]
        for i, method in enumerate(methods):
            cells = [f"{Mean.of(part[:, i, f]).value:.3f}, {_signed(Mean.of(gains[:, i, f]))}" for f in range(2)]
            n_better = [f"{np.count_nonzero(gains[:, i, f] > 0)}" for f in range(2)]
            rows.append([f"{share:.0%}", method, *cells, " and ".join(n_better) + f" of {len(part)}"])
            rules.append((method, all(_helps(Mean.of(gains[:, i, f])) for f in range(2))))
    helping = [trim for trim in TRIMS if all(helps for method, helps in rules if method == trim)]
    outcome = f"By the rule these help: {', '.join(helping)}." if helping else "By the rule none helps."
    caption = (
        f"Mean over {len(means) // len(settings['contaminations'])} tables, each of {len(runs)} runs; then the "
        f"gain over no trimming ± standard error over the tables, and in how many tables there is one. {outcome}"
    )
    columns = ["anomalies", "left out, or rival", *(f"{figure}, gain" for figure in FIGURES), "better in"]
    every = [
        [name, *(f"{means[row, i, 0]:.3f}, {means[row, i, 1]:.3f}" for i in range(len(methods)))]
        for row, name in enumerate(names)
    ]
    each = "Area and average precision, means of the runs."
    return [Table("gains", caption, columns, rows), Table("tables", each, ["table, anomalies", *methods], every)]


def _signed(mean: Mean) -> str:
    return f"{mean.value:+.3f} ± {mean.error:.3f}"


def _helps(gain: Mean) -> bool:
    """Tell whether a gain is above zero beyond noise."""
    return gain.value > FEWEST_ERRORS * gain.error > 0


EXPERIMENT = Experiment(
    name="trimming",
    title="One file: leaving out the strangest and fitting again",
    summary=(
        "Nominal samples and anomalies of a table of ADBench together, at most 400 nominal ones, unlabelled; each "
        "sample is scored leave-one-out. Then the strangest share of all samples is left out, the rest is fitted "
        "again, and those left out are scored as new samples; twice: the new scores tell once more whom to leave out. "
        "The columns are grouped into at most four criteria as above; tables are found through `PARETODEPTH_DATA`. "
        "Rivals see the same standardised columns: "
        "IsolationForest with its defaults, and the distance to the fifth nearest. The rule: `detect` of one file "
        "trims only if the gain in area and the gain in average precision are both above zero by two standard errors "
        "over the tables, at 5 % and at 10 % of anomalies. Nothing had passed the rule when `detect` was "
        "written, so it fits one file once; the caption says whether a trim does in these runs."
    ),
    run=run,
    tables=tables,
    # The last method is the command line's.
    settings=lambda full: {
        "tables": list(_paths()) or [SIMULATED],
        "contaminations": [0.05, 0.1],
        "method": list(METHODS)[-1],
    },
    n_runs=3,
    n_full_runs=10,
)
