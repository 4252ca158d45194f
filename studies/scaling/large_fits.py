"""How fits and scores grow with the number of training samples, in time and memory, and whether they are right."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.datasets import make_hypercube
from paretodepth.detector import ParetoDepthDetector
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.pairs.capped_fronts import pair_blocks
from paretodepth.pairs.pairs import ComputedPairs, Pairs
from studies.measure import peak_bytes, seconds
from studies.runs import Experiment, Settings, Values
from studies.tables import Table

N_NEW = 1000
N_CHECKED = 20
MEMORY_LIMIT = 2**30
"""Little enough that no pairs are held."""
MODELLED = (10**5, 10**6, 10**7, 10**8)
CLUSTER = 128


def run(seed: int, settings: Settings) -> Values:
    """Return what fits of each size took; a small one before each compiles."""
    values = {}
    for n_criteria, n_samples, limits in settings["fits"]:
        _measured(n_criteria, min(n_samples, 2100), limits, seed)
        values[_name(n_criteria, n_samples, limits)] = _measured(n_criteria, n_samples, limits, seed)
    return values


def _measured(n_criteria: int, n_samples: int, limits: dict[str, Any], seed: int) -> Values:
    """Return times, memory, the area under the ROC curve, and how many of some depths brute force confirms."""
    data = make_hypercube(n_samples, N_NEW, n_criteria=n_criteria, random_state=seed)
    detector = ParetoDepthDetector(memory_limit=MEMORY_LIMIT, random_state=seed, n_jobs=-1, **limits)
    fitted, encoded = FittedCriteria.fit(None, data.X_train, caller="fits")
    pairs = ComputedPairs(fitted.fitted, encoded.encodings, -1)
    blocks = pair_blocks(n_samples, n_criteria)
    computing = [seconds(lambda: _compute(pairs, blocks))]
    n_bytes: list[int | None] = []
    fitting = seconds(lambda: n_bytes.append(peak_bytes(lambda: detector.fit(data.X_train))))
    computing.append(seconds(lambda: _compute(pairs, blocks)))
    lof = LocalOutlierFactor(novelty=True, n_jobs=-1).fit(data.X_train)
    # The first call builds the trees, some of them only if a sample lies deep.
    detector.score_samples(data.X_test)
    scoring = seconds(lambda: detector.score_samples(data.X_test))
    n_right, n_checked = _checked(detector, pairs, data.X_test[~data.is_anomaly]) if detector.exact_ else (0, 0)
    return {
        "n_criteria": n_criteria,
        "n_samples": n_samples,
        "n_fronts": detector.n_fronts_,
        "n_kept": len(detector.fronts_.dyads),
        "dissimilarities": min(computing),
        "fit": fitting,
        "bytes": n_bytes[0] or 0,
        "scoring": scoring,
        "LOF": seconds(lambda: lof.score_samples(data.X_test)),
        "area": float(roc_auc_score(data.is_anomaly, -detector.score_samples(data.X_test))),
        "n_right": n_right,
        "n_checked": n_checked,
    }


def _compute(pairs: Pairs, blocks: Sequence[slice]) -> None:
    """Compute the dissimilarities of all pairs and drop them."""
    deque(pairs.map(lambda pairs, rows: pairs.later(rows).shape, blocks), maxlen=0)


def _checked(detector: ParetoDepthDetector, pairs: Pairs, X: NDArray[np.float64]) -> tuple[int, int]:
    """Return how many depths of nearest dyads are those found by brute force, and how many were compared.

    The front a dyad would lie on depends only on the dyads that dominate it. These are picked
    from all pairs and sorted by themselves.
    """
    dyads = detector.nearest_dyads(X[:N_CHECKED])[:, 0]
    depths = Depths(detector.fronts_, "insertion").of(dyads)
    is_kept = depths <= detector.n_fronts_
    dyads, depths = dyads[is_kept], depths[is_kept]
    parts = pairs.map(partial(_below, dyads.max(axis=0)), pair_blocks(pairs.n_samples, pairs.n_criteria))
    below = np.concatenate(list(parts))
    expected = [1 + len(Fronts.from_dyads(below[_dominates(below, dyad)])) for dyad in dyads]
    return int(np.sum(depths == expected)), len(dyads)


def _below(corner: NDArray[np.float64], pairs: Pairs, rows: slice) -> NDArray[np.float64]:
    """Return the dyads of a block that are nowhere larger than the corner."""
    block = pairs.later(rows)
    is_pair = np.arange(block.shape[2]) > np.arange(block.shape[1])[:, None]
    return block[:, is_pair & np.all(block <= corner[:, None, None], axis=0)].T


def _dominates(dyads: NDArray[np.float64], dyad: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.all(dyads <= dyad, axis=1) & np.any(dyads < dyad, axis=1))


def _name(n_criteria: int, n_samples: int, limits: dict[str, Any]) -> str:
    return f"K = {n_criteria}, N = {n_samples:,}, " + ", ".join(f"{key} = {value}" for key, value in limits.items())


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the times of fits, the scores, and what they mean for more samples."""
    fits = runs[0]
    return [_fit_table(fits), _score_table(fits), _model_table(fits)]


def _fit_table(fits: Values) -> Table:
    rows = [
        [
            name,
            f"{fit['n_fronts']:,}",
            f"{fit['n_kept']:,}",
            f"{fit['dissimilarities']:.2f} s",
            f"{fit['fit']:.1f} s",
            f"{fit['fit'] / fit['dissimilarities']:.1f}",
            f"{fit['bytes'] / 1e6:,.0f} MB",
        ]
        for name, fit in fits.items()
    ]
    exact = [fit for fit in fits.values() if fit["n_criteria"] == 2 and fit["n_samples"] >= 5000]
    caption = (
        "Two threads or as many as there are cores. Dissimilarities: computed block by block and dropped, the least "
        "one can do. Memory: at the peak of the fit, above that before it."
    )
    if len(exact) > 1:
        sizes, times = (np.log([fit[key] for fit in exact]) for key in ("n_samples", "fit"))
        caption += f" With K = 2 the time grows with N to the power {np.polyfit(sizes, times, 1)[0]:.2f}."
    columns = ["fit", "fronts", "dyads kept", "dissimilarities", "fit alone", "ratio", "memory"]
    return Table("fits", caption, columns, rows)


def _score_table(fits: Values) -> Table:
    rows = [
        [
            name,
            f"{1e6 * fit['scoring'] / N_NEW:.0f} µs",
            f"{1e6 * fit['LOF'] / N_NEW:.0f} µs",
            f"{fit['scoring'] / fit['LOF']:.1f}",
            f"{fit['area']:.4f}",
            f"{fit['n_right']} of {fit['n_checked']}",
        ]
        for name, fit in fits.items()
    ]
    caption = (
        f"{N_NEW:,} new samples of the paper's simulation: time a sample, once they were scored before, which builds "
        "trees; that of scikit-learn's LOF(novelty=True) on the same columns; the area under the ROC curve; and how "
        "many depths of nearest dyads of nominal samples, within the fronts kept, brute force over all pairs confirms."
    )
    return Table("scores", caption, ["fit", "a sample", "LOF", "ratio", "area", "confirmed"], rows)


def _model_table(fits: Values) -> Table:
    largest = max((fit for fit in fits.values() if fit["n_criteria"] == 2), key=lambda fit: fit["n_samples"])
    n_largest = largest["n_samples"]
    rows = []
    for n_samples in MODELLED:
        n_dyads = n_samples * (n_samples - 1) // 2
        n_seconds = largest["fit"] * (n_samples / n_largest) ** 2
        rows.append(
            [
                f"{n_samples:,}",
                f"{n_dyads:.1e}",
                _bytes(16 * n_dyads),
                _bytes(16 * largest["n_kept"] * n_samples / n_largest),
                f"{2 * n_dyads / 2**19:.1e}",
                _duration(n_seconds),
                _duration(n_seconds * 2 / CLUSTER),
            ]
        )
    caption = (
        f"K = 2, extrapolated from the fit of {n_largest:,} samples: dissimilarities with the square of N, fronts kept "
        f"in proportion to N. The last column takes {CLUSTER} threads for granted that do what two do here."
    )
    columns = ["N", "dyads", "to hold them", "to hold fronts", "blocks", "here", f"{CLUSTER} threads"]
    return Table("model", caption, columns, rows)


def _bytes(n_bytes: float) -> str:
    power = min(5, int(np.log10(n_bytes) // 3))
    return f"{n_bytes / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB')[power]}"


def _duration(n_seconds: float) -> str:
    units = {"days": 86400, "h": 3600, "min": 60, "s": 1}
    unit = next((unit for unit, size in units.items() if n_seconds > 2 * size), "s")
    return f"{n_seconds / units[unit]:,.3g} {unit}"


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw the time of fits with two criteria, and of the dissimilarities alone."""
    fits = [fit for fit in runs[0].values() if fit["n_criteria"] == 2]
    sizes = [fit["n_samples"] for fit in fits]
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    ax.loglog(sizes, [fit["fit"] for fit in fits], "o-", label='fit, max_depth="auto"')
    ax.loglog(sizes, [fit["dissimilarities"] for fit in fits], "s--", label="dissimilarities alone")
    ax.set(xlabel="training samples N", ylabel="seconds", title="K = 2")
    ax.legend()
    return {"times": figure}


def _settings(full: bool) -> Settings:
    auto = {"max_depth": "auto"}
    fits: list[list[Any]] = [[2, 5_000, auto], [2, 10_000, auto], [2, 20_000, auto]]
    if full:
        fits += [[2, 50_000, auto], [2, 100_000, auto], [3, 20_000, auto], [4, 20_000, auto]]
    return {"fits": [*fits, [4, 1_000, {"max_depth": None}]]}


EXPERIMENT = Experiment(
    name="fits",
    title="Fits and scores of many samples",
    summary="Nominal samples uniform on the unit cube, a criterion a coordinate, the absolute difference.",
    run=run,
    tables=tables,
    figures=figures,
    settings=_settings,
    n_runs=1,
    n_full_runs=1,
)
