"""Verdicts on all rows."""

import numpy as np
import pytest
from engine_data import contaminated_cloud, pca_subspace

from trueaxis import METHODS
from trueaxis._engine.outliers.judge import Judge, cutoff_ratio
from trueaxis._engine.outliers.trim import worst_ratio
from trueaxis._engine.problem import Problem, affine_hull
from trueaxis._engine.reweighted import measure_rows
from trueaxis._rows.base import ArrayRows


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
def test_verdicts_are_those_of_fits_that_leave_each_row_out(seed):
    X = line_with_outliers(seed)
    n = len(X)
    verdicts = judge_of(X).judge(pca_subspace(X, 1), np.full(n, 1 / n))
    ratio = np.empty(n)
    for i in range(n):
        without = pca_subspace(np.delete(X, i, axis=0), 1)
        distances = measure_rows(ArrayRows(X[[i]]), without)
        ratio[i] = worst_ratio(distances, verdicts.cuts)[0]
    clear = np.abs(ratio - 1) > 0.1  # the leverage is a formula of first order
    assert clear.mean() > 0.85
    np.testing.assert_array_equal(verdicts.support[clear], ratio[clear] < 1)
    assert not verdicts.support[:2].any() and verdicts.support[2:].mean() > 0.9
    assert verdicts.n_regular == verdicts.support.sum()


def test_without_fit_weights_all_rows_are_assumed_to_have_had_the_same():
    X = line_with_outliers()
    judge, subspace = judge_of(X), pca_subspace(X, 1)
    assumed = judge.judge(subspace)
    given = judge.judge(subspace, np.full(len(X), 1 / len(X)))
    np.testing.assert_array_equal(assumed.support, given.support)
    np.testing.assert_allclose(assumed.cuts, given.cuts, rtol=1e-9)


def test_counts_equal_repetitions_and_rows_without_are_not_regular():
    X = contaminated_cloud(n=80)
    counts = np.random.default_rng(1).integers(0, 4, 80).astype(float)
    again = np.repeat(np.arange(80), counts.astype(int))
    subspace = pca_subspace(X[again])
    counted = judge_of(X, counts).judge(subspace)
    repeated = judge_of(X[again]).judge(subspace)
    np.testing.assert_allclose(counted.cuts, repeated.cuts, rtol=1e-9)
    np.testing.assert_array_equal(counted.support[again], repeated.support)
    assert not counted.support[counts == 0].any()
    assert counted.n_regular == repeated.n_regular == counts[counted.support].sum()


def test_any_distance_is_beyond_a_cutoff_of_zero():
    distance = np.array([0.0, 1.0, 3.0])
    np.testing.assert_array_equal(cutoff_ratio(distance, 2.0), [0, 0.5, 1.5])
    np.testing.assert_array_equal(cutoff_ratio(distance, 0.0), [0, np.inf, np.inf])


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_rows_that_differ_from_copies_of_one_row_are_flagged(name):
    rng = np.random.default_rng(0)
    for odd in ([[5, 5, 5, 5]], [[1, 1, 1, 2]], 100 * rng.standard_normal((2, 4))):
        X = np.ones((60, 4))
        X[3 : 3 + len(odd)] = odd
        flagged = METHODS[name](1).fit(X).predict(X) < 0
        assert np.array_equal(flagged, (X != 1).any(axis=1))
