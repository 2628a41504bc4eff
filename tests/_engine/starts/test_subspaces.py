"""Starts: spatial median, and outlyingness along directions."""

import numpy as np
from engine_data import contaminated_cloud
from scipy.optimize import minimize

from trueaxis._engine.starts.subspaces import (
    outlyingness,
    shortest_variance,
    spatial_median,
)
from trueaxis._rows.base import ArrayRows


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


def test_the_tightest_half_by_brute_force():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((21, 4))
    Z[0, 1] = 1e12  # far values must not cost the others their digits
    Z[1, 2] = -1e12
    center, spread = shortest_variance(Z.T, 11)
    for column in range(4):
        z = np.sort(Z[:, column])
        windows = [z[i : i + 11] for i in range(11)]
        best = min(windows, key=np.var)
        np.testing.assert_allclose(center[column], best.mean(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(spread[column], best.std(), rtol=1e-6)


def test_a_projection_of_ties_has_the_spread_of_all_rows():
    Z = np.r_[np.zeros(9), 3.0][:, None]
    np.testing.assert_allclose(outlyingness(Z.T)[-1], 3 / Z.std())
    np.testing.assert_array_equal(outlyingness(np.zeros((2, 5))), 0)
