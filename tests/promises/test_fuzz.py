"""A share of what `python -m tests.promises.fuzz` does at length."""

import collections
import re
import signal
import subprocess
import sys

import pytest

from paretodepth.criteria.metrics import METRICS
from paretodepth.models.model_checks import MEASURES, PARTS, PARTS_OF
from paretodepth.scoring.methods import METHODS
from tests.criteria.metric_draws import is_installed
from tests.data import ROOT
from tests.promises import fuzz
from tests.promises.fuzz_corpus import data_seeds, matrix_seeds, model_seeds, toml_seeds
from tests.promises.fuzz_models import unpacked

ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and measures memory as Linux does")


def run(*options):
    command = [sys.executable, "-m", "tests.promises.fuzz", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.filterwarnings("ignore")
def test_some_mutated_files_are_read_or_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "setitimer", lambda *interval: None)
    counts = collections.Counter()
    # Most data files take a child process each.
    n_files = {"parts": 150, "matrices": 150, "data": 50, "toml": 150}
    corpora = {
        "parts": model_seeds(step=9),
        "matrices": matrix_seeds(),
        "data": data_seeds(),
        "toml": toml_seeds(),
    }
    for kind, seeds in corpora.items():
        counts.update((kind, fuzz.try_file(number, kind, seeds, "test", tmp_path)) for number in range(n_files[kind]))
    # A mutator that breaks every file, or none, would test nothing.
    assert min(counts["parts", "scored"], counts["parts", "refused"]) > 30
    assert min(counts["matrices", "scored"], counts["matrices", "refused"]) > 30
    assert min(counts["data", "read"], counts["data", "refused"]) > 5
    assert min(counts["toml", "read"], counts["toml", "refused"]) > 10


@pytest.mark.slow
def test_the_corpus_has_every_metric_and_method_and_every_kind_of_array():
    seeds = model_seeds()
    known = {name for name, metric in METRICS.items() if is_installed(metric)} | {"precomputed"}
    for method in METHODS:
        of_method = [seed.name for seed in seeds if f": {method} " in seed.name]
        names = {name for seed in of_method for name in seed.split(" ", 1)[1].split(":")[0].split(", ")}
        assert names == known
    found = {name for seed in [*seeds, *matrix_seeds()] for name in unpacked(seed.content)[1]}
    expected = {*PARTS, *(name for parts in PARTS_OF.values() for name in parts)}
    expected |= {f"{part}/{name}" for part in ("measures", "held_out") for name in MEASURES}
    expected |= {f"{part}/0/{name}" for part in ("kept", "sampled") for name in ("dyads", "starts")}
    assert expected | {"use", "columns/0", "columns/0/starts"} <= found


@ON_LINUX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("model,toml", ["model: .* refused", "toml: .* read"]),
        ("parts", ["parts: .* scored", "parts: .* refused"]),
        ("matrices", ["matrices: .* scored", "matrices: .* refused"]),
        ("data", ["data: .* read", "data: .* refused"]),
    ],
)
def test_mutated_files_are_read_or_refused_in_time_and_in_little_memory(kinds, expected):
    n_files = 500 if kinds == "data" else 1500
    done = run("--kinds", kinds, "--files", str(n_files), "--seed", "1", "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{n_files:,} files" in done.stdout
    for line in expected:
        assert re.search(line, done.stdout), done.stdout


@ON_LINUX
@pytest.mark.slow
def test_a_file_that_ends_or_holds_up_its_process_or_takes_its_memory_is_told(monkeypatch):
    code = """
import os, signal, sys, time
from tests.promises import fuzz

def attempt(path, new):
    number = int(path.read_bytes())
    if number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 5:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(60)
    if number == 7:
        bytes(2 << 30)
    return "read"

numbers = iter(range(100))
fuzz.SECONDS, fuzz.N_WARM = 1, 0
fuzz.KINDS = {"odd": (lambda: [fuzz.toml_seeds()[0]], None, attempt)}
def try_file(number, kind, seeds, seed, folder):
    path = fuzz.Path(folder) / "a"
    path.write_text(str(number))
    return attempt(path, None)
fuzz.try_file = try_file
sys.argv = ["fuzz", "--kinds", "odd", "--files", "12", "--workers", "2"]
fuzz.main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"odd: FAILED by status {int(signal.SIGSEGV)}; repeat with --kinds odd --seed 0 --first 3" in done.stdout
    assert f"odd: FAILED by status {int(signal.SIGKILL)}; repeat with --kinds odd --seed 0 --first 5" in done.stdout
    assert "odd: FAILED MemoryError: ; repeat with --kinds odd --seed 0 --first 7" in done.stdout
    assert "odd: 3 FAILED" in done.stdout
    assert "odd: 9 read" in done.stdout
