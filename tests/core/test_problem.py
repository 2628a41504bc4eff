"""Rows in the coordinates of their affine hull."""

import numpy as np
import pytest
from engine_data import normal_cloud

from trueaxis.core.problem import affine_hull
from trueaxis.core.starts import plain_moments
from trueaxis.core.subspace import Subspace, spanned, spanned_about
from trueaxis.data.rows import ArrayRows


def test_the_hull_keeps_distances_and_maps_back():
    X = normal_cloud(n=8, D=30, offset=5.0)
    X[2] *= 1e6  # must not cost the other rows their digits
    hull = affine_hull(ArrayRows(X))
    Z = hull.rows.take(np.arange(8))
    others = [0, 1, 3, 4, 5, 6, 7]
    gram = lambda A: (A[others] - A[0]) @ (A[others] - A[0]).T  # noqa: E731
    np.testing.assert_allclose(gram(Z), gram(X), rtol=1e-8, atol=1e-8)
    back = hull.lift(Subspace(Z[4], np.eye(2, 8), np.ones(2), 1.0))
    np.testing.assert_allclose(back.mean, X[4], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(back.basis @ back.basis.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("D", [5, 30])
def test_axes_about_a_center_are_those_of_the_moments_of_all_columns(D):
    X, w = normal_cloud(n=8, D=D, offset=5.0), np.arange(8) % 4 + 0.0
    rows, center = ArrayRows(X, 3), X.mean(axis=0) + np.linspace(0, 1, D)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((D, 3)))[0].T
    short = spanned_about(center, basis, rows, w)
    whole = spanned(basis, plain_moments(rows, w).about(center))
    np.testing.assert_allclose(short.mean, whole.mean)
    np.testing.assert_allclose(short.variances, whole.variances)
    apart = np.average(((X - center) ** 2).sum(axis=1), weights=w)
    np.testing.assert_allclose(short.total, apart)
    np.testing.assert_allclose(
        np.abs(short.basis @ whole.basis.T), np.eye(3), atol=1e-9
    )
