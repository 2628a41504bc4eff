"""Verdicts on all rows."""

import numpy as np
import pytest
from engine_data import contaminated_cloud, pca_subspace

from trueaxis.core.problem import Problem, affine_hull
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.verdicts import Judge
from trueaxis.data.rows import ArrayRows
from trueaxis.methods import METHODS


def judge_of(X, counts=None):
    """The judge of a fit to all rows."""
    sample = Problem(ArrayRows(X), counts, np.random.default_rng(0)).sample
    return Judge(affine_hull(ArrayRows(X)), counts, sample.index, sample.original)


def line_with_outliers(seed=0, n=30):
    """Rows near a line in the plane; the first two are off it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)) * [3.0, 0.0] + 0.05 * rng.standard_normal((n, 2))
    X[:2] = [[0.5, 0.8], [-0.5, -0.8]]
    return X


@pytest.mark.parametrize("seed", range(5))
def test_the_null_distribution_is_that_of_rows_outside_the_fit(seed):
    X = line_with_outliers(seed)
    n = len(X)
    law = judge_of(X).judge(pca_subspace(X, 1)).law
    left_out = [
        measure_rows(ArrayRows(X[[i]]), pca_subspace(np.delete(X, i, axis=0), 1))
        for i in range(n)
    ]
    e, s = (np.array([getattr(row, one)[0] for row in left_out]) for one in "es")
    p_values = np.exp(law.log_p(e, s))
    assert (p_values[:2] < 0.01).all()
    assert 0.3 < np.median(p_values[2:]) < 0.95
    assert (p_values[2:] > 0.025).mean() > 0.85


def test_counts_equal_repetitions():
    X = contaminated_cloud(n=80)
    counts = np.random.default_rng(1).integers(0, 4, 80).astype(float)
    again = np.repeat(np.arange(80), counts.astype(int))
    subspace = pca_subspace(X[again])
    counted = judge_of(X, counts).judge(subspace).law
    repeated = judge_of(X[again]).judge(subspace).law
    np.testing.assert_allclose(counted.score, repeated.score, rtol=1e-9)
    np.testing.assert_allclose(counted.orthogonal, repeated.orthogonal, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_rows_that_differ_from_many_equal_rows_are_flagged(name):
    rng = np.random.default_rng(0)
    for odd in ([[5, 5, 5, 5]], [[1, 1, 1, 2]], 100 * rng.standard_normal((2, 4))):
        X = np.ones((60, 4))
        X[3 : 3 + len(odd)] = odd
        flagged = METHODS[name](1).fit(X).predict(X) < 0
        assert np.array_equal(flagged, (X != 1).any(axis=1))
