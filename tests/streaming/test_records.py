"""Records of JSON and CSV, as they come."""

import itertools
import os
import signal
import threading
from datetime import datetime, time
from time import process_time

import pytest

from paretodepth import Criterion
from paretodepth.streaming.records import MAX_RECORD, Record, Records, SignalSafeLines, Values


def samples(text, criteria=None, **options):
    return [record.sample for record in Records(text.encode().split(b"\n"), Values(criteria), **options)]


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


UNCLOSED = "every quotation mark at the start of a cell must have a twin at its end, within 100 lines"


@pytest.mark.parametrize("ending", ["", '7,"z"', '7,"z', "7,z"])
def test_a_lone_quotation_mark_costs_its_own_record_alone(ending):
    rows = [f"{number},x" for number in range(20_000)]
    rows[150] = '150,"x'
    lines = ["a,b", *rows, *([ending] if ending else [])]
    before = process_time()
    found = list(Records([line.encode() for line in lines]))
    assert process_time() - before < 5
    assert found[150].error.startswith(f"line 152: {UNCLOSED}")
    refused = [150, len(lines) - 2] if ending == '7,"z' else [150]
    assert [record.number - 1 for record in found if record.error] == refused
    values = [record.sample["a"] for record in found if not record.error]
    assert values == [*range(150), *range(151, 20_000), *([7] if ending in ('7,"z"', "7,z") else [])]


def test_a_lone_quotation_mark_in_every_line_takes_no_time_of_the_square():
    before = process_time()
    found = list(Records([b"a,b", *[b'1,"x'] * 5000]))
    assert process_time() - before < 5
    assert [bool(record.error) for record in found] == [True] * 5000


@pytest.mark.parametrize("second", ['2,"y"', '2,y"z', '2,"y'])
def test_a_mark_that_closes_behind_other_records_is_no_twin(second):
    # Up to the next mark it would be a cell of three lines, with text or further cells behind.
    found = list(Records(f'a,b\n1,"x\n3,w\n{second}\n4,v'.encode().split(b"\n")))
    assert found[0].error.startswith("line 2: ")
    assert next(record.sample["a"] for record in found if not record.error) == 3
    assert found[-1].sample == {"a": 4, "b": "v"}


def test_cells_may_have_many_lines_but_not_any_number():
    for n_lines, is_read in [(100, True), (101, False)]:
        text = "\n".join(["y"] * n_lines)
        (first, *_, last) = Records(f'a,b\n1,"{text}"\n2,z'.encode().split(b"\n"))
        assert last.sample == {"a": 2, "b": "z"}
        assert (first.sample == {"a": 1, "b": text}) is is_read


def test_a_record_whose_lines_a_signal_ends_is_not_counted():
    class Stopping:
        signal = 0

        def __iter__(self):
            yield from (b"a,b", b"1,x", b'2,"y')
            self.signal = signal.SIGTERM

    assert list(Records(Stopping())) == [Record(1, {"a": 1, "b": "x"})]


def test_a_line_without_end_is_one_record_that_is_refused(pipe):
    reading, writing = pipe
    pieces = [b'{"a": "', *[b"x" * 2**20] * 40, b'"}\n{"a": 1}\n']
    with SignalSafeLines(reading) as lines:
        writer = threading.Thread(target=lambda: [os.write(writing, piece) for piece in pieces], daemon=True)
        writer.start()
        first, second = itertools.islice(Records(lines), 2)
        writer.join()
    assert first.error.startswith("line 1: must be at most 16,777,216 bytes long")
    assert second == Record(2, {"a": 1})


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


def test_headers_of_resumed_and_marked_streams():
    assert samples("1,2\n3,4", names=["a", "b"]) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]
    assert samples("a,b\n3,4", names=["a", "b"]) == [{"a": 3.0, "b": 4.0}]
    assert [record.number for record in Records([b"a,b", b"3,4"], names=["a", "b"], n_read=7)] == [8]
    # A byte order mark is no part of a name.
    assert [record.sample for record in Records([b"\xef\xbb\xbfa,b", b"1,2"])] == [{"a": 1.0, "b": 2.0}]


def test_records_that_cannot_be_read_are_told_and_the_next_ones_come():
    found = list(Records([b'{"a": 1}', b"nonsense", b"3", b'{"a": \xff}', b"[" * 100_000, b'{"a": 2}']))
    assert [record.sample for record in found if not record.error] == [{"a": 1}, {"a": 2}]
    assert [bool(record.error) for record in found] == [False, True, True, True, True, False]
    assert found[1] == Record(
        2,
        {},
        "line 2: must be one JSON object a line. Got text that is none (Expecting value: line 1 column 1 (char 0)).",
    )
    assert found[2].error == "line 3: must be a JSON object of values by column. Got 3 instead."
    assert errors("a,b\n1,2\n1\n1,2,3\n4,5").keys() == {2, 3}
    assert errors("a,b\n1,2,3")[1].startswith("line 2: must have 2 cells, as the header. Got 3 instead")


def test_records_without_an_end_are_refused():
    found = list(Records([b'{"a": "' + b"x" * MAX_RECORD + b'"}', b'{"a": 1}']))
    assert found[0].error.startswith("line 1: must be at most 16,777,216 bytes long")
    assert found[1].sample == {"a": 1}


BAD_HEADERS = {
    "a,a": "columns must have different names. Got 'a' for column 1 and column 2",
    "a,": "every column must have a name. Got none for column 2",
    "1,2.5": "line 1: must be a header with the names of the columns. Got only numbers instead",
    ",".join(map("x{}".format, range(60_000))): "must have at most 20,000 columns. Got 60,000 instead",
}


@pytest.mark.parametrize("header", BAD_HEADERS, ids=lambda header: header[:10])
def test_headers_that_files_must_not_have_are_refused(header):
    before = process_time()
    with pytest.raises(ValueError, match=BAD_HEADERS[header]):
        samples(f"{header}\n1,2")
    assert process_time() - before < 5


@pytest.fixture
def pipe():
    """The ends of a pipe, for reading and for writing."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_lines_come_as_they_are_written(pipe):
    reading, writing = pipe
    with SignalSafeLines(reading) as interruptible:
        lines = iter(interruptible)
        os.write(writing, b"one\r\ntw")
        assert next(lines) == b"one\r"
        os.write(writing, b"o\nthree")
        assert next(lines) == b"two"
        with open(os.devnull) as ended:
            os.dup2(ended.fileno(), writing)
        assert list(lines) == [b"three"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait_for_a_line(number, pipe):
    reading, writing = pipe
    before = signal.getsignal(number)
    with SignalSafeLines(reading) as interruptible:
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
    with SignalSafeLines(reading) as lines:
        for line in lines:
            os.kill(os.getpid(), number)
            dealt_with.append(line)
        os.kill(os.getpid(), number)
        dealt_with.append("state")
    assert dealt_with == [b"one", "state"]
