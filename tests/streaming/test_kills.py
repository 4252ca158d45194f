"""`watch --state` that is killed at random moments goes on; `PARETODEPTH_KILLS=200` kills as often as a soak does."""

import json
import os
import subprocess
import sys

import pytest

N_KILLS = int(os.environ.get("PARETODEPTH_KILLS", "20"))


@pytest.mark.slow
def test_kills_of_watch_lose_and_double_no_more_than_was_promised(tmp_path):
    command = [sys.executable, "-m", "tests.streaming.killed_watch", str(tmp_path), str(N_KILLS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["kills"] == N_KILLS
    # Some kills fell between a line and the state that holds it.
    assert found["lines that came twice"] > 0


@pytest.mark.slow
def test_a_long_stream_holds_its_memory():
    command = [sys.executable, "-m", "tests.streaming.soak", os.environ.get("PARETODEPTH_SOAK", "9000")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert found["late"] <= found["early"] + 10
