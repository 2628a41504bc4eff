"""What outliers do to plain PCA."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from small_tables import cloud

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.diagnostics import effect
from trueaxis.methods import METHODS


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_effect_compares_with_plain_pca(name):
    X = cloud(share=0.2).X
    model = METHODS[name](2).fit(X)
    found, plain = effect(model, X), PCA(2).fit(X)
    angles = np.degrees(subspace_angles(model.components_.T, plain.components_.T))
    np.testing.assert_allclose(found.angles, angles, atol=1e-5)
    np.testing.assert_allclose(found.shift, plain.mean_ - model.mean_, atol=1e-9)
    np.testing.assert_allclose(found.plain_variance, plain.explained_variance_)
    assert found.angle == found.angles[0]
    if name == "pca":  # has no effect on itself
        assert found.angle < 1e-5 and np.linalg.norm(found.shift) < 1e-12


@pytest.mark.slow
def test_the_rows_responsible_are_the_bad_ones():
    data = planted("ocs", share=0.15)
    found = effect(DSWL(3).fit(data.X), data.X)
    assert found.angles[0] > 80
    for share in (found.tilt_share, found.shift_share):
        assert share.sum() == pytest.approx(1)
    assert found.shift_share[data.is_outlier].sum() > 0.95
    scattered = planted("amp", share=0.15)
    tilt = effect(DSWL(3).fit(scattered.X), scattered.X).tilt_share
    assert tilt[scattered.is_outlier].sum() > 0.95


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (12, 300)])
def test_plain_pca_is_the_same_by_rows_and_by_columns(shape):
    X = np.random.default_rng(0).standard_normal(shape) + 5
    X[0, 3] += 30
    found, plain = effect(METHODS["pca"](4).fit(X), X), PCA(4).fit(X)
    np.testing.assert_allclose(found.plain_variance, plain.explained_variance_)
    assert found.angle < 1e-5
    robust = DSWL(3).fit(X)
    y, axes = X - robust.mean_, robust._subspace().basis
    t = y @ axes.T
    residual = y - t @ axes
    adds = np.einsum("ij,ij->i", residual @ (residual.T @ t), t)
    shares = effect(robust, X).tilt_share
    np.testing.assert_allclose(shares, adds / adds.sum(), atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 6), (20, 40)])
def test_plain_pca_follows_a_cell_whose_square_overflows(shape):
    X = planted("none", n=shape[0], n_features=shape[1], n_components=2).X
    X[3, 1] = 1e300
    model = DSWL(2).fit(X)
    found = effect(model, X)
    assert found.angle > 45
    assert found.plain_variance[0] == np.inf
    assert found.shift_share[3] > 0.99
    np.testing.assert_allclose(found.shift[1], 1e300 / len(X))
    # A smaller cell, whose square does not overflow, has the same effect.
    X[3, 1] = 1e100
    smaller = effect(model, X)
    assert smaller.angle > 45  # all other axes of plain PCA are rounding errors
    np.testing.assert_allclose(found.shift_share, smaller.shift_share, atol=1e-9)
