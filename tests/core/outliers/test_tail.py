"""The law of a distance, against scipy's distributions and against drawn rows."""

import numpy as np
import pytest
from scipy import stats

from trueaxis.core.law import Tail, fit_tail


def chi_square(dof):
    """The law of a sum of `dof` squares, as a tail."""
    shape = np.sqrt(2 / dof)
    return Tail(np.log(dof), shape, shape)


@pytest.mark.parametrize("dof", [1, 2, 7, 300])
def test_shape_equal_to_scale_is_chi_square(dof):
    x = stats.chi2(dof).ppf([0.001, 0.3, 0.9, 0.999999])
    np.testing.assert_allclose(
        chi_square(dof).log_sf(x), stats.chi2(dof).logsf(x), rtol=1e-6
    )


def test_negative_shapes_are_inverse_gamma_and_small_ones_lognormal():
    # 1 / x of a gamma variable with shape a has the law with shape -1/sqrt(a).
    a = 2.5
    tail = Tail(-np.log(a), a**-0.5, -(a**-0.5))
    x = stats.invgamma(a).ppf([0.01, 0.5, 0.99, 0.99999])
    np.testing.assert_allclose(tail.log_sf(x), stats.invgamma(a).logsf(x), rtol=1e-9)
    tail = Tail(0.0, 1.0, 0.05)
    x = stats.lognorm(1).ppf([0.05, 0.5, 0.95])
    np.testing.assert_allclose(np.exp(tail.log_sf(x)), stats.lognorm(1).sf(x), rtol=0.1)


@pytest.mark.parametrize("shape", [-2.0, -0.3, 0.05, 0.8, 2.5])
def test_cuts_invert_the_tail_and_far_rows_keep_their_order(shape):
    tail = Tail(1.3, max(abs(shape), 0.4), shape)
    for log_p in (*np.log([0.5, 0.025, 1e-6]), -459.0, -461.0, -2000.0):
        cut = tail.cut(log_p)
        if cut < 1e300:  # beyond, a cut-off would not be finite
            np.testing.assert_allclose(tail.log_sf(np.array([cut])), log_p, rtol=1e-6)
    far = tail.log_sf(np.logspace(1, 200, 500))
    assert np.isfinite(far).all() and (np.diff(far) < 0).all()
    ends = tail.log_sf(np.array([0.0, np.inf]))
    assert ends[0] == 0 and ends[1] <= far.min()


def test_without_spread_only_rounding_errors_are_regular():
    tail = Tail(np.log(1e-20), 0.0, 0.0)
    log_sf = tail.log_sf(np.array([0.0, 1e-20, 1.1e-20, 1e-10, np.inf]))
    assert (log_sf[:2] == 0).all() and (log_sf[2:] < -100).all()
    assert log_sf[3] < log_sf[2] and tail.cut(-3.0) == pytest.approx(1e-20)
    far = tail.cut(float(log_sf[3]) + 1e-6)
    assert far == pytest.approx(1e-10) and far < 1e-10


@pytest.mark.parametrize(
    ("name", "law", "dof"),
    [
        ("chi-square, 1", stats.chi2(1), 1),
        ("chi-square, 17", stats.chi2(17), 17),
        ("lognormal", stats.lognorm(0.8), 20),
        ("F, heavy", stats.f(17, 5), 17),
        ("inverse gamma", stats.invgamma(1.5), 3),
    ],
)
def test_fitted_tails_are_those_of_the_rows(name, law, dof):
    below = []
    for seed in range(20):
        x = np.sort(law.rvs(size=500, random_state=seed))
        tail = fit_tail(np.log(x), 1.0, dof)
        below.append(law.sf(tail.cut(np.log(0.01))))  # true share beyond the cut-off
    assert 0.005 < np.median(below) < 0.02


def test_a_tail_does_not_depend_on_the_unit():
    y = np.log(np.sort(stats.f(5, 4).rvs(size=300, random_state=2)))
    here, there = fit_tail(y, 0.99, 5), fit_tail(y + 50.0, 0.99, 5)
    np.testing.assert_allclose(there.location - here.location, 50.0)
    np.testing.assert_allclose(there[1:], here[1:])
