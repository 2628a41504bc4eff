"""Temperatures calibrated by the share of rows to trust."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trueaxis._engine.dswl.temperatures import calibrate, entropy, perplexity_scale


@given(seed=st.integers(0, 10**6), trust=st.floats(0.1, 0.95))
def test_perplexity_is_the_trusted_share(seed, trust):
    rho = np.random.default_rng(seed).chisquare(3, size=200)
    s = perplexity_scale(rho, trust)
    np.testing.assert_allclose(np.exp(entropy(-rho / s)[0]), trust * 200, rtol=1e-8)


def test_full_trust_is_equal_weights():
    rho = np.random.default_rng(0).chisquare(3, size=200)
    np.testing.assert_allclose(-rho / perplexity_scale(rho, 1.0), 0, atol=1e-6)


def test_rows_beside_more_copies_of_one_than_are_trusted_keep_their_share():
    rho = np.r_[np.zeros(60), np.linspace(1, 2, 40)]
    weights = np.exp(-rho / perplexity_scale(rho, 0.5))
    np.testing.assert_allclose(np.exp(entropy(np.log(weights))[0]), 60 + 0.5 * 40)


@given(seed=st.integers(0, 10**6), unit=st.sampled_from([1e-12, 1.0, 1e9]))
def test_calibration_scales_with_the_data_and_orders_the_temperatures(seed, unit):
    rng = np.random.default_rng(seed)
    v, e = rng.chisquare(2, 100), rng.chisquare(6, 100)
    base = calibrate(v, e, 0.5)
    np.testing.assert_allclose(
        calibrate(v * unit, e * unit, 0.5), np.array(base) * unit
    )
    assert base.b <= base.a


def test_calibration_survives_vanishing_medians():
    v = np.r_[np.zeros(60), np.arange(1.0, 41)]
    for temperatures in (
        calibrate(v, np.zeros(100), 0.5),
        calibrate(np.zeros(100), np.zeros(100), 0.5),
    ):
        assert np.isfinite(temperatures).all() and min(temperatures) > 0
