"""The command `watch`: a line in, a line out."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml
from paretodepth.cli import main, watch_command
from paretodepth.criteria.suggestion import suggest_criteria
from paretodepth.models.stream_file import load_stream
from paretodepth.streaming import StreamingDetector

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 2))
SMALL = ["--window", "60", "--alpha", "0.05"]


def json_lines(X=X):
    return "".join(json.dumps({"name": f"s{number}", "x": x, "y": y}) + "\n" for number, (x, y) in enumerate(X))


def csv_lines(X=X):
    return "name,x,y\n" + "".join(f"s{number},{x!r},{y!r}\n" for number, (x, y) in enumerate(X.tolist()))


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `watch` on some text; return its lines, its exit code and what it says."""

    def ran(text, *arguments):
        path = tmp_path / "input"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with path.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            monkeypatch.setattr(sys, "argv", ["paretodepth", "watch", *arguments])
            with pytest.raises(SystemExit) as ending:
                main()
        captured = capsys.readouterr()
        return [json.loads(line) for line in captured.out.splitlines()], ending.value.code or 0, captured.err

    return ran


def test_every_record_has_a_line_with_the_detectors_scores(run):
    lines, code, said = run(json_lines(), *SMALL, "--id", "name")
    assert code == 0
    assert [line["record"] for line in lines] == list(range(1, 151))
    assert lines[3]["id"] == "s3"
    assert "Criteria chosen automatically from the first 19 records: x; y. Not used: name (" in said
    first = {"x": X[:19, 0], "y": X[:19, 1]}
    stream = StreamingDetector(suggest_criteria(first).criteria, window=60, alpha=0.05)
    for (x, y), line in zip(X.tolist(), lines, strict=True):
        observation = stream.update_one({"x": x, "y": y})
        assert line["score"] == (None if np.isnan(observation.score) else observation.score)
        assert (line["p"] is None) == (line["score"] is None)
        assert (line["learnt"], line["drift"]) == observation[4:]
        assert (line["call"] == "anomaly") == observation.is_anomaly == (line["because"] is not None)
    assert lines[0]["call"] is None
    assert any(line["call"] == "anomaly" for line in lines)


def test_csv_is_read_as_json_lines_are(run):
    assert run(csv_lines(), *SMALL, "-q")[0] == run(json_lines(), *SMALL, "-q")[0]


def test_criteria_of_a_file_are_used(run, tmp_path):
    path = tmp_path / "criteria.toml"
    path.write_text(criteria_to_toml([Criterion("both", ["x", "y"])]))
    lines, _, said = run(json_lines(), *SMALL, "--criteria", str(path), "--method", "depth")
    stream = StreamingDetector(Criterion.from_toml(path), window=60, alpha=0.05, method="depth")
    scores = [stream.update_one({"x": x, "y": y}).score for x, y in X.tolist()]
    assert [line["score"] for line in lines[30:]] == scores[30:]
    assert said == ""


BAD = {
    '{"x": 1.0}': "Got no 'y' instead",
    '{"x": "oops", "y": 1.0}': "The column 'x' of the criterion 'x' must hold numbers. Got 'oops'",
    '{"x": NaN, "y": 1.0}': "must hold no missing values (NaN, None). Got 1 in 'x'",
    '{"x": null, "y": 1.0}': "must hold no missing values (NaN, None). Got 1 in 'x'",
    '{"x": [1.0], "y": 1.0}': "'x'",
    '{"x": Infinity, "y": 1.0}': "must hold finite numbers. Got inf in 'x'",
    "[1.0, 2.0]": "watch",
    "3": "must be a JSON object of values by column. Got 3 instead",
    "nonsense": "must be one JSON object a line",
}


@pytest.mark.parametrize("is_early", [True, False])
def test_records_that_are_refused_are_reported_and_leave_the_window_as_it_was(run, with_criteria, is_early):
    good = json_lines().splitlines()
    place = 5 if is_early else 100
    mixed = "\n".join(good[:place] + list(BAD) + good[place:])
    options = [*SMALL, *with_criteria([Criterion("x", "x"), Criterion("y", "y")])]
    lines, code, said = run(mixed, *options)
    assert code == 0
    wrong = lines[place : place + len(BAD)]
    for line, text in zip(wrong, BAD.values(), strict=True):
        assert text in line["error"]
        assert f"Record {line['record']} was skipped: {line['error']}" in " ".join(said.split())
    rest = [line for line in lines if "error" not in line]
    expected = run("\n".join(good), *options, "-q")[0]
    assert [line | {"record": 0} for line in rest] == [line | {"record": 0} for line in expected]


def test_with_on_error_stop_the_first_bad_record_ends_the_stream(run, tmp_path):
    good = json_lines().splitlines()
    state = str(tmp_path / "state")
    lines, code, said = run(
        "\n".join([*good[:40], '{"x": 1}', *good[40:]]), *SMALL, "--on-error", "stop", "--state", state
    )
    assert code == 2
    assert len(lines) == 40
    assert "paretodepth: Record 41: The columns given to watch" in said
    # When it is mended the stream goes on there.
    more, code, said = run("\n".join(good), "--replay", "--state", state)
    assert code == 0
    assert lines + more == run("\n".join(good), *SMALL, "-q")[0]
    assert "state: resumes after record 40, with " in said


DROPPING = [Criterion("x", "x", "difference", missing="drop"), Criterion("y", "y", "difference")]
COVARIANCE = [Criterion("m", ["x", "y"], "mahalanobis")]


@pytest.fixture
def with_criteria(tmp_path):
    """Return the options that name a file of criteria."""

    def written(criteria):
        path = tmp_path / "criteria.toml"
        path.write_text(criteria_to_toml(criteria))
        return ["--criteria", str(path)]

    return written


def as_text(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_missing_values_in_columns_that_no_criterion_reads_hide_no_anomaly(run, with_criteria):
    far = np.concatenate((X, X[:20] + 99))
    records = [{"x": x, "y": y, "note": None} for x, y in far.tolist()]
    lines, code, said = run(as_text(records), *SMALL, "-q", *with_criteria(DROPPING))
    assert (code, said) == (0, "")
    expected = run(as_text([{"x": one["x"], "y": one["y"]} for one in records]), *SMALL, "-q", *with_criteria(DROPPING))
    assert lines == expected[0]
    assert all(line["call"] == "anomaly" for line in lines[150:155])


@pytest.mark.parametrize("depth", [300, 480, 900])
@pytest.mark.parametrize("place", [0, 1, 90])
def test_a_nested_column_that_no_criterion_reads_does_not_end_a_stream(run, tmp_path, depth, place):
    good = json_lines().splitlines()
    good[place] = f'{good[place][:-1]}, "extra": {"[" * depth}1{"]" * depth}}}'
    lines, code, _ = run("\n".join(good), *SMALL, "--state", str(tmp_path / "s"), "--save-every", "1")
    assert code == 0
    assert lines == run(json_lines(), *SMALL)[0]
    assert run("", "--state", str(tmp_path / "s"))[1] == 0


@pytest.mark.parametrize("values", [(["a"], "text"), ("text", ["a"]), (1.0, "n/a"), (None, {"a": [1]})])
def test_the_first_record_does_not_fix_the_type_of_columns_that_no_criterion_reads(run, with_criteria, values):
    records = [{"x": x, "y": y, "note": values[number > 0]} for number, (x, y) in enumerate(X.tolist())]
    lines, code, _ = run(as_text(records), *SMALL, *with_criteria(DROPPING))
    assert code == 0
    assert not [line for line in lines if "error" in line]


def test_a_fixed_model_looks_at_no_column_that_no_criterion_reads(run, tmp_path):
    columns = {"x": X[:, 0], "y": X[:, 1], "note": ["text"] * len(X)}
    ParetoDepthDetector([Criterion("both", ["x", "y"])]).fit(columns).save(tmp_path / "m")
    records = [{"x": 9.0, "y": 9.0, "note": note} for note in (None, ["a"], {"a": 1}, 1.0)] + [{"x": 9.0, "y": 9.0}]
    lines, code, _ = run(as_text(records), "--model", str(tmp_path / "m"))
    assert code == 0
    assert len({line["score"] for line in lines}) == len({line["because"] for line in lines}) == 1


def test_rows_are_explained_whatever_other_columns_hold(run, with_criteria):
    rows = [[x, "text", y] for x, y in (*X.tolist(), (99.0, 99.0))]
    lines, code, _ = run(as_text(rows), *SMALL, *with_criteria([Criterion("x", 0), Criterion("y", 2)]))
    assert code == 0
    assert lines[-1]["call"] == "anomaly"
    assert "99" in lines[-1]["because"]


def test_an_integer_too_long_for_a_state_is_refused_and_does_not_end_a_stream(run, tmp_path, with_criteria):
    criteria = with_criteria([Criterion("kind", "kind", "mismatch"), Criterion("y", "y")])
    records = [{"kind": 10**2000 if number == 5 else "ab"[x > 0], "y": y} for number, (x, y) in enumerate(X.tolist())]
    lines, code, _ = run(as_text(records), *SMALL, *criteria, "--state", str(tmp_path / "s"), "--save-every", "7")
    assert code == 0
    assert [line["record"] for line in lines if "error" in line] == [6]
    assert "must hold categories: strings, booleans or numbers below 1.8e308" in lines[5]["error"]


def test_a_window_that_cannot_be_fitted_is_reported_once_and_refuses_no_record(run, with_criteria):
    records = [{"x": 1.0, "y": 2.0}] * 30 + [{"x": x, "y": y} for x, y in X.tolist()]
    lines, code, said = run(as_text(records), *SMALL, "-q", *with_criteria(COVARIANCE))
    assert code == 0
    assert not [line for line in lines if "error" in line]
    assert all(line["score"] is not None for line in lines[50:])
    assert said.count("\n") == 1
    assert said.startswith("Note: Record 19: The window cannot be fitted; the last sample need not be the cause.")


@pytest.mark.parametrize(("n_good", "n_bad", "code"), [(0, 3, 2), (30, 99, 0), (30, 100, 2), (30, 140, 2)])
def test_a_stream_whose_last_records_were_all_refused_fails(run, with_criteria, tmp_path, n_good, n_bad, code):
    text = json_lines(X[:n_good]) + '{"x": "n/a"}\n' * n_bad
    options = with_criteria([Criterion("x", "x"), Criterion("y", "y")])
    lines, found, said = run(text, *SMALL, *options, "--state", str(tmp_path / "s"), "-q")
    assert (found, len(lines)) == (code, n_good + n_bad)
    last = said.splitlines()[-1]
    assert last.startswith(f"paretodepth: The last records were refused, {n_bad} in a row. The last one:") == (
        code == 2
    )
    # What was learned before is in the state.
    assert load_stream(tmp_path / "s", {}, dict)["n_seen"] == n_good


@pytest.mark.parametrize("n_records", [40, 100, 250])
def test_a_stream_of_which_no_record_is_used_says_so_once(run, with_criteria, n_records):
    lines, code, said = run('{"x": null, "y": 1.0}\n' * n_records, *SMALL, "-q", *with_criteria(DROPPING))
    assert code == 0
    assert {line["score"] for line in lines} == {None}
    assert said == (
        f"Note: None of {min(n_records, 100)} records was learned or scored: in each, a value is missing in a column "
        'of a criterion with missing = "drop".\n'
    )


@pytest.mark.parametrize("first", [1, 10, 19, 77])
def test_a_stream_in_parts_says_what_it_says_in_one(run, tmp_path, first):
    state = str(tmp_path / "state")
    whole = run(csv_lines(), *SMALL, "-q")[0]
    header, *rows = csv_lines().splitlines()
    parts = ["\n".join([header, *rows[:first]]), "\n".join(rows[first:100]), "\n".join([header, *rows[100:]])]
    given = [[*SMALL, "--state", state, "-q"], ["--state", state, "-q"], ["--state", state, "-q", "--window", "60"]]
    assert [line for part, options in zip(parts, given, strict=True) for line in run(part, *options)[0]] == whole


def test_a_fixed_model_scores_and_learns_nothing(run, tmp_path):
    columns = {"x": X[:, 0], "y": X[:, 1]}
    detector = ParetoDepthDetector(method="blend").fit(columns)
    detector.save(tmp_path / "m")
    new = RNG.normal(size=(20, 2)) * 2
    lines, code, _ = run(json_lines(new), "--model", str(tmp_path / "m"), "--id", "name")
    assert code == 0
    asked = {"x": new[:, 0], "y": new[:, 1]}
    assert [-line["score"] for line in lines] == detector.score_samples(asked).tolist()
    assert [line["p"] for line in lines] == detector.p_values(asked).tolist()
    assert [line["call"] == "anomaly" for line in lines] == (detector.predict(asked) < 0).tolist()
    assert not any(line["learnt"] for line in lines)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--window", "5"], "'window' parameter of watch must be an integer of at least 99, what 'alpha' needs"),
        (["--window", "100000000"], "'window' parameter of watch must be so small that its pairs fit into"),
        (["--refresh", "0"], "'refresh' parameter of watch must be None or an integer from 1"),
        (["--alpha", "2"], "'alpha' parameter of watch must be a number between 0 and 1"),
        (["--max-unlearnt", "7"], "'max_unlearnt' parameter of watch must be a number between 0 and 1"),
        (["--max-alerts", "5/1000"], "No such option: --max-alerts"),
        (["--criteria", "nowhere.toml"], "nowhere.toml"),
        (["--state", "no/such/folder/state"], "cannot write the output: no folder"),
        (["--model", "nowhere.model"], "nowhere.model"),
        (["--model", "m", "--window", "500"], "so nothing is learned. Got '--window' besides"),
        (["--model", "m", "--state", "s"], "so nothing is learned. Got '--state' besides"),
        (["--learn", "never"], "never"),
        (["--on-error", "cry"], "cry"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(refused, tmp_path, monkeypatch, arguments, text):
    monkeypatch.chdir(tmp_path)
    refused(["watch", *arguments], text, tmp_path)


def test_a_stream_that_goes_on_keeps_its_options(run, tmp_path):
    state = str(tmp_path / "state")
    run(json_lines(), *SMALL, "--state", state)
    _, code, said = run(json_lines(), "--window", "70", "--state", state)
    assert code == 2
    assert "a stream that resumes must keep its options. Got another '--window', 70 in place of 60" in said
    (tmp_path / "state").write_bytes(b"nothing of the kind")
    _, code, said = run(json_lines(), "--state", state)
    assert code == 2
    assert "must be a whole model file" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": "x"}\n' * 60, "Without criteria there must be a column to compare. Got 'a' (is always 'x')"),
        ("[1, 2]", "The last records were refused, 1 in a row. The last one: A sample without names of columns must"),
    ],
)
def test_records_without_anything_to_compare_or_names_are_refused(run, text, words):
    _, code, said = run(text, *SMALL)
    assert code == 2
    assert words in said


def test_a_header_that_names_nothing_is_refused(run):
    _, code, said = run("a,a\n1,2", *SMALL)
    assert code == 2
    assert "columns must have different names. Got 'a' for column 1 and column 2" in said


def test_an_empty_stream_has_no_lines(run, tmp_path):
    assert run("", *SMALL, "--state", str(tmp_path / "s"))[:2] == ([], 0)


def test_the_view_shows_rate_latency_and_anomalies():
    encoding = watch_command._View()
    fine = {"record": 1, "score": 1.0, "p": 0.5, "call": "nominal", "drift": False, "because": None}
    encoding.note(fine, 0.001)
    odd = {"record": 2, "call": "anomaly", "drift": True, "p": 0.002, "score": 77.0}
    encoding.note(fine | odd | {"because": "x 9 is high\x1b[2J", "id": "s2"}, 0.003)
    encoding.note({"record": 3, "error": "bad"}, 0.001)
    screen = Console(file=io.StringIO(), width=120)
    screen.print(encoding.picture())
    shown = screen.file.getvalue()
    assert "2 samples, 1 anomalies, 1 left out." in shown
    assert "1.0 ms each, 1.0 ms at most for 99 %" in shown
    assert "Drift 1 times, last at record 2." in shown
    assert "s2" in shown
    assert "x 9 is high�[2J" in shown


@pytest.mark.slow
def test_lines_come_at_once_and_a_terminal_gets_a_view(tmp_path):
    code = "from paretodepth.cli import main; main()"
    command = [sys.executable, "-c", code, "watch", *SMALL]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **streams, text=True)
    for number, line in enumerate(json_lines().splitlines()[:30], 1):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["record"] == number
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()
    pty = pytest.importorskip("pty")
    reading, writing = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL) as process:
        os.close(writing)
        process.stdin.write(json_lines().encode())
        process.stdin.close()
        try:
            while part := os.read(reading, 2**16):
                shown += part
        except OSError:
            # How Linux tells that nobody writes any more.
            pass
    os.close(reading)
    assert b"150 samples" in shown
    assert b'{"record"' not in shown
