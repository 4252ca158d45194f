"""The commands of ``python -m studies``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from studies.__main__ import app

ROOT = Path(__file__).parents[2]


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_reproduce_prints_the_papers_figure_beside_ours(tmp_path):
    result = run("reproduce", "theorem2", "--runs", "3", "--seed", "7", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "Mean of 3 runs" in result.output
    assert "python -m studies reproduce theorem2 --runs 3 --seed 7" in (tmp_path / "reproduction.md").read_text()


def test_reproduce_without_a_name_lists_the_experiments():
    result = run("reproduce")
    assert result.exit_code == 0
    assert "Table 1a: four-criteria simulation" in result.output


def test_accuracy_lists_its_experiments_and_runs_one(tmp_path):
    assert "False alarms and false discoveries" in run("accuracy").output
    result = run("accuracy", "validity", "--runs", "2", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "blend, split" in result.output
    assert "python -m studies accuracy validity --runs 2" in (tmp_path / "accuracy.md").read_text()


def test_accuracy_compares_methods_on_the_tables_of_a_folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[80:] += 3
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "3_own.npz", X=X, y=np.arange(90) >= 80)
    result = run("accuracy", "--data", str(tmp_path / "data"), "--runs", "1", "--out", str(tmp_path))
    assert result.exit_code == 0
    text = (tmp_path / "accuracy.md").read_text()
    assert "These tables served no choice" in text
    assert "| own | " in text
    assert "it is the best label-free method in" in text
    assert "`python -m studies accuracy tables --data FOLDER --runs 1`" in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--runs", "0"], "Invalid value for '--runs'"),
        (["accuracy", "nothing", "--out", "results"], "must be one of"),
        (["benchmark", "--peer-seconds", "x"], "Invalid value for '--peer-seconds'"),
    ],
)
def test_bad_options_are_one_line_with_exit_code_2_and_nothing_is_written(tmp_path, arguments, message):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "studies", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
