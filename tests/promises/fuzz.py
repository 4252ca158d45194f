"""Mutated model files, TOML files and CSV files: each is read or refused with a sentence, in time and in little memory.

Run by itself, `python -m tests.promises.fuzz --files 50000 --seed 0`, it limits its own memory and prints what it
has seen.
"""

import argparse
import collections
import hashlib
import json
import operator
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml
from paretodepth.criteria.metrics import METRICS
from paretodepth.files.container import MAGIC, PREFIX, VERSION
from paretodepth.files.reading import Reading
from paretodepth.files.tables import read_table
from tests.criteria.metric_draws import is_installed

SECONDS = 10
"""A file may take, on a busy machine."""
MEGABYTES = 500
"""Of memory that the process may take at any time."""
SCORED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a model may raise whose parts each make sense, when samples are scored with it."""

WALKS = [np.cumsum(np.random.default_rng(i).random((4, 2)), axis=0) for i in range(12)]
TABLE = {
    "x": np.random.default_rng(0).random(12),
    "y": np.random.default_rng(1).random(12),
    "word": [f"word {i % 5}" for i in range(12)],
    "walk": WALKS,
    "series": [walk[: 2 + i % 3, 0] for i, walk in enumerate(WALKS)],
}
CRITERIA = {
    "default": [Criterion("x", "x"), Criterion("y", "y", "cityblock")],
    "columns": [
        Criterion("hour", ["x", "y"], "cyclic", period=24),
        Criterion("mixed", ["x", "word"], "gower", missing="ignore"),
        Criterion("shape", ["x", "y"], "mahalanobis"),
    ],
    "sequences": [
        Criterion("walk", "walk", "frechet"),
        Criterion("speed", "walk", "speed", bins=5),
        Criterion("series", "series", "shape_based"),
        Criterion("kind", "word", "mismatch"),
    ],
    "parameters": [Criterion("shape", "walk", "shape", points=5), Criterion("scaled", ["x", "y"], "seuclidean")],
}
if is_installed(METRICS["dtw"]):
    CRITERIA["series"] = [Criterion("series", "series", "dtw", window=2), Criterion("y", "y")]
if is_installed(METRICS["levenshtein"]):
    CRITERIA["text"] = [
        Criterion("letters", "word", "levenshtein", normalized=True),
        Criterion("words", "word", "token_set"),
        Criterion("y", "y"),
    ]
PARAMETERS = {
    "default": {"method": "blend"},
    "columns": {"calibration": "split", "random_state": 0, "depth": "mid"},
    "sequences": {"depth": "insertion", "method": "criteria"},
}
CSV = [
    b'x,y,word\n1,2,a\n3.5,-4,b\n5,6e3,"c,d"\n',
    'größe;wert\n1,5;"zwei\nZeilen"\n2,5;😀\n'.encode(),
    b"\xef\xbb\xbfa\tb\r\n1\t2\r\n3\t4\r\n",
    b"date,flag\n2020-01-01,true\n2021-12-31,false\n,\n",
]
NUMBERS = [-1, 0, 1, 2, 7, 255, 2**31, 2**53, 2**63, 10**30, -(10**18), 0.5, 1e308, 5e-324]
TOKENS = [b"\x00", b"\xff\xfe", b'"', b"'", b",", b";", b"\n", b"[[", b"]]", b"{", b"}", b"=", b"nan", b"inf", b"1e999"]
TOKENS += [
    b"-1",
    b"99999999999999999999",
    b"true",
    b"null",
    b"\\u0000",
    b"period",
    b"metric",
    b"params",
    b"[[criterion]]",
]


class Slow(BaseException):
    """A file took too long."""


def model_files():
    """Return some model files as bytes."""
    files = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m")
        for name, criteria in CRITERIA.items():
            ParetoDepthDetector(criteria, **PARAMETERS.get(name, {})).fit(TABLE).save(path)
            files.append(Path(path).read_bytes())
        matrices = [np.abs(np.subtract.outer(TABLE[name], TABLE[name])) for name in ("x", "y")]
        precomputed = [Criterion(name, metric="precomputed") for name in ("a", "b")]
        ParetoDepthDetector(precomputed).fit(matrices).save(path)
        files.append(Path(path).read_bytes())
    return files


def toml_files():
    return [criteria_to_toml(criteria).encode() for criteria in CRITERIA.values()]


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


def places(node, found):
    """Collect every place of a JSON document: the container and the key."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        found.append((node, key))
        places(node[key], found)
    return found


def resealed(content, rng):
    """Return a model file with its header or arrays changed and the checksum right again."""
    length = PREFIX.unpack(content[: PREFIX.size])[2]
    header, data = content[PREFIX.size : PREFIX.size + length], content[PREFIX.size + length : -32]
    change = rng.randrange(4)
    if change == 0:
        header = mutated(header, rng)
    elif change == 1:
        changed = bytearray(data)
        for _ in range(rng.choice([1, 3, 10])):
            place = 8 * rng.randrange(len(data) // 8)
            number = rng.choice(NUMBERS)
            value = np.float64(number) if rng.random() < 0.5 else np.int64(int(max(min(number, 2**63 - 1), -(2**63))))
            changed[place : place + 8] = value.tobytes()
        data = bytes(changed)
    else:
        document = json.loads(header)
        for _ in range(rng.choice([1, 1, 2, 4])):
            found = places(document, [])
            (container, key), (other, other_key) = rng.choice(found), rng.choice(found)
            values = [
                other[other_key],
                rng.choice(NUMBERS),
                rng.choice(["", "eval", "\ud800", "x" * 999]),
                None,
                [],
                {},
            ]
            container[key] = json.loads(json.dumps(rng.choice(values)))
        header = json.dumps(document).encode()
    whole = PREFIX.pack(MAGIC, VERSION, len(header)) + header + data
    return whole + hashlib.sha256(whole).digest()


def try_model(path):
    """Load a model and score with it."""
    try:
        detector = ParetoDepthDetector.load(path)
    except ValueError:
        return "refused"
    try:
        new = [np.ones((2, 12))] * 2 if any(map(operator.attrgetter("is_precomputed"), detector.criteria_)) else TABLE
        detector.p_values(new)
        detector.explain(new)
    except SCORED:
        return "not scored"
    return "scored"


def try_toml(path):
    try:
        criteria = Criterion.from_toml(path)
    except (TypeError, ValueError):
        return "refused"
    criteria_to_toml(criteria)
    return "read"


def try_csv(path):
    try:
        read_table(path, format=Reading(note=str))
    except (TypeError, ValueError):
        return "refused"
    return "read"


KINDS = {
    "model": (model_files, mutated, try_model, ".model"),
    "sealed model": (model_files, resealed, try_model, ".model"),
    "TOML": (toml_files, mutated, try_toml, ".toml"),
    "CSV": (lambda: CSV, mutated, try_csv, ".csv"),
}


def fuzz(numbers, seed, folder):
    """Try files of all kinds in turn, and return how many ended how."""
    counts = collections.Counter()
    corpora = {kind: make() for kind, (make, *_) in KINDS.items()}
    for number in numbers:
        kind = list(KINDS)[number % len(KINDS)]
        _, change, attempt, ending = KINDS[kind]
        rng = random.Random(f"{seed} {number}")
        content = change(rng.choice(corpora[kind]), rng)
        path = Path(folder) / f"fuzzed{ending}"
        path.write_bytes(content)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            counts[kind, attempt(path)] += 1
        except BaseException:
            print(f"{kind}; repeat with --seed {seed} --first {number} --files 1", file=sys.stderr)
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return counts


def limit_memory():
    """Let the process reserve no more than it has and all that is allowed, so that a huge array is an error."""
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    limit = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def refuse_slow(number, frame):
    raise Slow


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to repeat one")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, refuse_slow)
    with tempfile.TemporaryDirectory() as folder:
        # Some in a process without a limit: compiling takes memory that is no file's fault.
        compiling = os.fork()
        if compiling == 0:
            fuzz(range(20 * len(KINDS)), "compile", folder)
            os._exit(0)
        assert os.waitpid(compiling, 0)[1] == 0
        fuzz(range(20 * len(KINDS)), "compile", folder)
        limit_memory()
        start = time.monotonic()
        counts = fuzz(range(options.first, options.first + options.files), options.seed, folder)
    for (kind, end), count in sorted(counts.items()):
        print(f"{kind}: {count:,} {end}")
    # Not getrusage, which counts what the process had before it was this program.
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024
    print(f"{options.files:,} files in {time.monotonic() - start:.0f} s, {peak} MB at most")
    assert peak < MEGABYTES


if __name__ == "__main__":
    main()
