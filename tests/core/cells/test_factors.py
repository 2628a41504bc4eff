"""The factor model: EM against dense formulas and brute force, and never downhill."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis.cells.factors import (
    PRIOR_CELLS,
    PRIOR_NOISE,
    FactorModel,
    column_moments,
    fit_factors,
    improve,
    penalty,
    start_factors,
)


def table(seed, n=60, D=6, r=2, holes=0.2):
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(D, r))
    X = rng.normal(size=(n, r)) @ loadings.T + 0.4 * rng.normal(size=(n, D))
    W = (rng.random((n, D)) >= holes).astype(float)
    W[0] = 0.0  # a row without any cell
    W[:, 0] = 1.0
    return X, W


def model(seed, D=6, r=2):
    rng = np.random.default_rng(seed)
    return FactorModel(
        rng.normal(size=D), rng.normal(size=(D, r)), rng.uniform(0.1, 1.0, D)
    )


def test_deviations_are_those_of_the_conditional_gaussian():
    X, W = table(1)
    given_model = model(2)
    mean, noise = given_model.mean, np.diag(given_model.noise)
    covariance = given_model.loadings @ given_model.loadings.T + noise
    z, fitted = given_model.deviations(X, W)
    for i, j in np.ndindex(X.shape):
        others = (W[i] > 0) & (np.arange(X.shape[1]) != j)
        slope = np.linalg.solve(
            covariance[np.ix_(others, others)], covariance[others, j]
        )
        expected = mean[j] + (X[i] - mean)[others] @ slope
        variance = covariance[j, j] - covariance[j, others] @ slope
        assert z[i, j] == pytest.approx((X[i, j] - expected) / np.sqrt(variance))
        if W[i, j] == 0:
            assert fitted[i, j] == pytest.approx(expected)


def posterior(given_model, X, W, weights, prior, fixed):
    """What a step of `improve` raises: density of cells of weight W, and priors."""
    L, noise = given_model.loadings, given_model.noise
    total = -0.5 * (fixed * L**2).sum(axis=1) / noise
    total -= 0.5 * PRIOR_CELLS * (np.log(noise) + PRIOR_NOISE * prior / noise)
    total = total.sum()
    for weight, x, w in zip(weights, X - given_model.mean, W, strict=True):
        # A weight divides the noise of a cell, and multiplies its logarithm.
        precision = np.eye(L.shape[1]) + (L.T * (w / noise)) @ L
        inner = L.T @ (w / noise * x)
        row = (w / noise * x**2).sum() - inner @ np.linalg.solve(precision, inner)
        row += np.linalg.slogdet(precision)[1] + w @ np.log(noise)
        total -= 0.5 * weight * row
    return total


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    holes=st.floats(0.0, 0.7),
    soft=st.booleans(),
    r=st.integers(1, 4),
)
def test_the_objective_never_falls(seed, holes, soft, r):
    X, W = table(seed, holes=holes)
    rng = np.random.default_rng(seed)
    if soft:  # cells that are neither surely good nor surely wrong
        W = W * rng.random(W.shape)
    weights = rng.random(len(X))
    _, prior = column_moments(X, W, weights)
    current = start_factors(X, W, weights, r)
    fixed = penalty(current, prior)
    objective = posterior(current, X, W, weights, prior, fixed)
    for _ in range(8):
        current = improve(current, X, W, weights, prior, fixed)
        after = posterior(current, X, W, weights, prior, fixed)
        assert after >= objective - 1e-9 * max(1.0, abs(objective))
        objective = after


def test_without_holes_and_with_many_rows_the_covariance_is_found():
    rng = np.random.default_rng(7)
    loadings = rng.normal(size=(8, 2))
    X = rng.normal(size=(20_000, 2)) @ loadings.T + 0.5 * rng.normal(size=(20_000, 8))
    W, weights = np.ones_like(X), np.ones(len(X))
    _, prior = column_moments(X, W, weights)
    found = fit_factors(start_factors(X, W, weights, 5), X, W, weights, prior, 100)
    expected = loadings @ loadings.T + 0.25 * np.eye(8)
    covariance = found.loadings @ found.loadings.T + np.diag(found.noise)
    np.testing.assert_allclose(covariance, expected, atol=0.03 * expected.max())


def test_covariance_of_filled_rows_plus_filling_is_that_of_the_rows():
    rng = np.random.default_rng(8)
    given_model = model(9, D=6, r=2)
    n = 100_000
    X = given_model.mean + rng.normal(size=(n, 2)) @ given_model.loadings.T
    X += np.sqrt(given_model.noise) * rng.normal(size=X.shape)
    W = (rng.random(X.shape) > 0.3).astype(float)
    filled = np.where(W > 0, X, given_model.fill(X, W))
    filling = given_model.filling_covariance(X, W, np.ones(n))
    covariance = given_model.loadings @ given_model.loadings.T
    covariance += np.diag(given_model.noise)
    np.testing.assert_allclose(np.cov(filled.T) + filling, covariance, atol=0.05)
    assert np.trace(filling) > 0.1 * np.trace(covariance)
