"""Options that several commands share."""

import os
import typing

import pytest

from paretodepth.cli.options import (
    Method,
    check_outputs,
    check_single_stream,
    column_list,
    criteria_of,
    new_detector,
    printed_name,
    read_learning,
)
from paretodepth.reports.row_limit import MAX_UNCAPPED
from paretodepth.scoring.methods import METHODS
from tests.newcomer import write_files


def test_all_methods_can_be_asked_for():
    name, _ = typing.get_args(Method)
    assert set(typing.get_args(name)) == set(METHODS)


def test_the_deepest_fronts_of_many_training_samples_are_counted_as_one():
    depths = [
        new_detector(None, n_training, "blend", None).max_depth for n_training in (MAX_UNCAPPED, MAX_UNCAPPED + 1)
    ]
    assert depths == [None, "auto"]


def test_the_detector_is_the_one_the_options_ask_for(tmp_path):
    nominal, _, _ = write_files(tmp_path)
    options = {"format": None, "id_column": "invoice", "method": "depth", "alpha": 0.02}
    learning = read_learning(nominal, criteria=tmp_path / "criteria.toml", columns=None, **options)
    assert learning.training.num_rows == 200
    assert [criterion.metric for criterion in learning.detector.criteria] == ["cityblock", "cyclic", "cityblock"]
    assert (learning.detector.method, learning.detector.alpha) == ("depth", 0.02)
    assert learning.remark == ""
    by_columns = read_learning(nominal, criteria=None, columns="hour, amount", **options)
    assert [criterion.name for criterion in by_columns.detector.criteria] == ["hour", "amount"]
    chosen = read_learning(nominal, criteria=None, columns=None, **options)
    assert [criterion.name for criterion in chosen.detector.criteria] == ["amount + weight", "hour"]
    assert "Left out: invoice (names the samples). To change them: paretodepth suggest" in chosen.remark


def test_a_file_is_named_as_a_shell_wants_it():
    assert [printed_name(name) for name in ("a.csv", "my file.csv", "-")] == ["a.csv", "'my file.csv'", "FILE"]


def test_what_is_not_given_is_none():
    assert column_list(None) is None
    assert criteria_of(None) is None


def test_an_output_has_a_place_of_its_own_that_can_be_written(tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("a\n1\n")
    check_outputs([str(tmp_path / "new.csv"), "-"], [str(given)])
    with pytest.raises(ValueError, match="each output must have a place of its own"):
        check_outputs(["-", "-"], [])
    with pytest.raises(OSError, match="Got a folder instead"):
        check_outputs([str(tmp_path)], [])
    with pytest.raises(OSError, match="Got none that can be written instead"):
        check_outputs([str(tmp_path / "no" / "new.csv")], [])
    for inputs, criteria in (([str(given)], None), ([], given)):
        with pytest.raises(ValueError, match="must not take the place of an input"):
            check_outputs([str(given)], inputs, criteria)


def test_standard_input_is_read_once():
    check_single_stream(["-", "new.csv"])
    with pytest.raises(ValueError, match="Only one file can be standard input"):
        check_single_stream(["-", "-"])


def test_two_names_of_one_file_are_one_place(tmp_path):
    place = tmp_path / "scores.csv"
    (tmp_path / "link.csv").symlink_to(place)
    others = [f"{tmp_path}/./scores.csv", f"{tmp_path}/x/../scores.csv", str(tmp_path / "link.csv")]
    (tmp_path / "x").mkdir()
    for other in others:
        with pytest.raises(ValueError, match="each output must have a place of its own"):
            check_outputs([str(place), other], [])
        with pytest.raises(ValueError, match="must not take the place of an input"):
            check_outputs([other], [str(place)])
    place.write_text("")
    (tmp_path / "hard.csv").hardlink_to(place)
    with pytest.raises(ValueError, match="each output must have a place of its own"):
        check_outputs([str(tmp_path / "hard.csv"), str(place)], [])


def test_devices_and_pipes_are_places_of_their_own(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_outputs([os.devnull, os.devnull, str(tmp_path / "pipe")], [])
