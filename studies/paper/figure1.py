"""Figure 1 of the paper: forty samples, two test samples, and their dyads over the first twenty fronts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from paretodepth.detector import ParetoDepthDetector
from paretodepth.plots import plot_fronts, plot_new_dyads
from studies.runs import Experiment, Settings, Values
from studies.tables import Table

TEST_SAMPLES = {"nominal": ([0.2, 0.1], "o"), "anomalous": ([2.6, 1.6], "^")}


def run(seed: int, settings: Settings) -> Values:
    """Draw the training samples and score the two test samples."""
    samples = np.random.default_rng(seed).standard_normal((settings["n_samples"], 2))
    detector = ParetoDepthDetector().fit(samples)
    mean_depths = detector.mean_depth([sample for sample, _ in TEST_SAMPLES.values()])
    return {"samples": samples.tolist(), "mean_depths": mean_depths.tolist(), "n_fronts": detector.n_fronts_}


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the two mean depths."""
    rows = [[name, f"{depth:.1f}"] for name, depth in zip(TEST_SAMPLES, runs[0]["mean_depths"], strict=True)]
    caption = f"Mean depth of the two test samples; there are {runs[0]['n_fronts']} fronts."
    return [Table("mean_depths", caption, ["test sample", "mean depth"], rows)]


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw samples on the left, and on the right the dyads of each test sample over the fronts."""
    samples = np.array(runs[0]["samples"])
    detector = ParetoDepthDetector().fit(samples)
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    left, *others = figure.subplots(1, 3)
    left.scatter(*samples.T, marker="x", color="tab:blue", label="training samples")
    for ax, (name, (sample, marker)), depth in zip(others, TEST_SAMPLES.items(), runs[0]["mean_depths"], strict=True):
        left.scatter(*sample, marker=marker, s=60, color="tab:red", edgecolors="black", label=f"{name} test sample")
        plot_fronts(detector.fronts_, n_lines=20, last=20, ax=ax)
        dyads = detector.nearest_dyads([sample])[0]
        plot_new_dyads(dyads, ax=ax, color="tab:red", marker=marker, label=f"dyads of the {name} one")
        ax.set(title=f"Mean depth {depth:.1f}", xlabel="|Δx|", ylabel="|Δy|")
        ax.legend(fontsize=8)
    left.set(title="Samples", xlabel="x", ylabel="y")
    left.legend(fontsize=8)
    return {"fronts": figure}


EXPERIMENT = Experiment(
    name="figure1",
    title="Figure 1: dyads of two test samples over the fronts",
    summary=(
        "Forty training samples, here standard normal in the plane (the paper does not state its distribution), "
        "one test sample among them and one apart; the criteria are |Δx| and |Δy|. The dyads of the nominal test "
        "sample lie on shallow fronts, those of the anomalous one on deep fronts."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=lambda full: {"n_samples": 40},
    n_runs=1,
    n_full_runs=1,
)
