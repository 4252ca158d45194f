"""What touches the disk: tables of samples, and models."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paretodepth.tables.files import read_chunks, read_table, write_table

__all__ = ["read_chunks", "read_table", "write_table"]


# Looked up on first use (PEP 562): the detector saves models without pyarrow, which tables need.
def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("paretodepth.tables.files"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
