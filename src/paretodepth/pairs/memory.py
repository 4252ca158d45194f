"""How much memory this process can still get. Imports little: to read a file needs it too."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil


def free_bytes(root: Path = Path("/")) -> int:
    """Return how much memory this process can still get: of the machine, of its container and of `ulimit -v`.

    Parameters
    ----------
    root : Path, default=/
        The folder that holds `proc` and `sys`.
    """
    return int(max(0, min(psutil.virtual_memory().available, _free_of_container(root), _free_of_process())))


def _free_of_container(root: Path) -> int | float:
    """Return what the control groups of this process leave it, infinite where there are none."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return float("inf")
    free = float("inf")
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, limit, usage, cached = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            base, limit, usage = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cached = "total_inactive_file"
        else:
            continue
        own = root / base / path.strip("/")
        # A limit of any group around this one counts. Within a container the path may be that of the host, of which
        # only the last folder, the container's own, is there.
        for group in (own, *(parent for parent in own.parents if parent.is_relative_to(root / base))):
            # "max", where there is no limit, is no number; what is used, which takes longer to tell, is not asked then.
            with contextlib.suppress(OSError, ValueError):
                allowed = int((group / limit).read_text())
                used = int((group / usage).read_text()) - _statistic(group / "memory.stat", cached)
                free = min(free, allowed - used)
    return free


def _statistic(path: Path, name: str) -> int:
    """Return a figure of a control group: cached files, say, which give way when memory is needed."""
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) for line in lines if line.split()[0] == name), 0)


def _free_of_process() -> int | float:
    """Return what `ulimit -v` leaves, infinite where there is none."""
    process = psutil.Process()
    if not hasattr(process, "rlimit"):
        return float("inf")
    limit, _ = process.rlimit(psutil.RLIMIT_AS)
    return float("inf") if limit == psutil.RLIM_INFINITY else int(limit) - int(process.memory_info().vms)
