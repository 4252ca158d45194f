"""Depth queries, whole fits and fresh processes."""

import os
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import gen_even_slices

from paretodepth._blocks import map_blocks, row_blocks
from paretodepth._checks import check_extra
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.detector import ParetoDepthDetector
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.fronts import Fronts, front_numbers
from paretodepth.pairs.nearest import dissimilarity_block
from paretodepth.pairs.pairs import ComputedPairs, HeldPairs
from studies.benchmarks.workloads import Dyads, Workload, draw
from studies.measure import ENOUGH_SECONDS, seconds

COMMAND_LINE = "from paretodepth.cli import main; main()"
FIT_AND_SCORE = """
import sys
import numpy as np
from paretodepth import ParetoDepthDetector
X = np.random.default_rng(0).random((int(sys.argv[1]), 3))
ParetoDepthDetector().fit(X).score_samples(X)
"""


def depth_ratios(
    workloads: Iterable[Workload], *, n_queries: int = 100_000, enough_seconds: float = ENOUGH_SECONDS
) -> dict[str, float]:
    """Return the time of depth queries as a share of that of sorting the training dyads, on all cores."""
    ratios = {}
    for workload in workloads:
        dyads = draw(workload)
        depths = Depths(Fronts.from_dyads(dyads, n_jobs=-1), "paper")
        new = draw(workload._replace(n_dyads=3 * n_queries))[-n_queries:]
        asking = seconds(partial(_ask, depths, new), enough=enough_seconds)
        sorting = seconds(partial(front_numbers, dyads, n_jobs=-1), enough=enough_seconds)
        ratios[f"K = {workload.n_criteria}, {workload.n_dyads:,} dyads"] = asking / sorting
    return ratios


def _ask(depths: Depths, new: Dyads) -> None:
    """Ask for depths with all cores."""
    map_blocks(lambda rows: depths.of(new[rows]), gen_even_slices(len(new), effective_n_jobs(-1)), -1)


def fit_ratios(n_samples: int = 1000, *, enough_seconds: float = ENOUGH_SECONDS) -> dict[str, float]:
    """Return the time of a fit, Euclidean criteria, as a multiple of sorting its dyads."""
    ratios = {}
    for k in (2, 3, 4):
        X = np.random.default_rng(0).random((n_samples, 2 * k))
        criteria = [Criterion(f"c{i}", [2 * i, 2 * i + 1]) for i in range(k)]
        fitted, encoded = FittedCriteria.fit(criteria, X, caller="fit_ratios")
        dyads = HeldPairs.of(ComputedPairs(fitted.fitted, encoded.encodings, None)).dyads
        fitting = seconds(partial(ParetoDepthDetector(criteria).fit, X), enough=enough_seconds)
        ratios[f"K = {k}"] = fitting / seconds(partial(front_numbers, dyads), enough=enough_seconds)
    return ratios


def string_ratios(n_samples: int = 10_000, *, enough_seconds: float = ENOUGH_SECONDS) -> dict[str, float]:
    """Return the time of dissimilarities in text and two numbers as a multiple of rapidfuzz's own cdist of the text.

    Empty without rapidfuzz. One thread. At fit each pair is asked for once, and cdist computes it twice.
    """
    if find_spec("rapidfuzz") is None:
        return {}
    process = check_extra("rapidfuzz.process", "text")
    scorer = check_extra("rapidfuzz.distance", "text").Levenshtein.distance
    rng = np.random.default_rng(0)
    letters = np.array(list(string.ascii_lowercase))
    texts = ["".join(rng.choice(letters, rng.integers(5, 40))) for _ in range(n_samples)]
    X = {"text": texts, "a": rng.random(n_samples), "b": rng.random(n_samples)}
    numbers = [Criterion(name, name, "difference") for name in ("a", "b")]
    given = [Criterion("text", "text", "levenshtein"), *numbers]
    fitted, encoded = FittedCriteria.fit(given, X, caller="string_ratios")
    criteria, views = fitted.fitted, encoded.encodings

    def score() -> None:
        for rows in row_blocks(n_samples, len(criteria) * n_samples):
            dissimilarity_block(criteria, [view[rows] for view in views], views, rows.start, None)

    def fit() -> None:
        HeldPairs.of(ComputedPairs(criteria, views, None))

    own = seconds(lambda: process.cdist(texts, texts, scorer=scorer), enough=enough_seconds)
    return {
        f"fit of {n_samples:,}": seconds(fit, enough=enough_seconds) / own,
        f"scoring {n_samples:,}": seconds(score, enough=enough_seconds) / own,
    }


def startup_seconds(n_samples: int = 1000) -> dict[str, float]:
    """Return the times of fresh processes: `detect` on two files of samples, a fit and score of as many, help."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for seed in range(2):
            files.append(f"{folder}/{seed}.csv")
            samples = np.random.default_rng(seed).random((n_samples, 3))
            np.savetxt(files[-1], samples, delimiter=",", header="a,b,c", comments="")
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}

        def took(code: str, *arguments: str) -> float:
            command = [sys.executable, "-c", code, *arguments]
            return seconds(partial(subprocess.run, command, env=environment, check=True, capture_output=True))

        detect = ("detect", files[1], "--reference", files[0])
        return {
            "detect, cold cache": took(COMMAND_LINE, *detect),
            "detect, warm cache": took(COMMAND_LINE, *detect),
            "import, fit and score, warm cache": took(FIT_AND_SCORE, str(n_samples)),
            "detect --help": took(COMMAND_LINE, "detect", "--help"),
        }
