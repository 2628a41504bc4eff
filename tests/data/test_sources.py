"""Files and stored arrays give the model of the array; errors name the cell."""

import importlib
import os
import pickle
import subprocess
import sys

import h5py
import numpy as np
import pandas
import pyarrow
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
import zarr
from forged_models import claiming
from row_sources import (
    NAMES,
    Chunked,
    D,
    N,
    Spoiling,
    assert_same_model,
    write_parquet,
)

from trueaxis import DSWL, ColumnScaler, open_rows
from trueaxis.data.files import SlicedRows, SourceError
from trueaxis.data.open_rows import describe_file
from trueaxis.methods import PlainPCA

# The package has a function of the same name.
open_rows_module = importlib.import_module("trueaxis.data.open_rows")

SOURCES = {
    "path": lambda folder, X: folder / "all.npy",
    "small blocks": lambda folder, X: open_rows(folder / "all.npy", block_rows=33),
    "by columns": lambda folder, X: open_rows(folder / "columns.npy", block_rows=101),
    "byte order": lambda folder, X: str(folder / "swapped.npy"),
    "list": lambda folder, X: [folder / f"part-{i}.npy" for i in range(3)],
    "memmap": lambda folder, X: np.load(folder / "all.npy", mmap_mode="r"),
    "memmap, columns": lambda folder, X: np.load(folder / "columns.npy", mmap_mode="r"),
    "memmap, copy": lambda folder, X: np.load(folder / "all.npy", mmap_mode="c"),
    "Parquet": lambda folder, X: folder / "parts",
    "Parquet, blocks": lambda folder, X: open_rows(folder / "parts", block_rows=50),
    "Feather": lambda folder, X: folder.parent / feathered(folder, X),
    "text": lambda folder, X: texted(folder, X),
    "chunks": lambda folder, X: open_rows(Chunked(X)),
}


def feathered(folder, X):
    path = folder / "feathered.feather"
    if not path.exists():
        frame = pandas.DataFrame(X, columns=NAMES)
        feather.write_feather(frame, path, chunksize=1_000)
    return path


def texted(folder, X):
    path = folder / "text.csv"
    if not path.exists():
        pandas.DataFrame(X, columns=NAMES).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_model_of_the_array(name, X, folder):
    source = SOURCES[name](folder, X)
    model, expected = DSWL(3).fit(source), DSWL(3).fit(X)
    assert_same_model(model, expected)
    assert model.n_features_in_ == D
    np.testing.assert_allclose(model.transform(source), expected.transform(X))
    np.testing.assert_array_equal(model.predict(source), expected.predict(X))
    rows = open_rows(source)
    for index in ([8_999, 0, 0, 4_000, 4_001], np.arange(2_990, 3_010), []):
        index = np.array(index, dtype=int)
        np.testing.assert_array_equal(rows.take(index), X[index])


@pytest.mark.parametrize("store", ["HDF5", "Zarr"])
@pytest.mark.parametrize("chunks", [(500, 7), (77, 20), (N, 1)])
def test_stored_arrays_give_the_model_of_the_array(store, chunks, X, tmp_path):
    if store == "HDF5":
        file = h5py.File(tmp_path / "x.h5", "w")
        array = file.create_dataset("group/x", data=X, chunks=chunks)
    else:
        options = {"shape": X.shape, "dtype": X.dtype, "chunks": chunks}
        array = zarr.open(str(tmp_path / "x.zarr"), mode="w", **options)
        array[:] = X
    rows = open_rows(array)
    assert isinstance(rows, SlicedRows) and rows.block_rows % chunks[0] == 0
    assert_same_model(DSWL(3).fit(rows), DSWL(3).fit(X))
    some = open_rows(array, columns=[4, -1, 0])
    np.testing.assert_array_equal(some.read(), X[:, [4, -1, 0]])
    if store == "HDF5":
        file.close()
        with pytest.raises(SourceError, match="HDF5|Dataset .*failed"):
            rows.read()


def test_columns_are_chosen_by_name_or_index(X, folder, tmp_path):
    some = ["x7", "x1", "x3"]
    write_parquet(tmp_path / "x.parquet", X)
    for source in (folder / "parts", feathered(folder, X), texted(folder, X)):
        rows = open_rows(source, columns=some)
        assert rows.names == tuple(some)
        np.testing.assert_array_equal(rows.read(), X[:, [7, 1, 3]])
    for name in ("all.npy", "columns.npy"):
        rows = open_rows(folder / name, columns=[7, 1, -17])
        np.testing.assert_array_equal(rows.read(), X[:, [7, 1, 3]])
    model = DSWL(2).fit(open_rows(folder / "parts", columns=some))
    assert model.feature_names_in_.tolist() == some
    with pytest.raises(ValueError, match="Column 0 of X is 'x0', but DSWL .* 'x7'"):
        model.predict(open_rows(folder / "parts", columns=["x0", "x1", "x3"]))
    with pytest.raises(ValueError, match="expecting 3 features.*same order"):
        model.predict(folder / "parts")
    # Files may have their columns in another order.
    table = write_parquet(tmp_path / "a.parquet", X)
    parquet.write_table(table.select(NAMES[::-1]), tmp_path / "b.parquet")
    rows = open_rows([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    np.testing.assert_array_equal(rows.read(), np.vstack([X, X]))


@pytest.mark.parametrize("kind", ["i8", "u8", "u1", "f2", "f4", "?"])
def test_numbers_of_all_types_are_read(kind, tmp_path):
    whole = np.random.default_rng(0).integers(0, 100, (300, 4))
    X = (whole > 50 if kind == "?" else whole).astype(kind)
    if kind in ("i8", "u8"):
        X[3, 2] = 2**53 + 3  # not a float: the nearest one is read
    np.save(tmp_path / "x.npy", X)
    write_parquet(tmp_path / "x.parquet", X, NAMES[:4])
    for name in ("x.npy", "x.parquet"):
        rows = open_rows(tmp_path / name)
        assert rows.dtype == (np.float32 if kind == "f4" else np.float64)
        np.testing.assert_array_equal(rows.read(), X.astype(rows.dtype))


def test_missing_cells_are_nan(X, tmp_path):
    holes = X[:400].copy()
    holes[::7, 3] = np.nan
    columns = [pyarrow.array(x, from_pandas=True) for x in holes.T]
    table = pyarrow.table(columns, names=NAMES)
    parquet.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.feather")
    expected = DSWL(3).fit(holes)
    for name in ("x.parquet", "x.feather"):
        np.testing.assert_array_equal(open_rows(tmp_path / name).read(), holes)
        model = DSWL(3).fit(tmp_path / name)
        np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)
        with pytest.raises(ValueError, match=f"NaN in .*{name}, row 0, column 'x3'"):
            PlainPCA(3).fit(tmp_path / name)


def test_a_bad_value_is_reported_with_its_place(X, tmp_path):
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        part = part.copy()
        if number == 2:
            part[1417, 3] = np.inf
            np.save(tmp_path / "part.npy", part)
        write_parquet(tmp_path / "parts" / f"part-{number}.parquet", part)
    words = r"infinity in part-2.parquet, row 1,417 \(row 7,417 of all\), column 'x3'"
    for use in (DSWL(3).fit, DSWL(3).fit(X).predict):
        with pytest.raises(ValueError, match=words):
            use(tmp_path / "parts")
    with pytest.raises(ValueError, match=r"in .*part.npy, row 1,417, column 3"):
        DSWL(3).fit(tmp_path / "part.npy")
    huge = X.copy()
    huge[6000, 2] = 1e200
    np.save(tmp_path / "huge.npy", huge)
    with pytest.raises(ValueError, match="overflow: .*huge.npy, row 6,000 of X"):
        PlainPCA(3).fit(tmp_path / "huge.npy")
    with pytest.raises(ValueError, match="overflow: row 6000 of X"):
        PlainPCA(3).fit(huge)
    counts = np.ones(N)
    counts[6000] = 0  # zero weight: its values do not matter
    one = PlainPCA(3).fit(tmp_path / "huge.npy", sample_weight=counts)
    two = PlainPCA(3).fit(X, sample_weight=counts)
    np.testing.assert_allclose(one.components_, two.components_)


def test_files_with_different_columns_are_refused(X, tmp_path):
    for number in range(3):
        columns = NAMES if number < 2 else NAMES[:7] + NAMES[8:]
        part = X[:50, : len(columns)]
        write_parquet(tmp_path / f"{number}.parquet", part, columns)
        np.save(tmp_path / f"{number}.npy", part)
    places = [tmp_path / f"{number}.parquet" for number in range(3)]
    with pytest.raises(SourceError, match=r"2.parquet has 19 .*only one has 'x7'"):
        open_rows(places)
    assert open_rows(places, columns=NAMES[:5]).shape == (150, 5)
    with pytest.raises(SourceError, match="2.npy has 19 columns"):
        open_rows([place.with_suffix(".npy") for place in places])
    write_parquet(places[2], X[:50], [*NAMES[:-1], "other"])
    with pytest.raises(SourceError, match=r"only one has 'other', 'x19'"):
        open_rows(places)


def test_files_that_hold_no_table_of_numbers_are_refused(X, tmp_path, monkeypatch):
    cases = [
        ("none.npy", b"", r"none.npy \(0 bytes\) is not a complete .npy"),
        (
            "a.npy",
            claiming("<f8", "(" * 40, bytes(96)),
            "not a complete .*numpy.save",
        ),
        ("none.parquet", b"", r"\(0 bytes\) is not a complete Parquet file"),
        ("none.feather", b"", r"\(0 bytes\) is not a complete Arrow file"),
        ("x.sav", b"", "does not end in .npy, .parquet.*Convert it"),
    ]
    for name, content, words in cases:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError, match=words):
            open_rows(tmp_path / name)
    arrays = {"a 2D array": np.ones(7), "only numbers": np.array([["a", "b"]])}
    for words, array in arrays.items():
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(SourceError, match=words):
            open_rows(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", X)
    os.truncate(tmp_path / "x.npy", 5_000)
    with pytest.raises(SourceError, match=r"5,000 bytes\) is not a complete .npy file"):
        open_rows(tmp_path / "x.npy")
    table = pyarrow.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(SourceError, match="Column 'b' of .* type text"):
        open_rows(tmp_path / "x.parquet")
    with pytest.raises(SourceError, match="no column 'z'; its 2 columns are 'a', 'b'"):
        open_rows(tmp_path / "x.parquet", columns=["a", "z"])
    with pytest.raises(SourceError, match="no columns .99.: its 20"):
        open_rows(X[:5], columns=[99])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="has no file that ends in .npy"):
        open_rows(tmp_path / "empty")
    for path, words in (("s3://b/x.npy", "is a URL"), ("parts/*.npy", "not expanded")):
        with pytest.raises(SourceError, match=words):
            DSWL(2).fit(path)
    for source in (7, [1, 2], {"a": 1}):
        with pytest.raises(TypeError, match="pass (a path|paths)"):
            open_rows(source)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SourceError, match=r"pip install 'trueaxis\[parquet\]'"):
        open_rows(tmp_path / "x.parquet")


def test_empty_files_are_part_of_a_folder(X, tmp_path):
    np.save(tmp_path / "0.npy", X[:0])
    np.save(tmp_path / "1.npy", X)
    np.save(tmp_path / "2.npy", X[:0].astype(np.float32))
    assert_same_model(DSWL(3).fit(tmp_path), DSWL(3).fit(X))
    with pytest.raises(ValueError, match="0 sample.*minimum of 2 is required by DSWL"):
        DSWL(3).fit(tmp_path / "0.npy")


@pytest.mark.parametrize("ending", ["npy", "parquet"])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "x.* cannot be read"),
        (lambda path: os.truncate(path, 5000), "modified .* has 5,000"),
        (lambda path: os.utime(path, (1, 1)), "has been modified since it was opened"),
    ],
)
def test_a_file_changed_between_passes_is_reported(ending, spoil, words, X, tmp_path):
    path = tmp_path / f"x.{ending}"
    np.save(path, X) if ending == "npy" else write_parquet(path, X)
    rows = Spoiling(open_rows(path), lambda: spoil(path))
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)


def test_a_file_truncated_during_a_pass_is_reported(X, tmp_path):
    write_parquet(tmp_path / "x.parquet", X, row_group_size=4000)
    np.save(tmp_path / "x.npy", X)
    for name in ("x.npy", "x.parquet"):
        blocks = open_rows(tmp_path / name, block_rows=100).blocks()
        next(blocks)
        os.truncate(tmp_path / name, 20_000)
        with pytest.raises(SourceError, match="20,000"):
            list(blocks)


def test_views_and_writable_memory_maps(X, folder, tmp_path):
    mapped = np.load(folder / "all.npy", mmap_mode="r")
    for view in (mapped[100:5000], mapped[:, 2:9], mapped[::3], mapped.T[:50].T):
        np.testing.assert_array_equal(open_rows(view).read(), np.asarray(view))
    changed = np.load(folder / "all.npy", mmap_mode="c")
    changed[7] = 1.0  # in memory only
    np.testing.assert_array_equal(open_rows(changed).take(np.array([7])), changed[7:8])
    np.save(tmp_path / "x.npy", X)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r+")
    rows = open_rows(stored)
    assert not rows.in_memory
    stored[0, 0] += 1
    stored.flush()
    assert rows.take(np.array([0]))[0, 0] == stored[0, 0]


def test_few_rows_of_a_file_are_read_without_the_others(folder, monkeypatch):
    read, preadv = [], os.preadv
    monkeypatch.setattr(
        os, "preadv", lambda *given: read.append(preadv(*given)) or read[-1]
    )
    open_rows(folder / "all.npy").take(np.array([3, 5, 8000]))
    assert sum(read) == (3 + 1) * D * 8


def test_files_are_read_where_there_is_no_preadv(folder, X, monkeypatch):
    monkeypatch.delattr(os, "preadv")
    np.testing.assert_array_equal(open_rows(folder / "all.npy").read(), X)
    np.testing.assert_array_equal(open_rows(texted(folder, X)).read(), X)


# ---------------------------------------------------------------- Parquet and Feather


def test_parquet_read_often_is_decoded_to_a_file_until_the_end(folder, X, monkeypatch):
    made, decode = [], open_rows_module.decoded_rows
    monkeypatch.setattr(
        open_rows_module,
        "decoded_rows",
        lambda *given: made.append(decode(*given)) or made[-1],
    )
    rows = open_rows(folder / "parts")
    with rows:
        for _ in range(6):
            np.testing.assert_array_equal(rows.read(), X)
        assert len(made) == 1
        copy = pickle.loads(pickle.dumps(rows))
        np.testing.assert_array_equal(copy.read(), X)
    file = made.pop().source.file
    assert file.closed
    for _ in range(6):  # outside of any `with`, nothing would remove the file
        rows.read()
    full = type("Disk", (), {"free": 1_000})
    monkeypatch.setattr(open_rows_module.shutil, "disk_usage", lambda path: full)
    with rows:  # without room on the disk, it is decoded every time
        for _ in range(6):
            np.testing.assert_array_equal(rows.read(), X)
    assert not made


def test_the_index_of_a_data_frame_is_no_column(X, tmp_path):
    frame = pandas.DataFrame(X[:400], columns=NAMES)
    frame.index = pandas.Index(7 * np.arange(400), name="serial")
    frame.assign(day=pandas.Timestamp("2026-01-01"), kind="a").to_parquet(
        tmp_path / "f.parquet"
    )
    n, kinds = describe_file(tmp_path / "f.parquet")
    assert n == 400
    assert kinds == dict.fromkeys(NAMES, "number") | {"day": "calendar", "kind": "text"}
    frame.to_parquet(tmp_path / "f.parquet")
    assert open_rows(tmp_path / "f.parquet").names == tuple(NAMES)
    assert open_rows(tmp_path / "f.parquet", columns=["serial", "x1"]).shape == (400, 2)


BOMB = """
import resource, sys
from trueaxis import open_rows

def peak():
    with open("/proc/self/status") as file:
        return int(next(line for line in file if "VmHWM" in line).split()[1]) / 1024

few, many = (open_rows(path, columns=["a", "b"]) for path in sys.argv[1:])
assert sum(len(block) for _, block in few.blocks()) == 1_000
before = peak()
assert sum(len(block) for _, block in many.blocks()) == 20_000_000
print(peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_a_small_file_that_expands_to_many_rows_takes_little_memory(tmp_path):
    """Rows of constants: 320 MB of numbers, and long texts in a column not read."""

    def write(path, n):
        same = pyarrow.array(np.zeros(n, dtype=np.int8)).dictionary_encode()
        text = pyarrow.DictionaryArray.from_arrays(same.indices, ["x" * 10_000])
        zeros = pyarrow.array(np.zeros(n))
        table = pyarrow.table({"a": zeros, "b": zeros, "text": text})
        parquet.write_table(table, path, row_group_size=n)

    write(tmp_path / "few.parquet", 1_000)
    write(tmp_path / "many.parquet", 20_000_000)
    assert (tmp_path / "many.parquet").stat().st_size < 1_000_000
    command = [sys.executable, "-c", BOMB, "few.parquet", "many.parquet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert float(done.stdout) < 150, "MB"


def test_a_feather_batch_that_expands_beyond_memory_is_refused(tmp_path, monkeypatch):
    table = pyarrow.table({"a": np.zeros(1_000_000), "b": np.zeros(1_000_000)})
    path = tmp_path / "x.feather"
    feather.write_feather(table, path, compression="zstd", chunksize=1_000_000)
    rows = open_rows(path)
    monkeypatch.setattr("trueaxis.data.memory.available_memory", lambda: 20_000_000)
    with pytest.raises(MemoryError, match=r"A batch of .*chunksize"):
        next(rows.blocks())


def test_loading_the_methods_loads_no_reader_of_tables():
    code = "import trueaxis, sys; trueaxis.DSWL; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    assert not {"pyarrow.parquet", "dask.array", "rich.progress"} & loaded
    assert not {name for name in loaded if name.startswith("trueaxis.io")}


def test_scaled_files_are_scaled_as_they_are_read(X, folder):
    scaler = ColumnScaler().fit(folder / "parts")
    expected = ColumnScaler().fit(X)
    np.testing.assert_allclose(scaler.unit_, expected.unit_)
    scaled = scaler.transform(folder / "parts")
    assert_same_model(DSWL(3).fit(scaled), DSWL(3).fit(expected.transform(X)))
