"""Random streams; `PARETODEPTH_STREAMS=500` checks as many as a soak does."""

import os

from tests.streaming import random_streams

N_STREAMS = int(os.environ.get("PARETODEPTH_STREAMS", "10"))


def test_random_streams_resume_as_if_they_had_never_stopped_and_fit_as_the_batch_detector():
    counts = random_streams.main(N_STREAMS)
    assert counts["streams"] == N_STREAMS
    assert min(counts[name] for name in ("stops", "fresh fits", "refused", "while fits fail")) > N_STREAMS / 2, counts
