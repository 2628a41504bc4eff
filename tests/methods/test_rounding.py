"""Tables in which some directions vary by no more than rounding, or not at all."""

import numpy as np
import pytest

import trueaxis
from trueaxis import DSWL
from trueaxis.methods import METHODS


def line_far_away(n=29, offset=1.5e8, seed=0):
    """Rows on a line, at a distance where cells round by some 1e-8."""
    rng = np.random.default_rng(seed)
    return offset + rng.standard_normal((n, 1)) * [2.2, 1.05]


@pytest.mark.parametrize("offset", [1e3, 1.5e8])
@pytest.mark.parametrize("seed", range(3))
def test_an_axis_of_rounding_changes_neither_variances_nor_verdicts(offset, seed):
    X = line_far_away(offset=offset, seed=seed)
    near, far = DSWL(2).fit(line_far_away(offset=0.0, seed=seed)), DSWL(2).fit(X)
    ratio = far.explained_variance_[0] / near.explained_variance_[0]
    assert 0.95 < ratio < 1.05  # hundreds, where rounding counts as distance
    assert far.explained_variance_[1] < 1e-12 * far.explained_variance_[0]
    assert far.support_.tolist() == near.support_.tolist()
    alone = [far.predict(row[None])[0] for row in X]
    assert alone == far.predict(X).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_axes_that_do_not_vary_do_not_count_as_dimensions(seed):
    X = line_far_away(offset=0.0, seed=seed)
    one, two = (DSWL(k).fit(X).explained_variance_[0] for k in (1, 2))
    assert 0.5 < two / one < 2


@pytest.mark.parametrize("seed", range(3))
def test_rounding_makes_no_groups(seed):
    X = line_far_away(n=40, seed=seed)
    assert len(DSWL(2).fit(X)._sides) == 0


def test_a_constant_column_may_be_as_large_as_floats_are():
    X = np.random.default_rng(0).standard_normal((40, 5))
    X[:, 4] = 1e151
    model = DSWL(2).fit(X)
    assert np.isfinite(model.distances(X)).all()
    assert model.support_.mean() > 0.8


@pytest.mark.parametrize("name", METHODS)
def test_overflow_is_reported_for_shares_of_variance_too(name):
    X = np.random.default_rng(0).lognormal(size=(6, 49))
    X[:, 3] = np.finfo(float).max
    try:
        model = trueaxis.methods.METHODS[name](0.5).fit(X)
    except ValueError as error:
        assert "converge" not in str(error)
    else:
        assert np.isfinite(model.components_).all()
