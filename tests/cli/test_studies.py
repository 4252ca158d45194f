"""The commands that need no data of one's own."""

import re

import pytest
from typer.testing import CliRunner

from paretodepth.cli import app


def run(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.mark.slow
def test_demo_ranks_the_odd_ones_and_writes_a_picture(tmp_path):
    result = run("demo", "--out", str(tmp_path / "new"))
    assert result.exit_code == 0
    assert "odd in speed and shape" in result.output
    aucs = {name: float(auc) for name, auc in re.findall(r"^  (\w[\w ]*\w) +(0\.\d+)$", result.output, re.MULTILINE)}
    assert aucs["speed and shape"] > 0.95
    assert aucs["speed and shape"] > max(aucs["speed alone"], aucs["shape alone"])
    assert (tmp_path / "new" / "pedestrians.png").read_bytes().startswith(b"\x89PNG")


def test_reproduce_prints_the_papers_figure_beside_ours(tmp_path):
    result = run("reproduce", "theorem2", "--runs", "3", "--seed", "7", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "Mean of 3 runs" in result.output
    assert "paretodepth reproduce theorem2 --runs 3 --seed 7" in (tmp_path / "reproduction.md").read_text()


def test_reproduce_without_a_name_lists_the_experiments():
    result = run("reproduce")
    assert result.exit_code == 0
    assert "Table 1a: four-criteria simulation" in result.output


def test_accuracy_lists_its_experiments_and_runs_one(tmp_path):
    assert "False alarms and false discoveries" in run("accuracy").output
    result = run("accuracy", "validity", "--runs", "2", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "union, split" in result.output
    assert "paretodepth accuracy validity --runs 2" in (tmp_path / "accuracy.md").read_text()
