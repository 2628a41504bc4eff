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


@pytest.mark.parametrize("trust", [1e-9, 1e-3, 1 - 1e-12, 1.0])
def test_trust_in_no_row_or_in_all_rows_has_a_scale(trust):
    rng = np.random.default_rng(0)
    tied = np.r_[np.zeros(99), 5.0]
    infinite = np.r_[rng.random(50), np.full(50, np.inf)]
    for rho in (rng.chisquare(3, 100), np.ones(100), tied, infinite, rng.random(2)):
        scale = perplexity_scale(rho, trust)
        assert 0 < scale < np.inf


def test_a_larger_share_has_a_higher_temperature():
    rho = np.random.default_rng(0).chisquare(3, 300)
    scales = [perplexity_scale(rho, trust) for trust in np.linspace(0.01, 1, 40)]
    assert scales == sorted(scales)


def test_infinite_rows_do_not_change_how_many_are_trusted():
    rng = np.random.default_rng(0)
    v, e = rng.chisquare(2, 100), rng.chisquare(6, 100)
    v[:5], e[3:9] = np.inf, np.inf
    a, b, c = calibrate(v, e, 0.4)
    near = np.isfinite(v + e)
    x = -(v / a + e / b + (v + e) / c)[near]
    np.testing.assert_allclose(np.exp(entropy(x)[0]), 40, rtol=1e-6)


def test_the_slope_of_the_entropy_is_its_derivative():
    x = -np.random.default_rng(0).chisquare(3, 50)
    step = 1e-6
    difference = entropy(x * np.exp(-step))[0] - entropy(x * np.exp(step))[0]
    assert entropy(x)[1] == pytest.approx(difference / (2 * step), rel=1e-6)
