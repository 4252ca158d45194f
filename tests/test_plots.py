"""Pictures, by what is drawn on their axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import Fronts, ParetoDepthDetector
from paretodepth.plots import plot_explanation, plot_fronts, plot_new_dyads, plot_scores


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_scores_are_drawn_as_shares_with_the_threshold_between(ax):
    assert plot_scores([0.0, 1.0, 1.0, 2.0], 1.5, new_scores=[1.0, 2.5, 4.0], n_bins=4, ax=ax) is ax
    nominal, new = (patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch))
    assert_allclose(nominal.edges, [0, 1, 2, 3, 4])
    assert_allclose(nominal.values, [1 / 4, 2 / 4, 1 / 4, 0])
    assert_array_equal(new.edges, nominal.edges)
    assert_allclose(new.values, [0, 1 / 3, 1 / 3, 1 / 3])
    line, called = ax.lines
    assert_array_equal(line.get_xdata(), [1.5, 1.5])
    assert_array_equal(called.get_xydata(), [[2.5, 0], [4.0, 0]])
    told = ["4 nominal samples", "threshold 1.5", "3 new samples", "2 of them flagged", "p-value"]
    assert legend(ax) == told
    assert ax.get_xlabel() == "score, larger is more unusual"


def test_a_score_at_the_threshold_is_not_called(ax):
    plot_scores([0.0, 1.0], 1.0, new_scores=[1.0], ax=ax)
    assert legend(ax)[-2] == "0 of them flagged"


def test_nominal_scores_are_drawn_alone(ax):
    plot_scores([1.0, 1.0], 1.0, ax=ax)
    (nominal,) = ax.patches
    assert nominal.get_data().values.sum() == 1
    assert legend(ax) == ["2 nominal samples", "threshold 1", "p-value"]


def test_one_score_far_off_does_not_squeeze_the_others_into_one_bin(ax):
    rng = np.random.default_rng(0)
    nominal, far = rng.exponential(size=500), np.array([2.0, 1e6])
    plot_scores(nominal, 3.0, new_scores=far, ax=ax)
    shares, new_shares = (patch.get_data().values for patch in ax.patches)
    assert np.count_nonzero(shares) > 8
    assert shares.sum() == pytest.approx(1)
    assert new_shares.sum() == 1
    assert_allclose(ax.get_xticks(), [1, 2, 10, 100, 1000, 1e4, 1e5, 1e6])


def test_an_axis_that_is_hardly_logarithmic_is_labelled_within_decades(ax):
    plot_scores([20.0, 40.0, 80.0], 75.0, new_scores=[600.0], ax=ax)
    assert_allclose(ax.get_xticks(), [20, 40, 60, 100, 200, 500])


@pytest.mark.parametrize("scores", [[], [[1.0]], [np.nan], [1.0, np.inf], ["a"], 1.0])
def test_scores_that_cannot_be_drawn_are_refused(ax, scores):
    with pytest.raises(
        ValueError, match=r"'scores' parameter of plot_scores must be finite numbers, one a sample. Got"
    ):
        plot_scores(scores, 1.0, ax=ax)
    with pytest.raises(ValueError, match=r"'new_scores' parameter of plot_scores must be finite numbers"):
        plot_scores([1.0], 1.0, new_scores=scores, ax=ax)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "auto", None])
def test_a_threshold_that_is_no_number_is_refused(ax, threshold):
    with pytest.raises(
        ValueError, match=r"'threshold' parameter of plot_scores must be a finite number. Got .*offset_"
    ):
        plot_scores([1.0], threshold, ax=ax)


@pytest.mark.parametrize("calibration", ["leave-one-out", "split"])
def test_the_dotted_line_is_the_p_value_of_each_score(ax, calibration):
    rng = np.random.default_rng(0)
    detector = ParetoDepthDetector(alpha=0.1, calibration=calibration, random_state=0).fit(rng.normal(size=(90, 2)))
    nominal = detector.model_.calibration.scores
    X = rng.normal(size=(200, 2)) * 3
    scores = -detector.score_samples(X)
    plot_scores(nominal, -detector.offset_, new_scores=scores, ax=ax)
    scale = next(other for other in ax.figure.axes if other is not ax)
    x, p = scale.lines[0].get_data()
    assert scale.get_ylabel() == "p-value"
    assert_allclose(p[np.minimum(np.searchsorted(x[:-1], scores), len(p) - 1)], detector.p_values(X))
    # Where the threshold is crossed, p-values come to be at most alpha.
    assert p[x > -detector.offset_].max() <= 0.1 < p[x <= -detector.offset_].min()


def test_without_axes_there_is_a_figure_of_pyplot_which_notebooks_show():
    before = plt.get_fignums()
    fronts = Fronts.from_dyads(np.random.default_rng(0).random((9, 2)))
    drawn = [plot_scores([1.0, 2.0], 1.5), plot_fronts(fronts)]
    figures = [ax.get_figure() for ax in drawn]
    assert [figure.number for figure in figures] == [n for n in plt.get_fignums() if n not in before]
    for figure in figures:
        plt.close(figure)


@pytest.mark.parametrize(
    ("fronts", "message"),
    [
        ([[1.0, 2.0]], r"must be Fronts. Got \[\[1.0, 2.0\]\] instead; a detector with method='depth' has them"),
        (Fronts.from_dyads(np.ones((2, 3))), r"under two criteria. Got <Fronts: 1 fronts of 2 dyads under 3 criteria>"),
        (Fronts.from_dyads(np.empty((0, 2))), r"under two criteria. Got <Fronts: 0 fronts of 0 dyads"),
    ],
    ids=["a list", "three criteria", "none"],
)
def test_fronts_that_cannot_be_drawn_are_refused(ax, fronts, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plot_fronts(fronts, ax=ax)


def test_no_more_fronts_are_drawn_than_there_are(ax):
    plot_fronts(Fronts.from_dyads([[1.0, 2.0], [2.0, 3.0]]), last=9, ax=ax)
    assert len(ax.lines) == 2


def test_fronts_are_drawn_as_lines_over_their_dyads(ax):
    dyads = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    assert plot_fronts(Fronts.from_dyads(dyads), last=2, ax=ax) is ax
    (dots,) = ax.collections
    assert_array_equal(np.sort(dots.get_offsets(), axis=0), np.sort(dyads, axis=0))
    first, second = (line.get_xydata() for line in ax.lines)
    assert_array_equal(first, dyads[:2])
    assert_array_equal(second, dyads[2:4])
    assert ax.lines[0].get_label() == "fronts 1 to 2"


def test_new_dyads_are_drawn_with_their_label(ax):
    assert plot_new_dyads(np.array([[1.0, 2.0]]), ax=ax, color="tab:red", marker="^", label="odd") is ax
    (dots,) = ax.collections
    assert_array_equal(dots.get_offsets(), [[1.0, 2.0]])
    assert dots.get_label() == "odd"


def test_an_explanation_marks_the_criteria_that_are_far(ax):
    shown = plot_explanation(
        names=["speed", "shape"],
        distances=np.array([1.2, 9.0]),
        usual_distances=np.array([[0.5, 0.4], [2.0, 3.0]]),
        notes=["as usual", "p = 0.01"],
        is_far=np.array([False, True]),
        ax=ax,
    )
    assert shown is ax
    near, far = ax.collections
    assert_array_equal(near.get_offsets(), [[1.2, 0]])
    assert_array_equal(far.get_offsets(), [[9.0, 1]])
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches] == [(0.5, 2.0), (0.4, 3.0)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["speed", "shape"]
    assert [text.get_text() for text in ax.texts] == ["as usual", "p = 0.01"]
    assert_allclose(ax.get_xticks(), [0.5, 1, 2, 5])
