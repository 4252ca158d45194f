"""The table of mistakes that newcomers make, each with what it is answered."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from paretodepth.cli import app
from paretodepth.tables.files import read_table, write_table

N = 40


def samples(seed=0):
    rng = np.random.default_rng(seed)
    when = np.datetime64("2024-01-01T00:00:00") + rng.integers(10**7, size=N).astype("timedelta64[s]")
    return pa.table({"bmi": rng.normal(25, 3, N), "size": rng.random(N), "when": when})


def with_gap(table, name="bmi", rows=(17,)):
    values = table.column(name).to_pylist()
    for row in rows:
        values[row] = None
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.fixture
def run(tmp_path):
    """Write files of tables and text to a folder and run a command on them."""

    def run(command, **files):
        for name, content in files.items():
            path = tmp_path / name.replace("_", ".")
            path.write_text(content) if isinstance(content, str) else write_table(content, path)
        return CliRunner().invoke(
            app, [str(tmp_path / word) if "." in word else word for word in command.split()], catch_exceptions=True
        )

    return run


def criterion(columns, metric):
    return f'[[criterion]]\nname = "c"\ncolumns = "{columns}"\nmetric = "{metric}"\n'


MISTAKES = {
    "dates under a numeric metric": (
        "detect a.parquet --criteria c.toml",
        {"a_parquet": samples(), "c_toml": criterion("when", "difference")},
        "must hold numbers. Got .* take a metric for dates and times: 'elapsed', 'time_of_day', 'weekday' or 'day_of_y",
    ),
    "numbers under a metric of times": (
        "detect a.parquet --criteria c.toml",
        {"a_parquet": samples(), "c_toml": criterion("size", "time_of_day")},
        "must hold timestamps, or times of day. Got .* take a metric for numbers, 'difference' or 'cyclic'",
    ),
    "one NaN row that must not be": (
        "detect a.csv --missing fail",
        {"a_csv": with_gap(samples()).select(["bmi", "size"])},
        "must hold no missing values .* Got 1 in 'bmi' instead; impute the values, or set missing='drop'",
    ),
    "a gap that cannot be ignored": (
        "detect a.csv --columns bmi,size --missing ignore",
        {"a_csv": with_gap(samples()).select(["bmi", "size"])},
        "a criterion of one column cannot ignore its gaps, so impute a value, or set missing='drop'",
    ),
    "three rows": (
        "detect a.csv",
        {"a_csv": samples().slice(0, 3).select(["bmi", "size"])},
        "a.csv: must hold at least 4 samples to learn from. Got 3 instead; the more the better, and 19 for",
    ),
    "BMI for bmi": (
        "detect a.parquet --criteria c.toml",
        {"a_parquet": samples(), "c_toml": criterion("BMI", "difference")},
        r"must hold columns of the data. Got 'BMI' instead \(did you mean 'bmi'\?\)",
    ),
    "BMI among the columns": (
        "detect a.parquet --columns BMI",
        {"a_parquet": samples()},
        r"Got 'BMI' instead \(did you mean 'bmi'\?\)",
    ),
}


@pytest.mark.parametrize(("command", "files", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_one_line_with_what_to_do(run, command, files, message):
    result = run(command, **files)
    with pytest.raises((ValueError, TypeError), match=message):
        raise result.exception
    assert "\n" not in str(result.exception)


def test_one_gap_stops_nothing_and_is_listed(run, tmp_path):
    table = with_gap(with_gap(samples(), rows=(17, 30)), "size", (30,)).select(["bmi", "size"])
    result = run("detect a.csv --columns bmi,size --out o.csv", a_csv=table)
    assert result.exit_code == 0
    assert "Not scored because of missing values: 2 samples, row 19 (bmi), row 32 (bmi, size)." in result.output
    assert "most unusual of 38 records" in result.output
    written = read_table(tmp_path / "o.csv")
    assert [row for row in range(N) if written.column("score")[row].as_py() is None] == [17, 30]
    assert written.column("p_value").null_count == 2
    assert written.column("decision")[17].as_py() == "unscored"
    found = json.loads(run("detect a.csv --columns bmi,size --json").stdout)
    assert (found["n_samples"], found["n_unscored"], found["n_training_dropped"]) == (N, 2, 2)
    assert found["unscored"] == [{"row": 19, "columns": ["bmi"]}, {"row": 32, "columns": ["bmi", "size"]}]
    assert not {19, 32} & {entry["row"] for entry in found["anomalies"]}


def test_gaps_of_training_and_new_samples_are_told_apart(run):
    tables = {
        "a_csv": with_gap(samples()).select(["bmi"]),
        "b_csv": with_gap(samples(1), rows=range(7)).select(["bmi"]),
    }
    result = run("detect b.csv --reference a.csv --columns bmi --report r.html", **tables)
    assert "Not fitted because of missing values: 1 sample, row 19." in result.output
    assert "Not scored because of missing values: 7 samples, row 2 (bmi), row 3 (bmi), " in result.output
    assert "row 6 (bmi), …." in " ".join(result.output.split())


def test_a_file_in_which_every_sample_lacks_a_value_is_reported(run, tmp_path):
    tables = {"a_parquet": samples(), "b_parquet": with_gap(samples(), rows=range(N))}
    result = run("detect b.parquet --reference a.parquet --columns bmi,size --report r.html --out o.csv", **tables)
    assert result.exit_code == 0
    assert "0 of 0 records flagged" in result.output
    assert f"Not scored because of missing values: {N} samples" in result.output
    assert read_table(tmp_path / "o.csv").column("score").null_count == N
    assert (tmp_path / "r.html").stat().st_size > 1000


def test_a_model_leaves_gaps_unscored_and_can_be_told_to_refuse_them(run):
    tables = {"a_csv": samples().select(["bmi", "size"]), "b_csv": with_gap(samples(1)).select(["bmi", "size"])}
    assert run("fit a.csv --columns bmi,size --missing fail --model m.model", **tables).exit_code == 0
    result = run("score m.model b.csv --out s.csv")
    assert "of 39 records flagged" in result.output
    assert "Not scored because of missing values: 1 sample, row 19 (bmi)." in result.output
    refused = run("score m.model b.csv --out s.csv --missing fail")
    assert "Got 1 in 'bmi' instead" in str(refused.exception)
    assert "Row 19: not scored because of a missing value in bmi." in run("explain m.model b.csv --row 19").output
    assert json.loads(run("explain m.model b.csv --row 19 --json").stdout)["missing"] == ["bmi"]


def test_a_criterion_that_says_itself_is_not_overruled(run):
    files = {
        "a_csv": with_gap(samples()).select(["bmi"]),
        "c_toml": criterion("bmi", "difference") + 'missing = "fail"\n',
    }
    assert "Got 1 in 'bmi' instead" in str(run("detect a.csv --criteria c.toml --missing drop", **files).exception)


@pytest.mark.slow
def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "paretodepth", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("paretodepth ")
