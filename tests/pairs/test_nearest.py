import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from paretodepth.pairs.nearest import (
    NeighborLists,
    connected_n_neighbors,
    connecting_rank,
    listing_shortlist,
    map_new_blocks,
    nearest_by_sum,
    nearest_dyads,
)
from paretodepth.pairs.pairs import HeldPairs
from tests import naive
from tests.draws import draw_samples, fitted, pairs_of, small_blocks
from tests.pairs.test_shortlist import KINDS, TREE_CRITERIA

N_SAMPLES = 40


@pytest.fixture(params=["distinct", "tied", "equal", "clusters", "unequal clusters"])
def samples(request):
    return draw_samples(request.param, 90, 2)


def absolute_differences(A, B):
    return np.abs(A[:, None, 0] - B[:, 0]), np.abs(A[:, None, 1] - B[:, 1])


# Of more rows, those without ties are sorted all at once.
@pytest.mark.parametrize("n_rows", [15, 40])
def test_nearest_dyads_equal_the_naive_ones(samples, n_rows):
    block = np.array(absolute_differences(samples[:n_rows] + 0.25, samples))
    block[0, ::3, ::2] = np.inf
    for n_neighbors in ((1, 1), (3, 5), (89, 60)):
        neighbors, near = nearest_dyads(block, np.array(n_neighbors))
        for row in range(n_rows):
            expected = naive.nearest(block[:, row], n_neighbors)
            assert_array_equal(neighbors[row], expected, err_msg=f"{n_neighbors}, row {row}")
            assert_array_equal(near[row], block[:, row, expected].T, err_msg=f"{n_neighbors}, row {row}")


def test_nearest_dyads_do_not_depend_on_the_order_of_training_samples():
    rng = np.random.default_rng(0)
    block = rng.integers(3, size=(3, 10, 40)).astype(float)
    _, near = nearest_dyads(block, np.array([4, 5, 6]))
    _, permuted = nearest_dyads(block[:, :, rng.permutation(40)], np.array([4, 5, 6]))
    assert_array_equal(permuted, near)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)])
def test_the_nearest_by_sum_are_those_of_the_smallest_sums(samples, weights):
    block = np.array(absolute_differences(samples[:15] + 0.25, samples))
    sums = weights[0] * block[0] + weights[1] * block[1]
    found, neighbors = nearest_by_sum(block, np.array(weights), 7)
    expected = np.argsort(sums, axis=1, kind="stable")[:, :7]
    assert_array_equal(neighbors, expected)
    assert_array_equal(found, np.take_along_axis(sums, expected, axis=1))


def test_a_criterion_of_no_weight_is_left_out_of_the_sum_where_it_is_infinite_too():
    block = np.array([[[np.inf, np.inf, 1.0]], [[3.0, 2.0, 5.0]]])
    sums, neighbors = nearest_by_sum(block, np.array([0.0, 1.0]), 2)
    assert_array_equal(sums, [[2.0, 3.0]])
    assert_array_equal(neighbors, [[1, 0]])


def test_blocks_of_new_samples_hold_their_dissimilarities_to_the_training_samples(samples):
    own, new = fitted(None, samples), samples[:31] + 0.25
    with small_blocks(1000):
        blocks = map_new_blocks(
            lambda block: block, own.criteria, own.views_of(new), own.encodings, 2 * len(samples), 2
        )
    assert [block.shape for block in blocks] == [(2, 5, 90)] * 6 + [(2, 1, 90)]
    assert_array_equal(np.concatenate(blocks, axis=1), absolute_differences(new, samples))


@pytest.fixture(params=["distinct", "tied", "equal", "duplicate", "clusters", "unequal clusters"])
def few_samples(request):
    return draw_samples(request.param, N_SAMPLES, 2)


def test_lists_hold_the_nearest_of_each_sample(few_samples):
    weights = np.array([2.0, 0.5])
    matrices = np.array([cdist(few_samples[:, [column]], few_samples[:, [column]]) for column in (0, 1)])
    with small_blocks(600):
        lists = NeighborLists.gathered(pairs_of(None, few_samples, 2), weights)
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


def connected_k(samples, n_listed=32):
    own = HeldPairs.of(pairs_of(None, samples))
    return connected_n_neighbors(own, NeighborLists.gathered(own, np.ones(2), n_listed=n_listed))


def test_connected_n_neighbors_equal_the_naive_ones(few_samples):
    matrices = [cdist(few_samples[:, [column]], few_samples[:, [column]]) for column in (0, 1)]
    expected = [naive.connected_n_neighbors(matrix) for matrix in matrices]
    with small_blocks(600):
        for n_listed in (2, 5, 32):
            assert_array_equal(connected_k(few_samples, n_listed), expected, err_msg=f"lists of {n_listed}")


def test_connected_n_neighbors_do_not_depend_on_the_order_of_samples(few_samples):
    permuted = few_samples[np.random.default_rng(1).permutation(N_SAMPLES)]
    assert_array_equal(connected_k(permuted), connected_k(few_samples))


@pytest.mark.parametrize("kind", ["distinct", "tied", "equal", "infinite"])
def test_the_rank_that_connects_whole_lists_is_the_naive_one(kind):
    for seed in range(5):
        matrix = np.random.default_rng(seed).random((14, 14))
        matrix = {
            "distinct": matrix,
            "tied": np.round(matrix, 1),
            "equal": np.ones_like(matrix),
            "infinite": np.where(matrix > 0.2, np.inf, matrix),
        }[kind]
        np.fill_diagonal(matrix, -1)
        order = matrix.argsort(axis=1, kind="stable")[:, 1:]
        k, components = connecting_rank(np.take_along_axis(matrix, order, axis=1), order)
        assert k == naive.connected_n_neighbors(matrix), f"seed {seed}"
        assert not components.any(), f"seed {seed}"


def test_lists_too_short_to_connect_name_the_components_so_far():
    # Two groups of three: within a group two samples are nearer than the other group.
    distances = np.abs(np.subtract.outer(*2 * [np.array([0.0, 1, 3, 100, 101, 103])]))
    order = distances.argsort(axis=1)[:, 1:3]
    k, components = connecting_rank(np.take_along_axis(distances, order, axis=1), order)
    assert k == 2
    assert_array_equal(components, [0, 0, 0, 1, 1, 1])
