"""Small files that would take much memory or time: refused before they do, or read in seconds."""

import io
import json
import os
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretodepth import Criterion
from paretodepth.criteria.encoding import check_columns
from paretodepth.pairs.limits import free_bytes
from paretodepth.tables import arrow_sizes, plain, read_chunks, read_table
from paretodepth.tables.sizes import MAX_COLUMNS, check_size, most_bytes

ZEROS = pa.table({"a": np.zeros(3_000_000), "b": np.zeros(3_000_000)})
SECONDS = 5
"""Of processor time, on a machine of any speed: the files took 6 to 120 seconds."""


def npy_header(dtype, shape):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def npz(path, member):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", member)
    return path


def arrow(path, table, opener=pa.ipc.new_file, compression="zstd"):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, opener(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


@pytest.fixture
def small_measure(monkeypatch):
    """What a file of any size can be meant to hold, as small as the tests' files are."""
    monkeypatch.setattr("paretodepth.tables.sizes.MAX_BYTES", 1 << 20)


def assert_refused_in_little_memory(path, message):
    before = pa.total_allocated_bytes()
    start = time.process_time()
    with pytest.raises(ValueError, match=message) as refused:
        read_table(path)
    assert time.process_time() - start < SECONDS
    assert pa.total_allocated_bytes() - before < 1 << 20
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("shape", [(10**8, 3), (10**11,), (5,)])
def test_strings_of_no_letters_are_refused(tmp_path, shape):
    (tmp_path / "a.npy").write_bytes(npy_header("<U0", shape))
    assert_refused_in_little_memory(tmp_path / "a.npy", "shape .* which is more than the file holds")


@pytest.mark.parametrize("shape", [(10**12,), (3, 2**62), (2**40, 2**40)])
def test_arrays_that_tell_of_more_than_there_is_are_refused(tmp_path, shape):
    content = npy_header("<f8", shape) + bytes(64)
    (tmp_path / "a.npy").write_bytes(content)
    assert_refused_in_little_memory(tmp_path / "a.npy", "which is more than the file holds")
    assert_refused_in_little_memory(npz(tmp_path / "a.npz", content), "which is more than the file holds")


def test_an_array_without_rows_is_refused_by_its_columns(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy_header("<f8", (0, 10**12)))
    assert_refused_in_little_memory(tmp_path / "a.npy", "at most 20,000 columns. Got 1,000,000,000,000 instead")
    (tmp_path / "a.npy").write_bytes(npy_header("<f8", (1, 1, 0)))
    assert_refused_in_little_memory(tmp_path / "a.npy", r"must hold an array .* the shape \(1, 1, 0\) instead")


def test_an_archive_is_refused_by_what_its_member_would_take(tmp_path, small_measure):
    path = npz(tmp_path / "a.npz", npy_header("<f8", (2**20, 2)) + bytes(16 * 2**20))
    assert path.stat().st_size < 50_000
    assert_refused_in_little_memory(path, "a table must take at most .* MB of memory, 200 times its file")


@pytest.mark.parametrize("opener", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_compressed_batches_are_refused_by_what_they_would_take(tmp_path, opener, compression, small_measure):
    path = arrow(tmp_path / "a.arrow", ZEROS.slice(0, 300_000), opener, compression)
    assert path.stat().st_size < 25_000
    assert_refused_in_little_memory(path, "a table must take at most .* MB of memory, 200 times its file")


def test_a_parquet_file_is_refused_by_its_rows(tmp_path, small_measure):
    pq.write_table(ZEROS, tmp_path / "a.parquet")
    assert_refused_in_little_memory(tmp_path / "a.parquet", "a table must take at most .* MB of memory")


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(10**9),
        pa.RunEndEncodedArray.from_arrays([2**31 - 2], [1.5]),
        pa.RunEndEncodedArray.from_arrays([2**31 - 2], pa.array(["a word"], pa.string_view())),
    ],
    ids=["nothing", "a run of numbers", "a run of views"],
)
def test_columns_that_take_nothing_are_refused_once_they_take_much(tmp_path, column, monkeypatch):
    monkeypatch.setattr("paretodepth.tables.sizes.MAX_BYTES", 1 << 25)
    path = arrow(tmp_path / "a.arrow", pa.table({"a": column}), compression=None)
    assert path.stat().st_size < 2000
    start = time.process_time()
    with pytest.raises(ValueError, match="a table must take at most"):
        read_table(path)
    assert time.process_time() - start < SECONDS


def parquet_of_text(path, table):
    """Write categories so that they are read as text."""
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path


@pytest.mark.parametrize(
    ("name", "write", "type"), [("a.arrow", arrow, pa.string_view()), ("a.parquet", parquet_of_text, pa.string())]
)
def test_one_long_text_that_many_rows_have_is_not_written_out_at_once(tmp_path, name, write, type, monkeypatch):
    monkeypatch.setattr("paretodepth.tables.sizes.MAX_BYTES", 1 << 25)
    indices = pa.array(np.zeros(100_000, np.int32))
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 10_000_000], type))
    path = write(tmp_path / name, pa.table({"a": column}))
    with pytest.raises(ValueError, match="a table must take at most"):
        read_table(path)
    # Without a limit, 100,000 rows of 10 MB would be a terabyte.
    assert pa.default_memory_pool().max_memory() < 2**30


def test_one_long_text_in_many_lists_is_not_written_out_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "ROW_BYTES", 3 * 10**6)
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 50), ["x" * 10**6, "a"])
    path = arrow(tmp_path / "a.arrow", pa.table({"a": pa.ListArray.from_arrays(pa.array(range(0, 101, 2)), texts)}))
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() - before for _ in read_chunks(path, n_rows=1))
    assert most < 10 * 10**6
    whole = pa.ListArray.from_arrays(pa.array([0, 3000]), texts.take(pa.array([0] * 3000)))
    with pytest.raises(ValueError, match=r"a table must take at most .* MB of memory.* Got 2,861 MB or more"):
        read_table(arrow(tmp_path / "b.arrow", pa.table({"a": whole})))


def test_sizes_told_by_headers_are_those_of_the_batches(tmp_path):
    mixed = pa.table({"a": np.arange(5000.0), "b": [f"text {i}" for i in range(5000)]})
    for table in (ZEROS.slice(0, 7000), mixed, mixed.append_column("c", mixed["b"].dictionary_encode())):
        for compression in ("zstd", "lz4", None):
            told = ((pa.ipc.new_stream, arrow_sizes.stream_sizes), (pa.ipc.new_file, arrow_sizes.file_sizes))
            for opener, sizes in told:
                path = arrow(tmp_path / "a.arrow", table, opener, compression)
                with open(path, "rb") as file:
                    # Buffers are padded, and the dictionary is a batch of its own.
                    assert sum(sizes(file)) == pytest.approx(table.nbytes, rel=0.1)
                assert read_table(path).num_rows == len(table)


@pytest.mark.parametrize("n_columns", [MAX_COLUMNS + 1, 100_000])
@pytest.mark.parametrize("format", ["csv", "jsonl", "npy", "arrow"])
def test_many_columns_are_refused_at_once(tmp_path, n_columns, format):
    names = [f"column{number}" for number in range(n_columns)]
    path = tmp_path / f"a.{format}"
    if format == "csv":
        path.write_text(f"{','.join(names)}\n" + 3 * f"{','.join('1' * n_columns)}\n")
    elif format == "jsonl":
        path.write_text(2 * f"{json.dumps(dict.fromkeys(names, 1.5))}\n")
    elif format == "npy":
        np.save(path, np.zeros((3, n_columns), np.uint8))
    else:
        arrow(path, pa.table([pa.array([1])] * n_columns, names=names), compression=None)
    start = time.process_time()
    with pytest.raises(ValueError, match=r"at most 20,000 columns. Got \d+,\d+ instead"):
        read_table(path)
    assert time.process_time() - start < SECONDS


def test_a_name_without_end_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text(f"{'x' * 100_000},y\n1,2\n")
    assert_refused_in_little_memory(tmp_path / "a.csv", "at most 1,000 letters. Got 100,000 instead in 'xxx")


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
    keys = [*range(29_999), 29_998]
    (tmp_path / "a.jsonl").write_text("{" + ",".join(f'"c{key}": 1' for key in keys) + "}\n")
    assert_refused_in_little_memory(tmp_path / "a.jsonl", "the key 'c29998' comes twice")


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


def test_a_table_takes_no_more_than_is_free_and_than_it_can_be_meant_to(tmp_path):
    assert most_bytes(0) <= 1 << 30
    assert most_bytes(None) <= free_bytes() * 2
    check_size(10, 10, "a.csv")
    with pytest.raises(ValueError, match=r"a.csv: a table must take at most 10 MB .* Got 20 MB or more instead"):
        check_size(20 << 20, 10 << 20, "a.csv")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="opens files by their numbers as Linux does")
def test_a_file_that_is_cut_off_while_it_is_read_is_refused(tmp_path):
    table = pa.table({"a": np.random.default_rng(0).random(400_000)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, 1000)
    chunks = read_chunks(tmp_path / "a.arrow", n_rows=1000)
    next(chunks)
    os.truncate(tmp_path / "a.arrow", 100_000)
    # Mapped into memory, this ended the process (SIGBUS).
    with pytest.raises(ValueError, match="must be a readable file of the format 'arrow'"):
        list(chunks)
