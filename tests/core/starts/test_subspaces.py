"""Starts: spatial median, and outlyingness along directions."""

import numpy as np
import pytest
from engine_data import contaminated_cloud, pca_subspace
from scipy.optimize import minimize

from trueaxis.core.starts import (
    deep_start,
    depth,
    direction_rng,
    random_directions,
    spatial_median,
    spherical_start,
)
from trueaxis.core.subspace import subspace_change
from trueaxis.data.rows import ArrayRows


def test_spatial_median_minimizes_the_sum_of_distances():
    X = contaminated_cloud()
    found = spatial_median(ArrayRows(X), None)
    away = X - found
    gradient = (away / np.linalg.norm(away, axis=1)[:, None]).sum(axis=0)
    assert np.linalg.norm(gradient) < 1e-6 * len(X)

    def loss(m):
        return np.linalg.norm(X - m, axis=1).sum()

    other = minimize(
        loss, X.mean(axis=0), method="Nelder-Mead", options={"xatol": 1e-9}
    )
    assert loss(found) <= other.fun + 1e-9
    counts = np.arange(len(X)) % 3 + 0.0
    again = spatial_median(ArrayRows(np.repeat(X, counts.astype(int), axis=0)), None)
    np.testing.assert_allclose(spatial_median(ArrayRows(X), counts), again, rtol=1e-6)


def depth_of(X):
    return depth(X, random_directions(X, direction_rng()))


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_depth_is_the_same_after_a_rotation_a_shift_and_a_change_of_unit(unit):
    X = contaminated_cloud(n=150)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    one, two = depth_of(X), depth_of(unit * (X @ Q + 5.0))
    np.testing.assert_allclose(one.outlyingness, two.outlyingness, rtol=2e-3)
    near = one.deepest_half()
    assert len(near) == 76 and not np.isin(near, np.arange(9)).any()
    shared = np.intersect1d(near, two.deepest_half())
    assert len(shared) > 73  # rounding may exchange a row on the boundary


def test_depth_by_plain_formulas():
    X = contaminated_cloud(n=41)
    directions = random_directions(X, direction_rng())
    z = np.sort(X @ directions, axis=0)
    windows = np.stack([z[i : i + 21] for i in range(21)])
    best = windows.var(axis=1).argmin(axis=0), slice(None), np.arange(z.shape[1])
    tightest = windows[best].T if windows[best].shape[0] == 21 else windows[best]
    center, spread = tightest.mean(axis=-1), tightest.std(axis=-1)
    expected = (np.abs(X @ directions - center) / spread).max(axis=1)
    found = depth(X, directions)
    np.testing.assert_array_equal(found.rows, np.arange(41))
    np.testing.assert_allclose(found.outlyingness, expected, rtol=2e-3)


def test_the_deep_start_is_plain_pca_of_the_deepest_half():
    X = contaminated_cloud(n=100)
    half = X[depth_of(X).deepest_half()]
    start, expected = deep_start(X, half, 2), pca_subspace(half)
    assert subspace_change(start.basis, expected.basis) < 1e-9
    np.testing.assert_allclose(start.mean, expected.mean)
    np.testing.assert_allclose(start.variances, expected.variances)
    np.testing.assert_allclose(start.total, expected.total)


def test_the_spherical_start_scales_rows_to_equal_length():
    X = contaminated_cloud(n=100)
    found = spherical_start(X, 2)
    y = X - found.mean
    # Its center is not quite the one that the lengths refer to.
    y /= np.linalg.norm(y, axis=1)[:, None]
    expected = np.linalg.eigh(y.T @ y)[1][:, ::-1][:, :2].T
    assert subspace_change(found.basis, expected) < 1e-2
