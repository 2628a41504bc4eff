"""Verdicts on all rows."""

import numpy as np
import pytest

from trueaxis import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_rows_that_differ_from_copies_of_one_row_are_flagged(name):
    rng = np.random.default_rng(0)
    for odd in ([[5, 5, 5, 5]], [[1, 1, 1, 2]], 100 * rng.standard_normal((2, 4))):
        X = np.ones((60, 4))
        X[3 : 3 + len(odd)] = odd
        flagged = METHODS[name](1).fit(X).predict(X) < 0
        assert np.array_equal(flagged, (X != 1).any(axis=1))
