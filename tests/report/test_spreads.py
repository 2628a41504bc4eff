"""Spreads that a sample bounds are those of all rows."""

import numpy as np
import pytest

from trueaxis.preprocessing.scaler import UNEVEN, _robust, uneven_columns
from trueaxis.report import spreads
from trueaxis.report.spreads import spread_bounds, uneven_spreads


def rows(kind, n=40_000, D=6):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    if kind == "heavy":
        return rng.standard_t(1.2, (n, D))
    if kind == "uneven":
        return X * [1.0, 1.0, 1e4, 0.9e4, 1e-3, 1.1e-3]
    if kind == "nearly":  # a ratio that only all rows can tell
        return X * [1.0, 1.0, 1.0, 1.0, UNEVEN, UNEVEN * 0.99]
    if kind == "constant":
        X[:, 2] = 5.0
    if kind == "rare":  # most values are equal
        X[:, 3] = np.where(X[:, 3] > 1.5, 1e6, 0.0)
    if kind == "counts":
        X[:, 1] = rng.poisson(0.7, n)
    return X


KINDS = ["even", "heavy", "uneven", "nearly", "constant", "rare", "counts"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_uneven_columns_are_those_of_all_rows(kind):
    X = rows(kind)
    assert uneven_spreads(X) == uneven_columns(X)
    assert uneven_spreads(X[:1000]) == uneven_columns(X[:1000])
    assert uneven_spreads(X.astype(np.float32)) == uneven_columns(X.astype(np.float32))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_contain_the_spread(kind, seed, monkeypatch):
    monkeypatch.setattr(spreads, "SEED", seed)
    X = rows(kind)
    low, high = spread_bounds(X)
    known = ~np.isnan(low)
    assert known.sum() >= 5 and (np.isnan(high) == ~known).all()
    unit = _robust(X)[1][known]
    assert (low[known] <= unit).all() and (unit <= high[known]).all()
    assert (high[known] < 4 * low[known]).all()


def test_columns_that_cannot_be_extreme_are_not_sorted(monkeypatch):
    seen = []
    monkeypatch.setattr(spreads, "uneven_columns", lambda X: seen.append(X.shape[1]))
    uneven_spreads(rows("even"))
    assert not seen  # it is clear
    uneven_spreads(rows("uneven"))
    assert seen == [4]
