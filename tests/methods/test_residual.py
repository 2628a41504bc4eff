"""RPCA-OM, R1-PCA and L2p-PCA."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import TIGHT, assert_same_span

from trueaxis.datasets import planted
from trueaxis.methods import RPCAOM, SPCP, L2pPCA, PlainPCA


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5])
def test_eigenvectors_and_power_steps_come_to_rest_together(p):
    X = contaminated_cloud()
    one, two = (
        L2pPCA(2, p=p, solver=solver, **TIGHT).fit(X) for solver in ("eigen", "power")
    )
    assert_same_span(one, two, 1e-3)


@pytest.mark.slow
def test_variances_are_those_of_many_rows():
    cloud = planted("scatter", share=0.1, n=300, n_features=12)
    plain = PlainPCA(2).fit(cloud.X[~cloud.is_outlier]).explained_variance_
    # Nearly all weight lies on a row that the subspace passes through.
    model = L2pPCA(2, p=0.1).fit(cloud.X)
    assert model.weights_.max() > 0.9
    assert (model.explained_variance_ > 0.3 * plain).all()
    # SPCP takes the largest cells of clean rows for gross errors, too.
    for model, off in [(RPCAOM(2), 0.1), (SPCP(2), 0.4)]:
        model.fit(cloud.X[~cloud.is_outlier])
        np.testing.assert_allclose(model.explained_variance_ / plain, 1, atol=off)
