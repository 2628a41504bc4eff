"""Random directions, and projections in single precision, against plain products."""

import numpy as np

from trueaxis.core.starts import (
    DIRECTIONS,
    direction_rng,
    random_directions,
)


def test_directions_are_unit_vectors_between_rows():
    X = np.random.default_rng(0).standard_normal((40, 6)) + 100
    units = random_directions(X, direction_rng())
    assert units.shape == (6, DIRECTIONS)
    np.testing.assert_allclose(np.linalg.norm(units, axis=0), 1, rtol=1e-12)
    between = (X[:, None] - X[None]).reshape(-1, 6)
    between = between[np.linalg.norm(between, axis=1) > 0]
    between /= np.linalg.norm(between, axis=1)[:, None]
    assert ((between @ units).max(axis=0) > 1 - 1e-12).all()


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
