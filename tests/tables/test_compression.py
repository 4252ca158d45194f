"""Compressed files: every kind of every text format, damaged ones, and ones that grow beyond all measure."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from paretodepth.tables import read_table, write_table
from paretodepth.tables.compression import unpacked
from paretodepth.tables.reading import Reading
from tests.tables.samples import FLAT, assert_refused, noted, text_file

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


BAD_FILES = {
    f"{ending} cut off": (
        f"a.csv.{ending}",
        COMPRESS[ending](b"a,b\n" + b"1,2\n" * 1000)[:-12],
        "must be a readable file of",
    )
    for ending in ("gz", "bz2", "xz")
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_damaged_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])
