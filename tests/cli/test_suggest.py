"""The command `suggest`, and the criteria of a table that nobody has described."""

import csv
import runpy
from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

from paretodepth import Criterion
from paretodepth.cli import app
from paretodepth.cli.table_commands import suggestion_remark
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.suggestion import ColumnUse, Suggestion
from tests.criteria.metric_draws import is_installed
from tests.data import ROOT
from tests.newcomer import write_csv

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
INVOICES = str(ROOT / "examples" / "invoices.csv")


@cache
def example():
    return runpy.run_path(str(ROOT / "examples" / "invoices_table.py"))


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_file_in_the_examples_is_the_one_its_script_writes(tmp_path):
    rows, _ = example()["invoices"]()
    written = write_csv(tmp_path / "invoices.csv", rows, example()["HEADER"])
    assert rows_of(written) == rows_of(INVOICES)


@pytest.mark.parametrize("seed", [0, 1])
def test_odd_invoices_of_each_kind_are_found_with_no_options_at_all(seed, tmp_path):
    rows, odd = example()["invoices"](seed=seed)
    data = write_csv(tmp_path / "data.csv", rows, example()["HEADER"])
    result = run("detect", data, "--out", tmp_path / "scores.csv")
    assert result.exit_code == 0
    # Text is compared only where its library is there.
    odd = {row: column for row, column in odd.items() if column != "text" or is_installed(METRICS["levenshtein"])}
    called = {row for row, found in enumerate(rows_of(tmp_path / "scores.csv")) if found["decision"] == "anomaly"}
    assert len(called) <= 0.05 * len(rows)
    assert len(called & odd.keys()) >= 0.9 * len(odd)
    assert {odd[row] for row in called & odd.keys()} == set(odd.values())


def test_a_file_of_suggested_criteria_gives_the_result_of_the_default(tmp_path):
    result = run("suggest", INVOICES)
    assert result.exit_code == 0
    criteria = tmp_path / "criteria.toml"
    criteria.write_text(result.stdout)
    run("detect", INVOICES, "--out", tmp_path / "default.csv")
    told = run("detect", INVOICES, "--criteria", criteria, "--out", tmp_path / "given.csv").output
    assert (tmp_path / "given.csv").read_bytes() == (tmp_path / "default.csv").read_bytes()
    assert "chosen automatically" not in told


def test_every_column_stands_in_the_table_on_the_terminal_and_in_a_comment():
    result = run("suggest", INVOICES)
    for name, kind in {"invoice": "id", "time": "time", "shop": "category", "amount": "amount", "paid": "flag"}.items():
        assert f"# {name} ({kind}): " in result.stdout
        assert any(line.split()[:2] == [name, kind] for line in result.stderr.splitlines())
    assert "[[criterion]]" not in result.stderr
    assert run("suggest", INVOICES, "--quiet").stderr == ""


def test_how_many_and_without_which_can_be_said(tmp_path):
    path = tmp_path / "criteria.toml"
    for n in (1, 2, 3):
        path.write_text(run("suggest", INVOICES, "--max-criteria", n).stdout)
        assert len(Criterion.from_toml(path)) == n
    told = run("suggest", INVOICES, "--id", "amount").stdout
    assert "# amount (id): names the samples" in told


def test_what_was_chosen_is_told_with_the_way_to_change_it(tmp_path):
    shown = " ".join(run("detect", INVOICES).output.split())
    assert "Criteria chosen automatically: time (time of day); shop + paid;" in shown
    assert "Not used: invoice (numbers the rows)" in shown
    assert "To change them, run paretodepth suggest" in shown
    fitted = " ".join(run("fit", INVOICES, "--model", tmp_path / "m").output.split())
    assert "Criteria chosen automatically: time (time of day); shop + paid;" in fitted


def test_many_columns_that_are_not_used_are_counted():
    columns = [ColumnUse(f"nr{number}", "id", (), "numbers the rows") for number in range(11)]
    remark = suggestion_remark(Suggestion([Criterion("size")], columns), "my file.csv")
    assert remark.startswith("Criteria chosen automatically: size. Not used: nr0 (numbers the rows), nr1 ")
    assert "nr7 (numbers the rows) and 3 more. To change them, run paretodepth suggest 'my file.csv' > c" in remark


def test_new_samples_with_shops_and_amounts_never_seen_are_scored(tmp_path):
    rows, _ = example()["invoices"]()
    new = [list(row) for row in rows[:20]]
    new[3][4], new[4][4], new[5][2] = "0", "-12.50", "A New Shop"
    data = write_csv(tmp_path / "new.csv", new, example()["HEADER"])
    assert run("detect", data, "--reference", INVOICES, "--out", tmp_path / "o.csv").exit_code == 0
    p_values = [float(row["p_value"]) for row in rows_of(tmp_path / "o.csv")]
    nothing, refund, new_shop = p_values[3:6]
    assert max(refund, new_shop) <= 0.05 < np.median(p_values)
    assert nothing < np.median(p_values)


BAD = {
    "no such file": (["nowhere.csv"], "nowhere.csv: there is no such file."),
    "nothing to compare": (["{folder}/ids.csv"], "Got 'nr' (numbers the rows) instead; write a file of criteria"),
    "unknown id": ([INVOICES, "--id", "nr"], "The id must be a column"),
    "no criteria": ([INVOICES, "--max-criteria", "0"], "Invalid value for '--max-criteria'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_exit_code_2(name, tmp_path, refused):
    write_csv(tmp_path / "ids.csv", [(row,) for row in range(20)], ("nr",))
    arguments, text = BAD[name]
    refused(["suggest", *(part.format(folder=tmp_path) for part in arguments)], text, tmp_path)
