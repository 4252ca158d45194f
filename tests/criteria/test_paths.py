from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth.criteria.metrics.paths import path_length, shape_points, speed_histogram


def random_walk(rng, n_points):
    steps = rng.normal(size=(n_points, 2))
    return np.column_stack([np.cumsum(steps, axis=0), np.cumsum(rng.exponential(size=n_points) ** 3 + 1e-3)])


@pytest.mark.parametrize("seed", range(5))
def test_a_speed_histogram_holds_shares_of_time(seed):
    walk = random_walk(np.random.default_rng(seed), 30)
    edges = np.array([0.5, 1.0, 2.0, 4.0])
    shares = np.zeros(3)
    for (x, y, t), (next_x, next_y, next_t) in pairwise(walk):
        speed = np.hypot(next_x - x, next_y - y) / (next_t - t)
        shares[0 if speed < 1 else 1 if speed < 2 else 2] += (next_t - t) / (walk[-1, 2] - walk[0, 2])
    assert_allclose(speed_histogram(walk, edges), shares, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_shape_points_lie_evenly_along_the_path_whatever_the_times(seed):
    walk = random_walk(np.random.default_rng(seed), 30)
    points = shape_points(walk, 1 + 10 * 1000)
    assert_allclose(points[[0, -1]], walk[[0, -1], :2])
    # Fine points cut only the corners of the path.
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert np.median(steps) == pytest.approx(path_length(walk)[-1] / 10_000)
    assert_array_equal(points, shape_points(walk * [1, 1, 3], 1 + 10 * 1000))


def test_somebody_who_stands_has_one_shape_point_and_no_speed():
    still = np.column_stack([np.full(9, 2.0), np.full(9, 3.0), np.arange(9)])
    assert_array_equal(shape_points(still), [[2.0, 3.0]] * 100)
    assert_array_equal(speed_histogram(still, np.array([0.0, 1, 2])), [1, 0])
