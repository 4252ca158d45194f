"""Sets of dyads to be sorted: those the detector meets, and those that break sorters."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from paretodepth._checks import check_choice

Dyads = NDArray[np.float64]


class Workload(NamedTuple):
    """A kind of dyads, a number of criteria and a number of dyads."""

    kind: str
    n_criteria: int
    n_dyads: int


def draw(workload: Workload) -> Dyads:
    """Return the dyads of a workload, always the same ones."""
    return WORKLOAD_KINDS[workload.kind](np.random.default_rng(0), workload.n_dyads, workload.n_criteria)


def _dyads(rng: np.random.Generator, n: int, k: int) -> Dyads:
    """Return squared differences, per coordinate, of pairs of uniform samples."""
    n_samples = int((1 + np.sqrt(1 + 8 * n)) / 2) + 1
    samples = rng.random((n_samples, k))
    first, second = np.triu_indices(n_samples, 1)
    return np.asarray((samples[first[:n]] - samples[second[:n]]) ** 2)


def _correlated(rng: np.random.Generator, n: int, k: int) -> Dyads:
    """Return equal criteria and a last one that runs against them."""
    return np.outer(rng.random(n), np.r_[np.ones(k - 1), -1.0]) + 0.001 * rng.random((n, k))


def _front(rng: np.random.Generator, n: int, k: int) -> Dyads:
    """Return a single front: points whose criteria sum to one."""
    points = rng.exponential(size=(n, k))
    return np.asarray(points / points.sum(axis=1, keepdims=True))


def _real(rng: np.random.Generator, n: int, k: int) -> Dyads:
    """Return differences between real samples, measurements of 569 breast tumours; at most 161,596 dyads."""
    samples = rng.permutation(load_breast_cancer().data)[:, :k]
    first, second = np.triu_indices(len(samples), 1)
    return np.asarray(np.abs(samples[first[:n]] - samples[second[:n]]))


def _rounded(rng: np.random.Generator, n: int, k: int) -> Dyads:
    """Return the differences between real samples in tenths of their mean."""
    dyads = _real(rng, n, k)
    return np.asarray(np.round(10 * dyads / dyads.mean(axis=0)))


WORKLOAD_KINDS: dict[str, Callable[[np.random.Generator, int, int], Dyads]] = {
    "dyads": _dyads,
    "uniform": lambda rng, n, k: rng.random((n, k)),
    "correlated": _correlated,
    "single front": _front,
    "single chain": lambda rng, n, k: np.repeat(rng.random((n, 1)), k, axis=1),
    "all equal": lambda _, n, k: np.ones((n, k)),
    "heavy ties": lambda rng, n, k: rng.integers(10, size=(n, k)).astype(float),
    "real": _real,
    "rounded real": _rounded,
}
GROWING = "dyads"


def sorting_workloads(*, full: bool, kind: str | None) -> list[Workload]:
    """Return what the benchmark sorts, of one kind or all; `full` adds sets that take minutes."""
    if kind is not None:
        check_choice(kind, "kind", list(WORKLOAD_KINDS), "benchmark")
    sizes = {k: (100_000, 500_000) + ((1_000_000,) if k <= 4 or full else ()) for k in range(2, 9)}
    if full:
        sizes[2] += (10_000_000,)
        sizes[3] += (5_000_000,)
    growing = [Workload(GROWING, k, n) for k, ns in sizes.items() for n in ns]
    others = [Workload(name, k, 100_000) for name in WORKLOAD_KINDS for k in sizes if name != GROWING]
    # Few dyads first: if time is up, peers have run on every kind.
    ordered = sorted(growing + others, key=lambda workload: workload.n_dyads)
    return [workload for workload in ordered if kind in (None, workload.kind)]


def depth_workloads(*, full: bool) -> list[Workload]:
    """Return the training dyads below which the benchmark asks for depths; `full` takes more of them."""
    return [Workload("dyads", k, 1_000_000 if k <= 4 or full else 200_000) for k in range(2, 7)]
