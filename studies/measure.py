"""Time and memory that a call takes."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from pathlib import Path

ENOUGH_SECONDS = 1.5
"""Benchmarks repeat calls for this long."""
MAX_CALLS = 5
"""Calls that a median time is taken of at most."""


def seconds(function: Callable[[], object], *, enough: float = 0.0) -> float:
    """Return the median time of calls, which are repeated up to five times until they have taken `enough` seconds."""
    times: list[float] = []
    while not times or (len(times) < MAX_CALLS and sum(times) < enough):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_bytes(function: Callable[[], object]) -> int | None:
    """Return by how much a call raised the memory in use at its peak; None where the system does not report it."""
    try:
        # Memory that was freed but kept would be used again without being counted.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident("VmRSS")
    except (OSError, AttributeError, TypeError):
        # Not Linux; the call is made all the same, for its result is waited for.
        function()
        return None
    function()
    return _resident("VmHWM") - before


def process_peak_bytes() -> int | None:
    """Return the peak memory of this process; None where the system does not report it."""
    try:
        return _resident("VmHWM")
    except OSError:
        return None


def _resident(field: str) -> int:
    """Return a line of the process's memory status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")
