"""Delimiters, decimal marks and lines before the header: found out, or given."""

import re

import pytest

from paretodepth.tables import read_table
from paretodepth.tables.reading import Reading
from tests.tables.samples import text_file

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
