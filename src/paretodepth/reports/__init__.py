"""The whole job on tables, and what is told of it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paretodepth.reports.detection import detect
    from paretodepth.reports.frames import report
    from paretodepth.reports.page import write_report

__all__ = ["detect", "report", "write_report"]

_HOMES = {
    "detect": "paretodepth.reports.detection",
    "report": "paretodepth.reports.frames",
    "write_report": "paretodepth.reports.page",
}


# Looked up on first use (PEP 562): the command line names this room before it needs pyarrow.
def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
