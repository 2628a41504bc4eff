"""RPCA-OM, R1-PCA and L2p-PCA."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import TIGHT, assert_same_span

from trueaxis.datasets import planted
from trueaxis.methods import R1PCA, RPCAOM, RSPCA, SPCP, L2pPCA, PlainPCA, TwoWayPCA


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


def test_variances_do_not_hang_on_rows_that_the_subspace_passes_through():
    X = planted("none", n=200, n_features=8, n_components=2).X
    like = RPCAOM(2).fit(X)
    others = [RSPCA(2, sigma=1e-7), TwoWayPCA(2, floor=1e6), L2pPCA(2, p=0.2)]
    for model in others:
        model.fit(X)
        ratio = model.explained_variance_ / like.explained_variance_
        np.testing.assert_allclose(ratio, 1, atol=0.1)
        assert abs(model.noise_variance_ / like.noise_variance_ - 1) < 0.25


def test_the_scale_of_the_loss_is_stored():
    X = contaminated_cloud()
    assert R1PCA(2, c=0.7).fit(X).c_ == 0.7
    plain = PlainPCA(2).fit(X)
    median = np.median(plain.distances(X).orthogonal)
    assert R1PCA(2, loss="cauchy").fit(X).c_ == pytest.approx(median)
    assert R1PCA(2, loss="l21").fit(X).c_ is None


def test_annealing_finds_a_subspace_at_least_as_good():
    X = contaminated_cloud()
    annealed, direct = (
        L2pPCA(2, p=0.5, anneal=anneal).fit(X).history_["objective"][-1]
        for anneal in (True, False)
    )
    assert annealed <= direct * (1 + 1e-6)
