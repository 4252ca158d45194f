"""Demo: find anomalous pedestrians in simulated data, plot why, and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from paretodepth._blocks import step
from paretodepth.criteria.criterion import Criterion
from paretodepth.datasets import Pedestrians, make_pedestrians
from paretodepth.datasets.pedestrians import SPEED_EDGES
from paretodepth.detector import ParetoDepthDetector
from paretodepth.plots import plot_fronts, plot_new_dyads
from paretodepth.reports.detect import find
from paretodepth.reports.findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOMINAL_STYLE = {"color": "tab:blue", "marker": "o"}
ANOMALY_STYLE = {"color": "tab:red", "marker": "^"}


class DemoResult(NamedTuple):
    """What each pedestrian is in truth, scores, decisions (-1: flagged), areas under the ROC curve, and the files."""

    truth: list[str]
    mean_depth: NDArray[np.float64]
    labels: NDArray[np.intp]
    aucs: dict[str, float]
    picture: Path
    page: Path


def run_demo(out: Path, seed: int) -> DemoResult:
    """Fit on nominal pedestrians, score others, and write a picture and a report to the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    # As the paper compares them.
    criteria = [
        Criterion("speed", "track", "speed", edges=SPEED_EDGES.tolist()),
        Criterion("shape", "track", "shape"),
    ]
    with step("Simulating 400 nominal pedestrians, and 96 nominal and 24 anomalous ones to be scored"):
        training = make_pedestrians(400, random_state=seed)
        pedestrians = make_pedestrians(96, 24, random_state=seed + 1)
        training_table, table = _table(training), _table(pedestrians)
    with step(
        "Sorting the 79,800 dyads of the nominal ones into fronts, under speed and shape (compiles on first use)"
    ):
        found = find(ParetoDepthDetector(criteria, n_jobs=-1), training_table, table)
    with step("Comparing with each criterion alone"):
        scores = {"speed and shape": found.scores} | {
            f"{criterion.name} alone": _alone(criterion, training_table, table) for criterion in criteria
        }
        aucs = {name: float(roc_auc_score(pedestrians.is_anomaly, score)) for name, score in scores.items()}
    with step("Drawing, and writing the report"):
        picture, page = out / "pedestrians.png", out / "report.html"
        _draw(found, training, pedestrians).savefig(picture, dpi=110)
        found.report(page, title="Anomalous pedestrians on a square")
    return DemoResult(
        table.column("in truth").to_pylist(), found.scores, np.where(found.is_anomaly, -1, 1), aucs, picture, page
    )


def _table(pedestrians: Pedestrians) -> pa.Table:
    """Return trajectories as a table, with what each is in truth."""
    words = {"nominal": "nominal", "both": "anomalous in speed and shape"}
    truth = [words.get(kind, f"anomalous in {kind}") for kind in pedestrians.kinds]
    return pa.table({"in truth": truth, "track": [track.tolist() for track in pedestrians.trajectories]})


def _alone(criterion: Criterion, training: pa.Table, samples: pa.Table) -> NDArray[np.float64]:
    """Return the mean depths under one criterion."""
    return ParetoDepthDetector([criterion]).fit(training.select(["track"])).mean_depth(samples.select(["track"]))


def _draw(found: Findings, training: Pedestrians, pedestrians: Pedestrians) -> Figure:
    """Return a figure in the manner of the paper's Figure 1: samples, and two samples' dyads over the fronts."""
    detector, mean_depth = found.detector, found.scores
    is_nominal = ~pedestrians.is_anomaly
    typical = int(np.argsort(np.where(is_nominal, mean_depth, np.inf))[is_nominal.sum() // 2])
    anomalous = int(np.argmax(mean_depth))
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    scene, shallow, deep = figure.subplots(1, 3)
    for trajectory in training.trajectories[:150]:
        scene.plot(*trajectory[:, :2].T, color="0.8", linewidth=0.6)
    for sample, style in ((typical, NOMINAL_STYLE), (anomalous, ANOMALY_STYLE)):
        scene.plot(*pedestrians.trajectories[sample][:, :2].T, markevery=9, markersize=5, linewidth=1.2, **style)
    scene.set(title="Pedestrians, a marker a second", xlabel="metres", ylabel="metres", aspect="equal")
    deepest = int(mean_depth[anomalous])
    for ax, sample, name, style in (
        (shallow, typical, "nominal", NOMINAL_STYLE),
        (deep, anomalous, "anomalous", ANOMALY_STYLE),
    ):
        plot_fronts(detector.fronts_, n_lines=12, last=deepest, ax=ax)
        plot_new_dyads(found.nearest_dyads(np.array([sample]))[0], ax=ax, label=f"dyads of the {name} one", **style)
        _label_dyads(ax, f"Mean depth {mean_depth[sample]:.0f} of {detector.n_fronts_} fronts")
    return figure


def _label_dyads(ax: Axes, title: str) -> None:
    """Finish a panel of dyads."""
    ax.set(title=title, xlabel="dissimilarity in speed", ylabel="dissimilarity in shape", xscale="log", yscale="log")
    ax.legend(loc="lower left", fontsize=8)
