"""Files that are there as a whole or not at all: failures, kills, places that cannot be written."""

import os
import signal
import stat
import subprocess
import time

import pytest

from paretodepth.tables import read_chunks, write_table
from tests.tables.samples import FLAT, TEXT, TYPED, command, text_file


@pytest.mark.parametrize("ending", [*TYPED, *TEXT])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, ending, failure):
    path = text_file(tmp_path, "old", f"a.{ending}")

    def chunks():
        yield FLAT
        raise failure

    with pytest.raises(failure):
        write_table(chunks(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_can_be_replaced_by_its_own_rows(tmp_path):
    path = text_file(tmp_path, "a\nx\ny\n")
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    write_table(read_chunks(link, n_rows=1), link)
    assert path.read_text() == "a\nx\ny\n"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "a.csv"
    modes = []

    def chunks():
        yield FLAT
        (part,) = tmp_path.glob(".paretodepth-*")
        modes.append(stat.S_IMODE(part.stat().st_mode))

    for mode in (None, 0o600, 0o664):
        if mode is not None:
            path.chmod(mode)
        write_table(chunks(), path)
        modes.append(stat.S_IMODE(path.stat().st_mode))
    (tmp_path / "usual").touch()
    new = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert modes == [0o600, new, 0o600, 0o600, 0o600, 0o664]


def test_a_pipe_of_the_shell_is_written_directly():
    code = """
import pyarrow
write_table(pyarrow.table({"a": [1, 2]}), "/dev/stdout", format="csv")
"""
    printed = subprocess.run(command(code), check=True, capture_output=True, text=True).stdout
    assert printed == "a\n1\n2\n"


@pytest.mark.slow
@pytest.mark.parametrize(("kill", "remains"), [(signal.SIGKILL, 2), (signal.SIGINT, 1)])
def test_a_killed_writer_leaves_the_old_file_whole(tmp_path, kill, remains):
    path = tmp_path / "a.csv"
    write_table(FLAT, path)
    old = path.read_bytes()
    # A background job of a shell inherits that SIGINT is ignored.
    code = """
import pyarrow, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
def chunks():
    for number in range(10**9):
        yield pyarrow.table({"a": list(range(10_000))})
        if number == 20:
            print("started", flush=True)
write_table(chunks(), sys.argv[1])
"""
    with subprocess.Popen(command(code, path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.05)
        process.send_signal(kill)
        assert process.wait(60) != 0
    assert path.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == remains


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(
        OSError, match=r"a\.csv: the output must be a file in a folder .* Got this instead: No such file"
    ):
        write_table(FLAT, tmp_path / "no" / "a.csv")
    with pytest.raises(OSError, match="Got this instead: Not a directory"):
        write_table(FLAT, text_file(tmp_path, "x", "b.csv") / "a.csv")
    (tmp_path / "c.csv").mkdir()
    with pytest.raises(OSError, match="Got this instead: Is a directory"):
        write_table(FLAT, tmp_path / "c.csv", format="csv")


def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    user = os.geteuid()
    # Permissions do not bind root.
    os.seteuid(user or 65534)
    try:
        with pytest.raises(OSError, match="Got this instead: Permission denied; choose another place"):
            write_table(FLAT, tmp_path / "a.csv")
    finally:
        os.seteuid(user)
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_an_error():
    with pytest.raises(OSError, match=r"/dev/full: the output must be .* No space left"):
        write_table(FLAT, "/dev/full", format="csv")
