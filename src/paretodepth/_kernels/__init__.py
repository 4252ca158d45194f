"""Compiled loops.

Each file is closed: it imports numpy and numba only, because numba's cache does not notice
an edit in another file.
"""

import atexit
import importlib
import pkgutil
import shutil
import tempfile

from numba import config, njit


def _cached() -> None:
    """Stand for any loop."""


def _use_own_cache() -> None:
    """Let the loops be cached in a folder of this process alone, which goes when it ends.

    Nobody else may write there: numba runs what it finds in a cache.
    """
    folder = tempfile.mkdtemp(prefix="paretodepth-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before, config.CACHE_DIR = config.CACHE_DIR, folder  # type: ignore[attr-defined]
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    config.CACHE_DIR = before  # type: ignore[attr-defined]


try:
    njit(cache=True)(_cached)
except RuntimeError:
    # numba finds no folder for its cache: that of the package cannot be written, and there is no home.
    _use_own_cache()
