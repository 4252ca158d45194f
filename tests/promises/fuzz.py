"""Mutated files: each is read or refused with a sentence, in time and in little memory, whatever is in it.

``python -m tests.promises.fuzz --kinds parts --files 100000 --seed 0`` tries files in some processes, each of which
may take 1 GB. A process that a file ends is started again behind it, and the file is told.
"""

import argparse
import collections
import gzip
import io
import itertools
import os
import random
import re
import resource
import selectors
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml
from paretodepth.scoring.explanation import explain_left_out
from paretodepth.tables import write_table
from paretodepth.tables.files import read_table
from paretodepth.tables.reading import Reading
from tests.promises.fuzz_corpus import data_seeds, matrix_seeds, model_seeds, toml_seeds
from tests.promises.fuzz_models import changed, changed_matrices

SECONDS = 10
"""A file may take, on a busy machine."""
MEGABYTES = 1024
"""Of memory that a process may take at any time."""
N_WARM = 200
"""Files of each kind that are tried first, without a limit: to compile takes memory that is no file's fault."""
N_LEFT_OUT = 4
"""Training samples that are explained, at most."""
SCORED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a model may raise whose parts each make sense, when samples are scored with it."""
NUMBERS = [-1, 0, 1, 2, 7, 255, 2**31, 2**53, 2**63, 10**30, -(10**18), 0.5, 1e308, 5e-324]
TOKENS = [b"\x00", b"\xff\xfe", b'"', b"'", b",", b";", b"\n", b"[[", b"]]", b"{", b"}", b"=", b"nan", b"inf", b"1e999"]
TOKENS += [b"-1", b"99999999999999999999", b"true", b"null", b"\\u0000", b"period", b"metric", b"params"]
TOKENS += [b"[[criterion]]", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"PAR1", b"ARROW1\x00\x00"]


class Slow(BaseException):
    """A file took too long."""


def mutated(content, rng):
    """Return bytes with a few random changes."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        start = rng.randrange(len(content) + 1)
        stop = min(len(content), start + rng.choice([0, 1, 1, 2, 4, 16, 200]))
        change = rng.randrange(6)
        if change == 0 and content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        elif change == 1:
            del content[start:stop]
        elif change == 2:
            content[start:start] = content[start:stop] * rng.choice([1, 2, 50])
        elif change == 3:
            content[start:stop] = rng.choice(TOKENS)
        elif change == 4:
            content[start:stop] = rng.randbytes(stop - start)
        else:
            content[start:start] = str(rng.choice(NUMBERS)).encode()
    return bytes(content)


def mutated_data(content, rng):
    """Return a data file with random changes, half of the time within what it packs."""
    if rng.random() < 0.5:
        return mutated(content, rng)
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(mutated(gzip.decompress(content), rng), 1, mtime=0)
    if not content.startswith(b"PK"):
        return mutated(content, rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            new.writestr(name, mutated(old.read(name), rng) if name == chosen else old.read(name))
    return packed.getvalue()


def try_model(path, new):
    """Load a model, and score and explain new samples and training samples with it."""
    try:
        detector = ParetoDepthDetector.load(path)
    except ValueError:
        return "refused"
    model = detector.model_
    left_out = model.rows[:: -(-len(model.rows) // N_LEFT_OUT)]
    end = "scored"
    # Each by itself: what one of them refuses the others may still compute.
    for check in (
        lambda: check_finite({"scores": detector.score_samples(new), "p-values": detector.p_values(new)}),
        lambda: check_explanation(detector.explain(new)),
        lambda: check_explanation(explain_left_out(model, left_out, n_jobs=1)),
    ):
        try:
            check()
        except SCORED:
            end = "not scored"
    return end


def check_finite(answers):
    """Refuse scores and p-values that are not finite."""
    for name, values in answers.items():
        assert np.isfinite(values).all(), f"{name} that are not finite"


def check_explanation(explanation):
    """Refuse what is not finite in an explanation, and read all its sentences."""
    names = ("scores", "p_values", "criterion_p_values", "relief", "pair_p_values", "percentiles")
    check_finite({name: getattr(explanation, name) for name in names})
    assert len(explanation.sentences) == len(explanation)


def try_toml(path, new):
    try:
        criteria = Criterion.from_toml(path)
    except (TypeError, ValueError):
        return "refused"
    criteria_to_toml(criteria)
    return "read"


def try_data(path, new):
    """Read a table and write it as text."""
    try:
        table = read_table(path, format=Reading(note=str))
    except (TypeError, ValueError):
        return "refused"
    try:
        write_table(table, path.with_name("written.jsonl"))
        write_table(table, path.with_name("written.csv"))
    except (TypeError, ValueError):
        return "not written"
    return "read"


def of_content(change):
    return lambda seed, rng: change(seed.content, rng)


KINDS = {
    "model": (model_seeds, of_content(mutated), try_model),
    "toml": (toml_seeds, of_content(mutated), try_toml),
    "data": (data_seeds, of_content(mutated_data), try_data),
    "parts": (model_seeds, of_content(changed), try_model),
    "matrices": (matrix_seeds, of_content(changed_matrices), try_model),
}


def endings(seed, kind):
    return "".join(Path(seed.name).suffixes) if kind == "data" else ".toml" if kind == "toml" else ".model"


def try_file(number, kind, seeds, seed, folder):
    """Try one file, and return how that ended."""
    _, change, attempt = KINDS[kind]
    rng = random.Random(f"{seed} {kind} {number}")
    chosen = rng.choice(seeds)
    path = Path(folder) / f"fuzzed{endings(chosen, kind)}"
    path.write_bytes(change(chosen, rng))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return attempt(path, chosen.new)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit_memory():
    """Let the process reserve no more than makes what it has up to all that is allowed: a huge array is an error."""
    pages, resident, *_ = map(int, Path("/proc/self/statm").read_text().split())
    limit = (pages - resident) * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def refuse_slow(number, frame):
    raise Slow


def peak_megabytes():
    # Not getrusage, which counts what the process had before it was this program.
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024


def work(tasks, corpora, seed, told):
    """Try files one after another, telling of each; never returns."""
    signal.signal(signal.SIGALRM, refuse_slow)
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        for kind, number in tasks:
            try:
                end = try_file(number, kind, corpora[kind], seed, folder)
            except BaseException as error:
                end = f"FAILED {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            os.write(told, f"{kind}|{number}|{end}\n".encode(errors="replace"))
        os.write(told, f"peak|{peak_megabytes()}|\n".encode())
    os._exit(0)


class Worker:
    """A process that tries files, and what it has told."""

    def __init__(self, tasks, corpora, seed):
        self.left, self.corpora, self.seed = collections.deque(tasks), corpora, seed
        self.start()

    def start(self):
        self.reading, writing = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            work(list(self.left), self.corpora, self.seed, writing)
        os.close(writing)
        self.text, self.last = b"", time.monotonic()

    def lines(self):
        """Return what is new, nothing at the end."""
        block = os.read(self.reading, 1 << 16)
        self.last = time.monotonic()
        *lines, self.text = (self.text + block).split(b"\n")
        return [line.decode(errors="replace").split("|", 2) for line in lines], not block

    def restart(self):
        """Go on behind the file that ended the process; return what that was, None if there was none."""
        os.close(self.reading)
        status = os.waitpid(self.process, 0)[1]
        if status == 0 or not self.left:
            return None
        kind, number = self.left.popleft()
        self.start()
        return kind, number, f"FAILED by status {status}"


def fuzz(tasks, corpora, seed, n_workers):
    """Try files in some processes, and return how many ended how, which failed, and the most memory of all."""
    counts, failures, peak = collections.Counter(), [], 0
    selector = selectors.DefaultSelector()
    for number in range(n_workers):
        worker = Worker(tasks[number::n_workers], corpora, seed)
        selector.register(worker.reading, selectors.EVENT_READ, worker)
    while selector.get_map():
        for key, _ in selector.select(timeout=1):
            worker = key.data
            lines, is_end = worker.lines()
            for kind, number, end in lines:
                if kind == "peak":
                    peak = max(peak, int(number))
                    continue
                worker.left.popleft()
                counts[kind, end.split(" ")[0] if end.startswith("FAILED") else end] += 1
                if end.startswith("FAILED"):
                    failures.append((kind, number, end))
            if is_end:
                selector.unregister(worker.reading)
                ended = worker.restart()
                if ended:
                    failures.append(ended)
                    counts[ended[0], "FAILED"] += 1
                    selector.register(worker.reading, selectors.EVENT_READ, worker)
        for key in list(selector.get_map().values()):
            # A loop that never comes back to the interpreter does not hear the alarm.
            if time.monotonic() - key.data.last > 3 * SECONDS:
                os.kill(key.data.process, signal.SIGKILL)
    return counts, failures, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to repeat one")
    parser.add_argument("--ending", default="", help="of data files: only those, say .xlsx")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = options.kinds.split(",")
    corpora = {kind: [seed for seed in KINDS[kind][0]() if seed.name.endswith(options.ending)] for kind in kinds}
    signal.signal(signal.SIGALRM, refuse_slow)
    with tempfile.TemporaryDirectory() as folder:
        for kind, number in itertools.product(kinds, range(N_WARM)):
            try_file(number, kind, corpora[kind], "warm", folder)
    numbers = range(options.first, options.first + options.files)
    tasks = [(kinds[number % len(kinds)], number) for number in numbers]
    start = time.monotonic()
    counts, failures, peak = fuzz(tasks, corpora, options.seed, options.workers)
    for kind, number, end in failures:
        chosen = f"--kinds {options.kinds} --seed {options.seed} --first {number} --files 1"
        print(f"{kind}: {end}; repeat with {chosen}{options.ending and f' --ending {options.ending}'}")
    for (kind, end), count in sorted(counts.items()):
        print(f"{kind}: {count:,} {end}")
    seconds = time.monotonic() - start
    rate = options.files / seconds
    print(f"{options.files:,} files in {seconds:.0f} s, {rate:.0f} a second, {peak} MB at most")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
