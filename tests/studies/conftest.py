from functools import cache

import pytest

from studies.runs import finished_runs
from tests.studies.small import EXPERIMENTS, SMALL, write_table


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """The values of the few runs of an experiment, by its name; computed when they are first asked for."""
    folder = tmp_path_factory.mktemp("runs")

    write_table(folder / "adbench")

    @cache
    def values(name):
        settings, n_runs = SMALL[name]
        if "folder" in settings:
            settings = settings | {"folder": str(folder / "adbench")}
        return finished_runs(EXPERIMENTS[name], settings, range(n_runs), folder / f"{name}.jsonl", n_jobs=2)

    return values
