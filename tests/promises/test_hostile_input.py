"""Bad input through the functions and through the command line: a clear error, at once, and nothing written."""

import os
import sys
import time

import numpy as np
import pytest

from paretodepth import ParetoDepthDetector, cli
from tests.criteria.bad_columns import BAD_COLUMNS
from tests.promises.bad_input import BAD_INPUT

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CASES = {**BAD_INPUT, **BAD_COLUMNS}
SECONDS = 1.0


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The loops that most refused input comes to."""
    X = np.random.default_rng(0).random((10, 3))
    ParetoDepthDetector().fit(X).explain(X)


def assert_quick(refused):
    """Call, and call again if that took long: the first time a loop may be compiled."""
    for _ in range(2):
        start = time.process_time()
        refused()
        seconds = time.process_time() - start
        if seconds < SECONDS:
            return
    raise AssertionError(f"{seconds} s, twice")


def test_no_case_hides_another():
    assert len(CASES) == len(BAD_INPUT) + len(BAD_COLUMNS) >= 80


@pytest.mark.parametrize("case", CASES)
def test_bad_input_gets_a_clear_error_at_once_and_nothing_is_written(case, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    # Columns are refused before the library is called, which need not be installed.
    monkeypatch.setattr("paretodepth.criteria.fitted_criteria.check_extra", lambda module, extra: None)
    call, error, text = CASES[case]

    def refused():
        with pytest.raises(error, match=text):
            call()

    assert_quick(refused)
    assert not list(tmp_path.iterdir())


GOOD = "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(30))
FILES = {
    "good.csv": GOOD,
    "two.csv": "a,b\n1,2\n3,4\n",
    "header.csv": "a,b\n",
    "gap.csv": "a,b\n1,2\n,4\n5,6\n7,8\n",
    "infinite.csv": "a,b\n1,2\n1e999,4\n5,6\n7,8\n",
    "twice.csv": "a,a\n1,2\n3,4\n5,6\n",
    "nameless.csv": ",b\n1,2\n3,4\n5,6\n",
    "ragged.csv": "a,b\n1,2\n3\n5,6\n",
    "quote.csv": 'a,b\n1,"2\n3,4\n5,6\n',
    "utf16.csv": GOOD.encode("utf-16")[:-1],
    "noise.parquet": bytes(range(256)) * 4,
    "short.parquet": b"PAR1",
    "list.jsonl": '{"a": 1}\n[2]\n',
    "deep.jsonl": "[" * 10**5,
    "noise.npy": b"\x93NUMPY\x01\x00" + bytes(50),
    "noise.model": bytes(range(256)) * 4,
    "short.model": "hello",
    "empty.model": "",
    "deep.toml": "a=" + "[" * 5000,
    "noise.toml": b"\xff\xfe\x00",
    "empty.toml": "",
    "key.toml": '[[criterion]]\nnam = "a"\n',
    "metric.toml": '[[criterion]]\nname = "a"\nmetric = "eval"\n',
    "points.toml": '[[criterion]]\nname = "a"\nmetric = "shape"\nparams = {points = 1000000000000}\n',
    "twice.toml": '[[criterion]]\nname = "a"\n[[criterion]]\nname = "a"\n',
    "period.toml": '[[criterion]]\nname = "a"\ncolumns = "a"\nmetric = "cyclic"\n',
    "script.toml": '[[criterion]]\nname = "<script>"\ncolumns = "zz"\n',
    "date.toml": "[[criterion]]\nname = 2020-01-01\n",
    "digits.toml": f'[[criterion]]\nname = "a"\ncolumns = {"9" * 5000}\n',
}
COMMANDS = {
    "detect two.csv": "two.csv: must hold at least 4 samples to learn from. Got 2 instead",
    "detect header.csv": "header.csv: must hold at least one sample",
    "detect gap.csv --missing fail": "must hold no missing values (NaN, None). Got 1 in 'a' instead",
    "detect infinite.csv": "must hold finite numbers. Got inf in 'a', sample 1",
    "detect twice.csv": "columns must have different names. Got 'a' for column 1 and column 2",
    "detect nameless.csv": "every column must have a name. Got none for column 1",
    "detect ragged.csv": "ragged.csv, line 3: every row must have 2 cells",
    "detect quote.csv": "quote.csv, line 2: every quotation mark at the start of a cell must have a twin",
    "detect utf16.csv": "must be text in UTF-16. Got byte",
    "detect noise.parquet": "noise.parquet: must be of the format 'parquet'",
    "detect short.parquet": "short.parquet: must be a readable file of the format 'parquet'",
    "detect list.jsonl": "list.jsonl, line 2: must be an object in JSON",
    "detect deep.jsonl": "deep.jsonl, entry 1: must be an object in JSON",
    "detect noise.npy": "noise.npy: must hold a whole array of numbers or strings",
    "detect good.csv --criteria deep.toml": "deep.toml: not a TOML file: maximum recursion depth exceeded",
    "detect good.csv --criteria noise.toml": "noise.toml: not a TOML file: 'utf-8' codec",
    "detect good.csv --criteria empty.toml": "the file must hold at least one criterion",
    "detect good.csv --criteria key.toml": "key.toml, line 2, criterion 1: the keys of a criterion must be",
    "detect good.csv --criteria metric.toml": "must be a known metric or a callable. Got 'eval' instead",
    "detect good.csv --criteria points.toml": "must be an integer of at most 100,000. Got 1000000000000 instead",
    "detect good.csv --criteria twice.toml": "must have different names. Got 'a' 2 times instead",
    "detect good.csv --criteria period.toml": "must be given the parameter 'period'. Got none",
    "detect good.csv --criteria script.toml": "criterion '<script>' must hold columns of the data. Got 'zz' instead",
    "detect good.csv --criteria date.toml": "a criterion must have a name, a string",
    "detect good.csv --criteria digits.toml": "digits.toml: not a TOML file: Exceeds the limit",
    "score noise.model good.csv": "must be a whole model file, as written by save. Got another file, or a damaged one",
    "score short.model good.csv": "short.model: must be a whole model file, as written by save. Got another file",
    "score empty.model good.csv": "Got another file, or a damaged one",
    "score cut.model good.csv": "Got another file, or a damaged one",
    "score good.csv nominal.model": "good.csv: must be a whole model file",
    "score nominal.model gap.csv --out scores.csv --missing fail": "must hold no missing values (NaN, None). Got 1 in",
    "score nominal.model good.csv --out /dev/full": "Got this instead: No space left on device",
    "score nominal.model good.csv --out /dev/null/x.csv": "/dev/null/x.csv: cannot write the output: no folder",
    "explain cut.model good.csv --row 0": "Got another file, or a damaged one",
    "explain nominal.model good.csv --row x": "the row must be a number. Got 'x' instead",
    f"explain nominal.model good.csv --row {10**30}": f"(row 1 is the header). Got {10**30} instead",
    "explain nominal.model good.csv": "Missing option '--row'",
    "fit good.csv": "Missing option '--model'",
    "fit good.csv --model good.csv": "good.csv: the output must not take the place of an input",
    "fit good.csv --model new.model --alpha nan": "must be a number between 0 and 1, both excluded. Got nan instead",
    "fit good.csv --model new.model --alpha 1e-9": "which is 0.03226 for these 30. Got 1e-09 instead",
    "fit good.csv --model /dev/full": "Got this instead: No space left on device",
    "detect": "Missing argument 'file'",
    "detect good.csv --bogus": "No such option: --bogus",
    "detect good.csv good.csv": "Got unexpected extra argument(s) (good.csv)",
    "detect good.csv --format exe": "Got 'exe' instead",
    "detect good.csv --columns a,,b": "The columns must be some of the training samples. Got '' instead",
    "detect a\x1b[31m.csv": "a�[31m.csv: there is no such file",
    "detect good.csv --out scores.csv --report no/report.html": "no/report.html: cannot write the output: no folder",
}


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    numbers = {name: np.arange(30.0) * factor % 7 for name, factor in (("a", 1), ("b", 3))}
    ParetoDepthDetector(method="blend").fit(numbers).save(folder / "nominal.model")
    (folder / "cut.model").write_bytes((folder / "nominal.model").read_bytes()[:-5])
    return folder


def test_there_are_enough_commands():
    assert len(COMMANDS) >= 40


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_bad_commands_are_one_line_with_exit_code_2_at_once_and_nothing_is_written(
    command, bad_files, monkeypatch, capsys
):
    monkeypatch.chdir(bad_files)
    monkeypatch.setattr(sys, "argv", ["paretodepth", *command.split(" ")])
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir(bad_files)}

    def refused():
        with pytest.raises(SystemExit) as ending:
            cli.main()
        captured = capsys.readouterr()
        assert ending.value.code == 2
        assert COMMANDS[command] in captured.err
        assert len(captured.err.splitlines()) == 1
        assert captured.out == ""

    assert_quick(refused)
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir(bad_files)} == before
