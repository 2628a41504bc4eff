"""Least absolute deviations of many targets: optimal, whatever the start."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from trueaxis.methods import l1 as deviations
from trueaxis.methods.l1 import closest, fit_deviations


def any_rows(A, q):
    return np.tile(np.arange(min(A.shape)), (q, 1))


def solved(A, B):
    return fit_deviations(A, B, any_rows(A, B.shape[1])).coefficients


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


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 8, 25])
def test_larger_programs(k):
    rng = np.random.default_rng(k)
    A, B = rng.standard_normal((120, k)), rng.standard_t(1.5, (120, 6))
    found = deviation(A, B, solved(A, B))
    np.testing.assert_allclose(found, [by_program(A, b) for b in B.T], rtol=1e-9)


def test_the_start_does_not_matter():
    rng = np.random.default_rng(2)
    A, B = rng.standard_normal((40, 4)), rng.standard_normal((40, 9))
    first = fit_deviations(A, B, any_rows(A, 9))
    for near in (
        rng.integers(0, 40, (9, 4)),  # perhaps the same row twice
        np.zeros((9, 4), dtype=int),
        closest((B - A @ np.linalg.lstsq(A, B, rcond=None)[0]).T, 4),
        first.touched,
    ):
        again = fit_deviations(A, B, near)
        np.testing.assert_allclose(again.coefficients, first.coefficients, atol=1e-12)
        np.testing.assert_array_equal(
            np.sort(again.touched, axis=1), np.sort(first.touched, axis=1)
        )


def test_fits_pass_through_the_rows_they_touch():
    rng = np.random.default_rng(3)
    A, B = rng.standard_normal((30, 3)), rng.standard_normal((30, 5))
    found = fit_deviations(A, B, any_rows(A, 5))
    left = np.abs(B - A @ found.coefficients).T
    assert np.take_along_axis(left, found.touched, axis=1).max() < 1e-13
    np.testing.assert_array_equal(
        np.sort(closest(left, 3), axis=1), np.sort(found.touched, axis=1)
    )


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_far_errors_do_not_hide_the_rest(far):
    rng = np.random.default_rng(11)
    A, B = rng.standard_normal((15, 3)), rng.standard_normal((15, 7))
    B[0, :4] = 1e2  # beyond reach already: further off leaves the same coefficients
    near = solved(A, B)
    B[0, :4] = far
    np.testing.assert_allclose(solved(A, B), near, atol=1e-9)


def test_a_row_of_the_design_may_be_far():
    rng = np.random.default_rng(12)
    A, B = rng.standard_normal((20, 3)), rng.standard_normal((20, 4))
    A[0] *= 1e6
    found = deviation(A, B, solved(A, B))
    rows = A / 1e6  # the program needs moderate numbers
    best = [by_program(rows, b) for b in B.T]
    np.testing.assert_array_less(found, np.multiply(best, 1 + 1e-6))


def test_designs_of_lower_rank_are_no_trouble():
    rng = np.random.default_rng(6)
    a, B = rng.standard_normal((12, 1)), rng.standard_normal((12, 4))
    twice = np.hstack([a, 2 * a])
    expected = deviation(a, B, solved(a, B))
    np.testing.assert_allclose(deviation(twice, B, solved(twice, B)), expected)
    nothing = fit_deviations(np.zeros((5, 2)), B[:5], np.zeros((4, 2), dtype=int))
    np.testing.assert_array_equal(nothing.coefficients, 0)


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
