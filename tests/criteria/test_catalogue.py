"""The list of metrics on the command line and in the documentation."""

import re

from typer.testing import CliRunner

from paretodepth import Criterion
from paretodepth.cli import app
from paretodepth.criteria.catalogue import PAGE_START, catalogue
from paretodepth.criteria.metrics import METRICS
from tests.data import ROOT


def test_the_command_line_lists_every_metric_with_its_line():
    result = CliRunner().invoke(app, ["criteria"])
    assert result.exit_code == 0
    for row in catalogue():
        assert re.search(rf"│ {row.kind} +│ {row.metric} +│ {row.summary.split()[0]}", result.output)
    assert "paretodepth[text]" in result.output
    assert "period" in result.output


def test_the_page_of_criteria_is_up_to_date():
    result = CliRunner().invoke(app, ["criteria", "--markdown"])
    assert result.exit_code == 0
    assert (ROOT / "docs" / "criteria.md").read_text() == result.output


def test_the_page_names_every_metric_and_only_metrics():
    page = (ROOT / "docs" / "criteria.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert listed == list(METRICS)
    advised = re.findall(r"`(\w+)`", PAGE_START.split("| your columns hold")[1].split("Whatever is estimated")[0])
    assert len(advised) > 15
    assert set(advised) <= set(METRICS)


def test_the_files_on_the_page_are_read(tmp_path):
    (toml,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "criteria.md").read_text(), flags=re.DOTALL)
    (tmp_path / "criteria.toml").write_text(toml)
    assert Criterion.from_toml(tmp_path / "criteria.toml") == [
        Criterion("amount", "amount", "log_ratio"),
        Criterion("time", ["hour_*"], "cyclic", missing="ignore", period=24),
    ]
