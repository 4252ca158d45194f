"""One fitted detector used from many threads and processes at once: same bits, no deadlock."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector, front_numbers
from tests.data import ROOT

pytestmark = [
    pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning"),
    # Python warns of what is tested here.
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]

N_THREADS = 8
SECONDS = 120
X = np.random.default_rng(0).random((150, 3))
NEW = np.random.default_rng(1).random((64, 3)) * 1.2
CRITERIA = [Criterion("place", [0, 1]), Criterion("hour", 2, "cyclic", period=1), Criterion("all", None, "seuclidean")]


@pytest.fixture(scope="module", params=[None, 2])
def detector(request):
    return ParetoDepthDetector(CRITERIA, method="blend", n_jobs=request.param).fit(X)


@pytest.fixture(scope="module")
def expected(detector):
    return detector.score_samples(NEW)


def scores(detector, rows=slice(None)):
    return detector.score_samples(NEW[rows])


def test_many_threads_score_at_once_with_one_detector(detector, expected):
    barrier = threading.Barrier(N_THREADS)

    def work(_):
        barrier.wait(SECONDS)
        return [scores(detector) for _ in range(5)], str(detector.explain(NEW))

    with ThreadPoolExecutor(N_THREADS) as pool:
        results = list(pool.map(work, range(N_THREADS), timeout=SECONDS))
    for repeats, text in results:
        assert text == results[0][1]
        for result in repeats:
            assert_array_equal(result, expected)


def test_threads_that_fit_and_score_do_not_disturb_each_other(detector, expected):
    def work(seed):
        own = np.random.default_rng(seed).random((60, 3))
        return scores(ParetoDepthDetector(CRITERIA, n_jobs=2).fit(own)), scores(detector), front_numbers(own, n_jobs=2)

    alone = [work(seed) for seed in range(N_THREADS)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        together = list(pool.map(work, range(N_THREADS), timeout=SECONDS))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_equal(one, other)
        assert_array_equal(one[1], expected)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_backends_give_the_same_bits(detector, expected, backend):
    blocks = [slice(start, start + 8) for start in range(0, len(NEW), 8)]
    parts = Parallel(n_jobs=2, backend=backend, timeout=SECONDS)(delayed(scores)(detector, rows) for rows in blocks)
    assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_same_bits_however_they_start(detector, expected, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        parts = list(pool.map(scores, [detector] * 2, [slice(0, 30), slice(30, None)], timeout=SECONDS))
    assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_threads_score_gives_the_same_bits(tmp_path):
    # In a process of its own: a deadlock would otherwise hold up the tests.
    code = f"from {__name__} import CRITERIA, NEW, ParetoDepthDetector, X, scores"
    code += """
import os, sys, threading, time
import numpy as np
detector = ParetoDepthDetector(CRITERIA, method="blend", n_jobs=2).fit(X)
expected = scores(detector)
is_over = threading.Event()
def score():
    while not is_over.is_set():
        scores(detector)
threads = [threading.Thread(target=score) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(scores(detector), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
is_over.set()
for thread in threads:
    thread.join()
print("same")
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.stdout == "same\n", done.stderr


@pytest.mark.slow
def test_no_kernel_starts_numbas_own_threads():
    # Its default threading layer may not be entered from two threads at once; joblib's threads do the work here.
    code = f"from {__name__} import CRITERIA, ParetoDepthDetector, X"
    code += """
import numpy as np
from numba.np.ufunc import parallel
ParetoDepthDetector(CRITERIA, n_jobs=2).fit(X).explain(X)
assert not parallel._is_initialized
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=SECONDS)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
def test_a_short_soak_takes_no_more_memory_at_its_end():
    command = [sys.executable, "-m", "tests.promises.soak", "--seconds", "15"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
