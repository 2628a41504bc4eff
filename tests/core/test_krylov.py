"""Axes of many columns found by products with few vectors, against the solver."""

from dataclasses import replace

import numpy as np
import pytest

from trueaxis.core.subspace import Subspace, rough_solve, solve_near, subspace_change
from trueaxis.data.rows import ArrayRows


def gapped(seed=0, n=300, D=150, k=3, noise=0.1, offset=0.0):
    """Rows near a subspace of k dimensions, whose variances fall off after it."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0]
    scores = rng.standard_normal((n, k)) * np.linspace(9, 5, k)
    return scores @ axes.T + noise * rng.standard_normal((n, D)) + offset


def weighted_pca(X, w, k):
    """Plain PCA of rows with weights, by a singular value decomposition."""
    mean = w @ X / w.sum()
    y = np.sqrt(w / w.sum())[:, None] * (X - mean)
    _, deviations, axes = np.linalg.svd(y, full_matrices=False)
    total = float((deviations**2).sum())
    return Subspace(mean, axes[:k], deviations[:k] ** 2, total)


def turned(subspace, by, seed=1):
    """A subspace nearby, with another center."""
    rng = np.random.default_rng(seed)
    basis = subspace.basis + by * rng.standard_normal(subspace.basis.shape)
    shift = by * np.sqrt(subspace.total) * rng.standard_normal(len(subspace.mean))
    basis = np.linalg.qr(basis.T)[0].T
    return replace(subspace, mean=subspace.mean + shift, basis=basis)


def assert_same(found, expected, rtol=1e-9):
    __tracebackhide__ = True
    assert subspace_change(found.basis, expected.basis) < 1e-7
    inner = found.basis @ found.basis.T
    np.testing.assert_allclose(inner, np.eye(len(inner)), atol=1e-12)
    size = np.sqrt(expected.total)
    np.testing.assert_allclose(found.mean / size, expected.mean / size, atol=1e-10)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=rtol)
    np.testing.assert_allclose(found.total, expected.total, rtol=rtol)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize(("n", "D", "k"), [(300, 150, 3), (60, 200, 1), (500, 130, 2)])
def test_a_subspace_nearby_leads_to_that_of_the_solver(n, D, k, offset):
    X = gapped(1, n, D, k, offset=offset)
    w = np.random.default_rng(0).integers(0, 4, n).astype(float)
    expected = weighted_pca(X, w, k)
    for by in (0.0, 1e-9, 1e-3):
        found = solve_near(ArrayRows(X), w, turned(expected, by))
        assert found is not None
        assert_same(found, expected, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_columns_are_solved_exactly_by_a_rough_search(dtype):
    X = gapped(D=40, offset=3.0).astype(dtype)
    start = np.random.default_rng(0).standard_normal((40, 5))
    expected = weighted_pca(X.astype(float), np.ones(300), 3)
    found = rough_solve(X, start, 3, 2)
    assert subspace_change(found.basis, expected.basis) < 1e-6
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-6)
