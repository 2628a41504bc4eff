"""Temperatures calibrated by the share of rows to trust."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from trueaxis.dswl.plan import calibrate, entropy, perplexity_scale


@given(seed=st.integers(0, 10**6), trust=st.floats(0.1, 0.95))
def test_perplexity_is_the_trusted_share(seed, trust):
    rho = np.random.default_rng(seed).chisquare(3, size=200)
    s = perplexity_scale(rho, trust)
    np.testing.assert_allclose(np.exp(entropy(-rho / s)[0]), trust * 200, rtol=1e-8)


def test_full_trust_is_equal_weights():
    rho = np.random.default_rng(0).chisquare(3, size=200)
    np.testing.assert_allclose(-rho / perplexity_scale(rho, 1.0), 0, atol=1e-6)


@given(seed=st.integers(0, 10**6), unit=st.sampled_from([1e-12, 1.0, 1e9]))
def test_calibration_scales_with_the_data_and_orders_the_temperatures(seed, unit):
    rng = np.random.default_rng(seed)
    v, e = rng.chisquare(2, 100), rng.chisquare(6, 100)
    base = calibrate(v, e, 0.5)
    np.testing.assert_allclose(
        calibrate(v * unit, e * unit, 0.5), np.array(base) * unit
    )
    assert base.b <= base.a


@given(
    seed=st.integers(0, 10**6),
    trust=st.sampled_from([0.02, 0.1, 0.5, 0.9, 0.999]),
    unit=st.sampled_from([1e-200, 1.0, 1e200]),
    shape=st.sampled_from(["smooth", "ties", "infinite", "two scales"]),
)
def test_newton_steps_find_the_root_of_bisection(seed, trust, unit, shape):
    rho = np.random.default_rng(seed).chisquare(3, size=120)
    if shape == "ties":
        rho = np.ceil(rho)
    if shape == "infinite":
        rho[:9] = np.inf
    if shape == "two scales":
        rho[:40] *= 1e5
    near = rho[rho < np.inf]

    def excess(log_scale):
        return entropy(-near / np.exp(log_scale))[0] - np.log(trust * 120)

    low, high = np.log(1e-6 * np.median(near)), np.log(1e8 * np.median(near))
    if not excess(low) < 0 < excess(high):
        return  # so many rows are tied, or infinite, that no scale gives the share
    expected = brentq(excess, low, high, xtol=1e-13)
    found = np.log(perplexity_scale(unit * rho, trust)) - np.log(unit)
    assert found == pytest.approx(expected, abs=1e-6) or abs(excess(found)) < 1e-10


def test_infinite_rows_do_not_change_how_many_are_trusted():
    rng = np.random.default_rng(0)
    v, e = rng.chisquare(2, 100), rng.chisquare(6, 100)
    v[:5], e[3:9] = np.inf, np.inf
    a, b, c = calibrate(v, e, 0.4)
    near = np.isfinite(v + e)
    x = -(v / a + e / b + (v + e) / c)[near]
    np.testing.assert_allclose(np.exp(entropy(x)[0]), 40, rtol=1e-6)
