import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import front_numbers
from studies.paper.growth import dyad_front_sizes, point_front_sizes
from studies.paper.scalarization import scalarizable
from tests import naive
from tests.draws import DRAWS, IS_SLOW, draw_dyads

FINITE = [name for name in DRAWS if name != "infinite"]


@pytest.mark.parametrize(("n_criteria", "n_dyads"), [(1, 20), (2, 20), (3, 9), (4, 6)])
@pytest.mark.parametrize("draw", FINITE)
def test_scalarizable_equals_the_naive_one(draw, n_criteria, n_dyads):
    # These are the same for every seed.
    seeds = range(1) if draw in ("equal", "empty") else range(2 if IS_SLOW else 8)
    for seed in seeds:
        dyads = draw_dyads(draw, n_criteria, seed, n_dyads)
        assert_array_equal(scalarizable(dyads), naive.scalarizable(dyads), err_msg=f"seed {seed}")


def test_dyads_within_an_edge_of_the_hull_are_reached_however_close_to_a_turn():
    # 0.1 + 0.2 is not 0.3 in floating point: the middle dyads miss the line by less than a rounding error.
    nearly = np.array([[0.0, 3e-17], [0.1, 2e-17], [0.2, 1e-17], [0.30000000000000004, 0.0]])
    on_line = np.array([[float(step), 20.0 - step] for step in range(21)])
    for dyads in (nearly, on_line, on_line * 2**-60 + 1.0):
        assert_array_equal(scalarizable(dyads), naive.scalarizable(dyads))
    assert scalarizable(on_line).all()


def test_infinite_dyads_are_refused():
    with pytest.raises(ValueError, match=r"must be finite. Got inf in row 1, column 0"):
        scalarizable([[1.0, 2.0], [np.inf, 0.0]])


@pytest.mark.parametrize("n_points", [1, 2, 50, 400])
def test_fronts_that_grow_by_points_have_the_sizes_of_those_sorted_whole(n_points):
    points = np.random.default_rng(n_points).random((2, n_points))
    counts = sorted({1, n_points // 2 or 1, n_points})
    for count, sizes in zip(counts, point_front_sizes(points, counts), strict=True):
        dyads = points[:, :count].T
        assert sizes == (np.sum(front_numbers(dyads) == 1), scalarizable(dyads).sum())


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_fronts_that_grow_by_samples_have_the_sizes_of_those_sorted_whole(tied, rotated):
    samples = np.random.default_rng(0).random((2, 40))
    if tied:
        samples = np.round(samples, 1)
    for count, sizes in zip([2, 13, 40], dyad_front_sizes(samples, [2, 13, 40], rotated=rotated), strict=True):
        first, second = np.triu_indices(count, k=1)
        x, y = np.abs(samples[:, first] - samples[:, second])
        dyads = np.unique(np.column_stack([x + y, x - y] if rotated else [x, y]), axis=0)
        assert sizes == (np.sum(front_numbers(dyads) == 1), scalarizable(dyads).sum())
