"""Files to read: encodings, standard input, what is not there."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from paretodepth.tables import read_table, write_table
from paretodepth.tables.reading import Reading
from paretodepth.tables.sources import unpacked
from tests.tables.samples import FLAT, assert_refused, noted, run, text_file


def test_byte_order_marks_are_no_part_of_a_name(tmp_path):
    assert read_table(text_file(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n")).column_names == ["a", "b"]
    path = text_file(tmp_path, b'\xef\xbb\xbf{"a": 1}\n', "samples.jsonl")
    assert read_table(path).to_pydict() == {"a": [1]}


def test_missing_files_and_folders_are_refused(tmp_path):
    text_file(tmp_path, "a\nx\n", "training.csv")
    with pytest.raises(
        FileNotFoundError, match=r"trainig.csv: there is no such file \(did you mean 'training.csv'\?\)"
    ):
        read_table(tmp_path / "trainig.csv")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_table(tmp_path / "no" / "training.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"must be a file. Got a folder instead"):
        read_table(tmp_path / "folder.csv")


def test_other_encodings_are_read_when_asked_for(tmp_path):
    text = "a,b\ncafé €,1\n"
    for encoding in ("cp1252", "utf-16", "utf-8", "utf-8-sig", "utf-16-le"):
        path = text_file(tmp_path, text.encode(encoding))
        assert read_table(path, format=Reading(encoding=encoding)).to_pydict() == {"a": ["café €"], "b": [1]}
    path = text_file(tmp_path, "a,b\ncafé,1\n".encode("latin-1"))
    assert read_table(path, format=Reading(encoding="latin-1"))["a"].to_pylist() == ["café"]
    with pytest.raises(
        ValueError, match=r"line 2: must be text in UTF-16-BE. Got byte .* instead; name another encoding"
    ):
        read_table(text_file(tmp_path, b"a,b\n1,\xd8\xd8\xd8\xd8x\n"), format=Reading(encoding="utf-16-be"))


def test_utf_16_is_told_by_its_mark(tmp_path):
    for encoding in ("utf-16", "utf-16-be"):
        path = text_file(tmp_path, ("\ufeff" * (encoding != "utf-16") + "a\tb\né\t1\n").encode(encoding))
        assert read_table(path).to_pydict() == {"a": ["é"], "b": [1]}


def test_a_folder_is_refused_with_the_pattern_of_its_files(tmp_path):
    for name in ("a.tsv", "b.tsv", "c.csv", "d"):
        text_file(tmp_path, "a\nx\n", name)
    with pytest.raises(
        IsADirectoryError, match=r"Got a folder instead; name a file in it, or .* one table: '.*/\*\.tsv'"
    ):
        read_table(tmp_path)


@pytest.mark.slow
def test_standard_input_is_named_in_messages():
    code = "try:\n    read_table('-')\nexcept ValueError as error:\n    print(error)"
    assert run(code, stdin=b"a,b\n1\n").startswith(b"standard input, line 2: every row must have 2 cells")
    assert run(code).startswith(b"standard input: must hold samples")


BAD_FILES = {
    "Latin 1": (
        "a.csv",
        "a,b\nx,1\ncafé,2\n".encode("latin1"),
        r"a\.csv, line 3: must be text in UTF-8. Got byte 0xe9 at position 11 instead; name .*: --encoding cp1252",
    ),
    "UTF-8 cut off": ("a.jsonl", '{"a": "é'.encode()[:-1], r"a\.jsonl, line 1: must be .* 0xc3 at position 7"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])


COMPRESS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    "lz4": lambda content: _streamed(content, "lz4"),
}


def _streamed(content, name):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, name) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_compressed_files_are_read(tmp_path, ending, format):
    write_table(FLAT, tmp_path / f"a.{format}")
    content = COMPRESS[ending]((tmp_path / f"a.{format}").read_bytes())
    assert read_table(text_file(tmp_path, content, f"b.{format}.{ending}")).equals(FLAT)


def test_first_bytes_tell_that_a_file_is_compressed(tmp_path):
    content = gzip.compress(b"a;b\n1;2\n")
    for name in ("a.csv", "a", "a.gz"):
        assert read_table(text_file(tmp_path, content, name)).to_pydict() == {"a": [1], "b": [2]}
    # Members one behind the other are one file.
    path = text_file(tmp_path, gzip.compress(b"a;b\n1;2\n") + gzip.compress(b"3;4\n"), "a.csv.gz")
    assert read_table(path).to_pydict() == {"a": [1, 3], "b": [2, 4]}
    path = text_file(tmp_path, gzip.compress("a,b\ncafé,1\n".encode("cp1252")), "a.csv.gz")
    assert noted(path, encoding="cp1252")[0]["a"].to_pylist() == ["café"]
    with pytest.raises(ValueError, match=r"line 2: must be text in UTF-8.*--encoding cp1252"):
        read_table(path, format=Reading())


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_bomb_is_refused_before_it_takes_much(tmp_path, ending):
    path = text_file(tmp_path, COMPRESS[ending](bytes(8 << 20)), f"bomb.csv.{ending}")
    assert path.stat().st_size < 100_000
    message = r"bomb.* must unpack to at most .* Got more .* unpack it yourself"
    with open(path, "rb") as file, pytest.raises(ValueError, match=message):
        unpacked(file, str(path), max_bytes=2 << 20, max_ratio=10).__enter__()
    with open(path, "rb") as file, unpacked(file, str(path)) as copy:
        assert len(copy.read()) == 8 << 20


CUT_FILES = {
    f"{ending} cut off": (
        f"a.csv.{ending}",
        COMPRESS[ending](b"a,b\n" + b"1,2\n" * 1000)[:-12],
        "must be a readable file of",
    )
    for ending in ("gz", "bz2", "xz")
}


@pytest.mark.parametrize("case", CUT_FILES)
def test_damaged_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *CUT_FILES[case])
