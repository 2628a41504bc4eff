"""Commands on files read block by block: the same as on tables in memory."""

import json
import os

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet as parquet
import pytest
from command_line import invoke
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis._cli import streaming
from trueaxis.data import memory
from trueaxis.datasets import planted

N, D = 1000, 8
UNITS = np.logspace(-2, 2, D)
NAMED = {"one.parquet": ("who", "site"), "one.npy": ("x8", "x9")}


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


# ---------------------------------------------------------------- names and labels


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("given", ["both", "id", "label"])
@pytest.mark.parametrize("command", ["score", "transform"])
def test_names_and_labels_are_carried_along(command, given, name, data, streamed):
    named, label = NAMED[name]
    model, outputs = data / "model.npz", [data / "1.csv", data / "2.csv"]
    options = ["--id", named] * (given != "label")
    options += ["--label", label] * (given != "id")
    invoke("fit", data / name, "-k", 3, "-o", model, "--id", named, "--label", label)
    invoke(command, model, data / name, *options, "-o", outputs[0])
    streamed()
    invoke(command, model, data / name, *options, "-o", outputs[1])
    one, two = map(table, outputs)
    pandas.testing.assert_frame_equal(one, two, rtol=1e-9, atol=1e-12)
    assert ("label" in two) == (given != "id") and len(two) == N


@pytest.mark.slow
def test_names_are_read_across_files_of_a_folder(data):
    model = data / "model.npz"
    invoke(
        "fit", data / "parts", "-k", 3, "-o", model, "--id", "who", "--label", "site"
    )
    loaded = trueaxis.load(model)
    assert loaded.feature_names_in_.tolist() == [f"x{j}" for j in range(D)]
    invoke("score", model, data / "parts", "--id", "who", "-o", data / "out.parquet")
    found = table(data / "out.parquet")["row"]
    assert found.tolist() == [f"pump {i}" for i in range(N)]


@pytest.mark.slow
def test_a_fit_leaves_names_and_labels_out(data, streamed):
    given = ["-k", 3, "--id", "who", "--label", "site"]
    invoke("fit", data / "one.parquet", *given, "-o", data / "1.npz")
    streamed()
    invoke("fit", data / "one.parquet", *given, "-o", data / "2.npz")
    one, two = trueaxis.load(data / "1.npz"), trueaxis.load(data / "2.npz")
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.feature_names_in_.tolist() == two.feature_names_in_.tolist()


@pytest.mark.slow
def test_wrong_names_of_columns_are_told(data, streamed):
    model = data / "model.npz"
    streamed()
    invoke("fit", data / "one.parquet", "--id", "who", "--label", "site", "-o", model)
    score = ["score", model, data / "one.parquet"]
    done = invoke(*score, "--id", "whom", "-o", data / "out.csv", code=1)
    assert "There is no column 'whom'" in done.output
    done = invoke(*score, "--id", "x3", "-o", data / "out.csv", code=1)
    assert "--id x3 is a column that the model was fitted on" in done.output
    done = invoke(*score, "--drop", "who", "-o", data / "out.csv", code=1)
    assert "leave out --columns and --drop" in done.output
    every = ",".join([f"x{j}" for j in range(D)])
    few = ["--drop", every, "--id", "who", "--label", "site"]
    done = invoke("fit", data / "one.parquet", *few, code=1)
    assert "left to analyze" in done.output
    assert not (data / "out.csv").exists()


# ---------------------------------------------------------------- scaling


@pytest.mark.slow
@pytest.mark.parametrize("how", ["standard", "robust"])
@pytest.mark.parametrize("name", ["one.parquet", "parts", "one.npy"])
def test_scaled_fits_are_those_of_tables_in_memory(how, name, data, X, streamed):
    apart = "who,site" if name != "one.npy" else "x8,x9"
    streamed()
    fit = ["fit", data / name, "-k", 3, "--drop", apart, "--scale", how]
    invoke(*fit, "-o", data / "m.npz")
    model = trueaxis.load(data / "m.npz")
    expected = make_pipeline(ColumnScaler(how), DSWL(3)).fit(X)
    np.testing.assert_allclose(model[0].unit_, expected[0].unit_, rtol=1e-12)
    np.testing.assert_allclose(model[1].components_, expected[1].components_, atol=1e-9)
    assert (model[1].support_ == expected[1].support_).all()
    found = json.loads(invoke(*fit, "--json").stdout)
    assert found["outliers"]["count"] == (~expected[1].support_).sum()
    invoke("score", data / "m.npz", data / name, "-o", data / "out.csv")
    assert (table(data / "out.csv")["outlier"] == (expected.predict(X) < 0)).all()


@pytest.mark.soak
@pytest.mark.parametrize("how", ["standard", "robust"])
def test_workers_scale_columns_and_leave_names_out(how, data, X):
    fit = ["fit", data / "parts", "-k", 3, "--scale", how, "--workers", 2]
    invoke(*fit, "--id", "who", "--label", "site", "-o", data / "m.npz")
    model = trueaxis.load(data / "m.npz")
    expected = make_pipeline(ColumnScaler(how), DSWL(3)).fit(X)
    assert model[0].feature_names_in_.tolist() == [f"x{j}" for j in range(D)]
    np.testing.assert_allclose(model[0].unit_, expected[0].unit_, rtol=1e-12)
    np.testing.assert_allclose(model[1].components_, expected[1].components_, atol=1e-9)
    assert (np.asarray(model[1].support_) == expected[1].support_).all()


# ---------------------------------------------------------------- .npy files


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one.parquet", "one.npy"])
def test_scores_are_written_as_npy(name, data, X, streamed):
    apart = ["--drop", "who,site"] if name == "one.parquet" else ["--drop", "x8,x9"]
    model, outputs = data / "model.npz", [data / "1.npy", data / "2.npy"]
    invoke("fit", data / name, "-k", 3, "-o", model, *apart)
    invoke("transform", model, data / name, "-o", outputs[0])
    streamed()
    invoke("transform", model, data / name, "-o", outputs[1])
    one, two = map(np.load, outputs)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    np.testing.assert_allclose(one, trueaxis.load(model).transform(frame), atol=1e-12)
    np.testing.assert_allclose(one, two, atol=1e-12)
    assert two.flags.c_contiguous and two.shape == (N, 3)
    assert {"1.npy", "2.npy"} <= set(os.listdir(data))


@pytest.mark.slow
def test_npy_files_have_no_place_for_text(data):
    model = data / "model.npz"
    invoke("fit", data / "one.parquet", "-o", model, "--id", "who", "--label", "site")
    done = invoke("score", model, data / "one.parquet", "-o", data / "o.npy", code=1)
    assert "o.npy ends in .npy, but tables are written as" in done.output
    transform = ["transform", model, data / "one.parquet", "-o", data / "o.npy"]
    done = invoke(*transform, "--id", "who", code=1)
    assert "holds numbers only" in done.output and not (data / "o.npy").exists()


def test_too_little_memory_is_told_in_words(data, streamed, monkeypatch):
    streamed()
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    done = invoke("fit", data / "one.npy", "--method", "pcp", code=1)
    assert "Reading all 1,000 rows x 10 columns takes 80.0 kB, but" in done.output


@pytest.mark.slow
def test_the_line_of_streamed_files_is_that_of_tables_in_memory(data, X, streamed):
    path, apart = data / "one.parquet", ["--drop", "who,site", "-k", 3]
    invoke("fit", path, *apart, "-o", data / "before.npz")
    in_memory = json.loads(
        invoke("score", data / "before.npz", path, "--level", 0.2, "--json").stdout
    )
    streamed()
    for option, value in (("level", 0.1), ("contamination", 0.2)):
        expected = DSWL(3, **{option: value}).fit(X)
        given = [*apart, f"--{option}", value]
        found = json.loads(invoke("fit", path, *given, "--json").stdout)
        assert found["outliers"]["count"] == (~expected.support_).sum()
        assert found["level"] == pytest.approx(10**expected.offset_)
        assert found["contamination"] == expected.contamination
        said = f"{option} {value:g}"
        assert said in invoke("fit", path, *given).stdout.lower()
    model = data / "before.npz"
    score = ["score", model, path, "--level", 0.2]
    found = json.loads(invoke(*score, "--json").stdout)
    assert {"level", "contamination"} <= found.keys()
    assert all(found[key] == in_memory[key] for key in ("level", "rows", "outliers"))
    done = invoke(*score, "-o", data / "out.csv")
    assert "At level 0.2, 20 % of regular rows are flagged, too." in done.stdout
    out = table(data / "out.csv")
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    np.testing.assert_allclose(
        out["p_value"], trueaxis.load(model).p_values(frame), rtol=1e-6
    )
    assert (out["outlier"] == (out["p_value"] < 0.2)).all()


# ---------------------------------------------------------------- JSON and pipes


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_json_has_the_keys_of_tables_in_memory(name, data, streamed):
    named, label = NAMED[name]
    apart = ["--id", named, "--label", label]
    model, out = data / "model.npz", data / "out.csv"
    invoke("fit", data / name, "-k", 3, *apart, "-o", model)
    commands = {
        "fit": ["fit", data / name, "-k", 3, *apart],
        "score": ["score", model, data / name, *apart, "-o", out],
        "transform": ["transform", model, data / name, *apart, "-o", out],
    }
    before = {
        key: json.loads(invoke(*given, "--json").stdout)
        for key, given in commands.items()
    }
    streamed()
    # docs/command-line.md names what is missing.
    missing = {
        "worst_first", "hints", "angle_to_plain_pca", "plain_mean_moves_most",
        "left_out_columns",
    }  # fmt: skip
    same = ("model", "output", "rows", "columns", "read_columns", "missing")
    for key, given in commands.items():
        found = json.loads(invoke(*given, "--json").stdout)
        assert before[key].keys() - found.keys() <= missing | {"seconds"}
        assert key == "score" or "seconds" in found or key == "transform"
        for each in same:
            assert found.get(each) == before[key].get(each), each


def test_a_broken_pipe_is_an_error_if_the_output_is_a_file(data, streamed, monkeypatch):
    model = data / "model.npz"
    apart = ["--drop", "who,site"]
    invoke("fit", data / "one.parquet", "-k", 3, *apart, "-o", model)
    streamed()

    def fail(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("trueaxis._cli.large_commands.write_blocks", fail)
    clean = data / "clean.parquet"
    score = ["score", model, data / "one.parquet", "--clean", clean, "-o"]
    assert "Broken pipe" in invoke(*score, data / "out.csv", code=1).output
    assert not clean.exists()
    invoke(*score, "-")
    assert clean.exists()
