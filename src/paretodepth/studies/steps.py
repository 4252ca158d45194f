"""What a study says that it is doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paretodepth._blocks import tell, watched


@contextmanager
def step(title: str, n_done: int = 0, n_all: int = 0) -> Iterator[None]:
    """Tell who watches what is being done, after how many of how many steps, and nothing of the phases within.

    A study has few steps and makes many fits; and what is timed must not wait for a terminal.
    """
    tell(title, n_done, n_all)
    with watched(lambda title, n_done, n_all: None):
        yield
