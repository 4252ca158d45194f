"""A share of the fuzzing that `make fuzz` does at length."""

import re
import subprocess
import sys

import pytest

from tests.data import ROOT


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and measures memory as Linux does")
def test_mutated_files_are_read_or_refused_in_time_and_in_little_memory():
    command = [sys.executable, "-m", "tests.promises.fuzz", "--files", "2000", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "2,000 files" in done.stdout
    # A mutator that breaks every file, or none, would test nothing.
    for line in (
        "model: .* scored",
        "sealed model: .* scored",
        "sealed model: .* refused",
        "TOML: .* read",
        "CSV: .* read",
    ):
        assert re.search(line, done.stdout), done.stdout
