"""Tables as files: every format there and back, in chunks, through pipes, damaged."""

import os
import stat
import subprocess

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.tables import read_chunks, read_table, write_table
from paretodepth.tables.expected_columns import Expected
from paretodepth.tables.files import sized
from paretodepth.tables.formats import FORMATS
from paretodepth.tables.reading import Reading
from tests.tables.samples import FLAT, NESTED, TEXT, TYPED, assert_refused, command, run, text_file


@pytest.mark.parametrize("ending", TYPED)
def test_tables_with_lists_and_strange_text_come_back(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    write_table(NESTED, path)
    assert read_table(path).equals(NESTED)


@pytest.mark.parametrize("ending", [*TEXT, "jsonl", "json", "xlsx"])
def test_times_are_written_as_text_and_come_back(tmp_path, ending):
    table = pa.table({"at": pa.array([0, 10**15, None], pa.timestamp("us")), "n": [1, 2, 3]})
    write_table(table, tmp_path / f"samples.{ending}")
    assert read_table(tmp_path / f"samples.{ending}").equals(table)
    if ending == "csv":
        assert (tmp_path / "samples.csv").read_text().split("\n")[1] == "1970-01-01 00:00:00.000000,1"


@pytest.mark.parametrize("ending", [*TYPED, *TEXT])
@pytest.mark.parametrize("n_rows", [4, 1000])
def test_chunks_are_the_whole(tmp_path, ending, n_rows):
    path = tmp_path / f"samples.{ending}"
    table = FLAT if ending in TEXT else NESTED
    write_table((table.slice(start, 5) for start in range(0, len(table), 5)), path)
    chunks = list(read_chunks(path, n_rows=n_rows))
    assert [len(chunk) for chunk in chunks[:-1]] == [n_rows] * (len(chunks) - 1)
    assert all(chunk.schema.equals(table.schema) for chunk in chunks)
    assert pa.concat_tables(chunks).equals(table)
    assert read_table(path).equals(table)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_chunk_of_large_rows_ends_early(tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    table = pa.table({"a": [f"{i}" + "x" * 10_000 for i in range(55)]})
    write_table(table, path)
    with open(path, "rb") as file:
        batches = FORMATS[ending].read(file, Expected(), str(path))
        chunks = list(sized(batches, 1000, n_bytes=100_000))
    assert [len(chunk) for chunk in chunks] == [10] * 5 + [5]
    assert pa.concat_tables(chunks).equals(table)


def test_a_row_larger_than_a_chunk_ends_it():
    batches = iter(pa.table({"a": ["x", "y" * 1000, "z" * 1000, "a"]}).to_batches())
    chunks = list(sized(batches, 10, n_bytes=100))
    assert [[value[0] for value in chunk["a"].to_pylist()] for chunk in chunks] == [["x", "y"], ["z"], ["a"]]


def test_chunks_of_no_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'n_rows' parameter of read_chunks must be an integer of at least 1"):
        next(read_chunks(tmp_path / "samples.csv", n_rows=0))


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
    process = subprocess.Popen(command(code, "in", "out"), cwd=tmp_path)
    (tmp_path / "in").write_text("a\tb\n1\tx\n")
    assert (tmp_path / "out").read_text() == "a,b\n1,x\n"
    assert process.wait() == 0
    assert stat.S_ISFIFO((tmp_path / "out").stat().st_mode)


@pytest.mark.parametrize("ending", [*TYPED, *TEXT, "npy", "npz", "xlsx"])
def test_damaged_files_are_read_or_refused_by_name(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending in ("npy", "npz"):
        {"npy": np.save, "npz": np.savez_compressed}[ending](path, np.arange(6.0).reshape(3, 2))
    else:
        write_table(NESTED.slice(6), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    n_rows, messages, notes = [], [], []
    # Typed files take a child process each.
    for _ in range(60 if ending in (*TEXT, "jsonl", "json") else 12):
        content = bytearray(whole)
        for position in rng.integers(len(whole), size=3):
            content[position : position + rng.integers(3)] = rng.bytes(rng.integers(3))
        path.write_bytes(content)
        try:
            n_rows.append(len(read_table(path, format=Reading(note=notes.append))))
        except ValueError as error:
            messages.append(str(error))
    assert messages
    assert all(str(path) in message and "\n" not in message for message in [*messages, *notes])
    assert all(n_rows)


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


def test_a_pattern_is_all_its_files_as_one_table(tmp_path):
    text_file(tmp_path, "a,b,c\n1,x,01\n2,y,02\n", "2.csv")
    text_file(tmp_path, "b;a;c\nz;2,5;3\n", "3.csv")
    text_file(tmp_path, "a,b,c\n?,w,04\n7,v,05\n8,v,05\n9,v,05\n", "14.csv")
    notes = []
    chunks = list(read_chunks(str(tmp_path / "*.csv"), n_rows=2, format=Reading(note=notes.append)))
    assert [len(chunk) for chunk in chunks] == [2, 2, 2, 1]
    table = pa.concat_tables(chunks)
    assert table.schema.types == [pa.float64(), pa.string(), pa.string()]
    assert table.to_pydict() == {
        "a": [None, 7, 8, 9, 1, 2, 2.5],
        "b": ["w", "v", "v", "v", "x", "y", "z"],
        "c": ["04", "05", "05", "05", "01", "02", "3"],
    }
    (note,) = notes
    assert "14.csv: the column 'a' has 1 cell counted as missing, first '?' in row 1 below the header" in note
    schema = pa.schema([("c", pa.string()), ("a", pa.float64())])
    read = read_table(str(tmp_path / "?.csv"), schema=schema, keep_others=True)
    assert read.to_pydict() == {"a": [1, 2, 2.5], "b": ["x", "y", "z"], "c": ["01", "02", "3"]}
    assert read_table(str(tmp_path / "2*")).to_pydict() == read_table(tmp_path / "2.csv").to_pydict()


def test_files_of_a_pattern_that_do_not_agree_are_refused_by_name(tmp_path):
    text_file(tmp_path, "a,b\n1,x\n", "1.csv")
    text_file(tmp_path, "a,c\n1,x\n", "2.csv")
    with pytest.raises(
        ValueError, match=r"2\.csv: the columns must be the expected ones, 'a', 'b'. Got no 'b', 'c' besides"
    ):
        read_table(str(tmp_path / "*.csv"))
    text_file(tmp_path, "a,b\nred,x\n", "2.csv")
    with pytest.raises(
        ValueError, match=r"2\.csv: the column 'a' must hold numbers, .* Got text instead, 'red' in row 1"
    ):
        read_table(str(tmp_path / "*.csv"))
    with pytest.raises(FileNotFoundError, match=r"\*\.tsv: there is no file that matches this pattern"):
        read_table(str(tmp_path / "*.tsv"))
    # A file of that very name is no pattern.
    assert read_table(text_file(tmp_path, "a,b\n5,x\n", "?.csv"))["a"].to_pylist() == [5]


BAD_FILES = {
    "only a header": ("a.csv", b"a,b\n", r"a\.csv: must hold at least one sample. Got columns without rows"),
    "only a header, no end of line": ("a.csv", b"a,b", "Got columns without rows"),
    "no columns": ("a.jsonl", b"{}\n", r"a\.jsonl: must hold at least one"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])
