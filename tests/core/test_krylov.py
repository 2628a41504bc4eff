"""Axes of many columns found by products with few vectors, against the solver."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis.core.krylov import ScatterKernel, rough_solve, solve_near
from trueaxis.core.subspace import Subspace, subspace_change
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_with_the_scatter_equal_the_plain_formulas(dtype):
    X = gapped(n=57, D=20).astype(dtype)
    rng = np.random.default_rng(0)
    w, pivot, V = rng.random(57), X[3] + 0.5, rng.standard_normal((20, 4))
    sums = ArrayRows(X, 10).scan(ScatterKernel(pivot, w, V))[1]
    y = X.astype(float) - pivot
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    size = np.sqrt((y**2).sum())
    np.testing.assert_allclose(sums.scalars, [w.sum(), w @ (y**2).sum(1)], rtol=rtol)
    np.testing.assert_allclose(sums.first, w @ y, atol=rtol * size)
    expected = (y.T * w) @ y @ V
    np.testing.assert_allclose(
        sums.product, expected, atol=rtol * np.abs(expected).max()
    )


def test_rows_without_weight_may_be_infinite():
    X, w = gapped(n=40, D=12), np.ones(40)
    w[[0, 7, 39]] = 0
    expected = ArrayRows(X[w > 0]).scan(ScatterKernel(X[1], w[w > 0], np.eye(12, 2)))[1]
    X[[0, 7, 39]] = [np.full(12, np.inf), np.full(12, 1e300), np.full(12, np.nan)]
    for block_rows in (1, 8, 40):
        kernel = ScatterKernel(X[1], w, np.eye(12, 2))
        found = ArrayRows(X, block_rows).scan(kernel)[1]
        for one, two in zip(found[:3], expected[:3], strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-9)


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


def test_axes_that_the_start_lacks_are_found():
    X, w = gapped(2), np.ones(300)
    expected = weighted_pca(X, w, 3)
    others = np.linalg.svd(X - X.mean(axis=0))[2][[0, 1, 50]]
    found = solve_near(ArrayRows(X), w, replace(expected, basis=others))
    assert found is None or subspace_change(found.basis, expected.basis) < 1e-7


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_what_is_returned_is_right_even_if_variances_hardly_fall_off(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 80)) * np.geomspace(5, 0.5, 80) ** rng.choice([0, 1])
    w = rng.integers(0, 3, 100) + 0.0
    expected = weighted_pca(X, w, 2)
    found = solve_near(ArrayRows(X), w, turned(expected, 10.0 ** rng.uniform(-8, 0)))
    if found is not None:
        assert_same(found, expected, rtol=1e-6)


def test_no_gap_is_left_to_the_solver():
    X = np.random.default_rng(0).standard_normal((400, 200))
    start = turned(weighted_pca(X, np.ones(400), 3), 0.3)
    assert solve_near(ArrayRows(X), np.ones(400), start) is None
    # Nor is a number of columns for which steps take as long as the solver.
    few = gapped(D=10)
    start = weighted_pca(few, np.ones(300), 3)
    assert solve_near(ArrayRows(few), np.ones(300), start) is None


def test_rows_that_are_all_equal_are_left_to_the_solver():
    X = np.ones((60, 200))
    start = Subspace(np.ones(200), np.eye(2, 200), np.zeros(2), 0.0)
    assert solve_near(ArrayRows(X), np.ones(60), start) is None


def test_a_variance_that_is_a_rounding_error_is_left_to_the_solver():
    X = gapped(k=1, noise=0.0, offset=1e6)  # the second variance is 0
    start = turned(weighted_pca(X, np.ones(300), 2), 1e-3)
    assert solve_near(ArrayRows(X), np.ones(300), start) is None


@pytest.mark.parametrize("unit", [1e-140, 1e-100, 1e-60, 1e60, 1e100, 1e140])
def test_the_unit_does_not_matter(unit):
    X, w = gapped(3), np.ones(300)
    start = turned(weighted_pca(X, w, 3), 1e-2)
    in_unit = Subspace(
        unit * start.mean, start.basis, unit**2 * start.variances, unit**2 * start.total
    )
    found = solve_near(ArrayRows(unit * X), w, in_unit)
    assert found is not None
    back = Subspace(
        found.mean / unit, found.basis, found.variances / unit**2, found.total / unit**2
    )
    assert_same(back, weighted_pca(X, w, 3))


def test_single_precision_reaches_its_own_rounding_errors():
    X, w = gapped(4, offset=10.0), np.ones(300)
    expected = weighted_pca(X, w, 3)
    start = turned(expected, 1e-3)
    found = solve_near(ArrayRows(X.astype(np.float32)), w, start)
    assert found is not None
    assert subspace_change(found.basis, expected.basis) < 1e-4
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_columns_are_solved_exactly_by_a_rough_search(dtype):
    X = gapped(D=40, offset=3.0).astype(dtype)
    start = np.random.default_rng(0).standard_normal((40, 5))
    expected = weighted_pca(X.astype(float), np.ones(300), 3)
    found = rough_solve(X, start, 3, 2)
    assert subspace_change(found.basis, expected.basis) < 1e-6
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-6)


def test_more_steps_of_a_rough_search_come_nearer():
    X = gapped(5, D=600, noise=0.5)
    start = np.random.default_rng(0).standard_normal((600, 6))
    expected = weighted_pca(X, np.ones(300), 3)
    found = [rough_solve(X, start, 3, steps) for steps in (1, 2, 4, 8)]
    errors = [subspace_change(one.basis, expected.basis) for one in found]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-2
    for one in found:
        np.testing.assert_allclose(one.mean, expected.mean, atol=1e-12)
        np.testing.assert_allclose(one.total, expected.total, rtol=1e-12)
        np.testing.assert_allclose(one.basis @ one.basis.T, np.eye(3), atol=1e-12)
        # Axes inside a subspace of the columns explain no more than the best ones.
        assert (one.variances <= expected.variances * (1 + 1e-12)).all()


def test_a_rough_search_among_equal_rows_finds_no_variance():
    found = rough_solve(np.ones((20, 600)), np.eye(600, 6), 3, 2)
    np.testing.assert_array_equal(found.variances, 0)
    assert found.total == 0 and np.isfinite(found.basis).all()
