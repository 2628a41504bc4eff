"""ONNX graphs compute what the model does."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from saved_models import NAMES, models, rows
from sklearn.pipeline import make_pipeline
from small_tables import with_sides

import trueaxis
from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.methods import METHODS, PlainPCA
from trueaxis.pipeline import split_pipeline

if os.environ.get("CI"):  # which must have them: nothing is skipped there
    import onnx
    import onnx.reference
    import onnxruntime
else:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnx.reference")
    onnxruntime = pytest.importorskip("onnxruntime")

OUTPUTS = ["scores", "score_distance", "orthogonal_distance", "label"]


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    )


def run(model, X, tmp_path):
    trueaxis.save(model, tmp_path / "model.onnx")
    session = session_of(tmp_path / "model.onnx")
    assert [each.name for each in session.get_outputs()] == OUTPUTS
    values = session.run(None, {"X": np.asarray(X, float)})
    k, n = split_pipeline(model).model.n_components_, len(X)
    assert [each.shape for each in values] == [(n, k), (n,), (n,), (n,)]
    assert [each.dtype for each in values] == [float] * 3 + [np.int64]
    return dict(zip(OUTPUTS, values, strict=True))


def expected(model, X):
    scaler, method = split_pipeline(model)
    distances = method.distances(X if scaler is None else scaler.transform(X))
    values = model.transform(X), *distances, model.predict(X)
    return dict(zip(OUTPUTS, values, strict=True))


def assert_agree(model, X, tmp_path):
    got, wanted = run(model, X, tmp_path), expected(model, X)
    for name in OUTPUTS[:-1]:
        # Scores that cancel have the rounding of the numbers that do.
        size = np.abs(wanted[name][np.isfinite(wanted[name])]).max(initial=0.0)
        np.testing.assert_allclose(got[name], wanted[name], 1e-6, 1e-8 * size)
    np.testing.assert_array_equal(got["label"], wanted["label"])
    return got


@pytest.mark.parametrize("name", [*METHODS, "all axes", "far", "wide", "robust"])
def test_models_agree_on_old_and_new_rows(name, tmp_path):
    model, X = models()[name]
    shift = 1e12 if name == "far" else 0.0
    new = rows(seed=1, n=300) + shift if name != "wide" else X + 0.1
    labels = assert_agree(model, np.vstack([X, new]), tmp_path)["label"]
    assert {*labels} == {1, -1} or name == "wide"


@pytest.mark.parametrize(
    ("what", "X", "k"), [*nasty()], ids=[case[0] for case in nasty()]
)
def test_nasty_rows_agree(what, X, k, tmp_path):
    model = DSWL(k).fit(X)
    got, wanted = run(model, X, tmp_path), expected(model, X)
    np.testing.assert_array_equal(got["label"], wanted["label"])
    # A distance of rounding is only as exact as rounding is small.
    room = 1e-13 * np.abs(X[np.abs(X).max(axis=1) < 1e299]).max()
    for name in ("scores", "orthogonal_distance"):
        np.testing.assert_allclose(got[name], wanted[name], 1e-6, room)


@pytest.mark.parametrize("shift", [0.0, 1e6], ids=["near", "far"])
@pytest.mark.parametrize("scaler", [[], [ColumnScaler()]], ids=["raw", "scaled"])
def test_rows_of_separate_clusters_are_outliers(scaler, shift, tmp_path):
    X = rows(n=300) + shift
    model = make_pipeline(*scaler, DSWL(2)).fit(X)
    method, scaled = model[-1], model[:-1].transform(X) if scaler else X
    with_sides(method, scaled)
    center, edge = np.quantile(scaled[:, 0], [0.5, 0.1])
    side = [-1.0, *np.zeros(5), -center, 0.01 - edge]  # no row on the edge
    method._sides = np.vstack([method._sides, side])
    got = assert_agree(model, X, tmp_path)
    near = (got["score_distance"] <= method.cutoffs_.score) & (
        got["orthogonal_distance"] <= method.cutoffs_.orthogonal
    )
    assert ((got["label"] == -1) & near).sum() > 20
    # Another level moves the boundary of the group, too.
    method._set_threshold(np.log10(0.2))
    assert_agree(model, X, tmp_path)


def test_rows_without_measure_are_outliers_never_regular(tmp_path):
    X = np.tile(rows()[:1], (6, 1))
    X[0, 2], X[1, 3], X[2], X[3], X[4, ::2] = np.nan, np.inf, 1e200, 1e308, -1e308
    got = run(models()["dswl"][0], X, tmp_path)
    np.testing.assert_array_equal(got["label"], [-1, -1, -1, -1, -1, 1])
    for name in OUTPUTS[:-1]:
        assert np.isnan(got[name][0]).all()
    assert np.isinf(got["orthogonal_distance"][1:5]).all()


def test_what_the_file_says_about_itself(tmp_path):
    model = models()["scaled"][0]
    for name in ("one.onnx", "two.ONNX"):  # the same model gives the same bytes
        trueaxis.save(model, tmp_path / name)
    path = tmp_path / "one.onnx"
    assert path.read_bytes() == (tmp_path / "two.ONNX").read_bytes()
    made = onnx.load(path)
    onnx.checker.check_model(made, full_check=True)
    assert (made.producer_name, made.producer_version) == (
        "trueaxis",
        trueaxis.__version__,
    )
    facts = session_of(path).get_modelmeta().custom_metadata_map
    assert json.loads(facts["feature_names"]) == NAMES
    assert (facts["class"], facts["groups"]) == ("DSWL", "0")
    assert float(facts["score_cutoff"]) == model[-1].cutoffs_.score
    assert float(facts["orthogonal_cutoff"]) == model[-1].cutoffs_.orthogonal
    assert float(facts["level"]) == pytest.approx(0.025)
    with pytest.raises(ValueError, match=r"one\.onnx is not an intact trueaxis model"):
        trueaxis.load(path)


def test_without_the_package_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'trueaxis\[onnx\]'"):
        trueaxis.save(models()["pca"][0], tmp_path / "model.onnx")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("scale", ["robust", "none"])
def test_encoders_that_only_choose_and_scale(scale, tmp_path):
    frame = pd.DataFrame(rows(), columns=NAMES).assign(site="x")
    model = make_pipeline(TableEncoder(drop=["b"], scale=scale), DSWL(2)).fit(frame)
    trueaxis.save(model, tmp_path / "model.onnx")
    session = session_of(tmp_path / "model.onnx")
    used = json.loads(session.get_modelmeta().custom_metadata_map["feature_names"])
    assert used == [name for name in NAMES if name != "b"]
    (scores, label) = session.run(["scores", "label"], {"X": frame[used].to_numpy()})
    np.testing.assert_allclose(scores, model.transform(frame), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(frame))


def test_what_a_graph_cannot_do_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    model = models()["encoded"][0]
    with pytest.raises(ValueError, match="turns 'kind' into indicators"):
        trueaxis.save(model, path)
    trueaxis.save(model[-1], path)  # the remedy
    with pytest.raises(ValueError, match=r"cells=True.*rounds.*cells=False"):
        trueaxis.save(models()["cells"][0], path)
    with pytest.raises(TypeError, match="only a ColumnScaler before a method"):
        trueaxis.save(
            make_pipeline(*[ColumnScaler().fit(rows())] * 2, PlainPCA(2).fit(rows())),
            path,
        )
    with pytest.raises(TypeError, match="A ColumnScaler cannot .* method after it"):
        trueaxis.save(models()["scaler"][0], path)
