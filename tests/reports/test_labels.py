"""Labels that are known."""

import json

import numpy as np
import pyarrow as pa
import pytest

from paretodepth.reports.labels import Labels, label_sentence


@pytest.mark.parametrize(
    ("values", "anomaly", "reason"),
    [
        ([0, 1, 1, 1], "1", "1 beside 0"),
        ([0.0, 1.0, 1.0], "1", "1 beside 0"),
        ([True, True, False], "true", "its name says so"),
        (["no", "Yes", "Yes"], "Yes", "its name says so"),
        (["normal", "Anomaly", "Anomaly"], "Anomaly", "its name says so"),
        ([1, 2, 1], "2", "the rarer value"),
        ([1, -1, 1], "-1", "the rarer value"),
        (["o", "n", "n"], "o", "the rarer value"),
        (["yes", "true", "true"], "yes", "the rarer value"),
    ],
)
def test_the_anomaly_is_the_value_named_so_or_the_rarer_one(values, anomaly, reason):
    labels = Labels.of(pa.table({"y": values}), "y")
    assert (labels.anomaly, labels.reason) == (anomaly, reason)
    assert 0 < labels.is_anomaly.sum() < len(values)


def test_figures_are_those_of_the_definitions():
    truth = [1, 0, 1, 0, 0, 1, 0, 0]
    scores = np.array([9.0, 8, 7, 6, 5, 4, 3, 2])
    told = Labels.of(pa.table({"y": truth}), "y").figures(scores)
    pairs = [(a, b) for a, t in zip(scores, truth, strict=True) for b, u in zip(scores, truth, strict=True) if t > u]
    assert told["area"] == pytest.approx(np.mean([a > b for a, b in pairs]))
    assert told["average_precision"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 6) / 3)
    assert told["precision_at_n"] == pytest.approx(2 / 3)
    assert (told["n_anomalies"], told["n_labelled"]) == (3, 8)
    assert json.loads(json.dumps(told)) == told
    assert "Area under the ROC curve 0.733, average precision 0.722, precision at 3 0.667." in label_sentence(told)


def test_tied_samples_share_their_places_in_precision_at_n():
    told = Labels.of(pa.table({"y": [1, 0, 0, 0]}), "y").figures(np.ones(4))
    assert told["precision_at_n"] == 0.25
    assert told["area"] == 0.5


def test_samples_without_a_label_or_a_score_do_not_count():
    labels = Labels.of(pa.table({"y": [1, 0, None, 0, 1]}), "y")
    told = labels.figures(np.array([3.0, 1, 9, 2, np.nan]))
    assert (told["n_anomalies"], told["n_labelled"], told["area"]) == (1, 3, 1.0)


def test_where_scored_samples_are_all_of_one_kind_nothing_is_told():
    told = Labels.of(pa.table({"y": [1, 0, 0]}), "y").figures(np.array([np.nan, 1.0, 2.0]))
    assert told["area"] is told["average_precision"] is told["precision_at_n"] is None
    assert "all have the same label" in label_sentence(told)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, 1, 1], r"The label 'y' must have two values, one of them for anomalies. Got 1 \(1\) instead"),
        (list("abcdefg"), r"Got 7 \(a, b, c, d, e, …\) instead; leave out --label"),
        (pa.array([None, None], pa.string()), "Got 0 instead"),
        (["a", "b"], "Got 1 samples each of 'a' and 'b' instead; rename the values"),
    ],
)
def test_what_is_no_label_is_refused(values, text):
    with pytest.raises(ValueError, match=text):
        Labels.of(pa.table({"y": values}), "y")


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match=r"The label must be a column of the samples. Got 'z' instead.*there are 'y'"):
        Labels.of(pa.table({"y": [0, 1]}), "z")
