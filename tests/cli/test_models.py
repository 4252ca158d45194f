"""The commands `fit`, `score` and `explain`: the same as `detect`, through a model file."""

import csv
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import paretodepth.reports.score as score_module
from paretodepth import ParetoDepthDetector
from paretodepth.cli import app
from paretodepth.reports.results import VALUE_COLUMNS
from paretodepth.reports.score import score_chunks
from paretodepth.tables import read_chunks, write_table
from tests.newcomer import PLANTED, invoices, write_csv, write_files
from tests.promises.fuzz_models import packed, unpacked

MAIN = [sys.executable, "-c", "from paretodepth.cli import main; main()"]


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("newcomer")
    nominal, new, criteria = write_files(folder)
    model = str(folder / "nominal.model")
    result = run("fit", nominal, "--criteria", criteria, "--model", model, "--alpha", "0.01")
    assert result.exit_code == 0
    assert "200 normal records" in result.output
    return {"nominal": nominal, "new": new, "criteria": criteria, "model": model, "folder": str(folder)}


def test_fit_and_score_give_the_scores_of_detect(files, tmp_path):
    command = ["detect", files["new"], "--reference", files["nominal"], "--criteria", files["criteria"]]
    run(*command, "--alpha", "0.01", "--out", tmp_path / "a.csv")
    result = run("score", files["model"], files["new"], "--out", tmp_path / "b.csv", "--fail-on-anomaly")
    assert result.exit_code == 3
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.slow
def test_a_pipe_is_scored_as_a_file(files, tmp_path):
    run("score", files["model"], files["new"], "--out", tmp_path / "o.csv", "--quiet")
    with open(files["new"], "rb") as file:
        done = subprocess.run([*MAIN, "score", files["model"], "-"], stdin=file, capture_output=True, check=True)
    assert done.stdout == (tmp_path / "o.csv").read_bytes()
    assert b"of 120 records flagged" in done.stderr


def test_help_and_documents_say_that_a_model_holds_the_training_samples(files):
    amounts = pd.read_csv(files["nominal"])["amount"].to_numpy()
    np.testing.assert_array_equal(ParetoDepthDetector.load(files["model"]).model_.training[0][:, 0], amounts)
    root = Path(__file__).parents[2]
    texts = [(root / name).read_text() for name in ("SECURITY.md", "docs/how-to/save-and-load.md")]
    for text in (run("score", "--help").output, *texts):
        assert re.search("(hold|contain)s the training samples", " ".join(text.split()))


def test_of_some_rows_advice_and_remarks_name_those_of_the_file(tmp_path):
    values = np.random.default_rng(0).random((300, 2)).round(3).astype(object)
    values[[5, 105, 205], 0], values[6::20, 0] = [30.0, -60.0, 90.0], ""
    nominal = write_csv(tmp_path / "nominal.csv", values.tolist(), header=("a", "b"))
    shown = run("fit", nominal, "--model", tmp_path / "a.model", "--columns", "a,b", "--train-rows", "200").output
    (named,) = re.findall(r"like (?:an anomaly|anomalies): ([\d, ]+)", " ".join(shown.split()))
    assert {int(row) for row in named.split(", ")} <= {7, 107, 207}
    dropped = [int(row) for row in re.findall(r"row (\d+)", shown)]
    assert dropped
    assert {row % 20 for row in dropped} == {8}


def test_chunks_are_scored_as_the_whole(files, tmp_path, monkeypatch):
    run("score", files["model"], files["new"], "--out", tmp_path / "whole.jsonl", "--id", "invoice")
    monkeypatch.setattr(score_module, "read_chunks", partial(read_chunks, n_rows=7))
    found = list(score_chunks(files["model"], files["new"], id="invoice"))
    assert [len(part.scores) for part in found] == [7] * 17 + [1]
    write_table((part.to_arrow() for part in found), tmp_path / "chunks.jsonl")
    assert (tmp_path / "chunks.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert list(json.loads((tmp_path / "whole.jsonl").read_text().splitlines()[0])) == [
        "invoice", "score", "p_value", "decision", "because", *VALUE_COLUMNS, "why",
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["score", "explain"])
def test_a_bad_value_is_told_by_its_row_in_the_file(command, files, tmp_path, refused):
    rows = [list(row) for row in invoices(2, 10_020)]
    rows[10_012][2] = "inf"
    new = write_csv(tmp_path / "new.csv", rows)
    options = ["--out", str(tmp_path / "o.csv")] if command == "score" else ["--row", "10014"]
    refused([command, files["model"], new, *options], "Got inf in 'hour', sample 10012;", tmp_path)


def test_scores_are_judged_by_labels_over_all_chunks(files, tmp_path):
    rows = [(*row, number in PLANTED) for number, row in enumerate(invoices(1, 120, PLANTED))]
    new = write_csv(tmp_path / "new.csv", rows, ("invoice", "amount", "hour", "weight", "odd"))
    result = run("score", files["model"], new, "--out", tmp_path / "o.csv", "--label", "odd")
    shown = " ".join(result.output.split())
    assert f"Label odd: true is the anomaly (its name says so), {len(PLANTED)} of 120 samples." in shown
    assert "Area under the ROC curve 1.000" in shown
    fitted = run("fit", new, "--label", "odd", "--model", tmp_path / "m", "--train-rows", 80)
    assert "80 normal records" in fitted.output
    assert ParetoDepthDetector.load(tmp_path / "m").feature_names_in_.tolist() == ["amount", "hour", "weight"]


def test_explain_tells_the_planted_reason(files):
    result = run("explain", files["model"], files["new"], "--row", 62)
    assert "no reference record is this far from its closest match" in " ".join(result.output.split())
    for row, because in PLANTED.items():
        told = json.loads(run("explain", files["model"], files["new"], "--row", row + 2, "--json").stdout)
        assert told["is_anomaly"]
        assert [entry["criterion"] for entry in told["criteria"]] == ["amount", "hour", "weight"]
        if because != "unusual combination":
            assert min(told["criteria"], key=lambda entry: entry["p_value"])["criterion"] == because


def test_a_sample_is_explained_by_its_row_or_by_its_id(files):
    ids = [row["invoice"] for row in csv.DictReader(Path(files["new"]).read_text().splitlines())]
    by_row = run("explain", files["model"], files["new"], "--row", 62, "--json")
    by_id = run("explain", files["model"], files["new"], "--id", "invoice", "--row", ids[60], "--json")
    assert json.loads(by_id.stdout) == json.loads(by_row.stdout)
    told = run("explain", files["model"], files["new"], "--id", "invoice", "--row", ids[60]).output
    assert f"{ids[60]} (row 62): " in told
    (hour,) = json.loads(by_row.stdout)["criteria"][1]["values"]
    # Hours go round: they are neither high nor low.
    assert (hour["column"], hour["direction"]) == ("hour", "off")
    assert not hour["usual_low"] <= hour["value"] <= hour["usual_high"]


def test_text_stays_text_whatever_a_chunk_of_it_looks_like(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(("A1", "12", "7")[row % 3], size) for row, size in enumerate(rng.random(60))]
    nominal = write_csv(tmp_path / "n.csv", rows, ("code", "size"))
    new = write_csv(tmp_path / "m.csv", [("12", 0.5), ("7", 0.5), ("99", 0.5)], ("code", "size"))
    (tmp_path / "c.toml").write_text(
        '[[criterion]]\nname = "code"\ncolumns = ["code"]\nmetric = "mismatch"\n'
        '[[criterion]]\nname = "size"\ncolumns = ["size"]\n'
    )
    run("fit", nominal, "--criteria", tmp_path / "c.toml", "--model", tmp_path / "m", "--quiet")
    result = run("score", tmp_path / "m", new, "--out", tmp_path / "o.jsonl")
    assert result.exit_code == 0
    scores = [json.loads(line)["score"] for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert max(scores[:2]) < scores[2]


def test_a_model_saved_in_python_is_scored_if_it_knows_its_columns(files, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((50, 2)), columns=["a", "b"])
    ParetoDepthDetector().fit(frame).save(tmp_path / "named.model")
    new = write_csv(tmp_path / "new.csv", [(0.5, "x", 9)], ("a", "name", "b"))
    run("score", tmp_path / "named.model", new, "--out", tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text().splitlines()[1].split(",")[5] == "anomaly"


@pytest.mark.slow
def test_memory_of_scoring_does_not_grow_with_the_file(files, tmp_path):
    rng = np.random.default_rng(0)
    peaks = []
    code = (
        "import resource, sys\nfrom paretodepth.cli import main\n"
        "try:\n    main()\nfinally:\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    for n_rows in (2_000, 30_000):
        values = np.column_stack([rng.uniform(10, 20, n_rows), rng.normal(14, 1, n_rows), rng.uniform(10, 20, n_rows)])
        new = write_csv(tmp_path / "big.csv", values.round(3), ("amount", "hour", "weight"))
        command = [sys.executable, "-c", code, "score", files["model"], new, "--out", os.devnull, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stderr) / 1024)
    assert peaks[1] - peaks[0] < 150


BAD = {
    "no model": (["score", "{folder}/no.model", "{new}"], "no.model: there is no such file"),
    "not a model": (["score", "{new}", "{new}"], "new.csv: must be a whole model file"),
    "other columns": (["score", "{model}", "{folder}/other.csv"], "the columns must be the expected ones, 'amount'"),
    "a model fitted on an array": (["score", "{folder}/array.model", "{new}"], "fitted on columns with names"),
    "no such row": (["explain", "{model}", "{new}", "--row", "122"], "the row must be from 2 to 121, as a"),
    "negative row": (["explain", "{model}", "{new}", "--row", "-1"], "(row 1 is the header). Got -1 instead"),
    "a row that is no number": (["explain", "{model}", "{new}", "--row", "x"], "the row must be a number"),
    "no such id": (["explain", "{model}", "{new}", "--id", "invoice", "--row", "x"], "no row has 'x' in the column"),
    "no place for a model": (["fit", "{nominal}", "--model", "{folder}/no/m"], "no folder"),
    "unknown id": (["score", "{model}", "{new}", "--id", "nr", "--out", "{folder}/o.csv"], "The id must be a column"),
    "unknown label": (["score", "{model}", "{new}", "--label", "x", "--out", "{folder}/o.csv"], "The label must be a"),
    "label of many": (["score", "{model}", "{new}", "--label", "hour", "--out", "{folder}/o.csv"], "must have two"),
    "unknown ending": (["score", "{model}", "{new}", "--out", "{folder}/o.xls"], "Got '.xls' instead"),
    "damaged": (["score", "{folder}/damaged.model", "{new}"], "damaged"),
    "of another version": (["score", "{folder}/later.model", "{new}"], "version"),
}  # fmt: skip


@pytest.fixture(scope="module")
def bad_files(files):
    folder = files["folder"]
    with open(files["model"], "rb") as file:
        content = file.read()
    settings, arrays = unpacked(content)
    for name, changed in {
        "damaged.model": content[:-5000] + bytes(5000),
        "later.model": packed({**settings, "version": 99}, arrays),
        "other.csv": b"amount\n1\n",
    }.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(changed)
    ParetoDepthDetector().fit(np.random.default_rng(0).random((20, 2))).save(os.path.join(folder, "array.model"))
    return files


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_exit_code_2_and_leaves_nothing(name, bad_files, refused):
    arguments, text = BAD[name]
    refused([part.format(**bad_files) for part in arguments], text, bad_files["folder"])


def test_a_model_on_stdout_is_nothing_but_the_model(files, tmp_path):
    done = subprocess.run(
        [*MAIN, "fit", files["nominal"], "--criteria", files["criteria"], "--model", "-", "--alpha", "0.01"],
        capture_output=True,
        check=True,
    )
    (tmp_path / "m").write_bytes(done.stdout)
    loaded, expected = (ParetoDepthDetector.load(path) for path in (tmp_path / "m", files["model"]))
    assert loaded.offset_ == expected.offset_
    assert b"200 normal records" in done.stderr
