"""What is learned about cells, from rows of any source and by a judge of rows."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.cells.learn import learn_cells, learn_from_rows, refuse_empty_columns
from trueaxis.data.rows import ArrayRows


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


def test_shares_of_wrong_cells_are_learned_by_column():
    X, rng = table(n=800)
    sd = X.std(axis=0)
    X[rng.random(800) < 0.1, 2] = 8 * sd[2]
    X[rng.random(800) < 0.05, 5] = -8 * sd[5]
    model, _ = learn_cells(X, everybody, find_wrong=True)
    shares = model.wrong.shares
    np.testing.assert_allclose(shares[[2, 5]], [0.1, 0.05], atol=0.02)
    assert np.delete(shares, [2, 5]).max() < 0.01


@pytest.mark.slow
def test_filling_is_a_covariance_that_grows_with_the_holes():
    found = []
    for share in (0.1, 0.4):
        X, rng = table(n=1000)
        X[rng.random(X.shape) < share] = np.nan
        rows, recipe = ArrayRows(X), DSWL(2)._recipe()
        learned = learn_from_rows(rows, None, rng, recipe, 2, find_wrong=True)
        found.append(learned.filling.along(None))
    assert np.linalg.eigvalsh(found[0]).min() > 0
    assert np.trace(found[1]) > 2 * np.trace(found[0])


def test_columns_without_values_are_named():
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match=r"in the 2 rows, such as column 1: .*Drop"):
        refuse_empty_columns(X, None, None)
    with pytest.raises(ValueError, match=r"in 2 of 9,000 rows drawn.*column 'b'"):
        refuse_empty_columns(X, 9000, ["a", "b"])
