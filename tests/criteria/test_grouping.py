"""Groups of columns that vary together, against their naive twin."""

import numpy as np
import pytest

from paretodepth._blocks import rank_correlations
from paretodepth.criteria.grouping import number_groups
from tests.naive import grouping as naive


def related(rng, n, k):
    base = rng.normal(size=(n, 3))
    return base[:, rng.integers(3, size=k)] * rng.choice([-1, 1], k) + rng.random(k) * rng.normal(size=(n, k))


def repeated(rng, n, k):
    """Columns that are each other's copies: ties at the distance 0, which all are joined."""
    return rng.permutation(n * 3).reshape(n, 3)[:, np.arange(k) % 3].astype(float)


def with_gaps(rng, n, k):
    columns = related(rng, n, k)
    columns[rng.random((n, k)) < 0.2] = np.nan
    return columns


def with_infinity(rng, n, k):
    columns = related(rng, n, k)
    columns[0], columns[1] = np.inf, -np.inf
    return columns


def tied(rng, n, k):
    return np.round(related(rng, n, k))


DRAWS = (related, repeated, with_gaps, with_infinity, tied)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 8])
@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_groups_equal_the_naive_ones(draw, n_columns):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        columns = draw(rng, 25, n_columns)
        is_loose = (rng.random(n_columns) < 0.3).tolist()
        is_loose[0] = False
        for max_groups in (1, 2, 4, 20):
            assert number_groups(columns, max_groups) == naive.number_groups(columns, max_groups)
            expected = naive.number_groups(columns, max_groups, is_loose)
            assert number_groups(columns, max_groups, is_loose) == expected


def test_equal_columns_are_one_group_and_constant_ones_go_with_none():
    column = np.random.default_rng(0).random(20)
    assert number_groups(np.column_stack([column] * 5), 4) == [[0, 1, 2, 3, 4]]
    assert number_groups(np.ones((20, 3)), 3) == [[0], [1], [2]]


@pytest.mark.parametrize("n_samples", [0, 1, 2])
def test_few_samples_still_make_groups(n_samples):
    columns = np.random.default_rng(0).random((n_samples, 3))
    for max_groups in (1, 3):
        groups = number_groups(columns, max_groups)
        assert sorted(column for group in groups for column in group) == [0, 1, 2]
        assert len(groups) <= max_groups


def test_correlations_are_ranked_and_missing_values_are_middle_ones():
    columns = np.array([[1, 10], [2, 1000], [3, np.nan], [4, 100_000], [5, 10.0**300]])
    assert rank_correlations(columns)[0, 1] == pytest.approx(naive.likeness(*map(tuple, columns.T)))
    assert rank_correlations(columns[[0, 1, 3, 4]])[0, 1] == pytest.approx(1.0)
