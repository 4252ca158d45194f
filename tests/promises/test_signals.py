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
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from paretodepth.cli import main
from paretodepth.models.stream_file import load_stream
from paretodepth.streaming.watch import watch

N_KILLS = int(os.environ.get("PARETODEPTH_KILLS", "2"))
PARTS = ".paretodepth-*.part"
N_ROWS = {"train.csv": 60, "test.csv": 40, "many.csv": 300}
# Of the stream: the records that the old state has read, and after how many a new one is written.
N_READ, SAVE_EVERY = 100, 30
STREAM = {"window": 40, "alpha": 0.05}


class Command(NamedTuple):
    """A command's arguments, where its standard input and output are, what it writes, and in how many files."""

    arguments: str
    written: tuple[str, ...]
    n_parts: int = 1
    given: str = os.devnull
    shown: str = os.devnull


COMMANDS = {
    "detect": Command(
        "detect test.csv --reference train.csv --columns x,y --out scores.csv --report page.html",
        ("scores.csv", "page.html"),
        2,
    ),
    "fit": Command("fit train.csv --columns x,y --model new.model", ("new.model",)),
    "score": Command("score old.model - --out scores.csv", ("scores.csv",), given="many.csv"),
    "watch": Command(
        f"watch --state stream.state --save-every {SAVE_EVERY} --replay",
        ("stream.state",),
        -(-(N_ROWS["many.csv"] - N_READ) // SAVE_EVERY),
        given="many.csv",
        shown="lines.jsonl",
    ),
}


def start(command, before=None):
    """Return the process of a command that runs in this folder, where files are as they were before."""
    for place, content in {**(before or {}), command.shown: b""}.items():
        Path(place).write_bytes(content)
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.argv = ["paretodepth", *command.arguments.split()]
        sys.stdin = open(command.given)  # noqa: SIM115
        sys.stdout = open(command.shown, "w")  # noqa: SIM115
        tempfile.tempdir = os.path.abspath("tmp")
        with contextlib.suppress(KeyboardInterrupt):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        os._exit(code)


def is_written(folder, process, nth):
    """Wait until the nth file of a process is being written, and tell whether it is, or the process has ended."""
    encoded = set()
    while not os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        parts = {*folder.glob(PARTS)}
        encoded |= parts
        if parts and len(encoded) == nth:
            return True
        time.sleep(0.0005)
    return False


def is_whole(place, content, known):
    """Tell whether a file is one of those it may be; a page has the time of its making in it."""
    if place == "page.html" and content not in known:
        return content.startswith(b"<!doctype html>") and content.rstrip().endswith(b"</html>")
    return content in known


def check_stream(kind, states, shown, lines):
    """Check that a stream has shown whole lines, and that its state is that after the last of them, or lags a bit."""
    n_read = load_stream("stream.state", {}, dict)["n_read"]
    assert Path("stream.state").read_bytes() == states[n_read]
    assert lines.startswith(shown)
    n_late = N_READ + shown.count(b"\n") - n_read
    if kind == signal.SIGKILL:
        assert 0 <= n_late <= SAVE_EVERY
    else:
        assert n_late == 0
        assert shown[-1:] in (b"", b"\n")


def states_after_each_record():
    """Return the files that hold the state of a stream that nobody stops, after each record and before the first."""
    states = [b""]
    for result in watch("many.csv", **STREAM, state="tmp/state", save_every=1):
        if result["record"] > 1:
            states.append(Path("tmp/state").read_bytes())
    states.append(Path("tmp/state").read_bytes())
    os.unlink("tmp/state")
    return states


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n_rows in N_ROWS.items():
        rows = "".join(f"{x:.4f},{y:.4f}\n" for x, y in rng.normal(size=(n_rows, 2)))
        (tmp_path / name).write_text(f"x,y\n{rows}")
    (tmp_path / "tmp").mkdir()
    assert os.waitpid(start(COMMANDS["fit"]), 0)[1] == 0
    (tmp_path / "new.model").rename(tmp_path / "old.model")
    return tmp_path


def check_end(command, kind, known, expected):
    """Check that each file is whole, and that nothing else is there but what a kill leaves, which is removed."""
    for place in command.written:
        content = Path(place).read_bytes()
        assert is_whole(place, content, known[place]), (place, content[:80], len(content))
    for part in Path().glob(PARTS):
        assert kind == signal.SIGKILL, part
        part.unlink()
    assert {*os.listdir()} == expected
    # Copies of standard input have no name, whatever ends a run.
    assert not os.listdir("tmp")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="stops too many processes to start each anew")
@pytest.mark.parametrize("name", COMMANDS)
def test_signals_leave_whole_files_and_nothing_else(name, folder):
    command = COMMANDS[name]
    states = states_after_each_record() if name == "watch" else []
    before = dict.fromkeys(command.written, states[N_READ] if states else b"what was there before")
    begin = time.monotonic()
    assert os.waitpid(start(command, before), 0)[1] == 0
    seconds = time.monotonic() - begin
    known = {place: [old, *states, Path(place).read_bytes()] for place, old in before.items()}
    lines = Path(command.shown).read_bytes()
    expected = {*os.listdir()}
    rng = random.Random(0)
    n_stopped = n_within = 0
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for number in range(N_KILLS):
            process = start(command, before)
            # At any moment; every other time while a file is being written, each of them in its turn.
            if number % 2:
                n_within += is_written(folder, process, nth=1 + number // 2 % command.n_parts)
            else:
                time.sleep(rng.random() * seconds)
            os.kill(process, kind)
            n_stopped += os.waitpid(process, 0)[1] != 0
            check_end(command, kind, known, expected)
            if states:
                check_stream(kind, states, Path(command.shown).read_bytes(), lines)
    # With -rP this is shown of a test that passed.
    print(f"{3 * N_KILLS} signals to {name}, {n_stopped} ended it, {n_within} came while a file was written")  # noqa: T201
    assert n_stopped >= N_KILLS, "the signals must hit the runs"
    assert n_within >= N_KILLS // 2, "some must hit the writing itself"
