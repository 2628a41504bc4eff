"""Methods against each other where they must agree, and against brute force."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import TIGHT, angle, assert_same_span
from sklearn.decomposition import PCA

import trueaxis as ta
import trueaxis.methods as tm


@pytest.mark.parametrize(
    "limit",
    [
        tm.PlainPCA(2),
        tm.ReweightedPCA(2),
        tm.L2pPCA(2, p=2.0),
        tm.R1PCA(2, c=1e9, **TIGHT),
        tm.R1PCA(2, loss="cauchy", c=1e7, **TIGHT),
        tm.DRPCA(2, q=60),
        tm.DRPCA(2, q=1.0),
        tm.RWLAN(2, gamma=np.inf),
        tm.RWLAN(2, gamma=1e12),
        tm.RSPCA(2, sigma=1e8, **TIGHT),
        tm.PCALp(2, p=2.0, **TIGHT),
        tm.WeightedPCA(2, power=0.0),
        ta.DSWL(2, tau=(np.inf,) * 3),
    ],
    ids=str,
)
def test_limits_that_are_plain_pca(limit):
    X = contaminated_cloud()
    assert_same_span(limit.fit(X), PCA(2).fit(X), 1e-4)


def test_l2p_with_p_1_is_r1_pca_without_a_bend():
    X = contaminated_cloud()
    assert_same_span(
        tm.L2pPCA(2, p=1.0, **TIGHT).fit(X),
        tm.R1PCA(2, loss="l21", **TIGHT).fit(X),
        1e-3,
    )
    # and with c -> 0 every residual is beyond it
    assert_same_span(
        tm.L2pPCA(2, p=1.0, **TIGHT).fit(X), tm.R1PCA(2, c=1e-5, **TIGHT).fit(X), 1e-3
    )


def test_truncation_of_nothing_is_rpca_om():
    X = contaminated_cloud()
    assert_same_span(tm.TRPCA(2, q=1.0, **TIGHT).fit(X), tm.RPCAOM(2, **TIGHT).fit(X))
    assert_same_span(
        tm.RSPCA(2, sigma=1e-7, **TIGHT).fit(X), tm.RPCAOM(2, **TIGHT).fit(X), 0.01
    )


def test_spherical_pca_three_ways():
    X = contaminated_cloud()
    centered = X - X.mean(axis=0)
    centered /= np.linalg.norm(centered, axis=1)[:, None]
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    hot = tm.RPCADI(2, tau=np.inf).fit(X)
    assert angle(hot.components_, axes) < 1e-5
    sines = tm.RPCARP(2, q=1.0, ratio="sin2", center="mean").fit(X)
    assert_same_span(hot, sines, 1e-5)


def test_l1_maximizers_agree_where_they_must():
    X = contaminated_cloud()
    assert_same_span(
        tm.PCAL1NonGreedy(1, **TIGHT).fit(X), tm.L21MaxPCA(1, **TIGHT).fit(X), 1e-3
    )
    # Powers near 1 are another branch of the code.
    near = {"p": 1 + 1e-7, **TIGHT}
    assert_same_span(tm.PCAL1(2, init="pca").fit(X), tm.PCALp(2, **near).fit(X), 1e-3)
    assert_same_span(
        tm.PCAL1NonGreedy(2).fit(X), tm.PCALp(2, greedy=False, **near).fit(X), 1e-3
    )


def test_stable_pursuits():
    X = contaminated_cloud()
    assert_same_span(
        tm.RRPCP(2, gam=1e3, sigma=0.5).fit(X), tm.SPCP(2, sigma=0.5).fit(X), 1e-4
    )
    exact = tm.PCP(2, tol=1e-8).fit(X).low_rank_
    gaps = [
        np.linalg.norm(tm.SPCP(2, sigma=s, tol=1e-9).fit(X).low_rank_ - exact)
        for s in (0.1, 0.01)
    ]
    assert gaps[1] < 0.2 * gaps[0] < 0.2 * np.linalg.norm(exact)


def test_two_way_without_column_weights_is_the_power_loss():
    X = contaminated_cloud()
    # An infinite floor leaves the columns alone.
    model = tm.TwoWayPCA(2, p=1.0, floor=1e6, **TIGHT).fit(X)
    np.testing.assert_allclose(model.feature_weights_, 1.0, rtol=1e-3)
    assert_same_span(model, tm.RPCAOM(2, **TIGHT).fit(X), 1e-3)


PLANE = [
    (tm.L2pPCA(1, p=0.5, n_init=100), -1, lambda v, e: (e**0.25).sum()),
    (tm.L2pPCA(1, p=1.0, n_init=20), -1, lambda v, e: np.sqrt(e).sum()),
    (tm.L2pPCA(1, p=1.5), -1, lambda v, e: (e**0.75).sum()),
    (tm.R1PCA(1, loss="cauchy", c=0.5), -1, lambda v, e: np.log1p(e / 0.25).sum()),
    (
        tm.AnglePCA(1, gamma=0.3, n_init=20),
        1,
        lambda v, e: np.sqrt(v / (e + 0.09)).sum(),
    ),
    (tm.RPCADI(1), 1, lambda v, e: np.exp((v - e) / (v + e)).sum()),
    (tm.L21MaxPCA(1), 1, lambda v, e: np.sqrt(v).sum()),
    (tm.PCALp(1, p=0.5, n_init=20), 1, lambda v, e: (v**0.25).sum()),
    (tm.PCALp(1, p=1.5), 1, lambda v, e: (v**0.75).sum()),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "sense", "value"), PLANE, ids=[str(model) for model, *_ in PLANE]
)
@pytest.mark.parametrize("seed", range(4))
def test_in_the_plane_against_a_scan_of_all_angles(model, sense, value, seed):
    X = contaminated_cloud(seed, n=30, D=2, outliers=4, k=1)
    X -= X.mean(axis=0)
    turns = np.linspace(0, np.pi, 20001)
    d = (X**2).sum(axis=1)

    def at(direction):
        v = (X @ direction) ** 2
        return sense * value(v, np.maximum(d - v, 0.0))

    best = max(at(np.array([np.cos(t), np.sin(t)])) for t in turns)
    found = at(model.fit(X).components_[0])
    assert found >= best - 2e-4 * abs(best)
