"""The examples run and show what they say."""

import re
import runpy

import pytest

from paretodepth.criteria.metrics import METRICS
from tests.criteria.metric_draws import is_installed
from tests.data import DATA, ROOT


@pytest.fixture
def run(monkeypatch, capsys):
    """Run an example as a script and return what it prints."""

    def printed(name, *arguments):
        path = str(ROOT / "examples" / name)
        monkeypatch.setattr("sys.argv", [path, *arguments])
        runpy.run_path(path, run_name="__main__")
        return capsys.readouterr().out

    return printed


def areas(output):
    found = re.findall(r"^(\w.*\w) +AUC ([\d.]+)$", output, flags=re.MULTILINE)
    return {name.strip(): float(area) for name, area in found}


def test_anomalous_invoices_show_in_no_single_criterion_but_in_all_together(run):
    if not is_installed(METRICS["levenshtein"]):
        with pytest.raises(ImportError, match=r'pip install "paretodepth\[text\]"'):
            run("invoices.py")
        return
    output = run("invoices.py")
    together, *alone = areas(output).values()
    # Of 20 anomalous and 180 nominal invoices, the AUC of an uninformative criterion has an error of 0.07.
    assert together > 0.9
    assert len(alone) == 4
    assert all(0.3 < area < 0.7 for area in alone)
    counts = re.search(r"(\d+) of 20 anomalous invoices found, (\d+) false alarms", output).groups()
    n_found, n_false_alarms = map(int, counts)
    assert n_found >= 15
    # Of 180 nominal invoices 3.6 are expected at alpha = 0.02, with a deviation of 2.3.
    assert n_false_alarms <= 9
    assert "Advice: " in output


def test_digits_are_told_apart_by_their_views(run):
    if not (DATA / "mfeat").is_dir():
        with pytest.raises(SystemExit, match="set PARETODEPTH_DATA to the folder that holds mfeat"):
            run("digits.py", "--data", str(DATA))
        return
    together, *alone = areas(run("digits.py", "--data", str(DATA))).values()
    assert together > max(alone) > 0.9


def test_without_data_the_digits_say_where_it_is_looked_for(run, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", "no such folder")
    with pytest.raises(SystemExit, match="There is no folder no such folder/mfeat; set PARETODEPTH_DATA"):
        run("digits.py")
