"""The sample on which a fit starts."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.starts import draw_sample, repeated
from trueaxis.data.rows import ArrayRows


def test_the_sample_of_weighted_rows_has_their_weights():
    X = np.arange(12000.0)[:, None]
    counts = np.where(X[:, 0] < 6000, 0.1, 1.0)
    sample = draw_sample(ArrayRows(X), counts, np.random.default_rng(0))
    assert sample.large and len(sample.X) == 4000
    np.testing.assert_allclose((sample.X[:, 0] < 6000).mean(), 600 / 6600, atol=0.01)
    few = draw_sample(
        ArrayRows(X[:4]), np.array([2.0, 0, 1, 3]), np.random.default_rng(0)
    )
    assert few.exact and sorted(few.index) == [0, 0, 2, 3, 3, 3]


def test_the_order_of_the_sample_is_equivariant():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    shuffle = rng.permutation(50)
    one = draw_sample(ArrayRows(X), None, rng)
    two = draw_sample(ArrayRows(7 * X[shuffle] @ Q + 3), None, rng)
    np.testing.assert_array_equal(one.index, shuffle[two.index])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_whose_squares_overflow_or_underflow_are_refused(dtype):
    X = np.random.default_rng(0).standard_normal((50, 3))
    limits = np.finfo(dtype)
    low, high = 10 * np.sqrt(float(limits.tiny)), 1e-3 * np.sqrt(float(limits.max))
    size = np.abs(X - X[0]).max()
    for unit in (100 * high, low / 100):
        scaled = (unit * X).astype(dtype)
        message = (
            f"Rows of X differ by up to .*, but squares of {np.dtype(dtype)} values "
            f"underflow below {low:.0g} and overflow beyond {high:.0g}: rescale X."
        )
        with pytest.raises(ValueError, match=message.replace("+", r"\+")):
            draw_sample(ArrayRows(scaled), None, np.random.default_rng(0))
    for unit in (0.9 * high / size, 1.1 * low / size):
        sample = draw_sample(
            ArrayRows((unit * X).astype(dtype)), None, np.random.default_rng(0)
        )
        assert len(sample.X) == 50
    far = (0.01 * high * X + 3 * high).astype(dtype)
    message = (
        f"X has values up to {np.abs(far).max():.1g}, but squares of {np.dtype(dtype)} "
        f"values overflow beyond {high:.0g}: rescale X, or subtract a constant from "
        "each column."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        draw_sample(ArrayRows(far), None, np.random.default_rng(0))


def test_rows_absurdly_far_away_are_not_in_the_sample():
    X = np.random.default_rng(0).standard_normal((50, 3))
    expected = draw_sample(ArrayRows(X[2:]), None, np.random.default_rng(0))
    for far in (1e12, 1e150, 1e300, -1.7e308):
        X[:2] = far
        sample = draw_sample(ArrayRows(X), None, np.random.default_rng(0))
        assert sample.exact and not sample.large
        np.testing.assert_array_equal(sample.X, expected.X)
        np.testing.assert_array_equal(sample.index, expected.index + 2)
    X[:2] = 1e8  # far, but their squares cost no digits that matter
    assert len(draw_sample(ArrayRows(X), None, np.random.default_rng(0)).X) == 50


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40))
def test_whole_counts_repeat_rows_exactly(counts):
    counts = np.array([1.0, 1.0, *counts])
    total = int(counts.sum())
    expected = np.repeat(np.arange(len(counts)), counts.astype(int))
    np.testing.assert_array_equal(repeated(counts, total), expected)
    few = np.bincount(repeated(counts, 2 + total // 2), minlength=len(counts))
    share = (2 + total // 2) / total
    assert np.abs(few - min(share, 1.0) * counts).max() <= 1
