"""The function `watch`, beside the streaming detector and itself on other sources."""

import json

import numpy as np
import pytest

from paretodepth import AdviceWarning, Criterion, watch
from paretodepth.criteria.suggestion import suggest_criteria
from paretodepth.models.stream_file import load_stream
from paretodepth.streaming import StreamingDetector

X = np.random.default_rng(0).normal(size=(120, 2)).tolist()
RECORDS = [{"x": x, "y": y, "day": f"2024-03-{1 + number % 28:02}"} for number, (x, y) in enumerate(X)]
SMALL = {"window": 60, "alpha": 0.05}
CRITERIA = [Criterion("both", ["x", "y"])]


def test_every_source_gives_the_results_of_the_detector(tmp_path):
    lines = [json.dumps(record) + "\n" for record in RECORDS]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    (tmp_path / "a.csv").write_text(
        "x,y,day\n" + "".join(f"{x!r},{y!r},{day}\n" for x, y, day in map(dict.values, RECORDS))
    )
    sources = [RECORDS, [line.encode() for line in lines], tmp_path / "a.jsonl", str(tmp_path / "a.csv")]
    first, *others = (list(watch(source, CRITERIA, **SMALL)) for source in sources)
    assert all(other == first for other in others)
    stream = StreamingDetector(CRITERIA, **SMALL)
    scores = [stream.update_one(record).score for record in RECORDS]
    assert [result["score"] for result in first] == [None if np.isnan(score) else score for score in scores]


def test_criteria_are_those_that_a_table_of_the_first_records_suggests():
    notes = []
    found = list(watch(RECORDS, **SMALL, note=notes.append))
    days = np.array([record["day"] for record in RECORDS[:19]], dtype="datetime64[us]")
    table = {"x": [x for x, _ in X[:19]], "y": [y for _, y in X[:19]], "day": days}
    assert notes[0].startswith("Criteria chosen automatically from the first 19 records: x; y. Not used: day (")
    assert [criterion.name for criterion in suggest_criteria(table).criteria] == ["x", "y"]
    assert {result["score"] for result in found[:19]} == {None}
    assert None not in {result["score"] for result in found[19:]}


def test_a_record_that_the_chosen_criteria_refuse_is_skipped_with_a_warning():
    records = [RECORDS[0] | {"x": "oops"} if number == 5 else record for number, record in enumerate(RECORDS)]
    with pytest.warns(
        AdviceWarning, match="Record 19: 1 of the first 19 samples are skipped. The first: The column 'x'"
    ):
        found = list(watch(records, **SMALL))
    assert found[19]["score"] is None
    assert None not in {result["score"] for result in found[20:]}


@pytest.mark.parametrize("n_first", [3, 19, 50])
def test_a_closed_iterator_has_written_what_it_has_yielded(tmp_path, n_first):
    whole = list(watch(RECORDS, **SMALL))
    results = watch(RECORDS, **SMALL, state=tmp_path / "s")
    first = [next(results) for _ in range(n_first)]
    results.close()
    assert load_stream(tmp_path / "s", {}, dict)["n_read"] == n_first
    assert first + list(watch(RECORDS, state=tmp_path / "s", replay=True)) == whole
    if n_first == 3:
        results = watch(RECORDS[:3], **SMALL, state=tmp_path / "waiting")
        assert len(list(results)) == 3
        with pytest.raises(ValueError, match=r"does not understand|must have criteria"):
            StreamingDetector.load(tmp_path / "waiting")


def test_options_are_refused_before_any_record_is_read():
    for options, text in (
        ({"window": 5}, "'window'"),
        ({"on_error": "cry"}, "'on_error'"),
        ({"save_every": 0}, "'save_every'"),
    ):
        with pytest.raises(ValueError, match=text):
            watch(iter([]), **options)
    with pytest.raises(ValueError, match="Record 2: "):
        list(watch([RECORDS[0], {"x": None}], CRITERIA, on_error="stop"))
