"""A long stream whose memory must not grow: python -m tests.streaming.soak [N_SAMPLES], 100,000 by default."""

import json
import sys

import numpy as np
import psutil

from paretodepth import Criterion
from paretodepth.streaming import StreamingDetector


def main(n_samples):
    """Print the memory after a third of the samples and at the end, in megabytes."""
    rng = np.random.default_rng(0)
    criteria = [Criterion("x", "x"), Criterion("scaled", ["x", "y"], "scaled")]
    stream = StreamingDetector(criteria, window=200, alpha=0.02)
    process, early = psutil.Process(), 0.0
    for number in range(n_samples):
        # The level moves all the time, and now and then a sample is odd.
        x, y = rng.normal(size=2) + np.sin(number / 3000) + (20 if number % 500 == 0 else 0)
        stream.update_one({"x": x, "y": y, "note": f"sample {number}"})
        if number == n_samples // 3:
            early = process.memory_info().rss / 1e6
    late = process.memory_info().rss / 1e6
    print(json.dumps({"samples": n_samples, "early": round(early, 1), "late": round(late, 1)}))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
