"""Learning a cell model from rows of any source."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.cells.learn import learn_from_rows, refuse_empty_columns
from trueaxis.data.rows import ArrayRows


def learned(X, counts=None, **options):
    rng = np.random.default_rng(0)
    recipe = DSWL(2)._recipe()
    return learn_from_rows(
        ArrayRows(X), counts, rng, recipe, 2, find_wrong=True, **options
    )


def table(n=5000):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(
        size=(n, 6)
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.slow
def test_filling_is_a_covariance_that_grows_with_the_holes():
    X = table(1000)
    more = X.copy()
    more[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    one, two = learned(X).filling.along(None), learned(more).filling.along(None)
    assert np.linalg.eigvalsh(one).min() > 0
    assert np.trace(two) > 2 * np.trace(one)


def test_columns_without_values_are_named():
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match=r"in the 2 rows, such as column 1: .*Drop"):
        refuse_empty_columns(X, None, None)
    with pytest.raises(ValueError, match=r"in 2 of 9,000 rows drawn.*column 'b'"):
        refuse_empty_columns(X, 9000, ["a", "b"])
