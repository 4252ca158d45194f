"""Tables with all that may go wrong in a file, and files with any content."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from paretodepth.tables import read_table
from paretodepth.tables.reading import Reading

TYPED = ["parquet", "arrow", "arrows", "feather", "jsonl", "json"]
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


def noted(path, schema=None, **known):
    """Return the table of a file, and what the reader says about it."""
    notes = []
    table = read_table(path, format=Reading(**known, note=notes.append), schema=schema)
    return table, [note.removeprefix(f"{path}: ") for note in notes]


def command(code, *arguments):
    return [sys.executable, "-c", f"from paretodepth.tables import *\nimport sys\n{code}", *map(str, arguments)]


def run(code, *arguments, stdin=b""):
    return subprocess.run(command(code, *arguments), input=stdin, capture_output=True, check=True).stdout


def assert_refused(tmp_path, name, content, message):
    """The file is refused with its name, in one short line."""
    path = text_file(tmp_path, content, name)
    with pytest.raises(ValueError, match=message) as refused:
        read_table(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1000
