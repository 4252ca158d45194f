"""Fuzzing led by coverage, of the files of `tests.promises.fuzz`: `make fuzz-atheris`."""

import importlib
import pkgutil
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

from paretodepth import _kernels

# Numba compiles no instrumented loops, so these are imported before.
for kernels in pkgutil.iter_modules(_kernels.__path__):
    importlib.import_module(f"paretodepth._kernels.{kernels.name}")
with atheris.instrument_imports(include=["paretodepth", "json", "tomllib"]):
    from tests.promises.fuzz import KINDS, MAGIC, PREFIX, VERSION, hashlib

FOLDER = tempfile.TemporaryDirectory()


def sealed(content):
    """Return a model file with this header and these arrays; the first two bytes tell where one ends."""
    length = int.from_bytes(content[:2], "little")
    whole = PREFIX.pack(MAGIC, VERSION, min(length, max(0, len(content) - 2))) + content[2:]
    return whole + hashlib.sha256(whole).digest()


def try_content(content):
    """Try one file: the first byte chooses its kind."""
    kind = list(KINDS)[content[0] % len(KINDS)] if content else "model"
    _, _, attempt, ending = KINDS[kind]
    path = Path(FOLDER.name) / f"fuzzed{ending}"
    path.write_bytes(sealed(content[1:]) if kind == "sealed model" else content[1:])
    attempt(path)


def seeds(folder):
    """Write valid files for the fuzzer to start from."""
    for number, (kind, (make, *_)) in enumerate(KINDS.items()):
        for index, content in enumerate(make()):
            if kind == "sealed model":
                content = PREFIX.unpack(content[: PREFIX.size])[2].to_bytes(2, "little") + content[PREFIX.size : -32]
            (Path(folder) / f"{number}-{index}").write_bytes(bytes([number]) + content)


def main():
    warnings.simplefilter("ignore")
    corpus = Path(FOLDER.name) / "corpus"
    corpus.mkdir()
    seeds(corpus)
    atheris.Setup([*sys.argv, "-rss_limit_mb=1024", "-timeout=10", "-max_len=40000", str(corpus)], try_content)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
