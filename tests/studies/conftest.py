from functools import cache

import pytest

from paretodepth.studies.runs import finished_runs
from tests.studies.small import EXPERIMENTS, SMALL


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """The values of the few runs of an experiment, by its name; computed when they are first asked for."""
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def values(name):
        settings, n_runs = SMALL[name]
        return finished_runs(EXPERIMENTS[name], settings, range(n_runs), folder / f"{name}.jsonl", n_jobs=2)

    return values
