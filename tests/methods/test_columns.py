"""RSPCA and two-way PCA: columns that are selected or weighted."""

import numpy as np
import pytest
from estimator_data import angle

from trueaxis.methods import RPCAOM, RSPCA, TwoWayPCA


def table(seed=0, n=150):
    """Two factors in the first four of ten columns, noise in all, a few bad rows."""
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.standard_normal((n, 10))
    X[:, :4] += 2 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, 4))
    X[:8] += 5 * rng.standard_normal((8, 10))
    return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("q", [4, 0.4])
def test_all_axes_use_the_same_few_columns(q, seed):
    model = RSPCA(2, q=q).fit(table(seed))
    np.testing.assert_array_equal(model.components_.any(axis=0), np.arange(10) < 4)
    assert model.sigma_ > 0


def test_column_weights_multiply_to_1_and_noisy_columns_count_less():
    X = table()
    X[:, 7] += 4 * np.random.default_rng(1).standard_normal(len(X))
    model = TwoWayPCA(2).fit(X)
    assert np.prod(model.feature_weights_) == pytest.approx(1)
    assert model.feature_weights_.argmin() == 7
    truth = RPCAOM(2).fit(table()[8:])
    assert angle(model, truth) < angle(RPCAOM(2).fit(X), truth)
