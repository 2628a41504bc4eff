"""ColumnScaler on rows that are read block by block."""

import dask.array as da
import numpy as np
import pytest

from trueaxis import ColumnScaler, open_rows
from trueaxis.data import memory
from trueaxis.data.rows import Rows
from trueaxis.datasets import planted
from trueaxis.preprocessing import scaler as scaling

N, D = 1000, 8
UNITS = np.logspace(-2, 2, D)


@pytest.fixture(scope="module")
def X():
    return planted("ocs", n=N, share=0.2, n_features=D).X * UNITS + 3


def test_missing_cells_of_sources_are_left_out_as_in_arrays(X, tmp_path):
    X = np.column_stack([X, np.full(N, 2.5), X[:, 0] + 1e6])
    X[np.random.default_rng(4).random(X.shape) < 0.1] = np.nan
    X[0, :4] = X[:700, 1] = X[200:300] = np.nan  # a first row, blocks without values
    np.save(tmp_path / "x.npy", X)
    expected = ColumnScaler().fit(X)
    for source in (
        open_rows(tmp_path / "x.npy", block_rows=64),
        da.from_array(X, chunks=(100, -1)),
    ):
        found = ColumnScaler().fit(source)
        np.testing.assert_allclose(found.center_, expected.center_, rtol=1e-12)
        np.testing.assert_allclose(found.unit_, expected.unit_, rtol=1e-9)
        assert found.unit_[-2] == 1
        scaled = found.transform(source)
        there = scaled.read() if isinstance(scaled, Rows) else np.asarray(scaled)
        np.testing.assert_array_equal(there, (X - found.center_) / found.unit_)
    back = np.asarray(found.inverse_transform(scaled))  # of the Dask array
    np.testing.assert_allclose(back, X, rtol=1e-12)
    X[:, 3] = np.nan
    np.save(tmp_path / "x.npy", X)
    for source in (tmp_path / "x.npy", da.from_array(X, chunks=(100, -1))):
        with pytest.raises(ValueError, match="Column 3 .* value in any of the 1,000"):
            ColumnScaler().fit(source)


def test_of_many_rows_a_sample_gives_the_medians(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((20_000, 3)) * [1, 20, 0.3] + 5
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(scaling, "SAMPLE_ROWS", 5_000)
    one, two = (ColumnScaler().fit(tmp_path / "x.npy") for _ in range(2))
    np.testing.assert_array_equal(one.unit_, two.unit_)
    exact = ColumnScaler().fit(X)
    assert (one.unit_ != exact.unit_).all()
    np.testing.assert_allclose(one.unit_, exact.unit_, rtol=0.05)


def test_a_sample_that_does_not_fit_into_memory_is_refused(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(memory, "available_memory", lambda: X.nbytes)
    with pytest.raises(MemoryError, match="sample of 1,000 rows x 8 .*fewer columns"):
        ColumnScaler().fit(tmp_path / "x.npy")


def test_scaled_rows_of_dask_stay_lazy(X):
    lazy = da.from_array(X, chunks=(300, -1))
    assert isinstance(ColumnScaler().fit(lazy).transform(lazy), da.Array)
