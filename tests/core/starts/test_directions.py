"""Random directions, and projections in single precision, against plain products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.starts import (
    DIRECTIONS,
    ENOUGH_ROWS,
    direction_rng,
    enough_rows,
    lines_along,
    partial_sums,
    random_directions,
    step_of,
)


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
@pytest.mark.parametrize("shape", [(2, 1), (9, 3), (300, 40), (2000, 7)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_lines_are_projections_up_to_a_unit(unit, shape, offset):
    rng = np.random.default_rng(0)
    X = unit * (rng.standard_normal(shape) + offset)
    directions = rng.standard_normal((shape[1], 30))
    lines = np.vstack(list(lines_along(X, directions)))
    assert lines.dtype == np.float32 and np.isfinite(lines).all()
    y = (X - X[0]) / unit
    expected = (y @ directions).T
    size = np.linalg.norm(y, axis=1).max()
    factor = np.abs(lines).max() / np.abs(expected).max()
    assert 1e-3 < factor * size < 1e6
    np.testing.assert_allclose(
        lines / factor, expected, atol=2e-5 * size * np.sqrt(shape[1])
    )


def test_one_huge_row_costs_the_others_no_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    directions = rng.standard_normal((4, 10))
    for row in (1, 250, 499):
        far = X.copy()
        far[row] *= 1e9
        lines = np.vstack(list(lines_along(far, directions)))
        others = np.arange(500) != row
        expected = ((X - far[0]) @ directions).T[:, others]
        found = lines[:, others]
        factor = np.abs(found).max() / np.abs(expected).max()
        np.testing.assert_allclose(found / factor, expected, atol=1e-4)


def test_rows_that_are_equal_have_lines_of_zeros():
    for X in (np.ones((20, 3)), np.full((1, 3), 7.0)):
        np.testing.assert_array_equal(np.vstack(list(lines_along(X, np.eye(3)))), 0)


def test_a_single_row_that_differs_sets_the_unit():
    X = np.ones((1000, 2))
    X[501] = 1e-100  # not among those that are looked at first
    lines = np.vstack(list(lines_along(X, np.eye(2))))
    np.testing.assert_allclose(lines[:, 501], -1)
    assert np.count_nonzero(lines) == 2


@given(seed=st.integers(0, 10**6), n=st.integers(1, 400), step=st.integers(1, 50))
def test_partial_sums_are_every_few_of_the_running_sums(seed, n, step):
    Z = np.random.default_rng(seed).integers(-9, 9, (3, n)).astype(float)
    before = Z.copy()
    expected = np.cumsum(Z, axis=1)[:, step - 1 :: step]
    np.testing.assert_array_equal(partial_sums(Z, step), expected)
    np.testing.assert_array_equal(Z, before)


def test_directions_are_unit_vectors_between_rows():
    X = np.random.default_rng(0).standard_normal((40, 6)) + 100
    units = random_directions(X, direction_rng())
    assert units.shape == (6, DIRECTIONS)
    np.testing.assert_allclose(np.linalg.norm(units, axis=0), 1, rtol=1e-12)
    between = (X[:, None] - X[None]).reshape(-1, 6)
    between = between[np.linalg.norm(between, axis=1) > 0]
    between /= np.linalg.norm(between, axis=1)[:, None]
    assert ((between @ units).max(axis=0) > 1 - 1e-12).all()


def test_directions_among_kept_rows_are_those_of_a_table_of_these():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    kept = np.sort(rng.permutation(60)[:25])
    X[np.setdiff1d(np.arange(60), kept)] = np.nan  # never looked at
    np.testing.assert_array_equal(
        random_directions(X, np.random.default_rng(3), kept),
        random_directions(X[kept], np.random.default_rng(3)),
    )


def test_directions_are_the_same_in_every_fit_and_any_unit():
    X = np.random.default_rng(0).standard_normal((40, 6))
    first = random_directions(X, direction_rng())
    np.testing.assert_array_equal(random_directions(X, direction_rng()), first)
    for unit in (1e-140, 1e140):
        scaled = random_directions(unit * X, direction_rng())
        np.testing.assert_allclose(scaled, first, atol=1e-12)


def test_equal_rows_have_no_directions():
    assert random_directions(np.ones((20, 3)), direction_rng()).shape == (3, 0)
    X = np.ones((20, 3))
    X[0] = 0
    units = random_directions(X, direction_rng())
    assert units.shape[1] > 0
    np.testing.assert_allclose(np.abs(units), 1 / np.sqrt(3))


def test_steps_leave_enough_rows_and_places():
    for n in (1, 2, 127, 128, 999, 1000, 1999, 2000, 10_000):
        assert 1 <= step_of(n) and (n < 128 or 128 <= n // step_of(n) < 256)
        for D in (1, 600, 5000):
            step = enough_rows((n, D))
            assert step == 1 or len(range(0, n, step)) >= max(ENOUGH_ROWS, D)
