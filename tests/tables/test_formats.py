"""Formats as rows of a table: told by endings and first bytes, and nothing else to be written for one."""

import contextlib
import io

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
