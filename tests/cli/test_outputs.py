"""Places to write to: streams of every name, spreadsheets, odd names of files; copies of standard input."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow
COMMAND = f"{sys.executable} -m paretodepth"


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        rows = "".join(f"=r{i},{x:.3f},{y:.3f}\n" for i, (x, y) in enumerate(rng.normal(size=(40, 2))))
        (tmp_path / f"{name}.csv").write_text(f"-id,x,y\n{rows}")
    return tmp_path


def shell(folder, line):
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def test_scores_go_to_streams_by_any_name(folder):
    detect = f"{COMMAND} detect test.csv --reference train.csv --columns x,y"
    shell(folder, f"{detect} --out scores.csv -q")
    expected = (folder / "scores.csv").read_text()
    assert shell(folder, f"{detect} --out /dev/stdout | cat").stdout == expected
    shell(folder, f"{detect} --out /dev/fd/1 > redirected.csv")
    assert (folder / "redirected.csv").read_text() == expected
    shell(folder, f"{detect} --out >(cat > substituted.csv) -q; sleep 0.5")
    assert (folder / "substituted.csv").read_text() == expected
    shell(folder, f"mkfifo pipe; cat pipe > piped.csv & {detect} --out pipe -q; wait")
    assert (folder / "piped.csv").read_text() == expected
    assert shell(folder, f"{detect} --report /dev/stdout").stdout.rstrip().endswith("</html>")
    shell(folder, f"{COMMAND} fit train.csv --columns x,y --model /dev/stdout > m.model")
    assert shell(folder, f"{COMMAND} score m.model <(cat test.csv) --out /dev/stdout -q").stdout.count("\n") == 41


def test_formulas_are_marked_where_that_is_asked_for(folder):
    detect = f"{COMMAND} detect test.csv --reference train.csv --columns x,y --id=-id -q"
    shell(folder, f"{detect} --out plain.csv")
    assert (folder / "plain.csv").read_text().startswith("-id,score")
    assert "\n=r7," in (folder / "plain.csv").read_text()
    shell(folder, f"{detect} --out marked.csv --escape-formulas")
    marked = (folder / "marked.csv").read_text()
    assert marked.startswith("'-id,score")
    assert "\n'=r7," in marked
    assert "\n=r" not in marked
    shell(folder, f"{COMMAND} fit train.csv --columns x,y --model m.model -q")
    scored = shell(folder, f"{COMMAND} score m.model test.csv --id=-id --escape-formulas -q").stdout
    assert "\n'=r7," in scored


def test_names_that_are_no_text_and_letters_that_steer_terminals_do_no_harm(folder):
    odd = os.path.join(os.fsencode(folder), b"tr\xffain.csv")
    lines = (folder / "train.csv").read_text().replace("-id,x", "-id,\u202ex\u009b")
    with open(odd, "w") as file:
        file.write(lines)
    command = [
        sys.executable,
        "-m",
        "paretodepth",
        "detect",
        odd,
        "--json",
        "--report",
        "r.html",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["criteria"]
    for letter in ("\u202e", "\u009b"):
        assert letter.encode() not in done.stdout
    assert b"\\u202ex\\u009b" in done.stdout
    assert (folder / "r.html").read_bytes().rstrip().endswith(b"</html>")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files without a name are opened as Linux does")
def test_a_copy_of_standard_input_has_no_name_while_it_is_read(folder):
    code = """
import os, sys, tempfile
from paretodepth.tables import read_chunks
chunks = read_chunks("-", n_rows=5)
next(chunks)
print(os.listdir(tempfile.gettempdir()), sum(map(len, chunks)))
"""
    (folder / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=(folder / "train.csv").read_bytes(),
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"[] 35\n"


def test_a_run_without_memory_is_one_line(folder):
    rows = "".join(f"{x},{y},{z}\n" for x, y, z in np.random.default_rng(0).normal(size=(3000, 3)))
    (folder / "many.csv").write_text(f"x,y,z\n{rows}")
    line = f"ulimit -v 1500000; {COMMAND} detect many.csv --columns x,y,z --exact --method depth -q"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == (1 if done.returncode else 0), done.stderr
