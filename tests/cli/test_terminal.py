import subprocess
import sys

import pytest
from typer.testing import CliRunner

from paretodepth import __version__
from paretodepth.cli import app


def run(*arguments):
    return CliRunner().invoke(app, arguments)


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


def test_version_is_the_packages():
    assert run("--version").output == f"paretodepth {__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["demo", "--out", "/dev/null/demo"], "Not a directory"),
        (["demo", "--seed", "x"], "Invalid value for '--seed'"),
        (["reproduce", "figure3"], "must be one of 'figure1', 'figure2'"),
        (["reproduc"], "No such command 'reproduc'"),
    ],
)
def test_bad_arguments_are_told_on_stderr_with_exit_code_2(arguments, text):
    command = [sys.executable, "-c", "from paretodepth.cli import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_without_its_extra_the_command_line_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import paretodepth.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'pip install "paretodepth[cli,report]"' in done.stderr
