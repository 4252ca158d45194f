"""What every command shares."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console
from typer.testing import CliRunner

from paretodepth import __version__
from paretodepth._blocks import phase, report_progress, with_progress
from paretodepth.cli import app
from paretodepth.cli.terminal import print_lines, printable, progress


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_version_is_the_packages():
    assert run("--version").output == f"paretodepth {__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["demo", "--out", "/dev/null/demo"], "Not a directory"),
        (["demo", "--seed", "x"], "Invalid value for '--seed'"),
        (["reproduc"], "No such command 'reproduc'"),
    ],
)
def test_bad_arguments_are_told_on_stderr_with_exit_code_2(arguments, text):
    command = [sys.executable, "-c", "from paretodepth.cli import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def end_of(statement, **environment):
    """Return how the command line ends if a command does this."""
    code = f"""
import sys
from paretodepth.cli import main
from paretodepth.cli.terminal import app
@app.command()
def odd():
    {statement}
sys.argv = ["paretodepth", "odd"]
main()
"""
    environment = os.environ | environment
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment, timeout=60
    )


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("raise MemoryError", "Not enough memory; take fewer samples or criteria, or free some."),
        ("raise MemoryError('9 TiB')", "Not enough memory: 9 TiB; take fewer samples or criteria, or free some."),
        ("raise KeyError('x')", "Unexpected KeyError: 'x' (set PARETODEPTH_TRACEBACK=1 to see where it comes from)"),
        ("odd()", "Unexpected RecursionError: maximum recursion depth exceeded"),
        ("1 / 0", "Unexpected ZeroDivisionError: division by zero"),
    ],
)
def test_whatever_goes_wrong_is_one_line(statement, line):
    done = end_of(statement)
    assert done.returncode == 2
    assert done.stderr.startswith(f"paretodepth: {line}")
    assert len(done.stderr.splitlines()) == 1


def test_a_traceback_is_shown_to_who_asks_for_it():
    done = end_of("raise KeyError('x')", PARETODEPTH_TRACEBACK="1")
    assert "Traceback" in done.stderr
    assert done.returncode == 1


def test_a_terminated_run_leaves_nothing_behind(tmp_path):
    statement = f"""
    import os, signal
    from paretodepth.tables.atomic import replaced
    with replaced({str(tmp_path / "a")!r}) as file:
        file.write(b"x")
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
"""
    assert end_of(statement.strip()).returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def shell(line, tmp_path, **environment):
    """Return how a line of the shell ends, in which P is the command line and samples.csv a file."""
    rows = "".join(f"n°{number},{number * 7 % 13},{number * 5 % 11}\n" for number in range(40))
    (tmp_path / "samples.csv").write_text(f"name,x,y\n{rows}")
    script = f'P() {{ {sys.executable} -m paretodepth "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        env=os.environ | environment,
        timeout=300,
    )


NO_OUTPUT = b"paretodepth: Standard output is closed; redirect it: > /dev/null"
NO_INPUT = b"paretodepth: Standard input is closed; name a file, or redirect it: < FILE"
NO_MEMORY = b"paretodepth: The limit of memory (ulimit -v) must be at least 1,048,576 kB. Got "
REFUSED = {
    "P detect samples.csv >&-": NO_OUTPUT,
    "P --help >&-": NO_OUTPUT,
    "P detect - <&-": NO_INPUT,
    "P watch <&-": NO_INPUT,
    "P detect nowhere.csv 2>&-": b"",
    "ulimit -v 300000; P detect samples.csv": NO_MEMORY,
    "ulimit -v 600000; P detect samples.csv": NO_MEMORY,
    "ulimit -v 1000000; P watch": NO_MEMORY,
}


@pytest.mark.parametrize("line", REFUSED)
def test_closed_streams_and_too_little_memory_are_one_line(tmp_path, line):
    done = shell(line, tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(REFUSED[line])
    assert len(done.stderr.splitlines()) == (1 if REFUSED[line] else 0)


def test_a_limit_of_memory_that_suffices_changes_nothing(tmp_path):
    lines = ["P detect samples.csv --json", "ulimit -v 2000000; P detect samples.csv --json"]
    free, limited = (shell(line, tmp_path) for line in lines)
    assert (limited.returncode, limited.stdout) == (0, free.stdout)


def test_output_that_cannot_show_all_characters_escapes_them(tmp_path):
    watch = "P watch --id name --window 20 --alpha 0.1 -q < samples.csv"
    for line in ("P detect samples.csv --id name --top 40", watch):
        done = shell(line, tmp_path, PYTHONIOENCODING="ascii")
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
        assert rb"n\u00b03" in done.stdout
    records = [json.loads(record) for record in done.stdout.decode("ascii").splitlines()]
    assert [record["id"] for record in records] == [f"n°{number}" for number in range(40)]


@pytest.mark.slow
def test_without_its_extra_the_command_line_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import paretodepth.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'pip install "paretodepth[cli,report]"' in done.stderr


def test_a_terminal_shows_the_phases_and_how_much_is_done():
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress("reading", screen):
        with phase("[b] of 3"):
            list(with_progress("abc", 3))
        with phase("of unknown length"):
            report_progress("of unknown length", 7, 0)
    shown = screen.file.getvalue()
    # The last line is that of the last phase, without the total of the one before.
    assert "of unknown length" in shown
    assert "7/?" in shown
    assert "7/3" not in shown


def test_elsewhere_a_phase_is_a_line_once_the_run_has_taken_some_time():
    screen = Console(file=io.StringIO())
    with progress("reading", screen, after=0), phase("[b] scores"):
        assert list(with_progress("abc", 3)) == ["a", "b", "c"]
    assert screen.file.getvalue().splitlines() == ["reading …", "[b] scores …"]


def test_what_is_being_done_when_the_time_is_up_is_told_though_it_says_nothing_itself():
    screen = Console(file=io.StringIO())
    with progress("reading", screen, after=0.01):
        for _ in range(500):
            if screen.file.getvalue():
                break
            time.sleep(0.01)
    assert screen.file.getvalue() == "reading …\n"


@pytest.mark.parametrize("options", [{"quiet": True, "after": 0}, {}])
def test_what_is_quick_or_asked_to_be_quiet_tells_no_phase(options):
    screen = Console(file=io.StringIO())
    with progress("reading", screen, **options), phase("scores"):
        assert list(with_progress("abc", 3)) == ["a", "b", "c"]
    assert screen.file.getvalue() == ""


def test_what_would_steer_a_terminal_is_not_printed_and_long_text_is_cut():
    assert printable("a\x1b[31m\nb") == "a�[31m�b"
    assert printable("abcdef", 4) == "abc…"
    assert printable("abcd", 4) == "abcd"


def test_lines_are_printed_as_text():
    screen = Console(file=io.StringIO(), width=80)
    print_lines(screen, ["[b]a[/b] left out", "scale [x]"], "dim")
    assert screen.file.getvalue().splitlines() == ["[b]a[/b] left out", "scale [x]"]
