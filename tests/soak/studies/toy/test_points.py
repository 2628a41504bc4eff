"""Toy data of the paper."""

import numpy as np
import pytest
from scipy.stats import chi2

from studies.toy.points import toy


@pytest.mark.parametrize(
    "kind, place", [("pcs", (10, 0)), ("ocs", (0, 10)), ("both", (5, 5))]
)
def test_toy_outliers_lie_where_they_should(kind, place):
    points = toy(kind, random_state=3)
    assert points.X.shape == (210, 2) and points.is_outlier.sum() == 10
    assert points.is_outlier[200:].all()
    axis = points.components[0]
    off = np.array([-axis[1], axis[0]])
    seen = points.X[200:] @ np.column_stack([axis, off]) - place
    assert np.abs(seen).max() < 5 * 0.05**0.5
    np.testing.assert_allclose(axis, np.sqrt([0.5, 0.5]))
    clean = toy("none", random_state=3)
    assert np.array_equal(clean.X, points.X[:200]) and not clean.is_outlier.any()


def test_toy_points_have_the_papers_covariance():
    X = toy("none", n=100_000).X
    np.testing.assert_allclose(np.cov(X.T), [[1, 0.95], [0.95, 1]], atol=0.02)
    inside = np.einsum("ij,jk,ik->i", X, np.linalg.inv([[1, 0.95], [0.95, 1]]), X)
    assert np.mean(inside < chi2.ppf(0.9, 2)) == pytest.approx(0.9, abs=0.005)
