"""PCA-L1, greedy and not, and PCA-Lp against brute force."""

from itertools import product

import numpy as np
import pytest

from trueaxis.methods import PCAL1, PCAL1NonGreedy, PCALp


def centered(seed, n, D):
    X = np.random.default_rng(seed).standard_normal((n, D))
    return X - X.mean(axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_pca_l1_reaches_the_best_signs(seed):
    X = centered(seed, 10, 3)
    signs = np.array(list(product([-1, 1], repeat=10)))
    best = np.linalg.norm(signs @ X, axis=1).max()
    model = PCAL1(1, n_init=20).fit(X)
    assert model.history_["objective"][-1] == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_non_greedy_pca_l1_reaches_the_best_signs(seed):
    X = centered(seed, 7, 3)
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
