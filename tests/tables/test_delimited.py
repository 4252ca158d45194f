"""Delimited text there and back, the types of its columns, and what is refused."""

import json
import re
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth.tables import read_chunks, read_table, write_table
from paretodepth.tables.reading import Reading
from tests.tables.samples import FLAT, TEXT, assert_refused, noted, text_file


@pytest.mark.parametrize("ending", TEXT)
def test_flat_tables_with_strange_text_come_back_from_text(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    write_table(FLAT, path)
    assert read_table(path).equals(FLAT)


@pytest.mark.parametrize("ending", TEXT)
@given(
    cells=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.none(), min_size=1, max_size=6)
)
@settings(deadline=None)
def test_any_text_comes_back_from_text(tmp_path_factory, ending, cells):
    path = tmp_path_factory.mktemp("text") / f"samples.{ending}"
    table = pa.table({"a": ["text", *cells], "b": range(len(cells) + 1)})
    write_table(table, path)
    assert read_table(path).equals(table)
    write_table(table.select(["a"]), path)
    assert read_table(path).equals(table.select(["a"]))


def test_lists_are_written_to_csv_as_json(tmp_path):
    path = tmp_path / "samples.csv"
    write_table(pa.table({"series": [[1.5, 2.0], None, []]}), path)
    assert path.read_text() == 'series\n"[1.5, 2.0]"\n\n[]\n'
    assert [value and json.loads(value) for value in read_table(path)["series"].to_pylist()] == [[1.5, 2.0], None, []]


def test_formulas_are_written_as_they_are(tmp_path):
    path = tmp_path / "samples.tsv"
    write_table(pa.table({"a": ["=1+1", "@x", "-y", "+z"]}), path)
    assert path.read_text() == "a\n=1+1\n@x\n-y\n+z\n"


TYPES = {
    "integers": ("1,-2,0", pa.int64(), [1, -2, 0]),
    "integers and floats": ("1,2.5,1e3", pa.float64(), [1.0, 2.5, 1000.0]),
    "integers and nothing": ("1,,3", pa.int64(), [1, None, 3]),
    "words for missing numbers": ("1,NA,N/A,n/a,#N/A,null,NULL,None,2", pa.int64(), [1, *[None] * 7, 2]),
    "infinite": ("inf,-inf,Infinity", pa.float64(), [np.inf, -np.inf, np.inf]),
    "blanks around numbers": (" 1,2 ", pa.int64(), [1, 2]),
    "booleans": ("true,False,NA,TRUE", pa.bool_(), [True, False, None, True]),
    "booleans and integers": ("true,1", pa.string(), ["true", "1"]),
    "the same words as text": ("NA,DE,null,,None", pa.string(), ["NA", "DE", "null", None, "None"]),
    "only words for missing": ("NA,null,", pa.string(), ["NA", "null", None]),
    "nothing": (",,", pa.string(), [None, None, None]),
    "leading zeros": ("1,007", pa.string(), ["1", "007"]),
    "plus signs": ("+49123,1.5", pa.string(), ["+49123", "1.5"]),
    "beyond 64 bits": ("1,9223372036854775808", pa.string(), ["1", "9223372036854775808"]),
    "64 bits": ("9223372036854775807", pa.int64(), [2**63 - 1]),
    "hexadecimal": ("0x1F,1", pa.string(), ["0x1F", "1"]),
    "dates": ("2020-01-01,2020-01-02", pa.timestamp("us"), [datetime(2020, 1, 1), datetime(2020, 1, 2)]),
    "hours": ("12:30,13:00", pa.string(), ["12:30", "13:00"]),
    "quoted numbers": ('"1","2"', pa.int64(), [1, 2]),
    "quoted nothing": ('a,""', pa.string(), ["a", ""]),
}


@pytest.mark.parametrize("case", TYPES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_column_of_csv_has_the_narrowest_type(tmp_path, case, newline):
    cells, type, values = TYPES[case]
    lines = ["a,b", *(f"{cell},x" for cell in cells.split(","))]
    table = read_table(text_file(tmp_path, newline.join(lines) + newline))
    assert table["a"].type == type
    assert table["a"].to_pylist() == values


def test_nan_is_a_float(tmp_path):
    table = read_table(text_file(tmp_path, "a,b\n1,x\nNaN,y\nnan,z\n"))
    assert_array_equal(table["a"].to_numpy(), [1, np.nan, np.nan])
    assert table["a"].null_count == 0


def test_a_type_does_not_depend_on_where_in_the_file_a_cell_is(tmp_path):
    # The columns change their kind megabytes behind the first block that is parsed.
    rows = [f"{i},{i},,{i if i < 50_000 else 'x'},{'y' * 100}" for i in range(60_000)]
    rows[-1] = "1,2.5,7,x,y"
    path = text_file(tmp_path, "\n".join(["a,b,c,d,e", *rows]))
    assert path.stat().st_size > 5e6
    chunks = list(read_chunks(path, n_rows=7000))
    for chunk in chunks:
        assert chunk.schema.types == [pa.int64(), pa.float64(), pa.int64(), pa.string(), pa.string()]
    assert [len(chunk) for chunk in chunks] == [7000] * 8 + [4000]
    assert chunks[-1].to_pylist()[-1] == {"a": 1, "b": 2.5, "c": 7, "d": "x", "e": "y"}


def test_dates_behind_megabytes_of_marks_are_dates(tmp_path):
    rows = [f"-,{'y' * 200}"] * 25_000 + ["2024-03-01,y"] * 1000
    path = text_file(tmp_path, "\n".join(["a,b", *rows]))
    assert path.stat().st_size > 5e6
    table, notes = noted(path)
    assert table["a"].to_pylist() == [None] * 25_000 + [datetime(2024, 3, 1)] * 1000
    assert notes == ["the column 'a' has 25,000 cells counted as missing, first '-' in row 1 below the header."]


def test_lone_quotation_marks_within_cells_are_text(tmp_path):
    table = read_table(text_file(tmp_path, 'a\tb\n5" nail\t1\n"x"\t2\n', "samples.tsv"))
    assert table.to_pydict() == {"a": ['5" nail', "x"], "b": [1, 2]}


def test_text_where_numbers_are_expected_is_refused_with_its_row(tmp_path):
    rows = [f"a,{i if i < 77 else 'seven'},true,1.5" for i in range(1000)]
    path = text_file(tmp_path, "\n".join(["id,size,flag,depth", *rows]))
    with pytest.raises(
        ValueError, match=r"'size' must hold numbers.* Got text instead, 'seven' in row 78 below the header"
    ):
        read_table(path, schema=pa.schema([("id", pa.string()), ("size", pa.int64())]), keep_others=True)


BAD_FILES = {
    "no header": (
        "a.csv",
        b"1,2.5,-3,4\n5,6,7,8\n",
        r"line 1: must be a header .* Got only numbers instead, '1', '2.5'",
    ),
    "too few cells": ("a.csv", b'a,b\n"x\ny",2\n3\n', r"a\.csv, line 4: every row must have 2 cells.* Got 1 .* in '3'"),
    "too many cells": ("a.csv", b"a,b\n1,2,3\n", r"a\.csv, line 2: every row must have 2 cells.* Got 3 instead"),
    # The csv module, which looks for the line, takes no such cell.
    "too many cells behind a long one": (
        "a.csv",
        b"a,b\n" + b"x" * 200_000 + b",1\n1,2,3\n",
        r"a\.csv, line 3: every row must have 2 cells, as the header, separated by ','. Got 3 instead in '1,2,3'",
    ),
    "mixed delimiters": ("a.csv", b"a,b\n1,2\n3;4\n", r"line 3: every row must have 2 cells.* Got 1 .* in '3;4'"),
    "a quotation mark without its twin": (
        "a.csv",
        b'a,b\n1,2\n3,"4\n5,6\n7,8,9\n',
        r"a\.csv, line 3: every quotation mark at the start of a cell must have a twin",
    ),
    "a quotation mark without its twin, long before the end": (
        "a.csv",
        b'a,b\n1,"2\n' + b"3,4\n" * 100_000,
        r"a\.csv, line 2: every quotation mark at the start of a cell must have a twin",
    ),
    "a quotation mark whose twin is that of another cell": (
        "a.csv",
        b'a,b\n1,2\n3,"4\n5,6\n7,"8"\n9,"10"\n',
        r"a\.csv, line 3: every quotation mark at the start of a cell must have a twin",
    ),
    "two quotation marks without twins": (
        "a.csv",
        b'a,b\n1,2\n3,"4\n5,6\n7,"8\n',
        r"a\.csv, line 3: every quotation mark at the start of a cell must have a twin",
    ),
    "a row of 17 MB": (
        "a.csv",
        b"a,b\n1," + b"x" * (17 << 20),
        r"a\.csv, line 2: must be at most 16 MB long. Got more",
    ),
    "17 MB behind a quotation mark": ("a.csv", b'a,b\n1,"' + b"xxx,yyy\n" * (17 << 17), r"a\.csv, line 2: must be at"),
    "a header of 17 MB": ("a.csv", b'"' * (17 << 20) + b",a\n", r"a\.csv, line 1: must be at most 16 MB long"),
    "a title before the header": (
        "a.csv",
        b"Sales\na,b\n1,2\n3,4\n",
        r"line 2: every row must have 1 cells.* if what stands before line 2 is no header, leave it out: --skip-rows 1",
    ),
    "old line ends": ("a.csv", b"a,b\r1,2\r3,4\r", r"lines must end with a line feed. .* tr '\\r' '\\n' <"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])


def test_many_blank_lines_before_the_header_are_no_empty_file(tmp_path):
    path = text_file(tmp_path, "\n" * 100_000 + "a;b\n1;2\n\n3;4\n")
    assert read_table(path).to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert_refused(tmp_path, "b.csv", "\n" * 9000 + "a,b\n1\n", "line 9002: every row must have 2 cells")
    assert_refused(tmp_path, "c.csv", "\n" * 9000, "must hold samples. Got an empty file instead")


@pytest.mark.parametrize("n_before", [0, 3 << 20])
def test_rows_of_megabytes_are_read_wherever_they_are(tmp_path, n_before):
    long = "x" * (9 << 20)
    path = text_file(tmp_path, f"a,b\n{'1,y' + chr(10)}" + "2,z\n" * (n_before // 4) + f'3,{long}\n4,"y\nz"\n')
    assert read_table(path)["b"].to_pylist()[-2:] == [long, "y\nz"]


def test_long_cells_beside_an_odd_mark_are_read(tmp_path):
    long = "x" * 200_000
    path = text_file(tmp_path, f'a,b\n"{long},",1\nfive " inches,2\n')
    assert read_table(path).to_pydict() == {"a": [f"{long},", 'five " inches'], "b": [1, 2]}


FOUND = {
    "semicolons with decimal commas": ("a;b\n1,5;x\n2,5;y\n", {"a": [1.5, 2.5], "b": ["x", "y"]}),
    "semicolons with one decimal comma a row": ("a;b\n1,5;2\n2,5;3\n", {"a": [1.5, 2.5], "b": [2, 3]}),
    "semicolons with decimal points": ("a;b\n1.5;x\n2.5;y\n", {"a": [1.5, 2.5], "b": ["x", "y"]}),
    "semicolons with three decimals": ("a;b\n1,500;x\n2,250;y\n", {"a": [1.5, 2.25], "b": ["x", "y"]}),
    "commas with decimal commas": ('a,b\n"1,5",x\n"2,5",y\n', {"a": [1.5, 2.5], "b": ["x", "y"]}),
    "tabs": ("a\tb\n1,5\tx, y\n2,5\tz\n", {"a": [1.5, 2.5], "b": ["x, y", "z"]}),
    "bars": ("a|b\n1|x;y\n2|z;a\n", {"a": [1, 2], "b": ["x;y", "z;a"]}),
    "delimiters in quotation marks": ('"a;c";b\n"1;2";x\n', {"a;c": ["1;2"], "b": ["x"]}),
    "as many semicolons as commas": ("a,b\n1;2,3;4\n", {"a": ["1;2"], "b": ["3;4"]}),
    "semicolons in one column only": ("a\nx;y\nz;a\n", {"a": ["x;y", "z;a"]}),
    "a separator that a spreadsheet names": ("sep=;\na;b\n1;2\n", {"a": [1], "b": [2]}),
    "a comment": ("# made in 2024, by hand\na,b,c\n1,2,3\n", {"a": [1], "b": [2], "c": [3]}),
    "two comments": ("# one\n# two\na;b\n1;2\n", {"a": [1], "b": [2]}),
    "a name that looks like a comment": ("#a,b\n1,2\n", {"#a": [1], "b": [2]}),
    "only names that look like comments": ("#a\n#b\n", {"#a": ["#b"]}),
    "a byte order mark": ("\ufeffa;b\n1;2\n", {"a": [1], "b": [2]}),
}


@pytest.mark.parametrize("case", FOUND)
@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
def test_a_file_tells_its_dialect(tmp_path, case, ending):
    content, columns = FOUND[case]
    if ending == "tsv" and case.startswith("as many"):
        content = content.replace(",", "\t")
    assert read_table(text_file(tmp_path, content, f"samples.{ending}")).to_pydict() == columns


def test_a_dialect_that_is_given_is_taken(tmp_path):
    path = text_file(tmp_path, "title\nmore, of it\na;b\n1,500;2\n3.5;4\n")
    table = read_table(path, format=Reading(sep=";", decimal=".", skip_rows=2, note=str))
    assert table["b"].to_pylist() == [2, 4]
    with pytest.raises(ValueError, match=re.escape("line 3: cells must be separated by ','. Got ';' and no ','")):
        read_table(path, format=Reading(sep=",", skip_rows=2))
    path = text_file(tmp_path, "a\tb\n1\t2\n")
    for tab in ("\t", "tab", "\\t"):
        assert read_table(path, format=Reading(sep=tab)).to_pydict() == {"a": [1], "b": [2]}


BAD_READINGS = {
    "separator (sep) must be one character, or tab. Got ',,' instead": Reading(sep=",,"),
    "separator (sep) must be one character, or tab. Got '\"' instead": Reading(sep='"'),
    "decimal mark (decimal) must be '.' or ','. Got ';' instead": Reading(decimal=";"),
    "separator and the decimal mark must differ. Got ',' for both": Reading(sep=",", decimal=","),
    "rows to skip (skip_rows) must be 0 or more. Got -1 instead": Reading(skip_rows=-1),
    "encoding must be one that Python knows, such as utf-8, cp1252 or utf-16. Got 'klingon'": Reading(
        encoding="klingon"
    ),
}


@pytest.mark.parametrize("message", BAD_READINGS)
def test_what_cannot_be_a_dialect_is_refused(tmp_path, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table(text_file(tmp_path, "a,b\n1,2\n"), format=BAD_READINGS[message])


@pytest.mark.parametrize("n_skipped", [5, 10**18, 10**30])
def test_more_lines_to_skip_than_the_file_has_are_refused(tmp_path, n_skipped):
    path = text_file(tmp_path, "a,b\n1,2\n\n3,4\n\n")
    with pytest.raises(ValueError, match=rf"header after the lines to skip .* Got {n_skipped:,} to skip of 5; skip"):
        read_table(path, format=Reading(skip_rows=n_skipped))


def test_lines_are_counted_from_the_start_of_the_file(tmp_path):
    path = text_file(tmp_path, "# one\n# two\na,b\n1,2\n3\n")
    with pytest.raises(ValueError, match="line 5: every row must have 2 cells"):
        read_table(path)
