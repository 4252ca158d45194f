"""Dyads of every kind that has ever broken a non-dominated sort."""

import os

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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


def draw_dyads(draw, n_criteria, seed=0, n_dyads=40):
    dyads = DRAWS[draw](np.random.default_rng(seed), n_dyads, n_criteria)
    dyads.flags.writeable = False
    return dyads


def dyad_arrays(n_criteria, max_dyads=24):
    """Hypothesis draws of dyads, mostly tied, with infinity."""
    values = st.one_of(
        st.integers(0, 3).map(float), st.floats(0, 1), st.just(np.inf), st.floats(allow_nan=False, min_value=0)
    )
    return st.integers(0, max_dyads).flatmap(lambda n: arrays(float, (n, n_criteria), elements=values))
