import pytest

from paretodepth._blocks import watched
from paretodepth.studies.pages import (
    ACCURACY,
    PAGES,
    REPRODUCTION,
    chosen_experiments,
    reproduce_experiment,
    write_page,
)
from paretodepth.studies.runs import finished_runs
from tests.studies.small import EXPERIMENTS, SMALL


def test_every_experiment_has_a_small_version():
    assert SMALL.keys() == EXPERIMENTS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_its_tables_pictures_and_section(name, runs, tmp_path):
    experiment = EXPERIMENTS[name]
    settings, n_runs = SMALL[name]
    page = next(page for page in PAGES.values() if name in page.experiments)
    folder = tmp_path / page.name
    folder.mkdir()
    finished_runs(_given(experiment, settings, runs(name)), settings, range(n_runs), folder / f"{name}.jsonl")
    small = _given(experiment, settings, runs(name))
    told = []
    with watched(lambda *state: told.append(state)):
        tables = reproduce_experiment(page, small, tmp_path, runs=n_runs, full=False, seed=0, n_jobs=1)
    assert [state for state in told if state[0] == name] == [(name, n_runs, n_runs)]
    text = write_page(page, tmp_path).read_text()
    assert experiment.title in text
    assert all(table.to_markdown() in text for table in tables)
    pictures = sorted(path.name for path in folder.glob("*.png"))
    assert pictures or name in ("speed", "cluster")
    for picture in pictures:
        assert f"{page.name}/{picture}" in text
        assert (folder / picture).with_suffix(".svg").exists()
    assert len(list(folder.glob("*.csv"))) == len(tables)


def _given(experiment, settings, values):
    """An experiment whose runs are known."""
    return type(experiment)(
        **vars(experiment) | {"settings": lambda full: settings, "run": lambda seed, settings: values[seed]}
    )


def test_experiments_are_chosen_by_name_in_the_order_of_the_page():
    chosen = chosen_experiments(REPRODUCTION, ["dyads", "figure1"])
    assert [experiment.name for experiment in chosen] == ["figure1", "dyads"]
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, ["all"])] == list(ACCURACY.experiments)
    with pytest.raises(ValueError, match=r"must be one of 'figure1'.*Got 'figure3' instead"):
        chosen_experiments(REPRODUCTION, ["figure3"])
