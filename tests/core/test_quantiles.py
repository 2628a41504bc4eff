"""Quantiles against numpy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.core.quantiles import quantile


@given(seed=st.integers(0, 10**6), q=st.floats(0, 1))
def test_quantiles_are_numpys(seed, q):
    x = np.round(np.random.default_rng(seed).normal(size=30), 1)
    np.testing.assert_allclose(quantile(x, q), np.quantile(x, q), atol=1e-12)
