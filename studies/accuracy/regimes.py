"""Kinds of anomalies that methods are compared on: nominal training samples, test samples, criteria."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from paretodepth.criteria.criterion import Criterion
from paretodepth.datasets import make_hypercube, make_pedestrians, trajectory_criteria, trajectory_table
from studies.download import data_folder

Samples = NDArray[np.float64]
N_TRAIN = 300
BAND_WIDTH = 0.07
"""Standard deviation of the nominal samples about the diagonal."""
SPREADS = (0.1, 0.3, 1.0)
"""Standard deviations of the clusters."""
CLUSTER_DISTANCE = 5.0
"""Of each cluster's center from the origin, along an axis of its own."""
NEAREST_RADIUS, FARTHEST_RADIUS = 2.5, 4.5
"""Distances of the anomalies from the center of their cluster, in its standard deviations."""
DEPENDENCE_NOISE = 0.2
"""Standard deviation of what is added to criteria of variance 1 that depend on each other."""
N_GROUPS, N_GROUP_COLUMNS, N_CATEGORIES = 6, 20, 5
VIEWS = {
    "2 views": ("mor", "fou"),
    "3 views": ("mor", "fou", "zer"),
    "6 views": ("mor", "fou", "zer", "kar", "pix", "fac"),
}
MAX_TRAIN, MAX_NOMINAL, MAX_ANOMALIES = 400, 300, 100
"""Samples that are taken of a tabular set at most."""
MAX_GROUPS = 4


class Task(NamedTuple):
    """One draw of a regime.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_samples, n_features), or dict of columns
        What the criteria read.
    is_anomaly : ndarray of shape (n_test,)
    criteria : list of Criterion
    columns_train, columns_test : ndarray of shape (n_samples, n_columns)
        What methods without criteria read: columns of mean 0 and variance 1 over the training samples.
    """

    X_train: Any
    X_test: Any
    is_anomaly: NDArray[np.bool_]
    criteria: list[Criterion]
    columns_train: Samples
    columns_test: Samples

    @classmethod
    def of(cls, X_train: Samples, X_test: Samples, is_anomaly: NDArray[np.bool_], criteria: list[Criterion]) -> Task:
        """Return a task whose columns are those of the samples that vary."""
        varying = X_train.std(axis=0) > 0
        scaler = StandardScaler().fit(X_train[:, varying])
        columns = scaler.transform(X_train[:, varying]), scaler.transform(X_test[:, varying])
        return cls(X_train, X_test, is_anomaly, criteria, *columns)


def _cube(seed: int, *, n_criteria: int) -> Task:
    """Draw the paper's simulation: anomalies outside one face of a cube."""
    data = make_hypercube(N_TRAIN, 200, n_criteria=n_criteria, class_probability=0.2 / n_criteria, random_state=seed)
    return Task.of(data.X_train, data.X_test, data.is_anomaly, data.criteria)


def _band(seed: int, *, n_criteria: int) -> Task:
    """Draw nominal samples near the diagonal, and anomalies with the same marginals but independent coordinates."""
    rng = np.random.default_rng(seed)

    def nominal(n_samples: int) -> Samples:
        return rng.random((n_samples, 1)) + rng.normal(0, BAND_WIDTH, (n_samples, n_criteria))

    X_train, X_test = nominal(N_TRAIN), nominal(160)
    anomalies = rng.permuted(nominal(40), axis=0)
    return Task.of(X_train, np.concatenate([X_test, anomalies]), np.arange(200) >= 160, _differences(n_criteria))


def _clusters(seed: int) -> Task:
    """Draw clusters of different density, and anomalies around each, as far out as its density makes unusual.

    What lies outside the narrow cluster is still nearer to others than most of the wide cluster is.
    """
    rng = np.random.default_rng(seed)
    n_criteria = len(SPREADS)
    centers, spreads = CLUSTER_DISTANCE * np.eye(n_criteria), np.array(SPREADS)

    def about_centers(steps: Samples) -> Samples:
        cluster = rng.integers(n_criteria, size=len(steps))
        return centers[cluster] + spreads[cluster, None] * steps

    X_train, X_test = (about_centers(rng.standard_normal((n, n_criteria))) for n in (N_TRAIN, 160))
    directions = rng.standard_normal((40, n_criteria))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    anomalies = about_centers(rng.uniform(NEAREST_RADIUS, FARTHEST_RADIUS, (40, 1)) * directions)
    return Task.of(X_train, np.concatenate([X_test, anomalies]), np.arange(200) >= 160, _differences(n_criteria))


def _dependence(seed: int) -> Task:
    """Draw four criteria, two of which determine the others up to noise; anomalies have one from another sample."""
    rng = np.random.default_rng(seed)

    def nominal(n_samples: int) -> Samples:
        first, second = rng.standard_normal((2, n_samples))
        exact = np.column_stack([first, second, (first + second) / np.sqrt(2), (first - second) / np.sqrt(2)])
        return exact + rng.normal(0, DEPENDENCE_NOISE, exact.shape)

    X_train, X_test, anomalies, others = (nominal(n) for n in (N_TRAIN, 160, 40, 40))
    broken = np.arange(40), rng.integers(4, size=40)
    # A value of its own criterion: the marginals stay what they are.
    anomalies[broken] = others[broken]
    return Task.of(X_train, np.concatenate([X_test, anomalies]), np.arange(200) >= 160, _differences(4))


def _differences(n_criteria: int) -> list[Criterion]:
    """Return one criterion a column, the absolute difference."""
    return [Criterion(f"x{column}", column, "cityblock") for column in range(n_criteria)]


def _categories(seed: int) -> Task:
    """Draw groups of categorical columns; in one group of an anomaly all categories are equally frequent."""
    rng = np.random.default_rng(seed)
    n_columns = N_GROUPS * N_GROUP_COLUMNS
    shares = rng.dirichlet(np.ones(N_CATEGORIES), n_columns)

    def nominal(n_samples: int) -> Samples:
        columns = [rng.choice(N_CATEGORIES, n_samples, p=share) for share in shares]
        return np.column_stack(columns).astype(float)

    X_train, X_test = nominal(N_TRAIN), nominal(200)
    for sample in range(160, 200):
        first = N_GROUP_COLUMNS * rng.integers(N_GROUPS)
        X_test[sample, first : first + N_GROUP_COLUMNS] = rng.integers(N_CATEGORIES, size=N_GROUP_COLUMNS)
    groups = np.arange(n_columns).reshape(N_GROUPS, N_GROUP_COLUMNS)
    criteria = [Criterion(f"group {number}", group.tolist(), "mismatch") for number, group in enumerate(groups)]
    encoder = OneHotEncoder(categories=[np.arange(N_CATEGORIES)] * n_columns, sparse_output=False).fit(X_train)
    encoded = Task.of(encoder.transform(X_train), encoder.transform(X_test), np.arange(200) >= 160, criteria)
    return encoded._replace(X_train=X_train, X_test=X_test)


def _pedestrians(seed: int) -> Task:
    """Simulate people who cross a square."""
    train, test = make_pedestrians(N_TRAIN, random_state=2 * seed), make_pedestrians(160, 40, random_state=2 * seed + 1)
    X_train, X_test = (trajectory_table(part.trajectories) for part in (train, test))
    return Task.of(X_train, X_test, test.is_anomaly, trajectory_criteria())


@lru_cache
def _digit_view(path: Path) -> tuple[Samples, NDArray[np.intp]]:
    """Return one view of 2000 handwritten digits, and the digits."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(np.intp)


def _view_path(view: str) -> Path:
    return data_folder() / "mfeat" / f"mfeat-{view}.csv"


def _digits(seed: int, *, views: tuple[str, ...], n_digits: int) -> Task:
    """Take some digits as nominal, by turns, and the others as anomalies."""
    rng = np.random.default_rng(seed)
    tables = [_digit_view(_view_path(view))[0] for view in views]
    digits = _digit_view(_view_path(views[0]))[1]
    chosen = (seed + 3 * np.arange(n_digits)) % 10
    nominal, others = (
        rng.permutation(np.flatnonzero(part)) for part in (np.isin(digits, chosen), ~np.isin(digits, chosen))
    )
    n_train = min(MAX_TRAIN, len(nominal) // 2)
    test = np.concatenate([nominal[n_train : n_train + 100], others[:50]])
    scaled = [StandardScaler().fit(table[nominal[:n_train]]).transform(table) for table in tables]
    ends = np.cumsum([0] + [table.shape[1] for table in tables])
    criteria = [Criterion(view, range(ends[i], ends[i + 1])) for i, view in enumerate(views)]
    X = np.hstack(scaled)
    return Task.of(X[nominal[:n_train]], X[test], np.arange(len(test)) >= len(test) - 50, criteria)


def _tabular(seed: int, *, path: Path) -> Task:
    """Split a labelled table; columns that vary together make a criterion."""
    rng = np.random.default_rng(seed)
    with np.load(path) as file:
        X, labels = file["X"].astype(float), file["y"]
    nominal, anomalies = (rng.permutation(np.flatnonzero(labels == label)) for label in (0, 1))
    n_train = min(MAX_TRAIN, len(nominal) // 2)
    anomalies = anomalies[:MAX_ANOMALIES]
    test = np.concatenate([nominal[n_train : n_train + MAX_NOMINAL], anomalies])
    scaler = StandardScaler().fit(X[nominal[:n_train]])
    X_train, X_test = scaler.transform(X[nominal[:n_train]]), scaler.transform(X[test])
    is_anomaly = np.arange(len(test)) >= len(test) - len(anomalies)
    return Task.of(X_train, X_test, is_anomaly, column_groups(X_train))


def column_groups(X_train: Samples) -> list[Criterion]:
    """Return at most four criteria, the groups of columns that average linkage makes of 1 - |correlation|."""
    varying = np.flatnonzero(X_train.std(axis=0) > 0)
    distances = 1 - np.abs(np.corrcoef(X_train[:, varying].T))
    tree = linkage(squareform(distances, checks=False).clip(0), "average")
    groups = fcluster(tree, MAX_GROUPS, "maxclust")
    return [Criterion(f"group {group}", varying[groups == group].tolist()) for group in range(1, groups.max() + 1)]


def regimes() -> dict[str, Callable[[int], Task]]:
    """Return the regimes by name, each a function of a seed; real data sets only where their files are there."""
    found: dict[str, Callable[[int], Task]] = {
        "cube, K = 4": partial(_cube, n_criteria=4),
        "cube, K = 2": partial(_cube, n_criteria=2),
        "joint band, K = 2": partial(_band, n_criteria=2),
        "joint band, K = 3": partial(_band, n_criteria=3),
        "categories, K = 6": _categories,
        "pedestrians, K = 2": _pedestrians,
        "clusters, K = 3": _clusters,
        "broken dependence, K = 4": _dependence,
    }
    if all(_view_path(view).exists() for view in VIEWS["6 views"]):
        for n_digits, class_name in ((1, "one digit"), (3, "three digits")):
            for name, views in VIEWS.items():
                found[f"digits, {name}, {class_name}"] = partial(_digits, views=views, n_digits=n_digits)
    for path in sorted((data_folder() / "adbench").glob("*.npz")):
        found[table_name(path)] = partial(_tabular, path=path)
    return found


def table_name(path: Path) -> str:
    """Return the name of a table: that of its file without ending and the number before it.

    Examples
    --------
    >>> table_name(Path("adbench/14_glass.npz")), table_name(Path("credit_cards.csv"))
    ('glass', 'credit_cards')
    """
    number, _, name = path.stem.partition("_")
    return name if number.isdigit() and name else path.stem
