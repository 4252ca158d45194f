"""Files to mutate: a model of every metric, method and kind of column, criteria, and data files of every format."""

import gzip
import io
import itertools
import os
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml
from paretodepth.criteria.metrics import METRICS
from paretodepth.models import model_file
from paretodepth.scoring.methods import METHODS
from paretodepth.tables import write_table
from tests.criteria.metric_draws import draws, is_installed
from tests.tables.test_excel import ods

N_NEW = 3
"""Samples that are scored with a model."""
N_PRECOMPUTED = 90
"""Samples of a precomputed matrix: a split leaves 60 of them to be compared with."""


class Seed(NamedTuple):
    """A file to mutate: its name, its content and the samples to score if it is a model."""

    name: str
    content: bytes
    new: Any = None


WALKS = [np.cumsum(np.random.default_rng(i).random((4, 2)), axis=0) for i in range(12)]
TABLE = {
    "x": np.random.default_rng(0).random(12),
    "y": np.random.default_rng(1).random(12),
    "word": [f"word {i % 5}" for i in range(12)],
    "walk": WALKS,
    "series": [walk[: 2 + i % 3, 0] for i, walk in enumerate(WALKS)],
    "when": np.datetime64("2024-01-01T08:00") + 3601 * np.arange(12) % 9999,
}
CRITERIA = {
    "default": [Criterion("x", "x"), Criterion("y", "y", "cityblock")],
    "columns": [
        Criterion("hour", ["x", "y"], "cyclic", period=24),
        Criterion("mixed", ["x", "word"], "gower", missing="ignore"),
        Criterion("shape", ["x", "y"], "mahalanobis"),
    ],
    "sequences": [
        Criterion("walk", "walk", "frechet"),
        Criterion("speed", "walk", "speed", bins=5),
        Criterion("series", "series", "shape_based"),
        Criterion("kind", "word", "mismatch"),
    ],
    "parameters": [Criterion("shape", "walk", "shape", points=5), Criterion("scaled", ["x", "y"], "seuclidean")],
    "times": [Criterion("day", "when", "time_of_day"), Criterion("since", "when", "elapsed", missing="drop")],
}
if is_installed(METRICS["dtw"]):
    CRITERIA["series"] = [Criterion("series", "series", "dtw", window=2), Criterion("y", "y")]
if is_installed(METRICS["levenshtein"]):
    CRITERIA["text"] = [
        Criterion("letters", "word", "levenshtein", normalized=True),
        Criterion("words", "word", "token_set"),
        Criterion("y", "y"),
    ]
# Each in turn, so that every one of them meets several criteria and methods.
PARAMETERS = (
    {},
    {"depth": "insertion"},
    {"calibration": "split", "random_state": 0, "depth": "mid"},
    {"max_depth": 3},
    {"n_neighbors": 2, "alpha": 0.25},
    {"threshold": 4.0, "max_depth": 4, "random_state": 1},
)
# Of which every other has its fronts in the file, as large models have.
IS_STORED = (True, False)


def some(samples):
    """Return the first few samples of a dict of columns."""
    return {name: column[:N_NEW] for name, column in samples.items()}


def model_seeds(step=1):
    """Return a model of every metric and set of criteria under every method, and of matrices; or of every so many."""
    given = [
        ([Criterion("a", None, draw.metric, **draw.params)], draw.training, some(draw.new))
        for draw in draws(METRICS.values())
        if is_installed(METRICS[draw.metric])
    ]
    given += [(criteria, TABLE, some(TABLE)) for criteria in CRITERIA.values()]
    matrices = [np.abs(np.subtract.outer(TABLE[name], TABLE[name])) for name in ("x", "y")]
    for n_matrices in (1, 2):
        precomputed = [Criterion(f"m{number}", metric="precomputed") for number in range(n_matrices)]
        given.append((precomputed, matrices[:n_matrices], [matrix[:N_NEW] for matrix in matrices[:n_matrices]]))
    return _fitted(itertools.islice(itertools.product(given, METHODS), 0, None, step), PARAMETERS)


def matrix_seeds():
    """Return models of one to four precomputed matrices of 90 samples under every method and with all parameters."""
    given = []
    for n_matrices in (1, 2, 3, 4):
        rng = np.random.default_rng(n_matrices)
        columns = rng.random((n_matrices, N_PRECOMPUTED + N_NEW))
        # The last new sample is far from all others.
        columns[:, -1] *= 9
        whole = [np.abs(np.subtract.outer(column, column)) for column in columns]
        if n_matrices % 2:
            whole[-1] = np.round(9 * whole[-1]).astype(np.uint8)
        matrices = [matrix[:N_PRECOMPUTED, :N_PRECOMPUTED] for matrix in whole]
        precomputed = [Criterion(f"m{number}", metric="precomputed") for number in range(n_matrices)]
        given.append((precomputed, matrices, [matrix[N_PRECOMPUTED:, :N_PRECOMPUTED] for matrix in whole]))
    cases = [case for case in itertools.product(given, METHODS) for _ in PARAMETERS]
    return _fitted(cases, PARAMETERS)


def _fitted(cases, parameters):
    """Return a model of each case, criteria with samples and a method, with parameters in turn."""
    parameters = itertools.cycle(itertools.product(IS_STORED, parameters))
    seeds = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "m")
        for (criteria, training, new), method in cases:
            is_stored, chosen = next(parameters)
            detector = ParetoDepthDetector(criteria, method=method, **chosen).fit(training)
            with pytest.MonkeyPatch.context() as patch:
                if is_stored:
                    patch.setattr(model_file, "MAX_RECOMPUTED", -1)
                detector.save(path)
            names = ", ".join(str(criterion.metric) for criterion in criteria)
            seeds.append(Seed(f"{len(seeds)} {names}: {method} {chosen}", Path(path).read_bytes(), new))
    return seeds


def toml_seeds():
    return [Seed(name, criteria_to_toml(criteria).encode()) for name, criteria in CRITERIA.items()]


TEXTS = [
    b'x,y,word\n1,2,a\n3.5,-4,b\n5,6e3,"c,d"\n',
    'größe;wert\n1,5;"zwei\nZeilen"\n2,5;😀\n'.encode(),
    b"\xef\xbb\xbfa\tb\r\n1\t2\r\n3\t4\r\n",
    b"date,flag\n2020-01-01,true\n2021-12-31,false\n,\n",
    "a,b\n€ 12.30,?\n1,-\n2,NA\n12 %,3\n".encode("utf-16"),
]


def _columns():
    """Return a table with a column of every type that files of samples have."""
    words = pa.array(["a", None, "bcd", "a", "", "😀"])
    moments = pa.array([datetime(2024, 1, day, 8, tzinfo=UTC) for day in range(1, 7)])
    return pa.table(
        {
            "number": [1.5, -0.0, np.inf, np.nan, None, 5e-324],
            "integer": [2**62, -1, None, 0, 1, 2],
            "flag": [True, None, False, True, True, False],
            "word": words,
            "large": words.cast(pa.large_string()),
            "kind": words.dictionary_encode(),
            "moment": moments,
            "date": moments.cast(pa.timestamp("s")).cast(pa.date32()),
            "span": pa.array([timedelta(seconds=i) for i in range(6)]),
            "small": pa.array(range(6), pa.int8()),
            "half": pa.array(np.arange(6, dtype=np.float16)),
            "amount": pa.array([1, 2, None, 4, 5, 6], pa.decimal128(9, 2)),
            "series": pa.array([[1.5, 2.0], [], None, [0.0], [1.0], [2.0]]),
            "track": pa.array([[[0.0, 1.0], [1.0, float(i)]] for i in range(6)]),
        }
    )


def _arrow(table, opener, compression):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with opener(sink, table.schema, options=options) as writer:
        writer.write_table(table, 4)
    return sink.getvalue().to_pybytes()


def _array(save, array):
    buffer = io.BytesIO()
    save(buffer, array)
    return buffer.getvalue()


def data_seeds():
    """Return data files of every format and kind of column."""
    table = _columns()
    odd = table.select(["word"]).append_column("view", pa.array(table["word"].to_pylist(), pa.string_view()))
    run = pa.RunEndEncodedArray.from_arrays([2, 6], [1.5, 2.5], pa.run_end_encoded(pa.int32(), pa.float64()))
    odd = odd.append_column("run", run).append_column("nothing", pa.nulls(6))
    seeds = [Seed(f"text{number}.csv", content) for number, content in enumerate(TEXTS)]
    seeds.append(Seed("packed.csv.gz", gzip.compress(TEXTS[0] * 20, mtime=0)))
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("csv", "tsv", "jsonl", "json", "parquet", "xlsx"):
            path = os.path.join(folder, f"a.{ending}")
            kept = table if ending not in ("csv", "tsv", "xlsx") else table.drop_columns(["half"])
            write_table(kept.drop_columns(["kind"]) if ending == "xlsx" else kept, path)
            seeds.append(Seed(f"table.{ending}", Path(path).read_bytes()))
    for name, rows in (("table", table), ("odd", odd)):
        for compression in (None, "zstd", "lz4"):
            seeds.append(Seed(f"{name}-{compression}.arrow", _arrow(rows, pa.ipc.new_file, compression)))
            seeds.append(Seed(f"{name}-{compression}.arrows", _arrow(rows, pa.ipc.new_stream, compression)))
    records = np.array([(1.5, "a", 2), (2.5, "bc", 3)], dtype=[("x", "<f8"), ("word", "<U4"), ("n", ">i2")])
    for number, array in enumerate((np.arange(12.0).reshape(6, 2), records, np.zeros((3, 2, 2), np.float32))):
        seeds.append(Seed(f"array{number}.npy", _array(np.save, array)))
        seeds.append(Seed(f"array{number}.npz", _array(np.savez_compressed, array)))
    seeds.append(Seed("table.ods", ods([["a", "b"], [1.5, "x"], [2.5, "y"]], repeated=2)))
    return seeds
