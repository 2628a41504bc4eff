"""Distances and weighted sums of blocks, against plain formulas."""

import numpy as np
import pytest
from engine_data import normal_cloud, pca_subspace
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.kernels import MomentKernel
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import ArrayRows


def symmetric(scatter):
    """Moments keep the upper triangle only."""
    return np.triu(scatter) + np.triu(scatter, 1).T


@pytest.mark.parametrize("block_rows", [1, 7, 60])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_distances_equal_the_plain_formulas(block_rows, offset):
    X = normal_cloud(offset=offset)
    sub = pca_subspace(X)
    distances = measure_rows(ArrayRows(X, block_rows), sub)
    y = X - sub.mean
    t = y @ sub.basis.T
    r = y - t @ sub.basis
    np.testing.assert_allclose(distances.v, (t**2).sum(1), rtol=1e-12)
    np.testing.assert_allclose(distances.e, (r**2).sum(1), rtol=1e-10)
    np.testing.assert_allclose(distances.s, (t**2 / sub.variances).sum(1), rtol=1e-12)


def test_rows_next_to_the_subspace_keep_their_digits():
    rng = np.random.default_rng(1)
    P = np.eye(2, 6)
    tiny = 1e-9 * rng.standard_normal((40, 4))
    X = np.hstack([rng.standard_normal((40, 2)), tiny])
    distances = measure_rows(ArrayRows(X), Subspace(np.zeros(6), P, np.ones(2), 2.0))
    np.testing.assert_allclose(distances.e, (tiny**2).sum(1), rtol=1e-6)


def test_infinite_rows_are_infinitely_far_not_nan():
    X = normal_cloud()
    X[3] = 1e300
    X[4] = -1.7e308
    distances = measure_rows(ArrayRows(X), pca_subspace(normal_cloud()))
    assert np.isinf(distances.e[3:5]).all()
    assert not np.isnan(np.concatenate([distances.v, distances.e, distances.s])).any()


@given(seed=st.integers(0, 10**6), block_rows=st.integers(1, 70))
def test_moments_do_not_depend_on_blocks_pivot_or_scale(seed, block_rows):
    rng = np.random.default_rng(seed)
    X = normal_cloud(seed, offset=rng.normal(scale=1e4))
    # The spread of log-weights forces the common factor to change on the way.
    log_w = rng.normal(scale=30, size=len(X)) - 2000
    kernel = MomentKernel(X[0] + rng.normal(size=5), log_w)
    _, sums = ArrayRows(X, block_rows).scan(kernel)
    mean, scatter = sums.moments.mean(), sums.moments.scatter()
    w = np.exp(log_w - log_w.max())
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=w), rtol=1e-9)
    expected = np.cov(X.T, aweights=w, ddof=0)
    scatter = symmetric(scatter)
    np.testing.assert_allclose(scatter, expected, atol=1e-9 * np.trace(expected) + 1e-9)
    ratio = w.sum() ** 2 / (w**2).sum()
    np.testing.assert_allclose(sums.moments.effective_size(), ratio, rtol=1e-9)


def test_float32_sums_are_kept_in_float64():
    X = normal_cloud(n=5000).astype(np.float32)
    kernel = MomentKernel(X[0].astype(float), np.zeros(5000))
    _, sums = ArrayRows(X, 100).scan(kernel)
    assert sums.moments.second.dtype == np.float64
    np.testing.assert_allclose(
        symmetric(sums.moments.scatter()),
        np.cov(X.T.astype(float), ddof=0),
        atol=2e-5,
    )
