"""Rows that live in files: the same models, and errors that name the place."""

import json
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import click.testing
import dask.dataframe
import h5py
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet as parquet
import pytest
import zarr

import trueaxis
import trueaxis._rows.parquet as parquet_rows
from trueaxis import DSWL, METHODS, PCP, ColumnScaler, PlainPCA, open_rows
from trueaxis._cli import streaming
from trueaxis._cli.main import main
from trueaxis._rows import memory
from trueaxis._rows import spooled as spool
from trueaxis._rows import watched_file as watch
from trueaxis._rows.base import ArrayRows, Rows
from trueaxis._rows.parquet import ParquetRows
from trueaxis._rows.sliced import SlicedRows
from trueaxis._rows.spooled import SpooledRows
from trueaxis._rows.watched_file import SourceError
from trueaxis.datasets import planted
from trueaxis.diagnostics import contributions, diagnose, effect, reasons, score_plane
from trueaxis.diagnostics.trust import trust_path

N, D = 9000, 20
NAMES = [f"x{i}" for i in range(D)]


@pytest.fixture(scope="module")
def X():
    return planted("ocs", n=N, share=0.2).X


@pytest.fixture(scope="module")
def folder(X, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "all.npy", X)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    np.save(folder / "swapped.npy", X.astype(">f8"))
    np.save(folder / "single.npy", X.astype(np.float32))
    (folder / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        write_parquet(folder / "parts" / f"part-{number}.parquet", part)
        np.save(folder / f"part-{number}.npy", part)
    return folder


def write_parquet(path, X, names=NAMES, **options):
    table = pyarrow.table(list(np.ascontiguousarray(X.T)), names=names)
    parquet.write_table(table, path, **{"row_group_size": 700} | options)
    return table


class Chunked:
    """As HDF5 and Zarr arrays look."""

    name = "/group/x"

    def __init__(self, X, chunks=(100, 7)):
        self.X, self.chunks = X, chunks
        self.shape, self.dtype, self.slices = X.shape, X.dtype, []

    def __getitem__(self, rows):
        self.slices.append((rows.start, rows.stop))
        return self.X[rows]


def sources(folder, X):
    mapped = np.load(folder / "all.npy", mmap_mode="r")
    return {
        "path": folder / "all.npy",
        "text": str(folder / "all.npy"),
        "rows": open_rows(folder / "all.npy"),
        "small blocks": open_rows(folder / "all.npy", block_rows=33),
        "one block": open_rows(folder / "all.npy", block_rows=N),
        "by columns": open_rows(folder / "columns.npy"),
        "by columns, small": open_rows(folder / "columns.npy", block_rows=101),
        "other byte order": open_rows(folder / "swapped.npy"),
        "list": open_rows([folder / f"part-{i}.npy" for i in range(3)]),
        "memmap": mapped,
        "memmap by columns": np.load(folder / "columns.npy", mmap_mode="r"),
        "memmap in memory": np.load(folder / "all.npy", mmap_mode="c"),
        "Parquet": folder / "parts",
        "Parquet, no spool": open_rows(folder / "parts", spool=False),
        "Parquet, blocks": open_rows(folder / "parts", block_rows=50, spool=False),
        "chunks": open_rows(Chunked(X)),
    }


def same(one, two):
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8 / N)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-10)
    np.testing.assert_array_equal(one.support_, two.support_)


several_ways = pytest.mark.parametrize(
    "options",
    [
        {},
        {"tau": (0.04, 0.007, 0.03), "reweight": False, "init": "uniform"},
        {"reweight": False},
    ],
)


@several_ways
def test_every_source_gives_the_model_of_the_array(X, folder, options):
    expected = DSWL(3, **options).fit(X)
    for name, source in sources(folder, X).items():
        model = DSWL(3, **options).fit(source)
        same(model, expected)
        assert model.n_features_in_ == D
        if name in ("path", "memmap"):  # blocks begin at the same rows
            assert np.array_equal(model.components_, expected.components_)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_reads_files(method, tmp_path):
    X = planted("ocs", n=400, n_features=8, share=0.1).X
    np.save(tmp_path / "x.npy", X)
    one, two = METHODS[method](2), METHODS[method](2)
    one.fit(X), two.fit(open_rows(tmp_path / "x.npy", block_rows=64))
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-7)


def test_what_a_model_says_is_the_same_too(X, folder):
    model = DSWL(3).fit(X)
    counts = 1.0 + (np.arange(N) % 3 == 0)
    counts[5] = 0.0
    for source in (folder / "all.npy", open_rows(folder / "columns.npy")):
        weighted = DSWL(3).fit(source, sample_weight=counts)
        same(weighted, DSWL(3).fit(X, sample_weight=counts))
        np.testing.assert_allclose(model.transform(source), model.transform(X))
        np.testing.assert_array_equal(model.predict(source), model.predict(X))
        for ask in (effect, diagnose, contributions, reasons, score_plane, trust_path):
            here, there = ask(model, X), ask(model, source)
            for name in getattr(here, "_fields", None) or vars(here):
                one, two = getattr(here, name), getattr(there, name)
                if isinstance(one, np.ndarray) and one.dtype.kind == "f":
                    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    scaled = ColumnScaler().fit(folder / "all.npy")
    np.testing.assert_allclose(scaled.unit_, ColumnScaler().fit(X).unit_)
    assert DSWL(3).fit_transform(open_rows(folder / "all.npy")).shape == (N, 3)


def test_rows_are_taken_in_any_order(X, folder):
    rng = np.random.default_rng(0)
    choices = [
        np.sort(rng.choice(N, 300, replace=False)),
        rng.integers(N, size=500),
        np.array([N - 1, 0, 0]),
        np.arange(N),
        np.zeros(0, dtype=int),
    ]
    for source in sources(folder, X).values():
        rows = open_rows(source)
        for index in choices:
            np.testing.assert_array_equal(rows.take(index), X[index])
        np.testing.assert_array_equal(rows.read(), X)
        rows.close()


def test_only_what_is_near_the_wanted_rows_is_read(X, folder, monkeypatch):
    read, fill = [], watch.fill

    def counting(out, *rest):
        read.append(out.nbytes)
        fill(out, *rest)

    monkeypatch.setattr(watch, "fill", counting)
    open_rows(folder / "all.npy").take(np.array([3, 5, 8000]))
    assert sum(read) == (3 + 1) * D * 8
    chunked = Chunked(X)
    open_rows(chunked, block_rows=100).take(np.array([8000, 8001, 120]))
    assert chunked.slices == [(100, 200), (8000, 8100)]


def test_a_fit_reads_the_rows_a_few_times(X):
    class Counted(ArrayRows):
        in_memory = False
        reads = 0

        def blocks(self):
            self.reads += 1
            return super().blocks()

    rows = Counted(X)
    DSWL(3).fit(rows)
    # the weights with the subspace, the verdicts, perhaps a group apart; NaN is looked
    # for on the way
    assert rows.reads <= 3
    rows.reads = 0
    PlainPCA(3).fit(rows)
    assert rows.reads <= 4


def test_chosen_columns_and_their_names(X, folder, tmp_path):
    model = DSWL(2).fit(open_rows(folder / "parts", columns=["x7", "x1", "x3"]))
    assert model.feature_names_in_.tolist() == ["x7", "x1", "x3"]
    same(model, DSWL(2).fit(X[:, [7, 1, 3]]))
    for name in ("all.npy", "columns.npy"):
        rows = open_rows(folder / name, columns=[7, 1, -17])
        np.testing.assert_array_equal(rows.read(), X[:, [7, 1, 3]])
    np.testing.assert_array_equal(
        open_rows(Chunked(X), columns=[2, 0]).read(), X[:, [2, 0]]
    )
    assert open_rows(X[:, :3]).read().base is None  # arrays stay arrays
    with pytest.raises(ValueError, match="Column 0 of X is 'x0', but DSWL .* 'x7'"):
        model.predict(open_rows(folder / "parts", columns=["x0", "x1", "x3"]))
    with pytest.raises(ValueError, match="expecting 3 features.*same order"):
        model.predict(folder / "parts")
    model.fit(open_rows(folder / "all.npy", columns=[0, 1, 2]))
    assert not hasattr(model, "feature_names_in_")
    # files may have their columns in another order
    table = write_parquet(tmp_path / "a.parquet", X)
    parquet.write_table(table.select(NAMES[::-1]), tmp_path / "b.parquet")
    rows = open_rows([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    np.testing.assert_array_equal(rows.read(), np.vstack([X, X]))
    rows.close()


def test_types_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 100, (300, 4))
    for kind in ("i8", "u1", "f2", "f4", "?"):
        X = (whole > 50 if kind == "?" else whole).astype(kind)
        np.save(tmp_path / "x.npy", X)
        write_parquet(tmp_path / "x.parquet", X, NAMES[:4])
        for name in ("x.npy", "x.parquet"):
            rows = open_rows(tmp_path / name)
            assert rows.dtype == (np.float32 if kind == "f4" else np.float64)
            np.testing.assert_array_equal(rows.read(), X.astype(rows.dtype))
            rows.close()
    X = planted("ocs", n=5000, share=0.1).X.astype(np.float32)
    np.save(tmp_path / "single.npy", X)
    model = DSWL(3).fit(tmp_path / "single.npy")
    assert model.components_.dtype == np.float32
    same(model, DSWL(3).fit(X))
    mixed = {"a": whole[:, 0], "b": X[:300, 0], "c": whole[:, 1] > 50}
    parquet.write_table(pyarrow.table(mixed), tmp_path / "mixed.parquet")
    rows = open_rows(tmp_path / "mixed.parquet", spool=False)
    assert rows.dtype == np.float64 and rows.names == ("a", "b", "c")
    np.testing.assert_array_equal(rows.read(), np.column_stack(list(mixed.values())))


def test_views_of_memory_maps(X, folder):
    mapped = np.load(folder / "all.npy", mmap_mode="r")
    views = [mapped[100:5000], mapped[:, 2:9], mapped[::3], mapped.T[:50].T]
    for view in views:
        np.testing.assert_array_equal(open_rows(view).read(), np.asarray(view))
    assert not isinstance(open_rows(mapped[100:5000]), SlicedRows)
    changed = np.load(folder / "all.npy", mmap_mode="c")
    changed[7] = 1.0  # in memory only
    np.testing.assert_array_equal(open_rows(changed).take(np.array([7])), changed[7:8])


def test_a_map_that_is_being_written_is_read_as_it_is(tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", "f8", (600, 5))
    mapped[:] = planted("none", n=600, n_features=5).X
    model = PlainPCA(2).fit(mapped)
    np.testing.assert_allclose(
        model.components_, PlainPCA(2).fit(mapped[:]).components_
    )


def test_a_bad_cell_is_found_wherever_it_is(X, tmp_path):
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        part = part.copy()
        if number == 2:
            part[1417, 3] = np.nan
            np.save(tmp_path / "part.npy", part)
        write_parquet(tmp_path / "parts" / f"part-{number}.parquet", part)
    place = (
        r"NaN in part-2.parquet, row group 2, row 17 \(row 7,417 of all\), column 'x3'"
    )
    for options in ({}, {"spool": False}):
        with pytest.raises(ValueError, match=place):
            DSWL(3).fit(open_rows(tmp_path / "parts", **options))
        with pytest.raises(ValueError, match=place):
            DSWL(3).fit(X).predict(open_rows(tmp_path / "parts", **options))
    with pytest.raises(ValueError, match=r"NaN in .*part.npy, row 1,417, column 3"):
        DSWL(3).fit(tmp_path / "part.npy")
    table = pyarrow.table({"a": [1, 2, None, 4], "b": [1.0, 2.0, 3.0, 5.0]})
    parquet.write_table(table, tmp_path / "null.parquet")
    with pytest.raises(ValueError, match="NaN in .*row group 0, row 2 .*column 'a'"):
        PlainPCA(1).fit(tmp_path / "null.parquet")
    huge = X.copy()
    huge[6000, 2] = 1e200
    np.save(tmp_path / "huge.npy", huge)
    with pytest.raises(ValueError, match="overflow: .*huge.npy, row 6,000 of X"):
        PlainPCA(3).fit(tmp_path / "huge.npy")
    with pytest.raises(ValueError, match="overflow: row 6000 of X"):
        PlainPCA(3).fit(huge)
    counts = np.ones(N)
    counts[6000] = 0  # does not count: does no harm
    one = PlainPCA(3).fit(tmp_path / "huge.npy", sample_weight=counts)
    two = PlainPCA(3).fit(X, sample_weight=counts)
    np.testing.assert_allclose(one.components_, two.components_)


def test_files_that_do_not_fit_together(X, folder, tmp_path):
    for number in range(3):
        columns = NAMES if number < 2 else NAMES[:7] + NAMES[8:]
        part = X[:50, : len(columns)]
        write_parquet(tmp_path / f"{number}.parquet", part, columns)
        np.save(tmp_path / f"{number}.npy", part)
    places = [tmp_path / f"{number}.parquet" for number in range(3)]
    with pytest.raises(
        SourceError, match=r"2.parquet \(rows 100 to 149 of all\) has 19 "
    ):
        open_rows(places)
    with pytest.raises(SourceError, match=r"It lacks \['x7'\]"):
        open_rows(places)
    assert open_rows(places, columns=NAMES[:5]).shape == (150, 5)
    with pytest.raises(SourceError, match="2.npy .* has 19 columns"):
        open_rows([place.with_suffix(".npy") for place in places])
    write_parquet(places[2], X[:50], [*NAMES[:-1], "other"])
    with pytest.raises(SourceError, match=r"lacks \['x19'\].*\['other'\] in addition"):
        open_rows(places)


def test_empty_files(X, tmp_path):
    np.save(tmp_path / "0.npy", X[:0])
    np.save(tmp_path / "1.npy", X)
    np.save(tmp_path / "2.npy", X[:0].astype(np.float32))
    rows = open_rows(tmp_path)
    assert rows.shape == X.shape and rows.dtype == np.float64
    same(DSWL(3).fit(rows), DSWL(3).fit(X))
    with pytest.raises(ValueError, match="0 sample.*minimum of 2 is required by DSWL"):
        DSWL(3).fit(tmp_path / "0.npy")
    with pytest.raises(ValueError, match="0 sample.*minimum of 2"):
        DSWL(3).fit(open_rows([tmp_path / "0.npy", tmp_path / "2.npy"]))
    (tmp_path / "none.npy").touch()
    with pytest.raises(SourceError, match=r"none.npy \(0 bytes\) is not a .npy file"):
        open_rows(tmp_path / "none.npy")
    (tmp_path / "none.parquet").touch()
    with pytest.raises(
        SourceError, match=r"\(0 bytes\) is not a complete Parquet file"
    ):
        open_rows(tmp_path / "none.parquet")
    write_parquet(tmp_path / "no-rows.parquet", X[:0])
    assert open_rows(tmp_path / "no-rows.parquet").read().shape == (0, D)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            lambda f: f / "lost.npy",
            SourceError,
            "lost.npy cannot be read .No such file",
        ),
        (lambda f: f / "x.csv", SourceError, "x.csv ends in neither .npy nor .parquet"),
        (lambda f: f / "empty", SourceError, "no file that ends in .npy or .parquet"),
        (lambda f: [], TypeError, "0 items"),
        (lambda f: [[1.0, 2.0]], TypeError, "not all of which are paths"),
        (lambda f: f / "line.npy", SourceError, r"shape \(7,\)"),
        (lambda f: f / "words.npy", SourceError, "type <U1"),
        (lambda f: f / "short.npy", SourceError, "truncated. Write it again"),
        (lambda f: f / "words.parquet", SourceError, "Column 'b' .* type string"),
        (lambda f: 3, TypeError, "is of type int: pass a path"),
        (lambda f: np.zeros(3), SourceError, r"shape \(3,\)"),
    ],
)
def test_what_cannot_be_opened(given, error, words, tmp_path):
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "line.npy", np.arange(7.0))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "short.npy", np.zeros((100, 5)))
    os.truncate(tmp_path / "short.npy", 1000)
    table = pyarrow.table({"a": [1.0, 2.0], "b": ["u", "v"]})
    parquet.write_table(table, tmp_path / "words.parquet")
    with pytest.raises(error, match=words):
        open_rows(given(tmp_path))


def test_wrong_arguments(folder):
    with pytest.raises(ValueError, match="block_rows=0"):
        open_rows(folder / "all.npy", block_rows=0)
    with pytest.raises(TypeError, match="columns='x1' is a string"):
        open_rows(folder / "parts", columns="x1")
    with pytest.raises(SourceError, match="no column 'y'; its 20 columns are 'x0', "):
        open_rows(folder / "parts", columns=["y"])
    with pytest.raises(SourceError, match="no column 20: .* by index, 0 to 19"):
        open_rows(folder / "all.npy", columns=[20])
    with pytest.raises(SourceError, match="selects no column"):
        open_rows(folder / "all.npy", columns=[])
    with pytest.raises(SourceError, match="No column of .* is selected, which has 20"):
        open_rows(folder / "parts", columns=[])


def test_an_object_that_is_not_what_its_shape_says(X):
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


# -------------------------------------------------------------------- HDF5 and Zarr


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


@pytest.mark.parametrize(
    "chunks", [(500, D), (500, 7), (77, 3), (N, D), (N, 1), (N - 1, D)]
)
def test_stored_arrays_give_the_model_of_the_array(chunks, store, X):
    X = X[:5000] if chunks[0] < 100 else X  # small chunks take long to write
    rows = open_rows(store(X, (min(chunks[0], len(X)), chunks[1])))
    assert isinstance(rows, SlicedRows) and not rows.in_memory
    same(DSWL(3).fit(rows), DSWL(3).fit(X))
    np.testing.assert_array_equal(rows.read(), X)
    index = np.random.default_rng(0).integers(0, len(X), 300)
    np.testing.assert_array_equal(rows.take(index), X[index])
    np.testing.assert_array_equal(
        open_rows(rows.source, columns=[4, -1, 0]).read(), X[:, [4, -1, 0]]
    )


@pytest.mark.parametrize("kind", ["<i2", ">i2", "u1", "?", "<f2", ">f4", "<f4", ">f8"])
def test_types_of_stored_arrays(kind, store, X):
    X = (X > 0 if kind == "?" else 20 * X if kind != "u1" else 9 * abs(X)).astype(kind)
    expected = X.astype("f4" if kind.endswith("f4") else "f8")
    rows = open_rows(store(X, (700, 13)))
    assert rows.dtype == expected.dtype and rows.dtype.isnative
    for first, block in rows.blocks():
        assert block.dtype == rows.dtype
        np.testing.assert_array_equal(block, expected[first : first + len(block)])
    same(PlainPCA(3).fit(rows), PlainPCA(3).fit(expected))


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


def test_a_chunk_that_is_too_large(store, X, monkeypatch):
    array = store(X, (N, D))
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000)
    with pytest.raises(
        MemoryError, match=r"A chunk of .* \(9,000 rows\) takes 1.4 MB.*block_rows"
    ):
        open_rows(array)
    same(DSWL(3).fit(open_rows(array, block_rows=1000)), DSWL(3).fit(X))


def test_compressed_arrays_and_shards(X, tmp_path):
    packed = hdf5(tmp_path, X, (500, D), compression="gzip", shuffle=True)
    same(DSWL(3).fit(open_rows(packed)), DSWL(3).fit(X))
    packed.file.close()
    if hasattr(zarr, "create_array"):
        shards = zarr_of(3, shards=(1000, D))(tmp_path, X, (100, D))
        same(DSWL(3).fit(open_rows(shards)), DSWL(3).fit(X))


def test_a_bad_cell_of_a_stored_array(store, X):
    bad = X.copy()
    bad[7417, 3] = np.nan
    array = store(bad, (500, 7))
    place = rf"NaN in {type(array).__name__} /.*, row 7,417, column 3"
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(open_rows(array))
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(X).predict(open_rows(array))


def test_a_file_that_is_closed_between_passes(X, tmp_path):
    array = hdf5(tmp_path, X, (500, D))
    rows = Spoiling(open_rows(array), array.file.close)
    words = r"Reading rows 0 to .* of Dataset /group/x failed \(.*Keep it open"
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)
    with pytest.raises(
        SourceError, match="shape of the Dataset cannot be read .*Open its"
    ):
        open_rows(array)


class Spoiling(Rows):
    """Rows whose file something happens to once they were read."""

    def __init__(self, rows, spoil):
        self.rows, self.spoil = rows, spoil
        self.shape, self.dtype = rows.shape, rows.dtype

    def blocks(self):
        yield from self.rows.blocks()
        self.spoil()

    def take(self, index):
        return self.rows.take(index)


@pytest.mark.parametrize("ending", ["npy", "parquet"])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "can no longer be read .*keep the file until"),
        (lambda path: os.truncate(path, 5000), "has 5,000 bytes, but had"),
        (lambda path: os.utime(path, (1, 1)), "has been modified since it was opened"),
    ],
)
def test_a_file_that_changes_between_passes(ending, spoil, words, X, tmp_path):
    path = tmp_path / f"x.{ending}"
    np.save(path, X) if ending == "npy" else write_parquet(path, X)
    rows = Spoiling(open_rows(path, spool=False), lambda: spoil(path))
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)


def test_a_file_that_shrinks_while_it_is_read(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    blocks = open_rows(tmp_path / "x.npy", block_rows=100).blocks()
    next(blocks)
    os.truncate(tmp_path / "x.npy", 20_000)
    with pytest.raises(
        SourceError, match="ends at byte 20,000, but .* more bytes are needed"
    ):
        list(blocks)
    write_parquet(tmp_path / "x.parquet", X, row_group_size=4000)
    blocks = open_rows(tmp_path / "x.parquet", spool=False).blocks()
    next(blocks)
    os.truncate(tmp_path / "x.parquet", 20_000)
    with pytest.raises(SourceError, match="20,000 bytes, but had"):
        list(blocks)


def test_columns_are_put_in_order_by_the_first_file_that_names_them(X, tmp_path):
    np.save(tmp_path / "0.npy", X[:100])
    write_parquet(tmp_path / "1.parquet", X[100:250])
    write_parquet(tmp_path / "2.parquet", X[250:400][:, ::-1], NAMES[::-1])
    rows = open_rows(tmp_path)
    np.testing.assert_array_equal(rows.take(np.arange(400)), X[:400])
    write_parquet(tmp_path / "3.parquet", X[:5], [f"y{i}" for i in range(D)])
    with pytest.raises(
        SourceError, match="3.parquet .* does not have the same columns as 1.parquet"
    ):
        open_rows(tmp_path)


def test_what_is_hidden_or_a_folder_is_no_file(X, tmp_path):
    for name in ("a", ".copies/a", "_temporary/a", "b.parquet/a", "b.parquet/_log/a"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, X[:70])
    assert open_rows(tmp_path).shape == (140, D)


def test_the_folder_that_we_are_in_may_change(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X[:300])
    write_parquet(tmp_path / "x.parquet", X[:300])
    monkeypatch.chdir(tmp_path)
    sources = [open_rows("x.npy"), open_rows("x.parquet")]
    monkeypatch.chdir("/")
    for rows in sources:
        np.testing.assert_array_equal(rows.take(np.arange(300)), X[:300])


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


# ------------------------------------------------------------------------- spools


@pytest.fixture
def spools(monkeypatch):
    """Temporary files that were made and are still open."""
    made, make = [], spool.tempfile.TemporaryFile

    def making(*args, **options):
        made.append(make(*args, **options))
        return made[-1]

    monkeypatch.setattr(spool.tempfile, "TemporaryFile", making)
    return made


@pytest.fixture
def at_once(monkeypatch):
    """Whatever is read is spooled first."""
    monkeypatch.setattr(spool, "FREE_READS", 0)


@several_ways
def test_a_spool_gives_the_model_of_the_array(X, folder, spools, at_once, options):
    model = DSWL(3, **options).fit(folder / "parts")
    expected = DSWL(3, **options).fit(X)
    assert len(spools) == 1  # its blocks begin at the rows at which those of X do
    assert model.components_.tobytes() == expected.components_.tobytes()
    assert model.weights_.tobytes() == expected.weights_.tobytes()


def test_a_spool_goes_with_the_fit(folder, spools, at_once, caplog):
    rows = open_rows(folder / "parts")
    assert isinstance(rows, SpooledRows) and not spools
    with caplog.at_level(logging.INFO, logger="trueaxis"):
        model = DSWL(3).fit(rows)
    assert [file.closed for file in spools] == [True]
    assert "Decoding 9,000 rows to a temporary file of 1.4 MB in " in caplog.text
    model.fit(rows)
    assert [file.closed for file in spools] == [True, True]
    with rows:
        model.fit(rows).predict(rows)
        assert [file.closed for file in spools[2:]] == [False]
    assert spools[2].closed
    DSWL(3).fit(open_rows(folder / "parts", spool=False))
    assert len(spools) == 3


@pytest.fixture
def decoded(monkeypatch):
    """Numbers of the files that were decoded."""
    files, decode = [], ParquetRows._batches

    def decoding(self, groups):
        files.append(int(self.name[-len("0.parquet")]))
        return decode(self, groups)

    monkeypatch.setattr(ParquetRows, "_batches", decoding)
    return files


def test_how_often_files_are_decoded(X, folder, spools, decoded):
    def times():
        seen = [decoded.count(number) for number in range(3)]
        decoded.clear()
        assert len(set(seen)) == 1
        return seen[0]

    rows = open_rows(folder / "parts")
    # A default fit looks for a sample and makes two passes: a spool costs more.
    model = DSWL(3).fit(rows)
    assert times() == 3 and not spools
    # One that iterates is worth it.
    iterating = METHODS["l2p-pca"](3).fit(rows)
    assert iterating.n_iter_ > 5
    assert times() == 4 and [file.closed for file in spools] == [True]
    for ask in (model.predict, model.transform, model.distances):
        ask(rows)
        assert times() == 1 and len(spools) == 1
    with rows:
        for _ in range(3):
            model.predict(rows)
            assert times() == 1 and len(spools) == 1
        model.predict(rows)
        assert times() == 1 and len(spools) == 2
        model.fit(rows)
        assert times() == 0 and len(spools) == 2
    model.predict(rows)  # as if nothing had been read
    assert times() == 1 and [file.closed for file in spools] == [True] * 2
    METHODS["l2p-pca"](3).fit(open_rows(folder / "parts", spool=False))
    assert times() > 5 and len(spools) == 2


def test_numbers_are_the_same_bits_however_they_were_decoded(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 6)) * 10.0 ** rng.integers(-300, 300, (5000, 6))
    X[::7] = -0.0
    write_parquet(tmp_path / "x.parquet", X, NAMES[:6], row_group_size=1700)
    spread = rng.permutation(5000)[:300]
    for bytes_ in (1, 10_000, 1 << 24):
        monkeypatch.setattr(parquet_rows, "BATCH_BYTES", bytes_)
        rows = open_rows(tmp_path / "x.parquet", spool=False)
        with open_rows(tmp_path / "x.parquet") as spooled:
            for _ in range(spool.FREE_READS + 2):
                read = np.vstack([block.copy() for _, block in spooled.blocks()])
                assert read.tobytes() == X.tobytes()
            for index in (spread, np.arange(1600, 3500), np.array([3, 3, 4, 6, 6])):
                for source in (rows, spooled):
                    assert source.take(index).tobytes() == X[index].tobytes()


@pytest.mark.parametrize("what", [KeyboardInterrupt, ValueError])
def test_a_spool_goes_after_an_error(what, folder, spools, at_once, monkeypatch):
    def fail(*args, **options):
        assert not spools[0].closed
        raise what("stop")

    monkeypatch.setattr("trueaxis.estimators.dswl.Fitting", fail)
    with pytest.raises(what):
        DSWL(3).fit(folder / "parts")
    assert [file.closed for file in spools] == [True]


def test_a_spool_goes_after_an_error_while_it_is_written(X, tmp_path, spools, at_once):
    path = tmp_path / "x.parquet"
    write_parquet(path, X)
    rows = open_rows(path)
    raw = bytearray(path.read_bytes())
    raw[3000:9000] = os.urandom(6000)
    status = os.stat(path)
    path.write_bytes(raw)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(SourceError, match="Reading .*x.parquet, row group 0, failed"):
        DSWL(3).fit(rows)
    assert [file.closed for file in spools] == [True]


def test_too_little_disk(folder, monkeypatch, spools, at_once):
    usage = spool.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(spool.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(
        SourceError, match="1.4 MB in .*1.0 kB left.*TMPDIR.*spool=False"
    ):
        DSWL(3).fit(folder / "parts")
    assert not spools


def test_a_full_disk(folder, monkeypatch, at_once):
    class Full:
        closed = False

        def fileno(self):
            raise OSError(95, "Operation not supported")  # by this disk

        def write(self, view):
            raise OSError(28, "No space left on device")

        def close(self):
            self.closed = True

    full = Full()
    with monkeypatch.context() as patch:
        patch.setattr(spool.tempfile, "TemporaryFile", lambda **options: full)
        with pytest.raises(SourceError, match="No space left on device.*TMPDIR"):
            DSWL(3).fit(folder / "parts")
    assert full.closed

    def reserve(number, start, size):
        assert (start, size) == (0, N * D * 8)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool.os, "posix_fallocate", reserve, raising=False)
    files = ParquetRows._batches
    monkeypatch.setattr(ParquetRows, "_batches", None)  # nothing is decoded in vain
    with pytest.raises(SourceError, match="1.4 MB .*No space left on device.*TMPDIR"):
        DSWL(3).fit(folder / "parts")
    monkeypatch.setattr(ParquetRows, "_batches", files)
    monkeypatch.delattr(spool.os, "posix_fallocate")  # other systems
    with open_rows(folder / "parts") as rows:
        np.testing.assert_array_equal(rows.take(np.arange(N)), rows.read())


SLOW = """
import sys, time
from trueaxis import DSWL
from trueaxis._rows import spooled as spool
write = spool.SpooledRows._write

def slowly(self, file, folder):
    write(self, file, folder)
    print("spooled", flush=True)
    time.sleep(60)

spool.SpooledRows._write = slowly
spool.FREE_READS = 0
DSWL(3).fit(sys.argv[1])
"""


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_process_that_is_stopped(kill, folder, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folder / "parts")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout.readline() == b"spooled\n"
    begin = time.monotonic()
    process.send_signal(kill)
    assert process.wait(30) != 0 and time.monotonic() - begin < 30
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


FORKED = """
import os, sys
import numpy as np
from trueaxis import open_rows
from trueaxis._rows import spooled as spool
spool.FREE_READS = 0
X = np.load(sys.argv[1])
with open_rows(sys.argv[2], block_rows=10) as rows:
    rows.take(np.arange(3))
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(20):
                read = np.vstack([block.copy() for _, block in rows.blocks()])
                if not np.array_equal(read, X):
                    os._exit(1)
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_spool_is_read_by_processes_that_were_forked(folder):
    command = [sys.executable, "-c", FORKED, folder / "all.npy", folder / "parts"]
    assert subprocess.run(command, timeout=120).returncode == 0


def test_threads_share_one_spool(X, folder, spools):
    rows = open_rows(folder / "parts")
    expected = METHODS["l2p-pca"](3).fit(X).components_
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(METHODS["l2p-pca"](3).fit(rows).components_)
        )
        for _ in range(3)
    ]
    with rows:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [file.closed for file in spools] == [False]
    assert spools[0].closed
    for components in found:
        np.testing.assert_allclose(components, expected, atol=1e-10)


def test_rows_with_a_spool_travel_without_it(X, folder, at_once):
    with open_rows(folder / "parts") as rows:
        rows.take(np.arange(3))
        other = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(other.take(np.arange(N)), X)
    other.close()


def test_a_temporary_folder_that_is_gone_is_told(folder, at_once, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder / "gone"))
    with pytest.raises(SourceError, match="gone failed .*No such file.*TMPDIR"):
        DSWL(3).fit(folder / "parts")


# ------------------------------------------------------------------------- memory


def test_what_needs_all_rows_says_so(folder, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000)
    words = "Reading all 9,000 rows x 20 columns takes 1.4 MB, but only 3.0 MB .*DSWL"
    for ask in (
        PCP(3),
        METHODS["l1-pca"](3),
    ):
        with pytest.raises(MemoryError, match=words):
            ask.fit(folder / "all.npy")
    model = DSWL(3).fit(folder / "all.npy")  # has no need of it
    with pytest.raises(MemoryError, match="Reading all"):
        contributions(model, folder / "all.npy")
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match="The result of 9,000 rows x 3 numbers"):
        model.transform(folder / "all.npy")


def test_memory_of_containers_and_other_systems(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    assert memory.available_memory() is None
    memory.refuse_large(10**18, "This", "")
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\n")
    assert memory.available_memory() is None
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\nMemAvailable: 2000 kB\n")
    assert memory.available_memory() == 2_048_000
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    assert memory.available_memory() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() == 2_048_000


def test_the_door_is_lazy():
    assert trueaxis.open_rows is open_rows and "open_rows" in dir(trueaxis)


# ------------------------------------------------------------------ the command line


@pytest.mark.parametrize("ending", ["parquet", "npy"])
@pytest.mark.parametrize("scale", ["none", "robust"])
def test_commands_stream_large_files(ending, scale, X, tmp_path, monkeypatch):
    data = tmp_path / f"x.{ending}"
    X = X[:1000]
    np.save(data, X) if ending == "npy" else write_parquet(data, X)
    model = str(tmp_path / "model.npz")
    run = click.testing.CliRunner().invoke
    cases = [("score", "csv"), ("score", "parquet"), ("transform", "tsv")]

    def written(name):
        found = []
        for command, kind in cases:
            target = tmp_path / f"{command}-{name}.{kind}"
            done = run(main, [command, model, str(data), "-o", str(target)])
            assert done.exit_code == 0, done.output
            found.append(target)
        printed = run(main, ["score", model, str(data), "--json"]).stdout
        return found, json.loads(printed)["outliers"]

    assert run(main, ["fit", str(data), "-o", model, "--scale", scale]).exit_code == 0
    whole, counts = written("whole")
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    monkeypatch.setattr(streaming, "BLOCK_BYTES", 8 * D * 300)
    streamed, streamed_counts = written("streamed")
    assert counts == streamed_counts
    if scale == "none":
        again = tmp_path / "again.npz"
        monkeypatch.setattr(spool, "FREE_READS", 0)
        done = run(main, ["fit", str(data), "-o", str(again)])
        assert done.exit_code == 0 and "of 1,000 rows are bad" in done.output
        assert ("Decoding 1,000 rows" in done.output) == (ending == "parquet")
        one, two = trueaxis.load(model), trueaxis.load(again)
        np.testing.assert_array_equal(one.components_, two.components_)
        assert one.feature_names_in_.tolist() == two.feature_names_in_.tolist()
        found = json.loads(run(main, ["fit", str(data), "--json"]).stdout)
        assert found["outliers"]["count"] == (~one.support_).sum()
    for one, two in zip(whole, streamed, strict=True):
        if one.suffix == ".parquet":
            here, there = (parquet.read_table(path).to_pandas() for path in (one, two))
        else:
            here, there = (
                pandas.read_csv(path, sep=None, engine="python") for path in (one, two)
            )
        pandas.testing.assert_frame_equal(here, there, rtol=1e-9, atol=1e-12)


def test_commands_tell_of_columns_that_share_a_name(X, tmp_path):
    names = ["a", "b", "a", "a", *NAMES[4:]]
    write_parquet(tmp_path / "x.parquet", X[:50], names)
    run = click.testing.CliRunner().invoke
    (tmp_path / "folder").mkdir()
    write_parquet(tmp_path / "folder" / "x.parquet", X[:50], names)
    for data in ("x.parquet", "folder"):
        done = run(main, ["fit", str(tmp_path / data)])
        assert done.exit_code == 1 and "has 3 columns 'a'" in done.output
        assert "Traceback" not in done.output


def test_commands_refuse_folders_without_rows(X, tmp_path):
    (tmp_path / "none").mkdir()
    write_parquet(tmp_path / "none" / "x.parquet", X[:0])
    trueaxis.save(DSWL(3).fit(X[:200]), tmp_path / "model.npz")
    run = click.testing.CliRunner().invoke
    for command, target in (("score", "s.csv"), ("transform", "t.npy")):
        given = [str(tmp_path / name) for name in ("model.npz", "none", target)]
        done = run(main, [command, *given[:2], "-o", given[2]])
        assert done.exit_code == 1 and "none has no rows" in done.output
        assert not (tmp_path / target).exists()


def test_commands_tell_where_a_large_file_is_bad(X, tmp_path, monkeypatch):
    X = X[:1000].copy()
    np.save(tmp_path / "good.npy", X)
    X[700, 3] = np.nan
    write_parquet(tmp_path / "bad.parquet", X)
    write_parquet(tmp_path / "few.parquet", X[:, :5], NAMES[:5])
    model, run = str(tmp_path / "m.npz"), click.testing.CliRunner().invoke
    run(main, ["fit", str(tmp_path / "good.npy"), "-o", model])
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    target = tmp_path / "out.csv"
    done = run(main, ["score", model, str(tmp_path / "bad.parquet"), "-o", str(target)])
    assert done.exit_code == 1 and "bad.parquet, row group 1, row 0 " in done.output
    done = run(main, ["score", model, str(tmp_path / "few.parquet"), "-o", str(target)])
    assert done.exit_code == 1 and "There is no column 'x5'" in done.output
    assert not target.exists()


# ---------------------------------------------------------------- what people have


FEW = planted("ocs", n=400, n_features=6, share=0.1).X


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask
@pytest.mark.parametrize("index", [None, "serial", "dask"])
def test_the_index_of_a_data_frame_is_no_column(tmp_path, index):
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
    if index == "serial":  # but can be had
        assert open_rows(path, columns=["serial", "c1"]).shape == (len(FEW), 2)


def test_lists_of_files_go_to_fit(tmp_path):
    half = len(FEW) // 2
    np.save(tmp_path / "a.npy", FEW[:half])
    np.save(tmp_path / "b.npy", FEW[half:])
    expected = DSWL(2).fit(FEW)
    for files in ([tmp_path / "a.npy", tmp_path / "b.npy"],):
        for given in (files, [str(path) for path in files], tuple(files)):
            model = DSWL(2).fit(given)
            assert np.abs(model.components_ - expected.components_).max() < 1e-10


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("s3://bucket/x.parquet", "is a URL, but only local files can be read"),
        ("parts/*.parquet", r"patterns are not expanded: .*glob\.glob"),
    ],
)
def test_addresses_and_patterns_are_told(path, words):
    with pytest.raises(SourceError, match=words):
        DSWL(2).fit(path)
    result = click.testing.CliRunner().invoke(main, ["fit", path])
    assert result.exit_code == 1
    assert re.search(words, result.stderr.replace("\n", " "))
