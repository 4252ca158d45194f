import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth.pairs.neighbor_lists import NeighborLists, listing_shortlist
from tests import naive
from tests.draws import draw_samples, pairs_of, small_blocks
from tests.pairs.test_shortlist import KINDS, TREE_CRITERIA

N_SAMPLES = 40


@pytest.fixture(params=["distinct", "tied", "equal", "duplicate", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, N_SAMPLES, 2)


def test_lists_hold_the_nearest_of_each_sample(samples):
    weights = np.array([2.0, 0.5])
    matrices = np.array([cdist(samples[:, [column]], samples[:, [column]]) for column in (0, 1)])
    with small_blocks(600):
        lists = NeighborLists.gathered(pairs_of(None, samples, 2), weights)
    for sample in range(N_SAMPLES):
        expected = naive.nearest(matrices[:, sample], (32, 32), sample)
        assert_array_equal(lists.neighbors[sample].ravel(), expected)
        assert_array_equal(lists.dyads[sample].reshape(-1, 2), matrices[:, sample, expected].T)
        sums = np.delete(2.0 * matrices[0, sample] + 0.5 * matrices[1, sample], sample)
        assert_array_equal(lists.sums[sample], np.sort(sums)[:32])
    first = lists.first_dyads(np.array([3, 5]))
    assert_array_equal(first[:, :3], lists.dyads[:, 0, :3])
    assert_array_equal(first[:, 3:], lists.dyads[:, 1, :5])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criteria", TREE_CRITERIA.values(), ids=TREE_CRITERIA)
def test_trees_change_no_bit_of_the_lists(kind, criteria):
    pairs = pairs_of(criteria, draw_samples(kind, 150, 5), 2)
    weights = np.linspace(0.5, 3.0, pairs.n_criteria)
    shortlist = listing_shortlist(pairs, weights, 6)
    assert shortlist.is_worthwhile(with_sum=True, min_samples=100, max_share=0.9)
    lists = NeighborLists.by_trees(shortlist, pairs, 6, n_rows=40)
    for part, expected in zip(lists, NeighborLists.by_blocks(pairs, weights, 6), strict=True):
        assert_array_equal(part, expected)


def test_a_list_holds_all_others_if_there_are_no_more():
    pairs = pairs_of(None, draw_samples("distinct", 5, 1))
    weights = np.ones(1)
    for lists in (
        NeighborLists.gathered(pairs, weights),
        NeighborLists.by_trees(listing_shortlist(pairs, weights, 32), pairs, 32),
    ):
        assert lists.sums.shape == (5, 4)
        assert_array_equal(np.sort(lists.neighbors[:, 0]), [np.delete(np.arange(5), i) for i in range(5)])
