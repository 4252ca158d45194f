"""Odd cells: which columns stay numbers, what is read, what is missing, and what is said about it."""

import itertools
import json
import re
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretodepth.tables import read_chunks, read_table
from paretodepth.tables.cells import Tally, check_settled
from paretodepth.tables.expected_columns import Expected
from paretodepth.tables.reading import Reading
from tests.tables.samples import noted, text_file

NUMBERS = [str(number) for number in range(1, 31)]
READ = {
    "€12.30": 12.3,
    "$ 5": 5,
    "7 EUR": 7,
    "1,234.50": 1234.5,
    "1'234": 1234,
    "12 %": 12,
    "-€1,000": -1000,
    "−3": -3,
    "$-5": -5,
}
MISSING = ["?", "-", "--", "n.a.", "unknown", "#DIV/0!", "seven", "true", "12 apples", "-€-5"]


def column_file(tmp_path, cells, name="samples.csv"):
    return text_file(tmp_path, "a|b\n" + "".join(f"{cell}|x\n" for cell in cells), name)


@pytest.mark.parametrize("cell", READ)
def test_a_dressed_number_among_numbers_is_read(tmp_path, cell):
    table, notes = noted(column_file(tmp_path, [*NUMBERS, cell]))
    assert table["a"].type == pa.float64()
    assert table["a"].to_pylist() == [*map(float, NUMBERS), READ[cell]]
    assert notes == [f"the column 'a' has 1 cell read as numbers, first {cell!r} in row 31 below the header."]


@pytest.mark.parametrize("cell", MISSING)
def test_a_cell_that_is_no_number_among_numbers_is_missing(tmp_path, cell):
    table, notes = noted(column_file(tmp_path, [*NUMBERS, cell, "31", cell]))
    assert table["a"].type == pa.int64()
    assert table["a"].to_pylist() == [*map(int, NUMBERS), None, 31, None]
    assert notes == [f"the column 'a' has 2 cells counted as missing, first {cell!r} in row 31 below the header."]


def test_nobody_who_listens_is_warned(tmp_path):
    with pytest.warns(UserWarning, match="'a' has 1 cell counted as missing, first '\\?' in row 31 below the header"):
        read_table(column_file(tmp_path, [*NUMBERS, "?"]))


def test_decimal_commas_turn_points_into_marks_between_digits(tmp_path):
    path = text_file(tmp_path, "a;b\n1,5;x\n1.234,50;x\n€ 12,30;x\n2.000;x\n")
    table, notes = noted(path)
    assert table["a"].to_pylist() == [1.5, 1234.5, 12.3, 2000]
    assert notes == ["the column 'a' has 3 cells read as numbers, first '1.234,50' in row 2 below the header."]


STAY_TEXT = {
    "more than a tenth are words": [*NUMBERS, *["red"] * 4],
    "codes of letters and digits": [*NUMBERS, "14a"],
    "an identifier": [*NUMBERS, "?", "007"],
    "beyond 64 bits": [*NUMBERS, "?", "9223372036854775808"],
    "two signs": [*NUMBERS, "--5"],
    "two numbers": ["1", "2", "?"],
    "words": ["red", "green", "?"],
    "a zip code and a phone number": ["12345", "+4912345", "12345"],
}


@pytest.mark.parametrize("case", STAY_TEXT)
def test_what_is_not_mostly_numbers_stays_text(tmp_path, case):
    table, notes = noted(column_file(tmp_path, STAY_TEXT[case]))
    assert table["a"].to_pylist() == STAY_TEXT[case]
    assert notes == []


def test_marks_for_nothing_may_be_many(tmp_path):
    for cells, type in [(["1.5", "2", "3", *"?" * 50], pa.float64()), (["true", "false", "true", "?"], pa.bool_())]:
        table, notes = noted(column_file(tmp_path, cells))
        assert table["a"].type == type
        assert table["a"].null_count == cells.count("?")
        (note,) = notes
        assert note.endswith("counted as missing, first '?' in row 4 below the header.")


def test_where_numbers_are_expected_up_to_half_of_the_cells_may_be_none(tmp_path):
    schema = pa.schema([("a", pa.float64()), ("b", pa.string())])
    table, notes = noted(column_file(tmp_path, ["1.5", "red"]), schema)
    assert table["a"].to_pylist() == [1.5, None]
    assert notes == ["the column 'a' has 1 cell counted as missing, first 'red' in row 2 below the header."]
    table, notes = noted(column_file(tmp_path, ["?"]), schema)
    assert table["a"].type == pa.float64()
    assert table["a"].to_pylist() == [None]
    assert len(notes) == 1
    with pytest.raises(
        ValueError, match=r"'a' must hold numbers, .* Got text instead, 'red' in row 2 below the header"
    ):
        read_table(column_file(tmp_path, ["1.5", "red", "green"]), schema=schema)
    with pytest.raises(
        ValueError, match=r"'a' must hold numbers, .* Got text instead, '007' in row 2 below the header"
    ):
        read_table(column_file(tmp_path, ["1", "007"]), schema=schema)


def test_all_is_noted_before_the_first_chunk_comes(tmp_path):
    notes = []
    path = column_file(tmp_path, [*NUMBERS * 10, "?"])
    chunks = read_chunks(path, n_rows=7, format=Reading(note=notes.append))
    assert next(chunks)["a"].type == pa.int64()
    assert notes == [f"{path}: the column 'a' has 1 cell counted as missing, first '?' in row 301 below the header."]
    assert sum(len(chunk) for chunk in chunks) == 301 - 7


@pytest.mark.parametrize("name", ["samples.jsonl", "samples.json"])
def test_text_among_the_numbers_of_json_is_odd(tmp_path, name):
    rows = [{"b": "01"}, *({"a": number, "b": "2"} for number in (1, 2, 3.5)), {"a": "€4"}, {"a": "?"}]
    content = json.dumps(rows) if name.endswith("json") else "\n\n".join(map(json.dumps, rows))
    table, notes = noted(text_file(tmp_path, content, name))
    assert table.to_pydict() == {"b": ["01", "2", "2", "2", None, None], "a": [None, 1, 2, 3.5, 4, None]}
    assert notes == [
        "the column 'a' has 1 cell read as numbers, first '€4' in row 5.",
        "the column 'a' has 1 cell counted as missing, first '?' in row 6.",
    ]


def naive_column(cells):
    """Return the type and the values of a column, cell by cell."""
    bare = [None if cell.strip() in ("", "NA", "null") else cell.strip() for cell in cells]
    values = [cell for cell in bare if cell is not None]
    number = re.compile(r"[€$]?-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?( ?%)?$")
    read = {cell: float(re.sub("[^0-9.-]", "", cell)) for cell in values if number.match(cell)}
    if any(re.fullmatch(r"-?0\d+", cell) for cell in values):
        return pa.string(), cells
    n_numbers = sum(cell in read for cell in values)
    n_markers = sum(cell in ("?", "-") for cell in values)
    n_none = len(values) - n_numbers - n_markers
    n_codes = sum(bool(re.fullmatch(r"(?=.*\d)(?=.*[a-z])[a-z0-9]+", cell)) for cell in values)
    if not values:
        return pa.null(), [None] * len(cells)
    is_mostly = n_numbers >= 3 and n_none <= 0.1 * (n_numbers + n_none) and n_codes <= 0.01 * (n_numbers + n_none)
    if n_numbers == len(values) and all(re.fullmatch(r"-?\d+(\.\d+)?", cell) for cell in values):
        is_mostly = True
    if not is_mostly:
        return pa.string(), cells
    is_whole = all(re.fullmatch(r"-?\d+", cell) for cell in read)
    return pa.int64() if is_whole else pa.float64(), [read.get(cell) for cell in bare]


CELLS = st.sampled_from(["1", "-2", "3.5", "1,234", "€5", "6 %", "?", "-", "NA", "", " 7 ", "red", "14a", "007"])


@given(cells=st.lists(CELLS, max_size=30) | st.lists(CELLS.filter(lambda cell: cell not in ("007", "14a"))).map(
    lambda cells: cells + NUMBERS), cuts=st.lists(st.integers(0, 40), max_size=3))  # fmt: skip
@settings(deadline=None)
def test_columns_equal_the_naive_ones_however_they_are_cut(cells, cuts):
    tally = Tally()
    array = pa.array(cells, pa.string())
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(cells)], strict=True):
        tally.add(array[start : max(start, end)])
    column = tally.settled()
    type, values = naive_column(cells)
    assert column.type == type
    assert column.values(array).to_pylist() == (values if type != pa.null() else [None] * len(cells))


def test_infinite_numbers_and_nan_are_numbers(tmp_path):
    table, notes = noted(column_file(tmp_path, ["inf", "-Infinity", "NaN", "1e400", "?"]))
    np.testing.assert_array_equal(table["a"].to_numpy()[:4], [np.inf, -np.inf, np.nan, np.inf])
    assert len(notes) == 1


DATE_CELLS = ["2024-03-01", "2024-12-31 23:59", "01.03.2024", "01/02/2024", "13/02/2024", "02/13/2024", "2024-02-30"]
NUMBER_CELLS = ["1", "-2", "9223372036854775807", "3.5", "NaN", "inf", "1,234", "€5", "6 %", "2,5"]
MARKS = ["-", "?", "NA", "", "n.a.", "0000-01-01", "nan"]
TEXTS = ["red", "green", "14a", "true", "007", "9223372036854775808"]


def random_cells(rng):
    """Return cells of a few sorts, most of them of one sort."""
    sorts = [DATE_CELLS[: rng.integers(1, 8)], MARKS, NUMBER_CELLS[: rng.integers(1, 11)], TEXTS[: rng.integers(1, 7)]]
    shares = rng.dirichlet([0.2] * len(sorts))
    return [str(rng.choice(sorts[sort])) for sort in rng.choice(len(sorts), rng.integers(1, 40), p=shares)]


def column_read(blocks, decimal, expected):
    """Return the type, the values and the notes of a column in blocks, or the error about it."""
    tally, notes = Tally(decimal, expected), []
    for block in blocks:
        tally.add(block)
    try:
        column = check_settled(tally, "a", Expected(reading=Reading(note=notes.append)), "samples")
    except ValueError as error:
        return str(error)
    return column.type, str(pa.concat_arrays([column.values(block) for block in blocks]).to_pylist()), notes


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("expected", [None, "numbers", "times", "text"])
def test_how_a_column_is_read_does_not_depend_on_where_blocks_end(decimal, expected):
    rng = np.random.default_rng(0)
    for _ in range(1000):
        cells = pa.array(random_cells(rng), pa.string())
        cuts = [0, *sorted(rng.integers(0, len(cells) + 1, rng.integers(1, 6))), len(cells)]
        blocks = [cells[start:end] for start, end in itertools.pairwise(cuts)]
        assert column_read(blocks, decimal, expected) == column_read([cells], decimal, expected), (cells, cuts)


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
