"""Files that hold no table that can be read: what they are, and the one thing to do."""

from __future__ import annotations

import os
import re
import zipfile
from typing import BinaryIO, NoReturn

SNIFFED_BYTES = 4096
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


def refuse_foreign(file: BinaryIO, source: str) -> None:
    """Refuse a file whose first bytes tell that it is no table."""
    start = file.read(SNIFFED_BYTES)
    file.seek(0)
    for pattern, what, remedy in FOREIGN:
        if pattern.match(start):
            refuse_content(what, remedy.format(path=source), source)


def zip_members(file: BinaryIO) -> list[str]:
    """Return the names of what is in a zip file, none if it cannot be told."""
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
