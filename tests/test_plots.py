"""Pictures, by what is drawn on their axes."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth import Fronts
from paretodepth.plots import plot_explanation, plot_fronts, plot_new_dyads, plot_scores


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_scores_are_drawn_as_shares_with_the_threshold_between(ax):
    assert plot_scores(ax, [0.0, 1.0, 1.0, 2.0], 1.5, new_scores=[1.0, 2.5, 4.0], n_bins=4) is ax
    nominal, new = (patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch))
    assert_allclose(nominal.edges, [0, 1, 2, 3, 4])
    assert_allclose(nominal.values, [1 / 4, 2 / 4, 1 / 4, 0])
    assert_array_equal(new.edges, nominal.edges)
    assert_allclose(new.values, [0, 1 / 3, 1 / 3, 1 / 3])
    line, called = ax.lines
    assert_array_equal(line.get_xdata(), [1.5, 1.5])
    assert_array_equal(called.get_xydata(), [[2.5, 0], [4.0, 0]])
    assert legend(ax) == ["4 nominal samples", "threshold 1.5", "3 new samples", "2 of them called anomalies"]
    assert ax.get_xlabel() == "score, larger is stranger"


def test_a_score_at_the_threshold_is_not_called(ax):
    plot_scores(ax, [0.0, 1.0], 1.0, new_scores=[1.0])
    assert legend(ax)[-1] == "0 of them called anomalies"


def test_nominal_scores_are_drawn_alone(ax):
    plot_scores(ax, [1.0, 1.0], 1.0)
    (nominal,) = ax.patches
    assert nominal.get_data().values.sum() == 1
    assert legend(ax) == ["2 nominal samples", "threshold 1"]


def test_one_score_far_off_does_not_squeeze_the_others_into_one_bin(ax):
    rng = np.random.default_rng(0)
    nominal, far = rng.exponential(size=500), np.array([2.0, 1e6])
    plot_scores(ax, nominal, 3.0, new_scores=far)
    shares, new_shares = (patch.get_data().values for patch in ax.patches)
    assert np.count_nonzero(shares) > 8
    assert shares.sum() == pytest.approx(1)
    assert new_shares.sum() == 1


@pytest.mark.parametrize("scores", [[], [[1.0]], [np.nan], [1.0, np.inf], ["a"], 1.0])
def test_scores_that_cannot_be_drawn_are_refused(ax, scores):
    with pytest.raises(
        ValueError, match=r"'scores' parameter of plot_scores must be finite numbers, one a sample. Got"
    ):
        plot_scores(ax, scores, 1.0)
    with pytest.raises(ValueError, match=r"'new_scores' parameter of plot_scores must be finite numbers"):
        plot_scores(ax, [1.0], 1.0, new_scores=scores)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "auto", None])
def test_a_threshold_that_is_no_number_is_refused(ax, threshold):
    with pytest.raises(
        ValueError, match=r"'threshold' parameter of plot_scores must be a finite number. Got .*offset_"
    ):
        plot_scores(ax, [1.0], threshold)


def test_fronts_are_drawn_as_lines_over_their_dyads(ax):
    dyads = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    assert plot_fronts(ax, Fronts.from_dyads(dyads), last=2) is ax
    (dots,) = ax.collections
    assert_array_equal(np.sort(dots.get_offsets(), axis=0), np.sort(dyads, axis=0))
    first, second = (line.get_xydata() for line in ax.lines)
    assert_array_equal(first, dyads[:2])
    assert_array_equal(second, dyads[2:4])
    assert ax.lines[0].get_label() == "fronts 1 to 2"


def test_new_dyads_are_drawn_with_their_label(ax):
    assert plot_new_dyads(ax, np.array([[1.0, 2.0]]), color="tab:red", marker="^", label="odd") is ax
    (dots,) = ax.collections
    assert_array_equal(dots.get_offsets(), [[1.0, 2.0]])
    assert dots.get_label() == "odd"


def test_an_explanation_marks_the_criteria_that_are_far(ax):
    shown = plot_explanation(
        ax,
        names=["speed", "shape"],
        distances=np.array([1.2, 9.0]),
        usual_distances=np.array([[0.5, 0.4], [2.0, 3.0]]),
        notes=["as usual", "p = 0.01"],
        is_far=np.array([False, True]),
    )
    assert shown is ax
    near, far = ax.collections
    assert_array_equal(near.get_offsets(), [[1.2, 0]])
    assert_array_equal(far.get_offsets(), [[9.0, 1]])
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches] == [(0.5, 2.0), (0.4, 3.0)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["speed", "shape"]
    assert [text.get_text() for text in ax.texts] == ["as usual", "p = 0.01"]
