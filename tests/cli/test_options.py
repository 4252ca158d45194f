"""Options that several commands share."""

import os
import typing

import pytest

from paretodepth.cli.options import (
    Method,
    check_outputs,
    check_single_stream,
    column_list,
    quoted_name,
)
from paretodepth.scoring.methods import METHODS


def test_all_methods_can_be_asked_for():
    name, _ = typing.get_args(Method)
    assert set(typing.get_args(name)) == set(METHODS)


def test_a_file_is_named_as_a_shell_wants_it():
    assert [quoted_name(name) for name in ("a.csv", "my file.csv", "-")] == ["a.csv", "'my file.csv'", "FILE"]


def test_what_is_not_given_is_none():
    assert column_list(None) is None


def test_an_output_has_a_place_of_its_own_that_can_be_written(tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("a\n1\n")
    check_outputs([str(tmp_path / "new.csv"), "-"], [str(given)])
    with pytest.raises(ValueError, match="each output must have a place of its own"):
        check_outputs(["-", "-"], [])
    with pytest.raises(OSError, match="it is a folder"):
        check_outputs([str(tmp_path)], [])
    with pytest.raises(OSError, match=r"no folder .*/no that can be written"):
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
