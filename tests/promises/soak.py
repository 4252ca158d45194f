"""Fits, scores, saves and loads from several threads for a while: same bits all the time, memory flat.

`python -m tests.promises.soak --seconds 600`
"""

import argparse
import gc
import os
import resource
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector

N_THREADS = 4
MEGABYTES = 24
"""That memory may grow by after the first third of the time: allocators keep some."""
X = np.random.default_rng(0).random((120, 2))
NEW = np.random.default_rng(1).random((40, 2)) * 1.2
WORDS = {"place": X, "name": [f"sample {i * i % 37}" for i in range(len(X))]}
DETECTORS = {
    "numbers": (lambda: ParetoDepthDetector(method="blend", n_jobs=2), X, NEW),
    "mixed": (
        lambda: ParetoDepthDetector([Criterion("place", "place"), Criterion("name", "name", "mismatch")], depth="mid"),
        WORDS,
        {name: column[:20] for name, column in WORDS.items()},
    ),
}


def resident():
    """Return the memory in use, in megabytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def round_of(name, folder, expected):
    """Fit, score, explain, save, load and score again."""
    make, training, new = DETECTORS[name]
    detector = make().fit(training)
    path = os.path.join(folder, f"{name}-{threading.get_ident()}")
    detector.save(path)
    for one in (detector, ParetoDepthDetector.load(path)):
        assert one.score_samples(new).tobytes() == expected[name]
        one.explain(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    seconds = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    expected = {
        name: make().fit(training).score_samples(new).tobytes() for name, (make, training, new) in DETECTORS.items()
    }
    start = time.monotonic()
    n_rounds, errors, readings = [0] * N_THREADS, [], []

    def work(thread):
        try:
            while time.monotonic() < start + seconds and not errors:
                round_of(list(DETECTORS)[n_rounds[thread] % len(DETECTORS)], folder, expected)
                n_rounds[thread] += 1
        except BaseException as error:
            errors.append(error)
            raise

    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(N_THREADS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(seconds / 60)
            readings.append(resident())
        for thread in threads:
            thread.join()
    settled = max(readings[len(readings) // 6 : len(readings) // 3])
    last = min(readings[-len(readings) // 6 :])
    print(f"{sum(n_rounds):,} rounds of {N_THREADS} threads in {seconds:.0f} s, {settled:.0f} MB, then {last:.0f} MB")
    assert not errors
    assert last < settled + MEGABYTES


if __name__ == "__main__":
    main()
