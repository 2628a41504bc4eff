"""Rows of Parquet files."""

import sys

import dask
import dask.dataframe
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet as parquet
import pytest
from row_sources import D, N, write_parquet

from trueaxis import open_rows
from trueaxis._rows.parquet import parquet_head, parquet_kinds
from trueaxis._rows.watched_file import SourceError
from trueaxis.datasets import planted
from trueaxis.io import read_table

FEW = planted("ocs", n=400, n_features=6, share=0.1).X


@pytest.mark.slow
def test_many_small_row_groups_are_read_together(X, tmp_path):
    write_parquet(tmp_path / "x.parquet", X, row_group_size=7)
    rows = open_rows(tmp_path / "x.parquet", spool=False)
    assert len(list(rows.blocks())) < 10
    read = np.vstack([block.copy() for _, block in rows.blocks()])
    np.testing.assert_array_equal(read, X)
    index = np.random.default_rng(0).integers(0, N, 200)
    np.testing.assert_array_equal(rows.take(index), X[index])
    some = [block.copy() for _, block in rows.blocks_between(100, 4567)]
    np.testing.assert_array_equal(np.vstack(some), X[100:4567])
    assert rows.take(np.arange(0)).shape == (0, D)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask
@pytest.mark.parametrize("index", [None, "serial", "dask"])
def test_data_frame_index_is_not_a_column(tmp_path, index):
    frame = pandas.DataFrame(FEW, columns=[f"c{i}" for i in range(FEW.shape[1])])
    path = tmp_path / "frame.parquet"
    if index == "dask":
        dask.dataframe.from_pandas(frame, npartitions=2).to_parquet(tmp_path / "many")
        path = tmp_path / "many"
    else:
        frame.index = pandas.Index(7 * np.arange(len(frame)), name=index)
        frame.to_parquet(path)
    rows = open_rows(path)
    assert rows.names == tuple(frame.columns)
    assert np.array_equal(rows.take(np.arange(len(FEW))), FEW)
    if index == "serial":  # unless it is named
        assert open_rows(path, columns=["serial", "c1"]).shape == (len(FEW), 2)


def test_numbers_of_two_bytes_are_read(tmp_path):
    X = FEW.astype(np.float16)
    table = pyarrow.table({f"c{j}": column for j, column in enumerate(X.T)})
    parquet.write_table(table, tmp_path / "x.parquet")
    rows = open_rows(tmp_path / "x.parquet")
    np.testing.assert_array_equal(rows.take(np.arange(len(X))), X.astype(float))
    found = read_table(tmp_path / "x.parquet").X
    np.testing.assert_array_equal(found, X.astype(float))


@pytest.mark.parametrize("read", [parquet_head, parquet_kinds])
def test_without_pyarrow_the_extra_is_asked_for(read, tmp_path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SourceError, match=r"pip install 'trueaxis\[parquet\]'"):
        read(tmp_path / "x.parquet", "x.parquet")
