"""Files as they come: every mistake in them is read or refused, and a sentence says so."""

import gzip
import io
import json
import sqlite3
import sys

import numpy as np
import pyarrow as pa
import pytest
import xlsxwriter

from paretodepth import Criterion, cli, criteria_to_toml
from paretodepth.tables import read_table, write_table
from paretodepth.tables.reading import Reading

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
AMOUNTS = np.random.default_rng(0).integers(100, 1000, 40).tolist()
ROWS = [(amount / 10, 7 * number % 40) for number, amount in enumerate(AMOUNTS)]


def text(rows=ROWS, sep=",", header="amount,weight"):
    return "\n".join([header.replace(",", sep), *(sep.join(map(str, row)) for row in rows)]) + "\n"


def with_cell(cell):
    return text([*ROWS[:16], (cell, 1), *ROWS[17:]])


def workbook():
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([("amount", "weight"), *ROWS]):
            sheet.write_row(row, 0, cells)
    return content.getvalue()


READ = {
    "currency": ("a.csv", with_cell("€12.30"), "has 1 cell read as numbers, first '€12.30' in row 17 below the header"),
    "thousands": ("a.csv", with_cell('"1,234.50"'), "has 1 cell read as numbers, first '1,234.50' in row 17"),
    "decimal commas": ("a.csv", text(sep=";").replace(".", ","), ""),
    "gzip": ("a.csv.gz", gzip.compress(text().encode()), ""),
    "a workbook": ("a.xlsx", workbook(), ""),
    "a workbook as CSV": ("a.csv", workbook(), "a.csv is in spite of its ending of the format 'xlsx'"),
    "a list in JSON": ("a.json", json.dumps([{"amount": a, "weight": w} for a, w in ROWS]), ""),
    "a comment": ("a.csv", "# exported on Monday\n" + text(), ""),
    "a byte order mark": ("a.csv", "\ufeff" + text(), ""),
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in a folder of its own: its exit code, its output and its errors."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["paretodepth", *arguments])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        captured = capsys.readouterr()
        return ending.value.code or 0, captured.out, captured.err

    return command


def put(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", READ)
def test_files_are_read_as_they_come(run, tmp_path, case):
    name, content, note = READ[case]
    put(tmp_path, name, content)
    code, out, err = run("detect", name, "--columns", "amount,weight", "--out", "scores.csv")
    assert code == 0
    assert "of 40 records" in out
    assert (note in err) if note else (err == "")
    # The copied cells bring the same notes.
    scores = read_table("scores.csv", format=Reading(note=str))
    assert scores["weight"].to_pylist()[:16] == [weight for _, weight in ROWS[:16]]


def test_notes_are_told_by_every_command_that_reads(run, tmp_path):
    put(tmp_path, "train.csv", text())
    put(tmp_path, "test.csv", text([*ROWS[:5], ("$5", 3)]))
    note = "Note: test.csv: the column 'amount' has 1 cell read as numbers, first '$5' in row 6 below the header.\n"
    assert run("detect", "test.csv", "--reference", "train.csv", "--columns", "amount,weight")[2] == note
    assert run("detect", "test.csv", "--reference", "train.csv", "--columns", "amount,weight", "--quiet")[2] == ""
    assert run("fit", "test.csv", "--columns", "amount,weight", "--model", "a.model")[2] == note
    assert run("fit", "train.csv", "--columns", "amount,weight", "--model", "a.model")[2] == ""
    assert run("score", "a.model", "test.csv", "--out", "scores.csv")[2].startswith(note)
    assert run("score", "a.model", "test.csv", "--out", "scores.csv", "--quiet")[2] == ""
    assert run("explain", "a.model", "test.csv", "--row", "2")[2] == note


def test_a_question_mark_among_numbers_is_counted(run, tmp_path):
    put(tmp_path, "a.csv", with_cell("?"))
    note = "Note: a.csv: the column 'amount' has 1 cell counted as missing, first '?' in row 17 below the header.\n"
    code, _, err = run("detect", "a.csv", "--columns", "amount,weight")
    assert code == 0
    assert note in err


ENDS_OF_TIME = ["0000-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]


@pytest.mark.parametrize(
    "options", ["--report r.html", "--out o.jsonl", "--out o.xlsx", "--out o.json", "--id d --out o.csv"]
)
def test_dates_at_the_ends_of_the_calendar_end_no_command(run, tmp_path, options):
    days = [*ENDS_OF_TIME, *(f"2024-03-{day:02d}T12:00:00" for day in range(1, 29))]
    rows = [(day, *row) for day, row in zip(days, ROWS, strict=False)]
    put(tmp_path, "a.csv", text(rows, header="d,amount,weight"))
    put(tmp_path, "a.jsonl", "\n".join(json.dumps(dict(zip("daw", row, strict=True))) for row in rows))
    for name in ("a.csv", "a.jsonl"):
        assert run("detect", name, "-q", *options.split())[::2] == (0, "")


def test_watch_scores_a_file_as_score_does(run, tmp_path, monkeypatch):
    flags = ["true", "false", "TRUE"]
    rows = [(str(a).replace(".", ","), w % 3, flags[w % 3], f"{1 + w % 28}.3.2024") for a, w in ROWS]
    new = [*rows[:20], ("N/A", 1, "true", "1.3.2024"), ("€ 1,5", 2, "false", "2.3.2024"), ("0,5", 3, "TRUE", "-")]
    put(tmp_path, "train.csv", text(rows, ";", "x,code,flag,day"))
    put(tmp_path, "new.csv", text(new, ";", "x,code,flag,day"))
    criteria = [
        Criterion("x", ["x"]),
        Criterion("kind", ["code", "flag"], "mismatch"),
        Criterion("day", "day", "elapsed"),
    ]
    put(tmp_path, "criteria.toml", criteria_to_toml(criteria))
    assert run("fit", "train.csv", "--criteria", "criteria.toml", "--model", "a.model", "-q")[0] == 0
    assert run("score", "a.model", "new.csv", "--out", "scores.csv", "-q")[0] == 0
    with open("new.csv") as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, out, err = run("watch", "--model", "a.model")
    assert (code, err) == (0, "")
    scores = read_table("scores.csv", format=Reading(note=str))["score"].to_pylist()
    assert [json.loads(line)["score"] for line in out.splitlines()] == scores
    assert [score is None for score in scores] == [False] * 20 + [True, False, True]


def test_what_a_file_does_not_tell_can_be_said(run, tmp_path):
    put(tmp_path, "a.csv", ("Überschrift\n" + text(header="größe,weight", sep=";")).encode("cp1252"))
    code, _, err = run("detect", "a.csv", "--columns", "größe")
    assert code == 2
    assert "a.csv, line 1: must be text in UTF-8. Got byte 0xdc at position 0 instead; name its encoding" in err
    assert "--encoding cp1252" in err
    options = ["--sep", ";", "--decimal", ".", "--encoding", "cp1252", "--skip-rows", "1"]
    code, out, _ = run("detect", "a.csv", "--columns", "größe,weight", *options)
    assert code == 0
    assert "of 40 records" in out
    (tmp_path / "b.xlsx").write_bytes(workbook())
    assert run("detect", "b.xlsx", "--columns", "amount", "--sheet", "Sheet1")[0] == 0
    assert "the sheet must be one of 'Sheet1'. Got 'no'" in run("detect", "b.xlsx", "--sheet", "no")[2]


def test_a_pattern_is_one_table_and_no_output_takes_the_place_of_its_files(run, tmp_path):
    put(tmp_path, "part1.csv", text(ROWS[:20]))
    put(tmp_path, "part2.csv", text(ROWS[20:]))
    code, out, _ = run("detect", "part*.csv", "--columns", "amount,weight", "--out", "scores.csv")
    assert code == 0
    assert "of 40 records" in out
    assert read_table("scores.csv")["weight"].to_pylist() == [weight for _, weight in ROWS]
    code, _, err = run("detect", "part*.csv", "--out", "part2.csv")
    assert (code, err) == (
        2,
        "paretodepth: part2.csv: the output must not take the place of an input; choose another name.\n",
    )
    put(tmp_path, "part3.csv", text(header="amount,wait"))
    code, _, err = run("detect", "part*.csv")
    assert (code, "part3.csv: the columns must be the expected ones" in err, "'wait' besides" in err) == (2, True, True)


def test_what_cannot_be_read_says_what_to_do(run, tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("create table sales (a)")
    database.close()
    refused = {
        "https://example.org/a.csv": "Got a URL instead; download it first: curl -O https://example.org/a.csv",
        "a.db": "Got an SQLite database instead; export a table: sqlite3 -header -csv a.db 'select * from TABLE' > ",
        ".": "Got a folder instead; name a file in it, or all of a kind as one table: './*.db'",
    }
    for path, message in refused.items():
        code, out, err = run("detect", path)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert message in err
        assert "read_table" not in err


def test_scores_are_written_to_a_workbook(run, tmp_path):
    write_table(pa.table({"a": [float(number) for number in range(30)]}), tmp_path / "a.csv")
    assert run("detect", "a.csv", "--columns", "a", "--out", "scores.xlsx")[0] == 0
    assert run("detect", "a.csv", "--columns", "a", "--out", "scores.csv")[0] == 0
    assert read_table("scores.xlsx").column_names == read_table("scores.csv").column_names
    assert read_table("scores.xlsx")["a"].to_pylist() == list(range(30))
