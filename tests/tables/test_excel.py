"""Spreadsheets: what comes back, which sheet, and what is missing without the extra."""

import io
import subprocess
import sys
import zipfile
from datetime import datetime

import pyarrow as pa
import pytest
import xlsxwriter

from paretodepth.tables import read_chunks, read_table, write_table
from tests.tables.samples import FLAT, assert_refused, noted, text_file

ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
    '<office:body><office:spreadsheet><table:table table:name="one">{}</table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)


def value_of(cell):
    is_number = isinstance(cell, float)
    return f'office:value-type="float" office:value="{cell}"' if is_number else 'office:value-type="string"'


def ods(rows, repeated=1):
    """Return a spreadsheet of OpenDocument, of which every row stands for many."""
    cells = "".join(
        f'<table:table-row table:number-rows-repeated="{repeated}">'
        + "".join(f"<table:table-cell {value_of(cell)}><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        for row in rows
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS.format(cells))
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
    return content.getvalue()


def book(sheets):
    """Return a workbook with cells at places."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as workbook:
        for name, cells in sheets.items():
            sheet = workbook.add_worksheet(name)
            for (row, column), value in cells.items():
                sheet.write(row, column, value)
    return content.getvalue()


def test_tables_come_back_from_a_workbook(tmp_path):
    # Excel knows no carriage returns, no negative zero and no empty text.
    table = FLAT.filter(pa.array([row not in (1, 4, 15) for row in range(len(FLAT))]))
    write_table((table.slice(start, 5) for start in range(0, len(table), 5)), tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").equals(table.combine_chunks())
    assert [len(chunk) for chunk in read_chunks(tmp_path / "a.xlsx", n_rows=4)] == [4, 4, 4, 2]


def test_lists_are_written_to_a_workbook_as_json(tmp_path):
    write_table(pa.table({"series": [[1.5, 2.0], None, []], "n": [1, 2, 3]}), tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx")["series"].to_pylist() == ["[1.5, 2.0]", None, "[]"]


def test_a_workbook_is_read_whatever_its_ending_says(tmp_path):
    content = book({"one": {(0, 0): "a", (0, 1): "b", (1, 0): 1, (1, 1): "x"}})
    path = text_file(tmp_path, content, "a.csv")
    table, notes = noted(path)
    assert table.to_pydict() == {"a": [1], "b": ["x"]}
    assert notes == [f"{path} is in spite of its ending of the format 'xlsx', and was read as that."]


def test_the_sheet_and_the_rows_before_the_header_may_be_named(tmp_path):
    cells = {(0, 0): "Sales of 2024", (3, 1): "a", (3, 2): "b", (4, 1): 1.5, (4, 2): "?", (6, 1): 2, (6, 2): 4}
    cells |= {(7, 2): 5, (8, 2): 6}
    path = text_file(tmp_path, book({"one": {(0, 0): "x", (1, 0): 1}, "two": cells}), "a.xlsx")
    assert read_table(path).to_pydict() == {"x": [1]}
    table, notes = noted(path, sheet="two", skip_rows=3)
    assert table.to_pydict() == {"a": [1.5, 2, None, None], "b": [None, 4, 5, 6]}
    assert notes == ["the column 'b' has 1 cell counted as missing, first '?' in row 1 below the header."]
    with pytest.raises(
        ValueError, match=r"the sheet must be one of 'one', 'two'. Got 'tow' instead \(did you mean 'two'"
    ):
        noted(path, sheet="tow")


def test_spreadsheets_of_opendocument_are_read(tmp_path):
    path = text_file(tmp_path, ods([["a", "b"], [1.5, "2024-03-01"], [2.0, "2024-03-02"]]), "a.ods")
    assert read_table(path).to_pydict() == {"a": [1.5, 2], "b": [datetime(2024, 3, 1), datetime(2024, 3, 2)]}


def test_a_damaged_spreadsheet_is_refused_by_name(tmp_path):
    for name, content in [
        ("a.ods", ods([["a"], [1.0]])[:-200]),
        ("a.xlsx", book({"one": {(0, 0): "a"}})[:-200]),
    ]:
        assert_refused(tmp_path, name, content, "must be a readable file of the format 'excel'")


def test_text_that_no_cell_holds_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"at most 32,767 characters. Got 40,000"):
        write_table(pa.table({"a": ["x" * 40_000]}), tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_the_extra_its_name_is_told(tmp_path):
    path = text_file(tmp_path, book({"one": {(0, 0): "a", (1, 0): 1}}), "a.xlsx")
    code = (
        "import sys\nsys.modules['python_calamine'] = None\nfrom paretodepth.tables import read_table\n"
        "try:\n    read_table(sys.argv[1])\nexcept ImportError as error:\n    print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert told.strip() == (
        "This needs 'python_calamine', which is not installed; run: pip install \"paretodepth[excel]\""
    )
