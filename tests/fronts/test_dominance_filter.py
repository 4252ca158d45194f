import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth.fronts.dominance_filter import USUAL_SIZES, DominanceFilter, SummarySizes
from tests import naive
from tests.draws import DRAWS, SEEDS, draw_dyads

FRONT_DRAWS = DRAWS | {"one front": lambda rng, n, k: rng.dirichlet(np.ones(k), n)}
SIZES = {"usual": USUAL_SIZES, "few": SummarySizes(n_stairs=8, n_cells=4**4, n_points=4, n_candidates=8)}


def drawn(draw, n_dyads, n_criteria, seed):
    return FRONT_DRAWS[draw](np.random.default_rng(seed), n_dyads, n_criteria)


def is_dominated(dyads, points):
    return naive.dominates(points, dyads[:, None]).any(axis=1)


def survivors(dominance_filter, dyads):
    return dominance_filter.survivors(np.ascontiguousarray(dyads.T)[:, None, :], False)


@pytest.mark.parametrize("n_criteria", range(1, 6))
@pytest.mark.parametrize("draw", FRONT_DRAWS)
def test_no_dyad_is_dropped_that_no_point_dominates(draw, n_criteria):
    for seed in SEEDS:
        points = drawn(draw, 30, n_criteria, seed)
        dyads = np.concatenate([drawn(draw, 60, n_criteria, seed + 1), points])
        for case, sizes in SIZES.items():
            dominance_filter = DominanceFilter(points, dyads, sizes)
            undominated = dyads[~is_dominated(dyads, points)]
            kept = [tuple(dyad) for dyad in survivors(dominance_filter, dyads).tolist()]
            assert {tuple(dyad) for dyad in undominated.tolist()} <= set(kept), case
            rebuilt = survivors(dominance_filter.rebuilt(points, dyads), dyads)
            assert {tuple(dyad) for dyad in undominated.tolist()} <= {tuple(dyad) for dyad in rebuilt.tolist()}, case


@pytest.mark.parametrize("n_criteria", range(1, 6))
@pytest.mark.parametrize("draw", FRONT_DRAWS)
def test_what_dyads_are_held_against_is_nowhere_smaller_than_a_point(draw, n_criteria):
    points = drawn(draw, 40, n_criteria, 0)
    for case, sizes in SIZES.items():
        held_against = DominanceFilter(points, drawn(draw, 60, n_criteria, 1), sizes).points
        assert (held_against[:, None] >= points).all(axis=2).any(axis=1).all(), case


@pytest.mark.parametrize("n_criteria", [3, 4])
def test_a_table_drops_nearly_all_that_points_dominate(n_criteria):
    rng = np.random.default_rng(0)
    points = rng.dirichlet(np.ones(n_criteria), 300)
    dyads = rng.random((3000, n_criteria))
    n_right = is_dominated(dyads, points).sum()
    assert 0.9 * n_right < len(dyads) - len(survivors(DominanceFilter(points, dyads, USUAL_SIZES), dyads)) <= n_right


@pytest.mark.parametrize("n_criteria", [3, 4])
@pytest.mark.parametrize("values", [(0.0, 1.0, 2.0), (1.0, 2.0, np.inf)])
def test_a_table_of_tied_points_drops_all_that_they_dominate(n_criteria, values):
    # One point at a time: the cells next to it in every direction start right behind it.
    dyads = np.stack(np.meshgrid(*[values] * n_criteria), axis=-1).reshape(-1, n_criteria)
    for point in dyads[np.isfinite(dyads).all(axis=1)]:
        dominance_filter = DominanceFilter(point[None], dyads, USUAL_SIZES)
        assert_array_equal(survivors(dominance_filter, dyads), dyads[~is_dominated(dyads, point[None])])


@pytest.mark.parametrize("n_criteria", range(1, 6))
def test_a_filter_without_points_lets_all_pass(n_criteria):
    dyads = draw_dyads("infinite", n_criteria)
    assert_array_equal(survivors(DominanceFilter(dyads[:0], dyads, USUAL_SIZES), dyads), dyads)
