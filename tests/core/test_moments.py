"""Weighted sums of rows: equal weights are a special case of any weights."""

import numpy as np
import pytest
from engine_data import normal_cloud
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.moments import Moments


def numbers(moments):
    scale = np.exp(moments.log_scale)
    second = scale * np.triu(moments.second)
    return np.r_[
        scale * moments.weight,
        scale**2 * moments.squares,
        scale * moments.first,
        second.ravel(),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(seed=st.integers(0, 10**6))
def test_rows_of_weight_1_are_added_as_those_of_any_weight(dtype, seed):
    rng = np.random.default_rng(seed)
    one, two = Moments(np.zeros(5)), Moments(np.zeros(5))
    for first in range(0, 60, 20):
        y = normal_cloud(seed)[first : first + 20].astype(dtype)
        kept = rng.random(20) < rng.choice([0.0, 0.5, 1.0])
        log_weights = rng.normal(scale=9.0, size=20)  # added before, between and after
        if rng.random() < 0.5:
            for moments in (one, two):
                moments.add(y.copy(), log_weights, None)
        if kept.any():
            one.add(y[kept], np.zeros(kept.sum()), None)
        y[~kept] = 0
        two.add_equal(y, int(kept.sum()))
    if one.is_empty():
        assert two.is_empty()
        return
    expected = numbers(one)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(numbers(two), expected, atol=rtol * expected.max())


def test_no_rows_leave_moments_empty():
    moments = Moments(np.zeros(3))
    moments.add_equal(np.zeros((4, 3)), 0)
    assert moments.is_empty()
    with pytest.raises(ValueError, match="No row carries weight"):
        moments.mean()
