"""ColumnScaler: two routes agree, and outliers do not move the unit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from trueaxis import ColumnScaler
from trueaxis.preprocessing import scaler as scaler_module
from trueaxis.preprocessing.scaler import uneven_columns


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((101, 5)) * [1, 1e3, 1e-3, 7, 1] + [0, 1e4, 5, -3, 1e6]


def brute_force(column):
    """Median and median absolute deviation, by sorting."""

    def middle(values):
        ordered, n = sorted(values), len(values)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2

    center = middle(column)
    return center, 1.4826022185056018 * middle([abs(x - center) for x in column])


@pytest.mark.parametrize("n", [100, 101])
def test_robust_is_median_and_mad(X, n):
    scaler = ColumnScaler().fit(X[:n])
    centers, units = zip(*(brute_force(column) for column in X[:n].T), strict=True)
    np.testing.assert_allclose(scaler.center_, centers, rtol=1e-14)
    np.testing.assert_allclose(scaler.unit_, units, rtol=1e-9)


@pytest.mark.parametrize("size", [10.0, 1e6, 1e200])
def test_outliers_hardly_move_robust_units(size):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1000, 3)) * [1, 100, 0.01]
    clean = ColumnScaler().fit(X)
    bad = X.copy()
    bad[:150] += size * clean.unit_
    bad[150:300] -= size * clean.unit_
    dirty = ColumnScaler().fit(bad)
    assert (np.abs(dirty.center_ - clean.center_) < 0.2 * clean.unit_).all()
    # With 30 % at infinity the MAD is the 5/7 quantile instead of the half: 1.58.
    assert (dirty.unit_ < 1.7 * clean.unit_).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("value", [0.0, 0.1, 3.7, -1e6, 1e30, 1e-30, 123456.789])
def test_constant_columns_become_zero(dtype, value):
    n = 1237  # sums of which do not come out even
    X = np.column_stack([np.full(n, value), np.arange(n)]).astype(dtype)
    scaler = ColumnScaler().fit(X)
    assert scaler.unit_[0] == 1 and scaler.unit_[1] > 100
    np.testing.assert_array_equal(scaler.transform(X)[:, 0], 0.0)
    np.testing.assert_array_equal(scaler.center_[0], X[0, 0])


def test_columns_that_are_mostly_zero_have_their_mean_deviation():
    column = np.zeros(100)
    column[:10] = np.arange(1, 11)
    X = np.column_stack([column, np.arange(100)])
    scaler = ColumnScaler().fit(X)
    assert scaler.center_[0] == 0
    np.testing.assert_allclose(scaler.unit_[0], np.sqrt(np.pi / 2) * 0.55)
    column[:10] *= 1e200
    scaler = ColumnScaler().fit(X)
    assert np.isfinite(scaler.transform(np.column_stack([column, column]))).all()


@pytest.mark.parametrize("size", [1e200, 1e300, 1e-200, 1e-300])
def test_huge_and_tiny_units_change_nothing(X, size):
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = ColumnScaler().fit_transform(X)
    scaler = ColumnScaler().fit(X * size)
    np.testing.assert_allclose(scaler.transform(X * size), plain, rtol=1e-9, atol=1e-9)
    back = scaler.inverse_transform(scaler.transform(X * size))
    np.testing.assert_allclose(back, X * size, rtol=1e-12, atol=1e-12 * size)


def test_numbers_at_the_end_of_floats():
    X = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1.6e308, 3.0], [-1.5e308, 4.0]])
    scaler = ColumnScaler().fit(X)
    assert np.isfinite(scaler.center_).all() and np.isfinite(scaler.unit_).all()
    Z = scaler.transform(X)
    assert np.isfinite(Z).all() and (np.sign(Z[:, 0]) == [1, -1, 1, -1]).all()
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, rtol=1e-12)


def test_refusals(X):
    with pytest.raises(ValueError, match="infinity in row 2, column 1"):
        ColumnScaler().fit(np.where(np.arange(10).reshape(5, 2) == 5, np.inf, 1.0))
    for ask in (ColumnScaler().transform, ColumnScaler().inverse_transform):
        with pytest.raises(NotFittedError):
            ask(X)
    scaler = ColumnScaler().fit(X)
    with pytest.raises(ValueError, match="expecting 5 features"):
        scaler.transform(X[:, :2])
    with pytest.raises(ValueError, match="2 columns.*5"):
        scaler.inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="1 columns.*5"):  # would be spread out
        scaler.inverse_transform(X[:, :1])


def holed(X, share=0.2, seed=3):
    """The same rows, some cells of which are missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_missing_cells_are_left_out_and_stay_missing(X, dtype):
    X = holed(np.column_stack([X, np.full(len(X), 3.7)])).astype(dtype)
    scaler = ColumnScaler().fit(X)
    for j, column in enumerate(X.T):
        alone = ColumnScaler().fit(column[~np.isnan(column), None])
        assert scaler.center_[j] == alone.center_[0]
        assert scaler.unit_[j] == alone.unit_[0]
    Z = scaler.transform(X)
    assert Z.dtype == scaler.unit_.dtype == dtype
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(X))
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, rtol=1e-5)
    masked = np.ma.masked_invalid(X)
    np.testing.assert_array_equal(ColumnScaler().fit(masked).unit_, scaler.unit_)


def test_a_column_without_values_is_refused(X):
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="Column 3 .* any of the 101 rows .*1 of 5"):
        ColumnScaler().fit(X)
    frame = pd.DataFrame(X, columns=[*"abcde"])
    with pytest.raises(ValueError, match="Column 'd' of X has no value.*drop it"):
        ColumnScaler().fit(frame)
    # New rows may lack a whole column.
    scaler = ColumnScaler().fit(np.nan_to_num(X))
    assert np.isnan(scaler.transform(X)[:, 3]).all()


def test_uneven_columns(X):
    found = uneven_columns(X)
    assert (found.wide, found.narrow) == (1, 2)
    assert 0.5e6 < found.ratio < 2e6
    assert uneven_columns(ColumnScaler().fit_transform(X)) is None
    Z = ColumnScaler().fit_transform(X)
    assert uneven_columns(Z * [1, 1, 29, 1, 1]) is None
    assert uneven_columns(Z * [1, 1, 31, 1, 1]).wide == 2


def test_uneven_columns_with_missing_cells(X):
    empty, constant = np.full(len(X), np.nan), holed(np.ones((len(X), 1)))[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = uneven_columns(np.column_stack([empty, constant, holed(X)]))
    assert (found.wide, found.narrow) == (3, 4)


def test_a_fit_that_fails_changes_nothing(X, monkeypatch):
    frame = pd.DataFrame(X, columns=[*"abcde"])
    fresh, fitted = ColumnScaler(), ColumnScaler().fit(frame)
    Z = fitted.transform(frame)

    def fail(rows):
        raise MemoryError("no room")

    monkeypatch.setattr(scaler_module, "_center_and_unit", fail)
    for scaler in (fresh, fitted):
        with pytest.raises(MemoryError, match="no room"):
            scaler.fit(frame[["c", "a"]])
    assert vars(fresh) == {}
    np.testing.assert_array_equal(fitted.transform(frame), Z)
    assert fitted.n_features_in_ == 5
