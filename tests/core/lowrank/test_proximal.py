"""Proximal maps: optimality conditions, and general minimizers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from trueaxis.methods.lowrank import (
    row_threshold,
    singular_threshold,
    sparse_and_rows,
)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (60, 4), (9, 1), (1, 9)])
@pytest.mark.parametrize("t", [0.01, 0.5, 3.0, 100.0])
def test_singular_threshold_satisfies_its_optimality_conditions(shape, t):
    M = np.random.default_rng(0).standard_normal(shape)
    L, nuclear = singular_threshold(M, t)
    dual = (M - L) / t
    assert np.linalg.norm(dual, 2) <= 1 + 1e-9
    assert nuclear == pytest.approx(np.linalg.norm(L, "nuc"), abs=1e-12)
    assert np.vdot(dual, L) == pytest.approx(nuclear, abs=1e-9)


def test_gram_and_direct_decomposition_agree():
    rng = np.random.default_rng(1)
    M = rng.standard_normal((300, 6)) * np.logspace(0, -4, 6)
    for t in [0.5, 0.02, 0.002]:  # the last one is too small for the Gram matrix
        U, s, Vt = np.linalg.svd(M, full_matrices=False)
        expected = (U * np.maximum(s - t, 0)) @ Vt
        for wide_or_tall, shrunk in ((M, expected), (M.T, expected.T)):
            found = singular_threshold(wide_or_tall, t)[0]
            np.testing.assert_allclose(found, shrunk, atol=1e-12)
            assert found.flags.c_contiguous  # sums with others would be slow


@given(st.integers(0, 10**6), st.floats(0.05, 3), st.floats(0.05, 5))
def test_sparse_and_rows_are_jointly_optimal(seed, lam, gam):
    M = 2 * np.random.default_rng(seed).standard_t(3, (8, 5))
    S, rows = sparse_and_rows(M, lam, gam)
    left = M - S - rows
    length = np.linalg.norm(left, axis=1)
    assert np.abs(left).max() <= lam * (1 + 1e-12)
    assert length.max() <= gam * (1 + 1e-12)
    assert np.vdot(left, S) == pytest.approx(lam * np.abs(S).sum(), abs=1e-9)
    lengths = np.linalg.norm(rows, axis=1).sum()
    assert np.vdot(left, rows) == pytest.approx(gam * lengths, abs=1e-9)


def test_row_threshold_against_a_general_minimiser():
    m = np.array([3.0, -1.0, 2.0])
    found = minimize(
        lambda o: 1.2 * np.linalg.norm(o) + 0.5 * np.sum((o - m) ** 2), m, tol=1e-12
    )
    np.testing.assert_allclose(row_threshold(m[None], 1.2)[0], found.x, atol=1e-6)
