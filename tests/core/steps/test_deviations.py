"""Least absolute deviations of many targets: optimal, whatever the start."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from trueaxis.core.iteration import iterate
from trueaxis.methods import l1 as deviations
from trueaxis.methods.l1 import AlternatingLad, fit_deviations


def any_rows(A, q):
    return np.tile(np.arange(min(A.shape)), (q, 1))


def solved(A, B):
    return fit_deviations(A, B, any_rows(A, B.shape[1]))[0]


def deviation(A, B, C):
    return np.abs(B - A @ C).sum(axis=0)


def by_program(A, b):
    """The textbook program: residuals split into two signs."""
    p, k = A.shape
    cost = np.concatenate([np.zeros(k), np.ones(2 * p)])
    equal = np.hstack([A, np.eye(p), -np.eye(p)])
    bounds = [(None, None)] * k + [(0, None)] * (2 * p)
    return linprog(cost, A_eq=equal, b_eq=b, bounds=bounds).fun


def by_trial(A, b):
    """A best fit passes through k targets: try all."""
    best = np.inf
    for rows in itertools.combinations(range(len(A)), A.shape[1]):
        chosen = A[list(rows)]
        if abs(np.linalg.det(chosen)) > 1e-9:
            c = np.linalg.solve(chosen, b[list(rows)])
            best = min(best, np.abs(b - A @ c).sum())
    return best


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_no_fit_through_other_targets_is_better(seed, k, whole):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((7, k)), rng.standard_t(2, (7, 3))
    if whole:  # ties
        A, B = np.round(A) + np.eye(7, k), np.round(2 * B)
    found = deviation(A, B, solved(A, B))
    np.testing.assert_allclose(found, [by_trial(A, b) for b in B.T], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("batch", [1, 3 * 15, 1 << 16])
def test_many_at_once_equal_single_programs(monkeypatch, batch, scale):
    monkeypatch.setattr(deviations, "BATCH_ENTRIES", batch)
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((15, 3)), rng.standard_t(2, (15, 7))
    C = solved(A * scale, B / scale)
    found = deviation(A, B, C * scale**2)
    np.testing.assert_allclose(found, [by_program(A, b) for b in B.T], rtol=1e-9)


def test_designs_of_lower_rank_are_no_trouble():
    rng = np.random.default_rng(6)
    a, B = rng.standard_normal((12, 1)), rng.standard_normal((12, 4))
    twice = np.hstack([a, 2 * a])
    expected = deviation(a, B, solved(a, B))
    np.testing.assert_allclose(deviation(twice, B, solved(twice, B)), expected)
    nothing, _ = fit_deviations(np.zeros((5, 2)), B[:5], np.zeros((4, 2), dtype=int))
    np.testing.assert_array_equal(nothing, 0)


def test_exact_fits_are_found_exactly():
    rng = np.random.default_rng(7)
    A, C = rng.standard_normal((50, 4)), rng.standard_normal((4, 6))
    B = A @ C
    B[rng.random(B.shape) < 0.2] += 10
    np.testing.assert_allclose(solved(A, B), C, atol=1e-12)
    np.testing.assert_array_equal(solved(A, np.zeros((50, 2))), 0)


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    monkeypatch.setattr(deviations, "MOST_STEPS", 1)
    monkeypatch.setattr(deviations, "MOST_SEARCHES", 1)
    monkeypatch.setattr(deviations, "MOST_NUDGES", 1)
    rng = np.random.default_rng(8)
    A, B = rng.standard_normal((60, 3)), rng.standard_normal((60, 5))
    with pytest.warns(RuntimeWarning, match="of 5 least absolute deviations fits"):
        solved(A, B)


@pytest.mark.parametrize("seed", range(5))
def test_all_but_one_dimension_reach_the_exact_solution(seed):
    X = np.random.default_rng(seed).standard_normal((30, 3)) * [3, 2, 0.5]
    exact = min(by_program(np.delete(X, j, axis=1), X[:, j]) for j in range(3))
    step = AlternatingLad(X)
    found = iterate(step, step.start(2), max_iter=100, tol=1e-9).last.next
    assert step.objective(found) == pytest.approx(exact, rel=1e-9)
    np.testing.assert_allclose(found.loadings.T @ found.loadings, np.eye(2), atol=1e-12)
