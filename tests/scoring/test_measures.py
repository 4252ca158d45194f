"""What is measured of a sample."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paretodepth import Fronts
from paretodepth.fronts.depth_index import Depths
from paretodepth.scoring.measures import DepthMeasurer
from tests import naive
from tests.draws import DRAWS, draw_dyads, numbered_dyads


def measurer(depths, n_criteria):
    counts = np.full(n_criteria, 2)
    return DepthMeasurer(depths, counts, counts, np.ones(n_criteria))


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
@pytest.mark.parametrize("draw", DRAWS)
def test_mean_depth_is_the_mean_of_the_naive_depths(draw, n_criteria):
    dyads, numbers = numbered_dyads(draw, n_criteria)
    n_rows = len(dyads) // (2 * n_criteria)
    asked = np.concatenate([dyads, draw_dyads(draw, n_criteria, seed=1)])[: 2 * n_rows * 2 * n_criteria]
    rows = asked.reshape(2 * n_rows, 2 * n_criteria, n_criteria)
    expected = naive.depths(asked, dyads, numbers, "paper").reshape(rows.shape[:2]).mean(axis=1)
    assert_array_equal(measurer(Depths(Fronts.from_dyads(dyads), "paper"), n_criteria).mean_depth(rows), expected)
