"""A stream reads the values that a file of the same text has."""

import itertools
import tracemalloc
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from paretodepth.streaming.records import Records, Values
from paretodepth.tables import read_table
from paretodepth.tables.cells import NOTATIONS, cell_values, forms, moment, moments
from paretodepth.tables.reading import Reading
from tests.tables.samples import text_file

SCHEMA = pa.schema([("n", pa.float64()), ("t", pa.timestamp("us")), ("s", pa.string()), ("i", pa.int64())])
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None", "?", "-", "unknown", "n.a.", " NA "]
TEXTS = ["NA", "-", "x", " y ", "007", 'say "hi"', "two\nlines", "a,b;c\td|e", "", '5" nail', "2024-03-01", "1"]
DAYS = {
    "%Y-%m-%d": "2024-12-31",
    "%d.%m.%Y %H:%M": "31.12.2024 23:59",
    "%d/%m/%Y": "31/12/2024",
    "%m/%d/%Y": "12/31/2024",
}


def quoted(cell, delimiter):
    needs_quotes = any(mark in cell for mark in f"{delimiter}\n") or cell.startswith('"')
    return '"' + cell.replace('"', '""') + '"' if needs_quotes else cell


def random_text(rng, delimiter, decimal):
    """Return CSV of numbers, times, text and integers, in which each column has missing cells."""
    notation = str(rng.choice(list(DAYS)))
    rows = [["n", "t", "s", "i"], [f"1{decimal}5", DAYS[notation], "text", "3"]]
    for _ in range(rng.integers(1, 15)):
        number = f"{rng.normal():.4f}".replace(".", decimal)
        dressed = [number, f"€ {number}", f"{number} %", f" {number} ", "12", "NaN", "inf"]
        day = (datetime(2024, 1, 1) + timedelta(minutes=int(rng.integers(10**6)))).strftime(notation)
        filled = [str(rng.choice(dressed)), day, str(rng.choice(TEXTS)), str(rng.integers(10**15))]
        missing = [str(rng.choice(MISSING)) for _ in filled]
        is_filled = rng.random(4) < [0.8, 0.8, 1, 0.8]
        rows.append([cell if kept else gap for cell, gap, kept in zip(filled, missing, is_filled, strict=True)])
    end = str(rng.choice(["\n", "\r\n"]))
    return end.join(delimiter.join(quoted(cell, delimiter) for cell in row) for row in rows) + end


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")])
def test_a_stream_reads_the_values_of_a_file(tmp_path, delimiter, decimal):
    rng = np.random.default_rng(0)
    for _ in range(40):
        text = random_text(rng, delimiter, decimal)
        table = read_table(text_file(tmp_path, text), schema=SCHEMA, format=Reading(note=str))
        kinds = {"n": "numbers", "t": "times", "s": "text", "i": "numbers"}
        records = list(Records(text.removesuffix("\n").encode().split(b"\n"), Values(None, kinds)))
        assert not [record.error for record in records if record.error]
        assert str([record.sample for record in records]) == str(plain(table)), text


def plain(table):
    """Return rows with whole floats as the integers that cells have by themselves."""
    return [
        {name: int(value) if name == "n" and str(value) == "12.0" else value for name, value in row.items()}
        for row in table.to_pylist()
    ]


def test_one_cell_has_the_form_and_the_value_that_it_has_among_others():
    cells = ["1", "-0", "1.5", "+1.5", "1e3", ".5", "007", "9223372036854775807", "9223372036854775808", "−3", "€5"]
    cells += ["1,234.50", "1.234,50", "1,5", "12 %", "nan", "-inf", "true", "False", "?", "0000-01-01", "2024-03-01"]
    cells += ["red", " x ", "", "NA", "12\n", "１"]
    for decimal in (".", ","):
        together = cell_values(cells, decimal)
        assert str([cell_values([cell], decimal)[0] for cell in cells]) == str(together)
        by_arrow = {row: form for form, rows, _ in forms(pa.array(cells), decimal) for row in rows.to_pylist()}
        for place, value in enumerate(together):
            kinds = {
                "whole": int,
                "boolean": bool,
                "identifier": str,
                "other": str,
                None: type(None),
                "marker": type(None),
            }
            assert type(value) is kinds.get(by_arrow.get(place), float), cells[place]
    assert cell_values(["1,5", "1.234,50", "2.000"], ",") == [1.5, 1234.5, 2000.0]


def test_a_moment_by_itself_equals_the_one_in_a_column():
    days = ["2024-2-29", "2023-02-29", "0001-01-01", "9999-12-31", "0000-01-01", "31.12.2024", "5/6/2024", "13/1/2024"]
    clocks = ["", " 7:05", "T23:59:59.123456789", " 12:30Z", " 12:30:00 UTC", " 12:30+02:00", " 24:00", " 7", "  7:05"]
    cells = [day + clock for day, clock in itertools.product(days, clocks)]
    for notation in NOTATIONS:
        assert [moment(cell, notation) for cell in cells] == moments(pa.array(cells), notation).to_pylist()


def test_a_day_shows_whether_days_or_months_come_first():
    kinds = {"t": "times"}
    text = b"t,x\n03/04/2024,1\n05/05/2024,2\n13/04/2024,3\n03/04/2024,4\n2024-04-03,5"
    found = [record.sample["t"] for record in Records(text.split(b"\n"), Values(None, kinds))]
    assert found == [
        "03/04/2024",
        datetime(2024, 5, 5),
        datetime(2024, 4, 13),
        datetime(2024, 4, 3),
        "2024-04-03",
    ]


def test_what_a_column_holds_follows_from_its_first_cell_if_nobody_knows():
    text = "a,b,c\nNA,NA,?\n1,DE,-\n?,NA,3\nN/A,?,x\nred,,007"
    assert [list(record.sample.values()) for record in Records(text.encode().split(b"\n"))] == [
        [None, None, None], [1, "DE", None], [None, "NA", 3], [None, "?", "x"], ["red", None, "007"],
    ]  # fmt: skip
    lines = [b'{"a": 1, "b": "x"}', b'{"a": "N/A", "b": "N/A"}', b'{"a": "7 %", "b": "1"}', b'{"a": "red", "b": 2}']
    assert [list(record.sample.values()) for record in Records(lines)] == [
        [1, "x"],
        [None, "N/A"],
        [7, "1"],
        ["red", 2],
    ]


def test_comments_and_a_named_separator_are_skipped_as_in_files():
    for text in ("# made by hand\n# in 2024\na;b\n1,5;x", "sep=;\na;b\n1,5;x", "\n\na;b\n1,5;x\n\n"):
        assert [record.sample for record in Records(text.encode().split(b"\n"))] == [{"a": 1.5, "b": "x"}]
    assert next(record.error for record in Records(b"# note\na,b\n1,2,3".split(b"\n"))).startswith(
        "line 3: must have 2"
    )
    assert [record.sample for record in Records([b"a", b"1", b"", b"2"])] == [{"a": 1}, {"a": None}, {"a": 2}]


def test_a_stream_that_is_resumed_finds_its_delimiter_by_its_columns():
    assert [record.sample for record in Records([b"1,5;2,5"], names=["a", "b"])] == [{"a": 1.5, "b": 2.5}]
    assert [record.sample for record in Records([b"a;b", b"1,5;2,5"], names=["a", "b"])] == [{"a": 1.5, "b": 2.5}]


def test_ever_new_keys_take_no_more_memory():
    records = Records(f'{{"k{number}": {number}}}'.encode() for number in range(50_000))
    tracemalloc.start()
    sizes = [tracemalloc.get_traced_memory()[0] for record in records if record.number in (25_000, 50_000)]
    tracemalloc.stop()
    assert sizes[1] < sizes[0] + 100_000
