"""How long a fit and its scores will take, told from small fits of the same criteria, and how many rows fit a time."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from paretodepth._blocks import phase, watched
from paretodepth._checks import check_count
from paretodepth.criteria.choice import read_columns
from paretodepth.criteria.criterion import resolve_criteria
from paretodepth.detector import NAME, ParetoDepthDetector
from paretodepth.scoring.advice import AdviceWarning

MAX_FIT_SECONDS = 20.0
"""What a fit may take before it is made of fewer rows."""
MAX_SCORE_SECONDS = 90.0
"""What the scores of all rows may take if the fit is made of fewer rows."""
TOLD_SECONDS = 30.0
"""From so many seconds on it is told beforehand how long it will take."""
N_WARM = 100
"""Rows of a first fit that is not timed: it may have to compile."""
PILOT_ROWS = (200, 400, 800)
PILOT_SECONDS = 1.0
"""When the small fits have taken so long, no larger one is made."""
N_PILOT_SCORES = 1000
FEW_ROWS, FEW_CRITERIA = 1000, 4
"""A fit of no more is quick, and nothing is estimated."""
MIN_ROWS = 500
"""Rows that a fit is made of at least."""
MAX_UNCAPPED = 5000
"""Rows of which all fronts are kept; of more the deepest are counted as one, and the time of a fit grows less fast."""
FIT_POWERS, SCORE_POWERS = (2.0, 2.5), (0.3, 1.2)
"""How the times of a fit and of a score grow with the rows of the fit: between these, as the small fits tell."""
CAPPED_POWER = 1.5
"""The same of a capped fit: measured 1.1 up to 100,000 rows, 2 in the end."""


class Estimate(NamedTuple):
    """What small fits took, and how that grows.

    Attributes
    ----------
    n_rows : int
        Of the largest small fit.
    fit_seconds, fit_power : float
        Its time, and the power of the number of rows that times grow with.
    score_seconds, score_power : float
        The same of one score.
    """

    n_rows: int
    fit_seconds: float
    fit_power: float
    score_seconds: float
    score_power: float

    def of_fit(self, n_rows: int) -> float:
        """Return the seconds of a fit of so many rows."""
        uncapped = max(self.n_rows, min(n_rows, MAX_UNCAPPED))
        seconds = self.fit_seconds * (min(n_rows, uncapped) / self.n_rows) ** self.fit_power
        return float(seconds * max(1.0, n_rows / uncapped) ** CAPPED_POWER)

    def of_scores(self, n_rows: int, n_scores: int) -> float:
        """Return the seconds of so many scores with a fit of so many rows."""
        return float(self.score_seconds * n_scores * (n_rows / self.n_rows) ** self.score_power)

    def rows_within(self, n_rows: int, n_scores: int, fit_seconds: float, score_seconds: float) -> int:
        """Return the most rows, up to some and at least `MIN_ROWS`, whose fit and whose scores take no longer.

        They are a round number, so that the same rows are drawn on machines that are about as fast.
        """
        round_numbers = (first * 10**zeros for zeros in range(2, len(str(n_rows))) for first in (1, 2, 5))
        sizes = [*(n for n in round_numbers if MIN_ROWS < n < n_rows), n_rows]
        fitting = (n for n in sizes if self.of_fit(n) <= fit_seconds and self.of_scores(n, n_scores) <= score_seconds)
        return max(fitting, default=min(n_rows, MIN_ROWS))


class Plan(NamedTuple):
    """How a table is to be fitted.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,) or None
        The rows to fit, in rising order; None for all.
    notice : str
        What is to be said of that before it is done; may be empty.
    """

    rows: NDArray[np.intp] | None
    notice: str


def planned(
    detector: ParetoDepthDetector,
    training: pa.Table,
    n_scores: int,
    *,
    train_rows: int | None = None,
    is_exact: bool = False,
    may_sample: bool = True,
    may_estimate: bool = True,
    estimate: Callable[[ParetoDepthDetector, pa.Table], Estimate | None] | None = None,
) -> Plan:
    """Return which rows of a table to fit so that it does not take too long, and what to say of it.

    Parameters
    ----------
    detector : ParetoDepthDetector
        Not fitted yet; it stays so.
    training : pyarrow.Table
    n_scores : int
        How many samples are scored beside the training samples.
    train_rows : int or None
        So many random rows, if there are more.
    is_exact : bool
        All rows, however long it takes.
    may_sample : bool
        Whether rows may be left out without being asked for.
    may_estimate : bool
        Whether to make small fits at all.
    estimate : callable or None
        In place of :func:`estimated`, for tests.
    """
    check_one_size(train_rows, is_exact)
    n_all = len(training)
    if train_rows is not None:
        rows = drawn_rows(n_all, check_count(train_rows, "train_rows", "detect"))
        notice = "" if rows is None else f"Fitted on {len(rows):,} random rows of {n_all:,}, as asked for."
        return Plan(rows, notice)
    found = (estimate or estimated)(detector, training) if may_estimate else None
    if found is None:
        return Plan(None, "")
    seconds = found.of_fit(n_all)
    if is_exact or not may_sample or seconds <= MAX_FIT_SECONDS:
        total = seconds + found.of_scores(n_all, n_scores)
        faster = "" if len(read_criteria(detector)) == 1 else ", or join columns into fewer criteria"
        notice = f"This will take some {spoken(total)}; for less, fit on fewer rows (--train-rows N){faster}."
        return Plan(None, notice if total > TOLD_SECONDS else "")
    n_new = n_scores or n_all
    n_rows = found.rows_within(n_all, n_new, MAX_FIT_SECONDS, MAX_SCORE_SECONDS)
    total = found.of_fit(n_rows) + found.of_scores(n_rows, n_new)
    return Plan(
        drawn_rows(n_all, n_rows),
        f"Fitted on {n_rows:,} random rows of {n_all:,}, and all are scored: some {spoken(total)}, where a fit of all "
        f"rows would take {spoken(seconds)}. --exact fits all of them, --train-rows N so many.",
    )


def estimated(
    detector: ParetoDepthDetector,
    training: pa.Table,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> Estimate | None:
    """Return what small fits to random rows take; None if the table is small, or they fail, as the fit will tell."""
    criteria = read_criteria(detector)
    n_all, n_criteria = len(training), len(criteria) or training.num_columns
    if n_all <= FEW_ROWS and n_criteria <= FEW_CRITERIA:
        return None
    table = training.select(read_columns(criteria or None, training.column_names))
    order = np.random.default_rng(0).permutation(n_all)
    pilot = clone(detector).set_params(max_depth=None, verbose=0)

    def run(n_rows: int) -> tuple[float, float]:
        part = table.take(np.sort(order[:n_rows]))
        start = clock()
        model = pilot.fit(part).model_
        middle = clock()
        seen = model.seen(table.take(np.sort(order[-N_PILOT_SCORES:])), caller=NAME)
        after = clock()
        model.seen_scores(seen, n_jobs=detector.n_jobs)
        return middle - start, (clock() - after) / min(N_PILOT_SCORES, n_all)

    with phase("small fits, to tell how long it will take"), watched(_untold), warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        try:
            run(min(N_WARM, n_all))
            return _measured(run, [n for n in PILOT_ROWS if n < n_all])
        except (ValueError, TypeError):
            return None


def _untold(title: str, n_done: int, n_all: int) -> None:
    """Tell nobody of the phases of small fits."""


def _measured(run: Callable[[int], tuple[float, float]], sizes: list[int]) -> Estimate | None:
    """Return the estimate from fits of rising sizes, until these have taken long enough."""
    times: list[tuple[int, float, float]] = []
    for n_rows in sizes:
        times.append((n_rows, *run(n_rows)))
        if sum(fit for _, fit, _ in times) > PILOT_SECONDS:
            break
    if not times:
        return None
    (n_before, *before), (n_last, fit, score) = times[-2] if len(times) > 1 else times[-1], times[-1]
    powers = [
        _power(later / earlier, n_last / n_before, *bounds) if n_last > n_before and earlier > 0 else bounds[0]
        for later, earlier, bounds in zip((fit, score), before, (FIT_POWERS, SCORE_POWERS), strict=True)
    ]
    return Estimate(n_last, fit, powers[0], score, powers[1])


def _power(growth: float, n_times: float, smallest: float, largest: float) -> float:
    """Return the power of `n_times` that a growth is, within bounds."""
    return min(largest, max(smallest, math.log(max(growth, 1e-9)) / math.log(n_times)))


def read_criteria(detector: ParetoDepthDetector) -> list[Any]:
    """Return the criteria of a detector, none if it has one per column."""
    return list(resolve_criteria(detector.criteria, NAME) or [])


def max_depth_of(n_rows: int) -> Literal["auto"] | None:
    """Return the last front to keep of a fit of so many rows."""
    return "auto" if n_rows > MAX_UNCAPPED else None


def drawn_rows(n_all: int, n_rows: int, *, seed: int = 0) -> NDArray[np.intp] | None:
    """Return random rows in rising order, always the same ones; None if that is all."""
    return None if n_rows >= n_all else np.sort(np.random.default_rng(seed).choice(n_all, n_rows, replace=False))


def spoken(seconds: float) -> str:
    """Return a length of time in words, roughly.

    Examples
    --------
    >>> [spoken(seconds) for seconds in (42, 100, 400, 9000)]
    ['40 s', '100 s', '7 min', '2.5 h']
    """
    if seconds < 120:
        return f"{max(1, round(seconds, -1) if seconds > 20 else round(seconds)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"


def check_one_size(train_rows: object, is_exact: bool) -> None:
    """Refuse to fit all rows and some."""
    if train_rows is not None and is_exact:
        raise ValueError("Give either --train-rows or --exact. Got both; --exact fits all rows.")
