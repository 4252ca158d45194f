"""Dates in text: their notations, what is ambiguous, and what stays text."""

import json
import re
from datetime import datetime

import pyarrow as pa
import pytest

from paretodepth.tables import read_table
from tests.tables.samples import noted, text_file

MOMENT = pa.timestamp("us")
DATES = {
    "days": (["2024-03-01", "2024-12-31"], [datetime(2024, 3, 1), datetime(2024, 12, 31)]),
    "minutes": (["2024-03-01 12:30", "2024-3-1 9:05"], [datetime(2024, 3, 1, 12, 30), datetime(2024, 3, 1, 9, 5)]),
    "zones": (
        ["2024-03-01T12:30:00Z", "2024-03-01T12:30:00.5+02:00"],
        [datetime(2024, 3, 1, 12, 30), datetime(2024, 3, 1, 12, 30, 0, 500_000)],
    ),
    "nanoseconds": (["2024-03-01 12:30:00.123456789"], [datetime(2024, 3, 1, 12, 30, 0, 123456)]),
    "year first, with slashes": (["2024/03/01"], [datetime(2024, 3, 1)]),
    "points": (["01.03.2024", "1.3.2024 23:59"], [datetime(2024, 3, 1), datetime(2024, 3, 1, 23, 59)]),
    "day first": (["01/02/2024", "13/02/2024"], [datetime(2024, 2, 1), datetime(2024, 2, 13)]),
    "month first": (["01/02/2024", "02/13/2024"], [datetime(2024, 1, 2), datetime(2024, 2, 13)]),
    "some missing": (["2024-03-01", "NA", ""], [datetime(2024, 3, 1), None, None]),
    "the first and the last": (["0001-01-01", "9999-12-31"], [datetime(1, 1, 1), datetime(9999, 12, 31)]),
}


def date_file(tmp_path, cells):
    return text_file(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells))


@pytest.mark.parametrize("case", DATES)
def test_columns_of_dates_are_timestamps(tmp_path, case):
    cells, values = DATES[case]
    table, notes = noted(date_file(tmp_path, cells))
    assert table["a"].type == MOMENT
    assert table["a"].to_pylist() == values
    assert notes == []


NO_DATES = {
    "one is no date": ["2024-03-01", "soon"],
    "no such day": ["2024-02-29", "2023-02-29"],
    "no such hour": ["2024-03-01 25:00"],
    "notations mixed": ["2024-03-01", "01.03.2024"],
    "times of day": ["12:30", "13:00"],
    "numbers behind dates": ["2024-03-01", "5", "6", "7"],
    "months": ["2024-03", "2024-04"],
    "versions": ["1.2.2024.5", "1.2.2024.6"],
}


@pytest.mark.parametrize("case", NO_DATES)
def test_other_columns_are_text(tmp_path, case):
    table, notes = noted(date_file(tmp_path, NO_DATES[case]))
    assert table["a"].to_pylist() == NO_DATES[case]
    assert notes == []


def test_marks_for_nothing_among_dates_are_missing(tmp_path):
    table, notes = noted(date_file(tmp_path, ["2024-03-01", "-", "?"]))
    assert table["a"].to_pylist() == [datetime(2024, 3, 1), None, None]
    assert notes == ["the column 'a' has 2 cells counted as missing, first '-' in row 2 below the header."]


@pytest.mark.parametrize("zero", ["0000-01-01", "0000-00-00 00:00:00", "00.00.0000", "1/1/0000"])
def test_a_date_of_the_year_0_is_missing_as_in_typed_files(tmp_path, zero):
    day = {"-": "2024-03-01", ".": "01.03.2024", "/": "3/13/2024"}[re.search("[-./]", zero)[0]]
    table, notes = noted(date_file(tmp_path, [day, zero]))
    assert table["a"].type == MOMENT
    assert table["a"].is_null().to_pylist() == [False, True]
    assert notes == [f"the column 'a' has 1 cell counted as missing, first {zero!r} in row 2 below the header."]
    path = text_file(tmp_path, json.dumps([{"a": day}, {"a": zero}]), "samples.json")
    assert noted(path)[0]["a"].is_null().to_pylist() == [False, True]


def test_dates_with_day_or_month_first_stay_text_and_that_is_said(tmp_path):
    cells = ["01/02/2024", "03/04/2024"]
    table, notes = noted(date_file(tmp_path, cells))
    assert table["a"].to_pylist() == cells
    (note,) = notes
    assert "'a' holds dates of which the day or the month may come first, and is read as text; write 2024-12-31" in note


def test_where_times_are_expected_up_to_half_of_the_cells_may_be_none(tmp_path):
    schema = pa.schema([("a", pa.date32()), ("b", pa.string())])
    table, notes = noted(date_file(tmp_path, ["31.12.2024", "30.02.2024"]), schema)
    assert table["a"].to_pylist() == [datetime(2024, 12, 31), None]
    assert notes == ["the column 'a' has 1 cell counted as missing, first '30.02.2024' in row 2 below the header."]
    assert read_table(date_file(tmp_path, ["NA"]), schema=schema)["a"].to_pylist() == [None]
    with pytest.raises(ValueError, match=r"'a' must hold times, .* Got text instead, '5' in row 1 below the header"):
        read_table(date_file(tmp_path, ["5"]), schema=schema)
    with pytest.raises(
        ValueError, match=r"'a' must hold times, .* the day or the month may come first; write 2024-12-31"
    ):
        read_table(date_file(tmp_path, ["01/02/2024"]), schema=schema)


def test_dates_where_text_is_expected_are_text(tmp_path):
    schema = pa.schema([("a", pa.string()), ("b", pa.string())])
    assert read_table(date_file(tmp_path, ["2024-03-01"]), schema=schema)["a"].to_pylist() == ["2024-03-01"]
