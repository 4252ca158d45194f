"""Files that a child process reads within limits: workbooks as CSV, typed files as a plain Arrow stream.

A few bytes of such a file may stand for terabytes, or make the library that reads it end the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from paretodepth._checks import check_extra
from paretodepth.pairs.limits import free_bytes
from paretodepth.tables.delimited import Dialect, read_rows
from paretodepth.tables.expected_columns import Batches, Expected
from paretodepth.tables.limited import TOO_LARGE
from paretodepth.tables.sources import MAX_BYTES, MAX_RATIO, refuse_unreadable, temporary

MAX_CHILD_BYTES, MAX_CHILD_RATIO = 1280 << 20, 50
"""Memory of a child process: this many bytes, or this many times the size of its file."""
SECONDS, SECONDS_PER_MB = 10, 5
"""Processor time of a child process. A workbook takes some 0.2 seconds per MB."""
LIMITS_ITSELF = sys.platform not in ("darwin", "win32")
POLL_SECONDS = 0.02
ENVIRONMENT = {
    # What libraries reserve counts as memory, whether they use it or not.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONUTF8": "1",
    "RUST_BACKTRACE": "0",
}
ENDED_BY_LIMIT = {getattr(signal, name, None) for name in ("SIGABRT", "SIGXCPU")}
"""How a child ends that cannot say itself that it reached a limit."""
SECONDS_OF_UNIT = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# What Python's calendar shows: from the year 1 to 9999, and differences of up to 999,999,999 days.
FIRST_SECOND, LAST_SECOND, MOST_SECONDS = -62_135_596_800, 253_402_300_799, 86_399_999_913_600


def read_workbook(file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a sheet, below its first row that is not blank."""
    check_extra("python_calamine", "excel")
    reading = expected.reading
    arguments = (source, reading.sheet or "", str(reading.skip_rows))
    with _read_by_child("excel", file, "excel", arguments) as csv:
        # A workbook has values: their text is made only here.
        yield from read_rows(csv, Dialect("excel", ","), expected._replace(keeps_text=False), source)


def read_typed(format: str, file: BinaryIO, expected: Expected, source: str) -> Batches:
    """Yield the rows of a Parquet, Arrow, NPY or NPZ file, with the expected columns."""
    with _read_by_child("binary", file, format, (source, format)) as content:
        try:
            stream = pa.ipc.open_stream(content)
            yield from _expected_rows(stream, expected, source)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            refuse_unreadable(source, format, error)


@contextlib.contextmanager
def _read_by_child(module: str, file: BinaryIO, format: str, arguments: tuple[str, ...]) -> Iterator[BinaryIO]:
    """Yield what the `main` of a module writes that a child process runs on a file; `arguments` begin with its name."""
    n_file = os.fstat(file.fileno()).st_size
    n_bytes = max(MAX_CHILD_BYTES, min(MAX_CHILD_RATIO * n_file, free_bytes()))
    n_output = max(MAX_BYTES, MAX_RATIO * n_file)
    limits = (n_bytes, n_output, SECONDS + SECONDS_PER_MB * (n_file >> 20))
    package = __package__ or ""
    command = [sys.executable, "-P", "-m", f"{package}.limited", f"{package}.{module}", *map(str, limits), *arguments]
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # The child has the position of the file, and not what Python has read ahead.
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    with temporary() as output:
        with subprocess.Popen(command, stdin=file, stdout=output, stderr=subprocess.PIPE, env=environment) as process:
            is_killed, words = _finished(process, n_bytes)
        if is_killed or process.returncode == TOO_LARGE or -process.returncode in ENDED_BY_LIMIT:
            refuse_demand(arguments[0], n_bytes)
        if process.returncode:
            refuse_child(words or f"the signal {-process.returncode}", format, arguments[0])
        output.seek(0)
        yield output


def _finished(process: subprocess.Popen[bytes], n_bytes: int) -> tuple[bool, str]:
    """Return whether a child was killed because it took too much memory, and the last line of its standard error."""
    is_killed = False
    try:
        while True:
            try:
                _, words = process.communicate(timeout=None if LIMITS_ITSELF else POLL_SECONDS)
                return is_killed, (words.decode(errors="replace").strip().splitlines() or [""])[-1]
            except subprocess.TimeoutExpired:
                with contextlib.suppress(psutil.Error):
                    if psutil.Process(process.pid).memory_info().rss > n_bytes:
                        is_killed = True
                        process.kill()
    except BaseException:
        # Ctrl-C included.
        process.kill()
        raise


def _expected_rows(stream: pa.RecordBatchReader, expected: Expected, source: str) -> Batches:
    """Yield rows with the expected columns; times that no calendar shows are missing."""
    schema = expected.resolved(stream.schema, source)
    n_beyond: Counter[str] = Counter()
    for batch in stream:
        # Another process wrote it: what Arrow trusts must be true.
        batch.validate(full=True)
        columns = [batch[field.name].cast(field.type) for field in schema]
        for place, column in enumerate(columns):
            limits = _calendar_limits(column.type)
            if limits:
                numbers = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
                is_shown = pc.and_(pc.greater_equal(numbers, limits[0]), pc.less_equal(numbers, limits[1]))
                columns[place] = pc.if_else(is_shown, column, pa.scalar(None, column.type))
                n_beyond[schema.names[place]] += columns[place].null_count - column.null_count
        yield pa.record_batch(columns, schema=schema)
    for name, count in n_beyond.items():
        if count:
            cells = "1 time" if count == 1 else f"{count:,} times"
            expected.reading.note(
                f"{source}: the column '{name}' has {cells} that no calendar shows, counted as missing: before the "
                "year 1 or after 9999."
            )


def _calendar_limits(type: pa.DataType) -> tuple[int, int] | None:
    """Return between which numbers times of a type are that Python can show, None for other types."""
    types = pa.types
    if types.is_date32(type):
        return FIRST_SECOND // 86_400, LAST_SECOND // 86_400
    if types.is_date64(type):
        return FIRST_SECOND * 1000, LAST_SECOND * 1000
    if not (types.is_timestamp(type) or types.is_duration(type) or types.is_time(type)):
        return None
    unit = SECONDS_OF_UNIT[type.unit]
    if types.is_time(type):
        return 0, 86_400 * unit - 1
    first, last = (FIRST_SECOND, LAST_SECOND) if types.is_timestamp(type) else (-MOST_SECONDS, MOST_SECONDS)
    return max(first * unit, -(2**63)), min(last * unit, 2**63 - 1)


def refuse_demand(source: str, n_bytes: int) -> NoReturn:
    """Raise an error about a file that takes too much memory or time."""
    raise ValueError(
        f"{source}: must take at most {n_bytes >> 20:,} MB of memory and {SECONDS} seconds to read, and become a table "
        f"of at most {MAX_RATIO} times its size or 1 GB. Got more; delete cells far away from the table, or save it as "
        "CSV."
    )


def refuse_child(words: str, format: str, source: str) -> NoReturn:
    """Raise the error that a child process reported."""
    if words.startswith(f"{source}:"):
        raise ValueError(words)
    refuse_unreadable(source, format, ValueError(words))
