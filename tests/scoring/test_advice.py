import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth.scoring.advice import clear_outlier_advice, clear_outlier_rows, count_ties
from paretodepth.scoring.methods import METHODS


def test_ties_are_dyads_that_are_not_alone():
    ties = count_ties(np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [1.0, 4.0, 0.0]]))
    assert_allclose(ties.shares, [0.5, 0.0, 1.0])
    assert_allclose(ties.zero_shares, [0.0, 0.25, 1.0])


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_names_training_samples_that_stand_out_and_advises_to_leave_them_out(method):
    X = np.random.default_rng(0).random((300, 2))
    # Warnings are errors: of nominal samples alone nothing is said.
    assert not ParetoDepthDetector(method=method).fit(X).advice_
    X[[7, 42]] += [[3.0, 0.0], [0.0, 4.0]]
    with pytest.warns(AdviceWarning, match="2 training samples score like anomalies: (7, 42|42, 7). Fit again"):
        ParetoDepthDetector(method=method).fit(X)


def test_advice_names_no_parameter_for_it_is_read_where_there_is_none():
    rng = np.random.default_rng(0)
    x = rng.random(40)
    slow = [Criterion("a", [0], lambda a, b: abs(a[0] - b[0]), pairwise=True), Criterion("b", [1])]
    fits = [
        (ParetoDepthDetector(max_depth=1), rng.random((40, 2))),
        (ParetoDepthDetector(max_depth=1, method="blend"), rng.random((40, 3))),
        (ParetoDepthDetector(), rng.random((40, 6))),
        (ParetoDepthDetector(slow), rng.random((40, 2))),
        (ParetoDepthDetector(), np.column_stack([x, np.ones(40), x, rng.integers(2, size=40)])),
    ]
    parameters = [name for name in [*ParetoDepthDetector().get_params(), "pairwise"] if name not in ("method", "depth")]
    for detector, X in fits:
        with pytest.warns(AdviceWarning):
            advice = " ".join(detector.fit(X).advice_)
        assert "=" not in advice
        assert not [name for name in parameters if re.search(rf"\b{name}\b", advice.replace("criteria", ""))]


def test_of_few_samples_none_stands_out():
    assert not len(clear_outlier_rows(np.append(np.arange(98.0), 1e6)))
    assert_array_equal(clear_outlier_rows(np.append(np.arange(99.0), 1e6)), [99])


def test_many_that_stand_out_are_counted_and_dropped_samples_keep_their_numbers():
    scores = np.concatenate([np.arange(200.0), 1e9 + np.arange(6.0), [np.nan]])[::-1]
    assert_array_equal(clear_outlier_rows(scores), [1, 2, 3, 4, 5, 6])
    assert clear_outlier_advice(scores) == [
        "6 training samples score like anomalies: 1, 2, 3, 4, 5 and more. Fit again without those that are not nominal."
    ]
