"""A reader of the paper who wants its Algorithm 1, to the letter."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.datasets import planted


def algorithm_1(X, k, tau_a, tau_b, tau_c, n_iter):
    """Algorithm 1 line by line; as in the paper, samples are columns."""
    d, n = X.shape
    w = np.ones(n) / n  # step 1
    for _ in range(n_iter):
        m = X @ w  # step 3
        H = np.diag(w) - np.outer(w, w)
        eigenvalues, U = np.linalg.eigh(X @ H @ X.T)  # ascending
        P = U[:, ::-1][:, :k]
        a, b, c = np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            y = X[:, i] - m
            a[i] = np.exp(np.sum((P.T @ y) ** 2) / (n * tau_a))
            b[i] = np.exp(np.sum(((np.eye(d) - P @ P.T) @ y) ** 2) / (n * tau_b))
            c[i] = np.exp(np.sum(y**2) / (n * tau_c))
        a, b, c = a / a.sum(), b / b.sum(), c / c.sum()
        w = 1 / (a * b * c)
        w = w / w.sum()
    return w, m, P


def test_the_algorithm_of_the_paper():
    """With the paper's temperatures, DSWL is the paper's algorithm.

    `tau` gives the three temperatures; nothing that the package adds takes part.
    Weights, center and subspace agree, and an outlier has less than a tenth of an equal
    share.
    """
    cloud = planted("scatter", n=90, n_features=5, n_components=2, share=0.1)
    tau = (2.0, 1.0, 2.0)
    model = DSWL(2, tau=tau, tol=1e-13, max_iter=500).fit(cloud.X)
    w, m, P = algorithm_1(cloud.X.T, 2, *tau, n_iter=500)
    assert model.converged_
    np.testing.assert_allclose(model.weights_, w, atol=1e-7)
    np.testing.assert_allclose(model.mean_, m, atol=1e-6)
    projector = model.components_.T @ model.components_
    np.testing.assert_allclose(projector, P @ P.T, atol=1e-6)
    assert w[cloud.is_outlier].max() < 0.1 / 90 < np.median(w[~cloud.is_outlier])


def test_one_round_of_the_paper():
    """One round from equal weights is one step by hand, and says that it stopped."""
    X = planted("both", n=60, n_features=4, n_components=1, share=0.1).X
    literal = DSWL(1, tau=(3, 1, 2), max_iter=1)
    with pytest.warns(UserWarning, match="max_iter"):
        model = literal.fit(X)
    w, _, P = algorithm_1(X.T, 1, 3, 1, 2, n_iter=1)
    np.testing.assert_allclose(model.weights_, w, atol=1e-9)
    assert abs(model.components_[0] @ P[:, 0]) == pytest.approx(1)


@pytest.mark.parametrize("trust", [0.3, 0.6])
def test_trust_instead_of_temperatures(trust):
    """`trust` is the share of the rows that carries the weights, in any unit.

    That many rows of equal weight would have the same entropy.
    """
    X = 1e4 * planted("scatter", n=200, n_features=5, n_components=2, share=0.1).X
    w = DSWL(2, trust=trust).fit(X).weights_
    entropy = -np.sum(w * np.log(np.maximum(w, 1e-300)))
    assert np.exp(entropy) == pytest.approx(trust * 200, rel=0.05)
