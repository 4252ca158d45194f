"""Parquet, Arrow and NumPy files: arrays as tables, damaged files, no objects."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from paretodepth.tables import read_table, write_table
from tests.tables.samples import assert_refused


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
