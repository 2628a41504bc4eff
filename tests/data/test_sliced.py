"""Rows of HDF5 and Zarr arrays, and of other objects that slice."""

import h5py
import numpy as np
import pytest
import zarr
from row_sources import Chunked, D, N, Spoiling, assert_same_model

from trueaxis import DSWL, open_rows
from trueaxis.data import memory
from trueaxis.data.sliced import SlicedRows
from trueaxis.data.watched_file import SourceError
from trueaxis.methods import PlainPCA


def test_slices_that_contradict_the_shape_are_refused(X):
    class Narrow(Chunked):
        def __getitem__(self, rows):
            return self.X[rows, : 19 if rows.start >= 2000 else 20]

    with pytest.raises(SourceError, match=r"of Narrow /group/x have shape \(\d+, 19"):
        DSWL(3).fit(open_rows(Narrow(X)))

    class Closed(Chunked):
        def __getitem__(self, rows):
            raise RuntimeError("not open")

    with pytest.raises(
        SourceError, match="rows 0 to .* failed .RuntimeError: not open"
    ):
        DSWL(3).fit(open_rows(Closed(X)))


def hdf5(folder, X, chunks, **options):
    file = h5py.File(folder / "x.h5", "w")
    return file.create_dataset("group/x", data=X, chunks=chunks, **options)


def zarr_of(version, **options):
    def make(folder, X, chunks):
        path = str(folder / f"x{version}.zarr")
        if not hasattr(zarr, "create_array"):  # before Zarr 3
            if version == 3:
                pytest.skip("this Zarr has version 2 of the format only")
            array = zarr.open(path, "w", shape=X.shape, dtype=X.dtype, chunks=chunks)
        else:
            array = zarr.create_array(
                store=path, shape=X.shape, dtype=X.dtype, chunks=chunks,
                zarr_format=version, **options,
            )  # fmt: skip
        array[:] = X
        return array

    return make


STORES = {"HDF5": hdf5, "Zarr 2": zarr_of(2), "Zarr 3": zarr_of(3)}


@pytest.fixture(params=sorted(STORES))
def store(request, tmp_path):
    made = []

    def make(X, chunks, **options):
        made.append(STORES[request.param](tmp_path, X, chunks, **options))
        return made[-1]

    yield make
    for array in made:
        if isinstance(array, h5py.Dataset) and array:  # still open
            array.file.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "chunks", [(500, D), (500, 7), (77, 3), (N, D), (N, 1), (N - 1, D)]
)
def test_stored_arrays_give_the_model_of_the_array(chunks, store, X):
    X = X[:5000] if chunks[0] < 100 else X  # small chunks take long to write
    rows = open_rows(store(X, (min(chunks[0], len(X)), chunks[1])))
    assert isinstance(rows, SlicedRows) and not rows.in_memory
    assert_same_model(DSWL(3).fit(rows), DSWL(3).fit(X))
    np.testing.assert_array_equal(rows.read(), X)
    index = np.random.default_rng(0).integers(0, len(X), 300)
    np.testing.assert_array_equal(rows.take(index), X[index])
    np.testing.assert_array_equal(
        open_rows(rows.source, columns=[4, -1, 0]).read(), X[:, [4, -1, 0]]
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["<i2", ">i2", "u1", "?", "<f2", ">f4", "<f4", ">f8"])
def test_types_of_stored_arrays(kind, store, X):
    X = (X > 0 if kind == "?" else 20 * X if kind != "u1" else 9 * abs(X)).astype(kind)
    expected = X.astype("f4" if kind.endswith("f4") else "f8")
    rows = open_rows(store(X, (700, 13)))
    assert rows.dtype == expected.dtype and rows.dtype.isnative
    for first, block in rows.blocks():
        assert block.dtype == rows.dtype
        np.testing.assert_array_equal(block, expected[first : first + len(block)])
    assert_same_model(PlainPCA(3).fit(rows), PlainPCA(3).fit(expected))


@pytest.mark.slow
def test_whole_chunks_are_read(store, X):
    class Seen:
        def __init__(self, array):
            self.array, self.slices = array, []
            self.shape, self.dtype, self.chunks = array.shape, array.dtype, array.chunks

        def __getitem__(self, rows):
            self.slices.append((rows.start, rows.stop))
            return self.array[rows]

    for chunk in (10, 999, N):
        seen = Seen(store(X, (chunk, D)) if chunk == N else Chunked(X, (chunk, D)))
        rows = open_rows(seen)
        assert rows.block_rows % chunk == 0
        DSWL(3).fit(rows)
        assert all(
            first % chunk == 0 and (last % chunk == 0 or last == N)
            for first, last in seen.slices
        )


@pytest.mark.slow
def test_too_large_chunk_is_refused(store, X, monkeypatch):
    array = store(X, (N, D))
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000)
    with pytest.raises(
        MemoryError, match=r"A chunk of .* \(9,000 rows\) takes 1.4 MB.*block_rows"
    ):
        open_rows(array)
    assert_same_model(DSWL(3).fit(open_rows(array, block_rows=1000)), DSWL(3).fit(X))


@pytest.mark.slow
def test_compressed_arrays_and_shards(X, tmp_path):
    packed = hdf5(tmp_path, X, (500, D), compression="gzip", shuffle=True)
    assert_same_model(DSWL(3).fit(open_rows(packed)), DSWL(3).fit(X))
    packed.file.close()
    if hasattr(zarr, "create_array"):
        shards = zarr_of(3, shards=(1000, D))(tmp_path, X, (100, D))
        assert_same_model(DSWL(3).fit(open_rows(shards)), DSWL(3).fit(X))


@pytest.mark.slow
def test_bad_cell_of_a_stored_array_is_reported(store, X):
    bad = X.copy()
    bad[7417, 3] = np.inf
    array = store(bad, (500, 7))
    place = rf"infinity in {type(array).__name__} /.*, row 7,417, column 3"
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(open_rows(array))
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(X).predict(open_rows(array))


def test_file_closed_between_passes_is_reported(X, tmp_path):
    array = hdf5(tmp_path, X, (500, D))
    rows = Spoiling(open_rows(array), array.file.close)
    words = r"Reading rows 0 to .* of Dataset /group/x failed \(.*Keep it open"
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)
    with pytest.raises(
        SourceError, match="shape of the Dataset cannot be read .*Open its"
    ):
        open_rows(array)
