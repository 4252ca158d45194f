import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth.scoring.advice import count_ties


def test_ties_are_dyads_that_are_not_alone():
    ties = count_ties(np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [1.0, 4.0, 0.0]]))
    assert_allclose(ties.shares, [0.5, 0.0, 1.0])
    assert_allclose(ties.zero_shares, [0.0, 0.25, 1.0])
    assert_array_equal(ties.is_constant, [False, False, True])
