"""Records as they come: lines of a pipe that can be interrupted, read as JSON or CSV, one at a time."""

from __future__ import annotations

import csv
import fnmatch
import json
import os
import select
import signal
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from types import FrameType
from typing import Any, NamedTuple

from paretodepth._checks import one_line, shortened
from paretodepth.criteria.criterion import Criterion

READ_BYTES = 2**16
MAX_RECORD = 2**24
"""Bytes of a record; a longer one is no record."""
DELIMITERS = ",;\t|"
MISSING_CELLS = ("", "NA", "NaN", "nan", "null", "None")


class Interruptible:
    """The lines of a file, until it ends or the process is asked to stop.

    Within its context a signal interrupts nothing: it waits until a line has been dealt with, or what follows the last
    one, so that nothing is left half done; one that comes while there is no line ends the wait.

    Parameters
    ----------
    descriptor : int
        Of the file.

    Attributes
    ----------
    signal : int
        The signal that ended the lines, 0 if none did.
    """

    def __init__(self, descriptor: int) -> None:
        self.signal = 0
        self._descriptor = descriptor

    def __enter__(self) -> Interruptible:
        """Take the signals over."""
        self._awake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self._before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        return self

    def __exit__(self, *error: object) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._awake)
        os.close(self._waker)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        os.write(self._waker, b"!")

    def __iter__(self) -> Iterator[bytes]:
        """Give the lines as they come, without their ends."""
        waiting = b""
        while True:
            *lines, waiting = waiting.split(b"\n")
            for line in lines:
                if self.signal:
                    return
                yield line.removesuffix(b"\r")
            if self.signal:
                return
            select.select([self._descriptor, self._awake], [], [])
            if self.signal:
                return
            more = os.read(self._descriptor, READ_BYTES)
            if not more:
                break
            waiting += more
            if len(waiting) > MAX_RECORD and b"\n" not in more:
                # Whoever counts records sees one, too long; its end is still to come.
                yield waiting
                waiting = b""
        if waiting and not self.signal:
            yield waiting.removesuffix(b"\r")


class Record(NamedTuple):
    """One record of the input.

    Attributes
    ----------
    number : int
        From 1 on.
    sample : dict or list
        Empty if it cannot be read.
    error : str
        Why it cannot be read; empty if it can.
    """

    number: int
    sample: Any
    error: str = ""


class Records:
    """JSON lines, or CSV with a header, as samples.

    Parameters
    ----------
    lines : iterable of bytes
    criteria : list of Criterion or None
        Which columns hold times or text, if that is known.
    names : list of str
        Of the columns of a stream that goes on: its CSV needs no header any more. Otherwise empty.
    n_read : int
        Records that were read before; numbers go on from there.
    """

    def __init__(
        self, lines: Any, criteria: Sequence[Criterion] | None = None, names: Sequence[str] = (), n_read: int = 0
    ) -> None:
        self._lines = iter(lines)
        self._criteria = criteria
        self._names = list(names)
        self._number = n_read
        self._kinds: dict[str, str] = {}

    def __iter__(self) -> Iterator[Record]:
        """Give the records as they come; those that cannot be read are errors, and the next ones come all the same."""
        # The first line tells whether all are JSON.
        delimiter: str | None = None
        for line in self._lines:
            text = line.removeprefix(b"\xef\xbb\xbf")
            if not text.strip():
                continue
            if delimiter is None:
                is_json = text.lstrip()[:1] in (b"{", b"[")
                delimiter = "" if is_json else _delimiter(text)
                if delimiter and self._is_header(text, delimiter):
                    continue
            if delimiter:
                text = self._quoted(text)
            self._number += 1
            try:
                sample = self._from_cells(text, delimiter) if delimiter else self._from_json(text)
            except (ValueError, RecursionError, csv.Error) as error:
                yield Record(self._number, {}, one_line(error))
            else:
                yield Record(self._number, sample)

    def _from_json(self, text: bytes) -> Any:
        sample = check_object(check_length(text))
        if isinstance(sample, dict):
            return {name: self._converted(name, value) for name, value in sample.items()}
        return sample

    def _is_header(self, text: bytes, delimiter: str) -> bool:
        """Tell whether a line is the header, and note the names in it; a stream that goes on may lack it."""
        cells = [cell.strip() for cell in next(csv.reader([text.decode("utf-8", "replace")], delimiter=delimiter))]
        if self._names and cells != self._names and len(cells) == len(self._names):
            return False
        self._names = check_header(cells)
        return True

    def _quoted(self, text: bytes) -> bytes:
        """Return a record with the lines that a quote goes over."""
        while text.count(b'"') % 2 and len(text) <= MAX_RECORD:
            more = next(self._lines, None)
            if more is None:
                break
            text += b"\n" + more
        return text

    def _from_cells(self, text: bytes, delimiter: str) -> dict[str, Any]:
        cells = next(csv.reader([check_length(text).decode("utf-8")], delimiter=delimiter, strict=True))
        check_n_cells(cells, self._names)
        return {name: self._cell(name, cell.strip()) for name, cell in zip(self._names, cells, strict=True)}

    def _cell(self, name: str, cell: str) -> Any:
        """Return the value of a cell: nothing, a time, a text or, if it can be, a number."""
        if cell in MISSING_CELLS:
            return None
        if self._kind(name) in ("text", "categorical"):
            return cell
        if self._kind(name) == "times":
            return self._converted(name, cell)
        try:
            return float(cell)
        except ValueError:
            return cell

    def _converted(self, name: str, value: Any) -> Any:
        """Return a value, a time if it is one and a criterion compares times."""
        if not isinstance(value, str) or self._kind(name) != "times":
            return value
        for kind in (datetime, time):
            try:
                # What the clock shows there, as tables are read.
                return kind.fromisoformat(value.strip()).replace(tzinfo=None)
            except ValueError:
                continue
        return value

    def _kind(self, name: str) -> str:
        """Return the kind of metric that reads a column, if it is known."""
        if name not in self._kinds:
            kinds = [
                criterion.registered.kind
                for criterion in self._criteria or []
                if criterion.registered is not None and _reads(criterion, name)
            ]
            self._kinds[name] = kinds[0] if kinds else ""
        return self._kinds[name]


def _reads(criterion: Criterion, name: str) -> bool:
    columns = criterion.columns
    given = [columns] if isinstance(columns, str) else columns if isinstance(columns, list | tuple) else []
    return columns is None or any(isinstance(one, str) and fnmatch.fnmatchcase(name, one) for one in given)


def _delimiter(header: bytes) -> str:
    """Return what stands between the cells of a header, a comma if nothing does."""
    return max(DELIMITERS, key=lambda mark: header.count(mark.encode()))


def check_length(text: bytes) -> bytes:
    """Return a record that is not too long."""
    if len(text) > MAX_RECORD:
        raise ValueError(f"must be at most {MAX_RECORD:,} bytes long. Got more; end each record with a line end.")
    return text


def check_object(text: bytes) -> Any:
    """Return the sample that a line of JSON holds."""
    try:
        sample = json.loads(text)
    except ValueError as error:
        raise ValueError(f"must be one JSON object a line. Got text that is none ({error}).") from error
    if not isinstance(sample, dict | list):
        raise ValueError(f"must be a JSON object of values by column. Got {shortened(sample)} instead.")
    return sample


def check_header(names: list[str]) -> list[str]:
    """Return the names of columns, which must be there and differ."""
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice or "" in names:
        got = f"'{twice[0]}' twice" if twice else "one without a name"
        raise ValueError(f"The first line of CSV must name the columns, each once. Got {got}; mend the header.")
    return names


def check_n_cells(cells: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a line that has not a cell for each column."""
    if len(cells) != len(names):
        raise ValueError(
            f"must have {len(names)} cells, as the header. Got {len(cells)} instead; put cells that hold a delimiter "
            "into quotes."
        )


def number_columns(sample: Mapping[str, Any]) -> list[str]:
    """Return the columns of a sample that hold numbers."""
    return [name for name, value in sample.items() if isinstance(value, float | int) and not isinstance(value, bool)]
