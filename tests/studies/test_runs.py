import json
import os
import signal
import subprocess
import sys
import time

import pytest

from paretodepth._blocks import progress_to
from studies.paper.theorem2 import EXPERIMENT
from studies.runs import finished_runs


@pytest.mark.slow
def test_an_interrupted_experiment_goes_on_and_gives_the_same_numbers(tmp_path):
    command = [sys.executable, "-m", "studies", "reproduce", "dyads"]
    interrupted, whole = tmp_path / "interrupted", tmp_path / "whole"
    options = ["--runs", "2", "--jobs", "1"]
    process = subprocess.Popen([*command, *options, "--out", str(interrupted)], stdout=subprocess.DEVNULL)
    path = interrupted / "reproduction" / "dyads.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and path.read_text().count("\n") >= 2):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = path.read_text().splitlines()[1:]
    assert len(finished) == 1
    with path.open("a") as file:
        file.write('{"seed": 1, "val')
    for out in (interrupted, whole):
        subprocess.run([*command, *options, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    after = path.read_text().splitlines()
    assert after[1 : len(finished) + 1] == finished
    other = (whole / "reproduction" / "dyads.jsonl").read_text().splitlines()
    assert sorted(map(json.dumps, map(json.loads, after))) == sorted(map(json.dumps, map(json.loads, other)))
    tables = [(out / "reproduction" / "dyads_fits.csv").read_text() for out in (interrupted, whole)]
    assert tables[0] == tables[1]


def test_runs_of_other_settings_are_not_taken_over(tmp_path):
    path = tmp_path / "runs.jsonl"
    few = finished_runs(EXPERIMENT, {"counts": [10]}, [0, 1], path)
    more = finished_runs(EXPERIMENT, {"counts": [10, 20]}, [0, 1], path)
    assert len(few[0]["optimal"]) == 1
    assert len(more[0]["optimal"]) == 2


def test_who_watches_is_told_how_many_runs_are_finished(tmp_path):
    told = []
    with progress_to(lambda *state: told.append(state)):
        for seeds in ([0, 1], [0, 1, 2, 3]):
            finished_runs(EXPERIMENT, {"counts": [10]}, seeds, tmp_path / "runs.jsonl")
    assert told == [("theorem2", n_done, 2) for n_done in (0, 1, 2)] + [("theorem2", n_done, 4) for n_done in (2, 3, 4)]
