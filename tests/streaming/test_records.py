"""Records of JSON and CSV, as they come."""

import os
import signal
import threading
from datetime import datetime, time

import pytest

from paretodepth import Criterion
from paretodepth.streaming.records import MAX_RECORD, Interruptible, Record, Records, number_columns


def samples(text, **options):
    return [record.sample for record in Records(text.encode().split(b"\n"), **options)]


def errors(text, **options):
    return {record.number: record.error for record in Records(text.encode().split(b"\n"), **options) if record.error}


def test_json_lines_are_samples():
    assert samples('{"a": 1, "b": "x"}\n\n{"a": 2.5, "b": null}\n[1, 2]') == [
        {"a": 1, "b": "x"},
        {"a": 2.5, "b": None},
        [1, 2],
    ]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_lines_of_csv_are_samples(mark):
    text = "a,b,c\n1,x,\n2.5,'y',NA\n".replace(",", mark)
    assert samples(text) == [{"a": 1.0, "b": "x", "c": None}, {"a": 2.5, "b": "'y'", "c": None}]


def test_quotes_go_over_lines_and_delimiters():
    assert samples('a,b\n1,"x, ""y""\nz"\n2,w') == [{"a": 1.0, "b": 'x, "y"\nz'}, {"a": 2.0, "b": "w"}]


def test_what_a_cell_is_follows_from_who_reads_it():
    criteria = [
        Criterion("code", "code", "levenshtein"),
        Criterion("kind", ["kind"], "mismatch"),
        Criterion("when", "w*", "elapsed"),
        Criterion("clock", "clock", "time_of_day"),
        Criterion("n", "n"),
    ]
    (sample,) = samples("code,kind,when,clock,n\n007,1,2024-05-06T07:08:09+02:00,23:30,7", criteria=criteria)
    assert sample == {
        "code": "007",
        "kind": "1",
        "when": datetime(2024, 5, 6, 7, 8, 9),
        "clock": time(23, 30),
        "n": 7.0,
    }
    (sample,) = samples('{"when": "2024-05-06", "clock": "noon", "code": "007"}', criteria=criteria)
    assert sample == {"when": datetime(2024, 5, 6), "clock": "noon", "code": "007"}


def test_a_stream_that_goes_on_needs_no_header():
    assert samples("1,2\n3,4", names=["a", "b"]) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]
    assert samples("a,b\n3,4", names=["a", "b"]) == [{"a": 3.0, "b": 4.0}]
    assert [record.number for record in Records([b"a,b", b"3,4"], names=["a", "b"], n_read=7)] == [8]


def test_a_byte_order_mark_is_no_part_of_a_name():
    assert [record.sample for record in Records([b"\xef\xbb\xbfa,b", b"1,2"])] == [{"a": 1.0, "b": 2.0}]


def test_records_that_cannot_be_read_are_told_and_the_next_ones_come():
    found = list(Records([b'{"a": 1}', b"nonsense", b"3", b'{"a": \xff}', b"[" * 100_000, b'{"a": 2}']))
    assert [record.sample for record in found if not record.error] == [{"a": 1}, {"a": 2}]
    assert [bool(record.error) for record in found] == [False, True, True, True, True, False]
    assert found[1] == Record(
        2, {}, "must be one JSON object a line. Got text that is none (Expecting value: line 1 column 1 (char 0))."
    )
    assert found[2].error == "must be a JSON object of values by column. Got 3 instead."
    assert errors("a,b\n1,2\n1\n1,2,3\n4,5").keys() == {2, 3}
    assert errors("a,b\n1,2,3")[1].startswith("must have 2 cells, as the header. Got 3 instead")


def test_records_without_an_end_are_refused():
    found = list(Records([b'{"a": "' + b"x" * MAX_RECORD + b'"}', b'{"a": 1}']))
    assert found[0].error.startswith("must be at most 16,777,216 bytes long")
    assert found[1].sample == {"a": 1}


@pytest.mark.parametrize("header", ["a,a", "a,"])
def test_headers_that_name_nothing_are_refused(header):
    with pytest.raises(ValueError, match="first line of CSV must name the columns, each once"):
        samples(f"{header}\n1,2")


def test_columns_of_numbers_are_told():
    assert number_columns({"a": 1, "b": "x", "c": 2.5, "d": True, "e": None}) == ["a", "c"]


@pytest.fixture
def pipe():
    """The ends of a pipe, for reading and for writing."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_lines_come_as_they_are_written(pipe):
    reading, writing = pipe
    with Interruptible(reading) as interruptible:
        lines = iter(interruptible)
        os.write(writing, b"one\r\ntw")
        assert next(lines) == b"one"
        os.write(writing, b"o\nthree")
        assert next(lines) == b"two"
        with open(os.devnull) as ended:
            os.dup2(ended.fileno(), writing)
        assert list(lines) == [b"three"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait_for_a_line(number, pipe):
    reading, writing = pipe
    before = signal.getsignal(number)
    with Interruptible(reading) as interruptible:
        lines = iter(interruptible)
        os.write(writing, b"one\n")
        assert next(lines) == b"one"
        timer = threading.Timer(0.2, os.kill, (os.getpid(), number))
        timer.start()
        assert list(lines) == []
        timer.join()
        assert interruptible.signal == number
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_until_a_line_is_dealt_with_and_what_follows_the_last_one(number, pipe):
    reading, writing = pipe
    dealt_with = []
    os.write(writing, b"one\ntwo\n")
    with Interruptible(reading) as lines:
        for line in lines:
            os.kill(os.getpid(), number)
            dealt_with.append(line)
        os.kill(os.getpid(), number)
        dealt_with.append("state")
    assert dealt_with == [b"one", "state"]
