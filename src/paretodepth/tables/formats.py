"""The formats of files of samples: one row each.

A format is a row of `FORMATS` and a module with its reader and, if it can be written, its writer. Whatever depends on
the format follows from the row: the endings, how a stream tells its format, what messages name.

>>> list(FORMATS)
['csv', 'tsv', 'parquet', 'arrow', 'jsonl', 'json', 'xlsx', 'ods', 'npy', 'npz']
"""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, NoReturn

import pyarrow as pa

from paretodepth._checks import check_choice
from paretodepth.tables import delimited, writing
from paretodepth.tables import json as json_files
from paretodepth.tables.child import read_typed, read_workbook
from paretodepth.tables.expected_columns import Batches, Expected, Write
from paretodepth.tables.sources import without_ending

# Enough for the first row of text, whose cells tell CSV from TSV.
SNIFFED_BYTES = 4096
# The second begins a zip file that is empty.
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


EXPORT = "export the table as CSV or Parquet from the program that wrote it"
SQLITE = "export a table: sqlite3 -header -csv {path} 'select * from TABLE' > table.csv"
PICTURE = "take the table that the picture shows"
ARCHIVE = "unpack it and name the file in it"
# A pattern of the first bytes, what such a file is, and what to do.
FOREIGN = tuple(
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), what, remedy)
    for pattern, what, remedy in (
        (rb"SQLite format 3\0", "an SQLite database", SQLITE),
        (rb"%PDF-", "a PDF document", "copy the table into a spreadsheet and save it as CSV"),
        (
            rb"\x80[\x02-\x05][\x95cK\]}(\x8c]",
            "a pickle",
            "load it in Python where you trust it, and save it as Parquet",
        ),
        (rb"\x89HDF\r\n\x1a\n", "an HDF5 file", "open it in Python (pandas.read_hdf) and save the table as Parquet"),
        (rb"\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\0\0\0\0|II\*\0|MM\0\*", "a picture", PICTURE),
        (rb"7z\xbc\xaf\x27\x1c|Rar!|.{257}ustar", "an archive", ARCHIVE),
        (rb"\xd0\xcf\x11\xe0", "an old or encrypted Excel workbook", "save it as .xlsx, without a password"),
        (rb"MATLAB 5\.0 MAT", "a MATLAB file", "save the table in MATLAB: writetable(T, 'table.csv')"),
        (rb"RD[XA][23]\n", "an R data file", "save the table in R: write.csv(x, 'table.csv', row.names = FALSE)"),
        (rb"<stata_dta>|\$FL[23]|Obj\x01|ORC", "a file of another program", EXPORT),
        (rb"\{\\rtf", "a text document (RTF)", "save the table in it as CSV"),
        (
            rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body)",
            "an HTML page",
            "download the table itself, not its page",
        ),
        (rb"(\xef\xbb\xbf)?\s*<\?xml", "an XML document", EXPORT),
    )
)
DOCUMENTS = {
    "word/document.xml": ("a Word document", "copy the table into a spreadsheet and save it as CSV"),
    "ppt/presentation.xml": ("a presentation", "copy the table into a spreadsheet and save it as CSV"),
    "xl/workbook.bin": ("a binary Excel workbook", "save it as .xlsx"),
}

Reader = Callable[[BinaryIO, Expected, str], Batches]
Writer = Callable[[BinaryIO, pa.Schema, str], AbstractContextManager[Write]]


@dataclass(frozen=True)
class Format:
    """How to recognize, read and write files of a format.

    Attributes
    ----------
    name : str
        As users write it.
    endings : tuple of str
        Endings of file names, in lower case and with their dot.
    read : callable
        Takes a file at its start, the expected columns and the file's name for messages; returns the rows, all with
        the types of the whole. Text is UTF-8 and stands behind its byte order mark.
    writer : callable or None
        Takes a file, the schema of all tables and the path; returns a context that yields a function which writes a
        table. None if the format is only read.
    first_bytes : tuple of bytes
        One of these begins each file; of text, behind a byte order mark and blanks.
    member : str
        For zip files: the end of the name of a file in it.
    is_text : bool
    """

    name: str
    endings: tuple[str, ...]
    read: Reader
    writer: Writer | None
    first_bytes: tuple[bytes, ...] = ()
    member: str = ""
    is_text: bool = False


def _delimited(dialect: delimited.Dialect, endings: tuple[str, ...]) -> Format:
    reader, writer = partial(delimited.read, dialect), partial(writing.delimited_writer, dialect.delimiter)
    return Format(dialect.name, endings, reader, writer, is_text=True)


_ROWS = (
    _delimited(delimited.CSV, (".csv", ".txt")),
    _delimited(delimited.TSV, (".tsv", ".tab")),
    Format("parquet", (".parquet", ".pq"), partial(read_typed, "parquet"), writing.parquet_writer, (b"PAR1",)),
    Format(
        "arrow",
        (".arrow", ".feather", ".ipc", writing.STREAM_ENDING),
        partial(read_typed, "arrow"),
        writing.arrow_writer,
        # The second begins a stream.
        (b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    Format("jsonl", (".jsonl", ".ndjson"), json_files.read, writing.json_lines_writer, (b"{",), is_text=True),
    Format("json", (".json",), json_files.read, writing.json_list_writer, (b"[",), is_text=True),
    Format("xlsx", (".xlsx", ".xlsm"), read_workbook, writing.workbook_writer, member="xl/workbook.xml"),
    Format("ods", (".ods",), read_workbook, None, member="content.xml"),
    Format("npy", (".npy",), partial(read_typed, "npy"), None, (b"\x93NUMPY",)),
    Format("npz", (".npz",), partial(read_typed, "npz"), None, member=".npy"),
)
FORMATS = {row.name: row for row in _ROWS}


def check_format(name: object, path: str, caller: str) -> Format | None:
    """Return the format that is asked for or that the path's ending tells, or None if the content is to tell."""
    known = list(FORMATS.values())
    if name is not None:
        return FORMATS[check_choice(name, "format", [row.name for row in known], caller)]
    return None if _is_stream(path) else _told(without_ending(path), known)


def check_writer(name: object, path: str, caller: str) -> Writer:
    """Return the writer of the format that is asked for or that the path's ending tells; for a stream that of CSV."""
    known = [row for row in FORMATS.values() if row.writer]
    writers = {row.name: row.writer for row in known if row.writer}
    if name is not None:
        return writers[check_choice(name, "format", list(writers), caller)]
    if _is_stream(path):
        return writers[delimited.CSV.name]
    row = _told(path, known)
    if row is None:
        endings, ending = ", ".join(end for row in known for end in row.endings), os.path.splitext(path)[1]
        raise ValueError(
            f"{path}: the ending of a file to write must be one of {endings}. Got {repr(ending) if ending else 'none'} "
            "instead; rename the file."
        )
    return writers[row.name]


def writes_cells(path: str) -> bool:
    """Return whether a file to write is text with delimiters."""
    return getattr(check_writer(None, path, "--out"), "func", None) is writing.delimited_writer


def check_output_format(path: str | None) -> None:
    """Refuse an output whose ending tells no format that can be written."""
    if path is not None:
        check_writer(None, path, "--out")


def _is_stream(path: str) -> bool:
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path))


def _told(path: str, known: list[Format]) -> Format | None:
    """Return that one of some formats which the ending of a path tells."""
    ending = os.path.splitext(path)[1].lower()
    return next((row for row in known if ending in row.endings), None)


def check_content(
    file: BinaryIO, asked: Format | None, expected: Expected, source: str, *, by_name: bool = False
) -> Format:
    """Return the format of a file: the one that is asked for, unless the first bytes speak against it.

    If nobody but the ending has asked, first bytes that no other format has are believed.
    """
    if not (by_name and asked and asked.is_text):
        refuse_foreign(file, source)
    found = _sniffed(file, asked, source)
    if found is None:
        raise ValueError(f"{source}: must hold samples. Got an empty file instead.")
    # Any text may begin like another kind of it: a column of CSV may be named {x}. Its reader says what is wrong.
    if asked is None or asked is found or (asked.is_text and found.is_text):
        return asked or found
    if not by_name and not found.is_text:
        expected.reading.note(f"{source} is in spite of its ending of the format '{found.name}', and was read as that.")
        return found
    got = "text" if found.is_text else f"the first bytes of '{found.name}'"
    raise ValueError(
        f"{source}: must be of the format '{asked.name}'. Got {got} instead; name its true format, say --format "
        f"{found.name}."
    )


def _sniffed(file: BinaryIO, asked: Format | None, source: str) -> Format | None:
    """Return the format that the first bytes of a file tell, or None if there are none but blanks."""
    start = file.read(SNIFFED_BYTES)
    while start.isspace() and (block := file.read(SNIFFED_BYTES)):
        # Blank lines, however many, are no content.
        start = start[-1:] + block
    file.seek(0)
    if start.startswith(ZIP):
        return _zipped(file, asked, source)
    if start.startswith(UTF16):
        start = start.decode("utf-16", errors="replace").encode(errors="replace")
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    for row in FORMATS.values():
        if row.first_bytes and (text if row.is_text else start).startswith(row.first_bytes):
            return row
    if not text:
        return None
    lines = text.decode(errors="replace").splitlines(keepends=True)
    dialect = max((delimited.CSV, delimited.TSV), key=lambda one: len(delimited.first_cells(lines, one.delimiter)))
    return FORMATS[dialect.name]


def _zipped(file: BinaryIO, asked: Format | None, source: str) -> Format:
    """Return the format of a zip file by what is in it."""
    members = zip_members(file)
    for row in FORMATS.values():
        if row.member and any(member.endswith(row.member) for member in members):
            return row
    if asked and asked.member:
        # Damaged, or without what it should have, as its reader will say.
        return asked
    refuse_zip(members, source)


def refuse_foreign(file: BinaryIO, source: str) -> None:
    """Refuse a file whose first bytes tell that it is no table."""
    start = file.read(SNIFFED_BYTES)
    file.seek(0)
    for pattern, what, remedy in FOREIGN:
        if pattern.match(start):
            refuse_content(what, remedy.format(path=source), source)


def zip_members(file: BinaryIO) -> list[str]:
    """Return the names of the parts of a zip file, none if it cannot be read."""
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []
    finally:
        file.seek(0)


def refuse_zip(members: list[str], source: str) -> NoReturn:
    """Raise an error about a zip file that is neither a spreadsheet nor an array."""
    for member, (what, remedy) in DOCUMENTS.items():
        if member in members:
            refuse_content(what, remedy, source)
    first = f" of {os.path.basename(members[0])!r}{' and more' if len(members) > 1 else ''}" if members else ""
    refuse_content(f"a zip archive{first}", f"unzip it: unzip {source}", source)


def refuse_content(what: str, remedy: str, source: str) -> NoReturn:
    """Raise an error that says what a file is, and what to do."""
    raise ValueError(f"{source}: must be a table. Got {what} instead; {remedy}.")
