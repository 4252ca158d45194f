"""A fit on the processes of a Dask cluster next to one with as many threads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from paretodepth import distributed
from paretodepth._checks import check_extra
from paretodepth.detector import ParetoDepthDetector
from paretodepth.distributed.cluster import local_cluster
from studies.measure import process_peak_bytes, seconds
from studies.runs import Experiment, Settings, Values
from studies.scaling.large_fits import MEMORY_LIMIT
from studies.tables import Table

N_WARMING = 6000
"""Samples of a first fit, too many to be held, for which the workers load what is compiled."""


def run(seed: int, settings: Settings) -> Values:
    """Return the times of both, whether they agree, and the memory of the workers."""
    dask = check_extra("distributed", "distributed")
    X = np.random.default_rng(seed).random((settings["n_samples"], 2))
    threaded, clustered = (
        ParetoDepthDetector(max_depth="auto", memory_limit=MEMORY_LIMIT, n_jobs=settings["n_workers"]) for _ in range(2)
    )
    threaded.fit(X[:N_WARMING])
    alone = seconds(partial(threaded.fit, X))
    with local_cluster(settings["n_workers"]) as cluster, dask.Client(cluster) as client:
        # The workers compile, or load what was compiled.
        distributed.fit(clustered, X[:N_WARMING], client)
        together = seconds(partial(distributed.fit, clustered, X, client))
        memory = max(n_bytes or 0 for n_bytes in client.run(process_peak_bytes).values())
    is_same = np.array_equal(clustered.training_scores_, threaded.training_scores_)
    return {"threads": alone, "workers": together, "same": bool(is_same), "bytes": memory}


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the times and their ratios."""
    rows = [
        [
            f"{values['threads']:.1f} s",
            f"{values['workers']:.1f} s",
            f"{values['workers'] / values['threads']:.2f}",
            "yes" if values["same"] else "no",
            f"{values['bytes'] / 1e6:,.0f} MB",
        ]
        for values in runs
    ]
    caption = (
        f"K = 2, N = {settings['n_samples']:,}, max_depth = auto: {settings['n_workers']} threads of one process, and "
        f"{settings['n_workers']} workers of a LocalCluster on the same machine, one thread each."
    )
    columns = ["threads", "workers", "ratio", "same scores, bit by bit", "memory a worker, at most"]
    return [Table("times", caption, columns, rows)]


EXPERIMENT = Experiment(
    name="cluster",
    title="Threads and a cluster",
    summary="The same fit by threads and by `paretodepth.distributed.fit`. Needs the extra `distributed`.",
    run=run,
    tables=tables,
    settings=lambda full: {"n_samples": 50_000 if full else 20_000, "n_workers": 2},
    n_runs=3,
    n_full_runs=3,
)
