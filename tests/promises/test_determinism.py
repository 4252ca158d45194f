"""Same input, seed and version: the same bits, whatever the threads, blocks and hashes; and whatever numba's cache."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import paretodepth
from paretodepth import ParetoDepthDetector
from tests.data import ROOT
from tests.draws import small_blocks
from tests.promises import golden

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


def numbers(found, kind):
    return {name: [float.fromhex(value) for value in of[kind]] for name, of in found.items()}


@pytest.fixture(scope="module")
def found():
    return golden.scores()


def test_scores_are_those_of_the_golden_file(found):
    # If a change of scores is meant, run python -m tests.promises.golden and say so in CHANGELOG.md.
    expected = json.loads(golden.PATH.read_text())
    for kind in ("depth", "p-value"):
        assert numbers(found, kind) == numbers(expected, kind)
    for kind in ("score", "training"):
        # Surprises are logarithms, whose last bit may differ from processor to processor.
        for name, values in numbers(found, kind).items():
            np.testing.assert_allclose(values, numbers(expected, kind)[name], rtol=1e-14, err_msg=f"{name}, {kind}")


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(found, n_jobs):
    assert golden.scores(n_jobs) == found


@pytest.mark.parametrize("n_values", [1, 97, 1000])
def test_block_sizes_change_no_bit(found, n_values):
    with small_blocks(n_values):
        assert golden.scores(2) == found


@pytest.mark.slow
def test_the_seed_of_hashes_changes_no_bit(found):
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "tests.promises.golden", "1"]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        assert json.loads(done.stdout) == found


def test_a_second_fit_gives_the_same_bits_and_leaves_the_first_alone():
    X = np.random.default_rng(0).random((50, 2))
    first = ParetoDepthDetector(calibration="split", random_state=3).fit(X)
    before = first.score_samples(X)
    assert_array_equal(ParetoDepthDetector(calibration="split", random_state=3).fit(X).score_samples(X), before)
    assert_array_equal(first.score_samples(X), before)


SORT = "from paretodepth import front_numbers; print(*front_numbers([[1, 4], [2, 2], [4, 1], [3, 3], [4, 4], [2, 2]]))"


def sorted_by(folder, **environment):
    """Sort with the package in a folder, in a process with no other variables, and return what it prints."""
    environment |= {"PYTHONPATH": str(folder), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-B", "-c", SORT], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip(), done.stderr


@pytest.fixture
def installed(tmp_path):
    """A copy of the package without any cache."""
    package = Path(paretodepth.__file__).parent
    shutil.copytree(package, tmp_path / "paretodepth", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.slow
def test_a_cold_and_a_stale_cache_give_the_right_answer(installed):
    cache = installed / "cache"
    assert sorted_by(installed, NUMBA_CACHE_DIR=str(cache)) == ("1 1 1 2 3 1", "")
    compiled = set(cache.rglob("*.nb*"))
    assert compiled
    # The kernel changes in its place, to number all fronts 11. What was compiled before must not be used.
    kernel = installed / "paretodepth" / "_kernels" / "two_criteria.py"
    before, after = kernel.read_text().split("    n_dyads = pairs.shape[0]\n", maxsplit=1)
    assert before.rsplit("def ", maxsplit=1)[1].startswith("number_pairs(")
    kernel.write_text(f"{before}    n_dyads = pairs.shape[0]; return np.full(n_dyads, 11)\n{after}")
    assert sorted_by(installed, NUMBA_CACHE_DIR=str(cache)) == ("11 11 11 11 11 11", "")


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_and_no_home_are_no_hindrance(installed):
    # A file where the folder would be: also the superuser, to whom no folder is closed, cannot write there.
    (installed / "paretodepth" / "_kernels" / "__pycache__").write_text("")
    assert sorted_by(installed, HOME="/dev/null/none", TMPDIR=str(installed)) == ("1 1 1 2 3 1", "")
    assert not list(installed.glob("paretodepth-*")), "the cache of the process must go with it"
