"""Discrete columns, against counting."""

import numpy as np
import pytest

from trueaxis.core.moments import discrete_columns, separable_columns


def test_discrete_columns_are_those_with_ties():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(0, 100, 200)]
    )
    np.testing.assert_array_equal(discrete_columns(X), [False, True, False])
    np.testing.assert_array_equal(separable_columns(X), [True, False, True])


@pytest.mark.parametrize("n", [12, 21, 64, 65, 200, 1000, 3001])
def test_discrete_columns_are_those_that_counting_finds(n):
    rng = np.random.default_rng(n)
    smooth, i = rng.normal(size=n), np.arange(n)
    columns = [rng.integers(0, levels, n) for levels in (2, 9, 10, 11, 12, 40, 500)]
    for share in (0.3, 0.32, 0.35, 0.4, 0.6, 1.0):
        columns.append(np.where(rng.random(n) < share, 0.5, smooth))
        columns.append(np.where(i < share * n, 0.5, smooth))  # in one stretch
    for period in (2, 3, 5):  # every other row, every third
        for offset in range(period):
            columns.append(np.where(i % period == offset, 0.5, smooth))
            columns.append(np.where(i % period == offset, smooth, 0.5))
    for column in columns:
        _, counts = np.unique(column, return_counts=True)
        few = len(counts) <= np.sqrt(n)
        shared = counts.max() > n / 2
        assert discrete_columns(column[:, None])[0] == (few or shared)
