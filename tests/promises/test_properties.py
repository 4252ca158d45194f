"""Properties of any valid input: what scores do not depend on, the algebra of fronts, values at the edge of floats."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule
from numpy.testing import assert_array_equal

from paretodepth import Criterion, Fronts, ParetoDepthDetector, front_numbers
from paretodepth.fronts.summary import FrontSummary
from tests import naive
from tests.draws import dyad_arrays

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

SOME = settings(max_examples=60, deadline=None)
N_TRAINING, N_NEW = 7, 4
EDGES = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1e-300, 1.0, 1 + 2**-52, 1e300, 1.7976931348623157e308]
# Halves of the largest, whose difference is finite; a difference that is not is refused.
SCORED_EDGES = [sign * value for value in (*EDGES[:-1], 8.98e307) for sign in (1, -1)]


def matrices(n_criteria, largest):
    """Draws of precomputed criteria: whole numbers, mostly tied, as square and symmetric matrices and as new rows."""
    n_pairs = N_TRAINING * (N_TRAINING - 1) // 2
    values = st.integers(0, largest)
    return st.tuples(
        arrays(int, (n_criteria, n_pairs), elements=values),
        arrays(int, (n_criteria, N_NEW, N_TRAINING), elements=values),
    )


def square(pairs):
    """Symmetric matrices from the values above their diagonal."""
    full = np.zeros((len(pairs), N_TRAINING, N_TRAINING))
    above = np.triu_indices(N_TRAINING, 1)
    full[:, above[0], above[1]] = pairs
    return full + full.transpose(0, 2, 1)


def fitted(training, **parameters):
    criteria = [Criterion(f"c{i}", metric="precomputed") for i in range(len(training))]
    return ParetoDepthDetector(criteria, **parameters).fit(list(training))


@pytest.mark.parametrize("depth", ["paper", "insertion", "mid"])
@SOME
@given(drawn=matrices(2, 5), steps=arrays(float, (2, 6), elements=st.floats(1e-3, 1e6)))
def test_scores_survive_increasing_transforms_of_any_criterion(depth, drawn, steps):
    training, new = square(drawn[0]), drawn[1]
    # The k-th smallest value becomes the sum of the first k steps; 0 stays 0.
    images = np.concatenate((np.zeros((2, 1)), np.cumsum(steps, axis=1)[:, :5]), axis=1)
    moved = [
        np.stack([image[part.astype(int)] for image, part in zip(images, whole, strict=True)])
        for whole in (training, new)
    ]
    a, b = fitted(training, depth=depth), fitted(moved[0], depth=depth)
    assert_array_equal(a.n_neighbors_, b.n_neighbors_)
    assert_array_equal(a.mean_depth(list(new)), b.mean_depth(list(moved[1])))
    assert_array_equal(a.p_values(list(new)), b.p_values(list(moved[1])))
    assert_array_equal(a.training_scores_, b.training_scores_)


@pytest.mark.parametrize("method", ["depth", "blend"])
@SOME
@given(drawn=matrices(3, 4), order=st.permutations(range(N_TRAINING)))
def test_scores_do_not_depend_on_the_order_of_training_samples(method, drawn, order):
    training, new = square(drawn[0]), drawn[1]
    a, b = fitted(training, method=method), fitted(training[:, order][:, :, order], method=method)
    assert_array_equal(a.score_samples(list(new)), b.score_samples(list(new[:, :, order])))
    assert_array_equal(a.training_scores_[order], b.training_scores_)


@SOME
@given(drawn=matrices(2, 4))
def test_mean_depths_do_not_depend_on_the_order_of_two_criteria_even_tied(drawn):
    training, new = square(drawn[0]), drawn[1]
    a, b = fitted(training), fitted(training[::-1])
    assert_array_equal(a.n_neighbors_, b.n_neighbors_[::-1])
    assert_array_equal(a.mean_depth(list(new)), b.mean_depth(list(new[::-1])))


@SOME
@given(seed=st.integers(0, 2**32 - 1), n_criteria=st.integers(2, 5), data=st.data())
def test_mean_depths_do_not_depend_on_the_order_of_criteria_without_ties(seed, n_criteria, data):
    rng = np.random.default_rng(seed)
    pairs = np.stack([rng.permutation(N_TRAINING * (N_TRAINING - 1) // 2) for _ in range(n_criteria)])
    training, new = square(pairs), np.stack([rng.permutation(N_NEW * N_TRAINING) + 0.5 for _ in range(n_criteria)])
    new = new.reshape(n_criteria, N_NEW, N_TRAINING)
    order = data.draw(st.permutations(range(n_criteria)))
    a, b = fitted(training), fitted(training[order])
    assert_array_equal(a.mean_depth(list(new)), b.mean_depth(list(new[order])))


@SOME
@given(drawn=matrices(2, 4), times=st.integers(2, 5))
def test_equal_new_samples_have_equal_scores_in_any_company(drawn, times):
    training, new = square(drawn[0]), drawn[1]
    detector = fitted(training, method="blend")
    assert_array_equal(
        detector.score_samples([np.repeat(part, times, axis=0) for part in new]),
        np.repeat(detector.score_samples(list(new)), times),
    )


@SOME
@given(drawn=matrices(3, 4))
def test_insertion_depths_are_at_most_the_papers_and_mid_depths_between(drawn):
    training, new = square(drawn[0]), list(drawn[1])
    paper, insertion, mid = (fitted(training, depth=kind).mean_depth(new) for kind in ("paper", "insertion", "mid"))
    assert np.all(insertion <= paper)
    # Means of the halves round differently from the half of the means.
    np.testing.assert_allclose(mid, (insertion + paper) / 2, rtol=1e-15)


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 5])
@SOME
@given(data=st.data())
def test_front_numbers_of_a_subset_never_exceed_those_of_the_whole(n_criteria, data):
    dyads = data.draw(dyad_arrays(n_criteria))
    kept = data.draw(arrays(bool, len(dyads)))
    assert np.all(front_numbers(dyads[kept]) <= front_numbers(dyads)[kept])


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 4, 5])
@SOME
@given(data=st.data())
def test_duplicates_share_a_front_and_move_no_other_dyad(n_criteria, data):
    dyads = data.draw(dyad_arrays(n_criteria))
    times = data.draw(arrays(int, len(dyads), elements=st.integers(1, 3)))
    assert_array_equal(front_numbers(np.repeat(dyads, times, axis=0)), np.repeat(front_numbers(dyads), times))


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
@SOME
@given(data=st.data())
def test_front_numbers_at_the_edge_of_floats_equal_the_naive_ones(n_criteria, data):
    values = st.sampled_from([*EDGES, *(-edge for edge in EDGES), np.inf, -np.inf])
    dyads = data.draw(arrays(float, st.tuples(st.integers(0, 20), st.just(n_criteria)), elements=values))
    assert_array_equal(front_numbers(dyads), naive.front_numbers(dyads))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    drawn=arrays(
        float, (N_TRAINING + N_NEW, 2), elements=st.sampled_from([*EDGES[:-1], *(-edge for edge in EDGES[:-1])])
    ),
    method=st.sampled_from(["depth", "blend"]),
)
# The local ratio of a sample can be so small that nothing can be divided by it.
@example(drawn=np.array([[1e300, 0], [5e-324, 0], *5 * [[0, 0]], [1, 0], *3 * [[0, 0]]]), method="blend")
def test_samples_at_the_edge_of_floats_are_scored_and_explained(drawn, method):
    training, new = drawn[:N_TRAINING], drawn[N_TRAINING:]
    # Warnings are errors here: an overflow that goes unnoticed would be one.
    detector = ParetoDepthDetector(method=method).fit(training)
    for values in (detector.score_samples(new), detector.decision_function(new), detector.training_scores_):
        assert np.isfinite(values).all()
    p_values = detector.p_values(new)
    assert np.all((p_values > 0) & (p_values <= 1))
    assert_array_equal(detector.predict(new) == -1, p_values <= detector.alpha_)
    assert not np.isnan(detector.explain(new).distances).any()


def content(fronts):
    return fronts.dyads.tolist(), fronts.starts.tolist(), fronts.max_depth


class Merging(RuleBasedStateMachine):
    """Fronts merged in any order and grouping, beside the dyads that they stand for."""

    parts = Bundle("parts")

    @rule(target=parts, dyads=dyad_arrays(2, 8), cap=st.sampled_from([None, 1, 2, 4]))
    def read(self, dyads, cap):
        return Fronts.from_dyads(dyads, max_depth=cap), dyads, cap

    @rule(target=parts, a=consumes(parts), b=consumes(parts))
    def merge(self, a, b):
        cap = min((c for c in (a[2], b[2]) if c is not None), default=None)
        merged = a[0].merge(b[0])
        dyads = np.concatenate((a[1], b[1]))
        assert content(merged) == content(b[0].merge(a[0]))
        assert content(merged) == content(Fronts.from_dyads(dyads, max_depth=cap))
        return merged, dyads, cap

    @rule(target=parts, a=parts, b=parts, c=parts)
    def regroup(self, a, b, c):
        assert content(a[0].merge(b[0]).merge(c[0])) == content(a[0].merge(b[0].merge(c[0])))
        return multiple()

    @rule(a=parts, size=st.integers(1, 5))
    def stream(self, a, size):
        summary = FrontSummary(a[2] or 100, 2)
        for start in range(0, len(a[1]), size):
            summary.add(a[1][start : start + size])
        assert content(summary.fronts()) == content(Fronts.from_dyads(a[1], max_depth=a[2] or 100))


TestMerging = Merging.TestCase
TestMerging.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
def test_a_million_equal_dyads_are_one_front(n_criteria):
    assert np.all(front_numbers(np.ones((10**6, n_criteria))) == 1)


def test_a_million_equal_samples_are_scored_alike():
    scores = ParetoDepthDetector().fit(np.ones((50, 2))).score_samples(np.ones((10**6, 2)))
    assert_array_equal(scores, np.full(10**6, scores[0]))


def test_a_million_training_samples_are_refused_at_once_if_they_do_not_fit():
    with pytest.raises(ValueError, match=r"'memory_limit' parameter .* must allow for what the fit needs"):
        ParetoDepthDetector(memory_limit=2**30).fit(np.ones((10**6, 2)))
