"""Algorithm 1 of the paper, transcribed without the engine, against DSWL on request."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from trueaxis import DSWL
from trueaxis.datasets import planted


def algorithm_1(X, k, tau, n_iter):
    """The paper's formulas as they stand: samples are columns, three softmaxes, H."""
    X = X.T
    n = X.shape[1]
    w = np.full(n, 1 / n)
    for _ in range(n_iter):
        m = X @ w
        H = np.diag(w) - np.outer(w, w)
        values, U = np.linalg.eigh(X @ H @ X.T)
        P = U[:, ::-1][:, :k]
        centered = X - m[:, None]
        inside = ((P.T @ centered) ** 2).sum(axis=0)
        off = ((centered - P @ P.T @ centered) ** 2).sum(axis=0)
        a, b, c = (
            np.exp(z / (n * t)) / np.exp(z / (n * t)).sum()
            for z, t in zip((inside, off, (centered**2).sum(axis=0)), tau, strict=True)
        )
        w = (1 / (a * b * c)) / (1 / (a * b * c)).sum()
    return m, P, w, values[::-1][:k]


def literal(X, k, tau, **options):
    return DSWL(k, tau=tau, **options).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize(
    "tau", [(0.3, 0.1, 0.2), (0.9, 0.05, 5.0), (0.2, 0.2, 0.2), (0.1, 0.3, 0.4)]
)
@pytest.mark.parametrize("n_iter", [1, 2, 7])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:tau_b:UserWarning")
def test_every_iteration_is_the_papers(tau, n_iter):
    X = planted("both", n=80, n_features=6, share=0.15, random_state=3).X
    model = literal(X, 2, tau, max_iter=n_iter, tol=1e-300)
    m, P, w, values = algorithm_1(X, 2, tau, n_iter)
    np.testing.assert_allclose(model.weights_, w, atol=1e-10)
    np.testing.assert_allclose(model.mean_, m, atol=1e-10)
    projector = model.components_.T @ model.components_
    np.testing.assert_allclose(projector, P @ P.T, atol=1e-10)
    np.testing.assert_allclose(np.abs(model.components_ @ P), np.eye(2), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, values, atol=1e-10)
    assert model.n_iter_ == n_iter


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(80, 6), (30, 50)])
def test_the_fixed_point_is_the_papers(shape):
    X = planted("ocs", n=shape[0], n_features=shape[1], share=0.1, random_state=1).X
    tau = np.array([0.8, 0.5, 2.0]) * np.median(X.var(axis=0).sum()) / shape[0] * 4
    model = literal(X, 2, tuple(tau), tol=1e-14, max_iter=2000)
    m, P, w, _ = algorithm_1(X, 2, tau, 2000)
    assert model.converged_
    np.testing.assert_allclose(model.weights_, w, atol=1e-10)
    np.testing.assert_allclose(model.mean_, m, atol=1e-10)
    np.testing.assert_allclose(
        model.components_.T @ model.components_, P @ P.T, atol=1e-10
    )


def test_only_two_temperatures_matter():
    X = planted("scatter", n=100, n_features=5, share=0.1).X
    one = literal(X, 2, (1.0, 0.5, 1.0))
    # the same 1/tau_a + 1/tau_c and 1/tau_b + 1/tau_c
    two = literal(X, 2, (2 / 3, 0.4, 2.0))
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-12)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 60),
    D=st.integers(2, 7),
    logs=st.tuples(*[st.floats(-2, 3)] * 2),
    ratio=st.floats(1e-3, 1),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:DSWL. only:UserWarning")
def test_the_objective_never_falls_when_tau_b_is_not_above_tau_a(
    seed, n, D, logs, ratio
):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, D)) * np.exp(rng.normal(size=D))
    k = int(rng.integers(1, D + 1))
    unit = np.median(((X - X.mean(axis=0)) ** 2).sum(axis=1)) / n
    tau_a, tau_c = unit * np.exp(logs)
    model = literal(X, k, (tau_a, ratio * tau_a, tau_c), max_iter=60)
    objective = model.history_["objective"]
    assert (np.diff(objective) >= -1e-9 * np.maximum(1, np.abs(objective[1:]))).all()
    np.testing.assert_allclose(model.objective_, objective[-1], rtol=1e-12)


def test_the_objective_is_the_log_of_the_summed_exponentials():
    X = planted("scatter", n=100, n_features=5, share=0.1).X
    tau = (0.4, 0.2, 0.3)
    model = literal(X, 2, tau)
    y = X - model.mean_
    t = y @ model.components_.T
    v, d = (t**2).sum(axis=1), (y**2).sum(axis=1)
    exponent = v / (100 * tau[0]) + (d - v) / (100 * tau[1]) + d / (100 * tau[2])
    np.testing.assert_allclose(model.objective_, np.log(np.exp(-exponent).sum()))


def test_a_temperature_order_without_guarantee_is_warned_of():
    X = planted("none", n=100, n_features=5).X
    with pytest.warns(UserWarning, match=r"tau_b=9 is above tau_a=3.*tau_b <= tau_a"):
        literal(X, 2, (3.0, 9.0, 5.0))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_collapsing_weights_are_warned_of():
    X = planted("none", n=100, n_features=5).X
    with pytest.warns(
        UserWarning, match=r"DSWL: only .* of 100 rows carry weight.*trust"
    ):
        literal(X, 2, (1e-4, 1e-4, 1e-4))


def test_an_unfinished_iteration_is_warned_of():
    X = planted("both", n=100, n_features=5, share=0.3).X
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 2 iterations.*max_iter"
    ):
        model = literal(X, 2, (1.0, 0.5, 1.0), max_iter=2)
    assert not model.converged_
