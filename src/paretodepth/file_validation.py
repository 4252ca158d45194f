"""Checks of files of samples: what is there, which format it has, and whether its columns are the expected ones."""

from __future__ import annotations

import codecs
import csv
import json
import mmap
import os
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NoReturn

import pyarrow as pa
from numpy.typing import NDArray

from paretodepth.validation import check_choice
from paretodepth.words import listed, one_line, suggestion

# Each format with the endings of its files.
EXTENSIONS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson"),
    "npy": (".npy",),
    "npz": (".npz",),
}
TEXT_FORMATS = ("csv", "tsv", "jsonl")
WRITABLE = ("csv", "tsv", "parquet", "arrow", "jsonl")
BLOCK_BYTES = 1 << 20


def check_readable(path: str) -> str:
    """Return the path of something that exists and is no folder."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path}: must be a file. Got a folder instead; name a file in it.")
    if not os.path.exists(path):
        folder, name = os.path.split(path)
        neighbors = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        raise FileNotFoundError(f"{path}: there is no such file{suggestion(name, neighbors)}.")
    return path


def check_format(format: object, path: str, known: Sequence[str], caller: str) -> str | None:
    """Return the format that is asked for or that the path's ending tells, or None for a stream without ending."""
    if format is not None:
        return str(check_choice(format, "format", known, caller))
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        return None
    ending = os.path.splitext(path)[1].lower()
    for name in known:
        if ending in EXTENSIONS[name]:
            return name
    raise ValueError(
        f"{path}: the ending of a file given to {caller} must be one of "
        f"{', '.join(end for name in known for end in EXTENSIONS[name])}. Got {repr(ending) if ending else 'none'} "
        f"instead; rename the file or give its format, one of {listed(known)}."
    )


def check_output_format(path: str | None) -> None:
    """Refuse an output whose ending tells no format that can be written."""
    if path is not None:
        check_format(None, path, WRITABLE, "--out")


def check_content(format: str | None, sniffed: str | None, source: str) -> str:
    """Return the format of a file whose first bytes do not speak against it."""
    if sniffed is None:
        raise ValueError(f"{source}: must hold samples. Got an empty file instead.")
    if format is None or format == sniffed or (format in TEXT_FORMATS and sniffed in TEXT_FORMATS):
        return format or sniffed
    found = "text" if sniffed in TEXT_FORMATS else f"the first bytes of '{sniffed}'"
    raise ValueError(f"{source}: must be of the format '{format}'. Got {found} instead; name its true format.")


def check_encoding(file: BinaryIO, source: str) -> None:
    """Refuse text that is not UTF-8; leave the file at its start, behind a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_read = n_lines = 0
    block = b"\n"
    file.seek(0)
    while block:
        block = file.read(BLOCK_BYTES)
        n_pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            position = n_read - n_pending + error.start
            line = n_lines + 1 + error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            encoding = "utf-16" if position == 0 and byte in b"\xff\xfe" else "latin1"
            raise ValueError(
                f"{source}, line {line}: must be text in UTF-8. Got byte 0x{byte:02x} at position {position} instead; "
                f"convert the file, say with: iconv -f {encoding} -t utf-8 (if it is in {encoding})."
            ) from error
        n_read += len(block)
        n_lines += block.count(b"\n")
    file.seek(0)
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)


def check_quotation_marks(file: BinaryIO, delimiter: str, source: str) -> None:
    """Refuse a quotation mark that makes one cell of all the rest of the file."""
    start = file.tell()
    n_marks = sum(block.count(b'"') for block in iter(lambda: file.read(BLOCK_BYTES), b""))
    file.seek(start)
    if n_marks % 2 == 0:
        return
    first_line = 1
    rows = csv.reader((line.decode() for line in iter(file.readline, b"")), delimiter=delimiter, strict=True)
    try:
        for _ in rows:
            first_line = rows.line_num + 1
    except csv.Error as error:
        # An odd mark within a cell is text.
        if "expected after" not in str(error):
            raise ValueError(
                f"{source}, line {first_line}: every quotation mark at the start of a cell must have a twin at its "
                "end. Got none up to the end of the file; add it, or double the marks that are part of the text."
            ) from error
    file.seek(start)


def check_header(names: list[str], delimiter: str, source: str) -> list[str]:
    """Return the cells of a first row that is a header."""
    others = [mark for mark in ",;\t|" if mark != delimiter and mark in names[0]] if len(names) == 1 else []
    if others:
        remedy = {",": "name the format 'csv'", "\t": "name the format 'tsv'"}
        raise ValueError(
            f"{source}, line 1: cells must be separated by {delimiter!r}. Got {others[0]!r} and no {delimiter!r} in "
            f"the header instead; {remedy.get(others[0], f'replace {others[0]!r} by {delimiter!r}')}."
        )
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{source}, line 1: must be a header with the names of the columns. Got only numbers instead, "
            f"{listed(names[:3])}{' and so on' if len(names) > 3 else ''}; put a line of names before it."
        )
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_distinct_names(names: Sequence[str], source: str) -> None:
    """Refuse columns without a name or with the name of another."""
    for position, name in enumerate(names):
        if not name:
            raise ValueError(
                f"{source}: every column must have a name. Got none for column {position + 1}; give it one, or leave "
                "the column out (pandas: to_csv(index=False))."
            )
        if name in names[:position]:
            raise ValueError(
                f"{source}: columns must have different names. Got '{name}' for column {names.index(name) + 1} and "
                f"column {position + 1}; rename one of them."
            )


def check_expected_columns(names: Sequence[str], expected: Sequence[str], source: str, *, keep_others: bool) -> None:
    """Refuse the lack of an expected column and, unless they are kept, others; their order does not matter."""
    missing = [name for name in expected if name not in names]
    others = [name for name in names if name not in expected]
    refused = [] if keep_others else others
    if not missing and not refused:
        return
    got = [f"no {''.join((repr(name), suggestion(name, others)))}" for name in missing[:5]]
    got += [f"{name!r} besides" for name in refused[:5]]
    more = max(len(missing) - 5, 0) + max(len(refused) - 5, 0)
    raise ValueError(
        f"{source}: the columns must be the expected ones, {listed(expected[:20])}"
        f"{' and so on' if len(expected) > 20 else ''}. Got {', '.join(got)}"
        f"{f' and {more} more differences' if more else ''}; rename, add or drop columns."
    )


def check_kind(found: str, expected: str, name: str, source: str, example: str = "") -> None:
    """Refuse a column that holds something else than expected."""
    if found != expected:
        raise ValueError(
            f"{source}: the column '{name}' must hold {expected}, as in the expected columns. Got {found} instead"
            f"{example}; mend or convert the column."
        )


def shortened(value: object) -> str:
    """Return a value as a message shows it."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def check_some_rows(n_rows: int, source: str) -> int:
    """Return a number of rows that is not 0."""
    if n_rows == 0:
        raise ValueError(f"{source}: must hold at least one sample. Got columns without rows instead.")
    return n_rows


def refuse_delimited(file: BinaryIO, n_columns: int, delimiter: str, source: str, error: Exception) -> NoReturn:
    """Raise an error about the first row of delimited text that has too few or too many cells."""
    # The reader that failed may still be reading the file in its own thread.
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows = csv.reader((line.decode("utf-8-sig") for line in iter(content.readline, b"")), delimiter=delimiter)
    first_line = 1
    try:
        for row in rows:
            if row and len(row) != n_columns:
                raise ValueError(
                    f"{source}, line {first_line}: every row must have {n_columns} cells, as the header, separated by "
                    f"{delimiter!r}. Got {len(row)} instead in {shortened(delimiter.join(row))}; look for a lacking "
                    "or additional delimiter, or for a quotation mark without its twin."
                ) from error
            first_line = rows.line_num + 1
    except csv.Error:
        pass
    refuse_unreadable(source, "csv" if delimiter == "," else "tsv", error)


def refuse_unreadable(source: str, format: str, error: Exception) -> NoReturn:
    """Raise an error about a file that its library cannot read."""
    raise ValueError(
        f"{source}: must be a readable file of the format '{format}'. Got this instead: {one_line(error)}"
    ) from error


def check_json_object(line: str, number: int, decode: Callable[[str], Any], source: str) -> dict[str, Any]:
    """Return the object that a line of JSON holds."""
    try:
        value = decode(line)
    except (ValueError, RecursionError) as error:
        reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise ValueError(
            f"{source}, line {number}: must be an object in JSON. Got {shortened(line.strip())} instead "
            f"({reason}); mend or drop that line."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(
            f'{source}, line {number}: must be an object in JSON, {{"column": value, …}}. Got '
            f"{shortened(value)} instead; write one object a line (jq -c '.[]' makes such lines of one long list)."
        )
    return value


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dict, if no key comes twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} comes twice")
    return row


def refuse_mixture(
    name: str, first: tuple[int, str] | None, other: tuple[int, str] | None, source: str, error: Exception
) -> NoReturn:
    """Raise an error about a column of JSON lines whose values are of several kinds; each of two has line and kind."""
    got = (
        f"{first[1]} in line {first[0]} and {other[1]} in line {other[0]} instead"
        if first and other
        else f"this: {one_line(error)}"
    )
    raise ValueError(
        f"{source}: the column '{name}' must hold values of one kind, in lists too. Got {got}; make them all text, say."
    ) from error


def check_single_array(names: Sequence[str], source: str) -> str:
    """Return the name of the only array of an NPZ file."""
    if len(names) != 1:
        raise ValueError(
            f"{source}: must hold one array. Got {len(names)} instead{', ' if names else ''}{listed(names)}; save the "
            "one to read by itself, as NPY."
        )
    return names[0]


def check_array(array: NDArray[Any], source: str) -> NDArray[Any]:
    """Return an array of samples: numbers, strings, times, or records of them."""
    kinds = (
        {field: array.dtype[field].kind for field in array.dtype.names} if array.dtype.names else {"": array.dtype.kind}
    )
    if array.ndim == 0 or not set(kinds.values()) <= set("biufUmM"):
        raise ValueError(
            f"{source}: must hold an array of numbers or strings with a row a sample. Got the dtype {array.dtype} and "
            f"the shape {array.shape} instead; convert it with astype(float) or astype(str)."
        )
    return array


def check_loadable(load: Callable[[], Any], source: str) -> Any:
    """Return what NumPy loads: no damaged array, and no Python objects, which could run code when read."""
    try:
        return load()
    except Exception as error:
        # NumPy does not say what it raises: damaged files have led to errors of zipfile, zlib, tokenize and more.
        raise ValueError(
            f"{source}: must hold a whole array of numbers or strings; Python objects (pickle) are not read, for they "
            f"can run any code. Got this instead: {one_line(error)}; save the array with another dtype, or a "
            "table as Parquet."
        ) from error


def check_first_chunk(chunk: Any, caller: str) -> pa.Table:
    """Return the first of the tables to be written."""
    if chunk is None:
        raise ValueError(f"The 'chunks' parameter of {caller} must hold at least one table. Got none instead.")
    if not isinstance(chunk, pa.Table):
        raise TypeError(
            f"The 'chunks' parameter of {caller} must be a pyarrow.Table or tables one after another. "
            f"Got {type(chunk).__name__} instead; convert it with pyarrow.table."
        )
    return chunk


def check_next_chunk(chunk: pa.Table, schema: pa.Schema, caller: str) -> pa.Table:
    """Return a chunk with the columns and types of the first one."""
    if chunk.schema.equals(schema):
        return chunk
    try:
        return chunk.cast(schema)
    except (pa.ArrowException, ValueError) as error:
        raise ValueError(
            f"The 'chunks' parameter of {caller} must hold tables of one schema. Got this instead: {one_line(error)}"
        ) from error


def refuse_cells(name: str, type: pa.DataType, error: Exception) -> NoReturn:
    """Raise an error about a column that cannot be written as text."""
    raise ValueError(
        f"The column '{name}' of the type {type} must be writable as text. Got this instead: {one_line(error)}; "
        "drop the column or write Parquet."
    ) from error
