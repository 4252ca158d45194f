"""Files to read: encodings, standard input, what is not there."""

import pytest

from paretodepth.tables import read_table
from paretodepth.tables.reading import Reading
from tests.tables.samples import assert_refused, run, text_file


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
