"""Low rank plus sparse: optimality conditions, planted truth and other packages."""

import numpy as np
import pytest
from engine_data import low_rank_and_errors
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.iteration import iterate
from trueaxis.methods.lowrank import PenalizedPursuit, PrincipalPursuit

SHAPES = [(100, 100), (500, 20), (100, 200)]


SMALL_SHAPES = [(40, 30), (120, 8), (30, 50)]


def solve(step, max_iter=5000, tol=1e-7):
    result = iterate(step, step.start(), max_iter=max_iter, tol=tol)
    assert result.converged
    return result.last.next


def penalized(X, sigma, **options):
    return PenalizedPursuit(X, sigma * np.sqrt(2 * max(X.shape)), **options)


def apart(A, B):
    return np.linalg.norm(A - B) / np.linalg.norm(B)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "D"), SHAPES)
def test_principal_pursuit_is_optimal(n, D):
    _, X = low_rank_and_errors(n=n, D=D)
    step = PrincipalPursuit(X, balance=10.0)
    found = solve(step, tol=1e-6)
    Y = found.multiplier
    assert np.linalg.norm(Y, 2) <= 1 + 1e-8
    assert np.abs(Y).max() <= step.lam * (1 + 1e-4)
    assert np.vdot(Y, X) == pytest.approx(step.objective(found), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "D"), SMALL_SHAPES)
@pytest.mark.parametrize("gam", [0.7, np.inf])
def test_penalized_pursuit_is_optimal(n, D, gam):
    _, X = low_rank_and_errors(n=n, D=D, rank=2, noise=0.3, outlying=3)
    step = penalized(X, 0.3, gam=gam)
    found = solve(step, tol=1e-10)
    R = (X - found.low_rank - found.sparse - found.rows) / step.mu
    lengths = np.linalg.norm(found.rows, axis=1).sum()
    assert np.linalg.norm(R, 2) <= 1 + 1e-6
    assert np.abs(R).max() <= step.lam * (1 + 1e-9)
    assert np.linalg.norm(R, axis=1).max() <= gam * (1 + 1e-9)
    nuclear = np.linalg.norm(found.low_rank, "nuc")
    assert found.nuclear == pytest.approx(nuclear)
    assert np.vdot(R, found.low_rank) == pytest.approx(nuclear, rel=1e-6)
    l1 = step.lam * np.abs(found.sparse).sum()
    assert np.vdot(R, found.sparse) == pytest.approx(l1, rel=1e-6)
    price = gam * lengths if lengths else 0.0
    assert np.vdot(R, found.rows) == pytest.approx(price, rel=1e-6)


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.sampled_from([(20, 12), (12, 20), (50, 5), (15, 1)]),
    st.sampled_from([1.0, 0.1, 0.003]),
    st.sampled_from([np.inf, 0.7, 0.4]),
)
def test_the_penalized_objective_never_rises(seed, shape, sigma, gam):
    _, X = low_rank_and_errors(seed, *shape, rank=1, noise=sigma, outlying=2)
    step = penalized(X, sigma, gam=gam)
    result = iterate(step, step.start(), max_iter=60, tol=0.0)
    objective = result.history["objective"]
    assert np.diff(objective).max(initial=0) <= 1e-13 * objective[0]
    found = result.last.next
    assert step.objective(found) <= objective[-1] + 1e-13 * objective[0]
