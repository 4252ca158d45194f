"""Columns of every Arrow type: read as plain ones, written, listed; times that no calendar shows are missing."""

import numpy as np
import polars
import pyarrow as pa
import pytest

from paretodepth.tables import read_table, write_table
from paretodepth.tables.plain import n_rows_at_once, plain_array, plain_type, widest_row, widest_value, within_calendar
from tests.tables.samples import noted

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


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("first", [0, 2])
def test_columns_of_any_type_are_read_as_plain_ones(tmp_path, name, first):
    column, values = COLUMNS[name]
    column = column.slice(first)
    values = column.to_pylist() if values is None else values[first:]
    assert plain_array(column).to_pylist() == values
    assert plain_array(column).type == plain_type(column.type)
    plain_array(column).validate(full=True)
    table = pa.table({"x": range(5 - first), "odd": column})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    found = read_table(tmp_path / "a.arrow")
    assert found["odd"].to_pylist() == values
    # What reports do with a table, and every format that is written.
    assert found.take([1, 0])["odd"].to_pylist() == [values[1], values[0]]
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


@pytest.mark.parametrize("name", TIMES)
def test_times_that_no_calendar_shows_are_missing_and_told(tmp_path, name):
    type, width, numbers = TIMES[name]
    column = pa.array(numbers, width).view(type)
    write_table(pa.table({"when": column}), tmp_path / "a.arrow")
    table, notes = noted(tmp_path / "a.arrow")
    assert [value is None for value in table["when"].to_pylist()] == [False, True, True, False]
    assert notes == [
        "the column 'when' has 2 times that no calendar shows, counted as missing: before the year 1 or after 9999."
    ]
    write_table(table, tmp_path / "b.jsonl")
    write_table(table, tmp_path / "b.csv")
    # Nothing is said of times that are shown.
    assert within_calendar(column.slice(0, 1), pytest.fail).equals(column.slice(0, 1))


def test_few_rows_with_long_values_are_made_plain_at_once():
    long = pa.DictionaryArray.from_arrays(pa.array([0, 0]), ["x" * 10**6])
    assert widest_row(pa.record_batch({"a": long})) == 10**6
    lists = pa.ListArray.from_arrays(pa.array([0, 3, 3]), long.take(pa.array([0, 1, 0])))
    assert widest_row(pa.record_batch({"a": lists, "b": lists})) == 6 * 10**6
    assert n_rows_at_once(10**6) == (64 << 20) // 10**6
    assert n_rows_at_once(65 << 20) == 1
    assert n_rows_at_once(widest_row(pa.record_batch({"a": [1.5], "b": [None]}))) == 1 << 16


def test_floats_of_sixteen_bytes_are_refused_with_a_remedy(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2), np.longdouble))
    with pytest.raises(ValueError, match=r"Got the dtype float128 .* convert it with astype\(float\)"):
        read_table(tmp_path / "a.npy")


def test_a_column_of_lists_is_as_wide_as_its_longest_list_not_as_all_of_them():
    assert widest_value(pa.array([[0.5] * 10, *[[0.5]] * 1000])) == 80
    # As if the longest list held the largest category only.
    assert (
        widest_value(pa.array([["a", "b" * 50]] * 1000).cast(pa.list_(pa.dictionary(pa.int32(), pa.string())))) == 100
    )
    # One long list, and one list of a long one: their product would be far more than there is.
    nested = pa.array([[[0.5]] * 1000, [[0.5] * 1000]])
    assert 8 * 1000 <= widest_value(nested) <= nested.get_total_buffer_size()
