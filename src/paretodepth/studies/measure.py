"""Time and memory that a call takes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path


def peak_bytes(function: Callable[[], object]) -> int | None:
    """Return by how much a call raised the memory in use at its peak; None where the system does not tell."""
    try:
        # Memory that was freed but kept would be used again and not be seen.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident("VmRSS")
        function()
        return _resident("VmHWM") - before
    except (OSError, AttributeError):
        return None


def _resident(field: str) -> int:
    """Return a line of the process's memory status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")
