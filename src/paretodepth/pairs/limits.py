"""How much memory a fit needs and may take, and how much is free. Imports little: readers of files need it too."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil

from paretodepth._checks import check_choice, check_count, check_optional_count

N_LISTED = 32
"""Nearest samples that are listed in one pass over the pairs; a larger connected k needs further passes."""
FREE_SHARE = 0.5
"""Of the free memory that a fit takes by default."""
HELD_SHARE = 0.125
"""Of the limit, up to which dissimilarities are computed once and held."""
MAX_HELD_BYTES = 2**31
"""Up to which they are, however high the limit."""
MAX_HELD_PAIRWISE = 2**28
"""The same if only fronts of pairs of criteria are made, which do not need all dissimilarities at once."""
SMALLEST_LIMIT = 2**27
"""For blocks, the dyads that show typical dissimilarities, and fronts of few dyads."""
MAX_BLOCK_BYTES = 2**27
"""For the nearest dyads of some samples, in the order of their depth."""
KEPT_BYTES = 256
"""For each dyad of capped fronts, sorted and indexed."""
MAX_PAIRWISE = 2**23
"""Dyads that the fronts of all pairs of criteria hold together; with what it takes to answer depths, 56 bytes each."""
PAIRWISE_BYTES = 64
"""For each dyad that fronts of pairs of criteria hold; the pairs are sorted one after the other."""


class Limits(NamedTuple):
    """What a fit may use: fronts up to a depth and bytes of memory.

    `max_kept` dyads are the most that fronts of pairs of criteria hold together. Scores depend on it, so it never
    follows from the memory that happens to be free.
    """

    max_depth: int | Literal["auto"] | None
    n_bytes: int
    max_kept: int = MAX_PAIRWISE

    @classmethod
    def checked(cls, max_depth: object, memory_limit: object, caller: str) -> Limits:
        """Return the limits as given to a detector; a memory limit of None stands for half of what is free."""
        cap = check_cap(max_depth, "max_depth", caller)
        if memory_limit is None:
            return cls(cap, int(FREE_SHARE * free_bytes()))
        n_bytes = check_count(memory_limit, "memory_limit", caller)
        return cls(cap, n_bytes, min(MAX_PAIRWISE, n_bytes // KEPT_BYTES))

    # Checked beforehand by sizes alone: a fit that fails after an hour, or takes the machine with it, helps nobody.
    def check(self, n_samples: int, n_criteria: int, caller: str) -> None:
        """Refuse a fit with fronts of all criteria that needs more memory."""
        n_pairs = n_samples * (n_samples - 1) // 2
        needed = listing_bytes(n_samples, n_criteria)
        needed += SMALLEST_LIMIT if self.max_depth is not None else sorting_bytes(n_pairs, n_criteria)
        check_memory(needed, self.n_bytes, n_samples, n_pairs, caller)

    def check_pair_fronts(self, n_samples: int, n_criteria: int, caller: str) -> None:
        """Refuse a fit with fronts of pairs of criteria that needs more memory."""
        n_pairs = n_samples * (n_samples - 1) // 2
        n_kept = min(self.max_kept, n_pairs * max(1, n_criteria * (n_criteria - 1) // 2))
        needed = SMALLEST_LIMIT + nearest_bytes(n_samples, n_criteria) + PAIRWISE_BYTES * n_kept
        check_memory(needed, self.n_bytes, n_samples, n_pairs, caller)

    def holds(self, n_pairs: int, n_criteria: int) -> bool:
        """Return whether to hold the dyads of all pairs."""
        return self.max_depth is None or 8 * n_pairs * n_criteria <= min(MAX_HELD_BYTES, HELD_SHARE * self.n_bytes)

    def holds_for_pair_fronts(self, n_pairs: int, n_criteria: int) -> bool:
        """Return whether to hold the dyads of all pairs for fronts of pairs of criteria: only if they are few."""
        return 8 * n_pairs * n_criteria <= min(MAX_HELD_PAIRWISE, HELD_SHARE * self.n_bytes)


def sorting_bytes(n_dyads: int, n_criteria: int) -> int:
    """Return what it takes to hold, sort and index dyads."""
    return n_dyads * (32 * n_criteria + 64)


def listing_bytes(n_samples: int, n_criteria: int) -> int:
    """Return what it takes to list the nearest of each sample with their dyads, and to measure these."""
    # Neighbors in each criterion, with a dyad, a number and a sum each; twice, while the parts are joined.
    lists = 2 * 8 * min(N_LISTED, n_samples - 1) * n_samples * n_criteria * (n_criteria + 2)
    # Dyads of more neighbors come in blocks, of which there are several copies at a time.
    return lists + min(MAX_BLOCK_BYTES, 8 * 8 * n_samples**2 * n_criteria**2)


def nearest_bytes(n_samples: int, n_criteria: int) -> int:
    """Return what it takes to keep the dyads of all samples with their 20 nearest in each criterion, and to measure."""
    return 2 * 8 * 20 * n_samples * n_criteria * (n_criteria + 1)


def check_cap(value: object, parameter: str, caller: str) -> Any:
    """Return an integer of at least 1, "auto" or None."""
    if isinstance(value, str):
        return check_choice(value, parameter, ("auto",), caller)
    return check_optional_count(value, parameter, caller)


def check_memory(n_needed: int, n_allowed: int, n_samples: int, n_dyads: int, caller: str) -> None:
    """Refuse a fit that needs more memory than is allowed."""
    if n_needed > n_allowed:
        raise ValueError(
            f"The 'memory_limit' parameter of {caller} must allow for what the fit needs, about {n_needed:,} bytes for "
            f"{n_dyads:,} dyads of {n_samples:,} samples. Got {n_allowed:,} instead, half of what is free if None "
            "was given; set max_depth='auto' for exact fronts up to a depth in little memory, or raise memory_limit."
        )


def free_bytes(root: Path = Path("/")) -> int:
    """Return how much memory this process can still get, by the machine, its container and `ulimit -v`.

    `root` is the folder that holds `proc` and `sys`.
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
            # "max", where there is no limit, is no number; what is used, which takes longer to read, is not read then.
            with contextlib.suppress(OSError, ValueError):
                allowed = int((group / limit).read_text())
                used = int((group / usage).read_text()) - _statistic(group / "memory.stat", cached)
                free = min(free, allowed - used)
    return free


def _statistic(path: Path, name: str) -> int:
    """Return a figure of a control group, such as its cached files, which give way when memory is needed."""
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) for line in lines if line.split()[0] == name), 0)


def _free_of_process() -> int | float:
    """Return what `ulimit -v` leaves, infinite where there is none."""
    process = psutil.Process()
    if not hasattr(process, "rlimit"):
        return float("inf")
    limit, _ = process.rlimit(psutil.RLIMIT_AS)
    return float("inf") if limit == psutil.RLIM_INFINITY else int(limit) - int(process.memory_info().vms)
