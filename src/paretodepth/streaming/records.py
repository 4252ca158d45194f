"""Records as they come: lines of a pipe that can be interrupted, read as JSON or CSV, one at a time."""

from __future__ import annotations

import contextlib
import fnmatch
import itertools
import json
import os
import select
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from paretodepth._checks import one_line, shortened
from paretodepth.criteria.criterion import Criterion
from paretodepth.tables.cells import NOTATIONS, Tally, cell_values, moment
from paretodepth.tables.delimited import (
    CSV,
    DELIMITERS,
    HINT,
    MAX_COMMENTS,
    check_header,
    decimal_mark,
    dialect_of,
    row_cells,
)
from paretodepth.tables.expected_columns import MAX_COLUMNS, check_distinct_names
from paretodepth.tables.reading import Reading
from paretodepth.tables.sources import check_standard_input

READ_BYTES = 2**16
MAX_RECORD = 2**24
"""Bytes of a record; a longer one is no record."""
MAX_LINES = 100
"""Lines of a record: this many records wait where a quotation mark has no twin."""
SOURCE = "standard input"
KINDS = {"numeric": "numbers", "series": "numbers", "times": "times", "text": "text", "categorical": "text"}
"""What the columns of a criterion hold, by the kind of its metric, as far as that follows from it."""


class SignalSafeLines:
    """The lines of a file, by default standard input, until it ends or the process is asked to stop.

    Within its context a signal waits until the work on a line, and what follows the last one, is done; one that comes
    while there is no line ends the wait. `signal` is the one that ended the lines, or 0. `came_at` is the time of the
    last read.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.signal = 0
        self.came_at = 0.0
        self._descriptor = descriptor
        self._awake: list[int] = []

    def __enter__(self) -> SignalSafeLines:
        """Take the signals over."""
        awake, self._waker = os.pipe()
        self._awake = [awake]
        os.set_blocking(self._waker, False)
        self._before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        return self

    def __exit__(self, *error: object) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(*self._awake)
        os.close(self._waker)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        os.write(self._waker, b"!")

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines as they come, without line feeds; of one that is too long for a record only the start."""
        descriptor = check_standard_input().fileno() if self._descriptor is None else self._descriptor
        parts: list[bytes] = []
        while not self.signal:
            select.select([descriptor, *self._awake], [], [])
            more = b"" if self.signal else os.read(descriptor, READ_BYTES)
            *ends, rest = more.split(b"\n")
            for end in ends:
                if self.signal:
                    return
                self.came_at = perf_counter()
                yield b"".join([*parts, end])
                parts = []
            if sum(map(len, parts)) <= MAX_RECORD:
                parts.append(rest)
            if not more:
                break
        if any(parts) and not self.signal:
            yield b"".join(parts)


class Lines:
    """Lines with numbers, counted from 1, which can be given back to be read again."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.number = 0
        self._source = lines
        self._lines = iter(lines)
        self._given_back: deque[bytes] = deque()

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal has ended the lines."""
        return bool(getattr(self._source, "signal", 0))

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self.is_interrupted:
            raise StopIteration
        line = self._given_back.popleft() if self._given_back else next(self._lines)
        self.number += 1
        return line

    def give_back(self, lines: Sequence[bytes]) -> None:
        """Take back the lines that were read last."""
        self._given_back.extendleft(reversed(lines))
        self.number -= len(lines)


class Record(NamedTuple):
    """One record of the input: its number from 1 on, the sample, and why it cannot be read, empty if it can."""

    number: int
    sample: Any
    error: str = ""


class Values:
    """Reads text in records as the cells of files are read, by what each column holds.

    That follows from `kinds`, from the criteria or, where neither shows it, from the first value of the column. Text in
    a column of numbers that is no number stays text, which criteria refuse.

    Parameters
    ----------
    criteria : list of Criterion or None
    kinds : dict
        What columns hold by name, "numbers", "times" or "text", as far as a fitted model knows it.
    """

    def __init__(self, criteria: Sequence[Criterion] | None = None, kinds: Mapping[str, str] | None = None) -> None:
        self._criteria = criteria or []
        self._kinds = {name: kind for name, kind in (kinds or {}).items() if kind}
        self._notations: dict[str, str] = {}

    def read(self, sample: Any, decimal: str = "") -> Any:
        """Return a sample with its text read; with a decimal mark all text is cells, of which some are numbers."""
        if not isinstance(sample, Mapping):
            return sample
        kinds = {name: self._kind(name) for name, value in sample.items() if isinstance(value, str)}
        cells = [name for name, kind in kinds.items() if kind == "numbers" or (decimal and not kind)]
        values = cell_values([sample[name] for name in cells], decimal or ".") if cells else []
        times = [name for name, kind in kinds.items() if kind == "times"]
        read = {
            **sample,
            **dict(zip(cells, values, strict=True)),
            **{name: self._time(name, sample[name]) for name in times},
        }
        for name, value in read.items():
            if not self._kind(name) and isinstance(value, str | int | float) and len(self._kinds) < MAX_COLUMNS:
                self._kinds[name] = "text" if isinstance(value, str) else "numbers"
        return read

    def column(self, name: str, values: list[Any]) -> list[Any]:
        """Return the values of a column as a table would have them: text that is no number is missing, or dates."""
        kind = self._kinds.get(name)
        if kind == "numbers":
            return [None if isinstance(value, str) else value for value in values]
        if kind == "text" and all(value is None or isinstance(value, str) for value in values):
            tally = Tally()
            tally.add(pa.array(values, pa.string()))
            if tally.is_date and len(tally.notations) == 1:
                self._kinds[name] = "times"
                return [None if value is None else self._time(name, value) for value in values]
        return values

    def _time(self, name: str, text: str) -> datetime | time | str | None:
        """Return the time that a text means; the text if it is none, or if the day or the month may come first."""
        known = self._notations.get(name)
        read = ((notation, moment(text.strip(), notation)) for notation in ([known] if known else NOTATIONS))
        found = {notation: value for notation, value in read if value is not None}
        if len(found) == 1 and len(self._notations) < MAX_COLUMNS:
            (self._notations[name],) = found
        if len(set(found.values())) == 1:
            return next(iter(found.values()))
        with contextlib.suppress(ValueError):
            return time.fromisoformat(text.strip() if ":" in text else "").replace(tzinfo=None)
        (value,) = cell_values([text], ".")
        return None if value is None or value != value else text

    def _kind(self, name: str) -> str:
        """Return what a column holds, nothing as long as that is not known."""
        if name in self._kinds:
            return self._kinds[name]
        read = [criterion.registered for criterion in self._criteria if _reads(criterion, name)]
        kind = next(filter(None, (KINDS.get(metric.kind) for metric in read if metric is not None)), "")
        # A stream may have ever new keys.
        if kind and len(self._kinds) < MAX_COLUMNS:
            self._kinds[name] = kind
        return kind


class Records:
    """JSON lines, or CSV with a header, as samples.

    Parameters
    ----------
    lines : iterable of bytes
    values : Values or None
    names : list of str
        The columns of a stream that is resumed, whose CSV needs no header any more. Otherwise empty.
    n_read : int
        Number of records that were read before.
    """

    def __init__(
        self, lines: Iterable[bytes], values: Values | None = None, names: Sequence[str] = (), n_read: int = 0
    ) -> None:
        self._lines = Lines(lines)
        self._values = values or Values()
        self._names = list(names)
        self._number = n_read
        self._decimal: str | None = None

    def __iter__(self) -> Iterator[Record]:
        """Give the records as they come; those that cannot be read are errors, and the next ones come all the same."""
        delimiter: str | None = None
        for line in self._lines:
            # A blank line of CSV with one column is a missing value, as in files.
            if not line.strip() and not (delimiter and len(self._names) == 1):
                continue
            if delimiter is None:
                # The first line decides whether all are JSON.
                line = line.removeprefix(b"\xef\xbb\xbf")
                delimiter = "" if line.lstrip()[:1] in (b"{", b"[") else self._begin_csv(line)
                if delimiter:
                    continue
            number, record = self._lines.number, [line]
            try:
                sample, error = (
                    self._from_cells(record, delimiter)
                    if delimiter
                    else self._values.read(check_object(check_length([line]))),
                    "",
                )
            except (ValueError, RecursionError) as refused:
                # A lone quotation mark costs its own line, not those behind it.
                self._lines.give_back(record[1:])
                sample, error = {}, f"line {number}: {one_line(refused)}"
            if error and self._lines.is_interrupted:
                return
            self._number += 1
            yield Record(self._number, sample, error)

    def _begin_csv(self, first: bytes) -> str:
        """Return the delimiter of CSV, and read its header; a stream that is resumed may lack it."""
        head = [first]
        # The delimiter shows in the header and the first row.
        n_wanted = 1 if self._names else 2
        while sum(map(_is_content, head)) < n_wanted and len(head) < MAX_COMMENTS:
            following = next(self._lines, None)
            if following is None:
                break
            head.append(following)
        dialect = dialect_of([line.decode(errors="replace") for line in head], CSV, Reading())
        start, *rest = head[dialect.n_skipped :] or [b""]
        self._lines.give_back(rest)
        record = [start]
        delimiter = dialect.delimiter
        if self._names:
            text = start.decode(errors="replace")
            fitting = (mark for mark in DELIMITERS if len(row_cells(text, iter(()), mark)[0]) == len(self._names))
            delimiter = next(fitting, delimiter)
        cells = [cell or "" for cell in self._row(record, delimiter)]
        if cells != self._names and len(cells) == len(self._names):
            self._lines.give_back(record)
        else:
            self._names = check_header(cells, dialect, SOURCE)
            check_distinct_names(self._names, SOURCE)
        return delimiter

    def _row(self, record: list[bytes], delimiter: str) -> list[str | None]:
        """Return the cells of a record that begins with a line; those that it continues in are added to `record`."""

        def more() -> Iterator[str]:
            for line in itertools.islice(self._lines, MAX_LINES - 1):
                record.append(line)
                check_length(record)
                yield line.decode()

        cells, is_closed = row_cells(check_length(record).decode(), more(), delimiter)
        if not is_closed:
            refuse_unclosed()
        return cells

    def _from_cells(self, record: list[bytes], delimiter: str) -> Any:
        cells = check_n_cells(self._row(record, delimiter), self._names)
        if self._decimal is None:
            self._decimal = decimal_mark([cell for cell in cells if cell], delimiter)
        return self._values.read(dict(zip(self._names, cells, strict=True)), self._decimal or ".")


def _reads(criterion: Criterion, name: str) -> bool:
    columns = criterion.columns
    given = [columns] if isinstance(columns, str) else columns if isinstance(columns, list | tuple) else []
    return columns is None or any(isinstance(one, str) and fnmatch.fnmatchcase(name, one) for one in given)


def _is_content(line: bytes) -> bool:
    """Return whether a line is neither blank, nor a comment, nor a spreadsheet's name of the separator."""
    return not (not line.strip() or line.startswith(b"#") or HINT.match(line.decode(errors="replace")))


def check_length(record: list[bytes]) -> bytes:
    """Return the first line of a record that is not too long."""
    if sum(map(len, record)) > MAX_RECORD:
        raise ValueError(f"must be at most {MAX_RECORD:,} bytes long. Got more; end each record with a line end.")
    return record[0]


def check_object(text: bytes) -> Any:
    """Return the sample that a line of JSON holds."""
    try:
        sample = json.loads(text)
    except ValueError as error:
        raise ValueError(f"must be one JSON object a line. Got text that is none ({error}).") from error
    if not isinstance(sample, dict | list):
        raise ValueError(f"must be a JSON object of values by column. Got {shortened(sample)} instead.")
    return sample


def refuse_unclosed() -> NoReturn:
    """Raise an error about a quotation mark that would make one cell of all that follows."""
    raise ValueError(
        f"every quotation mark at the start of a cell must have a twin at its end, within {MAX_LINES} lines. Got none; "
        "add it, or double the marks that are part of the text."
    )


def check_n_cells(cells: list[str | None], names: Sequence[str]) -> list[str | None]:
    """Return cells, of which there must be one for each column."""
    if len(cells) != len(names):
        raise ValueError(
            f"must have {len(names)} cells, as the header. Got {len(cells)} instead; put cells that hold a delimiter "
            "into quotation marks."
        )
    return cells
