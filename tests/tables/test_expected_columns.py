"""Expected columns: their order, their kinds, and other ones."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretodepth.tables import read_chunks, read_table, write_table
from tests.tables.samples import assert_refused, text_file

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


def test_text_where_times_or_lists_are_expected_is_refused(tmp_path):
    path = text_file(tmp_path, "a\nsoon\n")
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


BAD_FILES = {
    "the same name twice": ("a.csv", b"a,b,a\n1,2,3\n", "different names. Got 'a' for column 1 and column 3"),
    "no name": ("a.csv", b",a\n0,2\n", "every column must have a name. Got none for column 1"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])
