"""Starts: spatial median, directions, outlyingness."""

import numpy as np
from engine_data import contaminated_cloud
from scipy.optimize import minimize

from trueaxis._engine.starts import spatial_median
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
