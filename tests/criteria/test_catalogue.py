"""The list of metrics on the command line and in the documentation."""

import re
import runpy

from typer.testing import CliRunner

from paretodepth import Criterion
from paretodepth.cli import app
from paretodepth.criteria.catalogue import catalogue
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import KINDS
from tests.data import ROOT

PAGE = (ROOT / "docs" / "criteria.md").read_text()


def test_the_command_line_lists_every_metric_with_its_line():
    result = CliRunner().invoke(app, ["criteria"])
    assert result.exit_code == 0
    for kind, metric, summary, *_ in catalogue():
        assert re.search(rf"│ {kind} +│ {metric} +│ {summary.split()[0]}", result.output)
    assert "paretodepth[text]" in result.output
    assert "period" in result.output


def test_the_command_line_prints_the_tables_of_the_page():
    result = CliRunner().invoke(app, ["criteria", "--markdown"])
    assert result.exit_code == 0
    sections = re.split(r"\n(?=### )", result.output)
    assert [section.splitlines()[0] for section in sections] == [f"### {kind.capitalize()}" for kind in KINDS]
    assert all(section in PAGE for section in sections)


def test_the_page_of_criteria_is_up_to_date():
    # `python -m docs.criteria` writes it anew.
    assert runpy.run_path(ROOT / "docs" / "criteria.py")["criteria_page"]() == PAGE


def test_the_page_names_every_metric_and_only_metrics():
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert listed == list(METRICS)
    advised = re.findall(r"`(\w+)`", PAGE.split("| your columns hold")[1].split("All estimates")[0])
    assert len(advised) > 15
    assert set(advised) <= set(METRICS)


def test_the_files_on_the_page_are_read(tmp_path):
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "criteria.toml").write_text(toml)
    assert Criterion.from_toml(tmp_path / "criteria.toml") == [
        Criterion("amount", "amount", "log_ratio"),
        Criterion("time", ["hour_*"], "cyclic", missing="ignore", period=24),
    ]
