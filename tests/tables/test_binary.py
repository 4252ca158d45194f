"""Parquet, Arrow and NumPy files: arrays as tables, damaged files, no objects."""

import os

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from paretodepth.tables import read_table, write_table
from tests.tables.samples import assert_refused, noted


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
    for array in [np.array(1.0), np.ones(3, complex), np.array([b"x"]), np.zeros((3, 2), np.longdouble)]:
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


def test_parquet_damaged_in_its_middle_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(pa.table({"a": np.random.default_rng(0).random(20_000)}), path)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must be a readable file of the format 'parquet'"):
        read_table(path)


BAD_FILES = {
    "damaged Parquet": ("a.parquet", b"PAR1....", r"a\.parquet: must be a readable file of the format 'parquet'"),
    "damaged Arrow": ("a.arrow", b"ARROW1....", r"a\.arrow: must be a readable file of the format 'arrow'"),
    "damaged stream": ("a.arrows", b"\xff\xff\xff\xff\x10\x00\x00\x00", "a readable file of the format 'arrow'"),
    "damaged NPY": ("a.npy", b"\x93NUMPY....", r"a\.npy: must hold a whole array"),
    "damaged NPZ": ("a.npz", b"PK\x03\x04....", r"a\.npz: must hold a whole array"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])


WORDS = ["a", None, "bcd", "a", ""]
VIEWS = pa.array(WORDS, pa.string_view())
COLUMNS = {
    "views": (VIEWS, WORDS),
    "categories": (pa.array(WORDS).dictionary_encode(), WORDS),
    "categories of views": (
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0, 2]), pa.array(["a", "bcd", ""], pa.string_view())),
        WORDS,
    ),
    "runs": (pa.RunEndEncodedArray.from_arrays([2, 5], [1.5, None]), [1.5, 1.5, None, None, None]),
    "runs of views": (pa.RunEndEncodedArray.from_arrays([1, 5], VIEWS.slice(2, 2)), ["bcd", *["a"] * 4]),
    "lists of views": (pa.array([["a"], None, [], ["b", None], ["c"]], pa.list_(pa.string_view())), None),
    "lists of categories": (
        pa.ListArray.from_arrays(
            pa.array([0, 2, None, 3, 3, 5]), pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, None, 0]), ["a", "bcd"])
        ),
        [["a", "bcd"], ["bcd"], None, [], [None, "a"]],
    ),
    "views of lists": (pa.array([[1.5], None, [], [2.0, None], [3.0]], pa.list_view(pa.float64())), None),
    "half floats": (pa.array(np.arange(5, dtype=np.float16)), [0.0, 1.0, 2.0, 3.0, 4.0]),
    "binary views": (pa.array([b"x", None, b"", b"yz", b"x"], pa.binary_view()), None),
    "nothing": (pa.nulls(5), [None] * 5),
}


@pytest.mark.parametrize("first", [0, 2])
def test_columns_of_any_type_are_read_as_plain_ones(tmp_path, first):
    table = pa.table({name: column.slice(first) for name, (column, _) in COLUMNS.items()})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    found = read_table(tmp_path / "a.arrow")
    for name, (column, values) in COLUMNS.items():
        assert found[name].to_pylist() == (column.to_pylist() if values is None else values)[first:], name
    # What reports do with a table, and every format that is written.
    assert found.take([1, 0])["views"].to_pylist() == found["views"].to_pylist()[1::-1]
    for ending in ("parquet", "jsonl", "json", "arrow"):
        write_table(found, tmp_path / f"b.{ending}")
        assert len(read_table(tmp_path / f"b.{ending}")) == 5 - first


def test_files_as_polars_writes_them_are_read(tmp_path):
    frame = polars.DataFrame({"name": ["a", None, "b"], "size": [1.5, 2.0, None], "kind": ["x", "y", "x"]})
    frame = frame.with_columns(polars.col("kind").cast(polars.Categorical))
    for name, compression in (("a.feather", "uncompressed"), ("b.arrow", "zstd"), ("c.ipc", "lz4")):
        frame.write_ipc(tmp_path / name, compression=compression)
        table = read_table(tmp_path / name)
        assert table.to_pydict() == frame.to_dict(as_series=False)
        assert table.schema.types[0] in (pa.string(), pa.large_string())
        assert table.take([2])["name"].to_pylist() == ["b"]
    frame.write_ipc_stream(tmp_path / "d.arrows")
    assert read_table(tmp_path / "d.arrows").to_pydict() == frame.to_dict(as_series=False)


TIMES = {
    "date32": (pa.date32(), pa.int32(), [0, 2**31 - 1, -(2**31), 2_932_896]),
    "date64": (pa.date64(), pa.int64(), [0, 86_400_000 * 10**10, -86_400_000 * 10**10, 86_400_000]),
    "timestamp[s]": (pa.timestamp("s"), pa.int64(), [0, 2**62, -(2**62), 253_402_300_799]),
    "timestamp[us, UTC]": (pa.timestamp("us", "UTC"), pa.int64(), [0, 2**62, -(2**62), 1]),
    "duration[s]": (pa.duration("s"), pa.int64(), [0, 2**62, -(2**62), 1]),
}


def test_times_that_no_calendar_shows_are_missing_and_noted(tmp_path):
    columns = {name: pa.array(numbers, width).view(type) for name, (type, width, numbers) in TIMES.items()}
    write_table(pa.table(columns), tmp_path / "a.arrow")
    table, notes = noted(tmp_path / "a.arrow")
    for name in TIMES:
        assert [value is None for value in table[name].to_pylist()] == [False, True, True, False]
    assert notes == [
        f"the column '{name}' has 2 times that no calendar shows, counted as missing: before the year 1 or after 9999."
        for name in TIMES
    ]
    write_table(table, tmp_path / "b.jsonl")
    write_table(table, tmp_path / "b.csv")
