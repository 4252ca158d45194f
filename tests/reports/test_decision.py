"""Who is called."""

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import ParetoDepthDetector
from paretodepth.reports.decision import fdr_threshold, n_clear_outliers, share_threshold
from paretodepth.reports.detect import find
from paretodepth.scoring.calibration import TAIL_SHAPE, tail_p_values
from tests.draws import DRAWS, draw_dyads


def naive_stand_out(scores):
    """The definition, sample by sample."""
    n, rising = len(scores), sorted(scores)
    n_tail = min(n - 1, max(5, int(0.1 * n)))
    share_at_least = [sum(other >= score for other in scores) / n for score in scores]
    if n_tail < 1:
        return share_at_least
    start, tail = rising[-n_tail - 1], rising[-n_tail:]
    n_lower = (n_tail + 1) // 2
    exceeded = 1 - n_lower / (n_tail + 1)
    scale = (tail[n_lower - 1] - start) * TAIL_SHAPE / (exceeded**-TAIL_SHAPE - 1)
    if scale <= 0:
        return share_at_least
    return [
        n_tail / n * (1 + TAIL_SHAPE * (score - start) / scale) ** (-1 / TAIL_SHAPE) if score > start else share
        for score, share in zip(scores, share_at_least, strict=True)
    ]


@pytest.mark.parametrize("n_samples", [1, 2, 7, 40, 200])
@pytest.mark.parametrize("draw", [name for name in DRAWS if name not in ("infinite", "empty")])
def test_what_the_rest_suggests_is_the_tail_of_the_scores(draw, n_samples):
    scores = draw_dyads(draw, 1, n_dyads=n_samples)[:, 0]
    np.testing.assert_allclose(tail_p_values(scores), naive_stand_out(scores.tolist()), rtol=1e-12)


@pytest.mark.parametrize("n_far", [1, 3, 10])
def test_samples_far_beyond_the_rest_stand_out_and_no_others(n_far):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.exponential(size=400), rng.uniform(60, 90, n_far)])
    assert (scores > fdr_threshold(scores, tail_p_values(scores), 0.1)).nonzero()[0].tolist() == list(
        range(400, 400 + n_far)
    )


def test_of_exponential_scores_alone_hardly_any_stand_out():
    counts = []
    for seed in range(50):
        scores = np.random.default_rng(seed).exponential(size=300)
        counts.append((scores > fdr_threshold(scores, tail_p_values(scores), 0.1)).sum())
    assert np.mean(np.array(counts) > 0) <= 0.1


def test_of_equal_scores_none_stands_out():
    scores = np.ones(50)
    assert not (scores > fdr_threshold(scores, tail_p_values(scores), 0.1)).any()


@pytest.mark.parametrize(("share", "n_called"), [(0.05, 3), (0.001, 1), (0.5, 25), (0.999, 50)])
def test_a_share_is_rounded_to_whole_samples_and_at_least_one(share, n_called):
    scores = np.random.default_rng(0).permutation(50).astype(float)
    assert (scores > share_threshold(scores, share)).sum() == n_called


def test_tied_samples_at_the_threshold_are_called_only_if_none_else_would_be():
    assert (np.array([1.0, 2, 2, 3]) > share_threshold(np.array([1.0, 2, 2, 3]), 0.5)).tolist() == [
        False, False, False, True,
    ]  # fmt: skip
    assert (np.array([1.0, 2, 2, 2]) > share_threshold(np.array([1.0, 2, 2, 2]), 0.25)).sum() == 3


def table_with_one_far(n_samples=200):
    values = np.random.default_rng(0).random((n_samples, 2))
    values[17, 0] = 30.0
    return pa.table({"a": values[:, 0], "b": values[:, 1]})


def test_of_one_file_the_strangest_twentieth_is_called_and_who_stands_out_is_counted():
    found = find(ParetoDepthDetector(method="blend"), table_with_one_far())
    assert (found.contamination, found.n_anomalies) == (0.05, 10)
    assert n_clear_outliers(found.tail_p_values) == 1
    assert n_clear_outliers(np.array([np.nan, 1e-9, 0.5])) == 1
    by_rate = find(ParetoDepthDetector(method="blend"), table_with_one_far(), fdr=0.1)
    assert by_rate.is_anomaly.nonzero()[0].tolist() == [17]


def test_a_contamination_is_the_share_that_is_called():
    found = find(ParetoDepthDetector(method="blend"), table_with_one_far(), contamination=0.1)
    assert found.n_anomalies == 20
    assert set(found.most_unusual[:20]) == set(found.is_anomaly.nonzero()[0])


def test_a_rate_of_the_detector_is_kept():
    for rates in ({"alpha": 0.1}, {"threshold": 3.0}):
        found = find(ParetoDepthDetector(**rates), table_with_one_far())
        assert found.fdr is None
        assert found.threshold == found.model.threshold


def test_two_ways_to_call_and_a_share_of_new_samples_are_refused():
    table = table_with_one_far(30)
    with pytest.raises(ValueError, match=r"Give either fdr or contamination\. Got both"):
        find(ParetoDepthDetector(), table, fdr=0.1, contamination=0.1)
    with pytest.raises(ValueError, match="Give either alpha or contamination"):
        find(ParetoDepthDetector(alpha=0.1), table, contamination=0.1)
    with pytest.raises(ValueError, match=r"share of a single table's records to flag\. Got a reference too"):
        find(ParetoDepthDetector(), table, table, contamination=0.1)
    for share in (0, 1, "all"):
        with pytest.raises(ValueError, match="'contamination' parameter of detect must be a number between 0 and 1"):
            find(ParetoDepthDetector(), table, contamination=share)
