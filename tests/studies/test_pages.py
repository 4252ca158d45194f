import pytest

from paretodepth.studies.pages import ACCURACY, REPRODUCTION, chosen_experiments
from tests.studies.small import EXPERIMENTS, SMALL


def test_every_experiment_has_a_small_version():
    assert SMALL.keys() == EXPERIMENTS.keys()


def test_experiments_are_chosen_by_name_in_the_order_of_the_page():
    chosen = chosen_experiments(REPRODUCTION, ["dyads", "figure1"])
    assert [experiment.name for experiment in chosen] == ["figure1", "dyads"]
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, ["all"])] == list(ACCURACY.experiments)
    with pytest.raises(ValueError, match=r"must be one of 'figure1'.*Got 'figure3' instead"):
        chosen_experiments(REPRODUCTION, ["figure3"])
