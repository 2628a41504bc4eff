"""Every source gives the model of the array; errors name the file."""

import os

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from row_sources import (
    NAMES,
    Chunked,
    D,
    N,
    assert_same_model,
    several_ways,
    write_parquet,
)

import trueaxis
from trueaxis import DSWL, ColumnScaler, open_rows
from trueaxis.data.watched_file import SourceError
from trueaxis.datasets import planted
from trueaxis.diagnostics import contributions, diagnose, effect, reasons
from trueaxis.methods import METHODS


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


@pytest.mark.slow
@several_ways
def test_every_source_gives_the_model_of_the_array(X, folder, options):
    expected = DSWL(3, **options).fit(X)
    for name, source in sources(folder, X).items():
        model = DSWL(3, **options).fit(source)
        assert_same_model(model, expected)
        assert model.n_features_in_ == D
        if name in ("path", "memmap"):  # blocks begin at the same rows
            assert np.array_equal(model.components_, expected.components_)


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_reads_files(method, tmp_path):
    X = planted("ocs", n=400, n_features=8, share=0.1).X
    np.save(tmp_path / "x.npy", X)
    one, two = METHODS[method](2), METHODS[method](2)
    one.fit(X), two.fit(open_rows(tmp_path / "x.npy", block_rows=64))
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-7)


@pytest.mark.slow
def test_results_from_files_equal_those_from_the_array(X, folder):
    model = DSWL(3).fit(X)
    counts = 1.0 + (np.arange(N) % 3 == 0)
    counts[5] = 0.0
    for source in (folder / "all.npy", open_rows(folder / "columns.npy")):
        weighted = DSWL(3).fit(source, sample_weight=counts)
        assert_same_model(weighted, DSWL(3).fit(X, sample_weight=counts))
        np.testing.assert_allclose(model.transform(source), model.transform(X))
        np.testing.assert_array_equal(model.predict(source), model.predict(X))
        for ask in (effect, diagnose, contributions, reasons):
            here, there = ask(model, X), ask(model, source)
            for name in getattr(here, "_fields", None) or vars(here):
                one, two = getattr(here, name), getattr(there, name)
                if isinstance(one, np.ndarray) and one.dtype.kind == "f":
                    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    scaled = ColumnScaler().fit(folder / "all.npy")
    np.testing.assert_allclose(scaled.unit_, ColumnScaler().fit(X).unit_)
    assert DSWL(3).fit_transform(open_rows(folder / "all.npy")).shape == (N, 3)


def test_take_returns_rows_in_any_order(X, folder):
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


@pytest.mark.slow
def test_chosen_columns_and_their_names(X, folder, tmp_path):
    model = DSWL(2).fit(open_rows(folder / "parts", columns=["x7", "x1", "x3"]))
    assert model.feature_names_in_.tolist() == ["x7", "x1", "x3"]
    assert_same_model(model, DSWL(2).fit(X[:, [7, 1, 3]]))
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


@pytest.mark.slow
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
    assert_same_model(model, DSWL(3).fit(X))
    mixed = {"a": whole[:, 0], "b": X[:300, 0], "c": whole[:, 1] > 50}
    parquet.write_table(pyarrow.table(mixed), tmp_path / "mixed.parquet")
    rows = open_rows(tmp_path / "mixed.parquet", spool=False)
    assert rows.dtype == np.float64 and rows.names == ("a", "b", "c")
    np.testing.assert_array_equal(rows.read(), np.column_stack(list(mixed.values())))


def test_files_with_different_columns_are_refused(X, folder, tmp_path):
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


@pytest.mark.slow
def test_empty_files(X, tmp_path):
    np.save(tmp_path / "0.npy", X[:0])
    np.save(tmp_path / "1.npy", X)
    np.save(tmp_path / "2.npy", X[:0].astype(np.float32))
    rows = open_rows(tmp_path)
    assert rows.shape == X.shape and rows.dtype == np.float64
    assert_same_model(DSWL(3).fit(rows), DSWL(3).fit(X))
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
        (lambda f: f / "x.doc", SourceError, "x.doc does not end in .npy, .parquet"),
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
def test_invalid_sources_are_refused(given, error, words, tmp_path):
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "line.npy", np.arange(7.0))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "short.npy", np.zeros((100, 5)))
    os.truncate(tmp_path / "short.npy", 1000)
    table = pyarrow.table({"a": [1.0, 2.0], "b": ["u", "v"]})
    parquet.write_table(table, tmp_path / "words.parquet")
    with pytest.raises(error, match=words):
        open_rows(given(tmp_path))


def test_invalid_arguments_are_refused(folder):
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
    with pytest.raises(
        SourceError, match="No column of .* is selected: choose some of its 20"
    ):
        open_rows(folder / "parts", columns=[])


def test_first_file_with_names_sets_the_column_order(X, tmp_path):
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


def test_hidden_files_are_skipped(X, tmp_path):
    for name in ("a", ".copies/a", "_temporary/a", "b.parquet/a", "b.parquet/_log/a"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, X[:70])
    assert open_rows(tmp_path).shape == (140, D)


def test_working_directory_may_change_after_opening(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X[:300])
    write_parquet(tmp_path / "x.parquet", X[:300])
    monkeypatch.chdir(tmp_path)
    sources = [open_rows("x.npy"), open_rows("x.parquet")]
    monkeypatch.chdir("/")
    for rows in sources:
        np.testing.assert_array_equal(rows.take(np.arange(300)), X[:300])


def test_open_rows_is_exported():
    assert trueaxis.open_rows is open_rows and "open_rows" in dir(trueaxis)
