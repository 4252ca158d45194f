"""Promises that every metric of the registry keeps."""

import json
import pickle
import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import KINDS
from tests.criteria.metric_draws import draws, is_installed, rows
from tests.draws import fitted

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

DRAWS = draws(METRICS.values())
INSTALLED = [draw for draw in DRAWS if is_installed(METRICS[draw.metric])]

every_metric = pytest.mark.parametrize("draw", INSTALLED, ids=lambda draw: "-".join([draw.metric, *draw.training]))


def criterion(draw, **parameters):
    return Criterion("one", metric=draw.metric, **draw.params, **parameters)


def blocks(draw):
    """Return the fitted criterion, its block of training samples and that of new ones."""
    own = fitted([criterion(draw)], draw.training)
    (one,), (training,), (new,) = own.criteria, own.encodings, own.views_of(draw.new)
    return one, one.dissimilarities(training, training, (0, 0)), one.dissimilarities(new, training, (0, 0))


@every_metric
def test_a_metric_agrees_with_its_naive_twin(draw):
    _, training_block, new_block = blocks(draw)
    training, new = rows(draw.training), rows(draw.new)
    for block, samples in ((training_block, training), (new_block, new)):
        expected = [[draw.twin(a, b, training) for b in training] for a in samples]
        assert_allclose(block, expected, rtol=1e-9, atol=1e-9)


@every_metric
def test_a_metric_is_symmetric_zero_on_the_diagonal_and_never_negative(draw):
    _, block, new_block = blocks(draw)
    assert np.all(block >= 0)
    assert np.all(new_block >= 0)
    # Sums that start from the other sample may differ in the last bit; of a pair, the earlier sample comes first.
    assert_allclose(block, block.T, rtol=1e-12, atol=1e-15)
    if METRICS[draw.metric].is_symmetric:
        assert_array_equal(block, block.T)
    if draw.metric == "russellrao":
        flags = np.array(rows(draw.training))
        assert_allclose(np.diagonal(block), 1 - flags.mean(axis=1))
    else:
        assert_allclose(np.diagonal(block), 0, atol=3e-16)


@every_metric
def test_a_metric_gives_the_same_bits_alone_and_in_a_batch(draw):
    one, training_block, new_block = blocks(draw)
    own = fitted([criterion(draw)], draw.training)
    (training,) = own.encodings
    for sample in range(len(new_block)):
        (alone,) = own.views_of({name: column[sample : sample + 1] for name, column in draw.new.items()})
        assert_array_equal(one.dissimilarities(alone, training, (0, 0))[0], new_block[sample])
    for other in range(len(training)):
        column = one.dissimilarities(training, training[other : other + 1], (0, 0))[:, 0]
        assert_array_equal(column, training_block[:, other])


@every_metric
def test_a_metric_writes_the_same_bits_into_a_given_block(draw):
    one, block, _ = blocks(draw)
    (training,) = fitted([criterion(draw)], draw.training).encodings
    for some in (slice(0, 1), slice(2, 5)):
        written = np.full((some.stop - some.start, len(training) - some.start), np.nan)
        one.write_training_dissimilarities(written, training, some, 1)
        assert_array_equal(written, block[some, some.start :])


@every_metric
def test_a_metric_works_from_fit_to_copies(draw, tmp_path):
    detector = ParetoDepthDetector([criterion(draw)], n_neighbors=3).fit(draw.training)
    scores = detector.score_samples(draw.new)
    assert scores.shape == (23,)
    assert set(detector.predict(draw.new)) <= {-1, 1}
    (tmp_path / "criteria.toml").write_text(criteria_to_toml(detector.criteria))
    from_file = Criterion.from_toml(tmp_path / "criteria.toml")
    assert from_file == detector.criteria
    others = [
        ParetoDepthDetector(from_file, n_neighbors=3).fit(draw.training),
        clone(detector).fit(draw.training),
        pickle.loads(pickle.dumps(detector)),
    ]
    for other in others:
        assert_array_equal(other.score_samples(draw.new), scores)


@every_metric
def test_what_is_estimated_is_plain_values_and_arrays(draw):
    one, _, _ = blocks(draw)
    plain = {key: value for key, value in one.state.items() if not isinstance(value, np.ndarray)}
    assert json.loads(json.dumps(plain)) == plain
    assert {"missing", *(parameter.name for parameter in METRICS[draw.metric].parameters)} <= set(one.state)
    for value in one.state.values():
        assert not isinstance(value, np.ndarray) or value.dtype == np.float64


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_an_entry_tells_what_a_newcomer_needs(metric):
    assert metric.kind in KINDS
    assert 10 < len(metric.summary) < 120
    assert metric.source
    for parameter in metric.parameters:
        assert parameter.summary


@pytest.mark.parametrize(
    "metric", [metric for metric in METRICS.values() if metric.extra], ids=lambda metric: metric.name
)
def test_a_blocked_library_is_named_with_its_extra(metric, monkeypatch):
    module, extra = metric.extra
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs '{module}', .* pip install \"paretodepth\[{extra}\]\""):
        ParetoDepthDetector([Criterion("one", metric=metric.name)]).fit({"a": ["x", "y", "z"]})


def test_every_metric_of_cdist_is_in_the_registry():
    named = set(re.findall(r"cdist\(XA, XB, '(\w+)'", cdist.__doc__))
    assert len(named) > 15
    # "matching" is another name of "hamming"; SciPy has given up the others.
    assert named - {"matching", "kulczynski1", "sokalmichener"} <= set(METRICS)


SYMMETRIC = [name for name, metric in METRICS.items() if metric.is_symmetric and metric.kind == "numeric"]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_metrics_are_so_to_the_last_bit(name):
    for n_columns in (1,) if name == "difference" else (1, 2, 3, 5, 8, 17, 64):
        samples = np.random.default_rng(0).standard_normal((60, n_columns)) ** 3
        (one,), (encoding,), _ = fitted([Criterion("x", metric=name)], samples)
        block = one.dissimilarities(encoding, encoding, (0, 0))
        assert_array_equal(block, block.T, err_msg=f"{n_columns} columns")
