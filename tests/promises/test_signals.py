"""Commands that are interrupted, terminated or killed at any moment leave whole files; of the first two nothing else.

``PARETODEPTH_KILLS=200 python -m pytest tests/promises/test_signals.py`` sends 200 signals of each kind to each.
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time

import numpy as np
import pytest

from paretodepth.cli import main

N_KILLS = int(os.environ.get("PARETODEPTH_KILLS", "2"))
PARTS = ".paretodepth-*.part"
# By name: the arguments, what is read from standard input, and the files that are written.
COMMANDS = {
    "detect": ("detect train.csv test.csv --columns x,y --out scores.csv --report page.html", None),
    "fit": ("fit train.csv --columns x,y --model new.model", None),
    "score": ("score old.model - --out scores.csv", "many.csv"),
}
WRITTEN = {"detect": ("scores.csv", "page.html"), "fit": ("new.model",), "score": ("scores.csv",)}
OLD = b"what was there before"


def start(name):
    """Return the process of a command that runs in this folder."""
    arguments, given = COMMANDS[name]
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.argv = ["paretodepth", *arguments.split()]
        sys.stdin = open(given or os.devnull)  # noqa: SIM115
        tempfile.tempdir = os.path.abspath("tmp")
        with contextlib.suppress(KeyboardInterrupt):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        os._exit(code)


def is_whole(name, content, whole):
    """Tell whether a file is the old one or the new one; a page has the time of its making in it."""
    if content == OLD:
        return True
    if name == "page.html":
        return content.startswith(b"<!doctype html>") and content.rstrip().endswith(b"</html>")
    return content == whole


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n_rows in (("train", 60), ("test", 40), ("many", 300)):
        rows = "".join(f"{x:.4f},{y:.4f}\n" for x, y in rng.normal(size=(n_rows, 2)))
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{rows}")
    (tmp_path / "tmp").mkdir()
    assert os.waitpid(start("fit"), 0)[1] == 0
    (tmp_path / "new.model").rename(tmp_path / "old.model")
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="stops too many processes to start each anew")
@pytest.mark.parametrize("name", COMMANDS)
def test_signals_leave_whole_files_and_nothing_else(name, folder):
    begin = time.monotonic()
    assert os.waitpid(start(name), 0)[1] == 0
    seconds = time.monotonic() - begin
    whole = {place: (folder / place).read_bytes() for place in WRITTEN[name]}
    expected = {*os.listdir(folder)}
    rng = random.Random(0)
    n_stopped = n_within = 0
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for number in range(N_KILLS):
            for place in WRITTEN[name]:
                (folder / place).write_bytes(OLD)
            process = start(name)
            deadline = time.monotonic() + rng.random() * seconds
            # At any moment; every other time as soon as a file is being written.
            while time.monotonic() < (deadline if number % 2 == 0 else begin + 10**6):
                if number % 2 and any(folder.glob(PARTS)):
                    n_within += 1
                    break
                if os.waitpid(process, os.WNOHANG)[0]:
                    process = None
                    break
                time.sleep(0.0005)
            if process is not None:
                os.kill(process, kind)
                n_stopped += os.waitpid(process, 0)[1] != 0
            for place in WRITTEN[name]:
                content = (folder / place).read_bytes()
                assert is_whole(place, content, whole[place]), (kind, number, place, content[:80], len(content))
            for part in folder.glob(PARTS):
                assert kind == signal.SIGKILL, (kind, number, part)
                part.unlink()
            assert {*os.listdir(folder)} == expected, (kind, number)
            # Copies of standard input have no name, whatever ends a run.
            assert not os.listdir("tmp"), (kind, number)
    assert n_stopped >= N_KILLS, "the signals must hit the runs"
    assert n_within >= N_KILLS // 2, "some must hit the writing itself"
