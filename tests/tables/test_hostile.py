"""Small files that would take much memory or time, or end the process: each is refused in one line, or harmless."""

import gzip
import io
import json
import subprocess
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretodepth import Criterion
from paretodepth.criteria.encoding import check_columns
from paretodepth.tables import read_table
from tests.tables.samples import text_file
from tests.tables.test_excel import ODS, ods

MAX_MEGABYTES = 1350
SECONDS = 5
"""Of processor time in this process, on a machine of any speed."""
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/{{}}" Target="{{}}"/></Relationships>'
)
WORKBOOK = f'<workbook xmlns:r="{OFFICE}"><sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>'
FAR = "XFD1048576"
LONG = "x" * 30_000
MANY = 200_000
OPEN_CELL = '<table:table-row><table:table-cell table:number-columns-repeated="{}" {}/></table:table-row>'


def zipped(parts):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def workbook(rows, texts=None, target="worksheets/sheet1.xml", more=()):
    """Return a workbook of one sheet with the given markup of rows, and of shared texts."""
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS.format("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS.format("worksheet", target),
        f"xl/{target}": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    return zipped(parts | ({} if texts is None else {"xl/sharedStrings.xml": f"<sst>{texts}</sst>"}) | dict(more))


def spreadsheet(rows):
    """Return a spreadsheet of OpenDocument with the given markup of rows."""
    with zipfile.ZipFile(io.BytesIO(ods([]))) as old:
        return zipped({name: old.read(name) for name in old.namelist()} | {"content.xml": ODS.format(rows)})


def cell(name, value=1, more=""):
    return f'<c r="{name}"{more}><v>{value}</v></c>'


def npy(dtype, shape, content=b""):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue() + content


def arrow(columns, opener=pa.ipc.new_file, compression=None, n_times=1):
    """Return an Arrow file that holds a table several times."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    sink = pa.BufferOutputStream()
    with opener(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for _ in range(n_times):
            writer.write_table(table)
    return sink.getvalue().to_pybytes()


def parquet(columns, n_times=1):
    sink = io.BytesIO()
    table = pa.table(columns)
    with pq.ParquetWriter(sink, table.schema, compression="zstd", store_schema=False) as writer:
        for _ in range(n_times):
            writer.write_table(table)
    return sink.getvalue()


def one_text(n_rows, n_letters, type=None):
    """Return a long text that all rows share."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int32)), pa.array(["x" * n_letters], type))


def far(cell, target="worksheets/sheet1.xml"):
    return lambda: workbook(HEADER + cell, target=target)


def one_cell(content):
    row = f'<table:table-cell office:value-type="string"><text:p>{content}</text:p></table:table-cell>'
    return spreadsheet(f"<table:table-row>{row}</table:table-row>")


HEADER = f'<row r="1">{cell("A1")}</row>'
SHARED = HEADER + "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>' for row in range(2, MANY))
ZEROS = {"a": np.zeros(25_000_000)}
WORKBOOKS = {
    "far.xlsx": far(cell(FAR)),
    "small-letters.xlsx": far(cell(FAR.lower())),
    "another-case.xlsx": far(cell(FAR), "worksheets/SHEET1.XML"),
    "no-ending.xlsx": far(cell(FAR), "worksheets/sheet1"),
    "prefix.xlsx": far(f'<x:c r="{FAR}"><v>1</v></x:c>'),
    "blanks.xlsx": far(f"<c t='n'\n r = '{FAR}'><v>1</v></c>"),
    "name-last.xlsx": far(f'<c s="1" t="n" r="{FAR}"><v>1</v></c>'),
    "no-name.xlsx": lambda: workbook(f'<row r="1">{cell("XFD1")}</row><row r="1048576"/><row><c><v>2</v></c></row>'),
    "side-by-side.xlsx": far('<row r="1048576">' + "<c><v>2</v></c>" * 20_000 + "</row>"),
    "far-row.xlsx": far(cell("A" + "9" * 400)),
    "shared.xlsx": lambda: workbook(SHARED, f"<si><t>{LONG}</t></si>"),
    "formulas.xlsx": lambda: workbook(SHARED.replace("<v>0", "<f/><v>0"), f"<si><t>{LONG}</t></si>"),
    "hidden.xlsx": lambda: workbook(SHARED, f"<!--<si/>--><si><t>{LONG}</t></si>"),
    "appended.xlsx": lambda: workbook(HEADER) + far(cell(FAR))(),
    "bomb.xlsx": lambda: workbook(HEADER, f"<si><t>{'x' * (1600 << 20)}</t></si>"),
    "rows.ods": lambda: ods([["a"] * 100], repeated=1_048_576),
    "cell.ods": lambda: spreadsheet(OPEN_CELL.format(10**9, 'office:value-type="float" office:value="1"')),
    "spaces.ods": lambda: one_cell('<text:s text:c="10000000000"/>'),
    "no-markup.ods": lambda: spreadsheet("<"),
}
TYPED = {
    "letters.npy": lambda: npy("<U0", (10**11,)),
    "cut.npy": lambda: npy("<f8", (2**40, 2**40), bytes(64)),
    "cut.npz": lambda: zipped({"x.npy": npy("<f8", (10**12,), bytes(64))}),
    "zeros.npz": lambda: zipped({"x.npy": npy("<f8", (200_000_000,), bytes(1_600_000_000))}),
    "columns.npy": lambda: npy("<f8", (0, 10**12)),
    "columns.arrow": lambda: arrow(pa.table([[1]] * 100_000, names=[f"x{number}" for number in range(100_000)])),
    "zeros.arrow": lambda: arrow(ZEROS, compression="zstd", n_times=8),
    "zeros.arrows": lambda: arrow(ZEROS, pa.ipc.new_stream, "lz4", n_times=8),
    "zeros.parquet": lambda: parquet(ZEROS, n_times=8),
    "nothing.arrow": lambda: arrow({"a": pa.nulls(10**9)}),
    "run.arrow": lambda: arrow({"a": pa.RunEndEncodedArray.from_arrays([2**31 - 2], [1.5])}),
    "run-of-views.arrow": lambda: arrow(
        {"a": pa.RunEndEncodedArray.from_arrays([2**31 - 2], pa.array(["a word"], pa.string_view()))}
    ),
    "one-text.arrow": lambda: arrow({"a": one_text(100_000, 10**7, pa.string_view())}, compression="zstd"),
    "one-text.parquet": lambda: parquet({"a": one_text(100_000, 10**7)}),
    "lists.arrow": lambda: arrow(
        {"a": pa.ListArray.from_arrays(pa.array([0, 3000]), one_text(3000, 10**6))}, compression="zstd"
    ),
}
TEXT = {
    "columns.csv": lambda: f"{','.join(f'x{number}' for number in range(10**6))}\n".encode(),
    "columns.jsonl": lambda: json.dumps({f"x{number}": 1 for number in range(300_000)}).encode(),
    "name.csv": lambda: f"{'x' * 100_000},y\n1,2\n".encode(),
    "quotes.csv": lambda: b'"' * 300_000_000,
    "one-quote.csv": lambda: b'a,b\n1,"' + b"2,3\n" * 50_000_000,
    "quotes.csv.gz": lambda: gzip.compress(b'"' * (3 << 29), 1),
    "deep.json": lambda: b"[" * 5_000_000,
    "long.jsonl": lambda: b'{"a": "' + b"x" * 300_000_000 + b'"}',
    "long.json": lambda: b'[{"a": "' + b"x" * 300_000_000 + b'"}]',
    "lists.json": lambda: b'[{"a": [' + b"[]," * 60_000_000,
}
HOSTILE = WORKBOOKS | TYPED | TEXT


@pytest.fixture
def made(request, tmp_path):
    return text_file(tmp_path, HOSTILE[request.param](), request.param)


READING = """
import resource, sys, time
from paretodepth.tables import read_table
start = time.process_time()
try:
    read_table(sys.argv[1])
except ValueError as error:
    print(error)
print(time.process_time() - start)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""


def assert_refused(path, seconds):
    """The file is refused in one line, in little time and memory; only its own reading is measured."""
    run = subprocess.run([sys.executable, "-c", READING, path], capture_output=True, text=True, check=True)
    message, taken, megabytes = run.stdout.splitlines()
    assert path.name in message
    assert float(taken) < seconds
    assert int(megabytes) < MAX_MEGABYTES


QUICK = ["far.xlsx", "rows.ods", "cut.npz", "columns.npy", "one-text.parquet", "lists.arrow", "name.csv", "deep.json"]


@pytest.mark.parametrize("made", QUICK, indirect=True)
def test_a_hostile_file_is_refused(made):
    assert_refused(made, SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("made", [name for name in HOSTILE if name not in QUICK], indirect=True)
def test_every_hostile_file_is_refused(made):
    assert_refused(made, 10 * SECONDS)


HARMLESS = {
    "cells and rows without names": "<row><c><v>7</v></c></row><row><c><v>1</v></c></row>",
    "a formula like the name of a cell": f'{cell("A1", 7)}<row r="2"><c r="A2"><f>IF(Q="B9")</f><v>1</v></c></row>',
    "a comment": f'{cell("A1", 7)}<!--</row>--><row r="2">{cell("A2")}</row>',
}


@pytest.mark.parametrize("case", HARMLESS)
def test_unusual_markup_of_a_workbook_is_read(tmp_path, case):
    assert read_table(text_file(tmp_path, workbook(HARMLESS[case]), "a.xlsx")).to_pydict() == {"7": [1]}


def test_many_cells_may_share_short_texts_beside_a_long_one(tmp_path):
    rows = "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>{row % 2}</v></c></row>' for row in range(1, 20_000))
    path = text_file(tmp_path, workbook(rows, f"<si><t>a</t></si><si><t>b</t></si><si><t>{LONG}</t></si>"), "a.xlsx")
    assert read_table(path)["b"].to_pylist() == ["a", "b"] * 9999


@pytest.mark.slow
def test_thousands_of_columns_are_read_and_named_in_a_time_that_grows_with_their_number(tmp_path):
    seconds = {}
    for n_columns in (2500, 10_000):
        names = [f"column{number}" for number in range(n_columns)]
        (tmp_path / "a.csv").write_text(f"{','.join(names)}\n" + 3 * f"{','.join('1' * n_columns)}\n")
        start = time.process_time()
        table = read_table(tmp_path / "a.csv")
        indices = check_columns(names, "all", n_columns, names)
        seconds[n_columns] = time.process_time() - start
        assert indices == list(range(n_columns))
        assert table.column_names == names
    # Four times as many columns: sixteen times as long if a step were quadratic.
    assert seconds[10_000] < 9 * seconds[2500]


def test_a_key_twice_is_found_among_many(tmp_path):
    keys = ",".join(f'"c{key}": 1' for key in [*range(29_999), 29_998])
    with pytest.raises(ValueError, match="the key 'c29998' comes twice"):
        read_table(text_file(tmp_path, f"{{{keys}}}\n", "a.jsonl"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".".join(["a"] * 20_000) + " = 1\n", "19,999 dots, more than 5,000"),
        ("# " + "x" * (1 << 20), "more than 1,048,576 bytes"),
        ("".join(f'[[criterion]]\nname = "c{i}"\n' for i in range(3000)), "at most 64 criteria. Got 3,000 instead"),
    ],
    ids=["dots", "bytes", "criteria"],
)
def test_files_of_criteria_are_short(tmp_path, text, message):
    (tmp_path / "a.toml").write_text(text)
    start = time.process_time()
    with pytest.raises(ValueError, match=message):
        Criterion.from_toml(tmp_path / "a.toml")
    assert time.process_time() - start < SECONDS
