"""Amplified cells."""

import numpy as np
import pytest

from studies.uci.damage import contaminate


@pytest.mark.parametrize("n, D", [(178, 13), (100, 8), (7, 1)])
def test_contaminate_multiplies_half_of_the_features_of_a_quarter_of_the_rows(n, D):
    X = np.random.default_rng(1).uniform(1, 2, (n, D))
    before = X.copy()
    damaged, is_outlier = contaminate(X, random_state=2)
    assert np.array_equal(X, before) and is_outlier.sum() == round(n / 4)
    assert np.array_equal(damaged[~is_outlier], X[~is_outlier])
    ratio = damaged[is_outlier] / X[is_outlier]
    hit = ratio > 1.5
    assert (hit.sum(axis=1) == max(1, D // 2)).all()
    np.testing.assert_array_equal(ratio[~hit], 1)
    for row, cells in zip(ratio, hit, strict=True):  # one factor for each row
        assert np.ptp(row[cells]) < 1e-12 and round(row[cells][0]) in (5, 10, 20)


def test_contaminate_draws_rows_features_and_factors_alike():
    damaged, is_outlier = contaminate(np.ones((40_000, 4)), random_state=0)
    ratio = damaged[is_outlier]
    np.testing.assert_allclose((ratio > 1).mean(axis=0), 0.5, atol=0.02)
    for factor in (5, 10, 20):
        assert (ratio.max(axis=1) == factor).mean() == pytest.approx(1 / 3, abs=0.02)
    halves = is_outlier.reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(halves, 0.25, atol=0.01)
