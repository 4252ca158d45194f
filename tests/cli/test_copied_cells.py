"""Columns of the input stand in `--out` as they are written in the file."""

import csv
import json
import random

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from paretodepth.cli import app
from paretodepth.tables.files import read_table

HEADER = ["id", "price", "size", "day", "moment", "flag", "note", "rate"]


def messy_rows(n_rows=60):
    rng = random.Random(0)
    rows = [
        [
            f"{number:05d}",
            f"{rng.randint(100, 999)},50",
            f"{rng.random():.3f}".replace(".", ","),
            f"2024-03-{1 + number % 28:02d}",
            f"2024-03-{1 + number % 28:02d}T{number % 24:02d}:15:00+05:30",
            ["true", "FALSE"][number % 2],
            ['a "quoted" word', "two; parts", "line\nbreak", ""][number % 4],
            [f"{number % 7} %", f"1e{number % 3}", "N/A", "?"][number % 4 if number < 12 else 0],
        ]
        for number in range(n_rows)
    ]
    return rows


@pytest.fixture
def messy(tmp_path):
    path = tmp_path / "messy.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows([HEADER, *messy_rows()])
    return path


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


def cells_of(path):
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[: len(HEADER)] == HEADER
    return [row[: len(HEADER)] for row in rows]


def test_detect_copies_cells_to_the_letter(messy, tmp_path):
    run("detect", messy, "-q", "--out", tmp_path / "o.csv")
    assert cells_of(tmp_path / "o.csv") == messy_rows()
    run("detect", messy, "--reference", messy, "-q", "--out", tmp_path / "both.csv")
    assert cells_of(tmp_path / "both.csv") == messy_rows()


def test_score_copies_cells_to_the_letter_and_several_files_too(messy, tmp_path):
    run("fit", messy, "-q", "--model", tmp_path / "m", "--columns", "price,size")
    run("score", tmp_path / "m", messy, "-q", "--out", tmp_path / "o.csv")
    assert cells_of(tmp_path / "o.csv") == messy_rows()
    (tmp_path / "messy2.csv").write_text(messy.read_text())
    run("score", tmp_path / "m", tmp_path / "messy*.csv", "-q", "--out", tmp_path / "two.csv")
    assert cells_of(tmp_path / "two.csv") == 2 * messy_rows()


@pytest.mark.parametrize("ending", [".jsonl", ".xlsx", ".parquet"])
def test_typed_formats_keep_numbers_and_the_text_of_dates_and_times(messy, tmp_path, ending):
    out = tmp_path / f"o{ending}"
    run("detect", messy, "-q", "--out", out)
    if ending == ".jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    elif ending == ".parquet":
        rows = pyarrow.parquet.read_table(out).to_pylist()
    else:
        rows = read_table(out).select(["price"]).to_pylist()
    wanted = messy_rows()
    assert [row["price"] for row in rows] == [float(row[1].replace(",", ".")) for row in wanted]
    if ending != ".xlsx":
        assert [[row["day"], row["moment"]] for row in rows] == [row[3:5] for row in wanted]


def test_json_lines_keep_their_text_of_times(tmp_path):
    rows = [{"x": number / 7, "when": f"2024-03-{1 + number % 28:02d}T10:00:00+02:00"} for number in range(40)]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run("detect", tmp_path / "in.jsonl", "-q", "--out", tmp_path / "o.jsonl")
    found = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [{name: row[name] for name in ("x", "when")} for row in found] == rows


def test_escaped_formulas_leave_numbers_as_they_are(tmp_path):
    values = [f"-{number}.50" for number in range(60)]
    values[7] = "=1+1"
    (tmp_path / "in.csv").write_text("-x,y\n" + "".join(f"{value},{len(value)}\n" for value in values))
    run("detect", tmp_path / "in.csv", "-q", "--out", tmp_path / "o.csv", "--escape-formulas")
    with (tmp_path / "o.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0] == "'-x"
    assert [row[0] for row in rows] == ["'=1+1" if value == "=1+1" else value for value in values]
