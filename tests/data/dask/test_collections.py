"""Dask arrays, data frames and files that workers read."""

import os

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from dask_helpers import D, X, assert_same

from trueaxis import DSWL, open_rows
from trueaxis.data.dask import scheduler
from trueaxis.data.dask.collections import read_by_workers
from trueaxis.data.dask.rows import DaskRows
from trueaxis.data.watched_file import SourceError

CUT = da.from_array(X, chunks=(3_000, 5))  # also split by columns

POSITIVE = da.from_array(X[:, 0] > 0, chunks=3_000)

UNKNOWN = da.from_array(X, chunks=(3_000, -1))[POSITIVE]

TEXT = pd.DataFrame({"a": [1.0], "t": ["x"]})


@pytest.mark.slow
def test_same_model_from_data_frames(client):
    names = [f"c{i}" for i in range(D)]
    frame = pd.DataFrame(X, columns=names)
    model = DSWL(3).fit(dd.from_pandas(frame, npartitions=5))
    assert_same(model, DSWL(3).fit(frame))
    assert list(model.feature_names_in_) == names
    some = open_rows(dd.from_pandas(frame, npartitions=2), columns=["c3", "c1", "c9"])
    assert list(DSWL(1).fit(some).feature_names_in_) == ["c3", "c1", "c9"]


@pytest.mark.slow
def test_same_model_from_files_that_workers_read(client, tmp_path):
    np.save(tmp_path / "all.npy", X)
    expected = DSWL(3).fit(X)
    rows = open_rows(tmp_path / "all.npy", client=client, block_rows=2_000)
    assert isinstance(rows, DaskRows)
    assert len(rows.lengths) == 5
    assert_same(DSWL(3).fit(rows), expected)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        frame = pd.DataFrame(part, columns=[f"c{i}" for i in range(D)])
        frame.to_parquet(folder / f"{number}.parquet", row_group_size=700)
    rows = open_rows(folder, client=client, block_rows=1_500)
    assert set(rows.lengths[:2]) == {1_400}  # whole row groups
    model = DSWL(3).fit(rows)
    assert_same(model, expected)
    assert model.feature_names_in_[4] == "c4"


@pytest.mark.soak
def test_client_need_not_be_the_default(tmp_path):
    np.save(tmp_path / "all.npy", X)
    address = {"dashboard_address": ":0", "threads_per_worker": 1}
    with (
        distributed.LocalCluster(n_workers=1, **address) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        rows = open_rows(tmp_path / "all.npy", client=client, block_rows=2_000)
        model = DSWL(3).fit(rows)
        assert np.abs(model.components_ - DSWL(3).fit(X).components_).max() < 1e-10
        lazy = open_rows(da.from_array(X, chunks=(2_000, -1)), client=client)
        assert lazy.runner.client is client
        again = DSWL(3).fit(lazy)
        assert np.array_equal(model.components_, again.components_)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: CUT, SourceError, r"4 blocks of columns.*rechunk\(\{0"),
        (lambda: UNKNOWN, SourceError, r"unknown.*compute_chunk_sizes\(\)"),
        (lambda: da.zeros((4, 4, 4)), SourceError, "3 dimension"),
        (lambda: da.from_array(np.full((5, 2), "a")), SourceError, "number"),
        (lambda: dask.delayed(X), TypeError, "Dask Delayed.*: pass a Dask array"),
        (lambda: dd.from_pandas(TEXT, npartitions=1), SourceError, "Column 't'.*only"),
        (lambda: da.from_array(X[:1], chunks=(1, -1)), ValueError, "1 sample"),
    ],
)  # fmt: skip
def test_invalid_collections_are_refused(in_process, wrong, error, words):
    with pytest.raises(error, match=words):
        DSWL(1).fit(wrong())


def test_remedies_named_in_errors_work(in_process):
    assert_same(DSWL(3).fit(CUT.rechunk({0: "auto", 1: -1})), DSWL(3).fit(X))
    known = UNKNOWN.copy().compute_chunk_sizes()
    assert_same(DSWL(3).fit(known), DSWL(3).fit(X[X[:, 0] > 0]))


def test_missing_columns_are_refused(in_process):
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(SourceError, match="no column 'b'.*'a'"):
        open_rows(frame, columns=["b"])
    with pytest.raises(SourceError, match="no column 7.*0 to 1"):
        open_rows(da.zeros((3, 2)), columns=[7])
    assert open_rows(da.zeros((3, 2)), columns=[1]).shape == (3, 1)


def test_different_number_of_columns_is_refused(in_process):
    model = DSWL(2).fit(X[:300])
    with pytest.raises(ValueError, match="5 features, but DSWL is expecting 20"):
        model.transform(da.zeros((10, 5)))


def test_bad_cells_of_files_are_reported_with_their_row_group(client, tmp_path):
    bad = X.copy()
    bad[7_017, 3] = np.inf
    frame = pd.DataFrame(bad, columns=[f"c{i}" for i in range(D)])
    frame.to_parquet(tmp_path / "bad.parquet", row_group_size=2_000)
    rows = open_rows(tmp_path / "bad.parquet", client=client, block_rows=2_000)
    place = r"infinity in .*bad.parquet, row group 3, row 1,017 .*column 'c3'"
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(rows)


def test_series_are_refused(in_process):
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(TypeError, match="Dask Series: pass a Dask array or data frame"):
        DSWL(1).fit(frame["a"])


def test_relative_paths_are_those_of_this_process(client, tmp_path, monkeypatch):
    np.save(tmp_path / "all.npy", X)
    monkeypatch.chdir(tmp_path)  # the workers are elsewhere
    assert_same(DSWL(3).fit(open_rows("all.npy", client=client)), DSWL(3).fit(X))


def test_files_that_workers_cannot_see_are_refused(client, tmp_path):
    np.save(tmp_path / "all.npy", X)
    rows = open_rows(tmp_path / "all.npy")
    (tmp_path / "all.npy").unlink()
    with pytest.raises(SourceError, match=r"worker tcp.* cannot see .*all.npy"):
        read_by_workers(rows, client, None)


def test_open_sources_take_no_options(in_process):
    rows = open_rows(da.from_array(X, chunks=(2_000, -1)))
    with pytest.raises(TypeError, match="open already"):
        open_rows(rows, columns=[0, 1])


def test_sources_that_workers_cannot_read_are_refused(dask_client, tmp_path):
    class Sliceable:
        shape, dtype = (10, 2), np.dtype(float)

        def __getitem__(self, some):
            return np.zeros((10, 2))[some]

    with pytest.raises(TypeError, match="SlicedRows cannot be sent to Dask workers"):
        open_rows(Sliceable(), client=dask_client)
    np.save(tmp_path / "all.npy", X)
    mapped = open_rows(np.load(tmp_path / "all.npy", mmap_mode="r"), client=dask_client)
    assert_same(DSWL(3).fit(mapped), DSWL(3).fit(X))


@pytest.mark.parametrize("what", ["truncated", "gone"])
def test_file_changed_between_passes_is_reported(client, tmp_path, monkeypatch, what):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)
    path = tmp_path / "all.npy"
    np.save(path, X)
    rows = open_rows(path, client=client, block_rows=2_000)
    scan = DaskRows.scan_in_place

    def spoilt(self, kernel):
        found = scan(self, kernel)
        if what == "gone":
            path.unlink()
        else:
            os.truncate(path, 5_000)
        return found

    monkeypatch.setattr(DaskRows, "scan_in_place", spoilt)
    words = "can no longer be read" if what == "gone" else "has 5,000 bytes, but had"
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)
