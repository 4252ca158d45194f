"""Scores that must not change without being meant to: `python -m tests.promises.golden` writes them.

The samples come from whole numbers, not from a generator, whose numbers a new NumPy may change.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector

PATH = Path(__file__).with_name("golden_scores.json")
N_TRAINING, N_NEW = 60, 12


def samples(first, n):
    """Return columns of numbers, categories, sets and paths."""
    i = np.arange(first, first + n)
    u, v, w = ((i * factor % modulus) / modulus for factor, modulus in ((7919, 1009), (104729, 997), (611953, 83)))
    return {
        "u": u,
        "v": v * v,
        "w": np.round(w, 1),
        "color": [("red", "green", "blue", "gray")[k] for k in i * i % 7 % 4],
        "labels": [{("a", "b", "c", "d")[k % 4], ("x", "y", "z")[k % 3]} for k in i.tolist()],
        "path": [np.stack([u[k] + np.arange(5), v[k] * np.arange(5) ** 2], axis=1) for k in range(n)],
    }


CRITERIA = {
    "numbers": [Criterion("u", "u", "difference"), Criterion("v", "v", "difference")],
    "tied": [
        Criterion("w", "w", "difference"),
        Criterion("color", "color", "mismatch"),
        Criterion("u", "u", "cyclic", period=1),
    ],
    "objects": [
        Criterion("labels", "labels", "jaccard"),
        Criterion("path", "path", "hausdorff"),
        Criterion("mixed", ["color", "v"], "gower"),
        Criterion("place", ["u", "v"], "cityblock"),
        Criterion("w", "w", "difference"),
    ],
}
PARAMETERS = {
    "paper": {},
    "insertion": {"depth": "insertion", "n_neighbors": 4},
    "mid": {"depth": "mid"},
    "blend": {"method": "blend"},
    "split": {"calibration": "split", "random_state": 0},
}


def scores(n_jobs=None):
    """Return depths and scores by detector, as text that holds every bit."""
    training, new = samples(0, N_TRAINING), samples(N_TRAINING, N_NEW)
    # One that is far from all, and one that is a training sample.
    new["u"][0], new["v"][1], new["u"][2] = 3.0, 2.0, training["u"][5]
    found = {}
    for name, criteria in CRITERIA.items():
        for variant, parameters in PARAMETERS.items():
            detector = ParetoDepthDetector(criteria, n_jobs=n_jobs, **parameters).fit(training)
            found[f"{name}, {variant}"] = {
                "depth": [value.hex() for value in _depths(detector, new).tolist()],
                "score": [value.hex() for value in detector.score_samples(new).tolist()],
                "p-value": [value.hex() for value in detector.p_values(new).tolist()],
                "training": [value.hex() for value in detector.training_scores_.tolist()],
            }
    return found


def _depths(detector, new):
    """Return mean depths, or those in pairs of criteria."""
    if detector.method != "blend":
        return detector.mean_depth(new)
    model = detector.model_
    return model.new_measures(model.encode(new, caller="golden").encodings, ["pair_depth"], n_jobs=None)["pair_depth"]


def main():
    warnings.simplefilter("ignore")
    text = json.dumps(scores(int(sys.argv[1]) if len(sys.argv) > 1 else None), indent=1) + "\n"
    if len(sys.argv) > 1:
        sys.stdout.write(text)
    else:
        PATH.write_text(text)


if __name__ == "__main__":
    main()
