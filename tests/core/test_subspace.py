"""From moments to a subspace: eigenvectors, power steps, nearest bases."""

import numpy as np
import pytest
from engine_data import normal_cloud
from scipy.linalg import subspace_angles

from trueaxis.core.moments import Moments
from trueaxis.core.subspace import (
    Subspace,
    fix_signs,
    orthonormal,
    solve,
    solve_from,
    spectrum,
    subspace_change,
)


def test_solve_is_the_weighted_eigenproblem():
    X = normal_cloud()
    sums = Moments(np.zeros(5))
    sums.add(X.copy(), np.zeros(60), None)
    sub = solve(sums, 2)
    values, vectors = np.linalg.eigh(np.cov(X.T, ddof=0))
    np.testing.assert_allclose(sub.variances, values[::-1][:2], rtol=1e-10)
    assert subspace_angles(sub.basis.T, vectors[:, ::-1][:, :2])[0] < 1e-7
    np.testing.assert_allclose(spectrum(sums), values[::-1], rtol=1e-10)
    np.testing.assert_allclose(sub.total, values.sum())


def test_overflowing_squares_raise():
    sums = Moments(np.zeros(2))
    with np.errstate(over="ignore"):
        sums.add(np.array([[1e300, 0.0], [0.0, 1.0]]), np.zeros(2), None)
    with pytest.raises(ValueError, match="overflow"):
        solve(sums, 1)


def test_subspace_change_resolves_small_angles():
    angle = 1e-12
    P = np.array([[1.0, 0.0]])
    Q = np.array([[np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(subspace_change(P, Q), angle, rtol=1e-3)


def test_signs_make_the_largest_loading_positive():
    fixed = fix_signs(np.array([[0.6, -0.8], [0.8, 0.6], [0.0, 0.0]]))
    np.testing.assert_array_equal(fixed, [[-0.6, 0.8], [0.8, 0.6], [0.0, 0.0]])


def test_the_nearest_orthonormal_basis():
    rng = np.random.default_rng(0)
    for k, D in ((1, 1), (3, 8), (40, 100), (7, 7)):
        basis = np.linalg.qr(rng.standard_normal((D, k)))[0].T
        for away in (0.0, 1e-12, 1e-5, 0.01, 0.1, 1.0, 100.0):
            B = basis + away / np.sqrt(k) * rng.standard_normal((k, D))
            U, _, Vt = np.linalg.svd(B, full_matrices=False)
            np.testing.assert_allclose(orthonormal(B), U @ Vt, atol=1e-12)
    assert orthonormal(np.empty((0, 5))).shape == (0, 5)


def test_power_steps_converge_to_the_exact_solution():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 12)) * np.r_[5, 4, 3, np.ones(9)]
    moments = Moments(np.zeros(12))
    moments.add(X.copy(), np.zeros(500), None)
    exact = solve(moments, 3)
    found = Subspace(
        np.zeros(12), np.linalg.qr(rng.standard_normal((12, 3)))[0].T, np.ones(3), 1.0
    )
    errors = []
    for _ in range(12):
        found = solve_from(moments, found)
        errors.append(subspace_change(found.basis, exact.basis))
    # two power steps: the error falls by (1/9)^2 a time, in the end
    assert errors[0] < 0.3 and errors[-1] < 1e-10
    np.testing.assert_allclose(found.variances, exact.variances, rtol=1e-8)
    np.testing.assert_allclose(found.mean, exact.mean, atol=1e-12)
    np.testing.assert_allclose(found.total, exact.total)


@pytest.mark.parametrize(("n", "D"), [(300, 150), (150, 130), (200, 20), (130, 130)])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_variances_that_are_all_equal_have_as_many_axes_as_asked_for(n, D, k):
    # LAPACK's solver for some of the eigenvectors may return fewer.
    moments = Moments(np.zeros(D))
    moments.add(np.eye(n, D), np.zeros(n), None)
    found = solve(moments, k)
    assert found.basis.shape == (k, D) and found.variances.shape == (k,)
    np.testing.assert_allclose(found.basis @ found.basis.T, np.eye(k), atol=1e-10)
