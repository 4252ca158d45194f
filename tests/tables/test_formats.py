"""Formats as rows of a table: told by endings and first bytes, and nothing else to be written for one."""

import contextlib
import io
import pickle
import re
import sqlite3
import zipfile

import numpy as np
import pyarrow as pa
import pytest

from paretodepth.tables import read_table, write_table
from paretodepth.tables.expected_columns import Expected
from paretodepth.tables.formats import FORMATS, Format, check_content
from tests.tables.samples import FLAT, TEXT, TYPED, assert_refused, noted, run, text_file


@pytest.mark.slow
@pytest.mark.parametrize("ending", [*TYPED, *TEXT, "npy", "npz"])
def test_standard_input_tells_its_format(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    if ending in ("npy", "npz"):
        {"npy": np.save, "npz": np.savez}[ending](path, np.arange(6.0).reshape(3, 2))
    else:
        write_table(FLAT, path)
    table = read_table(path)
    target = tmp_path / "out.arrow"
    run("write_table(read_chunks('-', n_rows=3), sys.argv[1])", target, stdin=path.read_bytes())
    assert read_table(target).equals(table)
    run(
        "write_table(read_table('-', format=sys.argv[2]), sys.argv[1])",
        target,
        format_of(ending),
        stdin=path.read_bytes(),
    )
    assert read_table(target).equals(table)


def format_of(ending):
    return next(name for name, row in FORMATS.items() if f".{ending}" in row.endings)


def test_no_two_formats_share_an_ending_or_first_bytes():
    for told in ("endings", "first_bytes"):
        marks = [mark for row in FORMATS.values() for mark in getattr(row, told)]
        assert len(set(marks)) == len(marks) > 0
    members = [row.member for row in FORMATS.values() if row.member]
    assert len(set(members)) == len(members) > 0


def read_words(file, expected, source):
    words = pa.table({"word": file.read().decode().split()[1:]})
    return iter(words.cast(expected.resolved(words.schema, source)).to_batches())


@contextlib.contextmanager
def words_writer(file, schema, path):
    file.write(b"WORDS ")
    yield lambda table: file.write(" ".join(table["word"].to_pylist()).encode())


def test_a_row_is_all_that_a_format_needs(tmp_path, monkeypatch):
    words = Format("words", (".words",), read_words, words_writer, (b"WORDS",), is_text=True)
    monkeypatch.setitem(FORMATS, "words", words)
    table = pa.table({"word": ["one", "two"]})
    path = tmp_path / "a.words"
    write_table(table, path)
    assert path.read_text() == "WORDS one two"
    assert read_table(path).equals(table)
    with open(path, "rb") as file:
        assert check_content(file, None, Expected(), "a stream") is words
    write_table(table, tmp_path / "b.csv", format="words")
    assert read_table(tmp_path / "b.csv", format="words").equals(table)
    for name, content, message in [
        ("a.words", b"WORDS \xff", r"a\.words, line 1: must be text in UTF-8"),
        (
            "a.npy",
            b"WORDS one",
            "must be of the format 'npy'. Got text instead; name its true format, say --format words",
        ),
    ]:
        assert_refused(tmp_path, name, content, message)
    assert read_table(text_file(tmp_path, "WORDS one", "a.unknown")).to_pydict() == {"word": ["one"]}


def test_a_format_without_writer_is_only_read(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "words", Format("words", (".words",), read_words, None, (b"WORDS",), is_text=True))
    path = text_file(tmp_path, "WORDS one", "a.words")
    assert read_table(path).to_pydict() == {"word": ["one"]}
    with pytest.raises(ValueError, match=r"to write must be one of \.csv, .*\.xlsx.*\. Got '\.words'"):
        write_table(FLAT, path)
    with pytest.raises(ValueError, match=r"'format' parameter of write_table must be one of 'csv', .* Got 'words'"):
        write_table(FLAT, path, format="words")


STREAMS = {
    "a,b\tc,d\n": "csv",
    "a,b\tc\td\n": "tsv",
    '"a\tb\tc",d\n': "csv",
    "only one column\n": "csv",
    "\ufeff \n {": "jsonl",
    "[1]": "json",
}


@pytest.mark.parametrize("content", STREAMS)
def test_text_tells_its_format_by_its_first_row(content):
    assert check_content(io.BytesIO(content.encode()), None, Expected(), "a stream").name == STREAMS[content]
    # The mark of UTF-16 is believed.
    assert check_content(io.BytesIO(content.encode("utf-16")), None, Expected(), "a stream").name == STREAMS[content]


def test_unknown_formats_are_refused(tmp_path):
    path = text_file(tmp_path, "a\nx\n")
    with pytest.raises(
        ValueError, match=r"'format' parameter of the reader .* Got 'jsonk' instead \(did you mean 'json' or 'jsonl"
    ):
        read_table(path, format="jsonk")
    with pytest.raises(ValueError, match=r"\.npy: the ending of a file to write must be one of \.csv, .* Got '\.npy'"):
        write_table(FLAT, tmp_path / "a.npy")


BAD_FILES = {
    "empty": ("a.csv", b"", r"a\.csv: must hold samples. Got an empty file"),
    "only blanks": ("a.csv", b" \n\n", "Got an empty file"),
    "text as Parquet": ("a.parquet", b"a,b\n1,2\n", "must be of the format 'parquet'. Got text instead"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])


def test_the_content_tells_the_format_where_the_ending_does_not(tmp_path):
    for name in ("a", "a.data", "a.txt"):
        assert read_table(text_file(tmp_path, "x;y\n1;2\n", name)).to_pydict() == {"x": [1], "y": [2]}
    table = pa.table({"x": [1, 2]})
    write_table(table, tmp_path / "a.parquet")
    path = text_file(tmp_path, (tmp_path / "a.parquet").read_bytes(), "b.csv")
    read, notes = noted(path)
    assert read.equals(table)
    assert notes == [f"{path} is in spite of its ending of the format 'parquet', and was read as that."]
    with pytest.raises(ValueError, match=r"must be of the format 'csv'. Got the first bytes of 'parquet' instead"):
        read_table(path, format="csv")


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
