"""One table gives the same scores, bit by bit, whatever it comes in and whichever command or function reads it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import paretodepth
from paretodepth.cli import app
from paretodepth.tables import read_table

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
N = 120


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A CSV file with gaps, dates, text, categories and decimal commas."""
    rng = np.random.default_rng(0)
    words = ["rent", "lamp", "train", "ticket", "coffee", "paper", "cable", "phone", "office", "travel"]
    lines = ["nr;day;shop;amount;weight;note;paid"]
    for row in range(N):
        day = f"{1 + row % 28:02d}.{1 + row % 12:02d}.2024"
        amount = f"{rng.lognormal(3, 1):.2f}".replace(".", ",") if row % 17 else ""
        weight = f"{rng.normal(70, 9):.1f}".replace(".", ",") if row % 23 else "N/A"
        shop = rng.choice(["north", "south", "west"]) if row % 31 else ""
        note = " ".join(rng.choice(words, 4))
        lines.append(f"{row + 1};{day};{shop};{amount};{weight};{note};{'yes' if row % 5 else 'no'}")
    path = tmp_path_factory.mktemp("one") / "one.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def expected(file):
    return paretodepth.detect(file).scores


def run(*arguments, **options):
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False, **options)
    assert result.exit_code == 0, result.output
    return result


def frames(file):
    cells = pd.read_csv(file, sep=";", dtype=str, keep_default_na=False)
    cells = cells.mask(cells == "")
    table = read_table(file)
    return {
        "pandas, cells": cells,
        "pandas, own types": pd.read_csv(file, sep=";", decimal=","),
        "pandas, categories": cells.astype({"shop": "category"}),
        "pandas, index": cells.set_index(np.arange(N)[::-1]),
        "polars, cells": pl.read_csv(file, separator=";", infer_schema=False),
        "polars, own types": pl.from_arrow(table),
        "pyarrow, cells": pa.Table.from_pandas(cells, preserve_index=False),
        "pyarrow, own types": table,
        "dict": table.to_pydict(),
        "dict, cells": {name: [None if cell != cell else cell for cell in cells[name]] for name in cells},
    }


def test_the_table_has_what_it_should(file, expected):
    suggestion = paretodepth.suggest(file)
    kinds = {column.name: column.kind for column in suggestion.columns}
    assert kinds == {
        "nr": "id", "day": "time", "shop": "category", "amount": "amount", "weight": "number", "note": "text",
        "paid": "flag",
    }  # fmt: skip
    assert 0 < np.isnan(expected).sum() < 20


def test_the_command_detect_gives_the_scores_of_the_function(file, expected, tmp_path):
    run("detect", file, "--out", tmp_path / "o.parquet")
    scores = read_table(tmp_path / "o.parquet").column("score").to_numpy()
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", range(10))
def test_frames_give_the_scores_of_the_file(file, expected, name):
    label, frame = list(frames(file).items())[name]
    found = paretodepth.detect(frame)
    np.testing.assert_array_equal(found.scores, expected, err_msg=label)
    assert found.model.criteria.names == paretodepth.detect(file).model.criteria.names


def new_scores(path):
    return np.array(read_table(path).column("score").to_numpy(), dtype=float)


def test_fit_and_score_give_the_scores_of_detect_with_a_reference(file, tmp_path):
    expected = paretodepth.detect(file, file).scores
    model = tmp_path / "one.model"
    run("fit", file, "--model", model)
    run("score", model, file, "--out", tmp_path / "o.parquet")
    np.testing.assert_array_equal(new_scores(tmp_path / "o.parquet"), expected)
    for frame in frames(file).values():
        np.testing.assert_array_equal(paretodepth.score(model, frame).scores, expected)
        np.testing.assert_array_equal(paretodepth.score(paretodepth.fit(frame), file).scores, expected)


@pytest.mark.slow
def test_watch_gives_the_scores_of_score(file, tmp_path):
    model = tmp_path / "one.model"
    paretodepth.fit(file).save(model)
    command = [sys.executable, "-m", "paretodepth", "watch", "--model", model]
    with open(file) as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, check=True, text=True)
    scores = [json.loads(line)["score"] for line in done.stdout.splitlines()]
    watched = np.array([np.nan if score is None else score for score in scores])
    np.testing.assert_array_equal(watched, paretodepth.score(model, file).scores)
