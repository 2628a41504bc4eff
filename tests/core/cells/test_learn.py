"""What is learned about cells: units of columns, and a model by a judge of rows."""

import numpy as np

from trueaxis.cells.learn import (
    learn_cells,
)


def table(seed=0, n=300, D=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, D))
    return X + 0.3 * rng.normal(size=(n, D)), rng


def everybody(rows):
    return np.zeros(len(rows))


def test_without_outliers_the_judge_changes_nothing():
    X, rng = table()
    X[rng.random(X.shape) < 0.1] = np.nan
    model, weights = learn_cells(X, everybody, find_wrong=False)
    assert weights.all() and model.wrong is None
    assert np.isfinite(model(X)).all()


def test_shares_of_wrong_cells_are_learned_by_column_and_side():
    X, rng = table(n=800)
    sd = X.std(axis=0)
    X[rng.random(800) < 0.1, 2] = 8 * sd[2]
    X[rng.random(800) < 0.05, 5] = -8 * sd[5]
    model, _ = learn_cells(X, everybody, find_wrong=True)
    shares = model.wrong.shares
    np.testing.assert_allclose(shares[1, 2], 0.1, atol=0.02)
    np.testing.assert_allclose(shares[0, 5], 0.05, atol=0.02)
    shares[1, 2] = shares[0, 5] = 0.0
    assert shares.max() < 0.005
