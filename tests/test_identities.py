"""Methods against each other, against brute force and against other packages."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrpca import rpca_pcp_ialm
from robpy.pca import PCALocantore
from scipy.linalg import subspace_angles
from scipy.optimize import linprog
from sklearn.decomposition import PCA
from skpcp.pcp import pcp

from trueaxis import (
    DRPCA,
    DSWL,
    L1PCA,
    PCAL1,
    PCP,
    R1PCA,
    RPCADI,
    RPCAOM,
    RPCARP,
    RRPCP,
    RSPCA,
    RWLAN,
    SPCP,
    TRPCA,
    AnglePCA,
    L2pPCA,
    L21MaxPCA,
    PCAL1NonGreedy,
    PCALp,
    PlainPCA,
    ReweightedPCA,
    TwoWayPCA,
    WeightedPCA,
)

TIGHT = {"tol": 1e-10, "max_iter": 2000}


def cloud(seed=0, n=60, D=6, outliers=9, k=2):
    """A few columns of structure, noise, and rows moved away."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, k)) * np.linspace(3, 1.5, k)
    X = scores @ np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X += 0.4 * rng.standard_normal((n, D)) + rng.standard_normal(D)
    X[:outliers] += 4 * rng.standard_normal((outliers, D)) + 3
    return X


def angle(A, B):
    return np.degrees(subspace_angles(A.T, B.T)[0])


def same(one, two, tolerance=1e-4):
    assert angle(one.components_, two.components_) < tolerance


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize(
    "limit",
    [
        PlainPCA(2),
        ReweightedPCA(2),
        L2pPCA(2, p=2.0),
        R1PCA(2, c=1e9, **TIGHT),
        R1PCA(2, loss="cauchy", c=1e7, **TIGHT),
        DRPCA(2, q=60),
        DRPCA(2, q=1.0),
        RWLAN(2, gamma=np.inf),
        RWLAN(2, gamma=1e12),
        RSPCA(2, sigma=1e8, **TIGHT),
        PCALp(2, p=2.0, **TIGHT),
        WeightedPCA(2, power=0.0),
        DSWL(2, tau=(np.inf,) * 3, init="uniform", reweight=False),
    ],
    ids=str,
)
def test_limits_that_are_plain_pca(limit):
    X = cloud()
    same(limit.fit(X), PCA(2).fit(X), 1e-4)


def test_plain_pca_is_scikit_learns_in_every_attribute():
    X = cloud()
    ours, theirs = PlainPCA(3).fit(X), PCA(3).fit(X)
    for name in (
        "mean_", "explained_variance_", "explained_variance_ratio_", "noise_variance_",
    ):  # fmt: skip
        one, two = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(one, two, rtol=1e-10)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance())
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)))


def test_l2p_with_p_1_is_r1_pca_without_a_bend():
    X = cloud()
    same(L2pPCA(2, p=1.0, **TIGHT).fit(X), R1PCA(2, loss="l21", **TIGHT).fit(X), 1e-3)
    # and with c -> 0 every residual is beyond it
    same(L2pPCA(2, p=1.0, **TIGHT).fit(X), R1PCA(2, c=1e-5, **TIGHT).fit(X), 1e-3)


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5])
def test_eigenvectors_and_power_steps_come_to_rest_together(p):
    X = cloud()
    one, two = (
        L2pPCA(2, p=p, solver=solver, **TIGHT).fit(X) for solver in ("eigen", "power")
    )
    same(one, two, 1e-3)


def test_truncation_of_nothing_is_rpca_om():
    X = cloud()
    same(TRPCA(2, q=1.0, **TIGHT).fit(X), RPCAOM(2, **TIGHT).fit(X))
    same(RSPCA(2, sigma=1e-7, **TIGHT).fit(X), RPCAOM(2, **TIGHT).fit(X), 0.01)


def test_spherical_pca_three_ways():
    X = cloud()
    centred = X - X.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1)[:, None]
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    hot = RPCADI(2, tau=np.inf).fit(X)
    assert angle(hot.components_, axes) < 1e-5
    sines = RPCARP(2, q=1.0, ratio="sin2", center="mean").fit(X)
    same(hot, sines, 1e-5)


def test_spherical_pca_is_robpys():
    X = cloud()
    ours = RPCADI(2, tau=np.inf, center="median").fit(X)
    theirs = PCALocantore(n_components=2).fit(X)
    assert angle(ours.components_, theirs.components_.T) < 0.01
    np.testing.assert_allclose(ours.mean_, theirs.location_, atol=1e-3)


def test_l1_maximisers_agree_where_they_must():
    X = cloud()
    same(PCAL1NonGreedy(1, **TIGHT).fit(X), L21MaxPCA(1, **TIGHT).fit(X), 1e-3)
    # Powers near 1 are another branch of the code.
    near = {"p": 1 + 1e-7, **TIGHT}
    same(PCAL1(2, init="pca").fit(X), PCALp(2, **near).fit(X), 1e-3)
    same(PCAL1NonGreedy(2).fit(X), PCALp(2, greedy=False, **near).fit(X), 1e-3)


def test_stable_pursuits():
    X = cloud()
    same(RRPCP(2, gam=1e3, sigma=0.5).fit(X), SPCP(2, sigma=0.5).fit(X), 1e-4)
    exact = PCP(2, tol=1e-8).fit(X).low_rank_
    gaps = [
        np.linalg.norm(SPCP(2, sigma=s, tol=1e-9).fit(X).low_rank_ - exact)
        for s in (0.1, 0.01)
    ]
    assert gaps[1] < 0.2 * gaps[0] < 0.2 * np.linalg.norm(exact)


def test_two_way_without_column_weights_is_the_power_loss():
    X = cloud()
    # An infinite floor leaves the columns alone.
    model = TwoWayPCA(2, p=1.0, floor=1e6, **TIGHT).fit(X)
    np.testing.assert_allclose(model.feature_weights_, 1.0, rtol=1e-3)
    same(model, RPCAOM(2, **TIGHT).fit(X), 1e-3)


def test_pursuit_agrees_with_other_packages():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 50))
    X[rng.random(X.shape) < 0.05] += 10
    ours = PCP(3, balance=np.inf, tol=1e-7).fit(X)
    lam = 1 / np.sqrt(60)
    for low_rank in (rpca_pcp_ialm(X, lam, verbose=False)[0], pcp(X)[0]):
        assert np.linalg.norm(ours.low_rank_ - low_rank) < 1e-5 * np.linalg.norm(X)
    np.testing.assert_allclose(ours.low_rank_ + ours.sparse_, X, atol=1e-4)


# ---------------------------------------------------------------- monotone

RISING = [
    RPCADI(2), RPCADI(2, tau=0.2, center="median"), AnglePCA(2), AnglePCA(1, gamma=0.5),
    L21MaxPCA(2), PCAL1(2), PCAL1NonGreedy(2, init="random"), PCALp(2, p=0.3),
    PCALp(2, p=0.5, greedy=False), PCALp(2, p=0.8), PCALp(2, p=1.5), PCALp(1, p=3.0),
]  # fmt: skip
FALLING = [
    RPCAOM(2), R1PCA(2), R1PCA(2, loss="cauchy"), R1PCA(2, loss="l21"), L2pPCA(2),
    L2pPCA(2, p=0.25, anneal=False), L2pPCA(2, p=0.5), L2pPCA(2, p=1.5, solver="power"),
    TRPCA(2), TRPCA(2, q=0.8, n_init=3), DRPCA(2, n_init=1), RWLAN(2, gamma="frozen"),
    RPCARP(2, ratio="sin2", center="mean"), RSPCA(2), RSPCA(2, q=0.7, sigma=0.1),
    TwoWayPCA(2), TwoWayPCA(1, p=0.5, floor=0.01), L1PCA(2), SPCP(2, sigma=0.3),
    RRPCP(2),
]  # fmt: skip


def wild(seed):
    """Rows with heavy tails, ties, clusters or counts."""
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(12, 50)), int(rng.integers(3, 7))
    X = cloud(seed, n, D, outliers=n // 6)
    if seed % 3 == 0:
        X *= rng.standard_t(2, size=(n, 1))
    if seed % 4 == 1:
        X = np.round(X)
    counts = rng.integers(0, 4, n).astype(float) if seed % 5 == 2 else None
    return X, counts


@pytest.mark.parametrize("model", RISING + FALLING, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:SPCP. nothing of low rank")
@pytest.mark.filterwarnings("ignore:.*only .* rows carry weight")
@given(seed=st.integers(0, 10**6))
def test_the_objective_goes_one_way(model, seed):
    X, counts = wild(seed)
    sense = 1 if model in RISING else -1
    options = {} if counts is None else {"sample_weight": counts}
    if isinstance(model, SPCP | RRPCP):
        options = {}
    history = model.fit(X, **options).history_
    values = history["objective"]
    steps = sense * np.diff(values)
    if "component" in history:  # greedy: one axis after the other
        steps = steps[np.diff(history["component"]) == 0]
    assert (steps >= -1e-9 * np.abs(values).max()).all()


# ---------------------------------------------------------------- brute force


def centred(seed, n, D):
    X = np.random.default_rng(seed).standard_normal((n, D))
    return X - X.mean(axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_pca_l1_reaches_the_best_signs(seed):
    X = centred(seed, 10, 3)
    signs = np.array(list(product([-1, 1], repeat=10)))
    best = np.linalg.norm(signs @ X, axis=1).max()
    model = PCAL1(1, n_init=20).fit(X)
    assert model.history_["objective"][-1] == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_non_greedy_pca_l1_reaches_the_best_signs(seed):
    X = centred(seed, 7, 3)
    signs = np.array(list(product([-1, 1], repeat=7)), dtype=float)
    pairs = np.stack(np.meshgrid(np.arange(128), np.arange(128)), -1).reshape(-1, 2)
    M = np.swapaxes(signs[pairs], 1, 2)  # 7 x 2 signs each
    best = np.linalg.norm(X.T @ M, ord="nuc", axis=(1, 2)).max()
    model = PCAL1NonGreedy(2, n_init=50).fit(X)
    assert model.history_["objective"][-1] == pytest.approx(best)


def test_a_score_of_zero_is_no_place_to_rest():
    # Signs of the start leave the third row at 0 and the axis where it is.
    X = np.array([[3.0, 0], [-3, 0], [0, 1], [0, -1], [2, 0], [-2, 0]])
    model = PCAL1(1, init="pca").fit(X)
    signs = np.array(list(product([-1, 1], repeat=6)))
    best = np.linalg.norm(signs @ X, axis=1).max()
    assert np.abs(X @ model.components_[0]).sum() == pytest.approx(best)


@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_no_step_falls_off_the_edge_of_a_sign(p):
    # Every other row has a score of exactly 0 on the first axis.
    X = np.vstack([np.c_[np.full(30, 10.0), np.zeros(30)], [[0.0, 50.0]]])
    X = np.vstack([X, -X])
    values = PCALp(1, p=p, init="pca").fit(X).history_["objective"]
    assert (np.diff(values) >= -1e-9 * values[0]).all()


@pytest.mark.parametrize("seed", range(10))
def test_drpca_reaches_the_best_subset(seed):
    X = np.random.default_rng(seed).standard_normal((10, 3))

    def loss(rows):
        values = np.linalg.svd(rows - rows.mean(axis=0))[1]
        return (values[1:] ** 2).sum()

    best = min(loss(X[list(rows)]) for rows in combinations(range(10), 7))
    model = DRPCA(1, q=7, n_init=60).fit(X)
    kept = X[model.weights_ > 0]
    assert len(kept) == 7 and loss(kept) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_l1_pca_with_all_but_one_component_is_exact(seed):
    X = np.random.default_rng(seed).standard_normal((15, 3))

    def deviations(j):
        A = np.delete(X, j, axis=1)
        n, k = A.shape
        cost = np.r_[np.zeros(k), np.ones(2 * n)]
        found = linprog(
            cost,
            A_eq=np.hstack([A, np.eye(n), -np.eye(n)]),
            b_eq=X[:, j],
            bounds=[(None, None)] * k + [(0, None)] * (2 * n),
        )
        return found.fun

    best = min(deviations(j) for j in range(3))
    model = L1PCA(2, center="none", tol=1e-9).fit(X)
    assert model.history_["objective"][-1] == pytest.approx(best, rel=1e-6)


PLANE = [
    (L2pPCA(1, p=0.5, n_init=100), -1, lambda v, e: (e**0.25).sum()),
    (L2pPCA(1, p=1.0, n_init=20), -1, lambda v, e: np.sqrt(e).sum()),
    (L2pPCA(1, p=1.5), -1, lambda v, e: (e**0.75).sum()),
    (R1PCA(1, loss="cauchy", c=0.5), -1, lambda v, e: np.log1p(e / 0.25).sum()),
    (AnglePCA(1, gamma=0.3, n_init=20), 1, lambda v, e: np.sqrt(v / (e + 0.09)).sum()),
    (RPCADI(1), 1, lambda v, e: np.exp((v - e) / (v + e)).sum()),
    (L21MaxPCA(1), 1, lambda v, e: np.sqrt(v).sum()),
    (PCALp(1, p=0.5, n_init=20), 1, lambda v, e: (v**0.25).sum()),
    (PCALp(1, p=1.5), 1, lambda v, e: (v**0.75).sum()),
]


@pytest.mark.parametrize(
    ("model", "sense", "value"), PLANE, ids=[str(model) for model, *_ in PLANE]
)
@pytest.mark.parametrize("seed", range(4))
def test_in_the_plane_against_a_scan_of_all_angles(model, sense, value, seed):
    X = cloud(seed, n=30, D=2, outliers=4, k=1)
    X -= X.mean(axis=0)
    turns = np.linspace(0, np.pi, 20001)
    d = (X**2).sum(axis=1)

    def at(direction):
        v = (X @ direction) ** 2
        return sense * value(v, np.maximum(d - v, 0.0))

    best = max(at(np.array([np.cos(t), np.sin(t)])) for t in turns)
    found = at(model.fit(X).components_[0])
    assert found >= best - 2e-4 * abs(best)
