"""Encoders of tables in model files; what is refused on the way back."""

import numpy as np
import pandas as pd
import pytest
from saved_models import assert_refused, assert_same, forge, saved_and_loaded
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, TableEncoder
from trueaxis._persistence.archive import read
from trueaxis.datasets import planted
from trueaxis.methods import PlainPCA

LEVELS = ["nörth", "=", "\x1b[2J", ""]


def make_table(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = planted("ocs", n=n, n_features=3, n_components=1, random_state=seed).X
    return pd.DataFrame(
        {
            "nr": np.arange(n),
            "a": X[:, 0],
            "b,c": X[:, 1],
            "Preis": rng.lognormal(3, 1, n),
            "site": rng.choice(LEVELS, n),
            "d": X[:, 2],
        }
    )


@pytest.fixture(scope="module")
def model():
    encoder = TableEncoder(categories=True, log=["Preis"], drop=("nr",))
    return make_pipeline(encoder, DSWL(2)).fit(make_table())


@pytest.fixture
def path(model, tmp_path):
    trueaxis.save(model, tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_a_pipeline_comes_back_bit_for_bit(model, tmp_path):
    loaded = saved_and_loaded(model, tmp_path)
    encoder, method = loaded[0], loaded[1]
    assert_same(vars(encoder), {key: vars(model[0])[key] for key in vars(encoder)})
    assert vars(encoder).keys() == vars(model[0]).keys()
    assert repr(encoder) == repr(model[0])
    assert not hasattr(method, "feature_names_in_")
    new = make_table(1)
    assert_same(loaded.transform(new), model.transform(new))
    assert_same(loaded.score_samples(new), model.score_samples(new))
    # Again, and it can be fitted again.
    assert_same(saved_and_loaded(loaded, tmp_path).transform(new), model.transform(new))
    assert_same(loaded.fit(make_table()).transform(new), model.transform(new))


@pytest.mark.parametrize(
    "encoder",
    [
        TableEncoder(),
        TableEncoder(["x0", "x2:"], scale="robust"),
        TableEncoder(np.array(["x0", "x2"]), scale="standard"),
        TableEncoder(drop="x1", log="auto", scale="none"),
        TableEncoder(categories=np.bool_(True)),
    ],
    ids=repr,
)
def test_tables_without_names(encoder, tmp_path):
    X = make_table()[["a", "b,c", "d"]].to_numpy()
    model = make_pipeline(encoder, PlainPCA(1)).fit(X)
    loaded = saved_and_loaded(model, tmp_path, training=False)
    assert_same(loaded[0].get_params(), encoder.get_params())
    assert_same(loaded.transform(X), model.transform(X))
    assert not hasattr(loaded[0], "feature_names_in_")


def test_frames_between_the_steps(tmp_path):
    encoder = TableEncoder(categories=True).set_output(transform="pandas")
    model = make_pipeline(encoder, DSWL(2)).fit(make_table())
    assert hasattr(model[1], "feature_names_in_")
    loaded = saved_and_loaded(model, tmp_path)
    new = make_table(1)
    assert_same(loaded.transform(new), model.transform(new))


def test_what_cannot_be_saved(model, tmp_path):
    path = tmp_path / "model.npz"
    odd = make_pipeline(TableEncoder(drop=pd.Index(["nr"])), DSWL(2)).fit(
        make_table().drop(columns=["site"])
    )
    with pytest.raises(TypeError, match=r"drop of TableEncoder.*a Index\. Use a list"):
        trueaxis.save(odd, path)
    other = TableEncoder().fit(make_table())
    match = "The TableEncoder returns 4 columns, but the DSWL was fitted on 8: they"
    with pytest.raises(ValueError, match=match):
        trueaxis.save(make_pipeline(other, model[1]), path)
    assert not list(tmp_path.iterdir())


def test_the_names_in_the_file(path, model):
    header, arrays = read(path)
    assert "scaling" not in header
    assert header["encoding"]["names"] == [*make_table().columns]
    assert header["feature_names"] == model[0].get_feature_names_out().tolist()
    assert {name for name in arrays if name.startswith("encoding.")} == {
        "encoding.center",
        "encoding.unit",
    }


CATEGORY = [4, "category", LEVELS]


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("parameters", None, "its encoder has no parameters"),
        ("parameters", {"self": 1}, "TableEncoder .* such as 'self'"),
        ("parameters", {"log": {"code": "x"}}, "parameters of its encoder, .* unknown"),
        ("columns", 0, "fitted on 0 columns"),
        ("columns", True, "fitted on True columns"),
        ("columns", 5, "names of its columns are not 5 different strings"),
        ("names", ["a"] * 6, "not 6 different strings"),
        ("names", "abcdef", "not 6 different strings"),
        ("names", [1, 2, 3, 4, 5, 6], "not 6 different strings"),
        ("parts", [], "lists no columns"),
        ("parts", None, "lists no columns"),
        ("parts", [[9, "number", []]], "odd column"),
        ("parts", [[-1, "number", []]], "odd column"),
        ("parts", [[True, "number", []]], "odd column"),
        ("parts", [[1.0, "number", []]], "odd column"),
        ("parts", [[1, "code", []]], "odd column"),
        ("parts", [[1, "number", ["a"]]], "odd column"),
        ("parts", [[1, "category", []]], "odd column"),
        ("parts", [[1, "category", [1, 2]]], "odd column"),
        ("parts", [[1, "category", ["a", "a"]]], "odd column"),
        ("parts", [[1, "number"]], "odd column"),
        ("parts", [3], "odd column"),
        ("parts", [[1, "number", []], [1, "log", []]], "lists a column twice"),
        ("parts", [[1, "number", []]], r"encoding.center .* floats of shape \(1,\)"),
        ("scale", "auto", "scaling of columns is unknown: 'auto'"),
        ("scale", ["none"], "scaling of columns is unknown"),
        ("left_out", {"a": "text"}, "which columns were left out"),
        ("left_out", [["a"]], "which columns were left out"),
        ("left_out", [["a", 3]], "which columns were left out"),
        ("notes", None, "notes of its encoder are not text"),
        ("notes", [3], "notes of its encoder are not text"),
    ],
)
def test_forged_encoders(path, key, value, match):
    forge(path, lambda header: header["encoding"].update({key: value}))
    assert_refused(path, match)


@pytest.mark.parametrize("entry", [3, [], "robust"])
def test_an_entry_that_is_no_record(path, entry):
    forge(path, lambda header: header.update(encoding=entry))
    assert_refused(path, "not a record")


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"encoding.unit": np.ones(3)}, r"encoding.unit .* not floats of shape \(8,\)"),
        ({"encoding.unit": np.ones(8, dtype=int)}, "encoding.unit is missing, or not"),
        ({"encoding.unit": np.zeros(8)}, "encoding.unit has a value that is not posit"),
        ({"encoding.unit": -np.ones(8)}, "encoding.unit has a value that is not posit"),
        ({"encoding.unit": np.full(8, np.nan)}, "encoding.unit .* not finite"),
        ({"encoding.center": np.full(8, np.inf)}, "encoding.center .* not finite"),
    ],
    ids=str,
)
def test_forged_arrays(path, arrays, match):
    forge(path, arrays=arrays)
    assert_refused(path, match)


def test_an_encoder_that_does_not_fit_its_method(path):
    def lose_a_column(header):
        header["encoding"]["parts"] = header["encoding"]["parts"][1:]

    forge(
        path,
        lose_a_column,
        {"encoding.center": np.zeros(7), "encoding.unit": np.ones(7)},
    )
    assert_refused(path, "encoder returns 7 columns, but its method was fitted on 8")


def test_files_without_the_entry_have_arrays_that_nothing_explains(path):
    forge(path, lambda header: header.pop("encoding"))
    assert_refused(path, "such as 'encoding.center'")
