import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from studies.paper.splines import smoothed
from tests.criteria.test_paths import random_walk


@pytest.mark.parametrize("seed", range(5))
def test_the_spline_reproduces_cubic_curves_and_smooths_others(seed):
    rng = np.random.default_rng(seed)
    walk = random_walk(rng, 50)
    time = (walk[:, 2] - walk[0, 2]) / np.ptp(walk[:, 2])
    cubic = np.column_stack([time**3 - time, 2 * time**2, walk[:, 2]])
    assert_allclose(smoothed([cubic])[0], cubic, atol=1e-9)
    (curve,) = smoothed([walk])
    assert_array_equal(curve[:, 2], walk[:, 2])
    residual = (walk - curve)[:, :2]
    # Nothing cubic is left over: the residual of least squares is orthogonal to all that the spline can be.
    assert_allclose(np.vander(time, 4).T @ residual, 0, atol=1e-8)
    assert_allclose(smoothed([curve])[0], curve, atol=1e-9)


def test_seven_points_are_met_exactly_whatever_their_times():
    walk = np.column_stack([[0, 3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8, 9], [0, 0.1, 0.2, 50, 50.1, 99, 100.0]])
    assert_allclose(smoothed([walk])[0], walk, atol=1e-8)
