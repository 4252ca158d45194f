"""Samples for every metric: a dict of columns for training, one of new samples, parameters and a naive twin."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tests.naive import metrics as naive
from tests.naive.metrics import TWINS

WORDS = ["red", "apple", "green", "pear", "ripe", "box", "of", "late", "fresh", ""]


class Draw(NamedTuple):
    metric: str
    training: dict[str, Any]
    new: dict[str, Any]
    params: dict[str, Any]
    twin: Any


def numbers(rng, n):
    return {name: rng.random(n) + 0.1 for name in ("u", "v", "w")}


def flags(rng, n):
    return {"always": np.ones(n, bool), "never": np.zeros(n, bool)} | {f"f{i}": rng.random(n) < 0.5 for i in range(5)}


def categories(rng, n):
    # New samples are drawn with a larger n, so that they hold categories that training has not.
    return {
        "color": [f"c{i}" for i in rng.integers(3 + n // 10, size=n)],
        "size": rng.integers(5, size=n),
        "flag": rng.random(n) < 0.5,
    }


def mixed(rng, n):
    return categories(rng, n) | {"amount": rng.normal(size=n), "constant": np.ones(n)}


def amounts(rng, n):
    """Amounts with refunds and nothing at all, beside a constant, codes and equal amounts."""
    paid = rng.lognormal(3, 2, n) * np.where(rng.random(n) < 0.1, -1, 1)
    paid[rng.random(n) < 0.2] = 0
    return {"paid": paid, "fixed": np.full(n, 7.0), "code": rng.integers(4, size=n), "none": np.zeros(n)}


def texts(rng, n):
    return {"text": [" ".join(rng.choice(WORDS, rng.integers(4))) for _ in range(n)]}


def series(rng, n):
    rows = [rng.normal(size=rng.integers(1, 9)) for _ in range(n)]
    return {"series": [*rows[2:], np.ones(4), np.zeros(3)]}


def times(rng, n):
    # Halves of hours over eight years, so that some differ by nothing, half a day, half a week.
    return {"when": np.datetime64("1968-02-20T00:30") + 30 * rng.integers(8 * 365 * 48, size=n)}


def label_sets(rng, n):
    return {"labels": [set(rng.choice(WORDS, rng.integers(4)).tolist()) for _ in range(n)]}


def paths(rng, n):
    walks = [np.cumsum(rng.normal(size=(rng.integers(2, 9), 2)), axis=0) for _ in range(n)]
    return {"path": [*walks[1:], np.zeros((3, 2))]}


def timed_paths(rng, n):
    return {"path": [np.column_stack([path, np.cumsum(0.5 + rng.random(len(path)))]) for path in paths(rng, n)["path"]]}


def places(rng, n):
    return {"lat": rng.uniform(-90, 90, n), "lon": rng.uniform(-180, 180, n)}


DRAWS = {
    "numeric": numbers,
    "times": times,
    "categorical": categories,
    "mixed": mixed,
    "text": texts,
    "series": series,
    "trajectories": paths,
}
SPECIAL = {
    "difference": lambda rng, n: {"u": rng.normal(size=n)},
    "cyclic": lambda rng, n: {"u": rng.uniform(-48, 48, n), "v": rng.integers(24, size=n)},
    "haversine": places,
    "jaccard": flags,
    "dice": flags,
    "rogerstanimoto": flags,
    "russellrao": flags,
    "sokalsneath": flags,
    "yule": flags,
}
PARAMS = {"cyclic": {"period": 24}}
MORE = [
    ("jaccard", label_sets, {}, naive.jaccard),
    (
        "euclidean",
        lambda rng, n: {"series": list(rng.normal(size=(n, 4)))},
        {},
        lambda a, b, t: np.linalg.norm(a[0] - b[0]),
    ),
    (
        "scaled",
        amounts,
        {"ratio": ["paid", "none"], "categories": ["code"]},
        lambda a, b, t: naive.scaled(a, b, t, ratio=(0, 3), categories=(2,)),
    ),
    (
        "scaled",
        lambda rng, n: {"u": rng.normal(size=n), "v": rng.lognormal(0, 2, n)},
        {"ratio": ["v"]},
        lambda a, b, t: naive.scaled(a, b, t, ratio=(1,)),
    ),
    (
        "time_of_day",
        lambda rng, n: {"time": [moment.time() for moment in times(rng, n)["when"].tolist()]},
        {},
        naive.time_of_day,
    ),
    ("levenshtein", texts, {"normalized": True}, naive.normalized_levenshtein),
    ("dtw", series, {"window": 0}, lambda a, b, t: naive.dtw(a, b, t, 0)),
    ("dtw", series, {"window": 2}, lambda a, b, t: naive.dtw(a, b, t, 2)),
    ("minkowski", numbers, {"p": 1}, TWINS["cityblock"]),
    *((metric, timed_paths, {}, TWINS[metric]) for metric in ("speed", "shape", "hausdorff", "frechet")),
]


def draws(metrics):
    """Return the draws of all metrics of the registry."""
    cases = [(m.name, SPECIAL.get(m.name, DRAWS[m.kind]), PARAMS.get(m.name, {}), TWINS[m.name]) for m in metrics]
    rng = np.random.default_rng(0)
    return [Draw(name, draw(rng, 14), draw(rng, 23), params, twin) for name, draw, params, twin in cases + MORE]


def rows(columns):
    """Return samples as tuples of their columns' values."""
    return list(zip(*columns.values(), strict=True))


def is_installed(metric):
    """Tell whether the library that a metric needs is there."""
    try:
        for module in metric.extra[:1]:
            import_module(module)
    except ModuleNotFoundError:
        return False
    return True
