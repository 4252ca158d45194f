"""Workbooks that would take all memory, or end the process: refused before the library that reads them sees them."""

import contextlib
import io
import struct
import time
import zipfile

import pytest

from paretodepth.tables import read_table
from paretodepth.tables.sheet_sizes import looked_through
from paretodepth.tables.workbook_sizes import check_workbook_size
from tests.tables.samples import text_file
from tests.tables.test_excel import ODS, ods

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/{{}}" Target="{{}}"/></Relationships>'
)
WORKBOOK = f'<workbook xmlns:r="{OFFICE}"><sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>'


def workbook(rows, texts=None, target="worksheets/sheet1.xml", more=()):
    """Return a workbook of one sheet with the given markup of rows, and of shared texts."""
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS.format("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS.format("worksheet", target),
        f"xl/{target}": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    if texts is not None:
        parts["xl/sharedStrings.xml"] = f"<sst>{texts}</sst>"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (parts | dict(more)).items():
            archive.writestr(name, text)
    return content.getvalue()


def spreadsheet(rows):
    """Return a spreadsheet of OpenDocument with the given markup of rows."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(ods([]))) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, ODS.format(rows) if name == "content.xml" else old.read(name))
    return content.getvalue()


def cell(name, value=1, more=""):
    return f'<c r="{name}"{more}><v>{value}</v></c>'


HEADER = f'<row r="1">{cell("A1")}</row>'
FAR = "XFD1048576"
LONG = "x" * 30_000
MANY = 200_000
LISTED = " t='s'"
OPEN_CELL = '<table:table-row><table:table-cell table:number-columns-repeated="{}" {}/></table:table-row>'
DISTANT = {
    "the last cell of all": (workbook(HEADER + cell(FAR)), "a.xlsx"),
    "small letters": (workbook(HEADER + cell(FAR.lower())), "a.xlsx"),
    "another case of the sheet's path": (workbook(HEADER + cell(FAR), target="worksheets/SHEET1.XML"), "a.xlsx"),
    "a sheet without an ending": (workbook(HEADER + cell(FAR), target="worksheets/sheet1"), "a.xlsx"),
    "a prefix": (workbook(HEADER + f'<x:c r="{FAR}"><v>1</v></x:c>'), "a.xlsx"),
    "single quotes and blanks": (workbook(HEADER + f"<c t='n'\n r = '{FAR}'><v>1</v></c>"), "a.xlsx"),
    "the name behind others": (workbook(HEADER + f'<c s="1" t="n" r="{FAR}"><v>1</v></c>'), "a.xlsx"),
    "a cell without a name": (
        workbook(f'<row r="1">{cell("XFD1")}</row><row r="1048576"/><row><c><v>2</v></c></row>'),
        "a.xlsx",
    ),
    "cells without names, side by side": (
        workbook(HEADER + '<row r="1048576">' + "<c><v>2</v></c>" * 20_000 + "</row>"),
        "a.xlsx",
    ),
    "empty rows without names": (
        workbook(f'<row r="1">{cell("XFD1")}</row>' + "<row/>" * 10_000 + "<row><c><v>2</v></c></row>"),
        "a.xlsx",
    ),
    "many rows of OpenDocument": (ods([["a"] * 100], repeated=1_048_576), "a.ods"),
    "a cell of OpenDocument without text": (spreadsheet(OPEN_CELL.format(10**9, 'office:value="1"')), "a.ods"),
    "a formula of OpenDocument": (spreadsheet(OPEN_CELL.format(10**9, 'table:formula="1"')), "a.ods"),
}


def assert_refused(tmp_path, content, name, text):
    path = text_file(tmp_path, content, name)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(ValueError, match=text):
        read_table(path)


@pytest.mark.parametrize("case", DISTANT)
def test_cells_far_apart_are_refused_before_they_take_the_memory(tmp_path, case):
    content, name = DISTANT[case]
    assert_refused(tmp_path, content, name, r"at most 10,737,418 cells. Got [0-9,]+ rows and .* save the sheet as CSV")


ODD = {
    "a column beyond the last": (cell("period7"), "a cell in the column period of a sheet, which ends at XFD"),
    "a row beyond the last": (cell("A" + "9" * 400), r"a cell in row 9{20} of a sheet, which has 1,048,576"),
    "rows backwards": (cell("A7") + cell("A1"), "cells that are not in the order of their rows"),
    "a name with a quote": (f'<a">":c r="{FAR}"><v>1</v></c>', "odd markup among the cells"),
    "a comment": ("<!--</row>-->", "odd markup among the cells"),
    "half a tag": ('<row x="></row>"><c><v>1</v></c></row>', "odd markup among the cells"),
    "a tag without end": (f'<c x="{" " * 3_000_000}', "a tag or a text of more than 1,048,576 bytes"),
    "sixteen bits a letter": ("\0", "odd markup among the cells"),
}


@pytest.mark.parametrize("case", ODD)
def test_markup_that_could_mislead_is_refused(tmp_path, case):
    rows, text = ODD[case]
    assert_refused(tmp_path, workbook(HEADER + rows), "a.xlsx", f"must be a readable file .* {text}")


def test_one_long_text_for_many_cells_is_refused(tmp_path):
    rows = HEADER + "".join(f'<row r="{row}">{cell(f"A{row}", 0, LISTED)}</row>' for row in range(2, MANY))
    for shared in (rows, rows.replace("<v>0</v>", "<f/><v>0</v>")):
        assert_refused(
            tmp_path, workbook(shared, f"<si><t>{LONG}</t></si>"), "a.xlsx", "a table must take at most 1,024 MB"
        )
    # Of a number that could be another's if texts are hidden, the longest counts.
    hidden = workbook(rows, f"<!--<si/>--><si><t>a</t></si><si><t>{LONG}</t></si>")
    assert_refused(tmp_path, hidden, "a.xlsx", "a table must take at most 1,024 MB")
    repeated = f'<table:table-cell office:value-type="string" table:number-columns-repeated="{MANY}"><text:p>{LONG}'
    assert_refused(
        tmp_path,
        spreadsheet(f"<table:table-row>{repeated}</text:p></table:table-cell></table:table-row>"),
        "a.ods",
        "a table must take at most 1,024 MB",
    )


def test_many_cells_may_share_short_texts_beside_a_long_one(tmp_path):
    rows = "".join(f'<row r="{row}">{cell(f"A{row}", row % 2, LISTED)}</row>' for row in range(1, MANY))
    path = text_file(tmp_path, workbook(rows, f"<si><t>a</t></si><si><t>b</t></si><si><t>{LONG}</t></si>"), "a.xlsx")
    assert read_table(path)["b"].to_pylist() == ["a", "b"] * (MANY // 2 - 1)


def test_what_looks_like_the_name_of_a_cell_in_a_formula_is_none(tmp_path):
    rows = HEADER + '<row r="2"><c r="A2"><f>IF(Quarter="Q1",Color="BLUE9999999",1)</f><v>5</v></c></row>'
    assert read_table(text_file(tmp_path, workbook(rows), "a.xlsx")).to_pydict() == {"1": [5]}


def test_rows_and_cells_need_no_names(tmp_path):
    rows = "<row><c><v>7</v></c><c><v>8</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>"
    path = text_file(tmp_path, workbook(rows), "a.xlsx")
    assert read_table(path).to_pydict() == {"7": [1], "8": [2]}
    extent, _ = looked_through(lambda: iter([b"<sheetData>", rows.encode()]))
    assert extent[:3] == (2, 2, 4)


def test_cells_are_counted_wherever_blocks_end():
    text = f'<sheetData>{HEADER}<row r="2">{cell("AB2")}<c t="s"><v>0</v></c></row></sheetData>'.encode()
    for size in range(1, 40):
        blocks = [text[start : start + size] for start in range(0, len(text), size)]
        # The cell without a name may lie as far to the right of the last as there are cells in its row.
        assert looked_through(lambda blocks=blocks: iter(blocks))[0] == (2, 30, 3, 1)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    path = text_file(tmp_path, workbook("", more={"a": bytes(10 << 20)}), "a.xlsx")
    with (
        open(path, "rb") as file,
        pytest.raises(ValueError, match=r"must unpack to at most [23] MB, 200 times its size. Got 10 MB instead"),
    ):
        check_workbook_size(file, str(path), max_unpacked=1 << 20)


def test_a_part_longer_than_it_says_is_refused(tmp_path):
    content = workbook(HEADER + cell(FAR))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        part = archive.getinfo("xl/worksheets/sheet1.xml")
    # Its row of the list of parts ends with its name.
    place = content.rindex(part.filename.encode()) - 46
    short = content[: place + 24] + struct.pack("<I", part.file_size - 60) + content[place + 28 :]
    assert_refused(tmp_path, short, "a.xlsx", "must be a readable file of the format 'excel'")


def test_an_archive_with_two_lists_of_parts_is_refused(tmp_path):
    harmless, hostile = workbook(HEADER), workbook(HEADER + cell(FAR))
    for content in (hostile + harmless, harmless + b"PK\x05\x06", harmless + b"more"):
        assert_refused(tmp_path, content, "a.xlsx", "must be a readable file .* an archive")


def test_a_binary_workbook_beside_another_is_refused(tmp_path):
    assert_refused(tmp_path, workbook("", more={"xl/workbook.bin": "a"}), "a.xlsx", "a binary workbook, workbook.bin")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ('<table:table-row><table:table-cell table:number-columns-repeated="x"/></table:table-row>', "invalid literal"),
        ("<table:table/>", "a table within a table"),
        ("<", "not well-formed"),
    ],
)
def test_an_odd_spreadsheet_of_opendocument_is_refused(tmp_path, rows, text):
    assert_refused(tmp_path, spreadsheet(rows), "a.ods", f"must be a readable file .* {text}")


def test_spaces_of_opendocument_are_counted_before_they_are_made(tmp_path):
    row = '<table:table-row><table:table-cell office:value-type="string"><text:p><text:s text:c="{}"/></text:p>'
    content = spreadsheet(f"{row.format(10**10)}</table:table-cell></table:table-row>")
    assert_refused(tmp_path, content, "a.ods", "a table must take at most 1,024 MB")


@pytest.mark.parametrize("part", [b"</", b"<", b"<a:", b"<c ", b'<c a="1" ', b" r=", b't="s"><v>1', b"<row ", b"<si "])
def test_no_pattern_takes_time_of_the_square_of_a_part(part):
    block = (b"<sheetData>" + part * 2**20)[: 2**20 - 1]
    start = time.process_time()
    with contextlib.suppress(ValueError):
        looked_through(lambda: iter([block]))
    assert time.process_time() - start < 5
