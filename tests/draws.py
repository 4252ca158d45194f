"""Dyads of every kind that has ever broken a non-dominated sort, samples of every kind, and what is made of them."""

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from sklearn import config_context

from paretodepth import AdviceWarning, ParetoDepthDetector
from paretodepth.criteria.fitted_criteria import FittedCriteria
from paretodepth.detector import fit_by_pairs
from paretodepth.pairs.pairs import ComputedPairs
from tests import naive

# Uncompiled or bounds-checked loops are slow; these runs ask for lines and indices, not for rare values.
IS_SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.environ.get("NUMBA_BOUNDSCHECK") == "1"
N_EXAMPLES = 20 if IS_SLOW else 150
SEEDS = range(1 if IS_SLOW else 3)

DRAWS = {
    "distinct": lambda rng, n, k: rng.random((n, k)),
    "tied": lambda rng, n, k: rng.integers(3, size=(n, k)).astype(float),
    "partly tied": lambda rng, n, k: np.where(rng.random((n, k)) < 0.5, 0.5, rng.random((n, k))),
    "equal": lambda rng, n, k: np.ones((n, k)),
    "infinite": lambda rng, n, k: np.where(rng.random((n, k)) < 0.3, np.inf, rng.integers(4, size=(n, k))),
    "correlated": lambda rng, n, k: np.outer(rng.random(n), np.r_[np.ones(k - 1), -1.0]),
    "chain": lambda rng, n, k: np.tile(rng.permutation(n)[:, None], k).astype(float),
    "signed zero": lambda rng, n, k: rng.choice([-0.0, 0.0, 1.0], size=(n, k)),
    "one": lambda rng, n, k: rng.random((1, k)),
    "empty": lambda rng, n, k: np.empty((0, k)),
}
SAMPLES = {
    "distinct": lambda rng, n, k: rng.random((n, k)),
    "normal": lambda rng, n, k: rng.standard_normal((n, k)),
    "tied": lambda rng, n, k: rng.integers(4, size=(n, k)).astype(float),
    "rounded": lambda rng, n, k: np.round(rng.random((n, k)), 1),
    "equal": lambda rng, n, k: np.ones((n, k)),
    "duplicate": lambda rng, n, k: np.repeat(rng.random((n // 5, k)), 5, axis=0),
    "triplicate": lambda rng, n, k: np.repeat(rng.random((-(-n // 3), k)), 3, axis=0)[:n],
    "sorted": lambda rng, n, k: np.sort(rng.random((n, k)), axis=0),
    "clusters": lambda rng, n, k: rng.random((n, k)) + 50.0 * rng.integers(3, size=(n, 1)),
    "unequal clusters": lambda rng, n, k: rng.random((n, k)) + 50.0 * (rng.random((n, 1)) < 0.15),
    "far and near": lambda rng, n, k: rng.random((n, k)) * 10.0 ** rng.integers(-150, 150, (n, 1)),
}


def draw_dyads(draw, n_criteria, seed=0, n_dyads=40):
    dyads = DRAWS[draw](np.random.default_rng(seed), n_dyads, n_criteria)
    dyads.flags.writeable = False
    return dyads


@cache
def numbered_dyads(draw, n_criteria, seed=0):
    """Return drawn dyads and their naive front numbers, which many tests compare with."""
    dyads = draw_dyads(draw, n_criteria, seed)
    numbers = naive.front_numbers(dyads)
    numbers.flags.writeable = False
    return dyads, numbers


def draw_samples(kind, n_samples, n_criteria, seed=0):
    return SAMPLES[kind](np.random.default_rng(seed), n_samples, n_criteria)


def dyad_arrays(n_criteria, max_dyads=24):
    """Hypothesis draws of dyads, mostly tied, with infinity."""
    values = st.one_of(
        st.integers(0, 3).map(float), st.floats(0, 1), st.just(np.inf), st.floats(allow_nan=False, min_value=0)
    )
    return st.integers(0, max_dyads).flatmap(lambda n: arrays(float, (n, n_criteria), elements=values))


class Fitted(NamedTuple):
    """Fitted criteria, what they see of the training samples, and a function that tells what they see of new ones."""

    criteria: Any
    encodings: Any
    views_of: Callable[[Any], Any]


def fitted(criteria, X):
    """Fit criteria, or one per column if they are None, without a detector's fronts and scores."""
    own, encoded = FittedCriteria.fit(criteria, X, caller="ParetoDepthDetector")
    return Fitted(own.fitted, encoded.encodings, lambda new: own.encode(new, caller="ParetoDepthDetector").encodings)


def pairs_of(criteria, X, n_jobs=1):
    """Return the pairs of training samples under criteria."""
    own = fitted(criteria, X)
    return ComputedPairs(own.criteria, own.encodings, n_jobs)


class UnheldPairs(ComputedPairs):
    """Pairs that are computed whenever they are asked for, as those of too many samples to be held are."""

    def held(self):
        return self


def small_blocks(n_values):
    """Have blocks hold at most so many values meanwhile, by scikit-learn's setting, which is in MiB."""
    return config_context(working_memory=8 * n_values / 2**20)


def assert_same_fronts(fronts, expected, case=""):
    """Compare fronts bit by bit; a failure names the case, if any."""
    assert_array_equal(fronts.dyads, expected.dyads, err_msg=case)
    assert_array_equal(fronts.starts, expected.starts, err_msg=case)
    assert fronts.max_depth == expected.max_depth, case


def fitted_detector(X, *, pairs_type=ComputedPairs, **parameters):
    """Fit a detector whose advice is of no interest, to pairs of some type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        return fit_by_pairs(ParetoDepthDetector(**parameters), X, pairs_type)


def assert_same_results(detector, expected, X, case=""):
    """Compare what two detectors have fitted and what they say of samples, bit by bit."""
    assert_array_equal(detector.n_neighbors_, expected.n_neighbors_, err_msg=case)
    assert_array_equal(detector.training_scores_, expected.training_scores_, err_msg=case)
    assert detector.offset_ == expected.offset_, case
    assert_array_equal(detector.p_values(X), expected.p_values(X), err_msg=case)
    assert_array_equal(detector.score_samples(X), expected.score_samples(X), err_msg=case)
    assert_array_equal(detector.explain(X).relief, expected.explain(X).relief, err_msg=case)
