"""Discrete columns, against counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.awkward import one_hot
from trueaxis.core.columns import discrete_columns, separable_columns, varying_columns


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


def test_a_mostly_discrete_table_has_no_separable_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), one_hot(rng, 200, 3)])
    assert not separable_columns(X).any()


@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 2, 3, 7, 30, 64, 65, 150, 900]),
    share=st.floats(0, 1),
    levels=st.integers(1, 60),
    dtype=st.sampled_from([np.float64, np.float32]),
)
@settings(deadline=None)
def test_a_glance_at_some_rows_marks_the_columns_of_all_rows(
    seed, n, share, levels, dtype
):
    rng = np.random.default_rng(seed)
    smooth = rng.normal(size=(n, 3))
    columns = np.where(rng.random((n, 3)) < share, rng.integers(0, levels, 3), smooth)
    columns[:, 0] = rng.integers(0, levels, n)
    X = columns.astype(dtype)
    for column, marked in zip(X.T, discrete_columns(X), strict=True):
        _, counts = np.unique(column, return_counts=True)
        # Of 2 or 3 rows, values that differ may be within a tie.
        few, shared = len(counts) <= np.sqrt(n), counts.max() > n // 2
        gaps = np.diff(np.unique(column))
        if gaps.min(initial=1.0) > 1e-3:
            assert marked == (few or shared)


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_discrete_columns_are_the_same_in_any_unit_and_order(unit):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200), np.ones(200)])
    expected = [False, True, True]
    np.testing.assert_array_equal(discrete_columns(unit * X), expected)
    np.testing.assert_array_equal(discrete_columns(X[rng.permutation(200)]), expected)
    np.testing.assert_array_equal(varying_columns(unit * X), [True, True, False])


def test_a_few_huge_values_do_not_make_a_column_discrete():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[:5, 0] = 1e300
    assert not discrete_columns(X).any()
