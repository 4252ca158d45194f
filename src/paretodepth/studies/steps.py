"""What a study says that it is doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paretodepth._blocks import phase, watched


@contextmanager
def step(title: str) -> Iterator[None]:
    """Tell who watches what is being done, and nothing of the phases within.

    A study has few steps and makes many fits; and what is timed must not wait for a terminal.
    """
    with phase(title), watched(lambda title, n_done, n_all: None):
        yield
