import pytest

from studies.pages import ACCURACY, REPRODUCTION, chosen_experiments, write_page
from tests.studies.small import EXPERIMENTS, SMALL


def test_every_experiment_has_a_small_version():
    assert SMALL.keys() == EXPERIMENTS.keys()


def test_experiments_are_chosen_by_name_in_the_order_of_the_page():
    chosen = chosen_experiments(REPRODUCTION, ["dyads", "figure1"])
    assert [experiment.name for experiment in chosen] == ["figure1", "dyads"]
    assert [experiment.name for experiment in chosen_experiments(REPRODUCTION, ["all"])] == list(
        REPRODUCTION.experiments
    )
    with pytest.raises(ValueError, match=r"must be one of 'figure1'.*Got 'figure3' instead"):
        chosen_experiments(REPRODUCTION, ["figure3"])


def test_what_needs_a_folder_is_chosen_with_one(tmp_path):
    without = [name for name in ACCURACY.experiments if name != "tables"]
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, ["all"])] == without
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, ["all"], tmp_path)] == list(
        ACCURACY.experiments
    )
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, [], tmp_path)] == ["tables"]
    (asked,) = chosen_experiments(ACCURACY, ["tables"])
    with pytest.raises(ValueError, match=r"must be given a folder of labelled tables. Got none instead; .* --data"):
        asked.settings(False)
    with pytest.raises(ValueError, match=r"--label of accuracy must come with a folder of tables. Got none instead"):
        chosen_experiments(ACCURACY, ["all"], None, "y")


def test_a_page_says_what_is_left_out(tmp_path):
    text = write_page(ACCURACY, tmp_path).read_text()
    experiment = ACCURACY.experiments["tables"]
    assert f"## {experiment.title}\n\nLeft out: no folder of tables was given." in text
    (tmp_path / "accuracy").mkdir()
    (tmp_path / "accuracy" / "tables.md").write_text("What was found")
    text = write_page(ACCURACY, tmp_path).read_text()
    assert "What was found" in text
    assert "Left out" not in text
