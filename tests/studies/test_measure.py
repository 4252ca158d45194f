import sys
import time

import numpy as np

from studies import measure
from studies.measure import peak_bytes, process_peak_bytes, seconds


def sleeping(times):
    """A function that sleeps for each of the times in turn, and then not at all."""
    left = iter(times)
    return lambda: time.sleep(next(left, 0.0))


def test_one_call_is_timed_unless_more_time_is_wanted():
    assert 0.02 < seconds(sleeping([0.02, 10.0])) < 5


def test_a_median_leaves_out_the_call_that_compiles():
    assert 0.0 < seconds(sleeping([0.3]), enough=1.0) < 0.1


def test_calls_end_when_they_have_taken_long_enough():
    assert 0.02 < seconds(sleeping([0.02, 0.02, 10.0]), enough=0.03) < 5


def test_calls_end_after_five():
    calls = []
    seconds(lambda: calls.append(0), enough=10.0)
    assert len(calls) == 5


def test_the_peak_counts_what_a_call_frees_again():
    n_bytes = 2**26
    peak = peak_bytes(lambda: np.ones(n_bytes // 8).sum())
    if sys.platform == "linux":
        # The kernel counts pages in batches, and may be some behind.
        assert 0.95 * n_bytes < peak < 1.5 * n_bytes
        assert process_peak_bytes() > 0.95 * n_bytes
    else:
        assert peak is process_peak_bytes() is None


def test_a_call_is_made_where_the_system_does_not_tell_its_memory(monkeypatch):
    # As on macOS, whose C library has no malloc_trim.
    monkeypatch.setattr(measure.ctypes, "CDLL", lambda name: object())
    calls = []
    assert peak_bytes(lambda: calls.append(0)) is None
    assert calls == [0]
