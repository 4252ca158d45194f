"""Handwritten digits in three views: recognize the digits that a detector was not fitted on.

Run with ``python examples/digits.py``. The views (multiple features data set, files mfeat-*.csv
with the digit in the last column) are looked for in the folder mfeat of the folder that the
environment variable PARETODEPTH_DATA names.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from paretodepth import Criterion, ParetoDepthDetector

CRITERIA = [
    Criterion("Fourier coefficients", "fou", "euclidean"),
    Criterion("Karhunen-Loève coefficients", "kar", "euclidean"),
    Criterion("Zernike moments", "zer", "seuclidean"),
]
N_TRAINING = 140


def load_views(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the views as a dict of columns, each holding an array a digit, and the digits."""
    tables = {
        name: np.loadtxt(folder / f"mfeat-{name}.csv", delimiter=",", skiprows=1) for name in ("fou", "kar", "zer")
    }
    return {name: table[:, :-1] for name, table in tables.items()}, tables["fou"][:, -1].astype(int)


def areas_under_the_curve(folder: Path, digit: int) -> dict[str, float]:
    """Return the area under the ROC curve for other digits than `digit`, of all views together and of each alone."""
    views, digits = load_views(folder)
    training = np.flatnonzero(digits == digit)[:N_TRAINING]
    new = np.setdiff1d(np.arange(len(digits)), training)
    choices = {"all views": CRITERIA} | {criterion.name: [criterion] for criterion in CRITERIA}
    areas = {}
    for name, criteria in choices.items():
        detector = ParetoDepthDetector(criteria).fit({view: values[training] for view, values in views.items()})
        depth = detector.mean_depth({view: values[new] for view, values in views.items()})
        areas[name] = float(roc_auc_score(digits[new] != digit, depth))
    return areas


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digit", type=int, default=3, choices=range(10))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PARETODEPTH_DATA", "data")))
    arguments = parser.parse_args()
    folder = arguments.data / "mfeat"
    if not folder.is_dir():
        sys.exit(f"There is no folder {folder}; set PARETODEPTH_DATA to the folder that holds mfeat.")
    for name, area in areas_under_the_curve(folder, arguments.digit).items():
        print(f"{name:<28} AUC {area:.3f}")


if __name__ == "__main__":
    main()
