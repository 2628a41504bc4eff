"""Objectives rise or fall at every iteration, as the docstrings promise."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from hypothesis import given
from hypothesis import strategies as st

import trueaxis.methods as tm

pytestmark = pytest.mark.slow

RISING = [
    tm.RPCADI(2),
    tm.RPCADI(2, tau=0.2, center="median"),
    tm.AnglePCA(2),
    tm.AnglePCA(1, gamma=0.5),
    tm.L21MaxPCA(2),
    tm.PCAL1(2),
    tm.PCAL1NonGreedy(2, init="random"),
    tm.PCALp(2, p=0.3),
    tm.PCALp(2, p=0.5, greedy=False),
    tm.PCALp(2, p=0.8),
    tm.PCALp(2, p=1.5),
    tm.PCALp(1, p=3.0),
]


FALLING = [
    tm.RPCAOM(2),
    tm.R1PCA(2),
    tm.R1PCA(2, loss="cauchy"),
    tm.R1PCA(2, loss="l21"),
    tm.L2pPCA(2),
    tm.L2pPCA(2, p=0.25, anneal=False),
    tm.L2pPCA(2, p=0.5),
    tm.L2pPCA(2, p=1.5, solver="power"),
    tm.TRPCA(2),
    tm.TRPCA(2, q=0.8, n_init=3),
    tm.DRPCA(2, n_init=1),
    tm.RWLAN(2, gamma="frozen"),
    tm.RPCARP(2, ratio="sin2", center="mean"),
    tm.RSPCA(2),
    tm.RSPCA(2, q=0.7, sigma=0.1),
    tm.TwoWayPCA(2),
    tm.TwoWayPCA(1, p=0.5, floor=0.01),
    tm.L1PCA(2),
    tm.SPCP(2, sigma=0.3),
    tm.RRPCP(2),
]


def wild(seed):
    """Rows with heavy tails, ties, clusters or counts."""
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(12, 50)), int(rng.integers(3, 7))
    X = contaminated_cloud(seed, n, D, outliers=n // 6)
    if seed % 3 == 0:
        X *= rng.standard_t(2, size=(n, 1))
    if seed % 4 == 1:
        X = np.round(X)
    counts = rng.integers(0, 4, n).astype(float) if seed % 5 == 2 else None
    return X, counts


@pytest.mark.slow
@pytest.mark.parametrize("model", RISING + FALLING, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:SPCP. nothing of low rank")
@pytest.mark.filterwarnings("ignore:.*only .* rows carry weight")
@given(seed=st.integers(0, 10**6))
def test_the_objective_goes_one_way(model, seed):
    X, counts = wild(seed)
    sense = 1 if model in RISING else -1
    options = {} if counts is None else {"sample_weight": counts}
    if isinstance(model, tm.SPCP | tm.RRPCP):
        options = {}
    history = model.fit(X, **options).history_
    values = history["objective"]
    steps = sense * np.diff(values)
    if "component" in history:  # greedy: one axis after the other
        steps = steps[np.diff(history["component"]) == 0]
    assert (steps >= -1e-9 * np.abs(values).max()).all()
