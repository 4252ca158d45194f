"""Coverage-guided fuzzing of the files of `tests.promises.fuzz`; needs the dependency group "fuzz".

Run with ``python -m tests.promises.fuzz_atheris -max_total_time=600``.
"""

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
    from tests.promises.fuzz import KINDS

FOLDER = tempfile.TemporaryDirectory()
TRIED = ("model", "toml", "data")
SEEDS = {kind: KINDS[kind][0]()[:250] for kind in TRIED}


def try_content(content):
    """Try one file: the first byte chooses its kind, the second the samples to score; data files tell their format."""
    kind, number = (TRIED[content[0] % len(TRIED)], content[1]) if len(content) > 1 else ("model", 0)
    path = Path(FOLDER.name) / "fuzzed"
    path.write_bytes(content[2:])
    KINDS[kind][2](path, SEEDS[kind][number % len(SEEDS[kind])].new)


def write_seeds(folder):
    """Write valid files for the fuzzer to start from."""
    for number, kind in enumerate(TRIED):
        for index, seed in enumerate(SEEDS[kind]):
            (Path(folder) / f"{number}-{index}").write_bytes(bytes([number, index]) + seed.content)


def main():
    warnings.simplefilter("ignore")
    corpus = Path(FOLDER.name) / "corpus"
    corpus.mkdir()
    write_seeds(corpus)
    atheris.Setup([*sys.argv, "-rss_limit_mb=1024", "-timeout=10", "-max_len=40000", str(corpus)], try_content)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
