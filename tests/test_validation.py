"""Validation of user input."""

import numpy as np
import pandas as pd
import pytest

from trueaxis import DSWL
from trueaxis import _validation as validation


def test_integer_weights_are_counts_and_others_have_mean_one():
    assert validation.validate_counts(None, 3) is None
    assert validation.validate_counts([1, 1, 1], 3) is None
    np.testing.assert_array_equal(validation.validate_counts([2, 0, 1], 3), [2, 0, 1])
    np.testing.assert_array_equal(validation.validate_counts(2, 3), [2, 2, 2])
    scaled = validation.validate_counts([0.5, 0, 1.5], 3)
    np.testing.assert_allclose(scaled, [0.5, 0, 1.5])
    huge = validation.validate_counts([1e308, 1e308, 0], 3)
    np.testing.assert_allclose(huge, [1, 1, 0])  # their sum overflows


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (["a", "b", "c"], TypeError, "is not numeric .*'a'"),
        ({"a": 1}, TypeError, "is not numeric .*: pass one real number per"),
        ([1, 2], ValueError, r"shape \(2,\), but X has 3 rows"),
        ([1, -1, 1], ValueError, "-1.0 in row 1: weights must be finite and non-neg"),
        ([1, 1, np.nan], ValueError, "nan in row 2: weights must be finite"),
        ([0, 0, 5], ValueError, "Only 1 of 3 rows .* needs at least 2"),
    ],
)
def test_invalid_weights_are_refused(weights, error, words):
    with pytest.raises(error, match=words):
        validation.validate_counts(weights, 3)


def test_a_series_is_no_table():
    column = pd.Series(np.arange(20.0))
    with pytest.raises(ValueError, match="2-dimensional"):
        DSWL().fit(column)
