"""Compiled loops.

Each file is closed: no loop calls one of another file, because numba's cache does not notice
an edit there.
"""

import atexit
import importlib
import pkgutil
import shutil
import tempfile
from collections.abc import Callable
from typing import Any, TypeVar

from numba import config, njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Return a loop that is compiled when it is first called, and then kept in numba's cache."""
    # Nobody passes a loop to another one; what that needs would be a sixth of the time to compile.
    return njit(cache=True, nogil=True, no_cfunc_wrapper=True)(loop)  # type: ignore[call-overload, no-any-return]


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
    compiled(_cached)
except RuntimeError:
    # numba finds no folder for its cache: that of the package cannot be written, and there is no home.
    _use_own_cache()
