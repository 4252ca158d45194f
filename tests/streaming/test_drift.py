"""The drift signal: what it is by definition, and how often it fires."""

import numpy as np
import pytest

from paretodepth.streaming import StreamingDetector
from paretodepth.streaming.drift import EXPONENTS, DriftMonitor
from tests import naive

N_STREAMS = 20
WINDOW = 200


@pytest.mark.parametrize("seed", range(5))
def test_drift_is_found_as_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    p_values = np.where(np.arange(120) % 60 < 40, 1 - rng.random(120), rng.integers(1, 5, size=120) / 100)
    monitor = DriftMonitor(mean_run=1000)
    found = [place for place, p_value in enumerate(p_values) if monitor.update(p_value)]
    assert found == naive.drifts(p_values.tolist(), EXPONENTS.tolist(), 1000)
    assert found


def test_e_values_have_a_mean_of_1():
    # By the substitution u = p ** e, whose mean is that of e * p ** (e - 1) over uniform p-values.
    edges = np.linspace(0, 1, 200_001)
    for exponent in EXPONENTS:
        assert np.diff(edges**exponent).sum() == pytest.approx(1)


def test_uniform_p_values_seldom_make_a_drift():
    # At most n / mean_run of the streams: here 1,000 / 20,000.
    rng = np.random.default_rng(0)
    n_fired = 0
    for _ in range(200):
        monitor = DriftMonitor(mean_run=20_000)
        n_fired += any([monitor.update(p_value) for p_value in 1 - rng.random(1000)])
    assert n_fired <= 20


@pytest.mark.slow
@pytest.mark.parametrize(("method", "learn"), [("depth", "nominal"), ("blend", "all"), ("blend", "nominal")])
def test_streams_without_change_seldom_drift_and_those_with_a_change_soon_do(method, learn):
    # The change: every column moves by two standard deviations.
    n_false = n_soon = 0
    for seed in range(N_STREAMS):
        rng = np.random.default_rng(seed)
        stream = StreamingDetector(window=WINDOW, alpha=0.05, method=method, learn=learn)
        stream.partial_fit(rng.normal(size=(1000, 2)))
        n_false += len(stream.drifts_) > 0
        n_soon += any(stream.update_one(x).is_drift for x in rng.normal(size=(500, 2)) + 2)
    assert n_false <= 0.05 * N_STREAMS
    assert n_soon >= 0.9 * N_STREAMS
