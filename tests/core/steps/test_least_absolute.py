"""L1-PCA: the alternation of rows and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from trueaxis.core.iteration import iterate
from trueaxis.methods.l1 import AlternatingLad


def cloud(seed=0, n=40, D=6, k=2, bad=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, D))
    X += 0.2 * rng.standard_normal((n, D))
    X[:bad] += 10 * rng.standard_normal((bad, D))
    return X


def sweep(X, k, counts=None, max_iter=100, tol=1e-9):
    step = AlternatingLad(X, counts)
    return step, iterate(step, step.start(k), max_iter=max_iter, tol=tol)


def primal_program(A, b):
    """The textbook program: residuals split into two signs."""
    p, k = A.shape
    cost = np.concatenate([np.zeros(k), np.ones(2 * p)])
    equal = np.hstack([A, np.eye(p), -np.eye(p)])
    bounds = [(None, None)] * k + [(0, None)] * (2 * p)
    return linprog(cost, A_eq=equal, b_eq=b, bounds=bounds).fun


# ---------------------------------------------------------------- alternation


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_the_objective_never_rises(seed, k, whole):
    X = cloud(seed, n=25, D=5)
    X = np.round(X) if whole else X  # ties
    step, result = sweep(X, k, max_iter=15)
    path = np.append(result.history["objective"], step.objective(result.last.next))
    assert np.diff(path).max() <= 1e-12 * path[0]
    found = result.last.next
    np.testing.assert_allclose(found.loadings.T @ found.loadings, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_all_but_one_dimension_reach_the_exact_solution(seed):
    X = np.random.default_rng(seed).standard_normal((30, 3)) * [3, 2, 0.5]
    exact = min(primal_program(np.delete(X, j, axis=1), X[:, j]) for j in range(3))
    step, result = sweep(X, 2)
    assert step.objective(result.last.next) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2])
def test_counts_equal_repeated_rows(k):
    X = cloud(seed=8)
    counts = np.random.default_rng(8).integers(0, 4, len(X)).astype(float)
    repeated = np.repeat(X, counts.astype(int), axis=0)
    _, counted = sweep(X, k, counts)
    _, plain = sweep(repeated, k)
    np.testing.assert_allclose(
        counted.history["objective"], plain.history["objective"], rtol=1e-9
    )
    np.testing.assert_allclose(counted.history["effective"], plain.history["effective"])
