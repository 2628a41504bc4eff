"""Commands on files that are read block by block: the same as on tables in memory."""

import json
import os
import tracemalloc

import click.testing
import dask.array as da
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet as parquet
import pytest
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler, open_rows
from trueaxis._cli import streaming
from trueaxis._cli.main import main
from trueaxis._rows import memory
from trueaxis._rows.base import Rows
from trueaxis._rows.watched_file import SourceError
from trueaxis._tables.id_columns import IdColumns
from trueaxis.datasets import planted
from trueaxis.estimators import scaler as scaling

N, D = 1000, 8
UNITS = np.logspace(-2, 2, D)


@pytest.fixture(scope="module")
def X():
    return planted("ocs", n=N, share=0.2, n_features=D).X * UNITS + 3


@pytest.fixture
def data(X, tmp_path):
    """Numbers, names and labels, in files and folders of different kinds."""
    fields = {"who": [f"pump {i}" for i in range(N)]}
    fields |= {f"x{j}": X[:, j] for j in range(D)}
    fields["site"] = [None if i % 7 == 0 else "north" for i in range(N)]
    table = pyarrow.table(fields)
    parquet.write_table(table, tmp_path / "one.parquet", row_group_size=130)
    (tmp_path / "parts").mkdir()
    for number, first in enumerate(range(0, N, 400)):
        part = table.slice(first, 400)
        parquet.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    numbered = np.column_stack([X, np.arange(N), np.arange(N) % 3])
    np.save(tmp_path / "one.npy", numbered)
    return tmp_path


def run(*arguments, code=0):
    done = click.testing.CliRunner().invoke(main, [str(word) for word in arguments])
    assert done.exit_code == code, done.output
    return done


def table(path):
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pandas()
    return pandas.read_csv(path, keep_default_na=False)


@pytest.fixture
def streamed(monkeypatch):
    """From now on files are large, and blocks have 90 rows."""

    def begin():
        monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
        monkeypatch.setattr(streaming, "BLOCK_BYTES", 8 * D * 90)

    return begin


NAMED = {"one.parquet": ("who", "site"), "one.npy": ("x8", "x9")}


# ------------------------------------------------------------------ names and labels


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("given", ["both", "id", "label"])
@pytest.mark.parametrize("command", ["score", "transform"])
def test_names_and_labels_are_carried_along(command, given, name, data, streamed):
    named, label = NAMED[name]
    model, outputs = data / "model.npz", [data / "1.csv", data / "2.csv"]
    options = ["--id", named] * (given != "label")
    options += ["--label", label] * (given != "id")
    run("fit", data / name, "-k", 3, "-o", model, "--id", named, "--label", label)
    run(command, model, data / name, *options, "-o", outputs[0])
    streamed()
    run(command, model, data / name, *options, "-o", outputs[1])
    one, two = map(table, outputs)
    pandas.testing.assert_frame_equal(one, two, rtol=1e-9, atol=1e-12)
    assert ("label" in two) == (given != "id") and len(two) == N


def test_names_are_read_across_files_of_a_folder(data):
    model = data / "model.npz"
    run("fit", data / "parts", "-k", 3, "-o", model, "--id", "who", "--label", "site")
    loaded = trueaxis.load(model)
    assert loaded.feature_names_in_.tolist() == [f"x{j}" for j in range(D)]
    run("score", model, data / "parts", "--id", "who", "-o", data / "out.parquet")
    found = table(data / "out.parquet")["row"]
    assert found.tolist() == [f"pump {i}" for i in range(N)]


def test_a_fit_leaves_names_and_labels_out(data, streamed):
    given = ["-k", 3, "--id", "who", "--label", "site"]
    run("fit", data / "one.parquet", *given, "-o", data / "1.npz")
    streamed()
    run("fit", data / "one.parquet", *given, "-o", data / "2.npz")
    one, two = trueaxis.load(data / "1.npz"), trueaxis.load(data / "2.npz")
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.feature_names_in_.tolist() == two.feature_names_in_.tolist()


def test_wrong_names_of_columns_are_told(data, streamed):
    model = data / "model.npz"
    streamed()
    run("fit", data / "one.parquet", "--id", "who", "--label", "site", "-o", model)
    score = ["score", model, data / "one.parquet"]
    done = run(*score, "--id", "whom", "-o", data / "out.csv", code=1)
    assert "There is no column 'whom' in" in done.output
    done = run(*score, "--id", "x3", "-o", data / "out.csv", code=1)
    assert "--id x3 is a column that the model was fitted on" in done.output
    done = run(*score, "--drop", "who", "-o", data / "out.csv", code=1)
    assert "leave out --columns and --drop" in done.output
    every = ",".join([f"x{j}" for j in range(D)])
    few = ["--drop", every, "--id", "who", "--label", "site"]
    done = run("fit", data / "one.parquet", *few, code=1)
    assert "No column is left to analyse" in done.output
    assert not (data / "out.csv").exists()


def test_names_that_are_missing_in_a_file_are_told(data, X):
    short = pyarrow.table({f"x{j}": X[:3, j] for j in range(D)})
    parquet.write_table(short, data / "parts" / "9.parquet")
    fit_weight = IdColumns(data / "parts", ["who"])
    with pytest.raises(SourceError, match="9.parquet has no column 'who'"):
        fit_weight.next(N + 1)
    fit_weight = IdColumns(data / "one.parquet", ["who"])
    assert [len(fit_weight.next(n)[0]) for n in (1, 300, N - 301)] == [1, 300, N - 301]
    with pytest.raises(SourceError, match="fewer cells in who than rows"):
        fit_weight.next(1)


def test_names_take_no_more_memory_than_some_rows(tmp_path):
    n = 400_000
    names = pyarrow.array([f"a rather long name of row {i}" for i in range(n)])
    fields = pyarrow.table({"who": names})
    parquet.write_table(fields, tmp_path / "x.parquet", row_group_size=n)
    del names, fields
    fit_weight = IdColumns(tmp_path / "x.parquet", ["who"])
    tracemalloc.start()
    for _ in range(n // 10_000):
        fit_weight.next(10_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6  # all of them take 35 MB and more


# ----------------------------------------------------------------------------- scale


@pytest.mark.parametrize("how", ["standard", "robust"])
@pytest.mark.parametrize("name", ["one.parquet", "parts", "one.npy"])
def test_scaled_fits_are_those_of_tables_in_memory(how, name, data, X, streamed):
    apart = "who,site" if name != "one.npy" else "x8,x9"
    streamed()
    fit = ["fit", data / name, "-k", 3, "--drop", apart, "--scale", how]
    done = run(*fit, "-o", data / "m.npz")
    assert done.output.count("Decoding") == (name != "one.npy")  # once for both fits
    model = trueaxis.load(data / "m.npz")
    expected = make_pipeline(ColumnScaler(how), DSWL(3)).fit(X)
    np.testing.assert_allclose(model[0].unit_, expected[0].unit_, rtol=1e-12)
    np.testing.assert_allclose(model[1].components_, expected[1].components_, atol=1e-9)
    assert (model[1].support_ == expected[1].support_).all()
    found = json.loads(run(*fit, "--json").stdout)
    assert found["outliers"]["count"] == (~expected[1].support_).sum()
    run("score", data / "m.npz", data / name, "-o", data / "out.csv")
    assert (table(data / "out.csv")["outlier"] == (expected.predict(X) < 0)).all()


@pytest.mark.parametrize("how", scaling.HOW)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_of_sources_are_those_of_arrays(how, dtype, X, tmp_path):
    X = np.column_stack([X, np.full(N, 2.5), np.zeros(N), X[:, 0] + 1e6]).astype(dtype)
    if dtype == np.float64:
        X = np.column_stack([X, X[:, 0] * 1e307, X[:, 1] * 1e-300])
    np.save(tmp_path / "x.npy", X)
    expected = ColumnScaler(how).fit(X)
    rtol = 1e-9 if dtype == np.float64 else 2e-3  # arrays of float32 add up in float32
    for source in (
        tmp_path / "x.npy",
        open_rows(tmp_path / "x.npy", block_rows=64),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        da.from_array(X, chunks=(300, -1)),
    ):
        found = ColumnScaler(how).fit(source)
        np.testing.assert_allclose(found.center_, expected.center_, rtol=rtol)
        np.testing.assert_allclose(found.unit_, expected.unit_, rtol=rtol)
        assert found.unit_.dtype == expected.unit_.dtype == dtype
        scaled = found.transform(source)
        there = scaled.read() if isinstance(scaled, Rows) else np.asarray(scaled)
        here = (X - found.center_) / found.unit_
        np.testing.assert_array_equal(there, here)


def test_of_many_rows_a_sample_gives_the_medians(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((20_000, 3)) * [1, 20, 0.3] + 5
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(scaling, "SAMPLE_ROWS", 5_000)
    one, two = (ColumnScaler().fit(tmp_path / "x.npy") for _ in range(2))
    np.testing.assert_array_equal(one.unit_, two.unit_)
    exact = ColumnScaler().fit(X)
    assert (one.unit_ != exact.unit_).all()
    np.testing.assert_allclose(one.unit_, exact.unit_, rtol=0.05)


def test_a_pipeline_reads_a_source_block_by_block(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    expected = make_pipeline(ColumnScaler("standard"), DSWL(3)).fit(X)
    # A table of them does not fit, what is said of each row does.
    monkeypatch.setattr(memory, "available_memory", lambda: X.nbytes)
    model = make_pipeline(ColumnScaler("standard"), DSWL(3)).fit(tmp_path / "x.npy")
    np.testing.assert_allclose(model[1].components_, expected[1].components_, atol=1e-9)
    np.testing.assert_array_equal(
        model.predict(tmp_path / "x.npy"), expected.predict(X)
    )
    with pytest.raises(MemoryError, match="sample of 1,000 rows x 8 .*standard"):
        ColumnScaler().fit(tmp_path / "x.npy")


def test_scaled_rows_of_dask_stay_lazy(X):
    lazy = da.from_array(X, chunks=(300, -1))
    model = make_pipeline(ColumnScaler(), DSWL(3)).fit(lazy)
    expected = make_pipeline(ColumnScaler(), DSWL(3)).fit(X)
    assert isinstance(model[0].transform(lazy), da.Array)
    np.testing.assert_array_equal(np.asarray(model.predict(lazy)), expected.predict(X))


# ------------------------------------------------------------------------- .npy files


@pytest.mark.parametrize("name", ["one.parquet", "one.npy"])
def test_scores_are_written_as_npy(name, data, X, streamed):
    apart = ["--drop", "who,site"] if name == "one.parquet" else ["--drop", "x8,x9"]
    model, outputs = data / "model.npz", [data / "1.npy", data / "2.npy"]
    run("fit", data / name, "-k", 3, "-o", model, *apart)
    run("transform", model, data / name, "-o", outputs[0])
    streamed()
    run("transform", model, data / name, "-o", outputs[1])
    one, two = map(np.load, outputs)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    np.testing.assert_allclose(one, trueaxis.load(model).transform(frame), atol=1e-12)
    np.testing.assert_allclose(one, two, atol=1e-12)
    assert two.flags.c_contiguous and two.shape == (N, 3)
    assert {"1.npy", "2.npy"} <= set(os.listdir(data))


def test_npy_files_have_no_place_for_text(data):
    model = data / "model.npz"
    run("fit", data / "one.parquet", "-o", model, "--id", "who", "--label", "site")
    done = run("score", model, data / "one.parquet", "-o", data / "o.npy", code=1)
    assert "o.npy ends in .npy, but tables are written as" in done.output
    transform = ["transform", model, data / "one.parquet", "-o", data / "o.npy"]
    done = run(*transform, "--id", "who", code=1)
    assert "holds numbers only" in done.output and not (data / "o.npy").exists()


def test_too_little_memory_is_told_in_words(data, streamed, monkeypatch):
    streamed()
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    done = run("fit", data / "one.npy", "--method", "pcp", code=1)
    assert "Reading all 1,000 rows x 10 columns takes 80.0 kB, but" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("how", ["standard", "robust"])
def test_workers_scale_columns_and_leave_names_out(how, data, X):
    fit = ["fit", data / "parts", "-k", 3, "--scale", how, "--workers", 2]
    run(*fit, "--id", "who", "--label", "site", "-o", data / "m.npz")
    model = trueaxis.load(data / "m.npz")
    expected = make_pipeline(ColumnScaler(how), DSWL(3)).fit(X)
    assert model[0].feature_names_in_.tolist() == [f"x{j}" for j in range(D)]
    np.testing.assert_allclose(model[0].unit_, expected[0].unit_, rtol=1e-12)
    np.testing.assert_allclose(model[1].components_, expected[1].components_, atol=1e-9)
    assert (np.asarray(model[1].support_) == expected[1].support_).all()
