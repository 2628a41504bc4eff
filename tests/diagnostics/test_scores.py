"""Scores on two components, with robust and plain spread."""

import numpy as np
import pytest
from small_tables import small

from trueaxis.datasets import planted
from trueaxis.diagnostics import score_plane
from trueaxis.methods import METHODS, PlainPCA


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_the_score_plane_has_plain_pca_in_robust_scores(name):
    X = small()
    model = METHODS[name](2).fit(X)
    plane = score_plane(model, X)
    scores = model.transform(X)
    np.testing.assert_allclose(plane.scores, scores)
    np.testing.assert_allclose(plane.plain.center, scores.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(plane.plain.covariance, np.cov(scores.T))
    variances = np.diag(plane.robust.covariance)
    np.testing.assert_allclose(variances, model.explained_variance_)


def test_plain_and_robust_are_the_same_for_plain_pca():
    X = small()
    model = PlainPCA(2).fit(X)
    plane = score_plane(model, X)
    np.testing.assert_allclose(plane.plain.center, 0, atol=1e-12)
    both = plane.plain.covariance, plane.robust.covariance
    np.testing.assert_allclose(*both, atol=1e-9)
    np.testing.assert_allclose(np.abs(plane.plain.axes), plane.robust.axes, atol=1e-7)


def test_the_ellipse_holds_what_it_says():
    X = planted("none", n=4000, n_features=5, n_components=2).X
    plane = score_plane(PlainPCA(2).fit(X), X, level=0.9)
    inverse = np.linalg.inv(plane.robust.covariance)
    d2 = np.einsum("ij,jk,ik->i", plane.scores, inverse, plane.scores)
    assert (d2 <= plane.radius**2).mean() == pytest.approx(0.9, abs=0.015)
    with pytest.raises(ValueError, match="between 0 and 1"):
        score_plane(PlainPCA(2).fit(X), X, level=97.5)
