"""Kills `watch --state` at random moments and looks at what came out: python -m tests.streaming.killed_watch FOLDER N.

Each run is a fork of this process, which has imported everything, so that the kills hit the work and not the start.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

N_RECORDS, SAVE_EVERY = 600, 7
OPTIONS = ["--window", "60", "--refresh", "25", "--alpha", "0.05", "--method", "depth"]


def write_records(path):
    """Write records of which some are odd, some cannot be read, and the last third is of another kind."""
    rng = np.random.default_rng(0)
    lines = [
        json.dumps({"x": x, "y": y}) for x, y in rng.normal(size=(N_RECORDS, 2)) + (np.arange(N_RECORDS) > 400)[:, None]
    ]
    for place in (5, 150, 333):
        lines[place] = '{"x": "broken"}'
    path.write_text("\n".join(lines) + "\n")


def started(records, out, notes, arguments):
    """Return the process of a run of `watch` with these files as its streams."""
    process = os.fork()
    if process:
        return process
    for file, descriptor, flags in ((records, 0, os.O_RDONLY), (out, 1, os.O_WRONLY), (notes, 2, os.O_WRONLY)):
        os.dup2(os.open(file, flags | (os.O_CREAT | os.O_TRUNC if descriptor else 0), 0o600), descriptor)
    sys.argv = ["paretodepth", "watch", *OPTIONS, *arguments]
    from paretodepth.cli import main

    try:
        main()
    except SystemExit as ending:
        sys.stdout.flush()
        os._exit(ending.code or 0)


def ended(process):
    """Return how a process ended: its exit code, minus the signal if one killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def whole_lines(path):
    """Return what a run has written, without a last line that was cut."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def check_lines(lines, expected, first):
    """Check that a run wrote record after record from one on, each as if nobody had been killed."""
    numbers = [line["record"] for line in lines]
    assert numbers == list(range(first, first + len(lines))), (first, numbers[:3])
    assert lines == expected[first - 1 : first - 1 + len(lines)]


def wait_for_lines(path, n_lines):
    """Wait until a run has written so many lines, or has had the time to."""
    last = time.monotonic() + 10
    while time.monotonic() < last and path.read_bytes().count(b"\n") < n_lines:
        time.sleep(0.002)


def killed_course(folder, expected, rng, most):
    """Run the whole stream, killed again and again; return how often, and how many lines came twice."""
    state, n_kills, n_again, n_shown = folder / "state", 0, 0, 0
    while True:
        out, notes = folder / "out", folder / "notes"
        out.write_text("")
        arguments = ["--state", str(state), "--replay", "--save-every", str(SAVE_EVERY)]
        process = started(folder / "records", out, notes, arguments)
        if n_kills < most:
            wait_for_lines(out, rng.randrange(60))
            time.sleep(rng.uniform(0, 0.02))
            os.kill(process, signal.SIGKILL)
        code = ended(process)
        lines = whole_lines(out)
        said = notes.read_text()
        if lines:
            first = lines[0]["record"]
            # Nothing is left out; what comes again is what came since the last state, and it is said where that was.
            assert first <= n_shown + 1
            assert n_shown + 1 - first <= SAVE_EVERY
            assert first == 1 or f"resumes after record {first - 1:,}" in said
            check_lines(lines, expected, first)
            n_again += n_shown + 1 - first
            n_shown = max(n_shown, lines[-1]["record"])
        if code == 0:
            state.unlink()
            assert n_shown == N_RECORDS
            return n_kills, n_again
        assert code == -signal.SIGKILL, (code, said)
        n_kills += 1


def main(folder, n_kills):
    """Kill so often, in as many courses as it takes."""
    folder = Path(folder)
    write_records(folder / "records")
    assert ended(started(folder / "records", folder / "expected", folder / "notes", [])) == 0
    expected = whole_lines(folder / "expected")
    assert len(expected) == N_RECORDS
    rng = random.Random(0)
    done = again = 0
    while done < n_kills:
        killed, repeated = killed_course(folder, expected, rng, n_kills - done)
        done, again = done + killed, again + repeated
    # Asked to stop, it writes the state first, and nothing comes again.
    (folder / "out").write_text("")
    process = started(folder / "records", folder / "out", folder / "notes", ["--state", str(folder / "state")])
    wait_for_lines(folder / "out", 200)
    os.kill(process, signal.SIGTERM)
    code = ended(process)
    lines = whole_lines(folder / "out")
    assert code == 128 + signal.SIGTERM or (code == 0 and len(lines) == N_RECORDS), code
    check_lines(lines, expected, 1)
    arguments = ["--state", str(folder / "state"), "--replay"]
    assert ended(started(folder / "records", folder / "out", folder / "notes", arguments)) == 0
    check_lines(whole_lines(folder / "out"), expected, len(lines) + 1)
    print(json.dumps({"kills": done, "lines that came twice": again}))  # noqa: T201


if __name__ == "__main__":
    import paretodepth.cli
    import paretodepth.streaming.watch

    # What is compiled before is not compiled in every run.
    stream = paretodepth.streaming.StreamingDetector(window=60, alpha=0.05).partial_fit(
        np.random.default_rng(0).normal(size=(90, 2))
    )
    stream.explain_one([9.0, 9.0])
    main(sys.argv[1], int(sys.argv[2]))
