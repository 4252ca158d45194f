"""Explanations: the right cause, numbers that agree with the detector's, and forms to show them in."""

import html
import re
from functools import cache
from itertools import product

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.datasets import make_pedestrians, trajectory_criteria, trajectory_table
from paretodepth.scoring.methods import METHODS
from tests import naive

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((60, 3)), rng.random((20, 3)) * 1.6


@pytest.fixture(scope="module")
def pedestrians():
    detector = ParetoDepthDetector(trajectory_criteria(), method="blend")
    detector.fit(trajectory_table(make_pedestrians(300, random_state=0).trajectories))
    test = make_pedestrians(20, 60, random_state=1)
    return test, detector.explain(trajectory_table(test.trajectories))


def band(rng, n_samples):
    """Samples whose two coordinates are nearly equal."""
    return rng.uniform(-2, 2, (n_samples, 1)) + rng.normal(0, 0.15, (n_samples, 2))


@pytest.mark.parametrize("method", ["depth", "blend"])
def test_planted_anomalies_are_named_rightly_in_95_of_100_cases(method):
    rng = np.random.default_rng(5)
    n_right = {"speed": 0, "shape": 0, "both together": 0}
    for _ in range(5):
        detector = ParetoDepthDetector([Criterion("speed", 0), Criterion("shape", 1)], method=method)
        detector.fit(band(rng, 300))
        shift = 6 * rng.choice([-1.0, 1.0], 60)[:, None]
        joint = rng.permuted(band(rng, 400), axis=0)
        planted = {
            "speed": 0.3 * band(rng, 60) + shift * [1, 0],
            "shape": 0.3 * band(rng, 60) + shift * [0, 1],
            "both together": joint[np.abs(joint[:, 0] - joint[:, 1]) > 1.2][:60],
        }
        for kind, X in planted.items():
            explanation = detector.explain(X)
            expected = [kind == "speed", kind == "shape"]
            is_right = (explanation.is_far == expected).all(axis=1) & explanation.is_anomaly
            assert_array_equal(explanation.is_joint, explanation.is_anomaly & ~explanation.is_far.any(axis=1))
            n_right[kind] += np.count_nonzero(is_right)
    assert all(count >= 0.95 * 300 for count in n_right.values()), n_right


def test_odd_pedestrians_are_told_by_what_is_odd_about_them():
    n_called = n_right = 0
    for seed in range(400, 403):
        detector = ParetoDepthDetector(trajectory_criteria(), method="blend")
        detector.fit(trajectory_table(make_pedestrians(400, random_state=10 * seed).trajectories))
        test = make_pedestrians(1, 120, random_state=10 * seed + 1)
        explanation = detector.explain(trajectory_table(test.trajectories))
        for kind, is_far, is_anomaly in zip(test.kinds, explanation.is_far, explanation.is_anomaly, strict=True):
            if kind in ("speed", "shape") and is_anomaly:
                n_called += 1
                n_right += is_far.tolist() == [kind == "speed", kind == "shape"]
    # Most of 240: some detours are small. A loop or a stop changes the other criterion a little too.
    assert n_called > 190
    assert n_right >= 0.95 * n_called


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("calibration", ["leave-one-out", "split"])
def test_an_explanation_agrees_with_the_detector(data, method, calibration):
    X_train, X = data
    detector = ParetoDepthDetector(method=method, calibration=calibration, random_state=0, alpha=0.1).fit(X_train)
    explanation = detector.explain(X)
    assert len(explanation) == len(X)
    assert_array_equal(explanation.scores, -detector.score_samples(X))
    assert_array_equal(explanation.p_values, detector.p_values(X))
    assert_array_equal(explanation.is_anomaly, detector.predict(X) == -1)
    for criterion, neighbors in enumerate(explanation.neighbors):
        distances = np.abs(X[:, criterion, None] - X_train[:, criterion])
        own = np.take_along_axis(distances, neighbors, axis=1)
        assert np.all(np.diff(own, axis=1) >= 0)
        if calibration == "leave-one-out":
            assert_array_equal(own[:, 0], distances.min(axis=1))


def test_relief_is_the_p_value_with_an_ordinary_criterion(data):
    X_train, X = data[0][:32], data[1][:10]
    training, new = (np.abs(samples.T[:, :, None] - X_train.T[:, None]) for samples in (X_train, X))
    dyads = naive.pairwise_dyads(training)
    numbers = naive.front_numbers(dyads)
    counts = [3, 3, 3]
    nominal = [naive.statistics(training[:, i], counts, dyads, numbers, exclude=i) for i in range(len(X_train))]

    @cache
    def score_if_ordinary(sample, criterion):
        rows = naive.relieved_rows(new[:, sample], training, criterion)
        return naive.statistics(rows, counts, dyads, numbers)

    explanation = ParetoDepthDetector(n_neighbors=3).fit(X_train).explain(X)
    assert 0 < np.mean(explanation.criterion_p_values > 0.25) < 1
    assert 0 < np.mean(explanation.p_values > 0.25) < 1
    for sample, criterion in product(range(len(X)), range(3)):
        expected = explanation.p_values[sample]
        if max(expected, explanation.criterion_p_values[sample, criterion]) <= 0.25:
            changed = score_if_ordinary(sample, criterion)[0]
            expected = naive.p_value([nominal_sample[0] for nominal_sample in nominal], changed - 1e-12)
        relief = explanation.relief[sample, criterion]
        assert relief == pytest.approx(expected, abs=1e-12), f"sample {sample}, criterion {criterion}"


def test_relief_of_the_blend_is_the_p_value_with_an_ordinary_criterion():
    # Two dense clusters in a wide one: some of the new samples are odd by their surroundings alone.
    rng = np.random.default_rng(6)
    wide, dense = rng.normal(0, 3, (16, 3)), rng.normal(0, 0.02, (12, 3))
    X_train, X = (
        np.concatenate([wide, dense]),
        np.concatenate([0.25 * rng.normal(0, 1, (6, 3)), 3 * rng.random((4, 3))]),
    )
    training, new = (np.abs(samples.T[:, :, None] - X_train.T[:, None]) for samples in (X_train, X))
    twin = naive.Blend(training)
    nominal = twin.left_out()
    explanation = ParetoDepthDetector(method="blend", alpha=0.2).fit(X_train).explain(X)
    scores = [naive.blend_score(nominal, sample) for sample in nominal]
    alone = [naive.blend_alone(nominal, sample) for sample in nominal]
    usual = np.median([sample["local_ratios"] for sample in nominal], axis=0)
    for sample, criterion in product(range(len(X)), range(3)):
        values = twin.statistics(new[:, sample])
        p_alone = naive.p_value(np.transpose(alone)[criterion], naive.blend_alone(nominal, values)[criterion] - 1e-12)
        assert explanation.criterion_p_values[sample, criterion] == pytest.approx(p_alone, abs=1e-12)
        rows = naive.relieved_rows(new[:, sample], training, criterion)
        score_if_ordinary = twin.statistics(rows)
        ratios = score_if_ordinary["local_ratios"]
        ratios[criterion] = min(ratios[criterion], usual[criterion])
        is_asked = max(p_alone, explanation.p_values[sample]) <= 0.25
        score = naive.blend_score(nominal, score_if_ordinary if is_asked else values)
        expected = naive.p_value(scores, score - 1e-12)
        assert explanation.relief[sample, criterion] == pytest.approx(expected, abs=1e-12), (sample, criterion)


def test_the_two_of_several_criteria_that_are_odd_together_are_named():
    rng = np.random.default_rng(0)
    criteria = [Criterion(name, column) for column, name in enumerate(["speed", "shape", "size", "time"])]
    n_right = n_called = 0
    for _ in range(3):
        joint = rng.permuted(band(rng, 400), axis=0)
        joint = joint[np.abs(joint[:, 0] - joint[:, 1]) > 1.2][:40]
        detector = ParetoDepthDetector(criteria, method="blend").fit(
            np.column_stack([band(rng, 300), rng.random((300, 2))])
        )
        explanation = detector.explain(np.column_stack([joint, rng.random((len(joint), 2))]))
        is_joint = explanation.is_joint
        n_called += is_joint.sum()
        named = [sentence for sentence, is_one in zip(explanation.sentences, is_joint, strict=True) if is_one]
        n_right += sum(bool(re.search(r"nusual combination of speed \S+ and shape", sentence)) for sentence in named)
        first = np.argmin(explanation.pair_p_values[is_joint], axis=1)
        assert np.mean(first == 0) > 0.9
    assert n_called > 60
    assert n_right > 0.9 * n_called


def test_a_local_oddity_says_so():
    rng = np.random.default_rng(0)
    dense, wide = rng.normal(0, 0.005, (100, 2)), rng.normal(30, 6.0, (200, 2))
    detector = ParetoDepthDetector([Criterion("speed", 0), Criterion("shape", 1)], method="blend")
    explanation = detector.fit(np.concatenate([dense, wide])).explain([[0.15, 0.0], [90.0, 0.0]])
    local, far = explanation.sentences
    assert local.endswith(", but farther from its 10 closest than these are from theirs.")
    assert local.startswith("speed 0.15 is within the typical ")
    assert re.match(
        r"speed 90 is far above the typical .*; no reference record is this far from its closest match", far
    )


def test_each_criterion_is_compared_with_what_is_usual(data):
    X_train, X = data
    explanation = ParetoDepthDetector(n_neighbors=6).fit(X_train).explain(X)
    for criterion in range(3):
        training, new = (np.abs(samples[:, criterion, None] - X_train[:, criterion]) for samples in (X_train, X))
        nominal = np.sort(training, axis=1)[:, 1:7].sum(axis=1)
        sums = np.sort(new, axis=1)[:, :6].sum(axis=1)
        assert_allclose(explanation.distances[:, criterion], sums / np.median(nominal))
        assert_allclose(explanation.percentiles[:, criterion], [100 * np.mean(nominal < value) for value in sums])
        expected = [naive.p_value(nominal, value) for value in sums]
        assert_allclose(explanation.criterion_p_values[:, criterion], expected)
        share = np.mean(
            np.abs(nominal / np.median(nominal) - explanation.typical_distances.mean(axis=0)[criterion])
            <= np.diff(explanation.typical_distances, axis=0)[0, criterion] / 2
        )
        assert 0.85 <= share <= 0.95


def test_the_position_tells_which_of_two_criteria_was_violated_more(pedestrians):
    test, explanation = pedestrians
    speed, shape = (explanation.position[test.kinds == kind].mean() for kind in ("speed", "shape"))
    assert 0 < shape < 0.5 < speed < 1
    three = ParetoDepthDetector().fit(np.random.default_rng(0).random((30, 3))).explain([[0.5, 0.5, 0.5]])
    assert np.isnan(three.position).all()


def test_a_single_criterion_is_not_told_from_others():
    X_train = np.random.default_rng(0).random((99, 1))
    detector = ParetoDepthDetector([Criterion("speed")], threshold=0.0).fit(X_train)
    (sentence,) = detector.explain([[0.5]]).sentences
    p_value = detector.p_values([[0.5]])[0]
    assert p_value > 0.05
    low, high = np.floor(1e4 * np.sort(X_train[:, 0])[4]) / 1e4, np.ceil(1e3 * np.sort(X_train[:, 0])[94]) / 1e3
    verdict = f"the score is above the threshold (p = {p_value:.2f})"
    assert sentence == f"speed 0.5 is within the typical {low:.3g}–{high:.3g}, but {verdict}."


def test_sentences_name_the_cause_the_ordinary_and_the_nearest(data):
    rng = np.random.default_rng(0)
    X_train = band(rng, 300)
    detector = ParetoDepthDetector([Criterion("speed", 0), Criterion("shape", 1)], method="blend").fit(X_train)
    explanation = detector.explain([[0.5, 0.5], [9.0, 0.1], [9.0, 9.0], [1.2, -1.2]])
    ordinary, speed, both, joint = explanation.sentences
    assert ordinary == "Typical (p = 0.99)."
    ranked = np.sort(X_train, axis=0)
    # Moved outward to three digits.
    (low, low_shape), (high, high_shape) = np.floor(100 * ranked[14]) / 100, np.ceil(100 * ranked[285]) / 100
    reason = f"speed 9 is far above the typical {low:.3g} to {high:.3g}"
    rest = "no reference record is this far from its closest match"
    assert speed == f"{reason}; {rest}."
    assert both == f"{reason}; {rest}; shape 9 is far above the typical {low_shape:.3g} to {high_shape:.3g}."
    by_speed = X_train[np.argsort(np.abs(X_train[:, 0] - 1.2))[:5], 1]
    assert joint == (
        "Unusual combination of speed (1.2) and shape (-1.2): no reference record is this far from its 5 closest in "
        f"both combined; the 5 closest in speed have shape {np.floor(1000 * by_speed.min()) / 1000:.4g}–"
        f"{np.ceil(1000 * by_speed.max()) / 1000:.4g}, not -1.2."
    )
    assert explanation.main_reasons == [None, "speed", "speed", "unusual combination"]
    assert repr(explanation).splitlines()[0] == "Explanation of 4 samples by blend"
    assert repr(explanation).splitlines()[2] == f"1: {speed}"


def test_long_explanations_are_shortened_but_framed_whole(pedestrians):
    test, explanation = pedestrians
    assert len(repr(explanation).splitlines()) == 12
    assert repr(explanation).endswith("… and 70 more; see to_frame()")
    frame = explanation.to_frame()
    assert len(frame) == len(test.kinds)
    assert_array_equal(frame["speed: p"], explanation.criterion_p_values[:, 0])
    assert_array_equal(frame["p"], explanation.p_values)
    assert frame["sentence"].tolist() == explanation.sentences
    assert frame["shape: nearest"][3] == explanation.neighbors[1][3].tolist()


def test_the_notebook_form_escapes_names(data):
    X_train, X = data
    criteria = [Criterion("<b>&", 0), Criterion("plain", 1)]
    text = ParetoDepthDetector(criteria).fit(X_train).explain(X)._repr_html_()
    assert "<b>" not in text
    assert text.count("&lt;b&gt;&amp;") > 1
    assert text.count("<tr>") == 11
    assert "and 10 less unusual" in text


def test_a_notebook_shows_the_strangest_first_with_their_values():
    rng = np.random.default_rng(0)
    nominal = {"size": rng.random(99), "kind": ["a", "b", "c"] * 33, "note": ["as agreed"] * 99}
    criteria = [
        Criterion("size", "size"),
        Criterion("kind", "kind", "mismatch"),
        Criterion("note", "note", "levenshtein"),
    ]
    new = {"size": [0.5, 3.0, 0.4], "kind": ["a", "b", "z"], "note": ["as agreed", "as agreed", "at once"]}
    detector = ParetoDepthDetector(criteria, n_neighbors=5).fit(nominal)
    explanation = detector.explain(new)
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", explanation._repr_html_())[1:]]
    strangest = np.argsort(-explanation.scores)
    assert [int(row[0]) for row in rows] == strangest.tolist()
    (high,) = [row for row in rows if row[0] == "1"]
    assert re.match(r"size 3 is far above the typical 0\.\d+–0\.\d+; p = 0.01", high[2])
    (odd,) = [row for row in rows if row[0] == "2"]
    assert odd[3].startswith("kind &#x27;z&#x27; occurs in no reference record; p = ")
    assert odd[4].startswith("at once; p = ")
    assert [row[-1] for row in rows] == [html.escape(explanation.sentences[sample]) for sample in strangest]


def test_a_picture_shows_a_sample_among_the_usual(pedestrians, data):
    test, explanation = pedestrians
    sample = int(np.flatnonzero(test.kinds == "speed")[0])
    ax = explanation.plot(sample)
    # A notebook shows the figures that pyplot knows.
    assert ax.figure is pyplot.gcf()
    pyplot.close(ax.figure)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["speed", "shape"]
    shown = {float(x): float(y) for dots in ax.collections for x, y in dots.get_offsets()}
    assert shown == {float(distance): row for row, distance in enumerate(explanation.distances[sample])}
    own = Figure().subplots()
    assert explanation.plot(0, ax=own) is own
    with pytest.raises(
        ValueError, match=r"'sample' parameter of Explanation.plot must be an integer from 0 to 79. Got"
    ):
        explanation.plot(80)


def test_a_given_threshold_decides_who_is_explained_as_an_anomaly(data):
    X_train, X = data
    detector = ParetoDepthDetector(threshold=8.0).fit(X_train)
    explanation = detector.explain(X)
    assert_array_equal(explanation.is_anomaly, detector.mean_depth(X) > 8.0)
    assert explanation.alpha == 0.05
