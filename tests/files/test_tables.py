"""Tables as files: every format there and back, chunks, standard input, bad input, writing that is interrupted."""

import json
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.files.tables import read_chunks, read_table, write_table

TYPED = ["parquet", "arrow", "arrows", "feather", "jsonl"]
TEXT = ["csv", "tsv"]
STRANGE = [
    "😀 שלום",
    'say "hi"',
    "<script>alert(1)</script>",
    "two\nlines",
    "carriage\r\nreturn\rs",
    "x" * 10_000,
    "a,b;c\td|e",
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "'quoted'",
    " blanks ",
    "NA",
    "\\n",
    "",
    None,
]
FLAT = pa.table(
    {
        "text": STRANGE,
        'na"me, 😀\n<script>': [f"{i:02d}" for i in range(len(STRANGE))],
        "integer": [2**62 + i for i in range(len(STRANGE) - 1)] + [None],
        "float": [1.0, -0.0, 1e20, 1e-300, np.inf, -np.inf, 0.1, 1 / 3] + [2.0] * (len(STRANGE) - 9) + [None],
        "flag": [True, False, None] + [True] * (len(STRANGE) - 3),
    }
)
NESTED = FLAT.append_column("series", pa.array([[1.5, 2.0]] * (len(STRANGE) - 2) + [[], None])).append_column(
    "track", pa.array([[[0.0, 1.0], [1.0, float(i)]] for i in range(len(STRANGE))])
)


def text_file(tmp_path, content, name="samples.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def run(code, *arguments, stdin=b""):
    command = [sys.executable, "-c", f"from paretodepth.files import *\nimport sys\n{code}", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


@pytest.mark.parametrize("ending", TYPED)
def test_tables_with_lists_and_strange_text_come_back(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    write_table(NESTED, path)
    assert read_table(path).equals(NESTED)


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


def test_times_are_written_as_text_and_not_read_as_times(tmp_path):
    table = pa.table({"at": pa.array([0, 10**9], pa.timestamp("ms"))})
    for ending, first in [("csv", "1970-01-01 00:00:00.000"), ("jsonl", "1970-01-01 00:00:00")]:
        write_table(table, tmp_path / f"samples.{ending}")
        assert read_table(tmp_path / f"samples.{ending}")["at"].to_pylist()[0] == first


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
    "dates": ("2020-01-01,2020-01-02", pa.string(), ["2020-01-01", "2020-01-02"]),
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
    rows = [f"{i},{i},,{i},{'y' * 100}" for i in range(60_000)]
    rows[-1] = "1,2.5,7,x,y"
    path = text_file(tmp_path, "\n".join(["a,b,c,d,e", *rows]))
    assert path.stat().st_size > 5e6
    chunks = list(read_chunks(path, n_rows=7000))
    for chunk in chunks:
        assert chunk.schema.types == [pa.int64(), pa.float64(), pa.int64(), pa.string(), pa.string()]
    assert [len(chunk) for chunk in chunks] == [7000] * 8 + [4000]
    assert chunks[-1].to_pylist()[-1] == {"a": 1, "b": 2.5, "c": 7, "d": "x", "e": "y"}


@pytest.mark.parametrize("ending", [*TYPED, *TEXT])
@pytest.mark.parametrize("n_rows", [1, 4, 17, 1000])
def test_chunks_are_the_whole(tmp_path, ending, n_rows):
    path = tmp_path / f"samples.{ending}"
    table = FLAT if ending in TEXT else NESTED
    write_table((table.slice(start, 5) for start in range(0, len(table), 5)), path)
    chunks = list(read_chunks(path, n_rows=n_rows))
    assert [len(chunk) for chunk in chunks[:-1]] == [n_rows] * (len(chunks) - 1)
    assert all(chunk.schema.equals(table.schema) for chunk in chunks)
    assert pa.concat_tables(chunks).equals(table)
    assert read_table(path).equals(table)


def test_json_lines_change_kind_in_no_chunk(tmp_path):
    # More than a block of lines, in which the first has integers, no lists and not all columns.
    lines = [{"a": 1, "s": [], "t": "y" * 200}] * 6000 + [{"t": None, "a": 2.5, "s": [1], "late": 3}, {}]
    path = text_file(tmp_path, "\n\n".join(map(json.dumps, lines)), "samples.jsonl")
    assert path.stat().st_size > 1 << 20
    types = [pa.float64(), pa.list_(pa.int64()), pa.string(), pa.int64()]
    chunks = list(read_chunks(path, n_rows=1000))
    assert all(chunk.schema.types == types and chunk.column_names == ["a", "s", "t", "late"] for chunk in chunks)
    assert pa.concat_tables(chunks).to_pylist() == [dict.fromkeys(["a", "s", "t", "late"]) | line for line in lines]


def test_integers_that_floats_cannot_hold_are_refused_in_json_lines(tmp_path):
    lines = ['{"a": 9007199254740993, "b": "%s"}' % ("x" * (1 << 20)), '{"a": 1.5}']
    for content in (lines, ['{"a": 9007199254740993}', lines[1]]):
        path = text_file(tmp_path, "\n".join(content), "samples.jsonl")
        with pytest.raises(ValueError, match=r"samples\.jsonl: the column 'a' must .* 9007199254740993"):
            read_table(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_a_chunk_of_large_rows_ends_early(tmp_path, monkeypatch, ending):
    monkeypatch.setattr("paretodepth.files.tables.CHUNK_BYTES", 100_000)
    path = tmp_path / f"samples.{ending}"
    table = pa.table({"a": [f"{i}" + "x" * 10_000 for i in range(55)]})
    write_table(table, path)
    chunks = list(read_chunks(path, n_rows=1000))
    assert [len(chunk) for chunk in chunks] == [10] * 5 + [5]
    assert pa.concat_tables(chunks).equals(table)


EXPECTED = pa.schema([("id", pa.string()), ("size", pa.int64()), ("flag", pa.bool_()), ("depth", pa.float64())])


def test_expected_columns_give_the_kinds_and_the_order(tmp_path):
    path = text_file(tmp_path, "depth,size,id,flag\n,1.5,1,1\n,2,2,0\n")
    for chunk in read_chunks(path, schema=EXPECTED, n_rows=1):
        assert chunk.column_names == EXPECTED.names
        assert chunk.schema.types == [pa.string(), pa.float64(), pa.int64(), pa.float64()]
    assert read_table(path, schema=EXPECTED)["id"].to_pylist() == ["1", "2"]


def test_expected_columns_hold_for_typed_files_too(tmp_path):
    for ending in ["parquet", "arrow", "jsonl"]:
        path = tmp_path / f"samples.{ending}"
        write_table(pa.table({"size": [None, None], "id": ["a", "b"]}), path)
        schema = pa.schema([("id", pa.large_string()), ("size", pa.list_(pa.float64()))])
        table = read_table(path, schema=schema)
        assert table.schema.types == [pa.string(), pa.list_(pa.float64())]
        with pytest.raises(ValueError, match=r"the column 'id' must hold numbers, as in .* Got text instead"):
            read_table(path, schema=pa.schema([("id", pa.float32()), ("size", pa.int8())]))


def test_categories_are_read_as_their_values(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])})
    frame.to_parquet(tmp_path / "samples.parquet")
    frame.to_feather(tmp_path / "samples.feather")
    for ending in ["parquet", "feather"]:
        table = read_table(tmp_path / f"samples.{ending}")
        assert pa.types.is_string(table["a"].type) or pa.types.is_large_string(table["a"].type)
        assert table["a"].to_pylist() == ["x", "y", "x"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "f4", "i2", ">i4", "?", "U3"])
def test_arrays_are_tables(tmp_path, dtype, order):
    array = np.asarray(np.arange(6).reshape(3, 2).astype(dtype), order=order)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", array)
    for path in tmp_path.iterdir():
        table = read_table(path)
        assert table.column_names == ["x0", "x1"]
        assert_array_equal(np.column_stack([column.to_numpy(zero_copy_only=False) for column in table]), array)


def test_arrays_of_other_shapes(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3))
    assert read_table(path).to_pydict() == {"x0": [0, 1, 2]}
    np.save(path, np.arange(12).reshape(2, 3, 2))
    assert read_table(path).to_pydict() == {"x0": [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]}
    np.save(path, np.array([(1, "a"), (2, "b")], dtype=[("n", ">i4"), ("t", "U2")]))
    assert read_table(path).to_pydict() == {"n": [1, 2], "t": ["a", "b"]}


@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "feather"])
def test_the_detector_takes_what_is_read(tmp_path, ending):
    rng = np.random.default_rng(0)
    tracks = [rng.random((rng.integers(3, 6), 2)).cumsum(axis=0) for _ in range(20)]
    frame = {
        "id": [f"n{i}" for i in range(20)],
        "size": rng.integers(9, size=20),
        "series": [list(track[:, 0]) for track in tracks],
        "track": [track.tolist() for track in tracks],
    }
    path = tmp_path / f"samples.{ending}"
    write_table(pa.table(frame), path)
    criteria = [
        Criterion("id", "id", "mismatch"),
        Criterion("size", "size"),
        Criterion("series", "series", "dtw"),
        Criterion("track", "track", "shape"),
    ]
    detector = ParetoDepthDetector(criteria=criteria, n_neighbors=3)
    scores = detector.fit(read_table(path)).score_samples(read_table(path))
    assert_array_equal(scores, detector.fit(frame).score_samples(frame))
    chunks = [detector.score_samples(chunk) for chunk in read_chunks(path, n_rows=7)]
    assert_array_equal(np.concatenate(chunks), scores)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [*TYPED, *TEXT, "npy", "npz"])
def test_standard_input_tells_its_format(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    if ending in ("npy", "npz"):
        {"npy": np.save, "npz": np.savez}[ending](path, np.arange(6.0).reshape(3, 2))
    else:
        write_table(FLAT, path)
    table = read_table(path)
    target = tmp_path / "out.arrow"
    run("write_table(read_chunks('-', n_rows=3), sys.argv[1])", target, stdin=path.read_bytes())
    assert read_table(target).equals(table)
    run(
        "write_table(read_table('-', format=sys.argv[2]), sys.argv[1])",
        target,
        read_format(ending),
        stdin=path.read_bytes(),
    )
    assert read_table(target).equals(table)


def read_format(ending):
    return "arrow" if ending in ("arrows", "feather") else ending


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "arrow", "jsonl", None])
def test_standard_output_takes_every_format(tmp_path, format):
    write_table(FLAT, tmp_path / "samples.arrow")
    code = f"write_table(read_chunks(sys.argv[1], n_rows=3), '-', format={format!r})"
    path = text_file(tmp_path, run(code, tmp_path / "samples.arrow"), f"out.{format or 'csv'}")
    assert read_table(path).equals(FLAT)


@pytest.mark.slow
def test_pipes_are_read_and_written(tmp_path):
    os.mkfifo(tmp_path / "in")
    os.mkfifo(tmp_path / "out")
    code = "write_table(read_chunks(sys.argv[1]), sys.argv[2])"
    command = [sys.executable, "-c", f"from paretodepth.files import *\nimport sys\n{code}", "in", "out"]
    process = subprocess.Popen(command, cwd=tmp_path)
    (tmp_path / "in").write_text("a\tb\n1\tx\n")
    assert (tmp_path / "out").read_text() == "a,b\n1,x\n"
    assert process.wait() == 0
    assert stat.S_ISFIFO((tmp_path / "out").stat().st_mode)


def test_lone_quotation_marks_within_cells_are_text(tmp_path):
    table = read_table(text_file(tmp_path, 'a\tb\n5" nail\t1\n"x"\t2\n', "samples.tsv"))
    assert table.to_pydict() == {"a": ['5" nail', "x"], "b": [1, 2]}


def test_byte_order_marks_are_no_part_of_a_name(tmp_path):
    assert read_table(text_file(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n")).column_names == ["a", "b"]
    path = text_file(tmp_path, b'\xef\xbb\xbf{"a": 1}\n', "samples.jsonl")
    assert read_table(path).to_pydict() == {"a": [1]}


@pytest.mark.slow
def test_a_million_rows_are_read_in_bounded_memory(tmp_path):
    path = tmp_path / "samples.csv"
    code = """
block = "".join(f"{i},{i / 7},name {i},,{i % 2}\\n" for i in range(10_000))
with open(sys.argv[1], "w") as file:
    file.write("a,b,c,d,e\\n")
    for _ in range(100):
        file.write(block)
n_rows = total = 0
for chunk in read_chunks(sys.argv[1]):
    n_rows += chunk.num_rows
    total += sum(chunk["a"].to_pylist())
    assert chunk.num_rows == 10_000
with open("/proc/self/status") as file:
    (peak,) = [line.split()[1] for line in file if line.startswith("VmHWM")]
print(n_rows, total, int(peak) // 1024)
"""
    # Not ru_maxrss, which a process inherits from the one that starts it.
    n_rows, total, megabytes = map(int, run(code, path).split())
    assert (n_rows, total) == (1_000_000, 100 * sum(range(10_000)))
    assert megabytes < 500


BAD_TEXT = {
    "empty": ("a.csv", b"", r"a\.csv: must hold samples. Got an empty file"),
    "only blanks": ("a.csv", b" \n\n", "Got an empty file"),
    "only a header": ("a.csv", b"a,b\n", r"a\.csv: must hold at least one sample. Got columns without rows"),
    "only a header, no end of line": ("a.csv", b"a,b", "Got columns without rows"),
    "no header": (
        "a.csv",
        b"1,2.5,-3,4\n5,6,7,8\n",
        r"line 1: must be a header .* Got only numbers instead, '1', '2.5'",
    ),
    "too few cells": ("a.csv", b'a,b\n"x\ny",2\n3\n', r"a\.csv, line 4: every row must have 2 cells.* Got 1 .* in '3'"),
    "too many cells": ("a.csv", b"a,b\n1,2,3\n", r"a\.csv, line 2: every row must have 2 cells.* Got 3 instead"),
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
    "semicolons": ("a.csv", b"a;b\n1;2\n", r"line 1: cells must be separated by ','. Got ';' and no ','.* replace ';'"),
    "tabs in CSV": ("a.csv", b"a\tb\n1\t2\n", r"Got '\\t' and no ','.* name the format 'tsv'"),
    "commas in TSV": ("a.tsv", b"a,b\n1,2\n", r"Got ',' and no '\\t'.* name the format 'csv'"),
    "old line ends": ("a.csv", b"a,b\r1,2\r3,4\r", r"a\.csv: must be a readable file of the format 'csv'"),
    "Latin 1": (
        "a.csv",
        "a,b\nx,1\ncafé,2\n".encode("latin1"),
        r"a\.csv, line 3: must be text in UTF-8. Got byte 0xe9 at position 11 instead; convert .* iconv -f latin1",
    ),
    "UTF-16": ("a.csv", "a,b\n1,2\n".encode("utf-16"), "line 1: must be text in UTF-8. Got byte 0xff .* -f utf-16"),
    "UTF-8 cut off": ("a.jsonl", '{"a": "é'.encode()[:-1], r"a\.jsonl, line 1: must be .* 0xc3 at position 7"),
    "the same name twice": ("a.csv", b"a,b,a\n1,2,3\n", "different names. Got 'a' for column 1 and column 3"),
    "no name": ("a.csv", b",a\n0,2\n", "every column must have a name. Got none for column 1"),
    "no JSON": (
        "a.jsonl",
        b'{"a": 1}\n\n{"a": }\n',
        r"a\.jsonl, line 3: must be an object in JSON. Got '{\"a\": }' in.*column 7",
    ),
    "a list in JSON": ("a.jsonl", b"[1, 2]\n", r"line 1: .* Got \[1, 2\] instead; write one object a line"),
    "nested too deep": ("a.jsonl", b'{"a": ' + b"[" * 200_000, "line 1: must be an object in JSON"),
    "the same key twice": ("a.jsonl", b'{"a": 1, "a": 2}\n', "line 1: .*the key 'a' comes twice"),
    "mixed kinds": (
        "a.jsonl",
        b'{"a": null}\n{"a": 1}\n{"a": "x"}\n',
        "the column 'a' must hold values of one kind, in lists too. Got a number in line 2 and text in line 3",
    ),
    "mixed kinds in a list": ("a.jsonl", b'{"a": [1, "x"]}\n', "the column 'a' must hold values of one kind"),
    "too large an integer": ("a.jsonl", b'{"a": 100000000000000000000}\n', "the column 'a' must .* too large"),
    "half a character": ("a.jsonl", b'{"a": "\\ud800"}\n', "the column 'a' must .* surrogates"),
    "no columns": ("a.jsonl", b"{}\n", r"a\.jsonl: must hold at least one"),
    "text as Parquet": ("a.parquet", b"a,b\n1,2\n", "must be of the format 'parquet'. Got text instead"),
    "Parquet as text": ("a.csv", b"PAR1....", "must be of the format 'csv'. Got the first bytes of 'parquet'"),
    "damaged Parquet": ("a.parquet", b"PAR1....", r"a\.parquet: must be a readable file of the format 'parquet'"),
    "damaged Arrow": ("a.arrow", b"ARROW1....", r"a\.arrow: must be a readable file of the format 'arrow'"),
    "damaged stream": ("a.arrows", b"\xff\xff\xff\xff\x10\x00\x00\x00", "a readable file of the format 'arrow'"),
    "damaged NPY": ("a.npy", b"\x93NUMPY....", r"a\.npy: must hold a whole array"),
    "damaged NPZ": ("a.npz", b"PK\x03\x04....", r"a\.npz: must hold a whole array"),
    "unknown ending": ("a.xlsx", b"PK", r"a\.xlsx: .* one of \.csv, \.tsv, .*\.npz. Got '\.xlsx' instead; rename"),
    "no ending": ("a", b"a,b\n", "Got none instead"),
}


@pytest.mark.parametrize("case", BAD_TEXT)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    name, content, message = BAD_TEXT[case]
    path = text_file(tmp_path, content, name)
    with pytest.raises(ValueError, match=message) as refused:
        read_table(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1000


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


def test_unknown_formats_are_refused(tmp_path):
    path = text_file(tmp_path, "a\nx\n")
    with pytest.raises(
        ValueError, match=r"'format' parameter of read_chunks .* Got 'jsonk' instead \(did you mean 'jsonl"
    ):
        read_table(path, format="jsonk")
    with pytest.raises(ValueError, match=r"\.npy: .* write_table must be one of \.csv, .*\.ndjson. Got '\.npy'"):
        write_table(FLAT, tmp_path / "a.npy")
    with pytest.raises(ValueError, match="'n_rows' parameter of read_chunks must be an integer of at least 1"):
        next(read_chunks(path, n_rows=0))


@pytest.mark.slow
def test_standard_input_is_named_in_messages():
    code = "try:\n    read_table('-')\nexcept ValueError as error:\n    print(error)"
    assert run(code, stdin=b"a,b\n1\n").startswith(b"standard input, line 2: every row must have 2 cells")
    assert run(code).startswith(b"standard input: must hold samples")


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


@pytest.mark.parametrize("save", [np.save, np.savez], ids=["npy", "npz"])
def test_python_objects_are_never_unpickled(tmp_path, monkeypatch, save):
    monkeypatch.chdir(tmp_path)
    path = f"a.{'npy' if save is np.save else 'npz'}"
    save(path, np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match=rf"{path}: must .* Python objects \(pickle\) are not read"):
        read_table(path)
    assert not os.path.exists("exploded")


def test_arrays_that_are_no_table_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", train=np.ones(3), test=np.ones(3))
    with pytest.raises(ValueError, match=r"a\.npz: must hold one array. Got 2 instead, 'train', 'test'; save the one"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz")
    with pytest.raises(ValueError, match=r"must hold one array. Got 0 instead; save"):
        read_table(tmp_path / "a.npz")
    for array in [np.array(1.0), np.ones(3, complex), np.array([b"x"])]:
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(ValueError, match=r"a\.npy: must hold an array of numbers or strings with a row a sample"):
            read_table(tmp_path / "a.npy")


def test_damaged_arrow_files_do_not_end_the_process(tmp_path):
    path = tmp_path / "a.arrow"
    write_table(pa.table({"a": ["é" * 50] * 20}), path)
    content = bytearray(path.read_bytes())
    content[content.index("é".encode())] = 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"must be a readable file of the format 'arrow'. Got this instead: .*UTF8"):
        read_table(path)


@pytest.mark.parametrize("ending", [*TYPED, *TEXT, "npy", "npz"])
def test_damaged_files_are_read_or_refused_by_name(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending in ("npy", "npz"):
        {"npy": np.save, "npz": np.savez_compressed}[ending](path, np.arange(6.0).reshape(3, 2))
    else:
        write_table(NESTED.slice(6), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    n_rows, messages = [], []
    for _ in range(60):
        content = bytearray(whole)
        for position in rng.integers(len(whole), size=3):
            content[position : position + rng.integers(3)] = rng.bytes(rng.integers(3))
        path.write_bytes(content)
        try:
            n_rows.append(len(read_table(path)))
        except ValueError as error:
            messages.append(str(error))
    assert messages
    assert all(str(path) in message and "\n" not in message for message in messages)
    assert all(n_rows)


def test_parquet_damaged_in_its_middle_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(pa.table({"a": np.random.default_rng(0).random(20_000)}), path)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must be a readable file of the format 'parquet'"):
        read_table(path)


def test_other_columns_than_expected_are_refused(tmp_path):
    path = text_file(tmp_path, "id,sise,flag,depth,extra\n1,2,3,4,5\n")
    message = r"csv: the columns must be .* Got no 'size' \(did you mean 'sise'\?\), 'sise' besides, 'extra' besides"
    with pytest.raises(ValueError, match=message):
        read_table(path, schema=EXPECTED)
    write_table(pa.table({"id": ["1"]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="Got no 'size', no 'flag', no 'depth'; rename"):
        read_table(tmp_path / "a.parquet", schema=EXPECTED)
    many = pa.schema([(f"column {i}", pa.int64()) for i in range(30)])
    with pytest.raises(ValueError, match=r"and so on. Got .* and 25 more differences"):
        read_table(tmp_path / "a.parquet", schema=many)


def test_text_where_numbers_are_expected_is_refused_with_its_row(tmp_path):
    rows = [f"a,{i},true,1.5" for i in range(1000)]
    rows[777] = "b,seven,false,2"
    path = text_file(tmp_path, "\n".join(["id,size,flag,depth", *rows]))
    with pytest.raises(
        ValueError, match=r"'size' must hold numbers.* Got text instead, 'seven' in row 778 below the header"
    ):
        read_table(path, schema=EXPECTED)


def test_text_where_times_or_lists_are_expected_is_refused(tmp_path):
    path = text_file(tmp_path, "a\n2020-01-01\n")
    for type, kind in [(pa.timestamp("s"), "times"), (pa.list_(pa.int64()), "lists")]:
        with pytest.raises(ValueError, match=rf"samples.csv: the column 'a' must hold {kind}, .* Got text instead"):
            read_table(path, schema=pa.schema([("a", type)]))


def test_a_parquet_file_with_a_name_twice_is_refused(tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: columns must have different names. Got 'a'"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"b\.csv: columns must have different names"):
        write_table(table, tmp_path / "b.csv")


def test_what_is_no_table_is_not_written(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(TypeError, match=r"'chunks' parameter of write_table must be a pyarrow.Table"):
        write_table([{"a": 1}], path)
    with pytest.raises(ValueError, match="'chunks' parameter of write_table must hold at least one table"):
        write_table(iter([]), path)
    with pytest.raises(ValueError, match="must hold tables of one schema"):
        write_table([pa.table({"a": [1]}), pa.table({"a": ["x"]})], path)
    with pytest.raises(ValueError, match="must hold tables of one schema"):
        write_table([pa.table({"a": [1]}), pa.table({"b": [1]})], path)
    with pytest.raises(ValueError, match="The column 'a' of the type binary must be writable as text"):
        write_table(pa.table({"a": [b"\xff"]}), path)
    assert list(tmp_path.iterdir()) == []


def test_integers_after_floats_are_written_as_floats(tmp_path):
    path = tmp_path / "a.csv"
    write_table([pa.table({"a": [1.5]}), pa.table({"a": [2]})], path)
    assert path.read_text() == "a\n1.5\n2.0\n"


@pytest.mark.parametrize("ending", [*TYPED, *TEXT])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, ending, failure):
    path = text_file(tmp_path, "old", f"a.{ending}")

    def chunks():
        yield FLAT
        raise failure

    with pytest.raises(failure):
        write_table(chunks(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_can_be_replaced_by_its_own_rows(tmp_path):
    path = text_file(tmp_path, "a\nx\ny\n")
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    write_table(read_chunks(link, n_rows=1), link)
    assert path.read_text() == "a\nx\ny\n"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.slow
@pytest.mark.parametrize(("kill", "remains"), [(signal.SIGKILL, 2), (signal.SIGINT, 1)])
def test_a_killed_writer_leaves_the_old_file_whole(tmp_path, kill, remains):
    path = tmp_path / "a.csv"
    write_table(FLAT, path)
    old = path.read_bytes()
    # A background job of a shell inherits that SIGINT is ignored.
    code = """
import pyarrow, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
def chunks():
    for number in range(10**9):
        yield pyarrow.table({"a": list(range(10_000))})
        if number == 20:
            print("started", flush=True)
write_table(chunks(), sys.argv[1])
"""
    command = [sys.executable, "-c", f"from paretodepth.files import *\nimport sys\n{code}", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.05)
        process.send_signal(kill)
        assert process.wait(60) != 0
    assert path.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == remains


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(
        OSError, match=r"a\.csv: the output must be a file in a folder .* Got this instead: No such file"
    ):
        write_table(FLAT, tmp_path / "no" / "a.csv")
    with pytest.raises(OSError, match="Got this instead: Not a directory"):
        write_table(FLAT, text_file(tmp_path, "x", "b.csv") / "a.csv")
    (tmp_path / "c.csv").mkdir()
    with pytest.raises(OSError, match="Got this instead: Is a directory"):
        write_table(FLAT, tmp_path / "c.csv", format="csv")


def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    user = os.geteuid()
    # Permissions do not bind root.
    os.seteuid(user or 65534)
    try:
        with pytest.raises(OSError, match="Got this instead: Permission denied; choose another place"):
            write_table(FLAT, tmp_path / "a.csv")
    finally:
        os.seteuid(user)
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_an_error():
    with pytest.raises(OSError, match=r"/dev/full: the output must be .* No space left"):
        write_table(FLAT, "/dev/full", format="csv")
