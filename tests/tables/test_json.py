"""JSON lines: types that hold for the whole file, and lines that are refused."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from paretodepth.tables import json as json_files
from paretodepth.tables import read_chunks, read_table, write_table
from tests.tables.samples import assert_refused, noted, text_file


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


def test_lists_are_read_however_they_are_cut_into_blocks(tmp_path):
    # Entries larger than a block, numbers and escapes at its end, blanks of all kinds.
    rows = [{"a": i, "t": 'é\\"' * (i % 7) + "y" * (900_000 if i == 3 else i % 400)} for i in range(3000)]
    for indent in (None, 1):
        path = text_file(tmp_path, json.dumps(rows, ensure_ascii=indent is None, indent=indent) + " \n", "samples.json")
        assert path.stat().st_size > 1 << 20
        chunks = list(read_chunks(path, n_rows=1000))
        assert pa.concat_tables(chunks).to_pylist() == rows
    path = text_file(tmp_path, json.dumps([{"a": i} for i in range(100_000)]), "samples.json")
    assert path.stat().st_size > 1 << 20
    assert read_table(path)["a"].to_pylist() == list(range(100_000))


VALUES = [[None], [1, 2, 3], [2.5, float("nan")], ["?", "-", "N/A"], ["€4", "7", "1,000"], ["2024-03-01", "2024-12-31"],
          ["red", "green"], [True, False]]  # fmt: skip


@pytest.mark.parametrize("name", ["samples.jsonl", "samples.json"])
def test_how_json_is_read_does_not_depend_on_where_blocks_end(tmp_path, monkeypatch, name):
    rng = np.random.default_rng(0)
    for _ in range(150):
        kinds = rng.choice(len(VALUES), 3, p=[0.2, 0.25, 0.1, 0.15, 0.1, 0.1, 0.05, 0.05])
        values = [VALUES[kind][rng.integers(len(VALUES[kind]))] for kind in rng.choice(kinds, rng.integers(1, 30))]
        rows = [json.dumps({"a": value}) for value in values]
        path = text_file(tmp_path, "\n".join(rows) if name.endswith("l") else f"[{','.join(rows)}]", name)
        found = []
        for n_bytes, n_rows in [(1 << 20, 1024), (20, 2), (60, 7)]:
            monkeypatch.setattr(json_files, "READ_BYTES", n_bytes)
            monkeypatch.setattr(json_files, "LIST_ROWS", n_rows)
            found.append(read_or_error(path))
        assert found[0] == found[1] == found[2], values


def read_or_error(path):
    try:
        table, notes = noted(path)
    except ValueError as error:
        return str(error)
    return table.schema, str(table.to_pylist()), notes


def test_a_line_without_end_is_refused_before_it_takes_the_memory(tmp_path):
    content = b'{"a": 1}\n{"a": "' + b"x" * (32 << 20) + b'"}\n'
    assert_refused(tmp_path, "a.jsonl", content, r"a\.jsonl, line 2: must be at most 32 MB long. Got more; check for")


def test_an_entry_without_end_is_refused_before_it_takes_the_memory():
    content = io.BytesIO(b'[{}, {"a": "' + b"x" * (4 << 20))
    entries = json_files.check_entries(content, json.JSONDecoder().raw_decode, "samples", most=1 << 20)
    with pytest.raises(ValueError, match=r"samples, entry 2: must .*\(Unterminated string"):
        list(entries)
    assert content.read(1)


def test_a_list_that_is_written_comes_back(tmp_path):
    table = pa.table({"a": [1, 2, 3]})
    write_table((table.slice(start, 1) for start in range(3)), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == [{"a": 1}, {"a": 2}, {"a": 3}]
    write_table(table.slice(0, 0), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == []


BAD_FILES = {
    "no JSON": (
        "a.jsonl",
        b'{"a": 1}\n\n{"a": }\n',
        r"a\.jsonl, line 3: must be an object in JSON. Got '{\"a\": }' in.*column 7",
    ),
    "a list of numbers": (
        "a.jsonl",
        b"[1, 2]\n",
        r"entry 1: must be an object .* Got 1 instead; write one object a row",
    ),
    "a list without end": ("a.json", b'[{"a": 1}, {"a": ', r"entry 2: must .* Got '{\"a\":' instead"),
    "a list without commas": ("a.json", b'[{"a": 1}\n{"a": 2}]', r"entry 2: must .*\(a comma is missing\)"),
    "the same key twice in a list": ("a.json", b'[{"a": 1, "a": 2}]', "entry 1: .*the key 'a' comes twice"),
    "an error early in a long list": ("a.json", b'[{"a": x' + b" " * (2 << 20) + b"}]", "entry 1: .*Expecting value"),
    "nested too deep in a list": ("a.json", b'[{"a": ' + b"[" * 200_000, "entry 1: must be an object in JSON"),
    "kinds mixed in a list": ("a.json", b'[{"a": [1]}, {"a": "x"}]', "Got a list in entry 1 and text in entry 2"),
    "nested too deep": ("a.jsonl", b'{"a": ' + b"[" * 200_000, "line 1: must be an object in JSON"),
    "the same key twice": ("a.jsonl", b'{"a": 1, "a": 2}\n', "line 1: .*the key 'a' comes twice"),
    "mixed kinds": (
        "a.jsonl",
        b'{"a": null}\n{"a": 1}\n{"a": "x"}\n',
        "the column 'a' must hold values of one kind, in lists too. Got a number in line 2 and text in line 3",
    ),
    "booleans among numbers": ("a.jsonl", b'{"a": 1.5}\n{"a": true}\n', "a number in line 1 and a boolean in line 2"),
    "booleans among numbers in lists": ("a.jsonl", b'{"a": [1.5]}\n{"a": [true]}\n', "booleans among numbers"),
    "mixed kinds in a list": ("a.jsonl", b'{"a": [1, "x"]}\n', "the column 'a' must hold values of one kind"),
    "too large an integer": ("a.jsonl", b'{"a": 100000000000000000000}\n', "the column 'a' must .* too large"),
    "half a character": ("a.jsonl", b'{"a": "\\ud800"}\n', "the column 'a' must .* surrogates"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_with_their_name(tmp_path, case):
    assert_refused(tmp_path, *BAD_FILES[case])
