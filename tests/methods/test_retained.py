"""RPCA-DI, Angle PCA and L21-max."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import angle
from robpy.pca import PCALocantore
from sklearn.base import clone

from trueaxis.datasets import planted
from trueaxis.methods import RPCADI, RPCARP, AnglePCA, L21MaxPCA


def test_spherical_pca_is_robpys():
    X = contaminated_cloud()
    ours = RPCADI(2, tau=np.inf, center="median").fit(X)
    theirs = PCALocantore(n_components=2).fit(X)
    assert angle(ours.components_, theirs.components_.T) < 0.01
    np.testing.assert_allclose(ours.mean_, theirs.location_, atol=1e-3)


@pytest.mark.parametrize(
    "model", [RPCADI(2), L21MaxPCA(2), AnglePCA(2), RPCARP(2, center="mean")]
)
def test_a_row_on_the_center_says_nothing(model):
    X = planted("none", n=60, n_features=6, n_components=2).X
    X[0] = X[1:].mean(axis=0)
    fitted = clone(model).fit(X)
    np.testing.assert_allclose(fitted.mean_, X[0], atol=1e-12)
    assert fitted.weights_[0] == 0 and fitted.weights_.max() < 0.5
