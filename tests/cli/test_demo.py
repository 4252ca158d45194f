import re

import pytest
from typer.testing import CliRunner

from paretodepth.cli import app


@pytest.mark.slow
def test_demo_ranks_the_anomalous_pedestrians_first_and_writes_a_picture(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "new")])
    assert result.exit_code == 0
    # Piped output lists the steps, and none of the phases of their fits.
    assert [step.split()[0] for step in re.findall(r"^· (.*) …$", result.output, re.MULTILINE)] == [
        "Simulating",
        "Sorting",
        "Comparing",
        "Drawing,",
    ]
    assert "anomalous in speed and shape" in result.output
    aucs = {name: float(auc) for name, auc in re.findall(r"^  (\w[\w ]*\w) +(0\.\d+)$", result.output, re.MULTILINE)}
    assert aucs["speed and shape"] > 0.95
    assert aucs["speed and shape"] > max(aucs["speed alone"], aucs["shape alone"])
    assert (tmp_path / "new" / "pedestrians.png").read_bytes().startswith(b"\x89PNG")
