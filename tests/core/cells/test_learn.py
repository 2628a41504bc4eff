"""What is learned about cells: units of columns, and a model by a judge of rows."""

import numpy as np

from trueaxis.cells.learn import (
    centers_and_units,
    few_values,
    learn_cells,
)


def table(seed=0, n=300, D=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, D))
    return X + 0.3 * rng.normal(size=(n, D)), rng


def everybody(rows):
    return np.zeros(len(rows))


def test_units_are_those_of_normal_columns_and_of_levels():
    rng = np.random.default_rng(1)
    X = np.column_stack([5 + 2 * rng.normal(size=4000), rng.random(4000) < 0.3])
    seen = rng.random(X.shape) > 0.2
    few = few_values(X, seen)
    assert few.tolist() == [False, True]
    center, unit = centers_and_units(X, seen, few)
    np.testing.assert_allclose(center, [5, 0], atol=0.15)
    np.testing.assert_allclose(unit, [2, 1], rtol=0.05)


def test_without_outliers_the_judge_changes_nothing():
    X, rng = table()
    X[rng.random(X.shape) < 0.1] = np.nan
    model, weights = learn_cells(X, everybody, find_wrong=False)
    assert weights.all() and model.wrong is None
    assert np.isfinite(model(X)).all()


def test_rows_that_the_judge_rejects_teach_nothing():
    X, rng = table()
    X[rng.random(X.shape) < 0.1] = np.nan
    other = X.copy()
    other[:40] = 30.0 * rng.normal(size=(40, 8))

    def judge(rows):
        return np.where(np.arange(len(rows)) < 40, -100.0, 0.0)

    one, weights = learn_cells(X, judge, find_wrong=True)
    two, _ = learn_cells(other, judge, find_wrong=True)
    assert not weights[:40].any() and weights[40:].mean() > 0.95
    np.testing.assert_allclose(one.factors.noise, two.factors.noise, rtol=0.3)
    np.testing.assert_allclose(one(X[40:]), two(X[40:]), atol=1.5)


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
