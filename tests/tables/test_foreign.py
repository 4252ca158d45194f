"""What is no table says what it is and the one thing to do."""

import io
import pickle
import re
import sqlite3
import zipfile

import pytest

from paretodepth.tables import read_table
from tests.tables.samples import assert_refused, text_file


def zipped(*names):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,2\n")
    return content.getvalue()


FILES = {
    "a pickle": (pickle.dumps({"a": [1]}), "a pickle instead; load it in Python where you trust it"),
    "a PDF": (b"%PDF-1.7\n", "a PDF document instead; copy the table"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file instead; open it in Python"),
    "a picture": (b"\x89PNG\r\n\x1a\n", "a picture instead"),
    "an HTML page": (b"\n<!DOCTYPE html><html>", "an HTML page instead; download the table itself"),
    "XML": (b"\xef\xbb\xbf<?xml version='1.0'?>", "an XML document instead; export the table as CSV"),
    "an old workbook": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old or encrypted Excel workbook instead; save it as .xlsx",
    ),
    "a binary workbook": (zipped("xl/workbook.bin"), "a binary Excel workbook instead; save it as .xlsx"),
    "a Word document": (zipped("word/document.xml"), "a Word document instead; copy the table"),
    "a zip archive": (zipped("data.csv", "b.csv"), "a zip archive of 'data.csv' and more instead; unzip it: unzip "),
    "an empty zip archive": (zipped(), "a zip archive instead; unzip it"),
    "another archive": (b"7z\xbc\xaf\x27\x1c\0\x04", "an archive instead; unpack it"),
    "R data": (b"RDX3\nX\n", "an R data file instead; save the table in R: write.csv"),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("name", ["a.csv", "a.bin"])
def test_what_is_no_table_says_what_it_is(tmp_path, case, name):
    content, message = FILES[case]
    assert_refused(tmp_path, name, content, f"must be a table. Got {re.escape(message)}")


def test_a_database_is_refused_with_the_command_that_exports_a_table(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("create table sales (a)")
    database.close()
    export = f"sqlite3 -header -csv {path} 'select * from TABLE' > table.csv"
    with pytest.raises(ValueError, match=re.escape(f"Got an SQLite database instead; export a table: {export}")):
        read_table(path)


def test_a_url_is_refused_with_the_command_that_downloads_it():
    url = "https://example.org/data.csv"
    with pytest.raises(
        OSError, match=re.escape(f"{url}: must be a file. Got a URL instead; download it first: curl -O {url}")
    ):
        read_table(url)


def test_a_format_that_is_named_is_believed(tmp_path):
    assert read_table(text_file(tmp_path, "<html>,b\n1,2\n"), format="csv").column_names == ["<html>", "b"]
