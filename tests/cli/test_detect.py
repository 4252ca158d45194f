"""The command `detect`: the whole job on files."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from paretodepth import ParetoDepthDetector
from paretodepth.cli import app
from paretodepth.reports.row_limit import random_rows
from paretodepth.scoring.explanation import explain_new
from tests.newcomer import PLANTED, invoices, write_csv, write_files

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
COLUMNS = ["--columns", "amount,hour,weight"]
MAIN = [sys.executable, "-c", "from paretodepth.cli import main; main()"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("newcomer"))


def run(*arguments):
    return CliRunner().invoke(app, ["detect", *map(str, arguments)], catch_exceptions=False)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_planted_anomalies_are_found_with_the_right_criteria(files, tmp_path):
    nominal, new, criteria = files
    out = tmp_path / "scores.csv"
    result = run(new, "--reference", nominal, "--criteria", criteria, "--alpha", "0.01", "--out", out)
    assert result.exit_code == 0
    rows = rows_of(out)
    assert len(rows) == 120
    for row, because in PLANTED.items():
        assert rows[row]["decision"] == "anomaly"
        assert rows[row]["because"] == because
        assert float(rows[row]["p_value"]) <= 0.01
    strangest = sorted(range(120), key=lambda row: -float(rows[row]["score"]))
    assert set(strangest[:3]) == set(PLANTED)
    shown = " ".join(result.output.split())
    n_called = sum(row["decision"] == "anomaly" for row in rows)
    assert f"{n_called} of 120 records flagged at a false-alarm rate of 1 %" in shown
    assert "no reference record is this far from its" in shown
    assert str(out) in result.output.replace("\n", "")


def test_scores_and_decisions_are_the_detectors(files, tmp_path):
    nominal, new, _ = files
    table, new_table = (np.array([row[1:] for row in invoices(*a)]) for a in ((0, 200), (1, 120, PLANTED)))
    detector = ParetoDepthDetector(method="depth").fit(table)
    run(new, "--reference", nominal, *COLUMNS, "--method", "depth", "--out", tmp_path / "o.csv")
    rows = rows_of(tmp_path / "o.csv")
    assert [float(row["score"]) for row in rows] == detector.mean_depth(new_table).tolist()
    assert [float(row["p_value"]) for row in rows] == detector.p_values(new_table).tolist()
    assert [row["decision"] == "anomaly" for row in rows] == (detector.predict(new_table) < 0).tolist()


def test_false_discovery_rate_calls_what_select_calls(files, tmp_path):
    nominal, new, _ = files
    table, new_table = (np.array([row[1:] for row in invoices(*a)]) for a in ((0, 200), (1, 120, PLANTED)))
    expected = ParetoDepthDetector(method="blend").fit(table).select(new_table, fdr=0.3)
    assert 0 < expected.sum() < 120
    run(new, "--reference", nominal, *COLUMNS, "--fdr", "0.3", "--out", tmp_path / "o.csv")
    assert [row["decision"] == "anomaly" for row in rows_of(tmp_path / "o.csv")] == expected.tolist()


def test_without_test_file_each_sample_is_compared_with_the_others(files, tmp_path):
    nominal, _, _ = files
    detector = ParetoDepthDetector(method="blend").fit(np.array([row[1:] for row in invoices(0, 200)]))
    result = run(nominal, *COLUMNS, "--out", tmp_path / "o.csv", "--contamination", "0.1", "--top", 4)
    rows = rows_of(tmp_path / "o.csv")
    scores = -detector.training_scores_
    assert [float(row["score"]) for row in rows] == scores.tolist()
    assert [row["decision"] == "anomaly" for row in rows] == (scores > np.sort(scores)[-21]).tolist()
    shown = " ".join(result.output.split())
    assert "The 20 most unusual of 200 records (10 %) are listed for review; 4 of 20 shown" in shown
    assert "nominal" not in shown
    assert "by chance" not in shown
    run(nominal, *COLUMNS, "--out", tmp_path / "o.csv", "--alpha", "0.05")
    decisions = [row["decision"] == "anomaly" for row in rows_of(tmp_path / "o.csv")]
    assert decisions == (detector.training_labels_ < 0).tolist()


def test_rows_carry_the_numbers_that_a_spreadsheet_shows(files):
    nominal, new, criteria = files
    found = json.loads(run(new, "--reference", nominal, "--criteria", criteria, "--json").stdout)["most_unusual"]
    new_lines = Path(new).read_text(encoding="utf-8").splitlines()
    for sample in found:
        values = {value["column"]: value["value"] for value in sample["values"]}
        # A list counts lines from 0.
        assert float(new_lines[sample["row"] - 1].split(",")[1]) == values["amount"]
    shown = run(new, "--reference", nominal, "--criteria", criteria, "--top", "1").output
    assert re.search(rf"^ +{found[0]['row']} ", shown, re.MULTILINE)


def labelled(path, n_samples=150, values=("ok", "bad")):
    """Write samples of which three are far off and labelled so."""
    rng = np.random.default_rng(0)
    rows = [[*row, values[0]] for row in rng.random((n_samples, 2)).tolist()]
    for number in (5, 50, 77):
        rows[number] = [9 + number / 10, 0.5, values[1]]
    return write_csv(path, rows, ("a", "b", "y"))


def test_labels_are_no_criterion_and_the_scores_are_judged_by_them(tmp_path):
    one = labelled(tmp_path / "one.csv", values=("0", "1"))
    result = run(one, "--label", "y")
    shown = " ".join(result.output.split())
    assert "Criteria chosen automatically: a; b." in shown
    assert "Label y: 1 is the anomaly (1 beside 0), 3 of 150 samples." in shown
    assert "Area under the ROC curve 1.000, average precision 1.000, precision at 3 1.000." in shown
    told = json.loads(run(one, "--label", "y", "--json", "--top", 3).stdout)
    assert told["mode"] == "one file"
    assert told["criteria"] == ["a", "b"]
    assert {sample["row"] for sample in told["most_unusual"]} == {7, 52, 79}
    assert (told["label"]["area"], told["label"]["precision_at_n"], told["label"]["reason"]) == (1, 1, "1 beside 0")
    two = run(labelled(tmp_path / "two.csv"), "--reference", one, "--label", "y")
    assert "Label y: bad is the anomaly (the rarer value), 3 of 150 samples." in " ".join(two.output.split())


def test_a_criterion_that_reads_the_label_is_told(tmp_path):
    result = run(labelled(tmp_path / "one.csv", values=("0", "1")), "--label", "y", "--columns", "a,y")
    assert "Warning: a criterion reads the label y." in " ".join(result.output.split())


def test_some_rows_are_fitted_and_all_are_scored_if_asked_for(tmp_path):
    one = labelled(tmp_path / "one.csv")
    result = run(one, "--label", "y", "--train-rows", 60, "--out", tmp_path / "o.csv", "--contamination", "0.02")
    shown = " ".join(result.output.split())
    assert "60 of 150 rows are fitted, a fixed random sample; every row is scored." in shown
    assert "The 3 most unusual of 150 records (2 %) are listed for review; each compared with 60 random ones" in shown
    rows = rows_of(tmp_path / "o.csv")
    assert [number for number, row in enumerate(rows) if row["decision"] == "anomaly"] == [5, 50, 77]
    again = run(one, "--label", "y", "--train-rows", 60, "--json", "--quiet")
    assert json.loads(again.stdout)["n_training"] == 60


def test_a_large_table_is_fitted_on_a_random_subset_unless_all_rows_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("paretodepth.reports.row_limit.MAX_FIT_WORK", 10**5)
    one = labelled(tmp_path / "one.csv", 900)
    shown = " ".join(run(one).output.split())
    assert "500 of 900 rows are fitted, a fixed random sample; every row is scored." in shown
    assert "each compared with 500 random ones" in shown
    assert "random" not in run(one, "--exact").output
    assert run(one, "--quiet").output == ""


CLOCK = """
import sys, time
own, start = time.perf_counter, time.perf_counter()
time.perf_counter = lambda: start + {pace} * (own() - start)
from paretodepth.cli import main
sys.argv[0] = "paretodepth"
main()
"""


def outcome(table, out, pace=1):
    """Return what `detect` writes and prints in a process of its own, whose clock goes at some pace."""
    command = [sys.executable, "-c", CLOCK.format(pace=pace), "detect", table, "--out", out, "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, check=True)
    return out.read_bytes(), done.stdout


@pytest.mark.slow
def test_results_depend_neither_on_the_clock_nor_on_how_busy_the_machine_is(tmp_path):
    rng = np.random.default_rng(0)
    table = write_csv(tmp_path / "many.csv", rng.normal(size=(2000, 3)).round(4), ("a", "b", "c"))
    idle = outcome(table, tmp_path / "idle.csv")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        assert outcome(table, tmp_path / "busy.csv") == idle
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert outcome(table, tmp_path / "slow.csv", pace=1000) == idle
    assert json.loads(idle[1])["n_training"] == 2000


def test_rows_of_a_subset_are_named_as_in_the_file(tmp_path, refused):
    rng = np.random.default_rng(0)
    rows = rng.random((900, 2)).tolist()
    fitted = random_rows(900, 50)
    rows[fitted[7]][0] = ""
    one = write_csv(tmp_path / "one.csv", rows, ("a", "b"))
    two = write_csv(tmp_path / "two.csv", rng.random((9, 2)), ("a", "b"))
    shown = " ".join(run(two, "--reference", one, "--train-rows", 50).output.split())
    assert f"Not fitted because of missing values: 1 sample, row {fitted[7] + 2}." in shown
    rows[fitted[7]][0] = "inf"
    write_csv(tmp_path / "one.csv", rows, ("a", "b"))
    for command in (["detect", two, "--reference", one], ["detect", one], ["fit", one, "--model", tmp_path / "m"]):
        refused([*command, "--train-rows", 50, "--quiet"], f"Got inf in 'a', sample {fitted[7]};", tmp_path)


def test_json_holds_the_figures_and_every_call(files):
    nominal, new, criteria = files
    result = json.loads(run(new, "--reference", nominal, "--criteria", criteria, "--alpha", "0.01", "--json").stdout)
    assert result["n_training"] == 200
    assert result["method"] == "blend"
    assert result["criteria"] == ["amount", "hour", "weight"]
    assert result["n_anomalies"] == len(result["anomalies"])
    assert {sample["row"] - 2: sample["because"] for sample in result["anomalies"]}.items() >= PLANTED.items()
    assert result["anomalies"] == sorted(result["anomalies"], key=lambda sample: -sample["score"])


def test_each_sample_is_explained_once_by_a_command_with_all_outputs(files, tmp_path, monkeypatch):
    explained = []

    def counted(model, encodings, **options):
        explained.extend(map(tuple, np.column_stack(encodings)))
        return explain_new(model, encodings, **options)

    monkeypatch.setattr("paretodepth.reports.findings.explain_new", counted)
    nominal, new, criteria = files
    outputs = ["--out", tmp_path / "o.csv", "--report", tmp_path / "r.html"]
    for more in (["--json"], []):
        explained.clear()
        assert run(new, "--reference", nominal, "--criteria", criteria, *outputs, *more).exit_code == 0
        assert len(explained) == len(set(explained)) == 120


def test_quiet_prints_nothing_and_exit_code_3_tells_of_anomalies(files):
    nominal, new, _ = files
    result = run(new, "--reference", nominal, "--quiet", "--fail-on-anomaly")
    assert result.exit_code == 3
    assert result.output == ""
    assert run(nominal, "--reference", nominal, "--quiet", "--fail-on-anomaly", "--fdr", "0.01").exit_code == 0


def test_a_bad_value_and_missing_ones_are_told_over_the_whole_file(files, tmp_path, refused):
    rows = [list(row) for row in invoices(2, 5000)]
    rows[4321][2] = "inf"
    refused(
        ["detect", write_csv(tmp_path / "n.csv", rows), "--reference", files[0]],
        "Got inf in 'hour', sample 4321;",
        tmp_path,
    )
    rows[4321][2] = rows[17][2] = ""
    new = write_csv(tmp_path / "n.csv", rows)
    refused(["detect", new, "--reference", files[0], "--missing", "fail"], "Got 2 in 'hour' instead", tmp_path)


@pytest.mark.slow
def test_pipes_give_the_same_scores_as_files(files, tmp_path):
    nominal, new, _ = files
    run(new, "--reference", nominal, "--out", tmp_path / "o.csv")
    with open(new, "rb") as file:
        done = subprocess.run(
            [*MAIN, "detect", "-", "--reference", nominal, "--out", "-"], stdin=file, capture_output=True, check=True
        )
    assert done.stdout == (tmp_path / "o.csv").read_bytes()
    assert b"records flagged" in done.stderr


def test_new_samples_may_have_other_columns_which_come_out_again(files, tmp_path):
    nominal, _, _ = files
    rows = [(*row, "x" * row_number, 1) for row_number, row in enumerate(invoices(2, 5))]
    new = write_csv(tmp_path / "n.csv", rows, ("invoice", "amount", "hour", "weight", "note", "score"))
    run(new, "--reference", nominal, "--out", tmp_path / "o.csv")
    result = rows_of(tmp_path / "o.csv")
    assert list(result[0])[-11:-6] == ["score", "score_", "p_value", "decision", "because"]
    assert [row["note"] for row in result] == ["x" * row_number for row_number in range(5)]
    run(new, "--reference", nominal, "--out", tmp_path / "o.csv", "--id", "invoice")
    names = list(rows_of(tmp_path / "o.csv")[0])
    assert names[:5] == ["invoice", "score", "p_value", "decision", "because"]
    assert names[5:] == ["value", "usual_low", "usual_high", "direction", "percentile", "why"]


def test_lists_of_points_are_trajectories(tmp_path):
    rng = np.random.default_rng(0)

    def walk(bend):
        t = np.linspace(0, 1, 12)
        return np.column_stack([t, bend * t**2 + rng.normal(0, 0.01, 12)]).tolist()

    for name, bends in (("nominal", rng.normal(1, 0.1, 60)), ("new", [1.0, -2.0])):
        lines = [json.dumps({"who": f"p{i}", "track": walk(bend)}) for i, bend in enumerate(bends)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "c.toml").write_text('[[criterion]]\nname = "way"\ncolumns = "track"\nmetric = "hausdorff"\n')
    files = [tmp_path / "new.jsonl", "--reference", tmp_path / "nominal.jsonl", "--criteria", tmp_path / "c.toml"]
    assert run(*files, "--out", tmp_path / "o.csv").exit_code == 0
    assert [row["decision"] for row in rows_of(tmp_path / "o.csv")] == ["nominal", "anomaly"]


def test_markup_and_escape_codes_in_cells_are_shown_as_text(tmp_path):
    nasty = "[bold red]x[/] \x1b[31m <script>alert(1)</script> =1+1 😀"
    header = (nasty, "b")
    rng = np.random.default_rng(0)
    nominal = write_csv(tmp_path / "n.csv", rng.random((50, 2)), header)
    new = write_csv(tmp_path / "m.csv", [(9, 0.5)], header)
    result = run(new, "--reference", nominal)
    assert "\x1b[31m" not in result.output
    assert "[bold red]x[/] �[31m" in result.output
    assert json.loads(run(new, "--reference", nominal, "--json").stdout)["criteria"] == [nasty, "b"]


BAD = {
    "no such file": (["{new}", "--reference", "nowhere.csv"], "nowhere.csv: there is no such file."),
    "close name": (
        ["{new}", "--reference", "{folder}/nominl.csv"],
        "there is no such file (did you mean 'nominal.csv'",
    ),
    "empty file": (["{folder}/empty.csv"], "Got an empty file instead"),
    "no header": (["{folder}/headless.csv"], "must be a header with the names of the columns"),
    "mixed delimiters": (["{folder}/semicolon.csv", "--sep", ","], "cells must be separated by ','"),
    "not UTF-8": (["{folder}/latin.csv"], "must be text in UTF-8"),
    "other columns": (
        ["{folder}/other.csv", "--reference", "{nominal}"],
        "must be the expected ones, 'amount', 'hour'",
    ),
    "text for numbers": (["{folder}/words.csv", "--reference", "{nominal}"], "the column 'hour' must hold numbers"),
    "malformed TOML": (["{nominal}", "--criteria", "{folder}/bad.toml"], "bad.toml: not a TOML file"),
    "no criteria file": (["{nominal}", "--criteria", "{folder}/no.toml"], "no.toml: there is no such file"),
    "no folder": (["{nominal}", "--out", "{folder}/no/out.csv"], "cannot write the output: no folder"),
    "a folder": (["{nominal}", "--report", "{folder}"], "it is a folder"),
    "unknown ending": (["{nominal}", "--out", "{folder}/out.xls"], "Got '.xls' instead"),
    "input as output": (["{nominal}", "--out", "{nominal}"], "must not take the place of an input"),
    "one place twice": (["{nominal}", "--out", "-", "--json"], "-: each output must have a place of its own"),
    "stdin twice": (["-", "--reference", "-"], "Only one file can be standard input"),
    "both rates": (["{nominal}", "--alpha", "0.1", "--fdr", "0.1"], "Give either alpha or fdr"),
    "rate and share": (["{nominal}", "--fdr", "0.1", "--contamination", "0.1"], "Give either fdr or contamination"),
    "share of new ones": (
        ["{new}", "--reference", "{nominal}", "--contamination", "0.1"],
        "is the share of a single",
    ),
    "bad share": (["{nominal}", "--contamination", "5"], "'contamination' parameter of detect must be a number"),
    "unknown label": (["{nominal}", "--label", "ammount"], "Got 'ammount' instead (did you mean 'amount'?)"),
    "label of many": (["{nominal}", "--label", "invoice"], "The label 'invoice' must have two values"),
    "rows and exact": (
        ["{nominal}", "--train-rows", "50", "--exact"],
        "Give either train_rows (--train-rows) or",
    ),
    "bad rate": (["{nominal}", "--fdr", "2"], "'fdr' parameter of detect must be a number between 0 and 1"),
    "bad method": (["{nominal}", "--method", "best"], "Invalid value for '--method'"),
    "both sources": (["{nominal}", "--columns", "hour", "--criteria", "{criteria}"], "Give either criteria or columns"),
    "unknown column": (["{nominal}", "--columns", "hours"], "Got 'hours' instead (did you mean 'hour'?)"),
    "column of text": (["{nominal}", "--columns", "invoice"], "Got text in 'invoice' instead"),
    "column twice": (["{nominal}", "--columns", "hour,hour"], "Got 'hour' 2 times"),
    "nothing to compare": (["{folder}/text.csv"], "Without criteria there must be a column to compare. Got 'a' (near"),
    "unknown id": (["{nominal}", "--id", "invoise"], "Got 'invoise' instead (did you mean 'invoice'?)"),
}


@pytest.fixture(scope="module")
def bad_files(files):
    folder = os.path.dirname(files[0])
    contents = {
        "empty.csv": b"",
        "headless.csv": b"1,2\n3,4\n",
        "semicolon.csv": b"a;b\n1;2\n",
        "latin.csv": "größe\n1\n".encode("latin1"),
        "other.csv": b"amount,hours\n1,2\n",
        "words.csv": b"amount,hour,weight\n1,noon,2\n",
        "bad.toml": b"[[criterion]\n",
        "text.csv": b"a,b\nx,y\nz,w\nv,u\nt,s\n",
    }
    for name, content in contents.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return {"folder": folder, "nominal": files[0], "new": files[1], "criteria": files[2]}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_exit_code_2_and_leaves_nothing(name, bad_files, refused):
    arguments, text = BAD[name]
    refused(["detect", *(part.format(**bad_files) for part in arguments)], text, bad_files["folder"])


@pytest.mark.slow
def test_help_imports_neither_numpy_nor_numba():
    code = (
        "import sys; sys.argv = ['paretodepth', 'detect', '--help']\n"
        "from paretodepth.cli import main\n"
        "try:\n    main()\nfinally:\n    print({'numpy', 'numba', 'sklearn', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
    assert "Example: paretodepth detect new.csv --reference normal.csv" in " ".join(done.stdout.split())


def test_a_report_on_stdout_is_nothing_but_the_page(files):
    nominal, new, criteria = files
    done = subprocess.run(
        [*MAIN, "detect", new, "--reference", nominal, "--criteria", criteria, "--report", "-"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.rstrip().endswith(b"</html>")
    assert b"records flagged" in done.stderr
