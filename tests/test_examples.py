"""The examples run and show what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paretodepth.metrics.registry import METRICS
from tests.metric_draws import is_installed

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("PARETODEPTH_DATA", ROOT.parent / "shared" / "data"))


def run(name, *arguments):
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def areas(output):
    found = re.findall(r"^(\w.*\w) +AUC ([\d.]+)$", output, flags=re.MULTILINE)
    return {name.strip(): float(area) for name, area in found}


def test_odd_invoices_show_in_no_single_criterion_but_in_all_together():
    done = run("invoices.py")
    if not is_installed(METRICS["levenshtein"]):
        assert 'pip install "paretodepth[text]"' in done.stderr
        return
    assert done.returncode == 0, done.stderr
    together, *alone = areas(done.stdout).values()
    # Of 20 odd and 180 nominal invoices the AUC of a criterion that tells nothing has an error of 0.07.
    assert together > 0.9
    assert len(alone) == 4
    assert all(0.3 < area < 0.7 for area in alone)
    found, false_alarms = map(
        int, re.search(r"(\d+) of 20 odd invoices found, (\d+) false alarms", done.stdout).groups()
    )
    assert found >= 15
    # At alpha = 0.02 more than nine of 180 happen once in a hundred fits.
    assert false_alarms <= 9
    assert "Advice: " in done.stdout


def test_digits_are_told_apart_by_their_views():
    done = run("digits.py", "--data", str(DATA))
    if not (DATA / "mfeat").is_dir():
        assert done.returncode == 1
        assert "set PARETODEPTH_DATA to the folder that holds mfeat" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    together, *alone = areas(done.stdout).values()
    assert together > max(alone) > 0.9


@pytest.mark.parametrize("option", [[], ["--data", "no such folder"]])
def test_without_data_the_digits_say_where_it_is_looked_for(option, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", "no such folder")
    done = run("digits.py", *option)
    assert done.returncode == 1
    assert "There is no folder no such folder/mfeat; set PARETODEPTH_DATA" in done.stderr
